"""How models are judged: designs that see no rate, truths by counterfactuals, goals beside the figures."""

from __future__ import annotations

import itertools
import math

import pytest
from accuracy_draws import designed, draw_case
from accuracy_machines import Faster, share_questions, stage_shares
from accuracy_measured import scores_of_grid
from accuracy_runs import measured_runs
from accuracy_simulated import Named, judge_case, scores, true_kinds
from goals import at_most, error, share
from grid_data import load_grid

from sizer.records.prediction import Bottleneck, Configuration
from sizer.records.run_kinds import Outcome

GRID = [
    Configuration(c, m, d, 32)
    for c, m, d in itertools.product((0.5, 1.0, 1.5, 2.0), (2**28, 2**30), ("fast", "middle", "slow"))
]


def test_a_design_covers_every_value_and_holds_three_vcpus() -> None:
    """Three of 24 configurations have three vCPU values, both ends among them, and every disk and memory."""
    chosen = designed(GRID, 3)
    assert sorted(configuration.vcpus for configuration in chosen) == [0.5, 1.5, 2.0]
    assert {configuration.disk for configuration in chosen} == {"fast", "middle", "slow"}
    assert {configuration.memory_bytes for configuration in chosen} == {2**28, 2**30}


def test_cases_are_the_same_for_the_same_seed_and_hold_out_what_they_say() -> None:
    """A case is drawn again as it was; nothing held out was measured, and what is beyond is beyond."""
    for number in range(6):
        case = draw_case(number, 5)
        assert case == draw_case(number, 5)
        assert len(case.measured) >= 6
        assert not set(case.measured) & set(case.inside)
        most = max(configuration.vcpus for configuration in case.measured)
        assert all(configuration.vcpus <= most for configuration in case.inside)
        assert all(configuration.vcpus > most for configuration in case.beyond)
        assert case.accounted == (number % 2 == 0)


def test_runs_are_what_sizer_records_and_tell_no_truth() -> None:
    """Accounted runs have demands, evidence and disks; a table of rates has none of them; repeats differ."""
    for number in range(4):
        case = draw_case(number, 5)
        runs = measured_runs(case)
        done = [run for run in runs if run.outcome is Outcome.COMPLETED]
        assert len(runs) == len(case.measured) * case.repeats
        assert all((run.demand is not None) == case.accounted for run in done)
        assert all((run.evidence is not None) == case.accounted for run in done)
        assert len({run.throughput for run in done}) == len(done)


def test_true_shares_come_from_simulating_again() -> None:
    """They agree with the slope of the rate itself, and what is not there has no share."""
    case = draw_case(1, 5)
    configuration = case.measured[-1]
    gains = stage_shares(configuration, case.machine.truth(share_questions(configuration).values()))
    slow, fast = case.machine.truth([(configuration, Faster()), (configuration, Faster(cpu=1.15))]).values()
    assert gains["cpu"] == pytest.approx(math.log(fast / slow) / math.log(1.15))
    assert 0.7 < sum(true_kinds(gains).values()) < 1.3


@pytest.mark.parametrize(
    ("named", "shares", "sides", "right"),
    [
        (Bottleneck.SERIAL, {"computing": 0.9, "disk": 0.1}, (0.9, 1.0), False),
        (Bottleneck.SERIAL, {"computing": 0.9, "disk": 0.1}, (0.0, 0.1), True),
        (Bottleneck.CPU, {"computing": 0.9, "disk": 0.1}, (0.0, 0.1), False),
        (Bottleneck.DISK_IOPS, {"computing": 0.1, "disk": 0.8}, (0.9, 1.0), True),
    ],
)
def test_a_named_bottleneck_is_judged_by_what_would_help(
    named: Bottleneck, shares: dict[str, float], sides: tuple[float, float], right: bool
) -> None:
    """`cpu` where vCPUs relieve computing, `serial` where they do not; any limit of the disk is the disk."""
    assert Named("machine", GRID[0], named, shares, sides).right is right


def test_errors_and_goals() -> None:
    """An error is |ln| of the ratio; a goal is met or missed, and nothing is judged of nothing."""
    assert error(110, 100) == pytest.approx(math.log(1.1))
    assert error(0, 100) == math.inf
    assert at_most("a", "b", [0.01, 0.02, 0.5], 0.5, 0.03).met is True
    assert at_most("a", "b", [0.01, 0.04, 0.5], 0.5, 0.03).met is False
    assert at_most("a", "b", [], 0.5, 0.03).met is None
    assert share("a", "b", [True] * 9 + [False], 0.85, 0.95).met is True
    assert share("a", "b", [True] * 10, 0.85, 0.95).met is False


def test_the_grids_table_has_its_goals() -> None:
    """Both designs are judged, and no goal is harder than 1.5 times what repeats differ by."""
    table, lines = scores_of_grid(load_grid(), "grid", 1)
    parts = {score.part for score in table}
    assert {"grid, 12 in all", "grid, 12 a workload", "grid, two repeats"} <= parts
    repeat = next(s.value for s in table if s.part == "grid, two repeats" and s.figure.startswith("median"))
    goal = next(s.goal for s in table if s.part == "grid, 12 in all" and s.figure == "median error")
    assert float(goal.split()[1]) == pytest.approx(max(3.0, 1.5 * repeat), rel=0.01)
    assert sum("vCPU" in line and "true" not in line for line in lines) > 12


def test_a_simulated_machine_is_judged_by_its_truth() -> None:
    """What is inside and beyond is told or refused, bottlenecks are named, and sizer fails on none."""
    outcomes = [judge_case(number) for number in (0, 1)]
    assert [outcome.fault for outcome in outcomes] == [None, None]
    assert all(outcome.named and len(outcome.inside) + len(outcome.beyond) <= outcome.asked for outcome in outcomes)
    table, _ = scores(outcomes)
    assert {row.part for row in table} == {"simulated", "simulated, accounted", "simulated, rates alone"}
