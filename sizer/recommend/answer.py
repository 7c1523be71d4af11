"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sizer.catalog import Catalog, InstanceType
from sizer.model import Trend, WhatIf, WorkloadModel, best_measured, predict
from sizer.recommend import edges as edge_words
from sizer.recommend.accelerators import accelerators_of, measured_accelerators, named, unpriced
from sizer.recommend.baselines import baseline_of, baseline_reasons
from sizer.recommend.beyond import look_beyond
from sizer.recommend.candidates import Candidate
from sizer.recommend.edges import Edges
from sizer.recommend.field import SURE, Judgement, allowed, choose, in_time, lay_out, lower_bound, runner_up, sold
from sizer.recommend.instances import matching
from sizer.recommend.jobs import beyond_in_time, job_on, job_reasons, too_late
from sizer.recommend.judgement import rounded
from sizer.recommend.next_run import for_host, next_run
from sizer.recommend.quality import Quality
from sizer.recommend.reasons import reasons
from sizer.recommend.rejections import SHOWN_BY_VCPUS, Verdict, rejections
from sizer.recommend.upgrades import smallest_upgrade, upgrade_reasons
from sizer.recommend.words import spec_in_words
from sizer.records import Answer, Bottleneck, Deadline, Objective, Prediction


@dataclass(frozen=True)
class Question:
    """What is asked of every workload: by which objective, from which catalogue, against which machine.

    `machine` None compares with the largest configuration measured; `host_vcpus` is how many the measuring host had.
    """

    objective: Objective
    catalog: Catalog
    machine: InstanceType | None = None
    host_vcpus: float | None = None


def answer(model: WorkloadModel, question: Question, quality: Quality) -> Answer:
    """The recommendation for one workload; refused where its model is, and where no spec is fast enough."""
    if model.refused or not model.members:
        found = _refused(model, quality)
    elif question.objective.deadline is not None:
        found = _in_time(model, question, question.objective.deadline, quality)
    else:
        found = _by_share(model, question, quality)
    return _placed(found, question.host_vcpus)


def _by_share(model: WorkloadModel, question: Question, quality: Quality) -> Answer:
    """By the share of the best throughput."""
    objective, catalog = question.objective, question.catalog
    best = best_measured(model)
    edges = edge_words.look(model, best.configuration, catalog)
    field = lay_out(model, best.configuration, objective, catalog)
    free = allowed(field, model, edges)
    chosen = (lower_bound(free) if edges.open and objective.prefer != "fastest" else None) or choose(free, objective)
    if edges.beyond:
        edges = replace(edges, beyond=look_beyond(model, chosen.candidate.stand, catalog))
    status = edges.status(chosen.candidate.stand, model, chosen.passes)
    said = edge_words.sentences(model, edges, chosen.candidate.stand, quality)
    found = _answered(model, question, quality, chosen, field, best, edges, said)
    unsure = objective.prefer != "fastest" and not chosen.passes
    return replace(
        found,
        status=status,
        probability=rounded(chosen.judged.probability),
        edge=edges.state(status),
        provisional=found.provisional or (status == "recommended" and unsure),
        runner_up=runner_up(free, chosen) if status == "recommended" else None,
        next_run=next_run(model, chosen.candidate, edges, quality, unsure=unsure),
        beyond=edges.beyond.prediction if edges.beyond else None,
    )


def _in_time(model: WorkloadModel, question: Question, deadline: Deadline, quality: Quality) -> Answer:
    """By a deadline; what lies above the most measured counts only where nothing measured is fast enough."""
    best = best_measured(model)
    edges = edge_words.look(model, best.configuration, question.catalog)
    field = lay_out(model, best.configuration, question.objective, question.catalog)
    free = sold(field)
    chosen = in_time(free)
    if chosen is None:
        return _too_late(model, question, deadline, quality, field, edges)
    found = _answered(model, question, quality, chosen, field, best, edges, [])
    stand, rate = chosen.candidate.stand, predict(model, chosen.candidate.stand).throughput
    job = job_on(model, chosen.candidate.spec, stand, rate, deadline, question.catalog)
    passing = [j for j in free if j.passes and j is not chosen]
    return replace(
        found,
        probability=job.probability,
        provisional=found.provisional or job.probability < SURE,
        reasons=(*job_reasons(model, job, found.provisional), *found.reasons),
        runner_up=min(passing, key=lambda j: j.usd_a_sample).candidate.spec if passing else None,
        next_run=next_run(model, chosen.candidate, edges, quality, in_time=True),
        job=job,
    )


def _too_late(
    model: WorkloadModel,
    question: Question,
    deadline: Deadline,
    quality: Quality,
    field: list[Judgement],
    edges: Edges,
) -> Answer:
    """A lower bound where the rate still rises: a larger machine may do. Else no machine is to be bought: refused."""
    likeliest = max(sold(field), key=lambda j: (j.judged.rate, -j.candidate.usd_per_hour))
    candidate = likeliest.candidate
    fastest = predict(model, candidate.stand)
    job = job_on(model, candidate.spec, candidate.stand, fastest.throughput, deadline, question.catalog)
    late = too_late(model, fastest, job, spec_in_words(candidate.spec, model))
    rising = edges.more_vcpus or edges.more_memory or edges.more_gpus
    advice = next_run(model, candidate, edges, quality)
    if not rising:
        doubts = [said.partition(";")[0] for said in edge_words.sentences(model, edges, candidate.stand, quality)]
        helps = HELPS.get(fastest.bottleneck, "")
        if fastest.bottleneck in SHOWN_BY_VCPUS and len(model.measured.vcpus) < 2:
            helps = "whether more vCPUs would help was not measured"
        told = (*late, *(doubts or [helps]), *_doubts(quality))
        return Answer(
            model.name, "refused", sample_unit=model.sample_unit, reasons=_said(told), next_run=advice, job=job
        )
    beyond = edges.beyond.prediction if edges.beyond else None
    told = (*late, *([beyond_in_time(beyond, deadline)] if beyond else []))
    said = [*told, *edge_words.sentences(model, edges, candidate.stand, quality)]
    found = _answered(model, question, quality, likeliest, field, fastest, edges, said)
    return replace(
        found, status="at_least", probability=job.probability, edge="rising", next_run=advice, beyond=beyond, job=job
    )


def _answered(
    model: WorkloadModel,
    question: Question,
    quality: Quality,
    chosen: Judgement,
    field: list[Judgement],
    best: Prediction,
    edges: Edges,
    first: list[str],
) -> Answer:
    """What every answer with a spec says of it."""
    candidate = chosen.candidate
    prediction = predict(model, candidate.stand, WhatIf())
    known = not _binding_unknown(edges, quality)
    verdict = Verdict(model, question.objective, best.configuration, field, chosen, bound=known)
    if verdict.bottleneck(prediction) is not prediction.bottleneck:
        verdict = replace(verdict, bound=False)
    bottleneck = verdict.bottleneck(prediction) if verdict.bound else Bottleneck.AMBIGUOUS
    upgrade = smallest_upgrade(model, candidate, field) if bottleneck is not Bottleneck.AMBIGUOUS else None
    baseline = baseline_of(model, candidate, prediction.throughput, question.catalog, question.machine)
    told = (
        *first,
        *_doubts(quality),
        *reasons(verdict, prediction, best),
        *(upgrade_reasons(model, candidate, prediction, upgrade) if bottleneck is not Bottleneck.AMBIGUOUS else ()),
        *_price_unknown(model, candidate, question.catalog),
        *baseline_reasons(model, baseline, candidate, question.machine),
        quality.failed,
    )
    batch_size, rate = candidate.stand.batch_size, prediction.throughput.value
    return Answer(
        workload=model.name,
        status="recommended",
        spec=candidate.spec,
        throughput=prediction.throughput,
        sample_unit=model.sample_unit,
        bottleneck=bottleneck,
        next_bottleneck=_next(prediction) if bottleneck is not Bottleneck.AMBIGUOUS else None,
        reasons=_said(told),
        rejected=rejections(verdict),
        instances=matching(model, candidate.spec, batch_size, rate, question.catalog),
        provisional=quality.rests_on_doubt(candidate.stand),
        headroom=prediction.headroom if bottleneck is not Bottleneck.AMBIGUOUS else None,
        upgrade=upgrade,
        baseline=baseline,
    )


def _price_unknown(model: WorkloadModel, candidate: Candidate, catalog: Catalog) -> list[str]:
    """Where several accelerators were measured and the price of this one is not known, it counted as the dearest."""
    kind, device = accelerators_of(candidate.stand), model.facts.device
    if len(measured_accelerators(model)) < 2 or not unpriced(catalog, device, kind):
        return []
    return [f"the catalogue has no price of {named(kind, device)}: whether it is the cheapest is not known"]


def _said(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in parts if part)


def _doubts(quality: Quality) -> list[str]:
    return [f"{quality.warning}; repeat them {quality.remedy}"] if quality.warning else []


def _refused(model: WorkloadModel, quality: Quality) -> Answer:
    reason = model.refused or "nothing was fitted"
    _, _, advice = reason.rpartition("; ")
    floor = model.measured.search.told() if model.measured.search else ""
    told = _said((reason, floor, quality.failed))
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=told, next_run=advice)


def _placed(found: Answer, host_vcpus: float | None) -> Answer:
    """The advice says where it needs another host; where a reason gives it, too, there as well."""
    if found.next_run is None:
        return found
    advice = for_host(found.next_run, host_vcpus)
    told = tuple(reason.replace(found.next_run, advice) for reason in found.reasons)
    return replace(found, next_run=advice, reasons=told)


def _binding_unknown(edges: Edges, quality: Quality) -> bool:
    """Runs that something disturbed cannot tell a busy CPU from a serial part where the curve bends."""
    return edges.vcpus.trend is Trend.UNSETTLED and quality.poor


def _next(prediction: Prediction) -> Bottleneck | None:
    """What would bind if the present bottleneck were relieved: the second largest share, where there is one."""
    shares = sorted(prediction.shares.items(), key=lambda item: item[1], reverse=True)
    if len(shares) < 2 or shares[1][1] < 1e-4:
        return None
    return Bottleneck(shares[1][0])


HELPS = {
    Bottleneck.CPU: "more vCPUs do not help there, as the rate no longer rises with them: a cheaper decoder would",
    Bottleneck.SERIAL: "more vCPUs do not help there: the part of the job that uses one core is to become faster",
    Bottleneck.DISK_BANDWIDTH: "what would help is a disk of more MB/s",
    Bottleneck.DISK_IOPS: "what would help is a disk of more IOPS, or larger reads",
    Bottleneck.DISK_WRITE: "what would help is a disk that writes faster",
    Bottleneck.ACCELERATOR: "what would help is a faster accelerator, or more of them",
    Bottleneck.MEMORY: "what would help is more memory",
}
"""Of a job that is too slow at the top of what was measured."""
