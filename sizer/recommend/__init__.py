"""Pure: Model x catalogue x Objective -> Recommendation, with the reasons and the rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog import Catalog
from sizer.model import Model
from sizer.recommend.family import family
from sizer.records import Objective, Outcome, Recommendation, Run

__all__ = ["recommend"]


def recommend(model: Model, runs: Sequence[Run], objective: Objective, catalog: Catalog) -> Recommendation:
    """The cheapest spec (or by the objective) for every workload of the model.

    `runs` are those the model was fitted to: an answer says how many of them failed without telling why.
    """
    from sizer.recommend.answer import answer

    answers = []
    for workload in model.workloads:
        found = answer(workload, objective, catalog)
        failed = _failed([run for run in runs if run.spec.workload.name == workload.name])
        answers.append(replace(found, reasons=(*found.reasons, failed)) if failed else found)
    return Recommendation(objective, tuple(answers), family(answers))


def _failed(runs: Sequence[Run]) -> str:
    telling = (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY)
    failed = [run.outcome for run in runs if run.outcome not in telling]
    if not failed:
        return ""
    kinds = ", ".join(f"{failed.count(outcome)} {outcome.value}" for outcome in Outcome if outcome in failed)
    return f"{len(failed)} of {len(runs)} runs gave no rate ({kinds})"
