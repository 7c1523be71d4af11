"""What is seen of a run while it goes on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from sizer.epochs import Shown, measured_from_epoch, shown, two_epochs_seconds
from sizer.events import End, Event, EventError, Start
from sizer.records import RunSpec, Sample, Step
from sizer.sampler import rates
from sizer.stopping import Stop, deadline_seconds, enough, next_look

RECENT_SECONDS = 5.0
"""What a person sees as the rate of a run in hand is that of so many seconds; it costs nothing to know."""


@dataclass(frozen=True)
class Live:
    """What a person sees of the run in hand; a throughput of None is not known yet."""

    spec: RunSpec
    seconds: float
    throughput: float | None
    cores: float
    read_bytes_per_second: float
    written_bytes_per_second: float = 0.0
    unit: str = "sample"


@dataclass
class Observation:
    """Collects a child's events and decides when it has shown enough."""

    spec: RunSpec
    began: float
    start: Start | None = None
    steps: list[Step] = field(default_factory=list)
    stop: Stop | None = None
    detail: str = ""
    throughput: float | None = None
    next_look: float = 0.0
    two_epochs_seconds: float = 0.0

    @property
    def unit(self) -> str:
        """What a sample is: as the workload says, else as the study does."""
        return self.start.sample_unit if self.start else self.spec.workload.sample_unit or "sample"

    def take(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, Start):
                self.start = event
            elif isinstance(event, Step):
                self.steps.append(event)
            else:
                assert isinstance(event, End)

    def broke(self, error: EventError) -> None:
        self.stop, self.detail = Stop.BROKEN_EVENTS, str(error)

    @property
    def shown(self) -> Shown:
        """What the run has shown so far: its steady state and the epochs that it stands on."""
        return shown(self.steps, self.spec.workload, self._epoch_samples)

    @property
    def _epoch_samples(self) -> int:
        return self.start.dataset_samples if self.start else 0

    def decide(self, now: float, stop_now: bool) -> None:
        """Sets `stop` once the run should end."""
        if stop_now:
            self.stop = Stop.INTERRUPTED
            return
        self.throughput = _recent_rate(self.steps)
        if self.steps and self.steps[-1].time >= self.next_look:
            self._look(self.steps[0].time, self.steps[-1].time)
        deadline = deadline_seconds(self.spec.measure, self.spec.limits.vcpus, self.two_epochs_seconds)
        if self.stop is None and now - self.began > deadline:
            self.stop, self.detail = Stop.DEADLINE, f"{deadline:.0f} s"

    def _look(self, first: float, last: float) -> None:
        """Judge the run by all of its steps, from the first one's time to the last one's."""
        now_shown, measure = self.shown, self.spec.measure
        self.stop = enough(now_shown, measure, last)
        self.next_look = next_look(now_shown, measure, first, last)
        if measured_from_epoch(self.spec.workload) and self._epoch_samples:
            self.two_epochs_seconds = two_epochs_seconds(self.steps, self._epoch_samples)

    def live(self, now: float, samples: Sequence[Sample]) -> Live:
        """The present figures, CPU and disk from the last two samplings."""
        now_used = rates(samples[-2], samples[-1]) if len(samples) >= 2 else None
        cores, read, written = (now_used.cores, now_used.read_bytes, now_used.written_bytes) if now_used else (0, 0, 0)
        return Live(self.spec, now - self.began, self.throughput, cores, read, written, self.unit)


def _recent_rate(steps: Sequence[Step]) -> float | None:
    """Samples/s of the last RECENT_SECONDS; None before there are two steps."""
    if len(steps) < 2:
        return None
    since = min(bisect_left(steps, steps[-1].time - RECENT_SECONDS, key=lambda step: step.time), len(steps) - 2)
    seconds = steps[-1].time - steps[since].time
    return sum(step.samples for step in steps[since + 1 :]) / seconds if seconds > 0 else None
