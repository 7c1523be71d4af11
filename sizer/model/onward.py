"""What a rate that still rises may become beyond the most vCPUs measured, by Amdahl's law."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizer.model.ceilings import known_ceilings
from sizer.model.coordinates import vcpus_of
from sizer.model.edge import before_the_last_doubling, vcpus_edge
from sizer.model.model import WorkloadModel
from sizer.model.predicted_rates import predict_rates
from sizer.model.trend import GAIN, Edge, Trend
from sizer.records import Bottleneck, Configuration

ENOUGH = 3
"""vCPU values below which nothing is said of other vCPUs at all."""


@dataclass(frozen=True)
class Onward:
    """Ln samples per second: at the most measured, by Amdahl's law, and if every doubling gained as the last did."""

    now: float
    expected: float
    highest: float


def still_rises(model: WorkloadModel, configuration: Configuration) -> Edge | None:
    """The edge on this disk and batch size where the rate still rises and no known ceiling says how far."""
    if len(model.measured.vcpus) < ENOUGH:
        return None
    edge = vcpus_edge(model, replace(configuration, vcpus=model.measured.vcpus[-1]))
    return edge if edge.trend is Trend.RISING and not edge.predicted else None


def onward(model: WorkloadModel, configuration: Configuration) -> Onward | None:
    """Beyond a curve that still rises; None elsewhere.

    Amdahl (1967): seconds a sample are A + B / c, so the next doubling saves half of the seconds that the last one did.
    The fit itself cannot say: a cap just above the last point explains the same runs. Known ceilings bound it.
    """
    known = model.measured.vcpus
    if len(known) < ENOUGH:
        return None
    most = known[-1]
    if vcpus_of(configuration) <= most or still_rises(model, configuration) is None:
        return None
    few = before_the_last_doubling(model)
    less, now = _ends(model, replace(configuration, vcpus=most), few)
    ceiling = max(now, float(known_ceilings(model, [configuration])[0]))
    divided = (math.exp(-less) - math.exp(-now)) / (1 / few - 1 / most)
    seconds = math.exp(-now) - divided * (1 / most - 1 / vcpus_of(configuration))
    repeated = now + (now - less) * math.log(vcpus_of(configuration) / most) / math.log(most / few)
    linear = now + math.log(vcpus_of(configuration) / most)
    expected = min(linear, -math.log(seconds) if seconds > 0 else linear)
    return Onward(now, min(ceiling, expected), min(ceiling, max(expected, repeated)))


def _ends(model: WorkloadModel, at_most: Configuration, few: float) -> tuple[float, float]:
    """Ln rates before and after the last doubling; found once for each model."""
    found = model.last_doublings.get(at_most)
    if found is None:
        less, now = predict_rates(model, [replace(at_most, vcpus=few), at_most]).mean
        found = model.last_doublings[at_most] = float(less), float(now)
    return found


def split_by_last_doubling(
    model: WorkloadModel, configuration: Configuration, shares: dict[str, float]
) -> dict[str, float]:
    """The shares, with those of CPU and serial part read off the last doubling while the rate still rises.

    ln gain over ln 2 is the CPU's part of the two: a cap that is fitted just above the last point would call all of it
    serial, against the curve. Below the last doubling, and where the rate no longer rises, the fit's shares are used.
    """
    serial, cpu = Bottleneck.SERIAL.value, Bottleneck.CPU.value
    known = model.measured.vcpus
    if len(known) < ENOUGH or serial not in shares:
        return shares
    if not before_the_last_doubling(model) < vcpus_of(configuration) <= known[-1]:
        return shares
    edge = still_rises(model, configuration)
    if edge is None:
        return shares
    both = shares.get(cpu, 0.0) + shares[serial]
    part = max(shares.get(cpu, 0.0) / both, min(1.0, math.log2(1 + edge.gain)))
    return shares | {cpu: part * both, serial: (1 - part) * both}


def is_open(model: WorkloadModel, configuration: Configuration, found: Onward | None) -> bool:
    """Whether the fit's own answer there is so far from Amdahl's that its shares say nothing."""
    return found is not None and found.expected > float(predict_rates(model, [configuration]).mean[0]) + math.log(
        1 + GAIN
    )
