"""What the answer saves against the largest configuration measured, or against an instance type that was named."""

from __future__ import annotations

from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.catalog.gpus import same_gpu
from sizer.model.coordinates import disk_of, memory_of, vcpus_of
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.accelerators import accelerators_of
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.recommend.instances import cheapest
from sizer.recommend.prices import disk_prices
from sizer.recommend.reasons import named
from sizer.recommend.sizes import memory_varied, spec_of
from sizer.records.answer import Baseline
from sizer.records.configuration import Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.prediction import Figure, Reason, ReasonCode, Spec, reason

ALIKE = 0.005
"""Rates and prices that differ by less than half a percent count as the same."""


def largest_measured(model: WorkloadModel, batch_size: int | None, catalog: Catalog) -> Configuration:
    """The configuration with most accelerators, then vCPUs, the fastest kind, most memory, and the dearest disk."""
    measured, volumes = model.measured, disk_prices(model.measured.disks, catalog)
    top: dict[str | None, float] = {}
    for rate in measured.rates:
        gpu = rate.configuration.gpu
        top[gpu] = max(top.get(gpu, 0.0), rate.throughput.value)

    def order(configuration: Configuration) -> tuple[float, ...]:
        number = accelerators_of(configuration).number(model.facts.device)
        return (
            number,
            vcpus_of(configuration),
            top[configuration.gpu],
            memory_of(configuration),
            volumes.get(disk_of(configuration), 0.0),
        )

    configurations = [rate.configuration for rate in measured.rates]
    return max(
        [configuration for configuration in configurations if configuration.batch_size == batch_size] or configurations,
        key=order,
    )


def baseline_of(case: Case, chosen: Candidate) -> Baseline | None:
    """The answer beside its baseline; None where the baseline's rate is not known."""
    if not case.table.of_machines:
        return _on_curve(case.model, chosen, chosen.throughput, case.catalog, case.machine)
    other = case.choice.fastest if case.machine is None else named(case)
    if other is None:
        return None
    before, now = other.usd_per_hour, chosen.usd_per_hour
    return Baseline(
        spec=other.spec,
        throughput=other.throughput,
        share=chosen.rate / other.rate,
        usd_per_hour=before,
        instance_type=other.name,
        answer_usd_per_hour=now,
        answer_instance_type=chosen.name,
        saving=1 - now / before if before and now is not None else None,
        named=case.machine is not None,
    )


def _on_curve(
    model: WorkloadModel, chosen: Candidate, rate: Estimate, catalog: Catalog, machine: InstanceType | None
) -> Baseline | None:
    """Beside a size: the named machine, or the largest configuration measured."""
    batch_size = chosen.place.batch_size
    if machine is None:
        configuration = largest_measured(model, batch_size, catalog)
        memory = configuration.memory_bytes if memory_varied(model.measured) else None
        spec = spec_of(model, configuration, configuration.vcpus, memory)
    elif not _carries(model, chosen, machine):
        return None
    else:
        configuration = _configuration_on(model, chosen, machine)
        memory = configuration.memory_bytes if memory_varied(model.measured) else None
        spec = spec_of(model, configuration, machine.vcpus, memory)
    try:
        prediction = predict(model, configuration)
    except NoAnswer:
        return None
    if prediction.throughput.value <= 0:
        return None
    taken = cheapest(model, chosen.spec, batch_size, catalog)
    other = machine or cheapest(model, spec, batch_size, catalog, taken.provider if taken else None)
    before, now = (each.usd_per_hour if each else None for each in (other, taken))
    return Baseline(
        spec=spec,
        throughput=prediction.throughput,
        share=rate.value / prediction.throughput.value,
        usd_per_hour=before,
        instance_type=_name(other),
        answer_usd_per_hour=now,
        answer_instance_type=_name(taken),
        saving=1 - now / before if before and now is not None else None,
        named=machine is not None,
        extrapolated=prediction.extrapolated,
    )


def _carries(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> bool:
    """Whether the machine has the accelerators that the answer's rate needs."""
    if chosen.spec.vcpus is None:
        return False
    kind, device = accelerators_of(chosen.place), model.facts.device
    gpu, count = kind.catalog_name(device), kind.number(device)
    return count == 0 or (
        machine.gpu_count >= count and machine.gpu is not None and (gpu is None or same_gpu(machine.gpu, gpu))
    )


def _configuration_on(model: WorkloadModel, chosen: Candidate, machine: InstanceType) -> Configuration:
    """The job on that machine, never with more memory than was measured, which would add nothing."""
    known = model.measured.memory_bytes
    if not known:
        return replace(chosen.place, vcpus=machine.vcpus)
    memory = max((size for size in known if size <= machine.memory_bytes), default=machine.memory_bytes)
    return replace(chosen.place, vcpus=machine.vcpus, memory_bytes=memory)


def _name(instance: InstanceType | None) -> str | None:
    return instance.name if instance else None


def baseline_reasons(baseline: Baseline | None, chosen: Candidate, machine: InstanceType | None) -> list[Reason]:
    """What the answer costs beside its baseline, and at which share of its rate; nothing if it is the answer itself.

    The reason's spec is the baseline's vCPUs, and what else differs from the answer.
    """
    if baseline is None and machine is not None:
        return [reason(ReasonCode.BASELINE, instance_type=_name(machine))]
    if baseline is None or (baseline.spec == _measured_size(chosen) and not baseline.named):
        return []
    differs = baseline.saving is not None and abs(baseline.saving) >= ALIKE
    figures: dict[str, Figure] = {
        "share": baseline.share,
        "dearer": -baseline.saving if baseline.saving is not None and differs else None,
        "baseline_usd": baseline.usd_per_hour,
        "instance_type": baseline.instance_type,
        "answer_usd": baseline.answer_usd_per_hour,
        "answer_instance": baseline.answer_instance_type,
        "named": baseline.named,
        "extrapolated": baseline.extrapolated,
        "disk_not_counted": baseline.spec.disk != chosen.spec.disk,
    }
    return [Reason(ReasonCode.BASELINE, figures, _differing(baseline.spec, chosen.spec))]


def _measured_size(chosen: Candidate) -> Spec:
    """The spec with the vCPUs that it is judged by: where less is measured than is sold, a size sold holds it."""
    return replace(chosen.spec, vcpus=chosen.place.vcpus) if chosen.spec.vcpus is not None else chosen.spec


def _differing(spec: Spec, beside: Spec) -> Spec:
    same_gpus = (spec.gpu, spec.gpu_count) == (beside.gpu, beside.gpu_count)
    return Spec(
        vcpus=spec.vcpus,
        memory_bytes=spec.memory_bytes if spec.memory_bytes != beside.memory_bytes else None,
        disk=spec.disk if spec.disk != beside.disk else None,
        gpu=None if same_gpus else spec.gpu,
        gpu_count=0 if same_gpus else max(1, spec.gpu_count),
    )
