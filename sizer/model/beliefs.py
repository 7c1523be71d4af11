"""What is believed of each quantity of the equation before any run: one table, which docs/model.md shows.

Wider ones of a step that is told without the whole job, or that CPUs and accelerators both make, are in `_cpu`. All
are normal: a mean and a standard deviation. A quantity is a natural logarithm where its line does not say otherwise,
and a switch is on above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist

from sizer.model.coordinates import batch_of, gpus_of, name_of_disk, vcpus_of
from sizer.model.feeds import CPU_LABEL, label_at
from sizer.model.model import NORMAL_90, CpuWork, MeasuredRange, Observation, WorkloadFacts
from sizer.model.stages import disk_is_free, fitted_disks
from sizer.records.kinds import PREPROCESSING


@dataclass(frozen=True)
class Belief:
    """Of one quantity: its name, mean and standard deviation."""

    name: str
    mean: float
    deviation: float
    untold: bool = False
    """No run can tell it."""


class Scale(Enum):
    """What a quantity is drawn as: ln of it, it itself, or the logit of a share."""

    LN = "ln"
    PLAIN = "plain"
    LOGIT = "logit"


@dataclass(frozen=True)
class Line:
    """One line of the table: what the quantity is, what is believed of it, where that is from, and its unit.

    Where the unit is something that the workload's facts say, ln of that is added to the mean.
    """

    what: str
    mean: float
    deviation: float
    source: str
    unit: str
    scale: Scale = Scale.LN


BY_HAND = "by hand"

BELIEFS = {
    "work": Line("core-seconds a sample on one core", 0.0, 0.25, "by hand: waiting may spin", "those accounted"),
    "work, rates alone": Line("the same", 0.0, 1.5, BY_HAND, "those of the most samples a vCPU"),
    "work, vCPUs unknown": Line(
        "the same, beside accelerators",
        -2.5,
        1.5,
        "by hand: machines have CPUs for their GPUs",
        "those of the most samples",
    ),
    "step": Line("core-seconds of the step alone", 0.0, 0.25, BY_HAND, "those accounted with synthetic input"),
    "step, rates alone": Line("the same", math.log(0.5), 1.5, BY_HAND, "all core-seconds"),
    "contention": Line(
        "time lost for each further vCPU",
        math.log(0.005),
        2.0,
        "by hand; median of 178 machines up to their cores 0.0004, of 55 data loaders 0.2 with all else",
        "time on one",
    ),
    "coherence": Line(
        "time lost as each waits for each: c (c - 1) times this", math.log(1e-3), 2.0, BY_HAND, "1 / most vCPUs squared"
    ),
    "handover": Line(
        "more work as soon as there are several vCPUs",
        math.log(0.1),
        0.8,
        "by hand; the second worker of 55 data loaders costs 0.15 (median)",
        "the work",
    ),
    "yield": Line(
        "what a second hyperthread adds",
        0.25,
        0.2,
        "by hand; 112 machines dividing integers: median 0.16",
        "a first one",
        Scale.PLAIN,
    ),
    "yield, images": Line(
        "the same, decoding images",
        0.29,
        0.1,
        "JPEG work of 37 CPU models: mean 0.29, standard deviation 0.07",
        "a first one",
        Scale.PLAIN,
    ),
    "yield, matrix": Line("the same, computing a network", 0.05, 0.1, BY_HAND, "a first one", Scale.PLAIN),
    "cap": Line("rate that vCPUs do not raise", 0.3, 0.6, BY_HAND, "the highest rate"),
    "cap, accounted": Line("the same", math.log(3.0), 1.5, BY_HAND, "the highest rate"),
    "quota": Line(
        "more time at a part of a vCPU", 0.05, 0.05, "by hand; `halving_causes.py`: 0 to 0.19", "ln time", Scale.PLAIN
    ),
    "accelerator": Line("samples/s of one accelerator", 0.0, 0.15, BY_HAND, "those of its busy seconds"),
    "accelerator, emulated": Line("the same", 0.0, 0.03, BY_HAND, "its stated rate"),
    "accelerator, rates alone": Line("the same", math.log(1.5), 1.0, BY_HAND, "the highest rate of one"),
    "gpus": Line(
        "loss of several: n are n^(1 - loss) times as fast",
        math.log(0.06),
        1.0,
        "by hand; 100 published counts: median 0.04, 90 % 0.005 to 0.24",
        "",
    ),
    "launch": Line("cost of a step beside its samples, CPU", math.log(0.1), 1.5, BY_HAND, "theirs, usual batch"),
    "launch, accelerator": Line("the same, accelerator", math.log(0.15), 1.3, BY_HAND, "theirs, usual batch"),
    "disk": Line("seconds of the disk", 0.0, 0.4, BY_HAND, "those by its figures"),
    "disk, emulated": Line("the same", 0.0, 0.05, "by hand; `disk_tiers.py`: 1 % off", "those by its figures"),
    "disk, rates alone": Line("the same", -1.0, 1.8, BY_HAND, "a sample at the highest rate"),
    "latency": Line("seconds that a worker waits for a sample", math.log(0.3), 1.2, BY_HAND, "the core-seconds"),
    "held": Line("memory that the job holds", 0.0, 1.2, BY_HAND, "the least measured", Scale.LOGIT),
    "data": Line("bytes of the data set", 0.0, 1.0, BY_HAND, "the most memory"),
    "keep": Line("what the cache keeps: 0 the last read, 1 all that fits", -1.0, 2.0, BY_HAND, "", Scale.LOGIT),
    "pressure": Line("slowing where as much memory is free as is held", -3.5, 1.5, BY_HAND, "the work"),
    "sharpness": Line(
        "p, exponent of the overlap",
        math.log(9.0),
        0.8,
        "by hand; a queue of two equal stages with 4 to 15 batches loses 20 to 6 %: p of 3 to 11",
        "",
    ),
    "misfit": Line("what the equation does not say", math.log(0.012), 1.0, BY_HAND, "ln rate"),
}

YIELDS: dict[CpuWork | None, str] = {CpuWork.IMAGES: "yield, images", CpuWork.MATRIX: "yield, matrix"}

SWITCHES = {
    "second threads": (0.7, "half of the vCPUs are second hyperthreads, where the host does not say"),
    "second threads, paired": (0.999, "the same, where the host says so"),
    "more cores": (0.3, "more vCPUs than were measured are those of a larger machine, with more cores, too"),
    "coherence": (
        0.2,
        "vCPUs wait for each other: 1 % of 180 machines, 11 % of 55 loaders, 33 % of 66 programs are slower at the end",
    ),
    "handover": (0.3, "data are handed on between processes, clocks fall"),
    "cap": (0.42, "something serial: one process, a lock"),
    "cap, few vCPUs": (0.21, "the same, with one or two vCPU values"),
    "cap, accelerator": (0.2, "the same, beside an accelerator"),
    "cap, vCPUs unknown": (0.05, "the same, where a table has accelerators and no vCPUs"),
    "pressure": (0.2, "little free memory slows all work"),
    "in order": (0.2, "data are not shuffled: the cache keeps nothing until all fits"),
    "latency": (0.31, "workers wait for the disk and compute in turn"),
    "accelerator launches": (0.69, "a step's cost is the accelerator's and not the CPU's"),
    "accelerator launches, none": (1e-9, "the same where the CPU computes"),
}
"""Probabilities, all by hand, of what may or may not be there, and what that is."""


def beliefs(facts: WorkloadFacts, measured: MeasuredRange, seen: Sequence[Observation]) -> list[Belief]:
    """Of each quantity that this workload's equation has."""
    found = [*_cpu(facts, seen), *_scaling(facts, seen), *_accelerators(facts, seen)]
    found += [*_disks(facts, measured, seen), *_memory(facts, measured)]
    return [*found, _line("sharpness"), _line("misfit")]


def _line(name: str, relative_to: float = 0.0, of: str = "") -> Belief:
    line = BELIEFS[name]
    return Belief(name.partition(",")[0] + of, line.mean + relative_to, line.deviation)


def _switch(name: str) -> Belief:
    probability, _ = SWITCHES[name]
    return Belief("on:" + name.partition(",")[0], NormalDist().inv_cdf(probability), 1.0)


def _cpu(facts: WorkloadFacts, seen: Sequence[Observation]) -> Iterator[Belief]:
    quickest = _quickest(seen)
    if facts.mixed_with_cpu and facts.step_core_seconds is None:
        computing = [each for each in seen if label_at(facts, each.configuration) == CPU_LABEL]
        yield Belief("work", min(quickest, _quickest(computing or seen)) - 1.5, 1.5)
        yield Belief("step", _quickest(computing or seen), 0.6)
        return
    known = math.log(facts.core_seconds) if facts.core_seconds else None
    step = math.log(facts.step_core_seconds) if facts.step_core_seconds else None
    if not _step_apart(facts):
        alone = "work, vCPUs unknown" if _vcpus_unknown(facts, seen) else "work, rates alone"
        yield _line(alone, quickest) if known is None else _line("work", known)
        return
    whole = quickest if known is None else known
    if step is None:
        yield Belief("work", whole + math.log(0.5), 1.5)
        yield _line("step, rates alone", whole)
        return
    step = min(step, whole - 0.02)
    yield Belief("work", math.log(math.exp(whole) - math.exp(step)), 0.35)
    yield _line("step", step)


def _step_apart(facts: WorkloadFacts) -> bool:
    accounted = facts.step_core_seconds is not None and facts.kind != PREPROCESSING
    return accounted or facts.mixed_with_cpu


def _vcpus_unknown(facts: WorkloadFacts, seen: Sequence[Observation]) -> bool:
    """Whether these are rates of accelerators in machines of whose CPUs nothing is known."""
    return facts.accelerator not in (None, CPU_LABEL) and all(each.configuration.vcpus is None for each in seen)


def _quickest(seen: Sequence[Observation]) -> float:
    """Ln core-seconds a sample, if the run that made the most of its vCPUs did nothing but work."""
    return -max(each.log_rate - math.log(vcpus_of(each.configuration)) for each in seen)


def _scaling(facts: WorkloadFacts, seen: Sequence[Observation]) -> Iterator[Belief]:
    vcpus = sorted({vcpus_of(each.configuration) for each in seen})
    if len(vcpus) > 2:
        yield _line("contention")
        yield _line("coherence", -2 * math.log(vcpus[-1]))
        yield _switch("coherence")
        yield _line("handover")
        yield _switch("handover")
        yield _line(YIELDS.get(facts.cpu_work, "yield") if facts.paired else "yield")
        yield _switch("second threads, paired" if facts.paired else "second threads")
        yield _switch("more cores")
    accounted = facts.core_seconds is not None
    yield _line("cap, accounted" if accounted else "cap", math.log(facts.highest_rate))
    alone = facts.accelerator in (None, CPU_LABEL)
    few = "cap, vCPUs unknown" if _vcpus_unknown(facts, seen) else "cap, few vCPUs"
    yield _switch(("cap" if alone else "cap, accelerator") if len(vcpus) > 2 else few)
    if any(each % 1 for each in vcpus):
        yield _line("quota")


def _accelerators(facts: WorkloadFacts, seen: Sequence[Observation]) -> Iterator[Belief]:
    labels = [label_at(facts, each.configuration) for each in seen]
    apart = [label for label in dict.fromkeys(labels) if label != CPU_LABEL and facts.accelerator is not None]
    for label in apart:
        rate = facts.accelerator_rates.get(label)
        if rate is not None:
            emulated = label.startswith("emulated") or facts.device.kind == "emulated"
            yield _line("accelerator, emulated" if emulated else "accelerator", math.log(rate), f":{label}")
            yield from _real(facts, label) if emulated else ()
            continue
        alike = [each for each, its in zip(seen, labels, strict=True) if its == label]
        highest = max(each.log_rate - math.log(max(1, gpus_of(each.configuration))) for each in alike)
        yield _line("accelerator, rates alone", highest, f":{label}")
    if len({batch_of(each.configuration) for each in seen}) > 1:
        yield _line("launch")
        yield _switch("accelerator launches" if apart else "accelerator launches, none")
        for label in apart:
            yield _line("launch, accelerator", of=f":{label}")
    if len({max(1, gpus_of(each.configuration)) for each in seen}) > 1:
        yield _line("gpus")


def _real(facts: WorkloadFacts, label: str) -> Iterator[Belief]:
    """Ln of how many times as fast as it was emulated the real GPU may be, where its rate is known so far only."""
    device = facts.device.at_batch(facts.reference_batch)
    if device.rate_unsure and device.rate_low and device.rate_high:
        yield Belief(f"real:{label}", 0.0, math.log(device.rate_high / device.rate_low) / (2 * NORMAL_90), True)


def _disks(facts: WorkloadFacts, measured: MeasuredRange, seen: Sequence[Observation]) -> Iterator[Belief]:
    reads = facts.setting.input == "disk" and facts.setting.cache != "warm" and facts.core_seconds is None
    several = len(measured.disks) > 1 or len(measured.memory_bytes) > 1
    busy = fitted_disks(facts, measured)
    for disk in measured.disks:
        name = name_of_disk(disk.name)
        if disk_is_free(facts, measured, name):
            if several or (reads and not _vcpus_unknown(facts, seen)):
                yield _line("disk, rates alone", of=f":{name}")
        elif name in busy:
            exact = facts.demand_accounted and disk.emulated
            yield _line("disk, emulated" if exact else "disk", of=f":{name}")
    if facts.setting.input == "disk" and (facts.core_seconds or several):
        work = math.log(facts.core_seconds) if facts.core_seconds else _quickest(seen)
        for disk in measured.disks:
            yield _line("latency", work, f":{name_of_disk(disk.name)}")
        yield _switch("latency")


def _memory(facts: WorkloadFacts, measured: MeasuredRange) -> Iterator[Belief]:
    if len(measured.memory_bytes) < 2 or cache_is_known(facts):
        return
    yield _line("held")
    yield _line("pressure")
    yield _switch("pressure")
    if facts.may_cache:
        yield _line("data", math.log(measured.memory_bytes[-1]))
        yield _line("keep")
        yield _switch("in order")


def cache_is_known(facts: WorkloadFacts) -> bool:
    """Whether the size of the data says what more memory does."""
    return bool(facts.natural and facts.data_bytes and facts.read_bytes)
