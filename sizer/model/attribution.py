"""Which resource holds throughput back: the share of each stage, and whether accounting agrees."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizer.model.coordinates import batch_of, disk_of, gpus_of, memory_of, name_of_disk
from sizer.model.equation import STAGES, Array
from sizer.model.model import WorkloadModel
from sizer.model.stages import disk_is_free
from sizer.model.trend import GAIN
from sizer.records import Bottleneck, Configuration

CLOSE = 0.15
"""Two leading shares closer than this, both under MAJORITY, name no single bottleneck."""
MAJORITY = 0.6
SHOWN_BY_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR)
"""Bottlenecks that only runs at several vCPU values distinguish, where nothing was accounted."""
NOT_OF_VCPUS = (
    Bottleneck.ACCELERATOR,
    Bottleneck.DISK_BANDWIDTH,
    Bottleneck.DISK_IOPS,
    Bottleneck.DISK_WRITE,
)
"""What more vCPUs do not make faster."""
BENT = 0.4
"""A last doubling that gained less is bent: less than half of it, in logarithms, went into the rate."""
FASTER = 0.03
"""Ln by which another disk, or more memory, must be faster to show that this one holds the rate back; and by which a
larger batch, more accelerators or fewer vCPUs, to show that the disk does not."""
CPU_LIKE = {Bottleneck.CPU, Bottleneck.SERIAL}
DISKS = (Bottleneck.DISK_BANDWIDTH.value, Bottleneck.DISK_IOPS.value)
NOT_OF_DISKS = (Bottleneck.SERIAL.value, Bottleneck.ACCELERATOR.value)
DISK_LIKE = {Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS, Bottleneck.DISK_WRITE, Bottleneck.MEMORY}


@dataclass(frozen=True)
class Rivals:
    """The same configuration on the other disks, and with more memory."""

    elsewhere: tuple[Configuration, ...]
    with_more: tuple[Configuration, ...]


@dataclass(frozen=True)
class Attributed:
    """Shares by the name of the resource, as far as the runs show them.

    `unshown` is the part that the forms give to a disk and no axis does, counted as serial; `elsewhere` is by how much
    in ln the best of the other disks is faster, -inf where it was not asked for.
    """

    shares: dict[str, float]
    unshown: float = 0.0
    elsewhere: float = -math.inf


def shares_by_bottleneck(shares: Array, contention: float, read_is_iops: bool) -> dict[str, float]:
    """Shares of the stages (stages,) by the name of the resource; what contention costs counts as serial.

    Only resources that the workload touches are named; shares sum to one.
    """
    stage = dict(zip(STAGES, (float(share) for share in shares), strict=True))
    read = Bottleneck.DISK_IOPS if read_is_iops else Bottleneck.DISK_BANDWIDTH
    named = {
        Bottleneck.CPU.value: stage["cpu"] - contention,
        Bottleneck.SERIAL.value: stage["serial"] + contention,
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


def no_single(shares: dict[str, float]) -> bool:
    """Whether the two largest shares are close and of different kinds."""
    ordered = sorted(shares, key=lambda name: shares[name], reverse=True)
    if len(ordered) < 2:
        return False
    close = shares[ordered[0]] - shares[ordered[1]] <= CLOSE and shares[ordered[0]] < MAJORITY
    return close and not _alike(Bottleneck(ordered[0]), Bottleneck(ordered[1]))


def not_bought(found: Bottleneck, shares: dict[str, float]) -> Bottleneck | None:
    """What binds although more vCPUs would not relieve it: ambiguous where it is not clear whether that is what binds,
    None where it is not."""
    if found is not Bottleneck.AMBIGUOUS or not shares:
        return found if found in NOT_OF_VCPUS else None
    likeliest = max(shares.get(each.value, 0.0) for each in NOT_OF_VCPUS)
    return found if max(shares.values()) - likeliest <= CLOSE else None


def _alike(one: Bottleneck, other: Bottleneck) -> bool:
    """Accounting cannot distinguish a serial part from a busy CPU, nor a disk's limits from one another."""
    return any({one, other} <= kind for kind in (CPU_LIKE, DISK_LIKE))


def shown(model: WorkloadModel, configuration: Configuration, bottleneck: Bottleneck, shares: dict[str, float]) -> bool:
    """Whether the runs show that this binds: a CPU, a serial part or an accelerator by accounting, or as vCPUs vary.

    What vCPUs do on one disk shows nothing of another, nor on one kind and count of accelerator. The rate of an
    accelerator alone, where it is known, shows that it binds. With one vCPU value, that vCPUs give less than their
    core-seconds would may be a serial part, or others on the host: only accounting tells. So it does where runs move by
    more from one time to the next than a gain that would count: a curve that bends may be chance.
    """
    measured = model.measured
    if bottleneck is Bottleneck.SERIAL and model.noise > GAIN:
        accounted = any(rate.evidence is Bottleneck.SERIAL for rate in measured.rates)
        if not accounted:
            return False
    evidence = measured.evidence_at(configuration)
    apart = evidence is bottleneck or shares.get(Bottleneck.SERIAL.value, 0.0) <= CLOSE
    if bottleneck in CPU_LIKE and len(measured.vcpus) == 1 and not apart:
        return False
    if bottleneck not in SHOWN_BY_VCPUS or model.facts.core_seconds is not None:
        return True
    if bottleneck is Bottleneck.ACCELERATOR and model.facts.accelerator_rates:
        return True
    return len(measured.design.vcpus_with(configuration)) > 1 or evidence is not None


def with_accounted_cpu(
    model: WorkloadModel, configuration: Configuration, shares: dict[str, float]
) -> dict[str, float]:
    """The shares, with that of the serial part given to the CPU where one vCPU value was measured and accounting names
    the CPU there: no curve shows the other."""
    cpu, serial = Bottleneck.CPU.value, Bottleneck.SERIAL.value
    accounted = model.measured.evidence_at(configuration) is Bottleneck.CPU
    if len(model.measured.vcpus) != 1 or serial not in shares or not accounted:
        return shares
    moved = {name: share for name, share in shares.items() if name != serial}
    return moved | {cpu: shares.get(cpu, 0.0) + shares[serial]}


def rivals(model: WorkloadModel, configuration: Configuration, shares: dict[str, float]) -> Rivals:
    """Whose rates show whether a disk without figures, or memory, holds this one back; none where neither may."""
    measured, slowing = model.measured, _slowing(model)
    free = any(name in shares for name in DISKS) and disk_is_free(model.facts, measured, disk_of(configuration))
    if not free and not slowing and Bottleneck.MEMORY.value not in shares:
        return Rivals((), ())
    here = disk_of(configuration)
    disks = [each.name for each in measured.disks if free and name_of_disk(each.name) != here]
    sizes = [size for size in measured.memory_bytes if size > memory_of(configuration)]
    return Rivals(
        tuple(replace(configuration, disk=name) for name in disks),
        tuple(replace(configuration, memory_bytes=size) for size in sizes),
    )


def shown_by_an_axis(
    model: WorkloadModel,
    configuration: Configuration,
    shares: dict[str, float],
    waits: float,
    elsewhere: float,
    with_more: float,
) -> Attributed:
    """The shares, with those that only the curve shows given to the CPU and the serial part where no other axis does.

    A disk without figures, or a memory level, is distinguished from whatever else vCPUs do not relieve by one thing
    alone: that the rate is higher on another disk, or with more memory; by how much in ln the best of each is. Of
    `waits`, the share for which workers wait for the disk, so much is shown as that gain: the rest is relieved by more
    vCPUs, which come with a worker each, and from rates alone cannot be told from the CPU's.
    """
    moved = dict(shares)
    unshown, gain = 0.0, max(with_more, elsewhere)
    if disk_is_free(model.facts, model.measured, disk_of(configuration)):
        for name in DISKS:
            if name in moved and model.facts.core_seconds is None:
                busy = min(waits if gain <= FASTER else max(0.0, waits - 1 + math.exp(-gain)), moved[name])
                moved[name] -= busy
                moved[Bottleneck.CPU.value] = moved.get(Bottleneck.CPU.value, 0.0) + busy
            if gain <= FASTER:
                unshown += moved.pop(name, 0.0)
    taken = unshown
    if with_more <= FASTER:
        taken += moved.pop(Bottleneck.MEMORY.value, 0.0)
    if taken > 0:
        moved[Bottleneck.SERIAL.value] = moved.get(Bottleneck.SERIAL.value, 0.0) + taken
    return Attributed(_slowed_by_memory(model, moved, with_more), unshown, elsewhere)


def on_plateau(shares: dict[str, float]) -> bool:
    """Whether nearly all is what vCPUs do not relieve, and most of it the serial part's or the accelerator's."""
    first = max(shares, key=lambda name: shares[name], default="")
    return first in NOT_OF_DISKS and shares.get(Bottleneck.CPU.value, 0.0) <= CLOSE


def may_be_the_disk(model: WorkloadModel, configuration: Configuration, found: Attributed) -> bool:
    """Whether a plateau may as well be a disk's of which nothing is known but the rates: no other disk was measured; or
    the forms give it the disk, and another is slower.

    `not_the_disks` may show that it is not.
    """
    facts, measured = model.facts, model.measured
    if facts.core_seconds is not None or measured.evidence_at(configuration) is not None:
        return False
    if facts.setting.input != "disk" or facts.setting.cache == "warm" or not on_plateau(found.shares):
        return False
    if facts.accelerator_rates or not disk_is_free(facts, measured, disk_of(configuration)):
        return False
    return len(measured.disks) == 1 or (found.unshown > CLOSE and found.elsewhere < -FASTER)


def not_the_disks(model: WorkloadModel, configuration: Configuration) -> list[tuple[Configuration, int]]:
    """The same with every other measured batch size and number of accelerators: 1 if its being faster shows that the
    disk does not bind here, -1 if its being slower does.

    What a disk makes of a sample depends on neither. With fewer vCPUs it is no faster, either (`at_measured_vcpus`).
    """
    here, gpus, measured = batch_of(configuration), gpus_of(configuration), model.measured
    found = [(replace(configuration, batch_size=size), 1 if size > here else -1) for size in measured.batch_size]
    counts = [each.count for each in measured.gpus if each.gpu == configuration.gpu and each.count is not None]
    found += [(replace(configuration, gpu_count=count), 1 if count > gpus else -1) for count in counts]
    return [(each, sign) for each, sign in found if each != configuration]


def at_measured_vcpus(model: WorkloadModel, configuration: Configuration) -> list[Configuration]:
    """The same with each measured number of vCPUs, rising."""
    return [replace(configuration, vcpus=vcpus) for vcpus in model.measured.vcpus]


def _slowed_by_memory(model: WorkloadModel, shares: dict[str, float], with_more: float) -> dict[str, float]:
    """Where too little memory slows everything alike, what it takes of the time is memory's."""
    if not _slowing(model) or with_more <= FASTER:
        return shares
    left = math.exp(-with_more)
    found = {name: share * left for name, share in shares.items()}
    return found | {Bottleneck.MEMORY.value: found.get(Bottleneck.MEMORY.value, 0.0) + 1 - left}


def _slowing(model: WorkloadModel) -> bool:
    return sum(member.weight for member in model.members if member.structure.memory_acts == "slows") >= 0.5
