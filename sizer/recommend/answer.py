"""The answer for one workload: the spec, how sure it is, and what speaks against each cheaper one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.batch_curve import batch_curves, nearest
from sizer.model.edge import best_measured
from sizer.model.memory import needed_bytes
from sizer.model.model import WorkloadModel
from sizer.model.prediction import on_real_gpus
from sizer.model.refusals import few_values
from sizer.model.runs import largest_batch
from sizer.recommend.accelerators import accelerator_counts, with_nearest_sold
from sizer.recommend.beside import alternatives, baseline_of, baseline_reasons, offers
from sizer.recommend.candidates import GIB_PER_VCPU, machines_to_compare, one_currency, synthetic_rates
from sizer.recommend.case import Case, on_curve, quality_of
from sizer.recommend.edges import (
    Edges,
    StillPlanned,
    bound_probability,
    edge_reasons,
    edges_of,
    for_host,
    larger_to_measure,
    noisy,
    prefer_planned_run,
    runs_to_make,
)
from sizer.recommend.prices import usd_per_million
from sizer.recommend.reasons import (
    beyond_in_time,
    binding,
    doubts,
    job_of,
    moved_there,
    retired_reason,
    step_emulated,
    too_late,
    why,
)
from sizer.recommend.rejections import rejections, smallest_upgrade, upgrade_reasons
from sizer.recommend.rule import LIKELY, Row, asked_event, choose, is_sure, rounded, table_of_machines, table_of_sizes
from sizer.recommend.sizes import few_memory_caps, floor_reason, memory_varied, sizes_on_curve
from sizer.records.answer import Answer, BatchAdvice, BatchCurve, Option
from sizer.records.domains import Preference
from sizer.records.prediction import (
    Action,
    Bottleneck,
    Configuration,
    Reason,
    ReasonCode,
    Refusal,
    Spec,
    Suggestion,
    reason,
)
from sizer.records.run import Run
from sizer.records.run_kinds import LargestBatch
from sizer.records.study import Objective
from sizer.records.units import RELATIVE

PREFERENCES: tuple[Preference, ...] = ("cheapest", "balanced", "fastest")


@dataclass(frozen=True)
class Question:
    """What is asked of every workload: by which objective, from which catalogue, against which machine.

    `machine` None compares with the largest configuration measured; `host_vcpus` is how many the measuring host had;
    `most_batches` the largest batch that the search of a workload was to try, `still_planned` what the study's plan
    still has of it. `ratios` are the GiB for each vCPU that are sold.
    """

    objective: Objective
    catalog: Catalog
    machine: InstanceType | None = None
    host_vcpus: float | None = None
    most_batches: Mapping[str, int] = field(default_factory=dict)
    still_planned: Mapping[str, StillPlanned] = field(default_factory=dict)
    ratios: tuple[float, ...] = GIB_PER_VCPU


def answer(model: WorkloadModel, question: Question, runs: Sequence[Run], case: Case | Answer) -> Answer:
    """The recommendation for one workload from its model, its runs and its case.

    Refused where nothing can be compared and its model is refused, and where no spec is fast enough.
    """
    quality = quality_of(runs)
    given = case if isinstance(case, Answer) else _answered(case)
    given = replace(given, reasons=with_nearest_sold(given.reasons, runs, question.catalog))
    if quality.contradicted is not None:
        given = _in_doubt(given, quality.contradicted)
    if quality.mixed is not None and given.spec is not None:
        # Until the jobs are told apart it says nothing for sure.
        columns = Suggestion(Action.IMPORT, job_by=quality.mixed.texts("columns")[0])
        given = replace(given, provisional=True, reasons=(quality.mixed, *given.reasons), next_run=columns)
    counts, missing = accelerator_counts(model, runs)
    batch = _batch(model, given, runs, question.most_batches.get(model.name, 0))
    given = replace(given, accelerator_counts=counts, accelerator_counts_missing=missing, batch=batch)
    if given.next_run is None:
        return given
    left = question.still_planned.get(model.name, StillPlanned())
    advice = prefer_planned_run(given.next_run, left, model.measured, runs)
    return replace(given, next_run=for_host(advice, question.host_vcpus))


def case_of(model: WorkloadModel, question: Question, runs: Sequence[Run]) -> Case | Answer:
    """What one workload's answer is chosen from, measured machines or sizes on a curve; refused where neither can be
    compared."""
    quality, objective, catalog, machine = quality_of(runs), question.objective, question.catalog, question.machine
    if objective.rate is not None and quality.contradicted is not None:
        return _refused(model)
    if objective.rate is not None and model.sample_unit == RELATIVE:
        return _refused(model, reason(ReasonCode.RELATIVE_HAS_NO_TIME), quality.failed)
    machines = machines_to_compare(model, runs, objective, catalog)
    if machines:
        sold = tuple(one for one in machines if one.retired is None)
        gone = tuple(one for one in machines if one.retired is not None)
        if not sold or (objective.latency_p99 is not None and all(one.latency_p99 is None for one in sold)):
            return _refused(model, retired_reason(gone, everything=True), quality.failed)
        real = on_real_gpus(model, [one.place for one in sold]) if model.facts.devices else None
        table = table_of_machines(sold, objective, model if on_curve(model, sold) else None, real)
        rates = synthetic_rates(runs)
        return Case(model, objective, catalog, quality, table, None, 0.0, gone, machine, rates)
    if objective.latency_p99 is not None:
        return _refused(model, reason(ReasonCode.LATENCY), quality.failed)
    if model.refused or model.posterior is None:
        refusal, search = model.refused or Refusal(reason(ReasonCode.NOT_FITTED)), model.measured.search
        floor = floor_reason(search) if search is not None else None
        refused = _refused(model, refusal.reason, floor, *few_memory_caps(model), quality.failed)
        return replace(refused, next_run=refusal.suggestion)
    best = best_measured(model)
    batch, rented = best.configuration.batch_size, objective.rate is not None
    sizes = sizes_on_curve(model, catalog, batch, rented=rented, ratios=question.ratios)
    sizes = [size for size in sizes if size.exists] or sizes
    table, rate = table_of_sizes(model, sizes, best.configuration, objective), best.throughput.value
    return Case(model, objective, catalog, quality, table, best.configuration, rate, (), machine)


def _refused(model: WorkloadModel, *reasons: Reason | None) -> Answer:
    given = tuple(one for one in reasons if one is not None)
    return Answer(model.name, "refused", sample_unit=model.sample_unit, reasons=given)


def _answered(case: Case) -> Answer:
    """What is chosen, or that nothing is fast enough."""
    chosen, objective = case.choice.chosen, case.objective
    if chosen is None:
        return _none_is_enough(case)
    edges = edges_of(case, chosen.candidate) if objective.rate is None else Edges()
    probability, event = rounded(case.choice.probability * (1 - edges.in_gap)), case.choice.event
    settled = edges.state(chosen) == "settled"
    given = _described(case, chosen, edges, probability)
    probable = (probability, event) if len(case.candidates) > 1 or objective.rate is not None else None
    if not settled:
        in_memory = not case.table.of_machines or edges.memory.rises or edges.memory.is_open
        bound = None if edges.gpus.rises else bound_probability(case, chosen.candidate, in_memory)
        probable = None if bound is None else (rounded(bound[0] * (1 - edges.in_gap)), bound[1])
    doubtful = settled and not is_sure(probability) and objective.counts != "fastest"
    return replace(
        given,
        status="recommended" if settled else "at_least",
        edge=edges.state(chosen),
        probability=probable[0] if probable else None,
        probability_of=probable[1] if probable else None,
        provisional=given.provisional or doubtful,
        next_run=next(runs_to_make(case, edges, chosen, probability), None),
    )


def _described(case: Case, chosen: Row, edges: Edges, probability: float) -> Answer:
    """What every answer with a spec says of it."""
    model, taken, of_machines, deadline = case.model, chosen.candidate, case.table.of_machines, case.objective.deadline
    is_clear = _is_clear(model, edges)
    bound = binding(case, taken, is_clear)
    here = bound.prediction if bound.is_named and not of_machines else None
    upgrade = smallest_upgrade(case, taken, here) if here is not None else None
    baseline = baseline_of(case, taken)
    beside = () if of_machines else tuple(baseline_reasons(baseline, taken, case.baseline_name))
    first = case.objective.baseline is not None
    few = not of_machines and few_values(model.measured)
    # By memory alone another differs only where that makes a difference, or as a machine with a name.
    others = (
        row.candidate.spec
        for row in case.choice.others
        if model.memory_counts
        or row.candidate.rented is not None
        or replace(row.candidate.spec, memory_bytes=taken.spec.memory_bytes) != taken.spec
    )
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
            *(upgrade_reasons(here, upgrade) if here is not None else ()),
            *(() if first else beside),
            *doubts(case, taken),
        ),
        rejected=rejections(case, chosen, is_clear),
        runner_up=next(others, None),
        instances=offers(case, taken),
        beyond=edges.beyond.prediction if edges.beyond else None,
        provisional=_is_doubtful(case, chosen) or few,
        upgrade=upgrade,
        baseline=baseline,
        job=None if deadline is None else job_of(chosen, deadline),
        alternatives=alternatives(case) if of_machines else (),
        options=_options(case),
    )


def _is_clear(model: WorkloadModel, edges: Edges) -> bool:
    """Whether the runs move by less than is at stake."""
    return not (edges.is_open and noisy(model))


def _is_doubtful(case: Case, chosen: Row) -> bool:
    """Whether its own runs speak against relying on it, or prices that are not known could make another the answer."""
    if case.quality.rests_on_doubt(chosen.candidate.place) or case.outliers:
        return True
    if not case.table.of_machines:
        return False
    count, unpriced = len(case.candidates), sum(one.usd_per_hour is None for one in case.candidates)
    if count == 1 or (case.objective.spot and unpriced):
        return True
    if case.objective.counts == "fastest" or one_currency(case.candidates) is not None:
        return False
    if chosen.candidate.usd_per_hour is not None:
        return count - unpriced == 1
    return unpriced < count or len({row.candidate.kind for row in case.table.rows if row.passes}) > 1


def _options(case: Case) -> tuple[Option, ...]:
    """What the cheapest, the balanced and the fastest choice would be; nothing where a rate is asked for."""
    options: dict[object, Option] = {}
    for preference in PREFERENCES if case.objective.rate is None else ():
        choice = choose(replace(case.table, objective=replace(case.objective, prefer=preference)))
        if choice.chosen is None:
            continue
        one = choice.chosen.candidate
        bottleneck, there = binding(case, one, True).bottleneck, case.cheapest_there(one) or one
        option = Option(
            preferences=(),
            spec=one.spec,
            throughput=there.throughput,
            probability=rounded(choice.probability),
            bottleneck=None if bottleneck is Bottleneck.AMBIGUOUS else bottleneck,
            instance_type=there.name,
            usd_per_hour=there.rent,
            usd_per_million_samples=usd_per_million(there.rent, there.rate, case.model.sample_unit),
        )
        option = options.setdefault((one.spec, one.name, one.throughput), option)
        options[one.spec, one.name, one.throughput] = replace(option, preferences=(*option.preferences, preference))
    return tuple(options.values())


def _none_is_enough(case: Case) -> Answer:
    """Nothing measured gives what is asked for: a lower bound where the rate still rises, else refused."""
    row, objective, deadline = case.choice.likeliest, case.objective, case.objective.deadline
    elsewhere = objective.latency_p99 is not None and any(other.probability >= LIKELY for other in case.table.rows)
    if row is None or objective.rate is None or elsewhere:
        return _refused(case.model, _not_in_latency(case))
    taken, edges = row.candidate, edges_of(case, row.candidate)
    job = None if deadline is None else job_of(row, deadline)
    there = {"there": True, "instance_type": taken.name} if taken.place.machine is not None else {}
    bottleneck = binding(case, taken, _is_clear(case.model, edges)).bottleneck
    if job:
        late = too_late(job, row, bottleneck)
        late = replace(late, figures={**late.figures, **there})
    else:
        named = {"instance_type": taken.name} if case.table.of_machines else {}
        figures = {"rate": taken.rate, "needed": objective.rate, "probability": rounded(row.probability)}
        late = Reason(ReasonCode.NONE_ENOUGH, {**figures, **named, **there}, taken.spec)
    moved = tuple(moved_there(case, taken))
    if not edges.rises:
        unsure = [one for one in edge_reasons(case, edges, taken) if one.code is not ReasonCode.SIZE_OPEN]
        emulated = step_emulated(case.model, taken.place)
        helpful = unsure or _would_help(case, row, bottleneck)
        compared = alternatives(case) if case.table.of_machines else ()
        refused = _refused(case.model, late, *moved, *helpful, *emulated, *doubts(case, None))
        repeat = next(runs_to_make(case, edges, row, 1.0), None)
        return replace(refused, next_run=repeat, job=job, alternatives=compared)
    given = _described(case, row, edges, row.chance)
    above = [beyond_in_time(given.beyond, deadline)] if given.beyond and deadline else []
    before = (ReasonCode.JOB_TAKES, ReasonCode.JOB_COSTS, ReasonCode.GIVES, ReasonCode.TRANSFERRED)
    return replace(
        given,
        status="at_least",
        edge="rising",
        probability=rounded(row.probability),
        probability_of=asked_event(objective),
        reasons=(late, *moved, *above, *(one for one in given.reasons if one.code not in before)),
        next_run=larger_to_measure(case, edges, taken),
        job=job,
    )


def _not_in_latency(case: Case) -> Reason:
    """No machine keeps the latency, or none that does is fast enough: the one that comes nearest."""
    objective = case.objective
    fast = [row for row in case.table.rows if row.probability >= LIKELY]
    figures = {"most_latency": objective.latency_p99}
    if objective.rate is not None and fast:
        one = max(fast, key=lambda row: (row.in_latency, row.candidate.rate)).candidate
        figures |= {"needed": objective.rate, "latency": one.latency_p99, "rate": one.rate}
    else:
        with_latency = [one for one in case.candidates if one.latency_p99 is not None]
        one = min(with_latency, key=lambda candidate: candidate.latency_p99 or 0.0)
        figures |= {"latency": one.latency_p99}
    return Reason(ReasonCode.NONE_ENOUGH, figures, one.spec)


def _would_help(case: Case, row: Row, bottleneck: Bottleneck | None) -> Iterator[Reason]:
    """What would make the job faster, as far as it is known."""
    of_disk = bottleneck in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS)
    if bottleneck is None:
        return
    here = case.prediction(row.candidate)
    if len(case.model.measured.vcpus) < 2 and not of_disk:
        yield reason(ReasonCode.WOULD_HELP)
    elif not (bottleneck is Bottleneck.AMBIGUOUS and here is not None and here.shares):
        yield reason(ReasonCode.WOULD_HELP, bottleneck=bottleneck.value)


def _in_doubt(given: Answer, contradicted: Reason) -> Answer:
    """The answer from rates that are known to be wrong: how specs compare, without what a sample costs."""
    return replace(
        given,
        provisional=given.spec is not None,
        rate_in_doubt=True,
        reasons=(contradicted, *given.reasons),
        instances=tuple(replace(one, usd_per_million_samples=None) for one in given.instances),
        alternatives=tuple(replace(one, usd_per_million_samples=None) for one in given.alternatives),
        options=tuple(replace(one, usd_per_million_samples=None) for one in given.options),
        next_run=Suggestion(Action.REPEAT, repeat_how=contradicted.text("correct")),
    )


# The batch size.


def _batch(model: WorkloadModel, given: Answer, runs: Sequence[Run], most: int) -> BatchAdvice | None:
    """The smallest batch that is nearly as fast as the best, of those that are not known not to fit, at the answer's
    spec; None where one batch was measured and none was searched for.

    `most` is the largest batch that a search was to try, 0 where that is not known.
    """
    curves, largest = batch_curves(runs), largest_batch(runs, most)
    chosen = nearest(curves, _place(given.spec, curves))
    if chosen is None:
        return None if largest is None else BatchAdvice(largest=largest)
    batch = _fitting(chosen, largest)
    needed = needed_bytes(model.measured, chosen.at.vcpus, batch) if memory_varied(model.measured) else None
    others = tuple(curve for curve in curves if curve is not chosen)
    return BatchAdvice(batch, needed, (chosen, *others), largest)


def _place(spec: Spec | None, curves: Sequence[BatchCurve]) -> Configuration | None:
    """The measured place that the answer's spec is, as far as it names it; else the one with as many vCPUs."""
    if spec is None:
        return None
    named = {name: value for name in ("vcpus", "disk", "gpu") if (value := getattr(spec, name)) is not None}
    if spec.gpu_count:
        named["gpu_count"] = spec.gpu_count
    alike = [curve.at for curve in curves if all(getattr(curve.at, name) == value for name, value in named.items())]
    if spec.memory_bytes is not None:
        held = [at for at in alike if at.memory_bytes is not None and at.memory_bytes <= spec.memory_bytes]
        alike = sorted(held, key=lambda at: -(at.memory_bytes or 0)) or alike
    return alike[0] if alike else None


def _fitting(curve: BatchCurve, largest: LargestBatch | None) -> int | None:
    """The one that is enough; where that, or a smaller one, ran out of memory there, the largest measured below it."""
    too_large = None
    if largest is not None:
        # Whether it would run out at this place, too: with as little of the host's memory, or the same accelerator's.
        if largest.memory_bytes is not None and curve.at.memory_bytes is not None:
            there = curve.at.memory_bytes <= largest.memory_bytes
        else:
            there = largest.gpu is None or curve.at.gpu is None or largest.gpu == curve.at.gpu
        too_large = largest.too_large if there else None
    if too_large is None or curve.enough < too_large:
        return curve.enough
    return max((point.batch_size for point in curve.points if point.batch_size < too_large), default=None)
