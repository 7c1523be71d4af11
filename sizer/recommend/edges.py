"""Where the answer stops at what was measured: what is said of it."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.catalog import Catalog
from sizer.model import (
    GAIN,
    Edge,
    Trend,
    WorkloadModel,
    before_the_last_doubling,
    further_edges,
    memory_edge,
    vcpus_edge,
    vcpus_of,
)
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.recommend.quality import Quality
from sizer.records import Configuration, EdgeState, format_bytes, format_share, format_vcpus

NOT_SETTLED = "is not settled"
"""In each sentence that leaves an edge open."""


NO_EDGE = Edge()
"""Of an axis that was not varied."""


@dataclass(frozen=True)
class Edges:
    """Both edges of what was measured; `beyond` where the rate still rises with vCPUs and three values tell how."""

    vcpus: Edge
    memory: Edge
    beyond: Beyond | None
    gpus: Edge = NO_EDGE
    batch: Edge = NO_EDGE

    @property
    def more_gpus(self) -> bool:
        return self.gpus.trend is Trend.RISING

    @property
    def more_vcpus(self) -> bool:
        return self.vcpus.trend is Trend.RISING

    @property
    def more_memory(self) -> bool:
        return self.memory.trend is Trend.RISING

    @property
    def open(self) -> bool:
        """Whether nothing shows that more vCPUs than the most measured would pay, nor that they would not."""
        return self.vcpus.trend is Trend.UNSETTLED and not self.vcpus.saturated

    def unsettled_at(self, stand: Configuration, model: WorkloadModel) -> bool:
        """Whether this size is the most measured and nothing shows that more would not pay."""
        return self.open and stand.vcpus == model.measured.vcpus[-1]

    def state(self, status: str) -> EdgeState:
        """What makes a lower bound one: the rate is seen to rise, or nothing tells whether it does."""
        if status != "at_least":
            return "settled"
        return "rising" if self.more_vcpus or self.more_memory or self.more_gpus else "unsettled"

    def status(self, stand: Configuration, model: WorkloadModel, sure: bool) -> str:
        """`recommended` needs evidence: the rate no longer rises, or a size below the most measured surely suffices."""
        rises = self.more_vcpus or self.more_memory or self.more_gpus
        unsettled = self.unsettled_at(stand, model) or (self.open and not sure)
        return "at_least" if rises or unsettled else "recommended"


def look(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Edges:
    """Whether more than the most measured would pay, and what lies there."""
    vcpus = vcpus_edge(model, best)
    rises = vcpus.trend is Trend.RISING and len(model.measured.vcpus) > 2
    beyond = look_beyond(model, best, catalog) if rises else None
    return Edges(vcpus, memory_edge(model, best), beyond, **further_edges(model, best))


def sentences(model: WorkloadModel, edges: Edges, stand: Configuration, quality: Quality) -> list[str]:
    """First of all reasons: the edges that bound the answer, and those that may."""
    largest = max(model.measured.memory_bytes, default=0)
    found = []
    if edges.more_vcpus:
        most = format_vcpus(model.measured.vcpus[-1])
        found.append(f"the rate still rises at {most}, the most measured: {_gained(model, edges.vcpus)}")
    if edges.more_gpus:
        gpus, gain = max(each.count or 0 for each in model.measured.gpus), format_share(edges.gpus.gain)
        found.append(f"the rate still rises at {gpus} accelerators, the most measured: the last step gained {gain}")
    if edges.batch.trend is Trend.RISING:
        batch, gain = model.measured.batch_size[-1], format_share(edges.batch.gain)
        found.append(f"a larger batch than {batch}, the largest measured, may pay: the last step gained {gain}")
    if edges.vcpus.trend is Trend.UNSETTLED:
        found.append(_unsettled(model, edges, stand, quality))
    if edges.beyond:
        found.append(edges.beyond.reason)
    if edges.more_memory:
        found.append(f"more memory than {format_bytes(largest)}, the most measured, would still pay")
    if edges.memory.trend is Trend.UNSETTLED:
        found.append(f"whether more memory than {format_bytes(largest)}, the most measured, pays {NOT_SETTLED}")
    return found


def _gained(model: WorkloadModel, edge: Edge) -> str:
    """`from 1 to 2 vCPUs it gained 42 %`, or what a known ceiling leaves to gain."""
    most = model.measured.vcpus[-1]
    if edge.foretold:
        return f"{format_vcpus(2 * most)} should gain {format_share(edge.gain)} up to the ceiling that is known"
    said = f"from {before_the_last_doubling(model):g} to {format_vcpus(most)} it {_change(edge.gain)}"
    if edge.seen is not None and abs(edge.seen - edge.gain) > GAIN:
        said += f" by the fitted curve ({_change(edge.seen)} by the runs themselves)"
    return said


def _unsettled(model: WorkloadModel, edges: Edges, stand: Configuration, quality: Quality) -> str:
    edge = edges.vcpus
    said = f"whether more vCPUs pay {NOT_SETTLED}: {_gained(model, edge)}"
    said += f", and more than {format_share(GAIN)} with a probability of {edge.probability:.2f}"
    if edges.open:
        most = stand.vcpus == model.measured.vcpus[-1]
        place = "the most measured" if most else "the smallest that is more likely enough than not"
        said += f"; {format_vcpus(vcpus_of(stand))} is {place}, and whether it is the right size stays open"
        said += " until the runs are repeated" if quality.poor else ""
    return said


def _change(gain: float) -> str:
    return f"gained {format_share(gain)}" if gain >= 0 else f"lost {format_share(-gain)}"
