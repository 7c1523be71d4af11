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
from sizer.words.notes import note_in_words
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


def cases() -> Iterator[tuple[str, Case]]:
    text = Path(__file__).with_name("tables.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^# ", text)[1:]:
        title, _, rest = block.partition("\n")
        table, _, wanted = rest.partition("=>\n")
        lines = wanted.strip("\n").split("\n")
        said = {key: line[len(key) + 2 :] for line in lines for key in Case._fields if line.startswith(f"{key}: ")}
        cells = "\n".join(line for line in lines if line.partition(": ")[0] not in Case._fields)
        yield title, Case(table, cells, *(said.get(key, "") for key in ("refused", "notes", "unread")))


CASES = list(cases())


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[title for title, _ in CASES])
def test_what_a_table_becomes(read: Read, case: Case) -> None:
    if case.refused:
        with pytest.raises(InputError) as refused:
            read(case.table)
        assert case.refused in str(refused.value)
        return
    found = read(case.table)
    wanted = list(csv.DictReader(io.StringIO(case.cells)))
    rows = list(csv.DictReader(io.StringIO(write_csv(found.runs))))
    assert len(rows) == len(wanted)
    for row, cells in zip(rows, wanted, strict=True):
        assert {column: _figure(row.get(column, "")) for column in cells} == {
            column: _figure(cell) for column, cell in cells.items()
        }
    noted = [kind.value for kind in kinds(found) if kind not in USUAL | {NoteKind.NO_DEVICE}]
    assert (noted, ", ".join(found.unknown)) == (case.notes.split(", ") if case.notes else [], case.unread)
    assert all(note_in_words(note) for note in found.notes)


def _figure(cell: str) -> object:
    try:
        return pytest.approx(float(cell), rel=ALMOST)
    except ValueError:
        return cell


SENTENCES = [
    (
        "model\tGPU\tBatch size/GPU\timg/s\nR\tV100\t64\t2,987\n",
        "`Batch size/GPU` is the batch of one accelerator, so `batch_size` is that times `gpu_count`.",
        "A comma in `img/s` is read as separating thousands: `2,987` as 2987.",
    ),
    ("gpu,batch,img/s\nK80,64,37.2\nK80,128,OOM\n", "without a figure says how the run ended: `OOM` is read as out_of"),
    ("gpu,img/s\nT4,54\nV100,-\nL4,—\n", "Rows that say that nothing was measured are left out: line 3 and line 4."),
    ("gpu;img/s\nT4;96,5\nV100;187,25\n", "is read as the decimal one: `96,5` as 96.5"),
    ("gpu,img/s\nT4,54*\n", "What stands around the figures in `img/s` is not read: `54*` is 54."),
    ("Table 3,\nModel,img/s\nR,3\n", "has no column that varies"),
    ("Table 3,\nGPU,img/s\nT4,3\n", "What is above the header is left out: `Table 3`."),
    ("model,gpu,img/s\nR,T4,3\n,V100,4\n", "as in merged cells: line 3."),
    ("gpu,FP32 img/s,FP16 img/s\nT4,3,4\n", "Each of `FP32 img/s` and `FP16 img/s` is read as a row of its own, with"),
    ("gpu,img/s\nv100,3\nTesla V100,4\n", "as in price lists: `v100` as V100 and `Tesla V100` as V100."),
    ("gpu,throughput,unit\nT4,22800,images/min\n", "become rates a second: `22800 images/min` is read as 380."),
    ("gpu,speedup\nT4,1x\nL4,2x\n", "The rates in `speedup` are relative"),
    ("gpu,input,img/s\nT4,fake,3\n", "read by their meaning, such as `fake` as synthetic."),
    ("gpu,img/s/GPU\nT4,3\n", "`img/s/GPU` is the rate of one accelerator, so `throughput` is that times `gpu_count`."),
    ("gpu,count,$/GPU-hr,img/s\nT4,2,1,3\n", "`$/GPU-hr` is the price of one accelerator, so that of the machine is"),
    (
        "instance_type,vcpus,img/s\ng4dn.2xlarge,32,130\n",
        "`vcpus` is 32 in line 2, and `g4dn.2xlarge` has 8 in the catalogue; correct one of the two cells.",
    ),
    ("gpu,vcpus,img/s\nT4,4,3\nT4,,4\n", "`vcpus` is empty in line 3, though other rows of the same workload have it."),
    (
        "gpu,precision,img/s\nT4,fp32,3\nT4,fp99,4\n",
        "differ in `precision`, so they are",
        "`precision` says `fp99` (line 3)",
    ),
    ("gpu,mode,img/s\nT4,train,3\nT4,trian,4\n", "`mode` says `trian` (line 3), which is no mode that sizer knows"),
    ("vcpus,img/s\n2,190\n2,19\n4,200\n", "differ more than threefold, line 2 and line 3: 190 and 19."),
    (
        "gpu,vendor,img/s\nT4,A,100\nT4,B,101\nL4,A,200\n",
        "differ only in `vendor`, such as line 2 and line 3",
    ),
    (
        "disk,img/s\ngp3,3\nbig one,4\n",
        "`gp3` is ssd. If that is wrong, add the column.",
        "what kind of disk `big one` is; add a column `disk_class`",
    ),
    ("gpu,price,img/s\nT4,384,100\n", "It is not sure what `price` is", "type `--map 'price=price per hour'`."),
]


@pytest.mark.parametrize(("table", "sentences"), [(table, sentences) for table, *sentences in SENTENCES])
def test_what_is_noted_is_said(read: Read, table: str, sentences: list[str]) -> None:
    try:
        said = " ".join(map(note_in_words, read(table).notes))
    except InputError as error:
        said = str(error)
    assert [sentence for sentence in sentences if sentence not in said] == []


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
