"""Eight configurations that something different binds, and the same with one resource relaxed by 1.5 x. Pure."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck
from sizer.records.run import Run
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

RELAXED = 1.5
MEGABYTE = 1e6
PLENTY = 60.0
"""MB/s of a disk that is not what binds."""

UNBOUND = 5000.0
"""Images/s of an accelerator that is not what binds."""

SERIAL_LOADER = Path(__file__).with_name("serial_loader.py")
ADDITIONS = 60_000
"""Of the serial loader for one sample: some 800 samples/s."""


@dataclass(frozen=True)
class MeasuredPoint:
    """One configuration that is measured, and the disk tier under it."""

    workload: Workload
    vcpus: float
    disk: DiskTier | None = None
    memory_bytes: int | None = None
    batch_size: int = 8

    def spec(self, measure: Measure, repeat: int = 0) -> RunSpec:
        """The run of it that is number `repeat`."""
        limits = Limits(self.vcpus, self.memory_bytes, self.disk.name if self.disk else None)
        return RunSpec(self.workload, self.batch_size, limits, measure, repeat)


@dataclass(frozen=True)
class Case:
    """A configuration, and the same with each of two resources relaxed."""

    name: str
    base: MeasuredPoint
    relaxed: Mapping[Bottleneck, MeasuredPoint]

    @property
    def points(self) -> tuple[MeasuredPoint, ...]:
        return (self.base, *self.relaxed.values())


@dataclass(frozen=True)
class Known:
    """Known from a run on raw images: its memory beside the page cache, bytes of the data set and of a sample."""

    own_memory_bytes: int
    data_bytes: int
    sample_bytes: float


def probe() -> MeasuredPoint:
    """Raw images as fast as the disk gives them, with all the memory that they want."""
    return MeasuredPoint(_training("probe", UNBOUND, "lmdb"), 1.0, _tier("probe", PLENTY))


def measured_needs(run: Run) -> Known:
    """What the cases that are short of memory, or in balance, are made from."""
    assert run.data_set is not None
    assert run.demand is not None
    assert run.demand.read_bytes is not None
    own = max(sample.memory_bytes - sample.page_cache_bytes for sample in run.samples)
    return Known(own, run.data_set.bytes, run.demand.read_bytes)


def cases(probed: Callable[[], Known], only: Collection[str] = ()) -> tuple[Case, ...]:
    """Those of these names, else all eight; two resources bind the last. `probed` is called for those that need it."""
    makers: dict[str, Callable[[], Case]] = {
        "CPU": cpu,
        "disk bandwidth": disk_bandwidth,
        "disk IOPS": disk_iops,
        "emulated GPU": accelerator,
        "memory": lambda: memory(probed()),
        "serial": serial,
        "disk write": disk_write,
        "mixed": lambda: mixed(probed()),
    }
    return tuple(make() for name, make in makers.items() if not only or name in only)


def cpu() -> Case:
    """Preprocessing on half a vCPU, which asks for less than half of what its disk gives."""
    base = MeasuredPoint(_preparing("cpu"), 0.5, _tier("cpu", PLENTY))
    faster = replace(base, disk=_tier("cpu-faster", PLENTY * RELAXED))
    return Case("CPU", base, {Bottleneck.CPU: _more_vcpus(base), Bottleneck.DISK_BANDWIDTH: faster})


def disk_bandwidth() -> Case:
    """Preprocessing from a disk that gives 117 photographs a second, where one vCPU prepares some 480."""
    base = MeasuredPoint(_preparing("disk-bandwidth"), 1.0, _tier("bandwidth", 12.0, write=PLENTY))
    faster = replace(base, disk=_tier("bandwidth-faster", 12.0 * RELAXED, write=PLENTY))
    return Case("disk bandwidth", base, {Bottleneck.DISK_BANDWIDTH: faster, Bottleneck.CPU: _more_vcpus(base)})


def disk_iops() -> Case:
    """Preprocessing of scattered files, each read with one IO, from a disk that gives 100 of them a second."""
    base = MeasuredPoint(_preparing("disk-iops"), 1.0, _tier("iops", PLENTY, iops=100.0))
    more = replace(base, disk=_tier("iops-more", PLENTY, iops=100.0 * RELAXED))
    wider = replace(base, disk=_tier("iops-wider", PLENTY * RELAXED, iops=100.0))
    return Case("disk IOPS", base, {Bottleneck.DISK_IOPS: more, Bottleneck.DISK_BANDWIDTH: wider})


def accelerator() -> Case:
    """An accelerator that takes 200 images/s, of some 1,600 that one vCPU decodes."""
    base = MeasuredPoint(_training("accelerator", 200.0), 1.0)
    faster = replace(base, workload=_training("accelerator-faster", 200.0 * RELAXED))
    return Case("emulated GPU", base, {Bottleneck.ACCELERATOR: faster, Bottleneck.CPU: _more_vcpus(base)})


def memory(probed: Known) -> Case:
    """Raw images of which a third fits beside the run's own memory; half as much memory again holds them all."""
    cap = _whole_mebibytes(probed.own_memory_bytes + probed.data_bytes / 3)
    workload = replace(_training("memory", UNBOUND, "lmdb"), cache="natural")
    base = MeasuredPoint(workload, 1.0, _tier("memory", PLENTY), cap)
    more = replace(base, memory_bytes=_whole_mebibytes(cap * RELAXED))
    return Case("memory", base, {Bottleneck.MEMORY: more, Bottleneck.CPU: _more_vcpus(base)})


def serial() -> Case:
    """One busy core of 1.25 vCPU; 2 is the next step above 1.5 x of it. The serial part itself is made faster."""
    base = MeasuredPoint(_loading("serial", ADDITIONS), 1.25)
    faster = replace(base, workload=_loading("serial-faster", round(ADDITIONS / RELAXED)))
    return Case("serial", base, {Bottleneck.SERIAL: faster, Bottleneck.CPU: replace(base, vcpus=2.0)})


def disk_write() -> Case:
    """Preprocessing into raw images on a disk that takes 100 of them a second."""
    base = MeasuredPoint(_preparing("disk-write", "lmdb"), 1.0, _tier("write", PLENTY, write=20.0))
    faster = replace(base, disk=_tier("write-faster", PLENTY, write=20.0 * RELAXED))
    return Case("disk write", base, {Bottleneck.DISK_WRITE: faster, Bottleneck.CPU: _more_vcpus(base)})


def mixed(probed: Known) -> Case:
    """Raw images from a disk that gives just as many a second as the accelerator takes."""
    rate = 20.0 * MEGABYTE / probed.sample_bytes
    base = MeasuredPoint(_training("mixed", rate, "lmdb"), 1.0, _tier("mixed", 20.0))
    accelerated = replace(base, workload=_training("mixed-accelerated", rate * RELAXED, "lmdb"))
    faster = replace(base, disk=_tier("mixed-faster", 20.0 * RELAXED))
    return Case("mixed", base, {Bottleneck.ACCELERATOR: accelerated, Bottleneck.DISK_BANDWIDTH: faster})


def _whole_mebibytes(size: float) -> int:
    """A cap that the kernel takes as it is: it rounds to pages."""
    return round(size / 2**20) * 2**20


def _more_vcpus(point: MeasuredPoint) -> MeasuredPoint:
    return replace(point, vcpus=point.vcpus * RELAXED)


def _tier(name: str, read: float, write: float | None = None, iops: float | None = None) -> DiskTier:
    """An emulated tier by its MB/s; it writes as fast as it reads unless `write` is given."""
    writes = (write or read) * MEGABYTE
    return DiskTier(name, emulated=DiskRates(iops, read * MEGABYTE, iops and 10 * iops, writes))


def _preparing(name: str, form: str = "recordio") -> Workload:
    return Workload(name, "imagenet_preprocessing", framework="opencv", format=form)


def _training(name: str, rate: float, form: str = "recordio") -> Workload:
    device = Device("emulated", samples_per_second=rate, source="given by the benchmark")
    return Workload(name, "image_training", network="resnet50", format=form, device=device)


def _loading(name: str, additions: int) -> Workload:
    return Workload(name, "command", command=(sys.executable, str(SERIAL_LOADER), str(additions)))
