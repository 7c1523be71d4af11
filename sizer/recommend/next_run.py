"""The run that would settle what an answer leaves open."""

from __future__ import annotations

from dataclasses import replace

from sizer.model import GAIN, Edge, WorkloadModel, vcpus_to_measure
from sizer.recommend.accelerators import accelerators_of
from sizer.recommend.candidates import Candidate
from sizer.recommend.edges import Edges, noisy
from sizer.recommend.memory import cap_to_try, completes
from sizer.recommend.quality import Quality
from sizer.recommend.settling import Margin, settling_run
from sizer.records import Action, Event, ReasonCode, Suggestion, reason


def next_run(
    model: WorkloadModel,
    chosen: Candidate,
    edges: Edges,
    quality: Quality,
    in_time: bool = False,
    margin: Margin | None = None,
) -> Suggestion | None:
    """None where nothing is open.

    `in_time`: a deadline is met, so what more vCPUs would give is not asked. `margin`: by what the size taken may be
    too small, where none is sure to be enough.
    """
    known = model.measured.vcpus
    if in_time:
        edges = Edges(Edge(), Edge(), None)
    if quality.starved:
        return Suggestion(Action.REPEAT, quality.lower_bounds)
    if edges.beyond is not None:
        return edges.beyond.next_run
    if edges.more_memory:
        more = reason(ReasonCode.MORE_MEMORY_MAY_PAY)
        return Suggestion(Action.MEASURE, more, memory_bytes=2 * model.measured.memory_bytes[-1])
    vcpus_known = chosen.spec.vcpus is not None
    if quality.rests_on_doubt(chosen.configuration):
        return Suggestion(Action.REPEAT, quality.why_repeat, repeat_how=quality.remedy)
    if model.measured.failed_vcpus:
        return vcpus_to_measure(model.measured)
    if not vcpus_known and accelerators_of(chosen.configuration).number(model.facts.device):
        return None  # its table is about accelerators, and no column of it is lacking
    if not vcpus_known:
        return Suggestion(Action.IMPORT, reason(ReasonCode.VCPUS_NOT_IN_TABLE), column="vcpus")
    if 1 < len(known) < 3:
        return vcpus_to_measure(model.measured, reason(ReasonCode.THREE_VALUES))
    if len(known) == 1:
        return vcpus_to_measure(model.measured, reason(ReasonCode.NEED_NOT_MEASURED))
    if margin is not None and not edges.open:
        return settling_run(model, margin, Event.REACHES_TARGET)
    if edges.open and noisy(model):
        most = replace(chosen.configuration, vcpus=known[-1])
        return settling_run(model, Margin(most, replace(most, vcpus=known[-2]), 1 + GAIN), None)
    if edges.open:
        return Suggestion(Action.MEASURE, reason(ReasonCode.MORE_VCPUS_UNSETTLED), vcpus=(2 * known[-1],))
    if chosen.configuration.vcpus == known[0] > 1:
        return Suggestion(Action.MEASURE, reason(ReasonCode.FEWEST_ENOUGH), vcpus=(max(1, known[0] / 2),))
    untried = cap_to_try(model, chosen)
    if untried is not None:
        code = ReasonCode.RATE_UNKNOWN if completes(model, chosen, untried) else ReasonCode.MEMORY_UNTRIED
        return Suggestion(Action.MEASURE, reason(code), memory_bytes=untried)
    return None


def for_host(suggestion: Suggestion, host_vcpus: float | None) -> Suggestion:
    """The suggestion with where to do it, if it measures more vCPUs than the host that measured has."""
    most = max(suggestion.vcpus, default=0)
    if host_vcpus is None or suggestion.action is not Action.MEASURE or most <= host_vcpus:
        return suggestion
    return replace(suggestion, needs_larger_host=True, host_vcpus=host_vcpus)
