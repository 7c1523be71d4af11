"""What is seen of a run while it goes on, and when it is ended; the clock is the steps' own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.analysis import monitor
from sizer.analysis.epochs import Epochs
from sizer.analysis.events import EventError, Start
from sizer.analysis.monitor import MOST_STEPS, JoinedSteps, RunMonitor
from sizer.analysis.steady_state import steady_state
from sizer.analysis.stopping import Stop
from sizer.records.run import Step
from sizer.records.study import Limits, Measure, RunSpec, Workload

Steps = Callable[..., list[Step]]


def observing(seconds: float = 10.0, cache: str = "cold", timeout: float | None = None, samples: int = 0) -> RunMonitor:
    workload = Workload("train", "image_training", cache=cache)
    spec = RunSpec(workload, 8, Limits(1.0), Measure(1, seconds, 0.02, 1, timeout))
    return RunMonitor(spec, began=0.0, start=Start("image", 8, 0, samples))


def play(seen: RunMonitor, steps: list[Step], until: float | None = None) -> float:
    """Show the steps as they come, with a decision each half second; the time at which the run ended or ran dry."""
    now = 0.0
    while seen.stop is None and now < (until or steps[-1].time):
        now += 0.5
        seen.take([step for step in steps[len(seen.steps) :] if step.time <= now])
        seen.decide(now, stop_now=False)
    return now


def test_a_steady_run_ends_at_half_of_its_seconds(make_steps: Steps) -> None:
    """Steps that are all alike are precise at the first look."""
    seen = observing()
    assert play(seen, make_steps([0.1] * 300, start=0.0)) == pytest.approx(5.5, abs=0.5)
    assert seen.stop is Stop.PRECISION


def test_a_run_is_judged_a_few_times_only(make_steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each judgement is a chance to stop by luck, and costs time when there are many steps."""
    judged, judge = [], monitor.enough
    monkeypatch.setattr(monitor, "enough", lambda *given: judged.append(given) or judge(*given))
    seen = observing(seconds=30)
    play(seen, make_steps([0.05, 0.15, 0.1, 0.6] * 300, start=0.0))
    assert seen.stop is Stop.TIME
    assert len(judged) <= 8


def test_ctrl_c_ends_a_run_at_once(make_steps: Steps) -> None:
    """Whatever it has shown."""
    seen = observing()
    seen.take(make_steps([0.1] * 300, start=0.0))
    seen.decide(30.0, stop_now=True)
    assert seen.stop is Stop.INTERRUPTED


def natural(make_steps: Steps, length: int, epochs: int, seconds: float) -> list[Step]:
    """Epochs of `length` steps."""
    steps: list[Step] = []
    for epoch in range(epochs):
        steps += make_steps([seconds] * length, epoch=epoch, start=steps[-1].time if steps else 0.0)
    return steps


def test_a_memory_study_goes_on_until_its_second_epoch_is_over(make_steps: Steps) -> None:
    """Ten seconds are asked for, an epoch takes forty: the run ends with the second."""
    seen = observing(cache="natural", samples=400 * 8)
    assert play(seen, natural(make_steps, 400, 4, 0.1)) == pytest.approx(80, rel=0.06)
    assert seen.shown.epochs is Epochs.WHOLE
    steady = seen.shown.steady
    assert steady is not None
    assert steady.measured_seconds == pytest.approx(40.0)


def test_a_timeout_of_the_study_always_holds(make_steps: Steps) -> None:
    """The rate is then that of the first epoch, and says so."""
    seen = observing(cache="natural", samples=1000 * 8, timeout=300.0)
    assert play(seen, natural(make_steps, 1000, 3, 1.0)) == pytest.approx(300.5)
    assert seen.stop is Stop.DEADLINE
    assert seen.shown.epochs is Epochs.FIRST


@pytest.mark.parametrize("time", [98.0, 203.0, 1.7e9])
def test_a_step_of_another_clock_is_refused(time: float) -> None:
    """Counters could not be set to it: it would be before the run began, or after now."""
    seen = RunMonitor(observing().spec, began=100.0)
    seen.take([Step(150.0, 8, 0.0, 0)], now=200.0)
    with pytest.raises(EventError, match="monotonic clock"):
        seen.take([Step(time, 8, 0.0, 0)], now=200.0)


def test_a_flood_is_bounded_and_its_rate_is_the_same() -> None:
    """Samples and waiting are kept to the last one, and each kept step says how many it represents."""
    kept: list[Step] = []
    joined = JoinedSteps(kept)
    count = 10 * MOST_STEPS + 7
    for number in range(count):
        joined.add(Step(0.001 * number, 8, 0.0001, number // 1000, 0.001 * (number % 10)))
    assert MOST_STEPS // 2 <= len(kept) < MOST_STEPS
    assert joined.calls == 16
    assert sum(step.samples for step in kept) == 8 * count
    assert sum(step.input_wait for step in kept) == pytest.approx(0.0001 * count)
    assert kept[-1].time == pytest.approx(0.001 * (count - 1))
    steady = steady_state(kept)
    assert steady is not None
    assert steady.throughput.value == pytest.approx(8000, rel=1e-3)
    assert {step.latency for step in kept[:-1]} <= {0.001 * number for number in range(10)}
