"""What is believed of each quantity of the equation before any run: one table, which docs/model.md shows.

Wider ones of a step that is told without the whole job, or that CPUs and accelerators both make, are in `_cpu`. All
are normal: a mean and a standard deviation. A quantity is a natural logarithm where its line does not say otherwise,
and a switch is on above 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist

from sizer.model.equation import disk_is_free, fitted_disks
from sizer.model.model import (
    CPU_LABEL,
    MeasuredRange,
    Observation,
    WorkloadFacts,
    batch_of,
    gpus_of,
    name_of_disk,
    vcpus_of,
)
from sizer.model.runs import label_at
from sizer.model.transfer import faster_there
from sizer.records.device import Processor
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import NORMAL_90, Bottleneck


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
    """One line of the table: what the quantity is, what is believed of it, its unit, and what stands behind it,
    where that is not the hand alone.

    Where the unit is something that the workload's facts say, ln of that is added to the mean.
    """

    what: str
    mean: float
    deviation: float
    unit: str = ""
    source: str = ""
    scale: Scale = Scale.LN


LN, PLAIN, LOGIT = Scale
CURVES = "178 machines 0.0004, 55 loaders 0.2"
QUEUES = "queues of 4–15 batches: 3–11"
BELIEFS = {
    "work": Line("core-seconds a sample on one core", 0.0, 0.25, "those accounted", "waiting may spin"),
    "work, rates alone": Line("the same", 0.0, 1.5, "the fewest seen"),
    "work, vCPUs unknown": Line("the same, beside accelerators", -2.5, 1.5, "the same"),
    "step": Line("core-seconds of the step alone", 0.0, 0.25, "those of synthetic input"),
    "contention": Line("time lost for each further vCPU", math.log(0.005), 2.0, "time on one", CURVES),
    "coherence": Line("time lost as each waits for each", math.log(1e-3), 2.0, "vCPUs squared"),
    "handover": Line("more work at several vCPUs", math.log(0.1), 0.8, "the work", "55 loaders: 0.15"),
    "yield": Line("what a second hyperthread adds", 0.25, 0.2, "a first one", "112 machines: 0.16", PLAIN),
    "yield, images": Line("the same, decoding images", 0.29, 0.1, "a first one", "37 CPU models: 0.22–0.36", PLAIN),
    "yield, matrix": Line("the same, computing a network", 0.05, 0.1, "a first one", scale=PLAIN),
    "cap": Line("rate that vCPUs do not raise", 0.3, 0.6, "the highest rate"),
    "cap, accounted": Line("the same", math.log(3.0), 1.5, "the highest rate"),
    "cap, one thread": Line("the same, where one holds a GPU back", 0.0, 0.2, "the highest rate"),
    "quota": Line("more time at a part of a vCPU", 0.05, 0.05, "ln time", "seen: 0–0.19", PLAIN),
    "accelerator": Line("samples/s of one accelerator", 0.0, 0.15, "those of its busy seconds"),
    "accelerator, emulated": Line("the same", 0.0, 0.03, "its stated rate"),
    "accelerator, rates alone": Line("the same", math.log(1.5), 1.0, "the highest rate of one"),
    "gpus": Line("loss of n: n^(1 - loss)", math.log(0.06), 1.0, source="100 published counts: 0.005–0.24"),
    "launch": Line("cost of a step beside its samples, CPU", math.log(0.1), 1.5, "theirs, usual batch"),
    "launch, accelerator": Line("the same, accelerator", math.log(0.15), 1.3, "theirs, usual batch"),
    "disk": Line("seconds of the disk", 0.0, 0.4, "those by its figures"),
    "disk, emulated": Line("the same", 0.0, 0.05, "those by its figures", "`disk_tiers.py`"),
    "disk, rates alone": Line("the same", -1.0, 1.8, "a sample at the highest rate"),
    "latency": Line("seconds that a worker waits for a sample", math.log(0.3), 1.2, "the core-seconds"),
    "held": Line("memory that the job holds", 0.0, 1.2, "the least measured", scale=LOGIT),
    "data": Line("bytes of the data set", 0.0, 1.0, "the most memory"),
    "keep": Line("what the cache keeps beyond LRU", -1.0, 2.0, scale=LOGIT),
    "pressure": Line("slowing where half of memory is free", -3.5, 1.5, "the work"),
    "sharpness": Line("p, exponent of the overlap", math.log(9.0), 0.8, source=QUEUES),
    "misfit": Line("what the equation does not say", math.log(0.012), 1.0, "ln rate"),
}

SWITCHES = {
    "second threads": (0.7, "half of the vCPUs are hyperthreads"),
    "second threads, paired": (0.999, "the host says so"),
    "second threads, named": (0.95, "the type has them, the job fills it"),
    "more cores": (0.3, "sizes above have more cores, too"),
    "coherence": (0.2, "vCPUs wait for each other"),
    "handover": (0.3, "data are handed on, clocks fall"),
    "cap": (0.42, "something serial: a process, a lock"),
    "cap, few vCPUs": (0.21, "one or two vCPU values"),
    "cap, accelerator": (0.2, "beside an accelerator"),
    "cap, one thread": (0.9, "accounting saw one busy core and a GPU that was not"),
    "cap, vCPUs unknown": (0.05, "accelerators and no vCPUs"),
    "pressure": (0.2, "little free memory slows all"),
    "in order": (0.2, "nothing is kept until all fits"),
    "latency": (0.31, "workers wait, then compute"),
    "accelerator launches": (0.69, "a step's cost is the accelerator's"),
    "accelerator launches, none": (1e-9, "the CPU computes"),
}
"""Probabilities, all by hand, of what may or may not be there, and what that is."""


OF_CPUS = {
    "speed": Line("how many times as fast as its index says", 0.0, 0.08, "", "video on 20 CPUs: pairs within 23 %"),
    "speed, images": Line("the same, decoding images", 0.0, 0.05, "", "55 loaders: within 10 %, stress-ng: 15 %"),
    "speed, matrix": Line("the same, computing a network", 0.0, 0.15),
    "scaling": Line("the same, time lost for each further vCPU", 0.0, 0.6, "", "55 loaders: 0.8"),
    "serial": Line("the same, a serial part", 0.0, 0.25, "", "55 loaders"),
}
"""Of each CPU, where runs were made on several or a rate is asked for elsewhere: two of them are 1.4 times as far
apart."""


def beliefs(facts: WorkloadFacts, measured: MeasuredRange, seen: Sequence[Observation]) -> list[Belief]:
    """Of each quantity that this workload's equation has."""
    believed = [*_cpu(facts, seen), *_scaling(facts, measured, seen), *_accelerators(facts, seen)]
    believed += [*_disks(facts, measured, seen), *_memory(facts, measured)]
    if len(facts.measured_on) > 1:
        names = {belief.name for belief in believed}
        believed += [belief for belief in of_cpus(facts, facts.measured_on) if belief.name not in names]
    return [*believed, _line("sharpness"), _line("misfit")]


def of_cpus(facts: WorkloadFacts, machines: Iterable[Processor]) -> list[Belief]:
    """Of how fast each CPU is at this work, and of what their cores do, as far as no run told it."""
    kind = f"speed, {facts.cpu_work.value}" if facts.cpu_work else "speed"
    believed = {belief.name: belief for belief in _threads(facts)}
    for machine in machines:
        index = math.hypot(faster_there(facts, machine)[1], machine.deviation)
        for name in (kind, "scaling", "serial"):
            of = f"{name.partition(',')[0]}:{machine.cpu}"
            believed.setdefault(of, Belief(of, OF_CPUS[name].mean, math.hypot(OF_CPUS[name].deviation, index)))
    return list(believed.values())


def _threads(facts: WorkloadFacts) -> Iterator[Belief]:
    named = _named(facts)
    yield _line(f"yield, {facts.cpu_work.value}" if (facts.paired or named) and facts.cpu_work else "yield")
    yield _switch(f"second threads{', paired' if facts.paired else ', named' if named else ''}")


def _named(facts: WorkloadFacts) -> bool:
    """Whether a table says which machines its rows are of, and so how many cores are behind the vCPUs."""
    return any(machine.name for machine in facts.measured_on)


def _line(name: str, relative_to: float = 0.0, of: str = "") -> Belief:
    line = BELIEFS[name]
    return Belief(name.partition(",")[0] + of, line.mean + relative_to, line.deviation)


def _switch(name: str) -> Belief:
    probability, _ = SWITCHES[name]
    return Belief("on:" + name.partition(",")[0], NormalDist().inv_cdf(probability), 1.0)


def _cpu(facts: WorkloadFacts, seen: Sequence[Observation]) -> Iterator[Belief]:
    quickest = _quickest(seen)
    if facts.mixed_with_cpu and facts.step_core_seconds is None:
        computing = _quickest(
            [observation for observation in seen if label_at(facts, observation.configuration) == CPU_LABEL] or seen
        )
        yield Belief("work", min(quickest, computing) - 1.5, 1.5)
        yield Belief("step", computing, 0.6)
        return
    whole = math.log(facts.core_seconds) if facts.core_seconds else quickest
    if facts.step_core_seconds is None or (facts.kind == PREPROCESSING and not facts.mixed_with_cpu):
        alone = "work, vCPUs unknown" if _vcpus_unknown(facts, seen) else "work, rates alone"
        yield _line("work" if facts.core_seconds else alone, whole)
        return
    step = min(math.log(facts.step_core_seconds), whole - 0.02)
    yield Belief("work", math.log(math.exp(whole) - math.exp(step)), 0.35)
    yield _line("step", step)


def _vcpus_unknown(facts: WorkloadFacts, seen: Sequence[Observation]) -> bool:
    """Whether these are rates of accelerators in machines of whose CPUs nothing is known."""
    return facts.accelerator not in (None, CPU_LABEL) and all(
        observation.configuration.vcpus is None for observation in seen
    )


def _quickest(seen: Sequence[Observation]) -> float:
    """Ln core-seconds a sample, if the run that made the most of its vCPUs did nothing but work."""
    return -max(observation.log_rate - math.log(vcpus_of(observation.configuration)) for observation in seen)


def _scaling(facts: WorkloadFacts, measured: MeasuredRange, seen: Sequence[Observation]) -> Iterator[Belief]:
    vcpus = sorted({vcpus_of(observation.configuration) for observation in seen})
    several = len(vcpus) > 2
    if several or (len(vcpus) == 2 and _named(facts)):
        yield _line("contention")
        yield _line("coherence", -2 * math.log(vcpus[-1]))
        yield _switch("coherence")
        yield _line("handover")
        yield _switch("handover")
        yield from _threads(facts)
        yield _switch("more cores")
    if _one_thread(facts, measured):
        yield _line("cap, one thread", math.log(facts.highest_rate))
        yield _switch("cap, one thread")
    else:
        yield from _cap(facts, seen, several)
    if any(vcpu % 1 for vcpu in vcpus):
        yield _line("quota")


def _one_thread(facts: WorkloadFacts, measured: MeasuredRange) -> bool:
    """Whether accounting saw that a thread starts the work of a real GPU too slowly, with batches of one size."""
    named = {rate.evidence for rate in measured.rates}
    return facts.device.kind == "cuda" and Bottleneck.SERIAL in named and len(measured.batch_size) < 2


def _cap(facts: WorkloadFacts, seen: Sequence[Observation], several: bool) -> Iterator[Belief]:
    yield _line("cap" if facts.core_seconds is None else "cap, accounted", math.log(facts.highest_rate))
    if several:
        yield _switch("cap" if facts.accelerator in (None, CPU_LABEL) else "cap, accelerator")
    else:
        yield _switch("cap, vCPUs unknown" if _vcpus_unknown(facts, seen) else "cap, few vCPUs")


def _accelerators(facts: WorkloadFacts, seen: Sequence[Observation]) -> Iterator[Belief]:
    labels = [label_at(facts, observation.configuration) for observation in seen]
    apart = [label for label in dict.fromkeys(labels) if label != CPU_LABEL and facts.accelerator is not None]
    for label in apart:
        rate = facts.accelerator_rates.get(label)
        if rate is not None:
            emulated = facts.device_called(label).kind == "emulated"
            yield _line("accelerator, emulated" if emulated else "accelerator", math.log(rate), f":{label}")
            yield from _real(facts, label) if emulated else ()
            continue
        alike = [observation for observation, its in zip(seen, labels, strict=True) if its == label]
        highest = max(
            observation.log_rate - math.log(max(1, gpus_of(observation.configuration))) for observation in alike
        )
        yield _line("accelerator, rates alone", highest, f":{label}")
    if len({batch_of(observation.configuration) for observation in seen}) > 1:
        yield _line("launch")
        yield _switch("accelerator launches" if apart else "accelerator launches, none")
        for label in apart:
            yield _line("launch, accelerator", of=f":{label}")
    if len({max(1, gpus_of(observation.configuration)) for observation in seen}) > 1:
        yield _line("gpus")


def _real(facts: WorkloadFacts, label: str) -> Iterator[Belief]:
    """Ln of how many times as fast as it was emulated the real GPU may be, where its rate is known so far only."""
    device = facts.device_called(label).at_batch(facts.reference_batch)
    if device.rate_unsure and device.rate_low and device.rate_high:
        yield Belief(f"real:{label}", 0.0, math.log(device.rate_high / device.rate_low) / (2 * NORMAL_90), True)


def _disks(facts: WorkloadFacts, measured: MeasuredRange, seen: Sequence[Observation]) -> Iterator[Belief]:
    reads = facts.feed.input == "disk" and facts.feed.cache != "warm" and facts.core_seconds is None
    several = len(measured.disks) > 1 or len(measured.memory_bytes) > 1
    # That a disk nobody speaks of holds a job back is not believed of one that is moved to other CPUs.
    reads = reads and not (facts.measured_on and all(disk.name is None for disk in measured.disks))
    busy = fitted_disks(facts, measured)
    for disk in measured.disks:
        name = name_of_disk(disk.name)
        if disk_is_free(facts, measured, name):
            if several or (reads and not _vcpus_unknown(facts, seen)):
                yield _line("disk, rates alone", of=f":{name}")
        elif name in busy:
            exact = facts.demand_accounted and disk.emulated
            yield _line("disk, emulated" if exact else "disk", of=f":{name}")
    if facts.feed.input == "disk" and (facts.core_seconds or several):
        work = math.log(facts.core_seconds) if facts.core_seconds else _quickest(seen)
        for disk in measured.disks:
            yield _line("latency", work, f":{name_of_disk(disk.name)}")
        yield _switch("latency")


def _memory(facts: WorkloadFacts, measured: MeasuredRange) -> Iterator[Belief]:
    if len(measured.memory_bytes) < 2 or cache_is_known(facts):
        return
    yield from (_line("held"), _line("pressure"), _switch("pressure"))
    if facts.may_cache:
        yield from (_line("data", math.log(measured.memory_bytes[-1])), _line("keep"), _switch("in order"))


def cache_is_known(facts: WorkloadFacts) -> bool:
    """Whether the size of the data says what more memory does."""
    return bool(facts.natural and facts.data_bytes and facts.read_bytes)
