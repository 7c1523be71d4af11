"""One measured job as a question about GPUs: what its input side feeds an accelerator of some speed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from sizer.catalog.catalog import Catalog
from sizer.model.edge import accelerators_alone
from sizer.model.feeds import CPU_LABEL, label_at
from sizer.model.model import WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.instead import judged_by
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.errors import NoAnswer
from sizer.records.study import Deadline, Workload

ENDLESS = 1e6
"""An accelerator so many times as fast as the one measured never holds anything back."""


WIDEST = 10.0
"""Where an extrapolated input side may be so many times as fast at one end of its interval as at the other, it is not
known: between a machine that starves the GPU and one that feeds several nothing is decided."""


class InputNotKnown(NoAnswer):
    """What so many vCPUs feed does not follow from those that were measured."""

    def __init__(self, vcpus: float | None) -> None:
        super().__init__("input side not known")
        self.vcpus = vcpus


@dataclass(frozen=True)
class Fed:
    """The rate of a job with accelerators of some speed: what its input side allows, and both together."""

    input_rate: Estimate
    throughput: Estimate
    bottleneck: Bottleneck
    sure: bool
    extrapolated: bool


@dataclass(frozen=True)
class GpuJob:
    """One measured job with its answer, as a question about GPUs."""

    model: WorkloadModel
    workload: Workload
    precision: str | None
    answer: Answer
    catalog: Catalog
    deadline: Deadline | None

    @cached_property
    def here(self) -> Configuration | None:
        """The configuration that its input side is taken from: the answer's, else the fastest measured."""
        rates = self.model.measured.rates
        if self.answer.spec is not None:
            return judged_by(self.model, self.answer.spec)
        return max(rates, key=lambda rate: rate.throughput.value).configuration if rates else None

    @property
    def on_cpu(self) -> bool:
        """Whether the CPU computed the step where it was measured."""
        return self.here is not None and label_at(self.model.facts, self.here) == CPU_LABEL

    @property
    def batch_size(self) -> int | None:
        return None if self.here is None else self.here.batch_size

    def fed(self, vcpus: float | None, accelerator: Estimate) -> Fed:
        """With these vCPUs (as measured where None). Raises NoAnswer where the runs say nothing of the input side."""
        assert self.here is not None, "asked only where something was measured"
        here = self.here if vcpus is None else replace(self.here, vcpus=vcpus)
        if self.on_cpu:
            alone = predict(self.model, here, WhatIf(step_elsewhere=True))
        else:
            alone = predict(self.model, here, WhatIf(gpu_speedup=ENDLESS))
        if alone.out_of_memory:
            raise NoAnswer("out of memory")
        known = None if self.on_cpu else accelerators_alone(self.model, here)
        if known is None:
            both = _least(alone.throughput, accelerator)
        else:
            ends = (accelerator.low, accelerator.value, accelerator.high)
            low, value, high = (predict(self.model, here, WhatIf(gpu_speedup=end / known)).throughput for end in ends)
            # No faster than either of the two, whatever a prediction adds for what it does not know.
            most = max(value.value, min(high.high, accelerator.high, alone.throughput.high))
            both = Estimate(value.value, min(low.low, value.value), most)
        slower = accelerator.value <= alone.throughput.value
        surely_fed = accelerator.high < alone.throughput.low
        if alone.extrapolated and not surely_fed and alone.throughput.high > WIDEST * alone.throughput.low:
            raise InputNotKnown(here.vcpus)
        apart = surely_fed or alone.throughput.high < accelerator.low
        return Fed(
            alone.throughput, both, Bottleneck.ACCELERATOR if slower else alone.bottleneck, apart, alone.extrapolated
        )


def _least(one: Estimate, other: Estimate) -> Estimate:
    """The slower of two stages that overlap."""
    return Estimate(min(one.value, other.value), min(one.low, other.low), min(one.high, other.high))
