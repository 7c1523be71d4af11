"""The file of what was fitted: believed only where it is, word for word, what this sizer wrote of these very runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.files.own_folder import read_file
from sizer.files.writing import write_text
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.messages import HostError, InputError

HEAD = '{\n "checksum": "'
"""How the file begins; the checksum is of all that follows it."""
HEX = 64
"""Digits of it."""
MODEL = Path(__file__).parents[1] / "model"
"""Whose code is read, since a checkout changes without a new version: 3 ms."""


@dataclass(frozen=True)
class Sources:
    """What a fit is made of: `key` is the same for the same sizer, code of its model, study, facts of the host,
    and files of runs, by name and size; `newest` is when the last of them changed, in ns."""

    key: str
    newest: int


def sources_of(folder: Path) -> Sources:
    """Of a study folder. Raises OSError, InputError or HostError where there is none to be read."""
    study, runs = folder / "study.yaml", folder / "runs"
    digest = hashlib.sha256(f"{__version__} {SCHEMA_VERSION}\n".encode())
    for code in sorted(MODEL.glob("*.py")):
        digest.update(code.read_bytes())
    digest.update(read_file(study))
    with suppress(FileNotFoundError):
        digest.update(read_file(folder / "host.json"))
    with os.scandir(runs) as entries:
        listing = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries if entry.name.endswith(".json")]
    for name, facts in sorted(listing):
        digest.update(f"\n{name} {facts.st_size}".encode())
    changed = [facts.st_mtime_ns for facts in (study.lstat(), runs.lstat(), *(facts for _, facts in listing))]
    return Sources(digest.hexdigest(), max(changed))


def write_fitted(
    path: Path, sources: Sources, form: Mapping[str, Any], write: Callable[[Path, str], None] = write_text
) -> None:
    """Write what was fitted of these, as plain JSON values; whole or not at all, with a line for each of its
    `workloads`. Raises HostError."""
    others = {"made_of": sources.key, **{name: value for name, value in form.items() if name != "workloads"}}
    models = ",\n".join(json.dumps(workload, allow_nan=False) for workload in form["workloads"])
    rest = f'",\n{json.dumps(others, allow_nan=False)[1:-1]}, "workloads": [\n{models}\n]}}\n'
    write(path, f"{HEAD}{_checksum(rest.encode())}{rest}")


def read_fitted(path: Path, sources: Sources, workload: str | None = None) -> dict[str, Any] | None:
    """The plain JSON values that were written of these; None where the file is missing, older than they are, edited or
    cut short, another sizer's, or of other runs. With `workload`, of the `workloads` that of this name alone, if there
    is one: of a large study the others take long to parse."""
    with suppress(OSError, ValueError, RecursionError, InputError, HostError):
        if path.lstat().st_mtime_ns < sources.newest:
            return None
        content = read_file(path)
        head, rest = content[: len(HEAD) + HEX], content[len(HEAD) + HEX :]
        if head == f"{HEAD}{_checksum(rest)}".encode():
            form: dict[str, Any] = json.loads(_of_one(content, workload))
            return form if form.get("made_of") == sources.key else None
    return None


def _of_one(content: bytes, workload: str | None) -> bytes:
    """The file without the lines of other workloads, where one has this name."""
    begin = f"{json.dumps({'name': workload})[:-1]},".encode()
    lines = content.splitlines()
    own = [line.removesuffix(b",") for line in lines if line.startswith(begin)]
    return b"".join([*lines[:3], *own, *lines[-1:]]) if own else content


def _checksum(rest: bytes) -> str:
    return hashlib.sha256(__version__.encode() + rest).hexdigest()
