"""Where measuring stopped: what twice the most would gain, what lies there, and the run that would settle it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.edge import GAIN, Edge, batch_edge, doubled, memory_edge, vcpus_edge, vcpus_of_ceiling
from sizer.model.model import WITHIN, MeasuredRange, WorkloadModel, vcpus_of
from sizer.model.prediction import predict, rates
from sizer.model.refusals import ENOUGH, vcpus_to_measure
from sizer.model.runs import as_asked
from sizer.recommend.candidates import Candidate, next_sold, one_currency
from sizer.recommend.case import Case, but_for_size
from sizer.recommend.prices import accelerators_of, cheapest_like, instances_like
from sizer.recommend.rule import SURE, Row, is_sure, rounded, weighed_after
from sizer.recommend.sizes import cap_to_try
from sizer.records.answer import Event
from sizer.records.domains import EdgeState
from sizer.records.prediction import Action, Configuration, Figure, Prediction, Reason, ReasonCode, Suggestion, reason
from sizer.records.run import Run

NO_EDGE = Edge()
"""Of an axis that was not varied."""
NOISY = 0.05
"""Standard deviation of ln rate of a new run from which on runs move by more than a gain that would count."""
MOST_RIVALS = 6
"""Candidates beside the chosen one that are looked at, the best by the objective first: others are not close to it."""


@dataclass(frozen=True)
class Beyond:
    """The estimate at a size above the largest measured (always extrapolated), why, and the run to make."""

    prediction: Prediction
    reason: Reason
    next_run: Suggestion


@dataclass(frozen=True)
class Edges:
    """What twice the most measured would gain by axis. `beyond` where the rate still rises with vCPUs and three values
    show how; `gap` is what is said of sizes that nobody measured just below the answer, enough with a probability of
    `in_gap`."""

    vcpus: Edge = NO_EDGE
    memory: Edge = NO_EDGE
    gpus: Edge = NO_EDGE
    batch: Edge = NO_EDGE
    most_vcpus: float = 0.0
    beyond: Beyond | None = None
    gap: Suggestion | None = None
    in_gap: float = 0.0

    @property
    def rises(self) -> bool:
        return self.vcpus.rises or self.memory.rises or self.gpus.rises

    @property
    def is_open(self) -> bool:
        """Whether nothing shows that more vCPUs or accelerators than the most measured would pay, nor that they would
        not."""
        return self.vcpus.is_open or self.gpus.is_open

    def state(self, row: Row) -> EdgeState:
        """What makes an answer a lower bound: the rate rises, or nothing shows whether it does; else `settled`.

        A size below the most measured that surely suffices is none. Memory is the size where no vCPUs are known.
        """
        if self.rises:
            return "rising"
        if row.candidate.place.vcpus is None and self.memory.is_open:
            return "unsettled"
        at_most = row.candidate.place.vcpus == self.most_vcpus
        return "unsettled" if self.is_open and (at_most or not row.sure) else "settled"


def noisy(model: WorkloadModel) -> bool:
    """Whether a run moves by more from one time to the next than a gain that would count."""
    return model.noise > NOISY


def edges_of(case: Case, chosen: Candidate) -> Edges:
    """Whether more than the most measured would pay, and what lies there; nothing where no model says."""
    model = case.model
    if model.posterior is None or case.outliers:
        return Edges()
    if case.best is not None:
        vcpus, most = vcpus_edge(model, case.best), max(model.measured.vcpus, default=0.0)
        beyond = None
        # Of an instance type nobody knows how many cores a larger one has.
        if vcpus.rises and len(model.measured.vcpus) > 2 and chosen.place.machine is None:
            beyond = _look_beyond(model, case.best, case.catalog)
        memory, batch = memory_edge(model, case.best), batch_edge(model, case.best)
        return Edges(vcpus, memory, NO_EDGE, batch, most, beyond)
    place = chosen.place
    alike = [one.place for one in case.candidates if but_for_size(one) == but_for_size(chosen)]
    vcpus_measured = sorted({one.vcpus for one in alike if one.vcpus is not None})
    sizes = sorted({one.memory_bytes or 0 for one in alike if one.vcpus == place.vcpus})
    vcpus = memory = NO_EDGE
    if len(vcpus_measured) > 1 and place.vcpus == vcpus_measured[-1] and _more_vcpus_sold(case, chosen):
        vcpus = doubled(model, place, replace(place, vcpus=2 * vcpus_measured[-1]))
    if len(sizes) > 1 and sizes[0] and place.memory_bytes == sizes[-1]:
        memory = doubled(model, place, replace(place, memory_bytes=2 * sizes[-1]))
    beyond = None
    if vcpus.rises and case.on_curve and len(vcpus_measured) > 2:
        beyond = _look_beyond(model, place, case.catalog)
    most, gap = vcpus_measured[-1] if vcpus_measured else 0.0, _gap(case, chosen, vcpus_measured)
    return Edges(vcpus, memory, _gpus_edge(case, chosen), most_vcpus=most, beyond=beyond, **gap)


def _sold_like(case: Case, chosen: Candidate, count: int | None, vcpus: float | None = None) -> Sequence[InstanceType]:
    """Instance types with so many of its accelerators at least."""
    bare, kind = replace(chosen.spec, vcpus=vcpus, memory_bytes=None), replace(chosen.accelerators, count=count)
    return tuple(instances_like(bare, kind, case.model.facts.device, case.catalog))


def _more_vcpus_sold(case: Case, chosen: Candidate) -> bool:
    """Whether its provider sells a machine with as many accelerators and more vCPUs; what is not known may be sold."""
    vcpus, count = chosen.place.vcpus or 0.0, chosen.accelerators.number(case.model.facts.device)
    provider = chosen.offer.provider if chosen.rented is not None and chosen.offer is not None else None
    like = _sold_like(case, chosen, chosen.accelerators.count, 1.0)
    sold = [i.vcpus for i in like if i.gpu_count == count and provider in (None, i.provider)]
    return max(sold, default=0.0) < vcpus or max(sold) > vcpus


def _gpus_edge(case: Case, chosen: Candidate) -> Edge:
    """With twice the accelerators, where the most were measured, more are sold, or may be of a kind that the catalogue
    does not know, and more of them made work cheaper."""
    kind, count = chosen.kind
    counts = {one.kind[1] for one in case.candidates if one.kind[0] == kind and one.kind[1]}
    if len(counts) < 2 or count != max(counts) or case.without_input(chosen) is not None:
        return NO_EDGE
    sold = not _sold_like(case, chosen, 1) or _sold_like(case, chosen, 2 * count)
    if not sold or not _more_may_pay(case, chosen):
        return NO_EDGE
    return doubled(case.model, chosen.place, replace(chosen.place, gpu_count=2 * count))


def _more_may_pay(case: Case, chosen: Candidate) -> bool:
    """Whether what the objective makes least fell with each step to its count of accelerators, and may fall further:
    twice as many, which cost less than twice as much."""
    if case.objective.counts == "fastest":
        return True
    kind, count = chosen.kind
    merits = list(zip(case.candidates, case.table.merits, strict=True))
    own = min(merit for one, merit in merits if one is chosen)
    fewer = min(merit for one, merit in merits if one.kind[0] == kind and 0 < one.kind[1] < count)
    if not math.isfinite(fewer) or own >= fewer:
        return False
    twice, bare = replace(chosen.accelerators, count=2 * count), replace(chosen.spec, vcpus=None, memory_bytes=None)
    cheapest = cheapest_like(bare, twice, case.model.facts.device, case.catalog)
    if cheapest is None or cheapest.usd_per_hour is None or chosen.offer is None:
        return True
    most = 4.0 if case.objective.counts == "balanced" else 2.0
    return cheapest.usd_per_hour < most * (chosen.usd_per_hour or math.inf)


def _gap(case: Case, chosen: Candidate, vcpus_measured: list[float]) -> dict[str, Any]:
    """Where the next fewer vCPUs measured are less than half: how likely half is enough, and the size to measure.

    Where no curve says, half is as likely enough as not, unless that were more than in proportion to the fewer.
    """
    vcpus, model, objective = chosen.place.vcpus or 0.0, case.model, case.objective
    fewer = max((value for value in vcpus_measured if value < vcpus), default=vcpus)
    if fewer >= vcpus / 2 or objective.counts == "fastest":
        return {}
    top = max(case.of_kind(chosen.kind), key=lambda one: one.rate)
    needed = objective.rate or objective.target * top.rate
    slower = max(one.rate for one in case.of_kind(chosen.kind) if one.place.vcpus == fewer)
    if slower * vcpus / 2 / fewer < needed:
        return {}
    chance = 1 / 2
    if case.on_curve:
        both = rates(model, [replace(chosen.place, vcpus=vcpus / 2), top.place])
        chance = both.gives(0, needed) if objective.rate else both.reaches(0, 1, objective.target)
    if chance <= 1 - SURE:
        return {}
    between = max(fewer, math.sqrt(fewer * vcpus))
    sold = next_sold(between, case.catalog)
    unknown = reason(ReasonCode.GAIN_UNKNOWN, vcpus=vcpus, fewer=fewer)
    return {"gap": Suggestion(Action.MEASURE, unknown, vcpus=(sold if sold < vcpus else between,)), "in_gap": chance}


def _look_beyond(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Beyond | None:
    """The next step up, or the size that a known accelerator ceiling asks for.

    With a known accelerator ceiling G the size follows from G x core-seconds of a sample, which is strong; without one
    only the curve is drawn on, which is weak: the reason says which. None where what is there would
    run out of the memory that was measured.
    """
    high, ceiling = model.measured.vcpus[-1], vcpus_of_ceiling(model, best)
    strong = ceiling is not None and ceiling.value > high
    size = next_sold(ceiling.value if ceiling and strong else 2 * high, catalog, above=strong)
    prediction = predict(model, replace(best, vcpus=size))
    if prediction.out_of_memory:
        return None
    rate = prediction.throughput
    figures: dict[str, Figure] = {"vcpus": high, "larger": size, "rate": rate.value, "low": rate.low, "high": rate.high}
    if ceiling is not None and strong:
        figures |= {"busy": ceiling.value, "busy_low": ceiling.low, "busy_high": ceiling.high}
    knee = reason(ReasonCode.RUN_WOULD_SETTLE, larger=size)
    sizes = (size,) if strong else (size, 2 * size)
    return Beyond(prediction, Reason(ReasonCode.BEYOND, figures), Suggestion(Action.MEASURE, knee, vcpus=sizes))


def edge_reasons(case: Case, edges: Edges, chosen: Candidate) -> Iterator[Reason]:
    """First of all reasons: the edges that bound the answer, and those that may."""
    measured = case.model.measured
    vcpus, memory, gpus, batch = edges.vcpus, edges.memory, edges.gpus, edges.batch
    largest = {"memory_bytes": float(chosen.place.memory_bytes or max(measured.memory_bytes, default=0))}
    twice = {"vcpus": edges.most_vcpus, "gain": vcpus.gain, "worth": GAIN, "probability": vcpus.probability}
    count = {"gpu_count": float(chosen.kind[1]), "gain": gpus.gain}
    if gpus.rises:
        yield reason(ReasonCode.RISES, **count)
    if vcpus.rises:
        yield reason(ReasonCode.RISES, **twice)
    if batch.rises and not _is_full(case.model, chosen.place):
        yield reason(ReasonCode.RISES, batch_size=float(measured.batch_size[-1]), gain=batch.gain)
    if gpus.is_open:
        yield reason(ReasonCode.GAIN_UNKNOWN, **count)
    if vcpus.is_doubted:
        yield reason(ReasonCode.GAIN_UNKNOWN, **twice)
    if vcpus.is_open:
        most = chosen.place.vcpus == edges.most_vcpus
        yield reason(ReasonCode.SIZE_OPEN, vcpus=vcpus_of(chosen.place), most=most)
    if edges.beyond:
        yield edges.beyond.reason
    if memory.rises:
        yield reason(ReasonCode.RISES, **largest)
    if memory.is_doubted:
        yield reason(ReasonCode.GAIN_UNKNOWN, **largest)
    if edges.gap is not None and edges.gap.why is not None:
        yield edges.gap.why


def _is_full(model: WorkloadModel, place: Configuration) -> bool:
    """Whether the next larger batch is known not to fit, so that what it would gain is no matter."""
    larger = math.ceil(WITHIN * model.measured.batch_size[-1])
    return predict(model, replace(place, batch_size=larger)).out_of_memory


def bound_probability(case: Case, chosen: Candidate, in_memory: bool) -> tuple[float, Event] | None:
    """Of a lower bound: P(nothing with fewer vCPUs, or as many and less memory, is enough); None if nothing is smaller.

    Not that it reaches the target: the best is not known, and the most measured reaches that of the best measured.
    """
    vcpus, memory = chosen.spec.vcpus or 0.0, chosen.spec.memory_bytes or 0
    alike = [row for row in case.table.rows if row.candidate.kind == chosen.kind]
    sizes = [(row.candidate.spec.vcpus or 0.0, row.candidate.spec.memory_bytes or 0, row.probability) for row in alike]
    fewer = [chance for own, _, chance in sizes if own < vcpus]
    less = [chance for own, memory_bytes, chance in sizes if own == vcpus and memory_bytes < memory]
    if in_memory and less:
        return rounded(1 - max(fewer + less)), Event.LESS_TOO_LITTLE
    event = Event.LESS_TOO_LITTLE if chosen.spec.memory_bytes is None else Event.FEWER_TOO_FEW
    return (rounded(1 - max(fewer)), event) if fewer else None


# The run to make next.


def runs_to_make(case: Case, edges: Edges, chosen: Row, probability: float) -> Iterator[Suggestion]:
    """The runs that would settle what an answer leaves open, the most important first."""
    quality, taken = case.quality, chosen.candidate
    if quality.starved:
        yield Suggestion(Action.REPEAT, quality.starved)
    if case.outliers:
        yield Suggestion(Action.REPEAT, case.outliers[0])
    enough = case.objective.rate is not None and chosen.sure
    larger = larger_to_measure(case, edges, taken)
    if larger is not None and not enough:
        yield larger
    if edges.gap is not None:
        yield edges.gap
    if quality.rests_on_doubt(taken.place):
        yield Suggestion(Action.REPEAT, quality.doubtful, repeat_how=quality.remedy)
    yield from _lacking_prices(case, taken) if case.table.of_machines else _lacking_values(case, taken)
    is_open = edges.is_open and not enough
    if (not is_sure(probability) and len(case.candidates) > 1) or (is_open and noisy(case.model)):
        yield _settling_run(case, chosen)
    if is_open:
        unclear = reason(ReasonCode.GAIN_UNKNOWN, vcpus=edges.most_vcpus)
        yield Suggestion(Action.MEASURE, unclear, vcpus=(2 * edges.most_vcpus,))
    if not case.table.of_machines:
        yield from _smaller(case, taken)


def larger_to_measure(case: Case, edges: Edges, chosen: Candidate) -> Suggestion | None:
    """The next size up of the axis that still rises, or may."""
    first = next(edge_reasons(case, edges, chosen), None)
    if edges.beyond is not None:
        return edges.beyond.next_run
    if edges.gpus.rises or edges.gpus.is_open:
        return Suggestion(Action.MEASURE, first, gpu=chosen.spec.gpu, gpu_count=2 * chosen.kind[1])
    if edges.memory.rises:
        largest = chosen.place.memory_bytes or case.model.measured.memory_bytes[-1]
        more = reason(ReasonCode.RISES, memory_bytes=float(largest))
        return Suggestion(Action.MEASURE, more, memory_bytes=2 * largest)
    return Suggestion(Action.MEASURE, first, vcpus=(2 * edges.most_vcpus,)) if edges.vcpus.rises else None


def _lacking_prices(case: Case, taken: Candidate) -> Iterator[Suggestion]:
    unpriced = sum(one.usd_per_hour is None for one in case.candidates)
    most = 2 * unpriced > len(case.candidates)
    if one_currency(case.candidates) is not None:
        return
    if unpriced and len(case.candidates) > 1 and case.objective.counts != "fastest" and (taken.kind[1] or most):
        yield Suggestion(Action.IMPORT, column="usd_per_hour_spot" if case.objective.spot else "usd_per_hour")


def _lacking_values(case: Case, taken: Candidate) -> Iterator[Suggestion]:
    measured = case.model.measured
    if measured.failed_vcpus:
        yield vcpus_to_measure(measured)
    elif taken.spec.vcpus is None:
        # Of a table about accelerators no column is lacking.
        if not accelerators_of(taken.place).number(case.model.facts.device):
            yield Suggestion(Action.IMPORT, reason(ReasonCode.NOT_IN_TABLE, column="vcpus"), column="vcpus")
    elif len(measured.vcpus) < 3:
        one = reason(ReasonCode.NOT_VARIED, vcpus=measured.vcpus[0])
        yield vcpus_to_measure(measured, one if len(measured.vcpus) == 1 else reason(ReasonCode.ONLY_MEASURED_SIZES))


def _smaller(case: Case, taken: Candidate) -> Iterator[Suggestion]:
    """Whether less is enough."""
    vcpus_measured, vcpus = case.model.measured.vcpus, taken.place.vcpus
    if vcpus_measured and vcpus == vcpus_measured[0] > 1:
        fewer = reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=vcpus)
        yield Suggestion(Action.MEASURE, fewer, vcpus=(max(1, vcpus_measured[0] / 2),))
    untried = cap_to_try(case.model, taken)
    if untried is not None:
        less = reason(ReasonCode.LESS_MEMORY, untried=float(untried))
        yield Suggestion(Action.MEASURE, less, memory_bytes=untried)


def _settling_run(case: Case, chosen: Row) -> Suggestion:
    """Of the chosen one and its closest rivals, the one whose next run should leave least doubt of which is right."""
    choice = case.choice
    rows = [row for row in case.table.rows if row is not chosen and row.disk_is_right and row.probability > 0.01]
    rows.sort(key=case.table.merit)
    fastest = [row for row in choice.in_latency if row.candidate is choice.fastest]
    rivals = {row.number: row for row in (chosen, *rows[:MOST_RIVALS], *fastest)}

    def right_after(row: Row) -> float:
        """How probably the best choice is right once one more run of this row was made: the mean over the rates that
        it may give."""
        noise = max(row.candidate.noise or case.model.noise, 1e-3)
        weights = weighed_after(case.table.log_rates[:, row.number], noise)
        return float((1 - (weights @ case.table.wrong).min(axis=1)).mean())

    best = max(rivals.values(), key=right_after)
    spec, place = best.candidate.spec, best.candidate.place
    if not case.table.of_machines:  # what is run is what sizes are judged by
        memory = None if spec.memory_bytes is None else place.memory_bytes
        spec = replace(spec, vcpus=place.vcpus, memory_bytes=memory)
    is_measured = case.table.of_machines or case.model.measured.rate_at(place) is not None
    settles, vcpus = Reason(ReasonCode.RUN_WOULD_SETTLE, {}, spec), () if place.vcpus is None else (place.vcpus,)
    if place.machine is not None:
        return Suggestion(Action.MEASURE, settles, machine=place.machine)
    return Suggestion(Action.REPEAT if is_measured else Action.MEASURE, settles, vcpus)


def for_host(suggestion: Suggestion, host_vcpus: float | None) -> Suggestion:
    """The suggestion with where to do it, if it measures more vCPUs than the host that measured has."""
    most = max(suggestion.vcpus, default=0)
    if host_vcpus is None or suggestion.action is not Action.MEASURE or most <= host_vcpus:
        return suggestion
    return replace(suggestion, needs_larger_host=True, host_vcpus=host_vcpus)


# What the plan of the study still has.

AXES = ("vcpus", "memory_bytes", "batch_size", "gpu_count")
"""What a suggestion may ask for other values of, as it and a configuration call it."""


@dataclass(frozen=True)
class StillPlanned:
    """What the plan of a study still has of one workload: the `places` that no run was made at; and where an adaptive
    plan makes its `next_run`, or would if its bound had room, which is `again` where one was made there. Of that place
    only what the study varies is given, and the vCPUs."""

    places: tuple[Configuration, ...] = ()
    next_run: Configuration | None = None
    again: bool = False


def prefer_planned_run(
    suggestion: Suggestion, left: StillPlanned, measured: MeasuredRange, runs: Sequence[Run]
) -> Suggestion:
    """The suggestion, or in its place what the study still has: the next run of an adaptive plan, or the nearest values
    of the same axis that no run had. `runs` are all of the workload; what is to be mended first stays."""
    if suggestion.action not in (Action.MEASURE, Action.REPEAT) or suggestion.repeat_how is not None:
        return suggestion
    place = left.next_run
    if place is not None:
        action, vcpus = Action.REPEAT if left.again else Action.MEASURE, () if place.vcpus is None else (place.vcpus,)
        planned = Suggestion(action, suggestion.why, vcpus, place.memory_bytes, place.disk, place.batch_size)
        planned = replace(planned, gpu_count=place.gpu_count)
        return planned if planned == suggestion else replace(planned, why=reason(ReasonCode.RUN_WOULD_SETTLE))
    named = [axis for axis in AXES if _asked(suggestion, axis)]
    if suggestion.action is not Action.MEASURE or len(named) != 1:
        return suggestion
    return _on_axis(suggestion, named[0], left.places, measured, runs)


def _on_axis(
    suggestion: Suggestion, axis: str, places: Iterable[Configuration], measured: MeasuredRange, runs: Sequence[Run]
) -> Suggestion:
    """On the side of what was tried that the suggestion is on; anywhere, where a curve needs more values first."""
    wanted, tried = _asked(suggestion, axis), _values(axis, (run.configuration for run in as_asked(runs)))
    values = {gpus.count for gpus in measured.gpus} if axis == "gpu_count" else set(getattr(measured, axis))
    few = (axis == "vcpus" or suggestion.why is None) and 0 < len(values - {None, 0}) < ENOUGH

    def side(value: float) -> int:
        """Below, between or above those that were tried."""
        return (value > min(tried, default=0.0)) + (value > max(tried, default=0.0))

    left = [value for value in _values(axis, places) - tried if few or side(value) == side(wanted[0])]
    nearest = _nearest(wanted, left)
    if not nearest:
        return suggestion
    why = suggestion.why
    if why is None or why.figures or why.spec:  # which are of the other size
        why = reason(ReasonCode.RUN_WOULD_SETTLE)
    value: Any = tuple(nearest) if axis == "vcpus" else round(nearest[0])
    return replace(suggestion, why=why, **{axis: value})


def _asked(suggestion: Suggestion, axis: str) -> tuple[float, ...]:
    value = getattr(suggestion, axis)
    return () if value is None else value if isinstance(value, tuple) else (value,)


def _values(axis: str, places: Iterable[Configuration]) -> set[float]:
    return set(filter(None, (getattr(place, axis) for place in places)))


def _nearest(wanted: Sequence[float], values: Iterable[float]) -> list[float]:
    """Of these values the nearest to each that is wanted, by their ratio, none twice; rising."""
    left, nearest = sorted(values), []
    for value in wanted[: len(left)]:
        nearest.append(min(left, key=lambda other: abs(math.log(other / value))))
        left.remove(nearest[-1])
    return sorted(nearest)
