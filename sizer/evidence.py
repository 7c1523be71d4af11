"""What bound a run, from its accounting alone and without the model. Pure."""

from __future__ import annotations

from sizer.records import Bottleneck, Configuration, Demand, Device, DiskRates, Evidence

BUSY = 0.85
"""Busy share from which a resource counts as the one that binds: limits hold their mean within a few percent."""

CLOSE = 0.08
"""Two resources whose busy shares differ by less than this are not told apart."""

LEADING = 0.6
"""Busy share from which a resource counts although it is not full, if it is at least twice as busy as any other: the
job waits for something short in between, such as a blocking read, but this is where its time goes."""

SERIAL_BAND = (0.85, 1.25)
"""Core-seconds a second of a job that keeps one core busy and no more."""

NAMES = {
    Bottleneck.CPU: "the vCPUs",
    Bottleneck.SERIAL: "one core",
    Bottleneck.DISK_BANDWIDTH: "the disk's read bandwidth",
    Bottleneck.DISK_IOPS: "the disk's IOPS",
    Bottleneck.DISK_WRITE: "the disk's writes",
    Bottleneck.ACCELERATOR: "the accelerator",
}


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
        Bottleneck.ACCELERATOR: _share(throughput, 1.0, device.samples_per_second)
        if device.kind == "emulated"
        else _share(throughput, demand.accelerator_seconds, 1.0),
    }
    return {resource: share for resource, share in used.items() if share is not None}


def name_bottleneck(busy: dict[Bottleneck, float], vcpus: float, starved: bool = False) -> Evidence:
    """The resource that is busy while the others wait. `starved`: the disk is read again for want of page cache."""
    shares = {resource.value: round(share, 4) for resource, share in busy.items()}
    ranked = sorted(busy.items(), key=lambda item: -item[1])
    full = [(resource, share) for resource, share in ranked if share >= BUSY]
    if len(full) > 1 and full[0][1] - full[1][1] < CLOSE:
        return Evidence(Bottleneck.AMBIGUOUS, shares, f"several are busy: {_listed(full)}")
    if not full and _is_serial(ranked, vcpus):
        cores = busy[Bottleneck.CPU] * vcpus
        return Evidence(Bottleneck.SERIAL, shares, f"{cores:.2f} of {vcpus:g} vCPU busy, and nothing else is")
    if not full and not _leads(ranked):
        return Evidence(Bottleneck.AMBIGUOUS, shares, f"nothing is fully busy: {_listed(ranked)}")
    resource, share = ranked[0]
    if starved and resource in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS):
        reason = f"{NAMES[resource]} {share:.0%} busy reading what the page cache could not keep"
        return Evidence(Bottleneck.MEMORY, shares, reason)
    return Evidence(resource, shares, f"{NAMES[resource]} {share:.0%} busy")


def _is_serial(ranked: list[tuple[Bottleneck, float]], vcpus: float) -> bool:
    """One core of several is busy, and it leads over everything that is not a CPU."""
    if vcpus < 2 or not ranked or ranked[0][0] is not Bottleneck.CPU:
        return False
    others = max((share for resource, share in ranked[1:]), default=0.0)
    return SERIAL_BAND[0] <= ranked[0][1] * vcpus <= SERIAL_BAND[1] and others <= ranked[0][1] / 2


def _leads(ranked: list[tuple[Bottleneck, float]]) -> bool:
    others = max((share for _, share in ranked[1:]), default=0.0)
    return bool(ranked) and ranked[0][1] >= LEADING and others <= ranked[0][1] / 2


def _share(throughput: float, per_sample: float | None, capacity: float | None) -> float | None:
    if per_sample is None or not capacity:
        return None
    return throughput * per_sample / capacity


def _largest(*shares: float | None) -> float | None:
    known = [share for share in shares if share is not None]
    return max(known) if known else None


def _listed(ranked: list[tuple[Bottleneck, float]]) -> str:
    return ", ".join(f"{NAMES[resource]} {share:.0%}" for resource, share in ranked) or "no accounting"
