"""The run that would settle what an answer leaves open."""

from __future__ import annotations

from sizer.model import WorkloadModel
from sizer.model.advice import to_measure
from sizer.model.edge import Trend
from sizer.recommend.candidates import Candidate
from sizer.recommend.edges import Edges
from sizer.recommend.memory import cap_to_try, completes
from sizer.recommend.quality import Quality
from sizer.recommend.words import listed
from sizer.units import format_bytes, format_vcpus


def next_run(model: WorkloadModel, chosen: Candidate, edges: Edges, quality: Quality) -> str | None:
    """In words; None where nothing is open."""
    known, name = model.measured.vcpus, model.name
    if edges.beyond is not None:
        return edges.beyond.next_run
    if edges.more_memory:
        return f"measure `{name}` with {format_bytes(2 * model.measured.memory_bytes[-1])}: more memory may still pay"
    if quality.poor:
        return f"repeat `{name}` {_at(known)} {quality.remedy}: {quality.warning}"
    if model.measured.failed_vcpus:
        return to_measure(f"`{name}`", model.measured)
    if 1 < len(known) < 3:
        return f"{to_measure(f'`{name}`', model.measured)}: with three values what lies between is known"
    if len(known) == 1:
        return f"{to_measure(f'`{name}`', model.measured)}: how many it needs was not measured"
    if edges.vcpus.trend is Trend.UNSETTLED:
        return f"measure `{name}` at {format_vcpus(2 * known[-1])}: whether more vCPUs pay is not settled"
    if chosen.stand.vcpus == known[0] > 1:
        return f"measure `{name}` at {format_vcpus(max(1, known[0] / 2))}: the fewest measured are enough"
    untried = cap_to_try(model, chosen)
    if untried is not None:
        question = "what its rate is there" if completes(model, chosen, untried) else "whether that is enough memory"
        return f"measure `{name}` with {format_bytes(untried)}: {question} was not measured"
    return None


def _at(known: tuple[float, ...]) -> str:
    values = listed([f"{value:g}" for value in known])
    return f"at {values} {'vCPU' if known[-1] <= 1 else 'vCPUs'}"
