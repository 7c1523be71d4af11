"""The recommendation for every workload of a study: an answer for each, one family and one machine for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.model import Model, WorkloadModel, vcpus_of
from sizer.model.prediction import predictions
from sizer.recommend.accelerators import which_gpu
from sizer.recommend.answer import Question, answer
from sizer.recommend.beside import told_of
from sizer.recommend.candidates import GIB_PER_VCPU
from sizer.recommend.costs import cost_table
from sizer.recommend.cross_table import cross_table
from sizer.recommend.edges import StillPlanned
from sizer.recommend.prices import cheapest, priced_like_measured
from sizer.records.answer import Answer, Family, Loss, Recommendation, SharedMachine
from sizer.records.configuration import Configuration
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB


def recommend(
    model: Model,
    runs: Sequence[Run],
    objective: Objective,
    catalog: Catalog,
    *,
    host_vcpus: float | None = None,
    most_batches: Mapping[str, int] | None = None,
    still_planned: Mapping[str, StillPlanned] | None = None,
) -> Recommendation:
    """The cheapest spec (or by the objective) for every workload of the model.

    `runs` are those the model was fitted to: an answer says what their warnings and their failures speak against it. It
    is compared with the objective's baseline, or with the largest configuration measured; `host_vcpus` are those of the
    measuring host, where known: a run that asks for more needs a larger one. `most_batches` says of each workload whose
    largest batch was searched for up to which: that tells a search that ended there from one that was broken off.
    `still_planned` is by workload what the study's plan still has: that is measured before anything else.
    """
    offers = catalog.at_spot_prices() if objective.spot else catalog
    called = () if objective.baseline is None else offers.called(objective.baseline)
    machine = min((one for one in called if one.is_offered), key=lambda one: one.gpu_count, default=None)
    question = Question(objective, offers, machine, host_vcpus, most_batches or {}, still_planned or {})
    own: dict[str, list[Run]] = {workload.name: [] for workload in model.workloads}
    for run in runs:
        own.setdefault(run.spec.workload.name, []).append(run)
    answers = [_with_gpus(workload, question, own[workload.name]) for workload in model.workloads]
    answers = [
        replace(given, costs=cost_table(workload, own[workload.name], given, question, catalog))
        for workload, given in zip(model.workloads, answers, strict=True)
    ]
    family = replace(_family(answers), shared=_shared_machine(model.workloads, answers, offers))
    in_order = [run for workload in model.workloads for run in own[workload.name]]
    return Recommendation(objective, tuple(answers), family, cross_table(in_order))


def _with_gpus(model: WorkloadModel, question: Question, runs: Sequence[Run]) -> Answer:
    """The answer, and the accelerators that were asked about beside it."""
    given, asked = answer(model, question, runs), question.objective
    if not asked.gpus:
        return given
    return replace(given, gpus=which_gpu(model, runs, given, asked.gpus, question.catalog, asked.deadline, asked.spot))


def _family(answers: Sequence[Answer]) -> Family:
    """What a family must offer so that every job with an answer has its size; empty without an answer."""
    specs = {answer.workload: answer.spec for answer in answers if answer.spec and answer.spec.nodes == 1}
    if not specs:
        return Family()
    vcpus = [spec.vcpus for spec in specs.values() if spec.vcpus is not None]
    ratios = {
        name: spec.memory_bytes / GIB / spec.vcpus
        for name, spec in specs.items()
        if spec.memory_bytes and spec.vcpus is not None
    }
    greediest = max(ratios, key=lambda name: ratios[name], default=None)
    needed = ratios[greediest] if greediest is not None else None
    sold = next((offer for offer in GIB_PER_VCPU if needed is not None and offer >= needed), None)
    return Family(
        least_vcpus=min(vcpus, default=None),
        most_vcpus=max(vcpus, default=None),
        rising=any(one.edge == "rising" and one.spec and one.spec.vcpus is not None for one in answers),
        gib_per_vcpu=needed if sold is None else float(sold),
        sold=needed is None or sold is not None,
        memory_workload=greediest,
        disks={name: spec.disk for name, spec in specs.items() if spec.disk},
        not_covered=tuple(answer.workload for answer in answers if answer.spec is None),
    )


def _shared_machine(
    models: Sequence[WorkloadModel], answers: Sequence[Answer], catalog: Catalog
) -> SharedMachine | None:
    """The cheapest one with a price that holds every answer's spec; None of fewer than two, of several
    machines together, or where none is sold."""
    asked = [(model, one, one.spec) for model, one in zip(models, answers, strict=True) if one.spec is not None]
    if len(asked) < 2 or any(spec.nodes > 1 for _, _, spec in asked):
        return None
    first, *others = [priced_like_measured(model, spec, spec.batch_size, catalog) for model, _, spec in asked]
    taken = next((instance for instance in first if all(instance in held for held in others)), None)
    if taken is None:
        return None
    losses = tuple(_loss(model, given, spec, taken, catalog) for model, given, spec in asked)
    return SharedMachine(**told_of(taken), usd_per_hour=taken.usd_per_hour or 0.0, losses=losses)


def _loss(model: WorkloadModel, given: Answer, spec: Spec, shared: InstanceType, catalog: Catalog) -> Loss:
    """What one workload loses on the machine that all share."""
    own = cheapest(model, spec, spec.batch_size, catalog)
    prices = (None if own is None else own.usd_per_hour), shared.usd_per_hour
    more = None if None in prices else (prices[1] or 0.0) - (prices[0] or 0.0)
    return Loss(given.workload, more, _share(model, given, spec, shared))


def _share(model: WorkloadModel, given: Answer, spec: Spec, shared: InstanceType) -> float | None:
    """Its rate with the machine's vCPUs, or the most measured where it has more; None where the model does not say."""
    known = model.measured.vcpus
    if given.throughput is None or given.throughput.value <= 0 or spec.vcpus is None or not known:
        return None
    with suppress(NoAnswer):
        there, here = (_place(model, spec, n) for n in (max(spec.vcpus, min(shared.vcpus, max(known))), spec.vcpus))
        rates = predictions(model, [there, here])
        before, after = rates[here].throughput.value, rates[there].throughput.value
        return after / before if before > 0 else None
    return None


def _place(model: WorkloadModel, spec: Spec, vcpus: float) -> Configuration:
    """What was measured nearest to the spec, with so many vCPUs."""

    def unlike(place: Configuration) -> tuple[float, ...]:
        axes = ("disk", "batch_size", "memory_bytes")
        other = [getattr(spec, axis) not in (None, getattr(place, axis)) for axis in axes]
        return *other, abs(vcpus_of(place) - vcpus)

    near = min((rate.configuration for rate in model.measured.rates), key=unlike)
    return replace(near, vcpus=vcpus, disk=spec.disk or near.disk, memory_bytes=spec.memory_bytes or near.memory_bytes)
