"""Which resource holds throughput back: the share of each stage, and whether accounting agrees."""

from __future__ import annotations

from sizer.model.coordinates import disk_of, vcpus_of
from sizer.model.equation import STAGES, Array
from sizer.model.model import WorkloadModel
from sizer.records.configuration import Bottleneck, Configuration

CLOSE = 0.15
"""Two leading shares closer than this name no single bottleneck."""
CPU_LIKE = {Bottleneck.CPU, Bottleneck.SERIAL}
DISK_LIKE = {Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS, Bottleneck.DISK_WRITE, Bottleneck.MEMORY}
STAGES_OF = {
    Bottleneck.CPU: ("cpu",),
    Bottleneck.SERIAL: ("serial",),
    Bottleneck.ACCELERATOR: ("accelerator",),
    Bottleneck.DISK_BANDWIDTH: ("read", "latency"),
    Bottleneck.DISK_IOPS: ("read", "latency"),
    Bottleneck.DISK_WRITE: ("write",),
    Bottleneck.MEMORY: ("memory",),
}


def shares_by_bottleneck(shares: Array, read_is_iops: bool) -> dict[str, float]:
    """Shares of the stages (stages,) by the name of the resource.

    Only resources that the workload touches are named; shares sum to one.
    """
    stage = dict(zip(STAGES, (float(share) for share in shares), strict=True))
    read = Bottleneck.DISK_IOPS if read_is_iops else Bottleneck.DISK_BANDWIDTH
    named = {
        Bottleneck.CPU.value: stage["cpu"],
        Bottleneck.SERIAL.value: stage["serial"],
        read.value: stage["read"] + stage["latency"],
        Bottleneck.DISK_WRITE.value: stage["write"],
        Bottleneck.ACCELERATOR.value: stage["accelerator"],
        Bottleneck.MEMORY.value: stage["memory"],
    }
    total = sum(named.values())
    return {name: share / total for name, share in named.items() if share > 1e-9}


def bottleneck_of(shares: dict[str, float], evidence: Bottleneck | None) -> Bottleneck:
    """The largest share; ambiguous where two are close, or where accounting of the same configuration names another.

    Of CPU and a serial part that are close, accounting decides: it sees whether the vCPUs were busy.
    """
    if no_single(shares):
        return Bottleneck.AMBIGUOUS
    first = Bottleneck(max(shares, key=lambda name: shares[name]))
    if evidence is None or evidence is first:
        return first
    if {evidence, first} == CPU_LIKE and shares[first.value] - shares.get(evidence.value, 0.0) <= CLOSE:
        return evidence
    return first if _alike(evidence, first) else Bottleneck.AMBIGUOUS


def is_shown(model: WorkloadModel, configuration: Configuration, bottleneck: Bottleneck, disk_is_free: bool) -> bool:
    """Whether the runs can tell that this binds: by accounting, or because what relieves it was varied.

    Only runs at several numbers of vCPUs on one disk tell a CPU, a serial part and an accelerator apart, and at one of
    them only accounting shows a serial part. Only other disks, or sizes of memory, show a disk of which nothing but
    rates is known, which `disk_is_free` says.
    """
    facts, measured = model.facts, model.measured
    evidence = measured.evidence_at(configuration)
    if bottleneck is Bottleneck.SERIAL and len(measured.vcpus) == 1:
        return evidence is bottleneck
    if bottleneck in DISK_LIKE and disk_is_free:
        return evidence is bottleneck or len(measured.disks) > 1 or len(measured.memory_bytes) > 1
    if facts.core_seconds is not None or evidence is not None or bottleneck in DISK_LIKE:
        return True
    if bottleneck is Bottleneck.ACCELERATOR and facts.accelerator_rates:
        return True
    disk = disk_of(configuration)
    return len({vcpus_of(rate.configuration) for rate in measured.rates if disk_of(rate.configuration) == disk}) > 1


def no_single(shares: dict[str, float]) -> bool:
    """Whether the two largest shares are close and of different kinds."""
    ordered = sorted(shares, key=lambda name: shares[name], reverse=True)
    if len(ordered) < 2:
        return False
    close = shares[ordered[0]] - shares[ordered[1]] <= CLOSE
    return close and not _alike(Bottleneck(ordered[0]), Bottleneck(ordered[1]))


def _alike(one: Bottleneck, other: Bottleneck) -> bool:
    """Accounting cannot distinguish a serial part from a busy CPU, nor a disk's limits from one another."""
    return any({one, other} <= kind for kind in (CPU_LIKE, DISK_LIKE))
