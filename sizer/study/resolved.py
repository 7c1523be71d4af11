"""A Study as a study file with every default written out, to be read again as the same Study."""

from __future__ import annotations

from typing import Any

import yaml

from sizer.records.device import Device
from sizer.records.kinds import IMPORTED
from sizer.records.study import DiskTier, Limits, Study, Workload, WorkloadPlan
from sizer.records.units import MB, spell_bytes
from sizer.study.document import RESOLVED
from sizer.study.objective import adaptive_form, objective_form
from sizer.study.parse import PLAIN


def to_yaml(study: Study) -> str:
    """The study as YAML that `parse_study` reads as an equal Study, on any host and without a catalogue."""
    data: dict[str, Any] = {"name": study.name, "workloads": [_workload(plan) for plan in study.workloads]}
    if study.disks:
        data["disks"] = {tier.name: _disk(tier) for tier in study.disks}
    if study.around is not None:
        data["around"] = _around(study.around)
    if study.frameworks:
        data["frameworks"] = {framework.framework: {"python": framework.python} for framework in study.frameworks}
    data |= {name: getattr(study, name) for name in PLAIN}
    measure = _given(**{**vars(study.measure), "steps": study.measure.steps or None})
    data["measure"] = measure | adaptive_form(study.adaptive)
    data["objective"] = objective_form(study.objective)
    return RESOLVED + dumped(data)


def dumped(data: dict[str, Any]) -> str:
    """As YAML for people: the innermost lists and mappings on one line."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120)


class _Dumper(yaml.SafeDumper):
    """Writes a value again rather than an alias to it: people read this file."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML calls it so)
        return True


OWN = (
    *("name", "kind", "framework", "network", "batch_size", "data", "format", "input", "cache", "device", "command"),
    *("env", "pass_env", "cwd", "setup", "before", "pattern", "sample_unit", "mode", "options", "meter"),
    "samples_per_step",
)
"""What a workload says of itself, in the order of the file."""


def _workload(plan: WorkloadPlan) -> dict[str, Any]:
    """Axes are written in each workload, empty ones too: left out, a preset would fill them."""
    workload = plan.workload
    own = vars(workload) | {
        "batch_size": list(plan.batch_size),
        "device": [*map(_device, plan.devices)] or _device(workload.computes_on),
        **{name: list(getattr(workload, name)) or None for name in ("command", "pass_env", "setup", "before")},
        "env": {variable.name: variable.value for variable in workload.env} or None,
        "options": _options(workload),
        "meter": workload.meter if workload.meter != "auto" else None,
    }
    axes: dict[str, Any] = {
        "vcpus": [number(value) for value in plan.vcpus],
        "memory": [spell_bytes(value) for value in plan.memory_bytes],
        "disk": list(plan.disk),
    }
    return _given(
        **{name: own[name] for name in OWN},
        memory_floor=plan.memory_floor or None,
        largest_batch=plan.largest_batch or None,
        isolate=plan.isolate or None,
        axes={**axes, "gpu_count": list(plan.gpu_count)} if plan.gpu_count else axes,
    )


def _options(workload: Workload) -> dict[str, Any] | None:
    if workload.kind == IMPORTED:
        return None
    return _given(precision=workload.precision, **vars(workload.options)) or None


def _device(device: Device) -> str | dict[str, Any]:
    if device.kind != "emulated":
        return device.label
    rate = device.samples_per_second, device.rate_low, device.rate_high, device.rate_basis, device.source
    figures = _given(
        gpu=device.gpu,
        **_rate(*rate),
        scaling_loss=device.scaling_loss,
        scaling_source=device.scaling_source,
        batch_rates=[
            {"batch_size": of.batch_size, **_rate(of.samples_per_second, of.low, of.high, of.basis, of.source)}
            for of in device.batch_rates
        ]
        or None,
    )
    return {"emulate": figures}


def _rate(*figures: Any) -> dict[str, Any]:
    return _given(**dict(zip(("samples_per_second", "low", "high", "basis", "source"), figures, strict=True)))


def _disk(tier: DiskTier) -> str | dict[str, Any]:
    if tier.emulated is None:
        return str(tier.path)
    rates = _given(**vars(tier.emulated))
    figures = {
        name.replace("bytes_per_second", "mbps"): rate if name.endswith("iops") else rate / MB
        for name, rate in rates.items()
    }
    emulate = _given(**{"name": tier.catalog_name, "class": tier.disk_class}, **figures)
    return _given(emulate=emulate, size=None if tier.size_bytes is None else spell_bytes(tier.size_bytes))


def _around(around: Limits) -> dict[str, Any]:
    memory = None if around.memory_bytes is None else spell_bytes(around.memory_bytes)
    return _given(vcpus=around.vcpus, memory=memory, disk=around.disk)


def _given(**values: Any) -> dict[str, Any]:
    """What is not None."""
    return {name: number(value) for name, value in values.items() if value is not None}


def number(value: Any) -> Any:
    """Whole numbers without their point, as a person would write them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
