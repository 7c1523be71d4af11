"""Where the answer stops at what was measured: what is said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import (
    BENT,
    CLOSE,
    GAIN,
    Edge,
    Trend,
    WorkloadModel,
    batch_edge,
    before_the_last_doubling,
    memory_edge,
    not_bought,
    predict,
    vcpus_edge,
    vcpus_of,
)
from sizer.recommend.beyond import Beyond, look_beyond
from sizer.records import Bottleneck, Configuration, EdgeState, Figure, Reason, ReasonCode, reason

CORRECTED = 0.02
"""By how much the gain of plain medians must differ from that on the host as it usually was to be told beside it."""
NO_EDGE = Edge()
"""Of an axis that was not varied."""


@dataclass(frozen=True)
class Edges:
    """Both edges of what was measured; `beyond` where the rate still rises with vCPUs and three values show how.

    `bound_by` is what holds the most vCPUs back by the curve although vCPUs do not buy it, or may (ambiguous): the last
    doubling gained, and the next one need not.
    """

    vcpus: Edge
    memory: Edge
    beyond: Beyond | None
    batch: Edge = NO_EDGE
    bound_by: Bottleneck | None = None

    @property
    def more_vcpus(self) -> bool:
        return self.vcpus.trend is Trend.RISING and self.bound_by is None

    @property
    def vcpus_unsettled(self) -> bool:
        """Whether it is to be said that the runs do not show whether more vCPUs pay."""
        return self.vcpus.trend is Trend.UNSETTLED or self.bound_by is not None

    @property
    def more_memory(self) -> bool:
        return self.memory.trend is Trend.RISING

    @property
    def open(self) -> bool:
        """Whether nothing shows that more vCPUs than the most measured would pay, nor that they would not."""
        if self.vcpus.trend is Trend.RISING:
            return self.bound_by is not None
        return self.vcpus.trend is Trend.UNSETTLED and not self.vcpus.saturated

    def unsettled_at(self, configuration: Configuration, model: WorkloadModel) -> bool:
        """Whether this size is the most measured and nothing shows that more would not pay."""
        return self.open and configuration.vcpus == model.measured.vcpus[-1]

    def state(self, status: str) -> EdgeState:
        """What makes a lower bound one: the rate is seen to rise, or nothing shows whether it does."""
        if status != "at_least":
            return "settled"
        return "rising" if self.more_vcpus or self.more_memory else "unsettled"

    def status(self, configuration: Configuration, model: WorkloadModel, sure: bool) -> str:
        """`recommended` needs evidence: the rate no longer rises, or a size below the most measured surely suffices."""
        rises = self.more_vcpus or self.more_memory
        gained = self.open and self.bound_by is not None
        unsettled = gained or self.unsettled_at(configuration, model) or (self.open and not sure)
        return "at_least" if rises or unsettled else "recommended"


def edges_of(model: WorkloadModel, best: Configuration, catalog: Catalog) -> Edges:
    """Whether more than the most measured would pay, and what lies there."""
    vcpus = vcpus_edge(model, best)
    bent = vcpus.trend is Trend.RISING and not vcpus.predicted and vcpus.gain < BENT
    bound_by = _bound_by(model, best) if bent else None
    rises = vcpus.trend is Trend.RISING and bound_by is None and len(model.measured.vcpus) > 2
    beyond = look_beyond(model, best, catalog) if rises else None
    return Edges(vcpus, memory_edge(model, best), beyond, batch_edge(model, best), bound_by)


def _bound_by(model: WorkloadModel, best: Configuration) -> Bottleneck | None:
    """What binds at the most vCPUs measured, if vCPUs do not buy it, and ambiguous where something such may bind.

    A step across the knee gains, and the rate rises no further; but so does one onto the second thread of each core,
    and more cores would pay. A curve alone does not tell the two apart, so nothing is said to rise, nor to be enough.
    """
    most = replace(best, vcpus=model.measured.vcpus[-1])
    found = predict(model, most)
    return not_bought(found.bottleneck, found.shares)


def noisy(model: WorkloadModel) -> bool:
    """Whether a run moves by more from one time to the next than a gain that would count."""
    return model.noise > GAIN


def edge_reasons(model: WorkloadModel, edges: Edges, configuration: Configuration) -> list[Reason]:
    """First of all reasons: the edges that bound the answer, and those that may."""
    largest = float(max(model.measured.memory_bytes, default=0))
    found = []
    if edges.more_vcpus:
        found.append(reason(ReasonCode.RISES_WITH_VCPUS, **_gained(model, edges.vcpus)))
    if edges.batch.trend is Trend.RISING and not _is_full(model, configuration):
        batch = float(model.measured.batch_size[-1])
        found.append(reason(ReasonCode.RISES_WITH_BATCH, batch_size=batch, gain=edges.batch.gain))
    if edges.vcpus_unsettled:
        found += _unsettled(model, edges, configuration)
    if edges.beyond:
        found.append(edges.beyond.reason)
    if edges.more_memory:
        found.append(reason(ReasonCode.RISES_WITH_MEMORY, memory_bytes=largest))
    if edges.memory.trend is Trend.UNSETTLED:
        found.append(reason(ReasonCode.MEMORY_UNSETTLED, memory_bytes=largest))
    return found


def _is_full(model: WorkloadModel, configuration: Configuration) -> bool:
    """Whether the next larger batch is known not to fit, so that what it would gain is no matter."""
    larger = math.ceil(CLOSE * model.measured.batch_size[-1])
    return predict(model, replace(configuration, batch_size=larger)).out_of_memory


def _gained(model: WorkloadModel, edge: Edge) -> dict[str, Figure]:
    """What the last doubling gained, by the fitted curve and where they differ by the runs (`seen`).

    `raw` is that of the plain medians of their rates, where that is another figure, `off` how far the runs may be off,
    where that is more than they show.

    `foretold`: what the next doubling should gain up to a known ceiling.
    """
    seen = edge.seen
    unclear = seen is not None and not seen.is_clear and seen.deviation > GAIN and edge.gain > GAIN
    told = seen if unclear or (seen is not None and abs(seen.gain - edge.gain) > GAIN) else None
    return {
        "vcpus": model.measured.vcpus[-1],
        "before": before_the_last_doubling(model),
        "gain": edge.gain,
        "seen": None if told is None else told.gain,
        "raw": told.raw if told is not None and abs(told.raw - told.gain) > CORRECTED else None,
        "off": math.expm1(told.deviation) if told is not None and unclear else None,
        "foretold": edge.predicted,
    }


def _unsettled(model: WorkloadModel, edges: Edges, configuration: Configuration) -> list[Reason]:
    edge = edges.vcpus
    bound = {} if edges.bound_by is None else {"bottleneck": edges.bound_by.value}
    figures = {"worth": GAIN, "probability": edge.probability} | bound
    pays = reason(ReasonCode.VCPUS_UNSETTLED, **_gained(model, edge), **figures)
    if not edges.open:
        return [pays]
    most = configuration.vcpus == model.measured.vcpus[-1]
    return [pays, reason(ReasonCode.SIZE_OPEN, vcpus=vcpus_of(configuration), most=most, repeat=noisy(model))]
