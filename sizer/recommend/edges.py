"""Where an answer stops at what was measured: what twice the most would gain, what lies there, and what in between."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sizer.catalog.catalog import Catalog
from sizer.model.batch_runs import CLOSE
from sizer.model.coordinates import vcpus_of
from sizer.model.edge import (
    GAIN,
    Edge,
    batch_edge,
    doubled,
    memory_edge,
    vcpus_edge,
    vcpus_of_ceiling,
)
from sizer.model.model import WhatIf, WorkloadModel
from sizer.model.prediction import predict, rates
from sizer.recommend.candidates import Candidate, next_sold
from sizer.recommend.case import Case, but_for_size
from sizer.recommend.machine_prices import cheapest_holding, instances_like
from sizer.recommend.other_inputs import input_binds
from sizer.recommend.table import SURE, Row, rounded
from sizer.records.answer import Event
from sizer.records.configuration import Configuration
from sizer.records.domains import EdgeState
from sizer.records.prediction import (
    Action,
    Figure,
    Prediction,
    Reason,
    ReasonCode,
    Suggestion,
    reason,
)

NO_EDGE = Edge()
"""Of an axis that was not varied."""
NOISY = 0.05
"""Standard deviation of ln rate of a new run from which on runs move by more than a gain that would count."""


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


def edges_of(case: Case, chosen: Candidate) -> Edges:
    """Whether more than the most measured would pay, and what lies there; nothing where no model says."""
    model = case.model
    if model.posterior is None or case.slips:
        return Edges()
    if case.best is not None:
        vcpus, most = vcpus_edge(model, case.best), model.measured.vcpus[-1] if model.measured.vcpus else 0.0
        beyond = look_beyond(model, case.best, case.catalog) if vcpus.rises and len(model.measured.vcpus) > 2 else None
        return Edges(vcpus, memory_edge(model, case.best), NO_EDGE, batch_edge(model, case.best), most, beyond)
    alike = [each for each in case.candidates if but_for_size(each) == but_for_size(chosen)]
    known = sorted({each.place.vcpus for each in alike if each.place.vcpus is not None})
    sizes = sorted({each.place.memory_bytes or 0 for each in alike if each.place.vcpus == chosen.place.vcpus})
    vcpus = memory = NO_EDGE
    if len(known) > 1 and chosen.place.vcpus == known[-1] and _more_vcpus_sold(case, chosen):
        vcpus = doubled(model, chosen.place, replace(chosen.place, vcpus=2 * known[-1]))
    if len(sizes) > 1 and sizes[0] and chosen.place.memory_bytes == sizes[-1]:
        memory = doubled(model, chosen.place, replace(chosen.place, memory_bytes=2 * sizes[-1]))
    beyond = None
    if vcpus.rises and case.on_curve and len(known) > 2:
        beyond = look_beyond(model, chosen.place, case.catalog)
    most, gap = known[-1] if known else 0.0, _gap(case, chosen, known)
    return Edges(vcpus, memory, _gpus_edge(case, chosen), most_vcpus=most, beyond=beyond, **gap)


def _gpus_edge(case: Case, chosen: Candidate) -> Edge:
    """With twice the accelerators, where the most were measured, more are sold, and more of them made work cheaper."""
    kind, count = chosen.kind
    counts = {each.kind[1] for each in case.candidates if each.kind[0] == kind and each.kind[1]}
    if len(counts) < 2 or count != max(counts) or input_binds(chosen, case.other_inputs) is not None:
        return NO_EDGE
    if not (_more_may_pay(case, chosen) and _sold(case, chosen, 2 * count)):
        return NO_EDGE
    return doubled(case.model, chosen.place, replace(chosen.place, gpu_count=2 * count))


def _more_may_pay(case: Case, chosen: Candidate) -> bool:
    """Whether what the objective makes least fell with each step to its count of accelerators, and may fall further:
    twice as many, which cost less than twice as much."""
    if case.objective.counts == "fastest":
        return True
    kind, count = chosen.kind
    merits = list(zip(case.candidates, case.table.merits, strict=True))
    own = min(merit for each, merit in merits if each is chosen)
    fewer = min(merit for each, merit in merits if each.kind[0] == kind and 0 < each.kind[1] < count)
    if not math.isfinite(fewer) or own >= fewer:
        return False
    twice, bare = replace(chosen.accelerators, count=2 * count), replace(chosen.spec, vcpus=None, memory_bytes=None)
    cheapest = cheapest_holding(bare, twice, case.model.facts.device, case.catalog)
    if cheapest is None or cheapest.usd_per_hour is None or chosen.offer is None:
        return True
    most = 4.0 if case.objective.counts == "balanced" else 2.0
    return cheapest.usd_per_hour < most * (chosen.usd_per_hour or math.inf)


def _sold(case: Case, chosen: Candidate, count: int) -> bool:
    """Whether some instance type has so many of these; of a kind that the catalogue does not know, it may be."""
    device, bare = case.model.facts.device, replace(chosen.spec, vcpus=None, memory_bytes=None)
    one, several = (replace(chosen.accelerators, count=number) for number in (1, count))
    return not instances_like(bare, one, device, case.catalog) or bool(
        instances_like(bare, several, device, case.catalog)
    )


def _more_vcpus_sold(case: Case, chosen: Candidate) -> bool:
    """Whether its provider sells a machine with as many accelerators and more vCPUs; what is not known may be sold."""
    device, vcpus = case.model.facts.device, chosen.place.vcpus or 0.0
    bare, count = replace(chosen.spec, vcpus=1.0, memory_bytes=None), chosen.accelerators.number(device)
    provider = chosen.offer.provider if chosen.rented is not None and chosen.offer is not None else None
    alike = [
        each
        for each in instances_like(bare, chosen.accelerators, device, case.catalog)
        if each.gpu_count == count and provider in (None, each.provider)
    ]
    return not any(each.vcpus >= vcpus for each in alike) or any(each.vcpus > vcpus for each in alike)


def _gap(case: Case, chosen: Candidate, known: list[float]) -> dict[str, Any]:
    """Where the next fewer vCPUs measured are less than half: how likely half is enough, and the size to measure.

    Where no curve says, half is as likely enough as not, unless that were more than in proportion to the fewer.
    """
    vcpus, model, objective = chosen.place.vcpus or 0.0, case.model, case.objective
    fewer = [each for each in known if each < vcpus]
    if not fewer or fewer[-1] >= vcpus / 2 or objective.counts == "fastest":
        return {}
    top = max(case.of_kind(chosen.kind), key=lambda each: each.rate)
    needed = objective.rate or objective.target * top.rate
    slower = max(each.rate for each in case.of_kind(chosen.kind) if each.place.vcpus == fewer[-1])
    if slower * vcpus / 2 / fewer[-1] < needed:
        return {}
    chance = 1 / 2
    if case.on_curve:
        found = rates(model, [replace(chosen.place, vcpus=vcpus / 2), top.place])
        chance = found.gives(0, needed) if objective.rate else found.reaches(0, 1, objective.target)
    if chance <= 1 - SURE:
        return {}
    between = max(fewer[-1], math.sqrt(fewer[-1] * vcpus))
    sold = next_sold(between, case.catalog)
    why = reason(ReasonCode.GAIN_UNKNOWN, vcpus=vcpus, fewer=fewer[-1])
    return {"gap": Suggestion(Action.MEASURE, why, vcpus=(sold if sold < vcpus else between,)), "in_gap": chance}


def noisy(model: WorkloadModel) -> bool:
    """Whether a run moves by more from one time to the next than a gain that would count."""
    return model.noise > NOISY


def look_beyond(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Beyond | None:
    """The next step up, or the size that a known accelerator ceiling asks for.

    With a known accelerator ceiling G the size follows from G x core-seconds of a sample, which is strong; without one
    only the curve is drawn on, which is weak: the reason says which. None where what is there would
    run out of the memory that was measured.
    """
    high = model.measured.vcpus[-1]
    ceiling = vcpus_of_ceiling(model, best)
    strong = ceiling is not None and ceiling.value > high
    size = next_sold(ceiling.value if ceiling and strong else 2 * high, catalog, above=strong)
    prediction = predict(model, replace(best, vcpus=size), WhatIf())
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
    model = case.model
    largest = float(chosen.place.memory_bytes or max(model.measured.memory_bytes, default=0))
    doubling: dict[str, Figure] = {
        "vcpus": edges.most_vcpus,
        "gain": edges.vcpus.gain,
        "worth": GAIN,
        "probability": edges.vcpus.probability,
    }
    count = {"gpu_count": float(chosen.kind[1]), "gain": edges.gpus.gain}
    if edges.gpus.rises:
        yield reason(ReasonCode.RISES, **count)
    if edges.vcpus.rises:
        yield reason(ReasonCode.RISES, **doubling)
    if edges.batch.rises and not _is_full(model, chosen.place):
        batch = float(model.measured.batch_size[-1])
        yield reason(ReasonCode.RISES, batch_size=batch, gain=edges.batch.gain)
    if edges.gpus.is_open:
        yield reason(ReasonCode.GAIN_UNKNOWN, **count)
    if edges.vcpus.is_doubted:
        yield reason(ReasonCode.GAIN_UNKNOWN, **doubling)
    if edges.vcpus.is_open:
        most = chosen.place.vcpus == edges.most_vcpus
        yield reason(ReasonCode.SIZE_OPEN, vcpus=vcpus_of(chosen.place), most=most)
    if edges.beyond:
        yield edges.beyond.reason
    if edges.memory.rises:
        yield reason(ReasonCode.RISES, memory_bytes=largest)
    if edges.memory.is_doubted:
        yield reason(ReasonCode.GAIN_UNKNOWN, memory_bytes=largest)
    if edges.gap is not None and edges.gap.why is not None:
        yield edges.gap.why


def _is_full(model: WorkloadModel, place: Configuration) -> bool:
    """Whether the next larger batch is known not to fit, so that what it would gain is no matter."""
    larger = math.ceil(CLOSE * model.measured.batch_size[-1])
    return predict(model, replace(place, batch_size=larger)).out_of_memory


def larger_to_measure(case: Case, edges: Edges, chosen: Candidate) -> Suggestion | None:
    """The next size up of the axis that still rises, or may."""
    said = next(edge_reasons(case, edges, chosen), None)
    if edges.beyond is not None:
        return edges.beyond.next_run
    if edges.gpus.rises or edges.gpus.is_open:
        return Suggestion(Action.MEASURE, said, gpu=chosen.spec.gpu, gpu_count=2 * chosen.kind[1])
    if edges.memory.rises:
        largest = chosen.place.memory_bytes or case.model.measured.memory_bytes[-1]
        more = reason(ReasonCode.RISES, memory_bytes=float(largest))
        return Suggestion(Action.MEASURE, more, memory_bytes=2 * largest)
    if edges.vcpus.rises:
        return Suggestion(Action.MEASURE, said, vcpus=(2 * edges.most_vcpus,))
    return None


def bound_probability(case: Case, chosen: Candidate, in_memory: bool) -> tuple[float, Event] | None:
    """Of a lower bound: P(nothing with fewer vCPUs, or as many and less memory, is enough); None if nothing is smaller.

    Not that it reaches the target: the best is not known, and the most measured reaches that of the best measured.
    """
    vcpus, memory = chosen.spec.vcpus or 0.0, chosen.spec.memory_bytes or 0
    fewer, less = [], []
    for row in case.table.rows:
        spec = row.candidate.spec
        if row.candidate.kind == chosen.kind and (spec.vcpus or 0.0) < vcpus:
            fewer.append(row.probability)
        elif row.candidate.kind == chosen.kind and (spec.vcpus or 0.0) == vcpus and (spec.memory_bytes or 0) < memory:
            less.append(row.probability)
    if in_memory and less:
        return rounded(1 - max(fewer + less)), Event.LESS_TOO_LITTLE
    event = Event.LESS_TOO_LITTLE if chosen.spec.memory_bytes is None else Event.FEWER_TOO_FEW
    return (rounded(1 - max(fewer)), event) if fewer else None
