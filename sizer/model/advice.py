"""What the measurements cannot say, and which run would help most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.model.coordinates import gpus_of, memory_of, name_of_disk
from sizer.model.model import Measured, WhatIf, WorkloadModel
from sizer.model.settings import CPU_LABEL, label_at
from sizer.model.stages import read_seconds
from sizer.model.words import ended
from sizer.records import Configuration, NoAnswer, Outcome, Run, format_bytes, format_vcpus

ENOUGH = 3
"""Distinct values of a continuous axis that carry a prediction along it."""


def refusal(name: str, runs: Sequence[Run], measured: Measured) -> str | None:
    """Why there can be no answer for this workload, with the run that would help most; None if there can."""
    if not measured.rates:
        return f"not enough data: {_no_run_completed(name, runs)}"
    axes = _axes(measured)
    kinds = len(measured.disks), len({gpus.gpu for gpus in measured.gpus})
    if max(kinds) > 1 or any(len(axis.values) >= ENOUGH for axis in axes):
        return None
    axis = max(axes, key=lambda each: len(each.values))  # vCPUs, where others have no more
    advice = to_measure("it", measured) if axis.name == VCPUS else f"measure it {axis.next_words}"
    return f"not enough data: `{name}` was measured {axis.in_words} and three are needed; {advice}"


VCPUS = "vCPU value"


@dataclass(frozen=True)
class _Axis:
    """The distinct values that were measured, as a person reads them, and the run that would add one."""

    name: str
    values: Sequence[str]
    next_words: str

    @property
    def in_words(self) -> str:
        """`at 2 vCPU values (1, 2)`"""
        if not self.values:
            return f"at an unknown {self.name}"
        return f"at {len(self.values)} {self.name}{'s' if len(self.values) > 1 else ''} ({', '.join(self.values)})"


def _axes(measured: Measured) -> list[_Axis]:
    """Those that somebody told."""
    memory, batches = measured.memory_bytes, measured.batch_size
    counts = sorted({max(1, gpus.count or 0) for gpus in measured.gpus}) or [1]
    axes = []
    if measured.vcpus:
        axes.append(_Axis(VCPUS, [f"{value:g}" for value in measured.vcpus], ""))
    if memory:
        listed = [format_bytes(size) for size in memory]
        axes.append(_Axis("memory size", listed, f"with {format_bytes(2 * memory[-1])}"))
    if batches:
        axes.append(_Axis("batch size", [str(size) for size in batches], f"with a batch of {2 * batches[-1]}"))
    if measured.gpus_known:
        axes.append(_Axis("accelerator count", [str(each) for each in counts], f"with {2 * counts[-1]} of them"))
    return axes or [_Axis(VCPUS, [], "")]


def to_measure(what: str, measured: Measured) -> str:
    """What would make an axis of three: `measure it at 4 vCPUs`; first of all the values that were tried and failed."""
    if measured.failed_vcpus:
        *others, last = [f"{value:g}" for value in measured.failed_vcpus]
        values = f"{', '.join(others)} and {format_vcpus(float(last))}" if others else format_vcpus(float(last))
        return f"no run of {what} at {values} completed: see their logs, mend the cause, and measure them with --retry"
    return f"measure {what} at {_vcpus_to_measure(measured.vcpus)}"


def _vcpus_to_measure(known: Sequence[float]) -> str:
    """The vCPU values that would make an axis of three: `4 vCPUs`, `0.5 and 2 vCPUs`."""
    if not known:
        return "three vCPU values"
    low, high = known[0], known[-1]
    if len(known) == 1:
        return f"{low / 2:g} and {format_vcpus(high * 2)}"
    middle = (low * high) ** 0.5
    return format_vcpus(high * 2 if high / low < 8 else round(middle) if middle >= 1 else round(middle, 1))


def check_axes(model: WorkloadModel, stand: Configuration) -> None:
    """Raise NoAnswer if an axis has too few values for this configuration, naming the run that would help."""
    measured, name = model.measured, model.name
    _check_told(model, stand)
    if stand.vcpus is not None and not _known(stand.vcpus, measured.vcpus):
        raise _too_few(name, "vCPU value", measured.vcpus, format_vcpus(stand.vcpus))
    if stand.batch_size is not None and not _known(stand.batch_size, measured.batch_size):
        raise _too_few(name, "batch size", measured.batch_size, f"batch size {stand.batch_size}")
    _check_gpus(model, stand)
    matters = any(member.structure.memory_levels and member.weight > 0.1 for member in model.members)
    known, asked = measured.memory_bytes, stand.memory_bytes
    if matters and asked is not None and len(known) < ENOUGH and known[0] < asked < known[-1]:
        raise NoAnswer(
            f"not enough data: `{name}` was measured with {len(known)} memory caps that differ in throughput and three "
            f"are needed to say what lies between; measure it with {format_bytes(asked)}"
        )


def _check_told(model: WorkloadModel, stand: Configuration) -> None:
    """Of an axis that the table does not have no value can be predicted."""
    measured = model.measured
    asked = {
        "vcpus": ("vCPUs", stand.vcpus, measured.vcpus),
        "memory_gib": ("memory", stand.memory_bytes, measured.memory_bytes),
        "batch_size": ("a batch size", stand.batch_size, measured.batch_size),
    }
    for column, (words, value, known) in asked.items():
        if value is not None and not known:
            raise NoAnswer(
                f"the table told no {words.removeprefix('a ')} of `{model.name}`, so nothing is known of {words} other "
                f"than it had; add a column {column} and import it again"
            )


def _check_gpus(model: WorkloadModel, stand: Configuration) -> None:
    measured, name = model.measured, model.name
    kinds = list(dict.fromkeys(gpus.gpu for gpus in measured.gpus))
    if kinds and stand.gpu not in kinds:
        known = ", ".join(str(kind) for kind in kinds)
        raise NoAnswer(f"`{name}` was not measured on {stand.gpu} (measured: {known}); measure it on {stand.gpu}")
    counts = sorted({max(1, gpus.count or 0) for gpus in measured.gpus})
    if counts and not _known(max(1, gpus_of(stand)), counts):
        raise _too_few(name, "accelerator count", counts, f"{stand.gpu_count} of them")


def _known(value: float, known: Sequence[float]) -> bool:
    return value in known or len(known) >= ENOUGH


def _too_few(name: str, values: str, known: Sequence[float], asked: str) -> NoAnswer:
    listed = ", ".join(f"{one:g}" for one in known)
    return NoAnswer(
        f"not enough data: `{name}` was measured at {len(known)} {values}{'s' if len(known) > 1 else ''} ({listed}) "
        f"and three are needed to predict another; measure it at {asked}"
    )


def _no_run_completed(name: str, runs: Sequence[Run]) -> str:
    none, outcomes = f"no run of `{name}` completed", [run.outcome for run in runs]
    if all(outcome is Outcome.OUT_OF_MEMORY for outcome in outcomes):
        tried = max(memory_of(run.configuration) for run in runs)
        return f"{none} ({ended(outcomes)}); measure it with {format_bytes(2 * tried)} of memory"
    if all(run.spec.workload.kind == "imported" for run in runs):
        return f"{none} ({ended(outcomes)}); import a table with runs of it that completed"
    return f"{none} ({ended(outcomes)}); see the log of one, mend the cause, and measure it with --retry"


UNKNOWN = {"framework": "other"}
"""What a program is called of which a table does not say it."""


def mixed_programs(name: str, runs: Sequence[Run]) -> str | None:
    """Why runs of one name that are of several programs cannot be fitted: a curve through two would be neither's."""
    for field in ("kind", "framework", "network"):
        values = sorted({str(getattr(run.spec.workload, field) or UNKNOWN.get(field)) for run in runs})
        if len(values) > 1:
            return f"the runs of `{name}` mix {field} {' and '.join(values)}; give each its own workload name"
    return None


def check_what_if(model: WorkloadModel, stand: Configuration, what_if: WhatIf) -> None:
    """Raise NoAnswer if a what-if is about a stage that was not told apart, or a disk is asked that has no figures."""
    name, facts = model.name, model.facts
    if min(what_if.gpu_speedup, what_if.data_bytes_factor, what_if.decode_factor) <= 0:
        raise NoAnswer("a speed-up or a factor is a number above 0, for example 2")
    if what_if.gpu_speedup != 1 and label_at(facts, stand) == CPU_LABEL:
        raise NoAnswer(
            f"workload `{name}` was measured without a GPU, so there is none to speed up: measure it with one"
        )
    apart = facts.step_core_seconds is not None or facts.kind == "imagenet_preprocessing"
    if what_if.decode_factor != 1 and facts.accelerator in (None, CPU_LABEL) and not apart:
        raise NoAnswer(
            f"workload `{name}` computes its step on the CPU that also decodes, and no run tells them apart: "
            "measure it with `input: synthetic`, too"
        )
    if what_if.disk_rates is not None and read_seconds(facts, what_if.disk_rates) is None:
        raise NoAnswer(
            f"what one sample of `{name}` reads was not accounted, so another disk's rates say nothing: "
            "measure a run with disk accounting (read_bytes)"
        )
    if what_if.disk_rates is None and model.measured.disks and model.measured.disk(stand.disk) is None:
        known = ", ".join(name_of_disk(disk.name) for disk in model.measured.disks)
        raise NoAnswer(
            f"disk `{stand.disk}` was not measured for `{name}` (measured: {known}): "
            "measure it, or give its IOPS and MB/s as a what-if"
        )
