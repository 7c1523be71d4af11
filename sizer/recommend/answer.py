"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel
from sizer.model.edge import Trend
from sizer.recommend import edges as edge_words
from sizer.recommend.edges import Edges
from sizer.recommend.field import allowed, choose, lay_out, lower_bound, runner_up
from sizer.recommend.instances import matching
from sizer.recommend.next_run import next_run
from sizer.recommend.quality import Quality
from sizer.recommend.reasons import reasons
from sizer.recommend.rejections import Verdict, rejections
from sizer.records import Answer, Bottleneck, Objective, Prediction


def answer(model: WorkloadModel, objective: Objective, catalog: Catalog, quality: Quality) -> Answer:
    """The recommendation for one workload; refused where its model is."""
    if model.refused or not model.members:
        return _refused(model, quality)
    best = model.best()
    stand = best.configuration
    edges = edge_words.look(model, stand, catalog)
    field = lay_out(model, stand, objective, catalog)
    free = allowed(field, model, edges)
    chosen = (lower_bound(free) if edges.open and objective.prefer != "fastest" else None) or choose(free, objective)
    prediction = model.predict(chosen.candidate.stand, WhatIf())
    verdict = Verdict(model, objective, stand, field, chosen, bound=not _binding_unknown(edges, quality))
    bottleneck = prediction.bottleneck if verdict.bound else Bottleneck.AMBIGUOUS
    spec, status = chosen.candidate.spec, edges.status(chosen.candidate.stand, model, chosen.passes)
    return Answer(
        workload=model.name,
        status=status,
        spec=spec,
        throughput=prediction.throughput,
        sample_unit=model.sample_unit,
        probability=round(chosen.judged.probability, 3),
        bottleneck=bottleneck,
        next_bottleneck=_next(prediction) if bottleneck is not Bottleneck.AMBIGUOUS else None,
        reasons=tuple(
            part
            for part in (
                *edge_words.sentences(model, edges, chosen.candidate.stand, quality),
                f"{quality.warning}; repeat them {quality.remedy}" if quality.warning else "",
                *reasons(verdict, prediction, best),
                quality.failed,
            )
            if part
        ),
        rejected=rejections(verdict),
        runner_up=runner_up(free, chosen) if status == "recommended" else None,
        next_run=next_run(model, chosen.candidate, edges, quality),
        instances=matching(model, spec, stand.batch_size, prediction.throughput.value, catalog),
        beyond=edges.beyond.prediction if edges.beyond else None,
    )


def _refused(model: WorkloadModel, quality: Quality) -> Answer:
    reason = model.refused or "nothing was fitted"
    _, _, advice = reason.rpartition("; ")
    floor = model.measured.search.told() if model.measured.search else ""
    reasons = tuple(part for part in (reason, floor, quality.failed) if part)
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=reasons, next_run=advice)


def _binding_unknown(edges: Edges, quality: Quality) -> bool:
    """Runs that something disturbed cannot tell a busy CPU from a serial part where the curve bends."""
    return edges.vcpus.trend is Trend.UNSETTLED and quality.poor


def _next(prediction: Prediction) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the second largest share, where there is one."""
    shares = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    if len(shares) < 2 or shares[1][1] < 1e-4:
        return None
    return Bottleneck(shares[1][0])
