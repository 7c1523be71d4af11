"""Pure: Model x catalogue x Objective -> Recommendation, with the reasons and the rejected."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.catalog import Catalog
from sizer.model import Model
from sizer.recommend.family import family
from sizer.recommend.quality import quality_of
from sizer.records import Objective, Recommendation, Run

__all__ = ["recommend"]


def recommend(model: Model, runs: Sequence[Run], objective: Objective, catalog: Catalog) -> Recommendation:
    """The cheapest spec (or by the objective) for every workload of the model.

    `runs` are those the model was fitted to: an answer says what their warnings and their failures speak against it.
    """
    from sizer.recommend.answer import answer

    answers = [
        answer(workload, objective, catalog, quality_of([r for r in runs if r.spec.workload.name == workload.name]))
        for workload in model.workloads
    ]
    return Recommendation(objective, tuple(answers), family(answers))
