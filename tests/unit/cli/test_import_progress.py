"""An import says how far it is from the third second on."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from sizer import api
from sizer.api.events import StepBegun
from sizer.api.fitted_model import Stage
from sizer.cli.progress import ImportProgress


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def fitting(number: int) -> StepBegun:
    return StepBegun(Stage.FITTING, f"w{number}", number, 4)


def test_nothing_before_the_third_second_and_then_what_goes_on() -> None:
    """Also where no step begins, and again every ten seconds."""
    clock, stream = Clock(), io.StringIO()
    progress = ImportProgress(clock, stream)
    progress(fitting(1))
    clock.now += 2.9
    progress.tick()
    assert stream.getvalue() == ""
    clock.now += 0.1
    progress.tick()
    first = "fitting `w1`, 1 of 4 workloads, about 10 % done, 3 s so far\n"
    assert stream.getvalue() == first
    clock.now += 9
    progress.tick()
    assert stream.getvalue() == first
    clock.now += 1
    progress.tick()
    assert stream.getvalue() == first + first.replace("3 s", "13 s")


def test_a_step_that_begins_is_said_at_once() -> None:
    """But no more than one a second."""
    clock, stream = Clock(), io.StringIO()
    progress = ImportProgress(clock, stream)
    clock.now += 5
    for seconds, step in ((0, fitting(1)), (0.5, fitting(2)), (0.6, fitting(3)), (1, StepBegun(Stage.REPORTING))):
        clock.now += seconds
        progress(step)
    assert [line.rpartition(", ")[0] for line in stream.getvalue().splitlines()] == [
        "fitting `w1`, 1 of 4 workloads, about 10 % done",
        "fitting `w3`, 3 of 4 workloads, about 25 % done",
        "writing the report, about 50 % done",
    ]


def test_on_a_terminal_one_line_changes() -> None:
    clock, stream = Clock(), Terminal()
    progress = ImportProgress(clock, stream)
    progress(fitting(1))
    clock.now += 3
    progress.tick()
    clock.now += 1
    progress.tick()
    shown = stream.getvalue()
    assert shown.count("\r\x1b[K") == 2
    assert "\n" not in shown


def test_an_import_goes_through_every_stage(tmp_path: Path) -> None:
    """And each is further than the one before."""
    table = tmp_path / "t.csv"
    table.write_text("workload,vcpus,throughput\na,1,10\na,2,19\na,4,36\nb,1,5\nb,2,9\nb,4,17\n")
    steps: list[StepBegun] = []
    api.import_table(table, tmp_path / "s", lambda event: steps.append(event) if isinstance(event, StepBegun) else None)
    assert [step.stage for step in steps] == [Stage.READING, Stage.STORING, Stage.FITTING, *list(Stage)[2:]]
    assert [step.workload for step in steps if step.stage is Stage.FITTING] == ["a", "b"]
    assert sorted({step.share for step in steps}) == [step.share for step in steps]


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_begins_behind_the_one_before(stage: Stage) -> None:
    before = [step for step in Stage if list(Stage).index(step) < list(Stage).index(stage)]
    assert all(StepBegun(each, "w", 4, 4).share < StepBegun(stage).share for each in before)
