"""The run that would settle what an answer leaves open."""

from __future__ import annotations

import re

from sizer.model import Edge, Trend, WorkloadModel, to_measure, vcpus_of
from sizer.recommend.candidates import Candidate
from sizer.recommend.edges import Edges
from sizer.recommend.memory import cap_to_try, completes
from sizer.recommend.quality import Quality
from sizer.recommend.words import listed
from sizer.records import format_bytes, format_vcpus


def next_run(
    model: WorkloadModel,
    chosen: Candidate,
    edges: Edges,
    quality: Quality,
    in_time: bool = False,
    unsure: bool = False,
) -> str | None:
    """In words; None where nothing is open.

    `in_time`: a deadline is met, so what more vCPUs would give is not asked. `unsure`: no size is sure to be enough.
    """
    known, name = model.measured.vcpus, model.name
    if in_time:
        edges = Edges(Edge(), Edge(), None)
    if edges.beyond is not None:
        return edges.beyond.next_run
    if edges.more_gpus:
        most = max(each.count or 0 for each in model.measured.gpus)
        return f"measure `{name}` with {2 * most} accelerators: the rate still rises at {most}, the most measured"
    if edges.more_memory:
        return f"measure `{name}` with {format_bytes(2 * model.measured.memory_bytes[-1])}: more memory may still pay"
    if quality.rests_on_doubt(chosen.stand) and not quality.poor:
        at = f" at {format_vcpus(vcpus_of(chosen.stand))}" if chosen.spec.vcpus is not None else ""
        doubts = " or ".join(doubt.value for doubt in quality.doubts)
        return f"repeat `{name}`{at} {quality.remedy}: every run of that size was {doubts}"
    if quality.poor:
        at = f" {_at(known)}" if chosen.spec.vcpus is not None else ""
        return f"repeat `{name}`{at} {quality.remedy}: {quality.warning}"
    if model.measured.failed_vcpus:
        return to_measure(f"`{name}`", model.measured)
    if chosen.spec.vcpus is None:
        return f"measure `{name}` at three vCPU values or more, or tell them in a column `vcpus`"
    if 1 < len(known) < 3:
        return f"{to_measure(f'`{name}`', model.measured)}: with three values what lies between is known"
    if len(known) == 1:
        return f"{to_measure(f'`{name}`', model.measured)}: how many it needs was not measured"
    if unsure and edges.vcpus.trend is not Trend.UNSETTLED:
        return f"repeat `{name}` {_at(known)}: no size is sure to be enough, and more repeats narrow what is not known"
    if edges.vcpus.trend is Trend.UNSETTLED:
        return f"measure `{name}` at {format_vcpus(2 * known[-1])}: whether more vCPUs pay is not settled"
    if chosen.stand.vcpus == known[0] > 1:
        return f"measure `{name}` at {format_vcpus(max(1, known[0] / 2))}: the fewest measured are enough"
    untried = cap_to_try(model, chosen)
    if untried is not None:
        question = "what its rate is there" if completes(model, chosen, untried) else "whether that is enough memory"
        return f"measure `{name}` with {format_bytes(untried)}: {question} was not measured"
    return None


def for_host(advice: str, host_vcpus: float | None) -> str:
    """The advice with where to do it, if it names more vCPUs than the host that measured has."""
    wanted = [float(number) for number in re.findall(r"(\d+(?:\.\d+)?)(?= vCPU)", advice.partition(":")[0])]
    if host_vcpus is None or not advice.startswith("measure") or max(wanted, default=0) <= host_vcpus:
        return advice
    what, colon, why = advice.partition(":")
    return f"{what}, on a larger host than the one that measured, which has {format_vcpus(host_vcpus)}{colon}{why}"


def _at(known: tuple[float, ...]) -> str:
    values = listed([f"{value:g}" for value in known])
    return f"at {values} {'vCPU' if known[-1] <= 1 else 'vCPUs'}"
