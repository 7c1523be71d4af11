"""The recommendation for every workload of a study: an answer for each, what its work costs on each machine, and a
family of shapes for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.model.model import Model, WorkloadModel
from sizer.model.runs import labelled
from sizer.recommend.accelerators import which_gpu
from sizer.recommend.answer import Question, answer, case_of
from sizer.recommend.case import Case
from sizer.recommend.costs import cost_table
from sizer.recommend.cross_table import cross_table
from sizer.recommend.edges import StillPlanned
from sizer.recommend.family.choice import family_of
from sizer.recommend.family.fleet import Work, fleet_of
from sizer.recommend.rule import table_of_sizes
from sizer.records.answer import Answer, Recommendation
from sizer.records.family import Family
from sizer.records.messages import NoAnswer
from sizer.records.run import Run
from sizer.records.study import Objective


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
    in_order = [run for workload in model.workloads for run in own[workload.name]]
    own |= {one.name: labelled(own[one.name]) for one in model.workloads if one.facts.devices}
    cases = [case_of(workload, question, own[workload.name]) for workload in model.workloads]
    pairs = list(zip(model.workloads, cases, strict=True))
    answers = [_whole(model, question, own[model.name], _on_sold_types(case), catalog) for model, case in pairs]
    works = [Work(workload.name, workload, case) for workload, case in pairs]
    return Recommendation(objective, tuple(answers), _family(works, offers), cross_table(in_order))


def _family(works: Sequence[Work], catalog: Catalog) -> Family:
    """The fewest shapes that keep each of several workloads within the usual penalty; empty for fewer, or where prices
    do not say what a shape costs."""
    with suppress(NoAnswer):
        fleet = fleet_of(works if len(works) > 1 else (), catalog)
        return family_of(fleet) if len(fleet.works) > 1 else Family()
    return Family()


def _on_sold_types(case: Case | Answer) -> Case | Answer:
    """Where a rate is asked of a size and it is known how fast the host was: the case of the instance types of these
    sizes, by their own rates; else the case as it is, by rates here."""
    if isinstance(case, Answer) or case.objective.rate is None or case.objective.latency_p99 is not None:
        return case
    there, types = case.sold
    if not types:
        return case
    here, fastest = case.choice.chosen, max(case.candidates, key=lambda one: one.rate)
    best = case.best or fastest.place
    table = table_of_sizes(there, types, best, case.objective)
    vcpus = None if here is None else here.candidate.spec.vcpus
    return replace(case, model=there, table=table, best=best, best_rate=case.best_rate or fastest.rate, here=vcpus)


def _whole(
    model: WorkloadModel, question: Question, runs: Sequence[Run], case: Case | Answer, catalog: Catalog
) -> Answer:
    """The answer, with the accelerators that were asked about beside it, and what the work costs on each machine."""
    given = answer(model, question, runs, case)
    given = replace(given, gpus=which_gpu(model, runs, given, question.objective, question.catalog))
    types = () if isinstance(case, Answer) or case.table.of_machines else case.sold[1]
    return replace(given, costs=cost_table(model, runs, given, question, catalog, types))
