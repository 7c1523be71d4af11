"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sizer.catalog import Catalog, InstanceType
from sizer.model import WhatIf, WorkloadModel, best_measured, few_values, predict
from sizer.recommend import events
from sizer.recommend.accelerator_counts import accelerator_counts
from sizer.recommend.accelerators import accelerators_of
from sizer.recommend.baselines import baseline_of, baseline_reasons
from sizer.recommend.batch_sizes import with_batch
from sizer.recommend.beyond import look_beyond
from sizer.recommend.candidates import Candidate
from sizer.recommend.edges import Edges, edge_reasons, edges_of, noisy
from sizer.recommend.emulated_rate import with_rate_of_emulated
from sizer.recommend.field import (
    ScoredCandidate,
    allowed,
    choose,
    in_time,
    likeliest,
    lower_bound,
    runner_up,
    score_candidates,
    sold,
)
from sizer.recommend.instances import matching
from sizer.recommend.jobs import beyond_in_time, job_on, job_reasons, too_late
from sizer.recommend.machine_prices import gpu_gone
from sizer.recommend.machines import Machine
from sizer.recommend.measured_answer import machines_to_compare, measured_answer
from sizer.recommend.measured_choice import MeasuredChoice
from sizer.recommend.measured_reasons import retired_reason
from sizer.recommend.memory import floor_found
from sizer.recommend.memory_sizes import few_memory_caps
from sizer.recommend.next_run import for_host, next_run
from sizer.recommend.options import options
from sizer.recommend.other_inputs import step_rates
from sizer.recommend.quality import Quality, quality_of
from sizer.recommend.reasons import beside_others, next_bottleneck, reasons
from sizer.recommend.rejections import Choice, rejections
from sizer.recommend.scoring import exceeds, rounded
from sizer.recommend.settling import Margin, once_more
from sizer.recommend.still_planned import StillPlanned, as_planned
from sizer.recommend.thresholds import SURE
from sizer.recommend.upgrades import smallest_upgrade, upgrade_reasons
from sizer.records import (
    RELATIVE,
    Action,
    Answer,
    Bottleneck,
    Estimate,
    Event,
    InstanceOffer,
    Job,
    Objective,
    Prediction,
    Reason,
    ReasonCode,
    Refusal,
    Run,
    Suggestion,
    reason,
)

OF_VCPUS = (Bottleneck.CPU, Bottleneck.SERIAL, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS)
"""What runs at one number of vCPUs do not tell apart."""


@dataclass(frozen=True)
class Question:
    """What is asked of every workload: by which objective, from which catalogue, against which machine.

    `machine` None compares with the largest configuration measured; `host_vcpus` is how many the measuring host had;
    `most_batches` the largest batch that the search of a workload was to try, `still_planned` what the study's plan
    still has of it.
    """

    objective: Objective
    catalog: Catalog
    machine: InstanceType | None = None
    host_vcpus: float | None = None
    most_batches: Mapping[str, int] | None = None
    still_planned: Mapping[str, StillPlanned] = field(default_factory=dict)


def answer(model: WorkloadModel, question: Question, runs: Sequence[Run]) -> Answer:
    """The recommendation for one workload from its model and its runs.

    Refused where nothing can be compared and its model is refused, and where no spec is fast enough.
    """
    quality = quality_of(runs)
    objective, catalog = question.objective, question.catalog
    machines = machines_to_compare(model, runs, objective, catalog)
    if objective.rate is not None and quality.mistold is not None:
        found = Answer(model.name, "refused", sample_unit=model.sample_unit)
    elif objective.rate is not None and model.sample_unit == RELATIVE:
        found = _without_answer(model, quality, ReasonCode.RELATIVE_HAS_NO_TIME)
    elif machines:
        found = _of_machines(model, question, quality, machines, runs)
    elif objective.latency_p99 is not None:
        found = _without_answer(model, quality, ReasonCode.LATENCY_NOT_MEASURED)
    elif model.refused or model.posterior is None:
        found = _refused(model, quality)
    elif objective.rate is not None:
        found = _fast_enough(model, question, objective.rate, quality)
    else:
        found = _by_share(model, question, quality)
    compared = accelerator_counts(model, runs)
    found = replace(found, accelerator_counts=compared.counts, accelerator_counts_missing=compared.missing)
    found = with_rate_of_emulated(found, model, runs, objective)
    if quality.mistold is not None:
        found = _in_doubt(found, quality.mistold)
    if quality.mixed is not None and found.spec is not None:
        found = _of_several_jobs(found, quality.mixed)
    found = with_batch(found, model, runs, (question.most_batches or {}).get(model.name, 0))
    if found.next_run is None:
        return found
    left = question.still_planned.get(model.name, StillPlanned())
    advice = as_planned(found.next_run, left, model.measured, runs)
    return replace(found, next_run=for_host(advice, question.host_vcpus))


def _of_machines(
    model: WorkloadModel, question: Question, quality: Quality, machines: Sequence[Machine], runs: Sequence[Run]
) -> Answer:
    """One of those measured that can be rented; refused where none can, or none of a known latency that is asked of."""
    retired = tuple(each for each in machines if each.retired is not None)
    sold = tuple(each for each in machines if each.retired is None)
    if not sold or (question.objective.latency_p99 is not None and all(each.latency_p99 is None for each in sold)):
        why = (retired_reason(ReasonCode.ALL_RETIRED, retired), *_known(quality.failed))
        return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=why)
    asked = (question.objective, question.catalog, quality, sold, retired, question.machine, step_rates(runs))
    return measured_answer(MeasuredChoice(model, *asked))


def _by_share(model: WorkloadModel, question: Question, quality: Quality) -> Answer:
    """By the share of the best throughput."""
    objective, catalog = question.objective, question.catalog
    best = best_measured(model)
    edges = edges_of(model, best.configuration, catalog)
    field = score_candidates(model, best.configuration, objective, catalog)
    free = allowed(field, model, edges)

    def taken(wanted: Objective) -> ScoredCandidate:
        return (lower_bound(free) if edges.open and wanted.prefer != "fastest" else None) or choose(free, wanted)

    chosen = taken(objective)
    if edges.beyond:
        edges = replace(edges, beyond=look_beyond(model, chosen.candidate.configuration, catalog))
    status = edges.status(chosen.candidate.configuration, model, chosen.passes)
    said = edge_reasons(model, edges, chosen.candidate.configuration)
    found = _answered(model, question, quality, chosen, field, best, edges, said)
    unsure = objective.prefer != "fastest" and not chosen.passes
    margin = Margin(chosen.candidate.configuration, best.configuration, objective.target)
    return replace(
        found,
        status=status,
        **_sureness(field, chosen, status),
        edge=edges.state(status),
        provisional=found.provisional or (status == "recommended" and unsure),
        runner_up=runner_up(free, chosen) if status == "recommended" else None,
        next_run=next_run(model, chosen.candidate, edges, quality, margin=margin if unsure else None),
        beyond=edges.beyond.prediction if edges.beyond else None,
        options=options(model, objective, catalog, taken),
    )


def _sureness(field: Sequence[ScoredCandidate], chosen: ScoredCandidate, status: str) -> dict[str, Any]:
    """The probability and what it is that of.

    Of a lower bound it is not that it reaches the target: the best is not known, and the most measured reaches that of
    the best measured for sure.
    """
    if status != "at_least":
        return events.known(chosen.score.probability, Event.REACHES_TARGET)
    taken = chosen.candidate.spec
    chances = [(j.candidate.spec, j.score.probability) for j in sold(field)]
    return events.less_too_little(chances, taken) or events.UNKNOWN


def _fast_enough(model: WorkloadModel, question: Question, needed: float, quality: Quality) -> Answer:
    """By a rate that is asked for, as a deadline does; what lies above the most measured counts only where nothing
    measured is fast enough. A rate that is likely given is so provisionally; a job that is likely in time is not."""
    best = best_measured(model)
    edges = edges_of(model, best.configuration, question.catalog)
    field = score_candidates(model, best.configuration, question.objective, question.catalog)
    free = sold(field)
    chosen = in_time(free)
    if chosen is None and question.objective.deadline is None:
        chosen = likeliest(free)
    if chosen is None:
        return _too_slow(model, question, needed, quality, field, edges)
    unclear = [each for each in edge_reasons(model, edges, chosen.candidate.configuration) if each.has("off")]
    found = _answered(model, question, quality, chosen, field, best, edges, unclear)
    rate = predict(model, chosen.candidate.configuration).throughput
    job = _job(model, question, chosen.candidate, rate)
    probability = rounded(chosen.score.probability)
    enough = [reason(ReasonCode.FAST_ENOUGH, rate=rate.value, needed=needed, probability=probability)]
    passing = [j for j in free if j.passes and j is not chosen]
    return replace(
        found,
        status="recommended",
        edge="settled",
        probability=probability,
        probability_of=events.of_rate(question.objective),
        provisional=found.provisional or probability < SURE,
        reasons=(*(job_reasons(job, found.provisional) if job else enough), *found.reasons),
        runner_up=min(passing, key=lambda j: j.usd_a_sample).candidate.spec if passing else None,
        next_run=next_run(model, chosen.candidate, edges, quality, in_time=True)
        if chosen.passes
        else once_more(chosen.candidate.spec),
        job=job,
    )


def _job(model: WorkloadModel, question: Question, candidate: Candidate, rate: Estimate) -> Job | None:
    """The job of the deadline on this spec; None where no deadline is asked for."""
    deadline = question.objective.deadline
    if deadline is None:
        return None
    return job_on(model, candidate.spec, candidate.configuration, rate, deadline, question.catalog)


def _too_slow(
    model: WorkloadModel,
    question: Question,
    needed: float,
    quality: Quality,
    field: list[ScoredCandidate],
    edges: Edges,
) -> Answer:
    """A lower bound where the rate still rises: a larger machine may do. Else no machine is recommended: refused."""
    best = max(sold(field), key=lambda j: (j.score.rate, -j.candidate.usd_per_hour))
    candidate = best.candidate
    fastest = predict(model, candidate.configuration)
    job = _job(model, question, candidate, fastest.throughput)
    probability = rounded(exceeds(fastest.throughput, needed))
    short = Reason(
        ReasonCode.NO_MACHINE_ENOUGH,
        {"rate": fastest.throughput.value, "needed": needed, "probability": probability},
        candidate.spec,
    )
    late = too_late(fastest, job, candidate.spec) if job else [short]
    rising = edges.more_vcpus or edges.more_memory
    advice = next_run(model, candidate, edges, quality)
    if not rising:
        said = edge_reasons(model, edges, candidate.configuration)
        doubts = [each for each in said if each.code is not ReasonCode.SIZE_OPEN]
        help_ = [reason(ReasonCode.WOULD_HELP, bottleneck=fastest.bottleneck.value)]
        if len(model.measured.vcpus) < 2 and fastest.bottleneck in OF_VCPUS:
            help_ = [reason(ReasonCode.MORE_VCPUS_NOT_MEASURED)]
        elif fastest.bottleneck is Bottleneck.AMBIGUOUS and fastest.shares:
            help_ = []
        why = (*late, *beside_others(model, fastest, quality), *(doubts or help_), *_known(quality.warning))
        return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=why, next_run=advice, job=job)
    beyond, deadline = edges.beyond.prediction if edges.beyond else None, question.objective.deadline
    above = [beyond_in_time(beyond, deadline)] if beyond and deadline else []
    said = [*late, *above, *edge_reasons(model, edges, candidate.configuration)]
    found = _answered(model, question, quality, best, field, fastest, edges, said)
    return replace(
        found,
        status="at_least",
        probability=probability,
        probability_of=events.of_rate(question.objective),
        edge="rising",
        next_run=advice,
        beyond=beyond,
        job=job,
    )


def _answered(
    model: WorkloadModel,
    question: Question,
    quality: Quality,
    chosen: ScoredCandidate,
    field: list[ScoredCandidate],
    best: Prediction,
    edges: Edges,
    first: list[Reason],
) -> Answer:
    """What every answer with a spec says of it."""
    candidate = chosen.candidate
    prediction = predict(model, candidate.configuration, WhatIf())
    known = not _binding_unknown(model, edges)
    choice = Choice(model, question.objective, best.configuration, field, chosen, question.catalog, bound=known)
    told = choice if prediction.shares else replace(choice, bound=False)
    bottleneck = prediction.bottleneck if told.bound else Bottleneck.AMBIGUOUS
    upgrade = smallest_upgrade(model, candidate, field) if bottleneck is not Bottleneck.AMBIGUOUS else None
    baseline = baseline_of(model, candidate, prediction.throughput, question.catalog, question.machine)
    beside = baseline_reasons(baseline, candidate, question.machine)
    batch_size, rate = candidate.configuration.batch_size, prediction.throughput.value
    offers = matching(model, candidate.spec, batch_size, rate, question.catalog)
    why = (
        *(beside if question.machine is not None else ()),
        *first,
        *([reason(ReasonCode.ONLY_MEASURED_SIZES)] if few_values(model.measured) else ()),
        *_known(quality.lower_bounds),
        *_known(quality.warning),
        *beside_others(model, prediction, quality),
        *reasons(told, prediction, best),
        *(upgrade_reasons(prediction, upgrade) if bottleneck is not Bottleneck.AMBIGUOUS else ()),
        *(beside if question.machine is None else ()),
        *(_spot(offers) if question.objective.spot else ()),
        *_known(_gpu_gone(model, candidate, question)),
        *_known(quality.failed),
    )
    return Answer(
        workload=model.name,
        status="recommended",
        spec=candidate.spec,
        throughput=prediction.throughput,
        sample_unit=model.sample_unit,
        bottleneck=bottleneck,
        next_bottleneck=next_bottleneck(prediction, bottleneck),
        reasons=why,
        rejected=rejections(choice),
        instances=offers,
        provisional=quality.rests_on_doubt(candidate.configuration) or few_values(model.measured),
        headroom=prediction.headroom if bottleneck is not Bottleneck.AMBIGUOUS else None,
        upgrade=upgrade,
        baseline=baseline,
    )


def _gpu_gone(model: WorkloadModel, candidate: Candidate, question: Question) -> Reason | None:
    gpu = accelerators_of(candidate.configuration).catalog_name(model.facts.device)
    return None if gpu is None else gpu_gone(gpu, question.catalog, question.objective.spot)


def _spot(offers: Sequence[InstanceOffer]) -> list[Reason]:
    """What there is to know of the prices; nothing where no machine of the catalogue holds the spec."""
    if not offers:
        return []
    known = any(each.usd_per_hour is not None for each in offers)
    return [reason(ReasonCode.SPOT_PRICES if known else ReasonCode.NO_SPOT_PRICES)]


def _known(found: Reason | None) -> tuple[Reason, ...]:
    return () if found is None else (found,)


def _refused(model: WorkloadModel, quality: Quality) -> Answer:
    refusal = model.refused or Refusal(reason(ReasonCode.NOT_FITTED))
    search = model.measured.search
    floor = floor_found(search) if search is not None else None
    why = (refusal.reason, *_known(floor), *few_memory_caps(model), *_known(quality.failed))
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=why, next_run=refusal.suggestion)


def _without_answer(model: WorkloadModel, quality: Quality, code: ReasonCode) -> Answer:
    why = (reason(code), *_known(quality.failed))
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=why)


def _in_doubt(found: Answer, mistold: Reason) -> Answer:
    """The answer from rates that are known to be wrong: how specs compare, without what a sample costs."""
    correct = Suggestion(Action.REPEAT, repeat_how=mistold.text("correct"))
    return replace(
        found,
        provisional=found.spec is not None,
        rate_in_doubt=True,
        reasons=(mistold, *found.reasons),
        instances=tuple(replace(each, usd_per_million_samples=None) for each in found.instances),
        alternatives=tuple(replace(each, usd_per_million_samples=None) for each in found.alternatives),
        options=tuple(replace(each, usd_per_million_samples=None) for each in found.options),
        next_run=correct,
    )


def _of_several_jobs(found: Answer, mixed: Reason) -> Answer:
    """The answer from rows that may be of several jobs: until they are told apart it says nothing for sure."""
    columns = mixed.texts("columns")
    return replace(
        found,
        provisional=True,
        reasons=(mixed, *found.reasons),
        next_run=Suggestion(Action.IMPORT, job_by=columns[0]),
    )


def _binding_unknown(model: WorkloadModel, edges: Edges) -> bool:
    """Runs that move by more than is at stake cannot tell a busy CPU from a serial part where the curve bends."""
    return edges.open and noisy(model)
