"""A profile goes on in its folder, where that and the study file beside it are still of the same job."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from sizer.files.given_files import read_given
from sizer.records.errors import InputError
from sizer.records.messages import Message
from sizer.records.plain_text import typed_line, typed_path
from sizer.records.study import Workload
from sizer.store.continuing import measured
from sizer.store.study_folder import StudyFolder

SEAL = "# sizer profile writes this file again as long as nobody changes it: "
"""Begins its last line, behind which stands what the rest comes to."""

OPTIONS: Mapping[str, str] = {
    "cwd": "--cwd",
    "data": "--data",
    "pattern": "--pattern",
    "meter": "--meter",
    "samples_per_step": "--samples-per-step",
    "sample_unit": "--sample-unit",
    "env": "--env",
    "pass_env": "--pass-env",
    "setup": "--setup",
    "before": "--before",
    "cache": "--disk",
}
"""What of a workload an option says."""


def sealed(text: str) -> str:
    """The text with a last line that shows whether somebody has changed it."""
    return f"{text}{SEAL}{_digest(text)}\n"


def refuse_changed(path: Path, folder: Path) -> None:
    """Raise InputError where a file of another origin, or one that a person has changed, would be lost."""
    if not path.exists():
        return
    text, _, last = read_given(path, Message("a study file")).rpartition(SEAL)
    if not text or last.strip() != _digest(text):
        raise InputError(
            "{path} has been changed since `sizer profile` wrote it, or is not of it; go on with it by: sizer run "
            "{typed} --out {folder}, or choose another folder with --out.",
            path=path,
            typed=typed_path(path),
            folder=typed_path(folder),
        )


def refuse_other_job(path: Path, folder: StudyFolder, now: Workload) -> None:
    """Raise InputError where the folder has measured another command, or this one started otherwise."""
    for run in measured(folder.runs()):
        before = run.spec.workload
        if before.command != now.command:
            raise InputError(
                "{folder} is the profile of another command, `{command}`; choose another folder: sizer profile --out "
                "DIR -- ...",
                folder=path,
                command=typed_line(before.command),
            )
        changed = [name for name in OPTIONS if getattr(before, name) != getattr(now, name)]
        if changed:
            raise InputError(
                "{folder} was measured with another {option}; type the same as before, or choose another folder: sizer "
                "profile --out DIR -- ...",
                folder=path,
                option=OPTIONS[changed[0]],
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]
