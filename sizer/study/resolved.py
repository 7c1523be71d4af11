"""A Study as a study file with every default written out, to be read again as the same Study."""

from __future__ import annotations

from typing import Any

import yaml

from sizer.records.device import BatchRate, Device
from sizer.records.kinds import IMPORTED
from sizer.records.study import DiskTier, Limits, Measure, Study, Workload, WorkloadPlan
from sizer.records.units import MB, spell_bytes
from sizer.study.adaptive import adaptive_form
from sizer.study.document import RESOLVED
from sizer.study.objective import objective_form


def to_yaml(study: Study) -> str:
    """The study as YAML that `parse_study` reads as an equal Study, on any host and without a catalogue."""
    data: dict[str, Any] = {"name": study.name, "workloads": [_workload(plan) for plan in study.workloads]}
    if study.disks:
        data["disks"] = {tier.name: _disk(tier) for tier in study.disks}
    if study.around is not None:
        data["around"] = _around(study.around)
    if study.frameworks:
        data["frameworks"] = {each.framework: {"python": each.python} for each in study.frameworks}
    data["embedded_images"] = study.embedded_images
    data["run_as"] = study.run_as
    data["max_processes"] = study.max_processes
    data["measure"] = _measure(study.measure) | adaptive_form(study.adaptive)
    data["objective"] = objective_form(study.objective)
    return RESOLVED + yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
    )


class _Dumper(yaml.SafeDumper):
    """Writes a value again rather than an alias to it: people read this file."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML calls it so)
        return True


def _workload(plan: WorkloadPlan) -> dict[str, Any]:
    """Axes are written in each workload, empty ones too: left out, a preset would fill them."""
    workload = plan.workload
    own = {
        "name": workload.name,
        "kind": workload.kind,
        "framework": workload.framework,
        "network": workload.network,
        "batch_size": list(plan.batch_size),
        "data": workload.data,
        "format": workload.format,
        "input": workload.input,
        "cache": workload.cache,
        "device": _device(workload.computes_on),
        "command": list(workload.command) or None,
        "env": {each.name: each.value for each in workload.env} or None,
        "pass_env": list(workload.pass_env) or None,
        "cwd": workload.cwd,
        "setup": list(workload.setup) or None,
        "before": list(workload.before) or None,
        "pattern": workload.pattern,
        "sample_unit": workload.sample_unit,
        "mode": workload.mode,
        "options": _options(workload),
        "meter": workload.meter if workload.meter != "auto" else None,
        "samples_per_step": workload.samples_per_step,
        "memory_floor": plan.memory_floor or None,
        "largest_batch": plan.largest_batch or None,
        "isolate": plan.isolate or None,
        "axes": {
            "vcpus": [_number(value) for value in plan.vcpus],
            "memory": [spell_bytes(value) for value in plan.memory_bytes],
            "disk": list(plan.disk),
            **({"gpu_count": list(plan.gpu_count)} if plan.gpu_count else {}),
        },
    }
    return {key: value for key, value in own.items() if value is not None}


def _options(workload: Workload) -> dict[str, Any] | None:
    if workload.kind == IMPORTED:
        return None
    given = {"precision": workload.precision, **vars(workload.options)}
    return {key: value for key, value in given.items() if value is not None} or None


def _device(device: Device) -> str | dict[str, Any]:
    if device.kind == "emulated":
        figures = {
            "gpu": device.gpu,
            "samples_per_second": _number(device.samples_per_second),
            "low": _number(device.rate_low),
            "high": _number(device.rate_high),
            "basis": device.rate_basis,
            "source": device.source,
            "scaling_loss": _number(device.scaling_loss),
            "scaling_source": device.scaling_source,
            "batch_rates": [_batch_rate(each) for each in device.batch_rates] or None,
        }
        return {"emulate": {key: value for key, value in figures.items() if value is not None}}
    return device.label


def _batch_rate(rate: BatchRate) -> dict[str, Any]:
    said = {
        "batch_size": rate.batch_size,
        "samples_per_second": _number(rate.samples_per_second),
        "low": _number(rate.low),
        "high": _number(rate.high),
        "basis": rate.basis,
        "source": rate.source,
    }
    return {key: value for key, value in said.items() if value is not None}


def _disk(tier: DiskTier) -> str | dict[str, Any]:
    if tier.emulated is None:
        return str(tier.path)
    rates = tier.emulated
    figures = {
        "name": tier.catalog_name,
        "class": tier.disk_class,
        "read_iops": _number(rates.read_iops),
        "read_mbps": _megabytes(rates.read_bytes_per_second),
        "write_iops": _number(rates.write_iops),
        "write_mbps": _megabytes(rates.write_bytes_per_second),
    }
    emulated: dict[str, Any] = {"emulate": {key: value for key, value in figures.items() if value is not None}}
    return emulated if tier.size_bytes is None else {**emulated, "size": spell_bytes(tier.size_bytes)}


def _around(around: Limits) -> dict[str, Any]:
    point = {
        "vcpus": _number(around.vcpus),
        "memory": None if around.memory_bytes is None else spell_bytes(around.memory_bytes),
        "disk": around.disk,
    }
    return {key: value for key, value in point.items() if value is not None}


def _measure(measure: Measure) -> dict[str, Any]:
    settings = {
        "repeats": measure.repeats,
        "seconds": _number(measure.seconds),
        "precision": measure.precision,
        "seed": measure.seed,
        "timeout": _number(measure.timeout),
        "steps": measure.steps or None,
    }
    return {key: value for key, value in settings.items() if value is not None}


def _megabytes(count: float | None) -> float | None:
    return None if count is None else _number(count / MB)


def _number(value: float | None) -> float | None:
    """Whole numbers without their point, as a person would write them."""
    return int(value) if value is not None and float(value).is_integer() else value
