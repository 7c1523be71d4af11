"""The recommendation for every workload of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.model import Model, WorkloadModel
from sizer.recommend.answer import Question, answer
from sizer.recommend.cross_table import cross_table
from sizer.recommend.family import family
from sizer.recommend.shared_machine import shared_machine
from sizer.recommend.still_planned import StillPlanned
from sizer.recommend.which_gpu import which_gpu
from sizer.records.answer import Answer, Recommendation
from sizer.records.run import Run
from sizer.records.study import Objective


def recommend(
    model: Model,
    runs: Sequence[Run],
    objective: Objective,
    catalog: Catalog,
    *,
    machine: InstanceType | None = None,
    host_vcpus: float | None = None,
    most_batches: Mapping[str, int] | None = None,
    still_planned: Mapping[str, StillPlanned] | None = None,
) -> Recommendation:
    """The cheapest spec (or by the objective) for every workload of the model.

    `runs` are those the model was fitted to: an answer says what their warnings and their failures speak against it.
    It is compared with `machine`, or with the largest configuration measured; `host_vcpus` are those of the measuring
    host, where known: a run that asks for more needs a larger one. `most_batches` says of each workload whose largest
    batch was searched for up to which: that tells a search that ended there from one that was broken off.
    `still_planned` is by workload what the study's plan still has: that is measured before anything else.
    """
    offers = catalog.at_spot_prices() if objective.spot else catalog
    question = Question(objective, offers, machine, host_vcpus, most_batches, still_planned or {})
    own: dict[str, list[Run]] = {}
    for run in runs:
        own.setdefault(run.spec.workload.name, []).append(run)
    answers = [_with_gpus(each, question, own.get(each.name, [])) for each in model.workloads]
    shared = shared_machine(model.workloads, answers, offers)
    found = replace(family(answers), shared=shared)
    in_order = [run for each in model.workloads for run in own.get(each.name, [])]
    return Recommendation(objective, tuple(answers), found, cross_table(in_order))


def _with_gpus(model: WorkloadModel, question: Question, runs: Sequence[Run]) -> Answer:
    """The answer, and the accelerators that were asked about beside it."""
    found, asked = answer(model, question, runs), question.objective
    if not asked.gpus:
        return found
    return replace(found, gpus=which_gpu(model, runs, found, asked.gpus, question.catalog, asked.deadline, asked.spot))
