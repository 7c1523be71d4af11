"""The benchmark of vCPU limits: what it compares, and how it sets a quota without a cpuset."""

from __future__ import annotations

from pathlib import Path

import pytest
from limits import QUOTA, SIZERS, Window, directories, median, set_quota, share_cases, spread, waiting_cases

from sizer.limits.join import join_command
from sizer.records.messages import HostError


def test_every_size_is_set_in_both_ways_with_its_own_number_of_workers() -> None:
    """ceil(V) workers under sizer's limits, one for each CPU under a quota alone."""
    cases = {(case.asked, case.way): case.workers for case in share_cases(2)}
    assert len(cases) == 16
    assert cases[0.25, SIZERS] == 1
    assert cases[1.25, SIZERS] == 2
    assert cases[0.25, QUOTA] == 2


def test_a_host_with_one_cpu_is_not_asked_for_two() -> None:
    """What the host lacks is left out, and the reference stays in."""
    assert max(case.asked for case in share_cases(1)) == 1
    assert {case.asked for case in waiting_cases(1)} == {0.5, 1.0}


def test_threads_that_wait_are_two_and_where_one_would_do_one_too() -> None:
    """Sizer's choice of threads is compared with two under each limit up to 1 vCPU."""
    workers = {(case.asked, case.way, case.workers) for case in waiting_cases(2)}
    assert (0.5, SIZERS, 1) in workers
    assert (0.5, SIZERS, 2) in workers
    assert (1.5, SIZERS, 1) not in workers
    assert all(count == 2 for _, way, count in workers if way is QUOTA)


@pytest.mark.parametrize(
    ("file", "text"), [("cpu.cfs_quota_us", "75000"), ("cpu.max", "75000 100000")], ids=["v1", "v2"]
)
def test_a_quota_is_set_in_the_group_that_a_command_joins(tmp_path: Path, file: str, text: str) -> None:
    """75 ms of each 100 ms for 0.75 vCPU, in either kind of cgroup."""
    for name in ("memory", "cpu"):
        (tmp_path / name).mkdir()
    (tmp_path / "cpu" / file).write_text("")
    groups = directories(join_command(["true"], [tmp_path / name / "cgroup.procs" for name in ("memory", "cpu")]))
    set_quota(groups, 0.75)
    assert (tmp_path / "cpu" / file).read_text() == text


def test_where_no_quota_can_be_set_it_is_said(tmp_path: Path) -> None:
    """One sentence with what to type, no traceback."""
    with pytest.raises(HostError, match="sizer doctor"):
        set_quota([tmp_path], 0.5)


def test_a_figure_is_shown_with_its_least_and_most() -> None:
    """The median of three windows, and both ends."""
    windows = [Window(cores, 1.0, 0.0, 0.0) for cores in (0.5, 0.49, 0.52)]
    assert median(windows, "cores") == 0.5
    assert spread(windows, "cores") == "0.5 (0.49-0.52)"
