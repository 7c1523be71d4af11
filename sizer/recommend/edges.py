"""Where the answer stops at what was measured: what is said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import CLOSE, GAIN, Edge, WorkloadModel, batch_edge, memory_edge, predict, vcpus_edge, vcpus_of
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.records import Configuration, EdgeState, Figure, Reason, ReasonCode, reason

NO_EDGE = Edge()
"""Of an axis that was not varied."""
NOISY = 0.05
"""Standard deviation of ln rate of a new run from which on runs move by more than a gain that would count."""


@dataclass(frozen=True)
class Edges:
    """The edges of what was measured; `beyond` where the rate still rises with vCPUs and three values show how."""

    vcpus: Edge
    memory: Edge
    beyond: Beyond | None
    batch: Edge = NO_EDGE

    @property
    def more_vcpus(self) -> bool:
        return self.vcpus.rises

    @property
    def more_memory(self) -> bool:
        return self.memory.rises

    @property
    def open(self) -> bool:
        """Whether nothing shows that more vCPUs than the most measured would pay, nor that they would not."""
        return self.vcpus.is_open

    def state(self, status: str) -> EdgeState:
        """What makes a lower bound one: the rate is likely to rise, or nothing shows whether it does."""
        if status != "at_least":
            return "settled"
        return "rising" if self.more_vcpus or self.more_memory else "unsettled"

    def status(self, configuration: Configuration, model: WorkloadModel, sure: bool) -> str:
        """`recommended` needs evidence: the rate no longer rises, or a size below the most measured surely suffices."""
        rises = self.more_vcpus or self.more_memory
        at_most = len(model.measured.vcpus) > 1 and configuration.vcpus == model.measured.vcpus[-1]
        return "at_least" if rises or (self.open and (at_most or not sure)) else "recommended"


def edges_of(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Edges:
    """Whether more than the most measured would pay, and what lies there."""
    vcpus = vcpus_edge(model, best)
    beyond = look_beyond(model, best, catalog) if vcpus.rises and len(model.measured.vcpus) > 2 else None
    return Edges(vcpus, memory_edge(model, best), beyond, batch_edge(model, best))


def noisy(model: WorkloadModel) -> bool:
    """Whether a run moves by more from one time to the next than a gain that would count."""
    return model.noise > NOISY


def edge_reasons(model: WorkloadModel, edges: Edges, configuration: Configuration) -> list[Reason]:
    """First of all reasons: the edges that bound the answer, and those that may."""
    largest = float(max(model.measured.memory_bytes, default=0))
    found = []
    if edges.more_vcpus:
        found.append(reason(ReasonCode.RISES_WITH_VCPUS, **_gained(model, edges.vcpus)))
    if edges.batch.rises and not _is_full(model, configuration):
        batch = float(model.measured.batch_size[-1])
        found.append(reason(ReasonCode.RISES_WITH_BATCH, batch_size=batch, gain=edges.batch.gain))
    if edges.vcpus.is_doubted:
        found.append(reason(ReasonCode.VCPUS_UNSETTLED, **_gained(model, edges.vcpus)))
    if edges.open:
        most = configuration.vcpus == model.measured.vcpus[-1]
        found.append(reason(ReasonCode.SIZE_OPEN, vcpus=vcpus_of(configuration), most=most, repeat=noisy(model)))
    if edges.beyond:
        found.append(edges.beyond.reason)
    if edges.more_memory:
        found.append(reason(ReasonCode.RISES_WITH_MEMORY, memory_bytes=largest))
    if edges.memory.is_doubted:
        found.append(reason(ReasonCode.MEMORY_UNSETTLED, memory_bytes=largest))
    return found


def _is_full(model: WorkloadModel, configuration: Configuration) -> bool:
    """Whether the next larger batch is known not to fit, so that what it would gain is no matter."""
    larger = math.ceil(CLOSE * model.measured.batch_size[-1])
    return predict(model, replace(configuration, batch_size=larger)).out_of_memory


def _gained(model: WorkloadModel, edge: Edge) -> dict[str, Figure]:
    """What twice the most measured should gain, and how likely that is more than is worth a size."""
    return {"vcpus": model.measured.vcpus[-1], "gain": edge.gain, "worth": GAIN, "probability": edge.probability}
