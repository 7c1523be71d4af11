"""The search for the largest batch that fits: which one to try next, until it is known to within a tenth. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from sizer.model.runs import MOST_RUNS, Tried, largest_batch, tried, unfinished_end, whole_data
from sizer.plan.configurations import configurations, representative
from sizer.records.run import Run
from sizer.records.run_kinds import LargestBatch, Purpose
from sizer.records.study import RunSpec, Study
from sizer.records.units import MIB
from sizer.study.presets import HostSize

TYPICAL_RUNS = 6
"""Three doublings and three halves, from the largest batch of the study."""
SECONDS = 2.0
"""A batch fits if a few steps of it are made; these are shorter than what shows a rate."""
PRECISION = 0.1
TIMEOUT = 300.0
"""Seconds of a run that is not told otherwise: a batch of which not even five steps are made in five minutes is none
that is worth what a search with it costs."""
SHARE_OF_HOST = 0.9
"""Share of the host's memory that is the cap where the study sets none: past it the host itself would be out of it."""
FINEST = 16
"""Halves are rounded to a whole number of so many parts of the power of two below them: 96, 104, 112."""


@dataclass(frozen=True)
class BatchSearch:
    """The search of one workload: `base` with one batch or another, none of which is above `most`."""

    most_runs: ClassVar[int] = MOST_RUNS
    usual_runs: ClassVar[int] = TYPICAL_RUNS

    base: RunSpec
    most: int

    def at(self, batch: int) -> RunSpec:
        """The run with this batch."""
        return replace(self.base, batch_size=batch)

    def includes(self, spec: RunSpec) -> bool:
        """Whether a run is one of these, with whatever batch."""
        return replace(spec, batch_size=self.base.batch_size) == self.base

    def next_run(self, runs: Iterable[Run]) -> RunSpec | None:
        """The run that would show most; None when the largest batch is known, or cannot be found: see `found`."""
        own = self._own(runs)
        seen = tried(own, self.base)
        if unfinished_end(seen, own, self.most) is not None:
            return None
        limit = min(self.most, whole_data(own) or self.most)
        batch = next_batch(seen, self.base.batch_size, limit)
        return None if batch is None else self.at(batch)

    def found(self, runs: Iterable[Run]) -> LargestBatch | None:
        """What is known of the largest batch, and why the search ended; None where no run of it was made."""
        own = self._own(runs)
        return largest_batch(own, self.most, unfinished=self.next_run(own) is not None)

    def _own(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if run.spec.workload == self.base.workload]


def batch_searches(study: Study, host: HostSize) -> tuple[BatchSearch, ...]:
    """The searches that a study asks for: each at the workload's point, or else its most vCPUs and memory.

    Where nothing limits the host's memory, most of it is the cap; of a job on a GPU the GPU's own memory ends it.
    """
    found = []
    for each in study.workloads:
        if each.largest_batch:
            spec = representative(configurations(each, study, host), study, host)
            measure = replace(
                study.measure,
                repeats=1,
                seconds=min(study.measure.seconds, SECONDS),
                precision=PRECISION,
                timeout=study.measure.timeout or TIMEOUT,
            )
            cap = spec.limits.memory_bytes
            if cap is None and each.workload.computes_on.kind != "cuda":
                cap = int(SHARE_OF_HOST * host.memory_bytes) // MIB * MIB
            limits = replace(spec.limits, memory_bytes=cap)
            base = replace(
                spec, batch_size=max(each.batch_size), limits=limits, measure=measure, purpose=Purpose.BATCH_SEARCH
            )
            found.append(BatchSearch(base, each.most_batch))
    return tuple(found)


def next_batch(seen: Tried, first: int, most: int) -> int | None:
    """Twice the largest that held, half of the smallest that did not, then the middle between the two.

    None where they are close, or none is left up to `most`.
    """
    held, failed = seen.largest, seen.failed
    if seen.close:
        return None
    if held is not None and failed is not None:
        return _middle(held, failed)
    if held is not None:
        return min(2 * held, most) if held < most else None
    if failed is not None:
        return failed // 2 or None
    return min(first, most)


def _middle(held: int, failed: int) -> int:
    """The round number nearest to the middle that lies strictly between."""
    middle = (held + failed) // 2
    part = max(1, 2 ** (middle.bit_length() - 1) // FINEST)
    rounded = round(middle / part) * part
    return rounded if held < rounded < failed else middle
