"""The forms that compete for a workload, and what is believed of their parameters before any run is seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.model.coordinates import batch_of, disk_of, gpus_of, name_of_disk, vcpus_of
from sizer.model.equation import Array, parameter_names
from sizer.model.feeds import CPU_LABEL, REPLAY, label_at
from sizer.model.memory_sizes import memory_compared
from sizer.model.model import MeasuredRange, Structure, WorkloadFacts
from sizer.model.observations import Observation
from sizer.model.scaling import PARAMETERS
from sizer.model.scaling_prior import CAP, forms
from sizer.model.scaling_prior import belief as belief_of_form
from sizer.model.stages import UNBINDING, disk_is_free, fitted_disks
from sizer.records import Bottleneck

MOST_LEVELS = 6
"""Memory caps up to which each may have a capacity of its own."""


@dataclass(frozen=True)
class Prior:
    """Normal beliefs about the parameters of a structure: means and standard deviations (k,)."""

    mean: Array
    deviation: Array


def scalings(facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]) -> list[Structure]:
    """The forms of vCPU scaling, each with and without a cap, and nothing else that is optional.

    Nor is it optional what two memory caps do whose rates clearly differ.
    """
    inputs = {observation.feed.input for observation in observations}
    labels = tuple(dict.fromkeys(label_at(facts, o.configuration) for o in observations))
    counts = {max(1, gpus.count or 0) for gpus in measured.gpus}
    several = (len(counts) > 1 or facts.several_accounted) and facts.scaling_loss is None
    alone = len(counts) > 1 or len(labels) > 1 or "synthetic" in inputs
    apart = [label for label in labels if label in facts.accelerator_rates or alone]
    step_apart = facts.mixed_with_cpu or ("synthetic" in inputs and facts.setting.input != "synthetic")
    fractions = {vcpus_of(observation.configuration) % 1 > 0 for observation in observations}
    base = Structure(
        "linear",
        False,
        quota=len(fractions) > 1,
        cap_stage="serial" if facts.accelerator in (None, CPU_LABEL) or facts.accelerator_rate else "accelerator",
        accelerators=tuple(label for label in apart if label != CPU_LABEL),
        several_gpus=several,
        step_apart=step_apart,
        batch_stage=_batch_stage(facts, observations),
        disks=_distinguished(facts, measured, observations),
    )
    base = replace(base, cap_stage="serial" if base.accelerators else base.cap_stage)
    vcpus = sorted({vcpus_of(observation.configuration) for observation in observations})
    bases = [base]
    compared = memory_compared(measured)
    if compared is not None and compared.clear and not _cache_is_known(facts):
        acts = ("limits", "slows")
        bases = [replace(base, memory_levels=measured.memory_bytes, memory_acts=each) for each in acts]
    return [
        replace(each, scaling=form, capped=cap)
        for each in bases
        for form in forms(vcpus, facts)
        for cap in (False, True)
    ]


def _distinguished(
    facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]
) -> tuple[str, ...]:
    """Disks with figures that are busy enough to matter, and those that a replay shows by themselves."""
    known = [name for name in fitted_disks(facts, measured) if not disk_is_free(facts, measured, name)]
    replayed = [disk_of(o.configuration) for o in observations if o.feed.input == REPLAY]
    return tuple(dict.fromkeys([*known, *replayed]))


def _batch_stage(facts: WorkloadFacts, observations: Sequence[Observation]) -> str:
    """The launch of a step costs the CPU where it computes, else the accelerator."""
    if len({batch_of(observation.configuration) for observation in observations}) < 2:
        return ""
    return "cpu" if facts.accelerator in (None, CPU_LABEL) else "accelerator"


def refinements(structure: Structure, facts: WorkloadFacts, measured: MeasuredRange) -> Iterator[Structure]:
    """The same form with one thing more: memory that counts, or a loader whose workers wait for the disk."""
    known = measured.memory_bytes
    if len(known) > 1 and not _memory_is_explained(facts, measured):
        if len(known) <= MOST_LEVELS:
            yield replace(structure, memory_levels=known)
            yield replace(structure, memory_levels=known, memory_acts="slows")
            yield from _page_cache(replace(structure, memory_levels=known), facts, measured)
        if len(known) > 2:
            for level in _sampled(known[1:]):
                yield replace(structure, memory_levels=(known[0], level), memory_acts="limits")
                yield replace(structure, memory_levels=(known[0], level), memory_acts="slows")
    every = fitted_disks(facts, measured)
    if not set(every) <= set(structure.disks):
        yield replace(structure, disks=_joined(structure.disks, every))
    if facts.setting.input == "disk" and (facts.core_seconds or len(measured.disks) > 1):
        waiting = tuple(name_of_disk(disk.name) for disk in measured.disks)
        yield replace(structure, disks=_joined(structure.disks, waiting), blocking=waiting)
    if structure.batch_stage == "accelerator":
        yield replace(structure, batch_stage="cpu")


def _memory_is_explained(facts: WorkloadFacts, measured: MeasuredRange) -> bool:
    """By the page cache of a known data set; or, where all was accounted, as a job that reads nothing of account."""
    if _cache_is_known(facts):
        return True
    starved = any(rate.evidence is Bottleneck.MEMORY for rate in measured.rates)
    return bool(facts.core_seconds) and not fitted_disks(facts, measured) and not starved


def _cache_is_known(facts: WorkloadFacts) -> bool:
    """Whether the size of the data says what more memory does."""
    return bool(facts.natural and facts.data_bytes and facts.read_bytes)


def _page_cache(structure: Structure, facts: WorkloadFacts, measured: MeasuredRange) -> Iterator[Structure]:
    """Several disks without figures: what memory keeps, none of them has to read."""
    names = tuple(name_of_disk(disk.name) for disk in measured.disks)
    if len(names) > 1 and all(disk_is_free(facts, measured, name) for name in names):
        yield replace(structure, disks=_joined(structure.disks, names), memory_acts="misses")


def _joined(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))


def _sampled(levels: Sequence[int]) -> Sequence[int]:
    step = math.ceil(len(levels) / 12)
    return levels[::step]


def prior(
    structure: Structure, facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]
) -> Prior:
    """Demands from accounting are beliefs with a narrow spread; what nothing is known of is wide."""
    beliefs = [_belief(name, structure, facts, measured, observations) for name in parameter_names(structure)]
    return Prior(np.array([mean for mean, _ in beliefs]), np.array([deviation for _, deviation in beliefs]))


def _belief(
    name: str, structure: Structure, facts: WorkloadFacts, measured: MeasuredRange, observations: Sequence[Observation]
) -> tuple[float, float]:
    kind, _, key = name.partition(":")
    if kind in ("rate", "step", "latency"):
        return _work(kind, structure, facts, observations)
    if kind == "accelerator":
        return _accelerator(key, facts, observations)
    if kind == "disk":
        return 0.0, _disk_spread(key, facts, measured)
    if kind == "memory":
        return math.log(UNBINDING * facts.highest_rate), 1.5
    if kind in ("missed", "slowed"):
        return (-1.0, 1.5) if kind == "missed" else (0.0, 1.0)
    if name in PARAMETERS[structure.scaling]:
        return belief_of_form(name, structure, facts, {vcpus_of(o.configuration) for o in observations})
    return {
        "quota": (0.05, 0.05),  # images a core-second at half a vCPU over those at one: 0.93 (benchmarks, halving.py)
        "cap": _cap(facts),
        "gpus": (math.log(0.03), 1.5),
        "batch": (math.log(0.1), 1.5),
        "sharpness": (math.log(8.0), 1.0),  # a closed network loses 6-20 % at its knee, even steps nothing
    }[name]


def _work(
    kind: str, structure: Structure, facts: WorkloadFacts, observations: Sequence[Observation]
) -> tuple[float, float]:
    """Core-seconds a sample (ln; `rate` is their negative), and the seconds that a blocking worker waits."""
    quickest = -max(o.log_rate - math.log(vcpus_of(o.configuration)) for o in observations)
    core_seconds, spread = quickest, 1.5
    if facts.core_seconds:
        core_seconds, spread = math.log(facts.core_seconds), 0.25  # spinning, and siblings that share a core
    if kind == "latency":
        return core_seconds + math.log(0.5), 1.5
    if not structure.step_apart:
        return -core_seconds, spread
    step = min(math.log(facts.step_core_seconds), core_seconds - 0.02) if facts.step_core_seconds else None
    if kind == "step":
        return (step, 0.25) if step is not None else (core_seconds + math.log(0.5), 1.5)
    if step is None:
        return -core_seconds - math.log(0.5), 1.5
    return -math.log(math.exp(core_seconds) - math.exp(step)), 0.35


def _cap(facts: WorkloadFacts) -> tuple[float, float]:
    """From rates alone a cap is what the curve bends towards; with accounting anything may bind before it."""
    if facts.core_seconds is not None:
        return math.log(UNBINDING * facts.highest_rate), 1.5
    return CAP[0] + math.log(facts.highest_rate), CAP[1]


def _accelerator(label: str, facts: WorkloadFacts, observations: Sequence[Observation]) -> tuple[float, float]:
    rate = facts.accelerator_rates.get(label)
    if rate is not None:
        return math.log(rate), 0.03 if label.startswith("emulated") or facts.device.kind == "emulated" else 0.15
    alike = [o for o in observations if label_at(facts, o.configuration) == label] or observations
    return max(o.log_rate - math.log(max(1, gpus_of(o.configuration))) for o in alike) + math.log(1.5), 1.5


def _disk_spread(name: str, facts: WorkloadFacts, measured: MeasuredRange) -> float:
    disk = measured.disk(name)
    if disk is None or disk_is_free(facts, measured, name):
        return 1.5
    return 0.1 if facts.demand_accounted and disk.emulated else 0.4


STARTS = {
    "cap": (0.05, 0.7),
    "sharpness": (math.log(3), math.log(16)),
    "contention": (-4.5, -1.0),
    "coherence": (-9.0, -5.0),
    "overhead": (-5.0, -1.5),
    "knee": (-0.7, 0.0, 0.7),
}
"""Where the search starts; `cap` is relative to the highest rate, `knee` to its belief; where the latter
is narrow, too, a search from beside it finds what one from it does not (one of a hundred machines by far)."""


def starting_points(structure: Structure, highest: float, belief: Prior) -> Array:
    """Starting vectors (S, k): the beliefs with every combination of STARTS; caps lie about `highest` ln throughput."""
    names = parameter_names(structure)
    varied = [name for name in names if name in STARTS]
    points = []
    for values in itertools.product(*(STARTS[name] for name in varied)):
        point = belief.mean.copy()
        for name, value in zip(varied, values, strict=True):
            base = highest if name == "cap" else belief.mean[names.index(name)] if name == "knee" else 0.0
            point[names.index(name)] = value + base
        points.append(point)
    return np.array(points)
