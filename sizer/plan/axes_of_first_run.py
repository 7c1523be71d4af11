"""What a program needs, as its run without limits shows, and the axes that are worth measuring for it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sizer.limits.interface import Control
from sizer.records.prediction import Estimate
from sizer.records.run import Meter, MeterKind, Run, WarningKind
from sizer.records.units import MIB
from sizer.study.presets import SMALLEST_VCPUS, HostSize

FEWEST_VALUES = 3
"""A curve over vCPUs needs as many."""

FAR_ABOVE = 2.0
"""vCPUs beyond so many times those that it kept busy teach nothing that the host's own do not."""

FAR_BELOW = 16.0
"""With one vCPU for so many that it kept busy, a run is mostly waiting: nobody rents such a machine."""

NEAR_THE_HOST = 1.5
"""A value nearer than this to the host's own is left out."""

SMALLEST_CACHED = 64 * MIB
"""Bytes of data below which no machine is chosen for what its page cache keeps."""

WHOLE_DATA = 0.9
"""The share of its data in the page cache from which on a run is taken to have read all of it, and to begin again."""

KEPT_SHARES = (0.25, 0.5, 1.0)
"""The shares of the data that the page cache may keep under the memory caps, beside what the program needs itself."""

MEMORY_MARGIN = 1.1
"""Memory over the peak that a first run shows: a longer one may need some more."""


@dataclass(frozen=True)
class Needs:
    """What a program used in a run without limits. None is not known, or was not accounted.

    `busy_vcpus` in the steady state, while other programs took `taken_cores` that it might have used; memory in bytes
    at its peak, `read_bytes` and `written_bytes` a sample from and to the device, `data_bytes` of the data set,
    `batch_samples` those of most steps, `threads` the most at one moment in all its processes. `samples_seen` is False
    where nobody knows how many samples a step has.
    """

    vcpus: float
    busy_vcpus: float | None
    own_memory_bytes: int | None
    page_cache_bytes: int | None
    read_bytes: float | None
    written_bytes: float | None
    first_step_seconds: float | None
    rate: Estimate
    unit: str
    batch_samples: int | None
    meter: Meter | None
    data_bytes: int = 0
    taken_cores: float = 0.0
    threads: int | None = None
    samples_seen: bool = True

    @property
    def wanted_vcpus(self) -> float | None:
        """How many it would have kept busy at the most, had it been alone."""
        return None if self.busy_vcpus is None else min(self.vcpus, self.busy_vcpus + self.taken_cores)


@dataclass(frozen=True)
class ChosenAxes:
    """The values of each axis, ascending, and whether the memory floor is searched for."""

    vcpus: tuple[float, ...]
    memory_bytes: tuple[int, ...] = ()
    memory_floor: bool = False


def needs_of(run: Run, host: HostSize) -> Needs | None:
    """What a run without limits shows; None where it gave no rate."""
    rate, demand = run.throughput, run.demand
    if rate is None or rate.value <= 0:
        return None
    core_seconds = demand.core_seconds if demand is not None else None
    # Lines of a log tell several batches each, and so do steps of which very many were made.
    counts_samples = run.meter is not None and run.meter.kind is not MeterKind.LOG
    joined = any(warning.kind is WarningKind.STEPS_JOINED for warning in run.warnings)
    batches = Counter(step.samples for step in run.steps if step.samples and counts_samples and not joined)
    kernel = run.memory.peak_kernel_bytes or 0
    return Needs(
        vcpus=run.spec.limits.vcpus or float(host.vcpus),
        busy_vcpus=None if core_seconds is None else core_seconds * rate.value,
        own_memory_bytes=run.memory.peak_anonymous_bytes + kernel if run.memory.peak_anonymous_bytes else None,
        page_cache_bytes=run.memory.peak_page_cache_bytes,
        read_bytes=demand.read_bytes if demand is not None else None,
        written_bytes=demand.written_bytes if demand is not None else None,
        first_step_seconds=run.first_step_seconds,
        rate=rate,
        unit=run.sample_unit,
        batch_samples=batches.most_common(1)[0][0] if batches else None,
        meter=run.meter,
        data_bytes=run.data_set.bytes if run.data_set is not None else 0,
        threads=run.memory.peak_threads or None,
        samples_seen=all(warning.kind is not WarningKind.SAMPLES_NOT_SEEN for warning in run.warnings),
        taken_cores=next(
            (warning.figures["cores"] for warning in run.warnings if warning.kind is WarningKind.CONTENDED), 0.0
        ),
    )


def chosen_axes(needs: Needs | None, host: HostSize, lacking: Collection[Control] = ()) -> ChosenAxes:
    """The axes worth measuring for a program that needs this; None is not known yet, so nothing is left out but what
    this host cannot limit."""
    capped = Control.MEMORY not in lacking
    return ChosenAxes(
        vcpus=_vcpus(
            host.vcpus, needs.wanted_vcpus if needs is not None else None, Control.FRACTIONAL_VCPUS not in lacking
        ),
        memory_bytes=_caps(needs, host.memory_bytes) if needs is not None and capped else (),
        memory_floor=capped,
    )


def _vcpus(host: int, busy: float | None, fractions: bool) -> tuple[float, ...]:
    """Doubling up to the host's own, without those that are far from what was busy, but three at least.

    The smallest is half a vCPU, or a quarter on a host of one.
    """
    most, value = float(host), SMALLEST_VCPUS if host == 1 else 2 * SMALLEST_VCPUS
    doubled = []
    while value * NEAR_THE_HOST <= most:
        doubled += [value] if fractions or value.is_integer() else []
        value *= 2
    if busy is None:
        return (*doubled, most)
    wanted = [value for value in doubled if busy / FAR_BELOW <= value < FAR_ABOVE * busy]
    nearest = sorted(
        doubled, key=lambda value: (value not in wanted, max(value / busy, busy / value) if busy else value)
    )
    return (*sorted(nearest[: max(len(wanted), FEWEST_VALUES - 1)]), most)


def _caps(needs: Needs, host_bytes: int) -> tuple[int, ...]:
    """Memory caps between what the program needs itself and what holds its data, too: where the page cache matters."""
    read_all = (needs.page_cache_bytes or 0) >= WHOLE_DATA * needs.data_bytes
    if needs.data_bytes < SMALLEST_CACHED or needs.own_memory_bytes is None or not read_all:
        return ()
    caps = (
        round((needs.own_memory_bytes * MEMORY_MARGIN + share * needs.data_bytes) / MIB) * MIB for share in KEPT_SHARES
    )
    return tuple(cap for cap in caps if cap < host_bytes)
