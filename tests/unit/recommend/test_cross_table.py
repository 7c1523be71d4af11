"""Frameworks beside each other: which cells make a row, their ranks, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.recommend.cross_table import MOST_COLUMNS, cross_table
from sizer.records.answer import CrossCell, CrossColumn, CrossTable
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run, RunWarning, Step, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from tests.tables import runs_of

HEADER = "workload,framework,network,gpu,batch_size,mode,throughput,throughput_low,throughput_high,outcome\n"
PROGRAMS = (
    HEADER
    + """a,tensorflow,resnet50,P100,64,train,200,196,204,
b,tensorflow,alexnet,P100,512,train,2800,,,
c,mxnet,resnet50,P100,64,train,180,176,184,
d,mxnet,alexnet,P100,512,train,1400,,,
e,pytorch,resnet50,P100,64,train,192,188,196,
f,pytorch,resnet50,V100,64,train,400,,,
g,pytorch,alexnet,P100,512,train,,,,out_of_memory
"""
)

Tabulated = Callable[[str], CrossTable | None]


@pytest.fixture
def tabulated(tmp_path: Path) -> Tabulated:
    return lambda table: cross_table(runs_of(tmp_path, table))


def test_frameworks_and_accelerators_stand_beside_each_other(tabulated: Tabulated) -> None:
    """A mini-batch takes its samples over the rate; ratios are those to the least of the row."""
    table = tabulated(PROGRAMS)
    assert table.columns == tuple(
        CrossColumn(*pair)
        for pair in (("tensorflow", "P100"), ("mxnet", "P100"), ("pytorch", "P100"), ("pytorch", "V100"))
    )
    assert [(row.network, row.batch_size, row.mode) for row in table.rows] == [
        ("resnet50", 64, "train"),
        ("alexnet", 512, "train"),
    ]
    first = table.rows[0].cells
    assert [cell.seconds.value for cell in first if cell.seconds] == pytest.approx([0.32, 64 / 180, 64 / 192, 0.16])
    assert first[0].seconds == Estimate(0.32, 64 / 204, 64 / 196)
    assert first[1].ratio == pytest.approx(400 / 180)


def test_what_cannot_be_told_apart_shares_a_rank(tabulated: Tabulated) -> None:
    """A rank counts those that are surely faster: of single runs, by more than what is supposed between processes."""
    table = tabulated(PROGRAMS)
    assert [cell.rank for cell in table.rows[0].cells] == [2, 3, 2, 1]
    assert table.supposed == 0.04
    repeated = tabulated(PROGRAMS + "e,pytorch,resnet50,P100,64,train,150,149,151,\n")
    assert [cell.rank for cell in repeated.rows[0].cells] == [2, 3, 2, 1], "its two runs are wide apart"
    assert repeated.rows[0].cells[2].runs == 2


def test_a_cell_that_is_missing_says_why(tabulated: Tabulated) -> None:
    """How its runs ended; nothing where none was made."""
    table = tabulated(PROGRAMS)
    assert table.rows[1].cells[2] == CrossCell(outcome=Outcome.OUT_OF_MEMORY, runs=1)
    assert table.rows[1].cells[3] == CrossCell()


def test_one_device_is_not_said_in_each_column(tabulated: Tabulated) -> None:
    """Nor is one of many, which would make too many columns: each has rows of its own."""
    table = tabulated("\n".join(line for line in PROGRAMS.splitlines() if "V100" not in line))
    assert table.columns[0] == CrossColumn("tensorflow")
    assert {row.accelerator for row in table.rows} == {"P100"}
    gpus = [f"G{number}" for number in range(MOST_COLUMNS)]
    many = HEADER + "".join(f"{f}{gpu},{f},vgg16,{gpu},8,train,10,,,\n" for f in ("a", "b") for gpu in gpus)
    table = tabulated(many)
    assert [len(table.columns), len(table.rows)] == [2, MOST_COLUMNS]


def test_unlike_is_not_compared(tabulated: Tabulated) -> None:
    """Other modes, precisions and batches are other rows, and a row of one cell compares nothing."""
    table = tabulated(
        "workload,framework,network,batch_size,mode,precision,throughput\n"
        "a,a,vgg16,8,train,fp32,10\nb,b,vgg16,8,forward,fp32,30\nc,b,vgg16,16,train,fp32,11\nd,b,vgg16,8,train,fp16,19\n"
    )
    assert table is None


def test_there_must_be_two_of_something(tabulated: Tabulated) -> None:
    """One framework's networks stand among each other from three on; what names no framework never does."""
    one = "workload,framework,network,batch_size,mode,throughput\n"
    assert tabulated(one + "a,a,vgg16,8,train,10\nb,a,alexnet,8,train,30\n") is None
    table = tabulated(one + "a,a,vgg16,8,train,10\nb,a,alexnet,8,train,30\nc,a,alexnet,8,forward,90\n")
    assert [(row.network, row.mode) for row in table.rows] == [
        ("vgg16", "train"),
        ("alexnet", "forward"),
        ("alexnet", "train"),
    ]
    assert tabulated("workload,network,batch_size,throughput\na,vgg16,8,10\nb,alexnet,8,30\nc,vgg16,16,9\n") is None
    assert cross_table([]) is None


def test_machines_around_one_accelerator_are_rows(tabulated: Tabulated) -> None:
    """Otherwise their vCPUs are not compared, as published tables do not."""
    header = "workload,framework,network,gpu,batch_size,vcpus,throughput\n"
    table = tabulated(header + "a,a,vgg16,K80,8,4,10\nb,b,vgg16,T4,8,8,20\n")
    assert [row.vcpus for row in table.rows] == [None]
    both = "".join(f"{f},{f},vgg16,K80,8,{vcpus},{10 + vcpus}\n" for f in ("a", "b") for vcpus in (4, 8))
    table = tabulated(header + both)
    assert [row.vcpus for row in table.rows] == [4.0, 8.0]


def _run(framework: str, network: str = "googlenet", kind: str = "image_inference", rate: float = 40.0) -> Run:
    """A measured run of 2 vCPUs and a batch of 8."""
    workload = Workload(f"{framework}-{network}", kind, framework, network, input="synthetic")
    spec = RunSpec(workload, 8, Limits(2.0), Measure())
    steps = tuple(Step(float(second), 8, 0.0, 0) for second in range(3))
    return Run(
        spec,
        Outcome.COMPLETED,
        Configuration(2.0, 2**33, "host", 8),
        None,
        9.0,
        sample_unit="image",
        throughput=Estimate(rate, rate * 0.99, rate * 1.01),
        steps=steps,
    )


def test_repeats_show_how_wide_apart_single_runs_may_be() -> None:
    """A host that drifts ranks nothing; whose repeats a published table has, nobody knows."""
    again = replace(_run("mxnet", "vgg16", rate=20.0), spec=replace(_run("mxnet", "vgg16").spec, repeat=1))
    runs = [_run("mxnet"), _run("pytorch", rate=30.0), _run("mxnet", "vgg16"), again, _run("pytorch", "vgg16")]
    table = cross_table(runs)
    assert table.supposed == pytest.approx((40 - 20) / 2 / 30)
    assert [cell.rank for cell in table.rows[0].cells] == [1, 1]


def test_networks_that_are_not_the_same_are_named() -> None:
    """Where both frameworks' own definitions are in the table."""
    table = cross_table([_run("mxnet"), _run("pytorch")])
    assert table.not_the_same == ("googlenet",)
    assert table.rows[0].precision == "fp32"
    same = cross_table([_run("mxnet", "vgg16"), _run("pytorch", "vgg16")])
    assert not same.not_the_same


def test_a_mini_batch_of_text_has_more_samples_than_its_batch() -> None:
    """What the program told of its steps counts; joined ones are more than one mini-batch each."""
    first, second = (replace(_run(name, "small", "lstm_training", 700.0), sample_unit="word") for name in ("a", "b"))
    words = tuple(replace(step, samples=2 * 280) for step in first.steps)
    joined = replace(second, steps=words, warnings=(RunWarning(WarningKind.STEPS_JOINED, {"steps": 2.0}),))
    table = cross_table([replace(first, steps=tuple(replace(step, samples=280) for step in first.steps)), joined])
    assert [cell.seconds.value for cell in table.rows[0].cells if cell.seconds] == pytest.approx([0.4, 0.4])


def test_doubtful_runs_are_counted() -> None:
    """Those with a warning that makes a rate doubtful."""
    contended = replace(_run("pytorch"), warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 1.0}),))
    table = cross_table([_run("mxnet"), contended])
    assert [cell.doubtful for cell in table.rows[0].cells] == [0, 1]


def test_a_precision_by_two_names_is_one_row(tmp_path: Path) -> None:
    """One column of a table says FP32, the other float32; both are compared, as fp32."""
    table = "framework,network,gpu,batch_size,mode,precision,throughput\n"
    rows = "mxnet,vgg16,V100,32,train,FP32,200\npytorch,vgg16,V100,32,train,float32,210\n"
    crossed = cross_table(runs_of(tmp_path, table + rows))
    assert [(row.precision, len(row.cells)) for row in crossed.rows] == [("fp32", 2)]
