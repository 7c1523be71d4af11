"""What to change in a job instead of renting more, and what each change would gain by the model and the accounting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from statistics import median

from sizer.model.coordinates import batch_of
from sizer.model.edge import gain, loader_waits
from sizer.model.feeds import CPU_LABEL
from sizer.model.isolation import as_asked
from sizer.model.memory import anonymous_bytes
from sizer.model.model import WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.model.stages import INSTANT
from sizer.recommend.disks import most_by_disk
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.kinds import KINDS, LANGUAGE, PREPROCESSING
from sizer.records.prediction import Figure, Spec
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

LEAST_GAIN = 0.01
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
    known = [rate.configuration for rate in model.measured.rates]
    if not known:
        return None
    nearest = min(known, key=lambda each: _unlike(each, spec))
    most = max((each.vcpus for each in known if each.vcpus is not None), default=None)
    held = [size for size in model.measured.memory_bytes if spec.memory_bytes is not None and size <= spec.memory_bytes]
    return replace(
        nearest,
        vcpus=nearest.vcpus if spec.vcpus is None or most is None else min(spec.vcpus, most),
        memory_bytes=max(held, default=spec.memory_bytes or nearest.memory_bytes),
        disk=spec.disk or nearest.disk,
        batch_size=spec.batch_size or nearest.batch_size,
        gpu=spec.gpu or nearest.gpu,
        gpu_count=spec.gpu_count or nearest.gpu_count,
    )


def _unlike(configuration: Configuration, spec: Spec) -> tuple[int, float]:
    """In how many things a configuration differs from the spec, and by how many vCPUs."""
    pairs = (
        (configuration.disk, spec.disk),
        (configuration.batch_size, spec.batch_size),
        (configuration.gpu, spec.gpu),
        (configuration.gpu_count, spec.gpu_count or None),
    )
    off = sum(asked is not None and has != asked for has, asked in pairs)
    return off, abs((configuration.vcpus or 0.0) - (spec.vcpus or 0.0))


def changes(model: WorkloadModel, runs: Sequence[Run], here: Configuration) -> tuple[Change, ...]:
    """Those that would gain something at this configuration, the largest first; what the model refuses is left out."""
    found = []
    for make in _MAKERS:
        with suppress(NoAnswer):
            found += list(make(model, runs, here))
    return tuple(sorted((each for each in found if each.gain.value >= LEAST_GAIN), key=lambda each: -each.gain.value))


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
    model: WorkloadModel, kind: ChangeKind, here: Configuration, there: Configuration, what_if: WhatIf, **said: Figure
) -> Iterator[Change]:
    gained = gain(model, here, there, what_if)
    gained = _by_disk(model, here, gained) if kind in OF_DISK else gained
    if gained is None:
        return
    after = predict(model, there, what_if)
    beyond = after.extrapolated and what_if.disk_rates is None
    yield Change(kind, gained, said, after.bottleneck, beyond)


def _workers(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    waits = loader_waits(model, here)
    if waits > 0:
        what_if = WhatIf(loader_workers_factor=2.0)
        yield from _changed(model, ChangeKind.LOADER_WORKERS, here, here, what_if, waits=waits)


def _waiting(model: WorkloadModel, runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    """Where no stage of the model says why the loop waits."""
    alike = _runs_at(runs, here)
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
    before = predict(model, here)
    packed = replace(model, facts=replace(facts, read_ios=facts.read_bytes / LARGE_REQUEST))
    gained = gain(model, here, here, as_if=packed)
    if gained is not None and before.bottleneck is Bottleneck.DISK_IOPS:
        said: dict[str, Figure] = {"size": size, "iops": disk.rates.read_iops}
        yield Change(ChangeKind.LARGE_READS, gained, said, predict(packed, here).bottleneck)


def _batch(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    """Nothing where twice the batch is known not to fit."""
    known = model.measured.batch_size
    if len(known) < 2 or here.batch_size is None:
        return
    there = replace(here, batch_size=2 * batch_of(here))
    if predict(model, there).out_of_memory:
        return
    smaller = [size for size in known if size < batch_of(here)]
    seen: dict[str, Figure] = {"batch": float(2 * batch_of(here))}
    if smaller:
        half = gain(model, replace(here, batch_size=smaller[-1]), here)
        seen |= {"before": float(smaller[-1]), "now": float(batch_of(here)), "seen": half.value if half else None}
    yield from _changed(model, ChangeKind.BATCH, here, there, WhatIf(), **seen)


def _in_memory(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    facts, disk = model.facts, model.measured.disk(here.disk)
    if not facts.data_bytes or not facts.read_bytes or disk is None:
        return
    own = anonymous_bytes(model.measured, here.vcpus, here.batch_size) or 0
    needed = float(own + facts.data_bytes)
    if facts.natural:
        if here.memory_bytes is not None and here.memory_bytes >= needed:
            return
        what_if = WhatIf(data_bytes_factor=1e-9)
    elif facts.setting.input == "disk" and facts.setting.cache == "cold":
        own_rates = disk.rates
        written = own_rates.write_bytes_per_second or own_rates.read_bytes_per_second
        what_if = WhatIf(disk_rates=replace(INSTANT, write_iops=own_rates.write_iops, write_bytes_per_second=written))
    else:
        return
    yield from _changed(
        model, ChangeKind.IN_MEMORY, here, here, what_if, data=float(facts.data_bytes), memory=needed, own=float(own)
    )


def _decoder(model: WorkloadModel, _runs: Sequence[Run], here: Configuration) -> Iterator[Change]:
    facts = model.facts
    if KINDS[facts.kind].data_formats == () or facts.kind in LANGUAGE or facts.setting.input == "synthetic":
        return
    core, step = facts.core_seconds, facts.step_core_seconds
    computed_elsewhere = facts.accelerator not in (None, CPU_LABEL)
    if core is None:
        return
    share = 1.0 if computed_elsewhere or step is None else max(0.0, 1 - step / core)
    yield from _changed(model, ChangeKind.DECODER, here, here, WhatIf(decode_factor=0.5), share=share, seconds=core)


_MAKERS: tuple[Callable[[WorkloadModel, Sequence[Run], Configuration], Iterator[Change]], ...] = (
    _workers,
    _waiting,
    _large_reads,
    _batch,
    _in_memory,
    _decoder,
)


def _runs_at(runs: Sequence[Run], here: Configuration) -> list[Run]:
    """Completed runs of the whole job at this configuration, whatever their memory cap."""
    bare = replace(here, memory_bytes=None)
    return [
        run
        for run in as_asked(runs)
        if run.outcome is Outcome.COMPLETED and replace(run.configuration, memory_bytes=None) == bare
    ]
