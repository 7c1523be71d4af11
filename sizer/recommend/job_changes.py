"""What to change in a job instead of renting more, and what each change would gain by the model and the accounting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median

from sizer.model.edge import gain, loader_waits
from sizer.model.equation import INSTANT
from sizer.model.memory import anonymous_bytes
from sizer.model.model import CPU_LABEL, WhatIf, WorkloadModel, batch_of
from sizer.model.prediction import predict
from sizer.model.runs import as_asked
from sizer.recommend.reasons import most_by_disk
from sizer.records.kinds import KINDS, LANGUAGE, PREPROCESSING
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Figure, Spec
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

MIN_GAIN = 0.01
"""A gain below one percent is none that anybody would change a job for."""
LARGE_REQUEST = 131072
"""Bytes of a read of a file that is read from its start to its end: Linux reads ahead 128 KiB at a time."""
CHANCE = 0.002
"""What the lower end of a gain must exceed, so that it is no chance."""
WAITING, IDLE = 0.2, 0.8
"""A loop that waits for its input for more than this share of the time, while nothing is busy for more than that."""


class ChangeKind(str, Enum):
    """What could be changed."""

    LOADER_WORKERS = "loader_workers"
    """Twice as many workers in the loader, by the model: they wait for the disk."""
    WAITING = "waiting"
    """More workers in the loader, by the accounting: the loop waits for input and nothing is busy."""
    LARGE_READS = "large_reads"
    """A format that is read in large pieces, where the disk's requests bind."""
    FORMAT = "format"
    """Another format, of which the study has runs."""
    BATCH = "batch"
    """Twice the batch."""
    IN_MEMORY = "in_memory"
    """Memory for all of the data."""
    DECODER = "decoder"
    """Half of the CPU time of decoding."""


OF_DISK = (ChangeKind.LOADER_WORKERS, ChangeKind.IN_MEMORY)
"""Changes after which less is waited for the disk."""


@dataclass(frozen=True)
class Change:
    """One change with its relative gain (90 % interval), what binds after it, and the figures that speak for it.

    `at_most`: the gain is a bound and no estimate. `measured`: runs of the study show it.
    """

    kind: ChangeKind
    gain: Estimate
    figures: Mapping[str, Figure] = field(default_factory=dict)
    then: Bottleneck | None = None
    extrapolated: bool = False
    at_most: bool = False
    measured: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether something is gained, if not how much."""
        return self.at_most or self.gain.low > CHANCE


def judged_by(model: WorkloadModel, spec: Spec) -> Configuration | None:
    """The configuration within the measured range that a spec stands for; None where no run is like it."""
    measured = [rate.configuration for rate in model.measured.rates]
    if not measured:
        return None

    def unlike(place: Configuration) -> tuple[float, float]:
        """In how many things a configuration differs from the spec, and by how many vCPUs."""
        asked = {"disk": spec.disk, "batch_size": spec.batch_size, "gpu": spec.gpu, "gpu_count": spec.gpu_count or None}
        other = sum(value is not None and getattr(place, axis) != value for axis, value in asked.items())
        return other, abs((place.vcpus or 0.0) - (spec.vcpus or 0.0))

    nearest = min(measured, key=unlike)
    most = max((place.vcpus for place in measured if place.vcpus is not None), default=None)
    held = [size for size in model.measured.memory_bytes if spec.memory_bytes is not None and size <= spec.memory_bytes]
    return Configuration(
        nearest.vcpus if spec.vcpus is None or most is None else min(spec.vcpus, most),
        max(held, default=spec.memory_bytes or nearest.memory_bytes),
        spec.disk or nearest.disk,
        spec.batch_size or nearest.batch_size,
        spec.gpu or nearest.gpu,
        spec.gpu_count or nearest.gpu_count,
    )


def changes(model: WorkloadModel, runs: Sequence[Run], here: Configuration) -> tuple[Change, ...]:
    """Those that would gain something at this configuration, the largest first; what the model refuses is left out."""
    possible: list[Change] = []
    for make in (_workers, _waiting, _large_reads, _batch, _in_memory, _decoder):
        with suppress(NoAnswer):
            possible += make(model, runs, here)
    return tuple(sorted((one for one in possible if one.gain.value >= MIN_GAIN), key=lambda one: -one.gain.value))


def disk_gain(model: WorkloadModel, here: Configuration) -> Estimate | None:
    """What a disk on which nothing waits would gain; raises Refused where reads were not accounted."""
    return _by_disk(model, here, gain(model, here, here, WhatIf(disk_rates=INSTANT)))


def _by_disk(model: WorkloadModel, here: Configuration, gained: Estimate | None) -> Estimate | None:
    """A gain of waiting less for the disk, held to what its share of the time allows."""
    if gained is None:
        return None
    most = most_by_disk(model, here, predict(model, here).throughput.high)
    return Estimate(min(gained.value, most), min(gained.low, most), min(gained.high, most))


def _changed(
    model: WorkloadModel,
    kind: ChangeKind,
    here: Configuration,
    what_if: WhatIf,
    there: Configuration | None = None,
    **figures: Figure,
) -> Iterator[Change]:
    """By the model: the job `here` under the what-if, or `there`."""
    there = there or here
    gained = gain(model, here, there, what_if)
    gained = _by_disk(model, here, gained) if kind in OF_DISK else gained
    if gained is not None:
        after = predict(model, there, what_if)
        yield Change(kind, gained, figures, after.bottleneck, after.extrapolated and what_if.disk_rates is None)


def _workers(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    waits = loader_waits(model, here)
    if waits > 0:
        yield from _changed(model, ChangeKind.LOADER_WORKERS, here, WhatIf(loader_workers_factor=2.0), waits=waits)


def _waiting(model: WorkloadModel, runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    """Where no stage of the model says why the loop waits; of runs at this place, whatever their memory cap."""
    bare = replace(here, memory_bytes=None)
    alike = [
        run
        for run in as_asked(runs)
        if run.outcome is Outcome.COMPLETED and replace(run.configuration, memory_bytes=None) == bare
    ]
    waits = [
        run.demand.input_wait * run.throughput.value
        for run in alike
        if run.throughput is not None and run.demand is not None and run.demand.input_wait is not None
    ]
    busy = [max(run.evidence.busy.values()) for run in alike if run.evidence is not None and run.evidence.busy]
    if not waits or not busy or loader_waits(model, here) > WAITING:
        return
    wait, most = min(median(waits), 1.0), median(busy)
    if wait > WAITING and most < IDLE:
        # Neither what is busiest nor the loop's own work leaves more than this.
        bound = min(1 / max(most, 0.01), 1 / max(1 - wait, 0.01)) - 1
        yield Change(ChangeKind.WAITING, Estimate(bound, 0.0, bound), {"waits": wait, "busy": most}, at_most=True)


def _large_reads(model: WorkloadModel, runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    """Files of a folder, a request or more each."""
    facts, disk = model.facts, model.measured.disk(here.disk)
    if facts.read_bytes is None or not facts.read_ios or disk is None or disk.rates.read_iops is None:
        return
    size = facts.read_bytes / facts.read_ios
    files = any(run.spec.workload.format == "folder" for run in runs)
    if not files or size >= LARGE_REQUEST or facts.kind == PREPROCESSING:
        return
    packed = replace(model, facts=replace(facts, read_ios=facts.read_bytes / LARGE_REQUEST))
    gained = gain(model, here, here, as_if=packed)
    if gained is not None and predict(model, here).bottleneck is Bottleneck.DISK_IOPS:
        figures: dict[str, Figure] = {"size": size, "iops": disk.rates.read_iops}
        yield Change(ChangeKind.LARGE_READS, gained, figures, predict(packed, here).bottleneck)


def _batch(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    """Nothing where twice the batch is known not to fit."""
    sizes, batch = model.measured.batch_size, batch_of(here)
    if len(sizes) < 2 or here.batch_size is None:
        return
    there = replace(here, batch_size=2 * batch)
    if predict(model, there).out_of_memory:
        return
    figures: dict[str, Figure] = {"batch": float(2 * batch)}
    smaller = [size for size in sizes if size < batch]
    if smaller:
        half = gain(model, replace(here, batch_size=smaller[-1]), here)
        figures |= {"before": float(smaller[-1]), "now": float(batch), "seen": half.value if half else None}
    yield from _changed(model, ChangeKind.BATCH, here, WhatIf(), there, **figures)


def _in_memory(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    facts, disk = model.facts, model.measured.disk(here.disk)
    if not facts.data_bytes or not facts.read_bytes or disk is None:
        return
    own, data = float(anonymous_bytes(model.measured, here.vcpus, here.batch_size) or 0), float(facts.data_bytes)
    if facts.natural:
        if here.memory_bytes is not None and here.memory_bytes >= own + data:
            return
        what_if = WhatIf(data_bytes_factor=1e-9)
    elif facts.feed.input == "disk" and facts.feed.cache == "cold":
        rates = disk.rates
        written = rates.write_bytes_per_second or rates.read_bytes_per_second
        what_if = WhatIf(disk_rates=replace(INSTANT, write_iops=rates.write_iops, write_bytes_per_second=written))
    else:
        return
    yield from _changed(model, ChangeKind.IN_MEMORY, here, what_if, data=data, memory=own + data, own=own)


def _decoder(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    facts = model.facts
    core, step = facts.core_seconds, facts.step_core_seconds
    decodes = KINDS[facts.kind].data_formats != () and facts.kind not in LANGUAGE and facts.feed.input != "synthetic"
    if decodes and core is not None:
        computed_elsewhere = facts.accelerator not in (None, CPU_LABEL)
        share = 1.0 if computed_elsewhere or step is None else max(0.0, 1 - step / core)
        yield from _changed(model, ChangeKind.DECODER, here, WhatIf(decode_factor=0.5), share=share, seconds=core)
