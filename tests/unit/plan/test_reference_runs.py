"""The reference configuration: which one it is, how often a study measures it again, and which runs it marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sizer.plan.run_order import (
    DRIFT_SHARE,
    FEWEST_RUNS,
    MOST_BETWEEN,
    changed_marks,
    is_measurement,
    plan,
    reference,
    spread,
)
from sizer.records.device import Device
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.records.units import GIB
from sizer.study.presets import HostSize
from sizer.words.runs import spread_in_words

HOST = HostSize(4, 16 * GIB)


def study(*plans: WorkloadPlan, around: Limits | None = None, repeats: int = 1) -> Study:
    return Study("s", plans, around=around, measure=Measure(repeats=repeats))


def planned(kind: str = "image_training", device: Device | None = None, **axes: Any) -> WorkloadPlan:
    workload = Workload(f"{kind}-{device.kind if device else 'cpu'}", kind, device=device or Device())
    return WorkloadPlan(workload, **{"batch_size": (32,), "vcpus": (1.0, 2.0, 4.0), **axes})


def chosen(*plans: WorkloadPlan, around: Limits | None = None) -> RunSpec:
    spec = reference(study(*plans, around=around, repeats=2), HOST)
    assert spec is not None
    return spec


def test_the_reference_is_the_point_or_the_largest() -> None:
    """The point of a study around one; else the most vCPUs with the most memory, the first batch and the first disk."""
    point = Limits(2.0, 2 * GIB, "ssd")
    assert chosen(planned(), around=point).limits == point
    crossed = planned(memory_bytes=(GIB // 8, 2 * GIB), disk=("ssd", "hdd"), batch_size=(16, 32))
    assert (chosen(crossed).limits, chosen(crossed).batch_size) == (Limits(4.0, 2 * GIB, "ssd"), 16)


@given(st.integers(1, 60), st.integers(1, 6), st.booleans())
def test_the_reference_is_never_long_ago(count: int, repeats: int, around: bool) -> None:
    """First, last and at most eight runs apart, also from one repeat to the next; no run is lost or doubled."""
    asked = study(
        planned(vcpus=tuple(map(float, range(1, count + 1)))),
        planned("lstm_training", vcpus=(1.0,)),
        around=Limits(2.0) if around else None,
        repeats=repeats,
    )
    specs, referred = plan(asked, HostSize(64, GIB)), reference(asked, HostSize(64, GIB))
    assert len({spec.id for spec in specs}) == len(specs)
    if referred is None:
        assert len(specs) < FEWEST_RUNS
        return
    places = [index for index, spec in enumerate(specs) if is_measurement(spec, referred)]
    assert (places[0], places[-1]) == (0, len(specs) - 1)
    assert all(after - before <= MOST_BETWEEN + 1 for before, after in pairwise(places))
    assert [specs[place].repeat for place in places if specs[place].purpose is not Purpose.REFERENCE] == list(
        range(repeats)
    )
    extra = [spec.repeat for spec in specs if spec.purpose is Purpose.REFERENCE]
    assert extra == list(range(repeats, repeats + len(extra)))
    assert all(is_measurement(spec, referred) for spec in specs if spec.purpose is Purpose.REFERENCE)


def test_axes_that_nobody_waits_for_have_none() -> None:
    """A study folder that was edited by hand does not make its reader count for hours."""
    many = tuple(range(1, 3001))
    assert reference(study(planned(vcpus=tuple(map(float, many)), memory_bytes=many, batch_size=many)), HOST) is None


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
            runs += [run(replace(OTHER, repeat=between * number + repeat), 300.0) for repeat in range(between)]
    return runs


def after_marking(runs: Sequence[Run]) -> list[Run]:
    changed = {mark.id: mark for mark in changed_marks(runs, REFERENCE)}
    return [changed.get(run.id, run) for run in runs]


def marked(runs: Sequence[Run]) -> list[int]:
    """Which runs are marked, by their place in the order."""
    return [
        index
        for index, run in enumerate(after_marking(runs))
        if any(w.kind is WarningKind.DRIFTING for w in run.warnings)
    ]


def test_the_runs_between_are_marked_with_the_figures() -> None:
    """Those between the two measurements that differ, and the reference that is unlike the others."""
    runs = after_marking(measured(742.0, 742.0, 655.0))
    assert [run.warnings for run in runs[:4]] == [()] * 4
    between = RunWarning(WarningKind.DRIFTING, {"before": 742.0, "after": 655.0}, "image")
    assert [run.warnings for run in runs[4:6]] == [(between,)] * 2
    alone = {"rate": 655.0, "low": 742.0, "high": 742.0 * (1 + DRIFT_SHARE)}
    assert runs[6].warnings == (RunWarning(WarningKind.DRIFTING, alone, "image"),)


def test_what_has_no_reference_after_it_is_not_judged() -> None:
    """A study that was stopped says nothing of its last runs, nor of those beside a reference that crashed."""
    runs = measured(742.0, 655.0)
    assert marked(runs[:-1]) == []
    assert marked(measured(742.0, None)) == []
    assert marked(measured(742.0, None, 655.0, between=1)) == [1, 3]


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


def test_the_spread_over_the_study() -> None:
    """How far the reference spread, for the reader who wants one figure."""
    rates = spread(measured(700.0, 742.0, None, 721.0), REFERENCE)
    assert (rates.count, rates.low, rates.high) == (3, 700.0, 742.0)
    expected = "the reference configuration was measured 3 times: 700 images/s to 742 images/s, a spread of 6.0 %"
    assert spread_in_words(rates) == expected
    assert spread(measured(700.0, None), REFERENCE) is None
