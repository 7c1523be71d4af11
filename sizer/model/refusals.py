"""What the measurements cannot say, and which run would help most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sizer.model.beliefs import cache_is_known
from sizer.model.equation import read_seconds
from sizer.model.memory import asked_sizes, memory_compared
from sizer.model.model import CPU_LABEL, MeasuredRange, WhatIf, WorkloadModel, gpus_of, memory_of, name_of_disk
from sizer.model.runs import is_batch_search, is_starved, label_at
from sizer.records.prediction import (
    Action,
    Configuration,
    Figure,
    Reason,
    ReasonCode,
    Refusal,
    Refused,
    Suggestion,
    reason,
)
from sizer.records.run_kinds import Outcome

if TYPE_CHECKING:
    from sizer.records.run import Run

ENOUGH = 3
"""Distinct values of a continuous axis that a prediction along it needs."""
UNKNOWN = {"framework": "other"}
"""What a program is called of which a table does not say it."""


def of_runs(runs: Sequence[Run], usable: Sequence[Run], measured: MeasuredRange) -> Refusal | None:
    """Why there can be no answer for this workload, with the run that would help most; None if there can.

    `runs` are those of the whole job, `usable` those of them that show a rate. Stages alone do not say how they work
    together, and a curve through runs of several programs would be neither's.
    """
    if not runs:
        return Refusal(reason(ReasonCode.NO_RUN_COMPLETED), Suggestion(Action.FINISH))
    for field in ("kind", "framework", "network"):
        values = sorted({str(getattr(run.spec.workload, field) or UNKNOWN.get(field)) for run in runs})
        if len(values) > 1:
            mixed = reason(ReasonCode.MIXED_PROGRAMS, field=field, programs=tuple(values))
            return Refusal(mixed, Suggestion(Action.RENAME))
    if not measured.rates:
        return _no_run_completed(runs)
    if not few_values(measured):
        starved = all(is_starved(run) for run in usable)
        return Refusal(reason(ReasonCode.RUNS_STARVED), Suggestion(Action.REPEAT)) if starved else None
    # Two memory caps hold the job or kill it, and say how fast it is, whatever they do not say.
    return None if len(asked_sizes(measured)) > 1 else _too_few_values(measured)


def few_values(measured: MeasuredRange) -> bool:
    """Whether no axis has enough values for a curve, and there is one disk and one kind of accelerator."""
    kinds = len(measured.disks), len({gpus.gpu for gpus in measured.gpus})
    return max(kinds) < 2 and all(len(values) < ENOUGH for values in _axes(measured).values())


def _axes(measured: MeasuredRange) -> dict[str, tuple[float, ...]]:
    """The distinct values of each axis that is known, rising; vCPUs where none is."""
    axes = {
        "vcpus": measured.vcpus,
        "memory_gib": measured.memory_bytes,
        "batch_size": measured.batch_size,
        "gpu_count": _counts(measured) if any(gpus.count is not None for gpus in measured.gpus) else (),
    }
    values = {axis: tuple(map(float, own)) for axis, own in axes.items() if own}
    return values or {"vcpus": ()}


def _counts(measured: MeasuredRange) -> tuple[int, ...]:
    return tuple(sorted({max(1, gpus.count or 0) for gpus in measured.gpus}))


def _too_few_values(measured: MeasuredRange) -> Refusal:
    axes = _axes(measured)
    axis = max(axes, key=lambda axis: len(axes[axis]))  # vCPUs, where others have no more
    values = axes[axis]
    if not values:
        return Refusal(reason(ReasonCode.TOO_FEW_VALUES, axis=axis, values=values))
    helps = vcpus_to_measure(measured) if axis == "vcpus" else _at(axis, 2 * values[-1])
    return Refusal(reason(ReasonCode.TOO_FEW_VALUES, axis=axis, values=values), helps)


def _at(axis: str, value: float) -> Suggestion:
    """To measure at one value of an axis."""
    name = "memory_bytes" if axis == "memory_gib" else axis
    asked: dict[str, Any] = {name: (value,) if axis == "vcpus" else round(value)}
    return Suggestion(Action.MEASURE, **asked)


def vcpus_to_measure(measured: MeasuredRange, why: Reason | None = None) -> Suggestion:
    """The vCPU values that would make three; first of all those that were tried and failed."""
    if measured.failed_vcpus:
        return Suggestion(Action.RETRY, vcpus=measured.failed_vcpus)
    if not measured.vcpus:
        return Suggestion(Action.MEASURE, why)
    low, high = measured.vcpus[0], measured.vcpus[-1]
    if len(measured.vcpus) == 1:
        return Suggestion(Action.MEASURE, why, vcpus=(low / 2, high * 2))
    middle = (low * high) ** 0.5
    value = high * 2 if high / low < 8 else round(middle) if middle >= 1 else round(middle, 1)
    return Suggestion(Action.MEASURE, why, vcpus=(float(value),))


def check_axes(model: WorkloadModel, configuration: Configuration) -> None:
    """Raise Refused if an axis has too few values for this configuration, with the run that would help; or none, where
    an imported table lacks its column."""
    measured = model.measured
    axes = (
        ("vcpus", configuration.vcpus, measured.vcpus),
        ("memory_gib", configuration.memory_bytes, measured.memory_bytes),
        ("batch_size", configuration.batch_size, measured.batch_size),
    )
    for column, value, values in axes:
        if value is not None and not values:
            lacking = reason(ReasonCode.NOT_IN_TABLE, column=column)
            raise Refused(Refusal(lacking, Suggestion(Action.IMPORT, column=column)))
    vcpus, memory, batch = axes
    _check(*vcpus)
    _check(*batch)
    kinds = list(dict.fromkeys(gpus.gpu for gpus in measured.gpus))
    if kinds and configuration.gpu not in kinds:
        unknown = reason(
            ReasonCode.NOT_MEASURED, gpu=configuration.gpu or CPU_LABEL, gpus_measured=tuple(map(str, kinds))
        )
        raise Refused(Refusal(unknown, Suggestion(Action.MEASURE, gpu=configuration.gpu)))
    if kinds:
        _check("gpu_count", max(1, gpus_of(configuration)), _counts(measured))
    if memory_matters(model):
        _check(*memory)


def _check(axis: str, asked: float | None, values: Sequence[float]) -> None:
    if asked is not None and asked not in values and len(values) < ENOUGH:
        values = tuple(map(float, values))
        raise Refused(Refusal(reason(ReasonCode.TOO_FEW_VALUES, axis=axis, values=values), _at(axis, asked)))


def memory_matters(model: WorkloadModel) -> bool:
    """Whether the rate differs over memory, and the page cache does not say why; of two sizes the runs must, too."""
    compared = memory_compared(model.measured)
    if compared is not None and not compared.clear:
        return False
    return model.memory_counts and not cache_is_known(model.facts)


def _no_run_completed(runs: Sequence[Run]) -> Refusal:
    """A search for the largest batch may have runs that held, and they show no rate: they are not counted."""
    runs = [run for run in runs if not is_batch_search(run)] or runs
    outcomes = [run.outcome for run in runs]
    none = reason(ReasonCode.NO_RUN_COMPLETED, **counted_outcomes(outcomes))
    capped = all(run.configuration.memory_bytes is not None for run in runs)
    if capped and all(outcome is Outcome.OUT_OF_MEMORY for outcome in outcomes):
        return Refusal(none, _at("memory_gib", 2 * max(memory_of(run.configuration) for run in runs)))
    if all(run.spec.workload.kind == "imported" for run in runs):
        return Refusal(none, Suggestion(Action.IMPORT))
    return Refusal(none, Suggestion(Action.RETRY))


def counted_outcomes(outcomes: Iterable[Outcome]) -> dict[str, Figure]:
    """How many runs ended how, in the order of the outcomes' list."""
    counted = Counter(outcomes)
    outcomes = [outcome for outcome in Outcome if outcome in counted]
    return {
        "outcomes": tuple(outcome.value for outcome in outcomes),
        "counts": tuple(float(counted[outcome]) for outcome in outcomes),
    }


def not_fitted(model: WorkloadModel) -> Refused:
    """Of a workload that has no model."""
    return Refused(model.refused or Refusal(reason(ReasonCode.NOT_FITTED)))


def check_what_if(model: WorkloadModel, configuration: Configuration, what_if: WhatIf) -> None:
    """Raise Refused if a what-if is about a stage that was not separated, or a disk is asked that has no figures."""
    facts, disks = model.facts, model.measured.disks
    factors = (what_if.gpu_speedup, what_if.data_bytes_factor, what_if.decode_factor, what_if.loader_workers_factor)
    if min(factors) <= 0:
        raise Refused(Refusal(reason(ReasonCode.FACTOR_NOT_POSITIVE)))
    if what_if.gpu_speedup != 1 and label_at(facts, configuration) == CPU_LABEL:
        raise Refused(Refusal(reason(ReasonCode.NO_GPU_TO_SPEED_UP), Suggestion(Action.MEASURE, gpu_count=1)))
    changes_step = what_if.decode_factor != 1 or what_if.step_elsewhere
    if changes_step and facts.accelerator in (None, CPU_LABEL) and not facts.step_apart:
        synthetic = Suggestion(Action.MEASURE, input="synthetic")
        raise Refused(Refusal(reason(ReasonCode.STEP_NOT_SEPARATE), synthetic))
    if what_if.disk_rates is not None and read_seconds(facts, what_if.disk_rates) is None:
        accounted = Suggestion(Action.MEASURE, accounting=True)
        raise Refused(Refusal(reason(ReasonCode.NOT_RECORDED), accounted))
    if what_if.disk_rates is None and disks and model.measured.disk(configuration.disk) is None:
        names = tuple(name_of_disk(disk.name) for disk in disks)
        unknown = reason(ReasonCode.NOT_MEASURED, disk=configuration.disk, disks_measured=names)
        raise Refused(Refusal(unknown, Suggestion(Action.MEASURE, disk=configuration.disk)))
