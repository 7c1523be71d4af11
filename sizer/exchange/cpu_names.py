"""CPUs by their names in a column of accelerators or devices, `CPU c4.8xlarge`: each is a machine of its own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sizer.exchange.table_cells import NO_GPU
from sizer.files.tables import Row
from sizer.records.study import Note, NoteKind

_PLAIN = re.compile(r"cpu(?::\d+)?", re.IGNORECASE)
_KNOWN = r"xeon\b(?!.*\bphi\b)|epyc\b|opteron\b|ryzen\b|threadripper\b|core i\d|core ultra\b|graviton\d?\b"
_NAMED = (
    re.compile(r"(?:(?:intel|amd|arm)\s+)?cpus?\b[\s:,(\[-]+(?P<name>[^\s:,(\[-].*?)[)\]]?", re.IGNORECASE),
    re.compile(rf"(?P<name>(?:\d+\s*[x×*]\s*)?(?:(?:intel|amd|aws)\W+)?(?:{_KNOWN})[^+/&]*)", re.IGNORECASE),
)
"""What makers call theirs counts without the word, too; a Xeon Phi may be a card."""


@dataclass(frozen=True)
class NamedCpu:
    """A cell that names a CPU: as it is `written`, and the `name` alone."""

    written: str
    name: str


def cpu_in(text: str) -> str | None:
    """The name in a cell that says that a CPU computed; empty where it has none, None where the cell says no CPU."""
    if _PLAIN.fullmatch(text) or (text.lower() in NO_GPU and text.lower().startswith("cpu")):
        return ""
    found = next((match for form in _NAMED if (match := form.fullmatch(text))), None)
    return found["name"].strip() if found else None


def with_cpu_machines(rows: Sequence[Row], cpus: Mapping[int, NamedCpu]) -> tuple[list[Row], tuple[Note, ...]]:
    """The rows with each CPU that is named as the machine that it is, and which these are; `cpus` are those by line.

    A row that names its machine keeps that name, with the CPU behind it where the table has several in such machines.
    """
    inside: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.line in cpus:
            inside[row.cells.get("instance_type", "")].add(cpus[row.line].name)
    named = [_named(row, cpus.get(row.line), inside) for row in rows]
    read = dict.fromkeys((cpus[row.line].written, row.cells["instance_type"]) for row in named if row.line in cpus)
    if not read:
        return named, ()
    written, machines = zip(*read, strict=True)
    return named, (Note(NoteKind.CPUS_NAMED, names=written, read_as=machines),)


def _named(row: Row, cpu: NamedCpu | None, inside: Mapping[str, set[str]]) -> Row:
    if cpu is None:
        return row
    machine = row.cells.get("instance_type", "")
    if not machine:
        return replace(row, cells=row.cells | {"instance_type": cpu.name})
    if len(inside[machine]) > 1:
        return replace(row, cells=row.cells | {"instance_type": f"{machine} ({cpu.name})"})
    return row
