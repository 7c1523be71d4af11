"""Where the answer stops at what was measured: what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.catalog import Catalog
from sizer.model import WorkloadModel
from sizer.model.edge import GAIN, Edge, Trend, memory_edge, vcpus_edge
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.recommend.words import percent
from sizer.records import Configuration
from sizer.units import format_bytes, format_vcpus


@dataclass(frozen=True)
class Edges:
    """Both edges of what was measured; `beyond` where the rate still rises with vCPUs and three values tell how."""

    vcpus: Edge
    memory: Edge
    beyond: Beyond | None

    @property
    def more_vcpus(self) -> bool:
        return self.vcpus.trend is Trend.RISING

    @property
    def more_memory(self) -> bool:
        return self.memory.trend is Trend.RISING

    @property
    def status(self) -> str:
        return "at_least" if self.more_vcpus or self.more_memory else "recommended"


def look(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Edges:
    """Whether more than the most measured would pay, and what lies there."""
    vcpus = vcpus_edge(model, best)
    rises = vcpus.trend is Trend.RISING and len(model.measured.vcpus) > 2
    return Edges(vcpus, memory_edge(model, best), look_beyond(model, best, catalog) if rises else None)


def sentences(model: WorkloadModel, edges: Edges) -> list[str]:
    """First of all reasons: the edges that bound the answer, and those that may."""
    known, largest = model.measured.vcpus, model.measured.memory_bytes[-1]
    found = []
    if edges.more_vcpus:
        found.append(f"the rate still rises at {format_vcpus(known[-1])}, the most measured")
    if edges.vcpus.trend is Trend.UNSETTLED:
        found.append(_unsettled(known, edges.vcpus))
    if edges.beyond:
        found.append(edges.beyond.reason)
    if edges.more_memory:
        found.append(f"more memory than {format_bytes(largest)}, the most measured, would still pay")
    if edges.memory.trend is Trend.UNSETTLED:
        found.append(f"whether more memory than {format_bytes(largest)}, the most measured, pays is not settled")
    return found


def _unsettled(known: tuple[float, ...], edge: Edge) -> str:
    step = (
        f"twice the {format_vcpus(known[-1])} measured" if len(known) > 2 else f"{known[-1]:g} instead of {known[0]:g}"
    )
    return (
        f"whether more vCPUs pay is not settled: {step} should gain about {percent(max(0.0, edge.gain))}, "
        f"and more than {percent(GAIN)} with a probability of {edge.probability:.2f}"
    )
