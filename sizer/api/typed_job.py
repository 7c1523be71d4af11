"""What was typed of a job of the user's own, looked up on this host: its program, disks and variables."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.records.device import HOST_DISK
from sizer.records.errors import InputError
from sizer.records.own_programs import placeholders_in
from sizer.records.run import Run
from sizer.records.study import Workload
from sizer.records.units import GIB, parse_bytes
from sizer.runner.commands import withheld
from sizer.study.own_job import OwnJob

DEFAULT_TIER_SIZE = 500 * GIB
"""Bytes of a tier that is named without its size."""

OFTEN_READ = re.compile(
    r"(HF|TRANSFORMERS|HUGGINGFACE|TORCH|PYTORCH|KERAS|MXNET|NCCL|GLOO|WANDB|MLFLOW|NLTK|DATA|DATASET|MODEL)_"
    r"|TF_(CPP|ENABLE|FORCE|GPU|NUM|USE|XLA)_|XDG_CACHE_HOME$|LD_PRELOAD$"
)
"""Variables that training programs read, by the beginnings of their names."""


def with_whole_path(job: OwnJob) -> OwnJob:
    """The job with the whole path of its program, as the shell finds it: another shell may find another one.

    Raises InputError for a program that is not there: nothing of the profile could be measured.
    """
    program, *others = job.command
    if placeholders_in([program]):
        return job
    at = os.path.join(job.cwd, os.path.expanduser(program)) if "/" in program else program
    own = next((each.value_in(os.environ) for each in job.env if each.name == "PATH"), None)
    found = shutil.which(at, path=os.environ.get("PATH") if own is None else own)
    if found is not None:
        return replace(job, command=(os.path.abspath(found), *others))
    name, equals, _ = program.partition("=")
    if equals and name.isidentifier():
        raise InputError(
            "`{word}` is not a program; set a variable with --env {word} before the command.", word=program
        )
    raise InputError("The program {program} was not found, or may not be executed; give its path.", program=program)


def variables_withheld(workload: Workload) -> tuple[str, ...]:
    """Variables of this environment that training programs often read, and that the workload does not get."""
    return tuple(sorted(name for name in withheld(workload, os.environ) if OFTEN_READ.match(name)))


def variables_wanted(run: Run) -> tuple[str, ...]:
    """Variables of this environment that the last words of a run name, and that it did not get."""
    words = set(re.findall(r"[A-Z_][A-Z0-9_]{3,}", run.error.last_lines)) if run.error is not None else set()
    return tuple(sorted(words & withheld(run.spec.workload, os.environ)))


def disks_by_name(typed: Sequence[str]) -> dict[str, str | tuple[str, int]]:
    """The disks by their names in the study; raises InputError for one that is neither a folder nor a known tier."""
    found: dict[str, str | tuple[str, int]] = {}
    for text in typed:
        disk = _disk(text)
        name = Path(disk).name if isinstance(disk, str) else re.split("[/:]", text)[-1 if ":" not in text else -2]
        base = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-") or "disk"
        choices = [base, *(f"{base}-{number}" for number in range(2, len(typed) + 2))]
        found[next(each for each in choices if each not in found and each != HOST_DISK)] = disk
    return found


def _disk(text: str) -> str | tuple[str, int]:
    """A folder by its whole path, or a tier of the catalogue and its size in bytes. Raises InputError."""
    path = os.path.abspath(os.path.expanduser(text))
    if os.path.isdir(path):
        return path
    tier, _, size = text.partition(":")
    if text.startswith((".", "/", "~")) or "/" not in tier:
        raise InputError(
            "--disk {name}: there is no such folder; give a folder, or a tier listed by: sizer catalog list", name=text
        )
    size_bytes = parse_bytes(size) if size else DEFAULT_TIER_SIZE
    Catalog.load().disk_rates(tier, size_bytes)
    return tier, size_bytes
