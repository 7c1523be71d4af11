"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.advice import few_values
from sizer.model.edge import best_measured
from sizer.model.model import WorkloadModel
from sizer.recommend.accelerator_counts import accelerator_counts
from sizer.recommend.alternatives import alternatives
from sizer.recommend.baselines import baseline_of, baseline_reasons
from sizer.recommend.batch_sizes import with_batch
from sizer.recommend.case import Case, on_curve
from sizer.recommend.edges import Edges, bound_probability, edge_reasons, edges_of, larger_to_measure, noisy
from sizer.recommend.instances import matching, offers
from sizer.recommend.jobs import beyond_in_time, job_of, too_late
from sizer.recommend.machines import machines_to_compare
from sizer.recommend.memory import floor_found
from sizer.recommend.memory_sizes import few_memory_caps
from sizer.recommend.next_run import for_host, next_run
from sizer.recommend.other_inputs import step_rates
from sizer.recommend.quality import Quality, quality_of
from sizer.recommend.reasons import binding, doubts, of_million, retired_reason, step_emulated, surely, why
from sizer.recommend.rejections import rejections
from sizer.recommend.sizes import sizes_on_curve
from sizer.recommend.still_planned import StillPlanned, as_planned
from sizer.recommend.table import LIKELY, Row, choose, rounded, table_of_machines, table_of_sizes
from sizer.recommend.upgrades import smallest_upgrade, upgrade_reasons
from sizer.records.answer import Answer, Event, Option
from sizer.records.configuration import Bottleneck
from sizer.records.domains import Preference
from sizer.records.prediction import Action, Reason, ReasonCode, Refusal, Suggestion, reason
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import RELATIVE

PREFERENCES: tuple[Preference, ...] = ("cheapest", "balanced", "fastest")


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
    found = _found(model, question, quality, runs)
    compared = accelerator_counts(model, runs)
    found = replace(found, accelerator_counts=compared.counts, accelerator_counts_missing=compared.missing)
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


def _found(model: WorkloadModel, question: Question, quality: Quality, runs: Sequence[Run]) -> Answer:
    objective, catalog = question.objective, question.catalog
    if objective.rate is not None and quality.mistold is not None:
        return _refused(model, ())
    if objective.rate is not None and model.sample_unit == RELATIVE:
        return _refused(model, (reason(ReasonCode.RELATIVE_HAS_NO_TIME), *_known(quality.failed)))
    machines = machines_to_compare(model, runs, objective, catalog)
    if machines:
        sold = tuple(each for each in machines if each.retired is None)
        gone = tuple(each for each in machines if each.retired is not None)
        if not sold or (objective.latency_p99 is not None and all(each.latency_p99 is None for each in sold)):
            return _refused(model, (retired_reason(gone, everything=True), *_known(quality.failed)))
        table = table_of_machines(sold, objective, model if on_curve(model, sold) else None)
        inputs = step_rates(runs)
        return _answered(Case(model, objective, catalog, quality, table, None, 0.0, gone, question.machine, inputs))
    if objective.latency_p99 is not None:
        return _refused(model, (reason(ReasonCode.LATENCY), *_known(quality.failed)))
    if model.refused or model.posterior is None:
        return _without_model(model, quality)
    best = best_measured(model)
    sizes = sizes_on_curve(model, catalog, best.configuration.batch_size, rented=objective.rate is not None)
    sizes = [each for each in sizes if each.exists] or sizes
    table, rate = table_of_sizes(model, sizes, best.configuration, objective), best.throughput.value
    return _answered(Case(model, objective, catalog, quality, table, best.configuration, rate, (), question.machine))


def _answered(case: Case) -> Answer:
    """What is chosen, or that nothing is fast enough."""
    chosen = case.choice.chosen
    if chosen is None:
        return _none_is_enough(case)
    edges = edges_of(case, chosen.candidate) if case.objective.rate is None else Edges()
    probability = rounded(case.choice.probability * (1 - edges.in_gap))
    state = edges.state(chosen)
    found = _described(case, chosen, edges, probability)
    event = case.choice.event
    if state != "settled":
        in_memory = not case.table.of_machines or edges.memory.rises or edges.memory.is_open
        bound = bound_probability(case, chosen.candidate, in_memory)
        told: tuple[float | None, Event | None] = (None, None)
        if bound is not None and not edges.gpus.rises:
            told = (rounded(bound[0] * (1 - edges.in_gap)), bound[1])
    else:
        told = (probability, event) if len(case.candidates) > 1 or case.objective.rate is not None else (None, None)
    doubtful = state == "settled" and not surely(probability) and case.objective.counts != "fastest"
    return replace(
        found,
        status="recommended" if state == "settled" else "at_least",
        edge=state,
        probability=told[0],
        probability_of=told[1],
        provisional=found.provisional or doubtful,
        next_run=next_run(case, edges, chosen, probability),
    )


def _described(case: Case, chosen: Row, edges: Edges, probability: float) -> Answer:
    """What every answer with a spec says of it."""
    model, taken, of_machines = case.model, chosen.candidate, case.table.of_machines
    known = _binding_known(model, edges)
    bound = binding(case, taken, known)
    here, batch = bound.prediction, taken.place.batch_size
    named_one = bound.bottleneck not in (None, Bottleneck.AMBIGUOUS) and here is not None and not of_machines
    upgrade = smallest_upgrade(case, taken, here) if named_one and here is not None else None
    baseline = baseline_of(case, taken)
    beside = [] if of_machines else baseline_reasons(baseline, taken, case.machine)
    first = case.machine is not None
    few = not of_machines and few_values(model.measured)
    others = case.choice.others
    return Answer(
        workload=model.name,
        status="recommended",
        spec=taken.spec,
        throughput=taken.throughput,
        sample_unit=model.sample_unit,
        bottleneck=bound.bottleneck,
        next_bottleneck=bound.next_bottleneck,
        headroom=bound.headroom,
        reasons=(
            *(beside if first else ()),
            *edge_reasons(case, edges, taken),
            *([reason(ReasonCode.ONLY_MEASURED_SIZES)] if few else ()),
            *why(case, chosen, bound, probability),
            *(upgrade_reasons(here, upgrade) if named_one and here is not None else ()),
            *(() if first else beside),
            *doubts(case, taken),
        ),
        rejected=rejections(case, chosen, known),
        runner_up=next((each.candidate.spec for each in others if _is_another(model, each, chosen)), None),
        instances=offers(taken, model, case.catalog)
        if of_machines
        else matching(model, taken.spec, batch, taken.rate, case.catalog),
        beyond=edges.beyond.prediction if edges.beyond else None,
        provisional=_is_doubtful(case, chosen) or few,
        upgrade=upgrade,
        baseline=baseline,
        job=None if case.objective.deadline is None else job_of(chosen, case.objective.deadline),
        alternatives=alternatives(case.candidates, model.sample_unit) if of_machines else (),
        options=_options(case),
    )


def _binding_known(model: WorkloadModel, edges: Edges) -> bool:
    """Whether the runs move by less than is at stake."""
    return not (edges.is_open and noisy(model))


def _is_another(model: WorkloadModel, row: Row, chosen: Row) -> bool:
    """Whether it differs by more than memory that makes no difference."""
    same = replace(row.candidate.spec, memory_bytes=chosen.candidate.spec.memory_bytes) == chosen.candidate.spec
    return model.memory_counts or not same or row.candidate.rented is not None


def _is_doubtful(case: Case, chosen: Row) -> bool:
    """Whether its own runs speak against relying on it, or prices that are not known could make another the answer."""
    if case.quality.rests_on_doubt(chosen.candidate.place) or case.slips:
        return True
    if not case.table.of_machines:
        return False
    unpriced = [each for each in case.candidates if each.usd_per_hour is None]
    if len(case.candidates) == 1 or (case.objective.spot and unpriced):
        return True
    if case.objective.counts == "fastest":
        return False
    if chosen.candidate.usd_per_hour is not None:
        return len(case.candidates) - len(unpriced) == 1
    kinds = {row.candidate.kind for row in case.table.rows if row.passes}
    return len(unpriced) < len(case.candidates) or len(kinds) > 1


def _options(case: Case) -> tuple[Option, ...]:
    """What the cheapest, the balanced and the fastest choice would be; nothing where a rate is asked for."""
    if case.objective.rate is not None:
        return ()
    found: dict[object, Option] = {}
    for preference in PREFERENCES:
        choice = choose(replace(case.table, objective=replace(case.objective, prefer=preference)))
        if choice.chosen is None:
            continue
        each = choice.chosen.candidate
        usd = case.usd_per_hour(each)
        priced = replace(each, usd_per_hour=usd)
        bottleneck = binding(case, each, True).bottleneck
        option = Option(
            preferences=(preference,),
            spec=each.spec,
            throughput=each.throughput,
            probability=rounded(choice.probability),
            bottleneck=None if bottleneck is Bottleneck.AMBIGUOUS else bottleneck,
            instance_type=each.name,
            usd_per_hour=usd,
            usd_per_million_samples=of_million(priced, case),
        )
        key = each.spec, each.name, each.throughput
        before = found.get(key)
        found[key] = option if before is None else replace(before, preferences=(*before.preferences, preference))
    return tuple(found.values())


def _none_is_enough(case: Case) -> Answer:
    """Nothing measured gives what is asked for: a lower bound where the rate still rises, else refused."""
    row, objective = case.choice.likeliest, case.objective
    elsewhere = objective.latency_p99 is not None and any(each.probability >= LIKELY for each in case.table.rows)
    if row is None or objective.rate is None or elsewhere:
        return _refused(case.model, tuple(_not_prompt(case)))
    job = None if objective.deadline is None else job_of(row, objective.deadline)
    edges = edges_of(case, row.candidate)
    bottleneck = binding(case, row.candidate, _binding_known(case.model, edges)).bottleneck
    late = too_late(job, row, bottleneck and bottleneck.value) if job else _short(case, row)
    if not edges.rises:
        unsure = [each for each in edge_reasons(case, edges, row.candidate) if each.code is not ReasonCode.SIZE_OPEN]
        emulated = step_emulated(case.model, row.candidate.place.batch_size)
        said = (late, *(unsure or _help(case, row, bottleneck)), *emulated, *doubts(case, None))
        advice = next_run(case, edges, row, 1.0)
        compared = alternatives(case.candidates, case.model.sample_unit) if case.table.of_machines else ()
        return replace(_refused(case.model, said), next_run=advice, job=job, alternatives=compared)
    found = _described(case, row, edges, row.chance)
    above = [beyond_in_time(found.beyond, objective.deadline)] if found.beyond and objective.deadline else []
    reasons = [each for each in found.reasons if each.code not in _IN_TIME]
    return replace(
        found,
        status="at_least",
        edge="rising",
        probability=rounded(row.probability),
        probability_of=case.choice.asked_event,
        reasons=(late, *above, *reasons),
        next_run=larger_to_measure(case, edges, row.candidate),
        job=job,
    )


_IN_TIME = (ReasonCode.JOB_TAKES, ReasonCode.JOB_COSTS, ReasonCode.GIVES)


def _short(case: Case, row: Row) -> Reason:
    figures = {"rate": row.candidate.rate, "needed": case.objective.rate, "probability": rounded(row.probability)}
    named = {"instance_type": row.candidate.name} if case.table.of_machines else {}
    return Reason(ReasonCode.NONE_ENOUGH, {**figures, **named}, row.candidate.spec)


def _not_prompt(case: Case) -> Iterable[Reason]:
    """No machine keeps the latency, or none that does is fast enough: the one that comes nearest."""
    objective = case.objective
    fast = [row for row in case.table.rows if row.probability >= LIKELY]
    figures = {"most_latency": objective.latency_p99}
    if objective.rate is not None and fast:
        nearest = max(fast, key=lambda row: (row.prompt, row.candidate.rate)).candidate
        figures |= {"needed": objective.rate, "latency": nearest.latency_p99, "rate": nearest.rate}
        yield Reason(ReasonCode.NONE_ENOUGH, figures, nearest.spec)
        return
    known = [each for each in case.candidates if each.latency_p99 is not None]
    soonest = min(known, key=lambda each: each.latency_p99 or 0.0)
    yield Reason(ReasonCode.NONE_ENOUGH, figures | {"latency": soonest.latency_p99}, soonest.spec)


def _help(case: Case, row: Row, bottleneck: Bottleneck | None) -> list[Reason]:
    """What would make the job faster, as far as it is known."""
    if bottleneck is None:
        return []
    if len(case.model.measured.vcpus) < 2 and bottleneck not in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS):
        return [reason(ReasonCode.WOULD_HELP)]
    here = case.prediction(row.candidate)
    close = bottleneck is Bottleneck.AMBIGUOUS and here is not None and here.shares
    return [] if close else [reason(ReasonCode.WOULD_HELP, bottleneck=bottleneck.value)]


def _known(found: Reason | None) -> tuple[Reason, ...]:
    return () if found is None else (found,)


def _refused(model: WorkloadModel, why: tuple[Reason, ...]) -> Answer:
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=why)


def _without_model(model: WorkloadModel, quality: Quality) -> Answer:
    refusal = model.refused or Refusal(reason(ReasonCode.NOT_FITTED))
    search = model.measured.search
    floor = floor_found(search) if search is not None else None
    said = (refusal.reason, *_known(floor), *few_memory_caps(model), *_known(quality.failed))
    return replace(_refused(model, said), next_run=refusal.suggestion)


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
