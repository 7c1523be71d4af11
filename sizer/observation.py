"""What is seen of a run while it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sizer.events import End, Event, EventError, Start
from sizer.records import RunSpec, Sample, Step
from sizer.sampler import rates
from sizer.steady_state import steady_state
from sizer.stopping import Stop, deadline_seconds, enough, measured_from_epoch


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

    def decide(self, now: float, stop_now: bool) -> None:
        """Sets `stop` once the run should end."""
        measure = self.spec.measure
        if stop_now:
            self.stop = Stop.INTERRUPTED
            return
        steady = steady_state(self.steps)
        self.throughput = steady.throughput.value if steady else None
        self.stop = enough(self.steps, measure, measured_from_epoch(self.spec.workload))
        deadline = deadline_seconds(measure, self.spec.limits.vcpus)
        if self.stop is None and now - self.began > deadline:
            self.stop, self.detail = Stop.DEADLINE, f"{deadline:.0f} s"

    def live(self, now: float, samples: Sequence[Sample]) -> Live:
        """The present figures, CPU and disk from the last two samplings."""
        now_used = rates(samples[-2], samples[-1]) if len(samples) >= 2 else None
        cores, read, written = (now_used.cores, now_used.read_bytes, now_used.written_bytes) if now_used else (0, 0, 0)
        return Live(self.spec, now - self.began, self.throughput, cores, read, written, self.unit)
