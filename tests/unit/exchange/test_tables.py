"""Tables as people make them, in `tables.txt`: what each becomes, what is noted, and how one is refused."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sizer.exchange.measurements import write_csv
from sizer.records.messages import InputError
from sizer.records.notes import NoteKind
from sizer.words.studies.notes import note_in_words
from tests.tables import Read, kinds

USUAL = {NoteKind.COLUMNS_READ, NoteKind.NAMED_BY_TABLE, NoteKind.NAMED_BY_COLUMN, NoteKind.NO_VCPUS}
"""Notes of most tables."""
ALMOST = 1e-5
"""Figures are written with six digits."""


class Case(NamedTuple):
    table: str
    cells: str
    refused: str
    notes: str
    unread: str
    says: str


def cases() -> Iterator[tuple[str, Case]]:
    text = Path(__file__).with_name("tables.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^# ", text)[1:]:
        title, _, rest = block.partition("\n")
        table, _, wanted = rest.partition("=>\n")
        lines = wanted.strip("\n").split("\n")
        said = {key: line[len(key) + 2 :] for line in lines for key in Case._fields if line.startswith(f"{key}: ")}
        cells = "\n".join(line for line in lines if line.partition(": ")[0] not in Case._fields)
        yield title, Case(table, cells, *(said.get(key, "") for key in ("refused", "notes", "unread", "says")))


CASES = list(cases())


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[title for title, _ in CASES])
def test_what_a_table_becomes(read: Read, case: Case) -> None:
    if case.refused:
        with pytest.raises(InputError) as refused:
            read(case.table)
        assert case.refused in str(refused.value)
        return
    found = read(case.table)
    sentences = " ".join(map(note_in_words, found.notes))
    if case.says:
        assert [sentence for sentence in case.says.split(" || ") if sentence not in sentences] == []
        return
    wanted = list(csv.DictReader(io.StringIO(case.cells)))
    rows = list(csv.DictReader(io.StringIO(write_csv(found.runs))))
    assert len(rows) == len(wanted)
    for row, cells in zip(rows, wanted, strict=True):
        assert {column: _figure(row.get(column, "")) for column in cells} == {
            column: _figure(cell) for column, cell in cells.items()
        }
    noted = [kind.value for kind in kinds(found) if kind not in USUAL | {NoteKind.NO_DEVICE}]
    assert (noted, ", ".join(found.unknown)) == (case.notes.split(", ") if case.notes else [], case.unread)


def _figure(cell: str) -> object:
    try:
        return pytest.approx(float(cell), rel=ALMOST)
    except ValueError:
        return cell


def test_a_table_may_be_called_as_anything(read: Read) -> None:
    """Without a column of jobs all rows are one, called like the file."""
    found = read("gpu,img/s\nT4,3\nV100,9\n", "cloud machines.csv")
    assert {run.spec.workload.name for run in found.runs} == {"cloud machines"}


@pytest.mark.parametrize(
    "name", ["ResNet 50 / fp16", "图像训练", "AWS gp3", "-x", "=1+1", "a:b", 'say "x", <b>&', "{0}"]
)
def test_names_are_any_printable_text(read: Read, name: str) -> None:
    """Of workloads, disks, frameworks, networks and GPUs; runs are named by ids, and no path by any of these."""
    text = io.StringIO()
    columns = ["workload", "disk", "disk_class", "framework", "network", "gpu", "vcpus", "throughput"]
    csv.writer(text).writerows(
        [columns, [name, name, "ssd", *[name] * 3, 1, 10], [name, "b", "ssd", *[name] * 3, 2, 19]]
    )
    first, second = read(text.getvalue()).runs
    workload = first.spec.workload
    assert (workload.name, workload.framework, workload.network) == (name, name, name)
    assert (first.configuration.disk, first.configuration.gpu, second.configuration.disk) == (name, name, "b")
    assert first.id.isalnum()
