"""Runs are marked `drifting` where the reference configuration tells that the host drifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sizer.plan.reference_runs import DRIFT_SHARE, changed_marks, spread
from sizer.records.run import Configuration, Estimate, Outcome, Run, RunWarning, WarningKind
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.words.runs import spread_in_words

REFERENCE = RunSpec(Workload("train", "image_training"), 32, Limits(2.0), Measure(repeats=1))
CONTENDED, IMPRECISE = RunWarning(WarningKind.CONTENDED), RunWarning(WarningKind.IMPRECISE)
OTHER = replace(REFERENCE, limits=Limits(1.0))


def run(spec: RunSpec, rate: float | None, warnings: tuple[RunWarning, ...] = ()) -> Run:
    outcome = Outcome.COMPLETED if rate is not None else Outcome.CRASHED
    throughput = Estimate(rate, rate, rate) if rate is not None else None
    return Run(
        spec,
        outcome,
        Configuration(2.0, 2**30, "host", 32),
        "2026-11-21T10:00:00+00:00",
        40.0,
        sample_unit="image",
        throughput=throughput,
        warnings=warnings,
    )


def measured(*references: float | None, between: int = 2) -> list[Run]:
    """The reference at these rates in turn, with other runs between; the last is the reference."""
    runs: list[Run] = []
    for number, rate in enumerate(references):
        runs.append(run(replace(REFERENCE, repeat=number), rate))
        if number < len(references) - 1:
            runs += [run(replace(OTHER, repeat=between * number + each), 300.0) for each in range(between)]
    return runs


def after_marking(runs: Sequence[Run]) -> list[Run]:
    changed = {each.id: each for each in changed_marks(runs, REFERENCE)}
    return [changed.get(each.id, each) for each in runs]


def marked(runs: Sequence[Run]) -> list[int]:
    """Which runs are marked, by their place in the order."""
    return [
        index
        for index, each in enumerate(after_marking(runs))
        if any(w.kind is WarningKind.DRIFTING for w in each.warnings)
    ]


def test_a_quiet_host_marks_nothing() -> None:
    """Measurements of the reference that agree to 5 % say nothing against the runs between."""
    assert changed_marks(measured(740.0, 742.0, 715.0, 730.0), REFERENCE) == ()


def test_the_runs_between_are_marked_with_the_figures() -> None:
    """Those between the two measurements that differ, and the reference that stands alone."""
    runs = after_marking(measured(742.0, 742.0, 655.0))
    assert [each.warnings for each in runs[:4]] == [()] * 4
    between = RunWarning(WarningKind.DRIFTING, {"before": 742.0, "after": 655.0}, "image")
    assert [each.warnings for each in runs[4:6]] == [(between,)] * 2
    alone = {"rate": 655.0, "low": 742.0, "high": 742.0 * (1 + DRIFT_SHARE)}
    assert runs[6].warnings == (RunWarning(WarningKind.DRIFTING, alone, "image"),)


def test_what_has_no_reference_after_it_is_not_judged() -> None:
    """A study that was stopped says nothing of its last runs, nor of those beside a reference that crashed."""
    runs = measured(742.0, 655.0)
    assert marked(runs[:-1]) == []
    assert marked(measured(742.0, None)) == []
    assert marked(measured(742.0, None, 655.0, between=1)) == [1, 3]


def test_a_run_without_a_rate_has_nothing_to_be_warned_of() -> None:
    """A run that crashed or ran out of memory keeps its own story."""
    runs = measured(742.0, 655.0, between=1)
    assert marked([runs[0], replace(runs[1], outcome=Outcome.OUT_OF_MEMORY, throughput=None), runs[2]]) == []


def test_a_host_that_creeps_is_found() -> None:
    """No two measurements differ by 5 %, all of them by 10 %: the runs far from where most were are marked."""
    rates = (100.0, 99.0, 98.0, 97.0, 96.0, 95.0, 94.0, 93.0, 92.0, 91.0, 90.0)
    found = marked(measured(*rates, between=1))
    assert {1, 19} <= set(found)
    assert not {9, 11} & set(found)


def test_a_slow_hour_is_told_from_the_rest() -> None:
    """Where the host was slow for a while, the runs of that while are marked and those before and after are not."""
    runs = measured(100.0, 101.0, 90.0, 90.5, 100.0, 99.0, 100.5, between=1)
    assert marked(runs) == [3, 4, 5, 6, 7]


@given(st.lists(st.floats(50, 200), min_size=2, max_size=12))
def test_what_is_not_marked_can_be_compared(rates: list[float]) -> None:
    """Around any two runs without a mark the reference was, on average, within 5 % of itself."""
    runs = measured(*rates, between=1)
    levels = [(rates[i] + rates[i + 1]) / 2 for i in range(len(rates) - 1) if 2 * i + 1 not in marked(runs)]
    assert not levels or max(levels) <= min(levels) * (1 + DRIFT_SHARE) * (1 + 1e-9)


@given(st.lists(st.floats(50, 200), min_size=2, max_size=8), st.integers(2, 8))
def test_marks_follow_from_the_runs_alone(rates: list[float], cut: int) -> None:
    """A study that was killed and went on comes to the same marks as one that was not, and marking again adds none."""
    runs = measured(*rates)
    at_once = after_marking(runs)
    in_two = after_marking([*after_marking(runs[:cut]), *runs[cut:]])
    assert in_two == at_once
    assert changed_marks(at_once, REFERENCE) == ()


def test_other_warnings_stay() -> None:
    """A mark that no longer holds goes, what else was said of the run stays in its order."""
    runs = measured(742.0, 742.0, between=1)
    runs[1] = replace(runs[1], warnings=(CONTENDED, RunWarning(WarningKind.DRIFTING), IMPRECISE))
    assert after_marking(runs)[1].warnings == (CONTENDED, IMPRECISE)


def test_a_study_without_a_reference_has_no_marks() -> None:
    """A few runs are over before the host drifts."""
    assert changed_marks(measured(742.0, 655.0), None) == ()
    assert spread(measured(742.0, 655.0), None) is None


def test_the_spread_over_the_study() -> None:
    """How far the reference spread, for the reader who wants one figure."""
    found = spread(measured(700.0, 742.0, None, 721.0), REFERENCE)
    assert found is not None
    assert (found.count, found.low, found.high) == (3, 700.0, 742.0)
    expected = "the reference configuration was measured 3 times: 700 images/s to 742 images/s, a spread of 6.0 %"
    assert spread_in_words(found) == expected
    assert spread(measured(700.0, None), REFERENCE) is None
