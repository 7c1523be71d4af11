"""One machine for all workloads of a study, and what each of them loses by it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.coordinates import vcpus_of
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predictions
from sizer.recommend.instances import cheapest, priced_like_measured
from sizer.records.answer import Answer, Loss, SharedMachine
from sizer.records.configuration import Configuration
from sizer.records.errors import NoAnswer
from sizer.records.prediction import Spec


def shared_machine(
    models: Sequence[WorkloadModel], answers: Sequence[Answer], catalog: Catalog
) -> SharedMachine | None:
    """The cheapest one with a price that holds every answer's spec; None of fewer than two, of several
    machines together, or where none is sold."""
    known = {model.name: model for model in models}
    asked = [(known[each.workload], each) for each in answers if each.spec is not None and each.workload in known]
    if len(asked) < 2 or any(each.spec is not None and each.spec.nodes > 1 for _, each in asked):
        return None
    specs = [(model, answer.spec or Spec(None)) for model, answer in asked]
    held = [priced_like_measured(model, spec, spec.batch_size, catalog) for model, spec in specs]
    both = [each for each in held[0] if all(each in others for others in held[1:])]
    if not both:
        return None
    taken = both[0]
    return SharedMachine(
        provider=taken.provider,
        instance_type=taken.instance_type,
        vcpus=taken.vcpus,
        memory_bytes=taken.memory_bytes,
        gpu=taken.gpu,
        gpu_count=taken.gpu_count,
        usd_per_hour=taken.usd_per_hour or 0.0,
        as_of=taken.as_of,
        losses=tuple(_loss(model, answer, taken, catalog) for model, answer in asked),
    )


def _loss(model: WorkloadModel, answer: Answer, shared: InstanceType, catalog: Catalog) -> Loss:
    spec = answer.spec or Spec(None)
    own = cheapest(model, spec, spec.batch_size, catalog)
    more = None
    if own is not None and own.usd_per_hour is not None and shared.usd_per_hour is not None:
        more = shared.usd_per_hour - own.usd_per_hour
    return Loss(answer.workload, more, _share(model, answer, spec, shared))


def _share(model: WorkloadModel, answer: Answer, spec: Spec, shared: InstanceType) -> float | None:
    """Its rate with the machine's vCPUs, or the most measured where it has more; None where the model does not say."""
    known = model.measured.vcpus
    if answer.throughput is None or answer.throughput.value <= 0 or spec.vcpus is None or not known:
        return None
    vcpus = max(spec.vcpus, min(shared.vcpus, max(known)))
    with suppress(NoAnswer):
        there, here = (_configuration(model, spec, each) for each in (vcpus, spec.vcpus))
        rates = predictions(model, [there, here])
        before, after = rates[here].throughput.value, rates[there].throughput.value
        return after / before if before > 0 else None
    return None


def _configuration(model: WorkloadModel, spec: Spec, vcpus: float) -> Configuration:
    """What was measured nearest to the spec, with so many vCPUs."""
    near = min(
        (rate.configuration for rate in model.measured.rates),
        key=lambda each: (
            each.disk != spec.disk and spec.disk is not None,
            each.batch_size != spec.batch_size and spec.batch_size is not None,
            each.memory_bytes != spec.memory_bytes and spec.memory_bytes is not None,
            abs(vcpus_of(each) - vcpus),
        ),
    )
    return replace(near, vcpus=vcpus, disk=spec.disk or near.disk, memory_bytes=spec.memory_bytes or near.memory_bytes)
