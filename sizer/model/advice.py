"""What the measurements cannot say, and which run would help most."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.errors import NoAnswer
from sizer.model.model import Measured, WorkloadModel
from sizer.model.words import ended
from sizer.records import Configuration, Outcome, Run
from sizer.units import format_bytes, format_vcpus

ENOUGH = 3
"""Distinct values of a continuous axis that carry a prediction along it."""


def refusal(name: str, runs: Sequence[Run], measured: Measured) -> str | None:
    """Why there can be no answer for this workload, with the run that would help most; None if there can."""
    if not measured.vcpus:
        return f"not enough data: {_no_run_completed(name, runs)}"
    enough = (
        len(measured.vcpus) >= ENOUGH
        or len(measured.memory_bytes) >= ENOUGH
        or len(measured.batch_size) >= ENOUGH
        or len(measured.disks) > 1
        or len({max(1, gpus.count) for gpus in measured.gpus}) >= ENOUGH
        or len({gpus.gpu for gpus in measured.gpus}) > 1
    )
    if enough:
        return None
    count = len(measured.vcpus)
    values = ", ".join(f"{value:g}" for value in measured.vcpus)
    return (
        f"not enough data: `{name}` was measured at {count} vCPU value{'s' if count > 1 else ''} ({values}) and three "
        f"are needed; {to_measure('it', measured)}"
    )


def to_measure(what: str, measured: Measured) -> str:
    """What would make an axis of three: `measure it at 4 vCPUs`; first of all the values that were tried and failed."""
    if measured.failed_vcpus:
        *others, last = [f"{value:g}" for value in measured.failed_vcpus]
        values = f"{', '.join(others)} and {format_vcpus(float(last))}" if others else format_vcpus(float(last))
        return f"no run of {what} at {values} completed: see their logs, mend the cause, and measure them with --retry"
    return f"measure {what} at {_vcpus_to_measure(measured.vcpus)}"


def _vcpus_to_measure(known: Sequence[float]) -> str:
    """The vCPU values that would make an axis of three: `4 vCPUs`, `0.5 and 2 vCPUs`."""
    low, high = known[0], known[-1]
    if len(known) == 1:
        return f"{low / 2:g} and {format_vcpus(high * 2)}"
    middle = (low * high) ** 0.5
    return format_vcpus(high * 2 if high / low < 8 else round(middle) if middle >= 1 else round(middle, 1))


def check_axes(model: WorkloadModel, stand: Configuration) -> None:
    """Raise NoAnswer if an axis has too few values for this configuration, naming the run that would help."""
    measured, name = model.measured, model.name
    if not _known(stand.vcpus, measured.vcpus):
        raise _too_few(name, "vCPU value", measured.vcpus, format_vcpus(stand.vcpus))
    if not _known(stand.batch_size, measured.batch_size):
        raise _too_few(name, "batch size", measured.batch_size, f"batch size {stand.batch_size}")
    _check_gpus(model, stand)
    matters = any(member.structure.memory_levels and member.weight > 0.1 for member in model.members)
    known = measured.memory_bytes
    if matters and len(known) < ENOUGH and known[0] < stand.memory_bytes < known[-1]:
        raise NoAnswer(
            f"not enough data: `{name}` was measured with {len(known)} memory caps that differ in throughput and three "
            f"are needed to say what lies between; measure it with {format_bytes(stand.memory_bytes)}"
        )


def _check_gpus(model: WorkloadModel, stand: Configuration) -> None:
    measured, name = model.measured, model.name
    kinds = list(dict.fromkeys(gpus.gpu for gpus in measured.gpus))
    if kinds and stand.gpu not in kinds:
        known = ", ".join(str(kind) for kind in kinds)
        raise NoAnswer(f"`{name}` was not measured on {stand.gpu} (measured: {known}); measure it on {stand.gpu}")
    counts = sorted({max(1, gpus.count) for gpus in measured.gpus})
    if counts and not _known(max(1, stand.gpu_count), counts):
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
        tried = max(run.configuration.memory_bytes for run in runs)
        return f"{none} ({ended(outcomes)}); measure it with {format_bytes(2 * tried)} of memory"
    if all(run.spec.workload.kind == "imported" for run in runs):
        return f"{none} ({ended(outcomes)}); import a table with runs of it that completed"
    return f"{none} ({ended(outcomes)}); see the log of one, mend the cause, and measure it with --retry"


def mixed_programs(name: str, runs: Sequence[Run]) -> str | None:
    """Why runs of one name that are of several programs cannot be fitted: a curve through two would be neither's."""
    for field in ("kind", "framework", "network"):
        values = sorted({str(getattr(run.spec.workload, field)) for run in runs})
        if len(values) > 1:
            return f"the runs of `{name}` mix {field} {' and '.join(values)}; give each its own workload name"
    return None
