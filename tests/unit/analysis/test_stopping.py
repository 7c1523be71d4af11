"""When a run has seen enough, how it ends, and what its monitor does meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.analysis import monitor
from sizer.analysis.events import EventError, EventReader, OutOfMemory, Reading, Start
from sizer.analysis.monitor import MOST_STEPS, JoinedSteps, RunMonitor, Stop, enough
from sizer.analysis.record import ChildResult, outcome, refused_in
from sizer.analysis.steady_state import Epochs, Shown, SteadyState, steady_state
from sizer.files.codec import from_json, to_json
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Cause, CauseKind, Failure, LimitedBy, LimitedByKind, Run, Sample, Step
from sizer.records.run_kinds import MemoryPlace, Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.words.failures import failure_in_words, remedy_of_failure

Steps = Callable[..., list[Step]]
MEASURE = Measure(repeats=1, seconds=10.0, precision=0.02)


Ended = tuple[ChildResult, bool]


def ended(
    stop: Stop,
    status: int | None,
    oom_kills: int,
    measured: bool,
    detail: str = "",
    *,
    seconds: float = 0.0,
    started: bool = True,
    steps: int = 0,
    silent_seconds: float = 0.0,
    longest_step: float = 0.0,
    capped: bool = True,
    own: bool = False,
    pattern: str | None = None,
    of_child: dict[str, Any] | None = None,
    **of_monitor: Any,
) -> Ended:
    """A child that ended so, and whether its steps gave a rate."""
    workload = Workload("train", "image_training" if own else "command", pattern=pattern)
    spec = RunSpec(workload, 8, Limits(1.0, 2**30 if capped else None), Measure())
    made = [Step(index * longest_step, 8, 0.0, 0) for index in range(steps)]
    start = Start("image", 8, 0, 0) if started else None
    over = (made[-1].time if made else 0.0) + silent_seconds
    seen = RunMonitor(spec, 0.0, start, made, stop, detail, limit_seconds=seconds, count=steps, over=over, **of_monitor)
    child: dict[str, Any] = {
        "joined": True,
        "samples": (Sample(time=0.0, oom_kills=oom_kills),),
        "accounted": frozenset(),
        "limited_by": LimitedBy(LimitedByKind.SIZER),
        "last_lines": "",
        "resident_bytes": None,
        "resident_after_bytes": None,
        "throttles_buffered_writes": False,
    }
    return ChildResult(seen=seen, exit_status=status, **child | (of_child or {})), measured


def stop(steps: list[Step]) -> Stop | None:
    return enough(Shown(steady_state(steps), Epochs.ANY), MEASURE, steps[-1].time)


@pytest.mark.parametrize(
    ("measured", "half_width", "expected"),
    [(6, 0.015, None), (6, 0.009, Stop.PRECISION), (8, 0.015, Stop.PRECISION), (8, 0.021, None)],
)
def test_an_early_end_asks_for_more(measured: float, half_width: float, expected: Stop | None) -> None:
    """At half of its seconds a run must be twice as precise as asked for, from three quarters on as precise."""
    steady = SteadyState(Estimate(80.0, 80 * (1 - half_width), 80 * (1 + half_width)), 0.0, 0.0, measured, 50)
    assert enough(Shown(steady, Epochs.ANY), MEASURE, measured) is expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (ended(Stop.ENDED, 0, 0, True), Outcome.COMPLETED),
        (ended(Stop.DEADLINE, None, 0, True), Outcome.COMPLETED),
        (ended(Stop.ENDED, 0, 0, False, kept_out=True), Outcome.CRASHED),
        (ended(Stop.ENDED, 1, 0, True), Outcome.CRASHED),
        (ended(Stop.ENDED, -11, 0, False), Outcome.CRASHED),
        (ended(Stop.ENDED, -9, 1, True), Outcome.OUT_OF_MEMORY),
        (ended(Stop.TIME, None, 1, True), Outcome.OUT_OF_MEMORY),
        (ended(Stop.DEADLINE, None, 0, False, seconds=5.0), Outcome.TIMEOUT),
        (ended(Stop.BROKEN_EVENTS, None, 0, True, "'hello'"), Outcome.CRASHED),
        (ended(Stop.INTERRUPTED, None, 0, True), Outcome.INTERRUPTED),
        (ended(Stop.ENDED, 69, 0, False), Outcome.UNSUPPORTED),
        (ended(Stop.ENDED, 125, 0, False, of_child={"joined": False}), Outcome.REFUSED),
        (ended(Stop.ENDED, 125, 0, False), Outcome.CRASHED),
        (
            ended(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=9, silent_seconds=4.0, longest_step=0.3),
            Outcome.TIMEOUT,
        ),
        (ended(Stop.SLOW_PATTERN, None, 0, True), Outcome.CRASHED),
        (ended(Stop.CONTAINER, None, 0, True, "docker"), Outcome.REFUSED),
        (ended(Stop.ABSENT, None, 0, True), Outcome.REFUSED),
        (ended(Stop.ENDED, 127, 0, False), Outcome.CRASHED),
    ],
)
def test_each_ending_has_one_outcome(ending: Ended, expected: Outcome) -> None:
    """A child that lost a process to the OOM killer is out of memory, even if it lives on and its rate looks fine."""
    how, reason = outcome(*ending)
    assert how is expected
    assert (reason is None) == (how is Outcome.COMPLETED)


def _wrong(kind: CauseKind, stated: float, seen: float) -> Cause:
    return Cause(kind, {"told": stated, "seen": seen})


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        (ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False), "it wrote no event"),
        (ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, pattern="x"), "no line of its log matched"),
        (
            ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, of_child={"silent": True}),
            "it printed nothing and",
        ),
        (ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, no_rate="NaN/s"), "is no rate: NaN/s"),
        (
            ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, reading=Reading(288_300_000, 404_000_000)),
            "it was still reading its data into memory, 275 MiB of 385 MiB",
        ),
        (
            ended(Stop.DEADLINE, None, 0, False, seconds=5.0, started=False, own=True),
            "it had not begun its first step",
        ),
        (ended(Stop.CONTAINER, None, 0, True, "podman"), "it runs in a container (podman)"),
        (ended(Stop.ABSENT, None, 0, True), "its steps are made outside of the limits of the run"),
        (ended(Stop.DEADLINE, None, 0, False, seconds=5.0, silent_seconds=5.0), "its start and no step"),
        (
            ended(Stop.DEADLINE, None, 0, False, seconds=640.0, steps=2, silent_seconds=90.0, busy=True),
            "2 steps, the last one 90.0 s before its end; it was still busy",
        ),
        (
            ended(Stop.DEADLINE, None, 0, True, seconds=5.0, steps=3, silent_seconds=4.0),
            "hung: 3 steps, then none for the last 4.0 s of its 5 s",
        ),
        (ended(Stop.ENDED, 0, 0, False, steps=1, silent_seconds=0.5), "1 step, the last one 0.5 s before its end"),
        (ended(Stop.ENDED, -9, 0, False), "signal 9 (SIGKILL)"),
        (ended(Stop.ENDED, 137, 0, False), "exit status 137 (SIGKILL)"),
        (ended(Stop.ENDED, -64, 0, False), "signal 64"),
        (
            ended(Stop.BROKEN_EVENTS, -11, 0, False, "inside a line"),
            "SIGSEGV); invalid events: inside a line",
        ),
        (ended(Stop.ENDED, -9, 1, False, capped=False), "the host's memory is below"),
        (
            ended(Stop.SLOW_PATTERN, None, 0, True, seconds=1.5),
            "the pattern cannot be matched with the log: it took more than 1.5 s of",
        ),
        (
            ended(Stop.WRONG_UNIT, None, 0, True, wrong_unit=_wrong(CauseKind.TOLD_MILLISECONDS, 0.001, 1.0)),
            "one of seconds; name the group `seconds`",
        ),
        (
            ended(Stop.ENDED, 0, 0, True, wrong_unit=_wrong(CauseKind.TOLD_MINUTES, 60.0, 1.0)),
            "one of minutes; correct the pattern",
        ),
    ],
)
def test_each_reason_is_told(ending: Ended, words: str, make_run: Callable[..., Run]) -> None:
    """What came of the workload, and what was seen of it."""
    how, failure = outcome(*ending)
    assert words in failure_in_words(replace(make_run(None), outcome=how, error=failure))


START = b'{"event":"start","sample_unit":"image","batch_size":8,"dataset_bytes":0,"dataset_samples":0}\n'
GPU = b'{"event":"out_of_memory","where":"gpu"}\n'
SPEC = RunSpec(Workload("train", "image_training"), 8, Limits(1.0, 2**30), Measure())


def run_of(how: Outcome, error: Failure | None) -> Run:
    return Run(SPEC, how, Configuration(1.0, 2**30, "host", 8), "2026-11-21T10:00:00+00:00", 3.0, error=error)


@pytest.mark.parametrize("before", [b"", START])
def test_a_program_tells_whose_memory_it_was_refused(before: bytes) -> None:
    """At any time: a framework may refuse it before the loop begins."""
    *_, event = EventReader().feed(before + GPU)
    assert event == OutOfMemory(MemoryPlace.GPU)
    seen = RunMonitor(SPEC, 0.0)
    seen.take([event])
    assert seen.refused_memory is MemoryPlace.GPU


@pytest.mark.parametrize("where", [b'"tpu"', b"1", b"null"])
def test_another_place_breaks_the_form(where: bytes) -> None:
    with pytest.raises(EventError, match="neither host nor gpu"):
        EventReader().feed(b'{"event":"out_of_memory","where":' + where + b"}\n")


@pytest.mark.parametrize(
    ("ending", "kind", "where"),
    [
        (ended(Stop.ENDED, -9, 1, False), CauseKind.MEMORY_CAP, MemoryPlace.HOST),
        (ended(Stop.ENDED, -9, 1, False, capped=False), CauseKind.HOST_MEMORY, MemoryPlace.HOST),
        (ended(Stop.ENDED, 71, 0, False, refused_memory=MemoryPlace.GPU), CauseKind.GPU_MEMORY, MemoryPlace.GPU),
        (ended(Stop.ENDED, 71, 0, False, refused_memory=MemoryPlace.HOST), CauseKind.NOT_ALLOCATED, MemoryPlace.HOST),
    ],
)
def test_the_record_says_whose_memory_it_was(ending: Ended, kind: CauseKind, where: MemoryPlace) -> None:
    """In `error.where`, and with a sentence and what to do."""
    how, error = outcome(*ending)
    assert how is Outcome.OUT_OF_MEMORY
    assert (error.cause.kind, error.where) == (kind, where)
    run = run_of(how, error)
    form = to_json(run)
    assert form["error"]["where"] == where.value
    assert from_json(Run, form, "x") == run
    assert failure_in_words(run, 80)
    assert remedy_of_failure(run)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", MemoryPlace.GPU),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", MemoryPlace.GPU),
        ("RuntimeError: HIP out of memory.", MemoryPlace.GPU),
        ("mxnet.base.MXNetError: cudaMalloc retry failed: out of memory", MemoryPlace.GPU),
        ("failed to allocate 2.00G: CUDA_ERROR_OUT_OF_MEMORY: out of memory", MemoryPlace.GPU),
        ("OOM when allocating tensor with shape[64,3] on /job:localhost/device:GPU:0", MemoryPlace.GPU),
        ("MemoryError", MemoryPlace.HOST),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.11 PiB", MemoryPlace.HOST),
        ("RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes", MemoryPlace.HOST),
        ("terminate called after throwing an instance of 'std::bad_alloc'", MemoryPlace.HOST),
        ("ValueError: the memory of the past", None),
        ("", None),
    ],
)
def test_what_frameworks_print_is_known(line: str, place: MemoryPlace | None) -> None:
    assert refused_in(f"Traceback (most recent call last):\n  File x\n{line}\n") is place


# What is seen of a run while it goes on, and when it is ended; the clock is the steps' own.


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
    assert steady.throughput.value == pytest.approx(8000, rel=1e-3)
    assert {step.latency for step in kept[:-1]} <= {0.001 * number for number in range(10)}
