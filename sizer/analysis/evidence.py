"""What bound a run, from its accounting alone and without the model. Pure."""

from __future__ import annotations

from sizer.analysis.run_warnings import CONTENDED_CORES
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind

BUSY = 0.85
"""Busy share from which a resource counts as the one that binds: limits hold their mean within a few percent."""

CLOSE = 0.08
"""Two resources whose busy shares differ by less than this count as equal."""

LEADING = 0.6
"""Busy share from which a resource counts although it is not full, if it is at least twice as busy as any other: the
job waits for something short in between, such as a blocking read, but this is where its time goes."""

SERIAL_BAND = (0.85, 1.25)
"""Core-seconds a second of a job that keeps one core busy and no more."""

UNTHROTTLED = 0.1
"""Share of its periods up to which a quota was not what held a run back. Of quotas of 0.75 to 1.5 vCPU, one busy core
used up none, and preprocessing and decoding that the vCPUs bound used up 92 to 98 %."""

MORE_MEMORY = 1.5
"""How much more memory is asked about where the page cache is short."""

HITTING = 0.1
"""Hit rate from which half as much memory again is worth it, though the data set is larger still. Where records are
read in a new order each epoch, h = 1 - u + u ln u with u the share that is not kept: 0.1 means that 41 % is kept, and
61 % gives 0.24, which is 1.19 x the rate from the same disk."""

REREAD = 0.02
"""Bytes read over bytes asked for from which later epochs read what they could not keep."""


def busy_shares(
    throughput: float, demand: Demand, configuration: Configuration, disk: DiskRates | None, device: Device
) -> dict[Bottleneck, float]:
    """Share of each resource in use, from 0 to about 1, without those that were not accounted or not limited."""
    rates = disk or DiskRates()
    used = {
        Bottleneck.CPU: _share(throughput, demand.core_seconds, configuration.vcpus),
        Bottleneck.DISK_BANDWIDTH: _share(throughput, demand.read_bytes, rates.read_bytes_per_second),
        Bottleneck.DISK_IOPS: _share(throughput, demand.read_ios, rates.read_iops),
        Bottleneck.DISK_WRITE: _largest(
            _share(throughput, demand.written_bytes, rates.write_bytes_per_second),
            _share(throughput, demand.write_ios, rates.write_iops),
        ),
        Bottleneck.ACCELERATOR: _share(throughput, 1.0, _ceiling(device, configuration))
        if device.kind == "emulated"
        else _share(throughput, demand.accelerator_seconds, max(1.0, configuration.gpu_count or 0)),
    }
    return {resource: share for resource, share in used.items() if share is not None}


def _ceiling(device: Device, configuration: Configuration) -> float | None:
    """Samples per second of all emulated accelerators together, as far as it is known."""
    speed_up = device.speed_up(configuration.gpu_count or 0)
    return None if speed_up is None or device.samples_per_second is None else device.samples_per_second * speed_up


def short_of_memory(demand: Demand, own_bytes: int | None, data: DataSet | None, memory_bytes: int) -> bool:
    """Whether the disk reads again what somewhat more memory would keep, in the later epochs of a run.

    `own_bytes` is what the run itself holds, without page cache. What a sequential reader of a data set larger than its
    memory misses, it misses with half as much again, too: a cap of 48 and of 72 MiB for 83 MB of files gave 194 and 195
    images/s. Then the disk is the bottleneck, and memory becomes it only where all would fit or some is kept already.
    """
    if data is None or demand.read_bytes is None or not demand.asked_bytes:
        return False
    missed = demand.read_bytes / demand.asked_bytes
    if missed <= REREAD:
        return False
    return missed <= 1 - HITTING or (own_bytes or 0) + data.bytes <= MORE_MEMORY * memory_bytes


def name_bottleneck(
    busy: dict[Bottleneck, float],
    vcpus: float,
    starved: bool = False,
    throttled: float | None = None,
    withheld: float = 0.0,
) -> Evidence:
    """The resource that is busy while the others wait.

    `starved`: the disk is read again for want of page cache. `throttled`: share of its periods in which a fraction of a
    vCPU was used up, None where there is no such quota. `withheld`: cores that others on the host used, or the
    hypervisor.
    """
    shares = {resource.value: round(share, 4) for resource, share in busy.items()}
    ranked = sorted(busy.items(), key=lambda item: -item[1])
    full = [(resource, share) for resource, share in ranked if share >= BUSY]
    if _is_serial(busy, vcpus, throttled):
        if _others_may_explain(busy[Bottleneck.CPU], withheld):
            return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.NONE_FULL, _by_name(ranked))
        cores = busy[Bottleneck.CPU] * vcpus
        return Evidence(Bottleneck.SERIAL, shares, EvidenceKind.SERIAL, {"cores": cores, "vcpus": vcpus})
    if len(full) > 1 and full[0][1] - full[1][1] < CLOSE:
        return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.SEVERAL, _by_name(full))
    if not full and not _leads(ranked):
        return Evidence(Bottleneck.AMBIGUOUS, shares, EvidenceKind.NONE_FULL, _by_name(ranked))
    resource, first = ranked[0][0], _by_name(ranked[:1])
    if starved and resource in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS):
        return Evidence(Bottleneck.MEMORY, shares, EvidenceKind.REREADS, first)
    return Evidence(resource, shares, EvidenceKind.BUSIEST, first)


def _is_serial(busy: dict[Bottleneck, float], vcpus: float, throttled: float | None) -> bool:
    """One core is busy, more than one may be used, no quota cuts it short, and nothing else is half as busy."""
    cores = busy.get(Bottleneck.CPU, 0.0) * vcpus
    if vcpus <= 1 or not SERIAL_BAND[0] <= cores <= SERIAL_BAND[1]:
        return False
    if vcpus < 2 and (throttled is None or throttled > UNTHROTTLED):
        return False
    others = max((share for resource, share in busy.items() if resource is not Bottleneck.CPU), default=0.0)
    return others <= busy[Bottleneck.CPU] / 2


def _others_may_explain(busy: float, withheld: float) -> bool:
    """Whether the vCPUs that were not busy may have been somebody else's: what one thread of a step is kept from, all
    that wait for it lose, too."""
    return withheld > CONTENDED_CORES and busy + min(1.0, withheld) >= BUSY


def _leads(ranked: list[tuple[Bottleneck, float]]) -> bool:
    others = max((share for _, share in ranked[1:]), default=0.0)
    return bool(ranked) and ranked[0][1] >= LEADING and others <= ranked[0][1] / 2


def _share(throughput: float, per_sample: float | None, capacity: float | None) -> float | None:
    if per_sample is None or not capacity:
        return None
    return throughput * per_sample / capacity


def _largest(*shares: float | None) -> float | None:
    values = [share for share in shares if share is not None]
    return max(values) if values else None


def _by_name(ranked: list[tuple[Bottleneck, float]]) -> dict[str, float]:
    return {resource.value: share for resource, share in ranked}
