"""The run that would settle what an answer leaves open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sizer.model.advice import vcpus_to_measure
from sizer.recommend.accelerators import accelerators_of
from sizer.recommend.candidates import Candidate
from sizer.recommend.case import Case
from sizer.recommend.edges import Edges, larger_to_measure, noisy
from sizer.recommend.memory import cap_to_try
from sizer.recommend.reasons import surely
from sizer.recommend.table import Row, weighed_after
from sizer.records.prediction import Action, Reason, ReasonCode, Spec, Suggestion, reason

MOST_RIVALS = 6
"""Candidates beside the chosen one that are looked at, the best by the objective first: others are not close to it."""


def next_run(case: Case, edges: Edges, chosen: Row, probability: float) -> Suggestion | None:
    """None where nothing is open."""
    return next(_open(case, edges, chosen, probability), None)


def _open(case: Case, edges: Edges, chosen: Row, probability: float) -> Iterator[Suggestion]:
    """The most important first."""
    quality, taken = case.quality, chosen.candidate
    if quality.starved:
        yield Suggestion(Action.REPEAT, quality.lower_bounds)
    if case.slips:
        yield Suggestion(Action.REPEAT, case.slips[0])
    larger = larger_to_measure(case, edges, taken)
    enough = case.objective.rate is not None and chosen.sure
    if larger is not None and not enough:
        yield larger
    if edges.gap is not None:
        yield edges.gap
    if quality.rests_on_doubt(taken.place):
        yield Suggestion(Action.REPEAT, quality.warning, repeat_how=quality.remedy)
    if case.table.of_machines:
        yield from _lacking_prices(case, taken)
    else:
        yield from _lacking_values(case, taken)
    is_open = edges.is_open and not enough
    if (not surely(probability) and len(case.candidates) > 1) or (is_open and noisy(case.model)):
        yield settling_run(case, chosen)
    if is_open:
        unclear = reason(ReasonCode.GAIN_UNKNOWN, vcpus=edges.most_vcpus)
        yield Suggestion(Action.MEASURE, unclear, vcpus=(2 * edges.most_vcpus,))
    if not case.table.of_machines:
        yield from _smaller(case, taken)


def _lacking_prices(case: Case, taken: Candidate) -> Iterator[Suggestion]:
    unpriced = [each for each in case.candidates if each.usd_per_hour is None]
    most = 2 * len(unpriced) > len(case.candidates)
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
    known, vcpus = case.model.measured.vcpus, taken.place.vcpus
    if known and vcpus == known[0] > 1:
        yield Suggestion(
            Action.MEASURE, reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=vcpus), vcpus=(max(1, known[0] / 2),)
        )
    untried = cap_to_try(case.model, taken)
    if untried is not None:
        why = reason(ReasonCode.LESS_MEMORY, untried=float(untried))
        yield Suggestion(Action.MEASURE, why, memory_bytes=untried)


def settling_run(case: Case, chosen: Row) -> Suggestion:
    """Of the chosen one and its closest rivals, the one whose next run should leave least doubt of which is right."""
    best = max(_rivals(case, chosen), key=lambda row: _right_after(case, row))
    place = best.candidate.place
    known = case.table.of_machines or case.model.measured.rate_at(place) is not None
    return Suggestion(
        Action.REPEAT if known else Action.MEASURE,
        Reason(ReasonCode.RUN_WOULD_SETTLE, {}, _told(case, best.candidate)),
        vcpus=() if place.vcpus is None else (place.vcpus,),
    )


def _told(case: Case, candidate: Candidate) -> Spec:
    """Of sizes, what is run is what they are judged by."""
    spec, place = candidate.spec, candidate.place
    if case.table.of_machines:
        return spec
    memory = None if spec.memory_bytes is None else place.memory_bytes
    return replace(spec, vcpus=place.vcpus, memory_bytes=memory)


def _rivals(case: Case, chosen: Row) -> list[Row]:
    choice = case.choice
    rows = [row for row in case.table.rows if row is not chosen and row.disk_is_right and row.probability > 0.01]
    rows.sort(key=case.table.merit)
    fastest = [row for row in choice.prompt if row.candidate is choice.fastest]
    return list({row.number: row for row in [chosen, *rows[:MOST_RIVALS], *fastest]}.values())


def _right_after(case: Case, row: Row) -> float:
    """How probably the best choice is right once one more run of this row was made: the mean over the rates that it may
    give."""
    weights = weighed_after(case.table.log_rates[:, row.number], max(row.candidate.noise or case.model.noise, 1e-3))
    return float((1 - (weights @ case.table.wrong).min(axis=1)).mean())


def for_host(suggestion: Suggestion, host_vcpus: float | None) -> Suggestion:
    """The suggestion with where to do it, if it measures more vCPUs than the host that measured has."""
    most = max(suggestion.vcpus, default=0)
    if host_vcpus is None or suggestion.action is not Action.MEASURE or most <= host_vcpus:
        return suggestion
    return replace(suggestion, needs_larger_host=True, host_vcpus=host_vcpus)
