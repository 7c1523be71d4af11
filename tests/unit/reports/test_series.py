"""Which runs share a line in a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sizer.bundled.reports.figures.series import along, common, labels, varied_axes
from sizer.records.configuration import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload

STUDY = Study("s", ())


def run(vcpus: float, memory: int = 8, disk: str = "ssd", batch: int = 32, cache: str = "cold", repeat: int = 0) -> Run:
    spec = RunSpec(Workload("w", "command", cache=cache), batch, Limits(vcpus, memory, disk), Measure(), repeat)
    return Run(spec, Outcome.COMPLETED, Configuration(vcpus, memory, disk, batch), "", 1.0)


def test_only_axes_with_two_values_are_drawn() -> None:
    """An axis at which every run has the same value has no chart."""
    assert varied_axes([run(1), run(2), run(2, disk="nvme")]) == ("vcpus", "disk")


def test_runs_around_a_centre_make_one_line_an_axis() -> None:
    """One axis at a time: the vCPU line holds the centre and the other vCPU values, not the other disks."""
    runs = [run(1), run(2), run(4), run(4, disk="nvme")]
    (line,) = along("vcpus", runs)
    assert [each.configuration.vcpus for each in line.runs] == [1, 2, 4]
    assert common("vcpus", [line], STUDY) == "8 B memory, ssd, batch 32"


def test_crossed_axes_make_one_line_for_each_setting_of_the_others() -> None:
    """A line never joins runs with different disks, and its label names the disk."""
    runs = [run(vcpus, disk=disk) for vcpus in (1, 2) for disk in ("ssd", "nvme")]
    assert set(labels("vcpus", along("vcpus", runs), STUDY)) == {"ssd", "nvme"}


def test_runs_with_another_cache_state_are_never_joined() -> None:
    """A cold and a natural rate are two different things."""
    runs = [run(1), run(2), run(1, cache="natural"), run(2, cache="natural")]
    assert set(labels("vcpus", along("vcpus", runs), STUDY)) == {"cache cold", "cache natural"}


@pytest.mark.parametrize(
    "runs",
    [
        [run(1, 8), run(2, 16), run(4, 32)],
        [run(1), run(2), run(2, 16), run(9, 99, "odd", 7)],
        [run(vcpus, memory) for vcpus in (1, 2) for memory in (8, 16)],
    ],
)
def test_no_run_is_left_off_the_charts(runs: Sequence[Run]) -> None:
    """Whatever the plan, every run is in the chart of at least one axis."""
    drawn = {each.id for axis in varied_axes(runs) for line in along(axis, runs) for each in line.runs}
    assert drawn == {each.id for each in runs}


def test_repeats_do_not_make_an_axis() -> None:
    """Two repeats of one configuration vary nothing."""
    assert varied_axes([run(1), replace(run(1, repeat=1))]) == ()
