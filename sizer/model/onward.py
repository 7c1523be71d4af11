"""What a rate that still rises may become beyond the most vCPUs measured, by Amdahl's law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sizer.model.ceilings import known_ceilings
from sizer.model.coordinates import vcpus_of
from sizer.model.edge import before_the_last_doubling, vcpus_edge, vcpus_edges
from sizer.model.model import WorkloadModel
from sizer.model.predicted_rates import mean_rates
from sizer.model.trend import GAIN, Edge
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
    return edge if _rises(edge) else None


def _rises(edge: Edge) -> bool:
    return edge.rises_likely and not edge.predicted


def look_onward(model: WorkloadModel, configurations: Sequence[Configuration], with_shares: bool = True) -> None:
    """Find at once what `onward` and, with shares, `split_by_last_doubling` ask for of each of these, as the model
    keeps it."""
    known = model.measured.vcpus
    if len(known) < ENOUGH:
        return
    few = before_the_last_doubling(model)
    asked = [each for each in configurations if vcpus_of(each) > (few if with_shares else known[-1])]
    most = dict.fromkeys(replace(each, vcpus=known[-1]) for each in asked)
    rising = [at for at, edge in zip(most, vcpus_edges(model, list(most)), strict=True) if _rises(edge)]
    new = [at for at in rising if at not in model.last_doublings]
    if new:
        rates = mean_rates(model, [*(replace(at, vcpus=few) for at in new), *new])
        ends = zip(rates[: len(new)], rates[len(new) :], strict=True)
        model.last_doublings.update((at, (float(less), float(now))) for at, (less, now) in zip(new, ends, strict=True))
    beyond = [each for each in asked if vcpus_of(each) > known[-1]]
    if beyond:
        known_ceilings(model, beyond)


def onward(model: WorkloadModel, configuration: Configuration) -> Onward | None:
    """Beyond a curve that still rises, after `look_onward`; None elsewhere.

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
    less, now = model.last_doublings[replace(configuration, vcpus=most)]
    ceiling = max(now, float(known_ceilings(model, [configuration])[0]))
    divided = (math.exp(-less) - math.exp(-now)) / (1 / few - 1 / most)
    seconds = math.exp(-now) - divided * (1 / most - 1 / vcpus_of(configuration))
    repeated = now + (now - less) * math.log(vcpus_of(configuration) / most) / math.log(most / few)
    linear = now + math.log(vcpus_of(configuration) / most)
    expected = min(linear, -math.log(seconds) if seconds > 0 else linear)
    return Onward(now, min(ceiling, expected), min(ceiling, max(expected, repeated)))


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


def is_open(log_rate: float, found: Onward | None) -> bool:
    """Whether the fit's own ln rate there is so far from Amdahl's that its shares say nothing."""
    return found is not None and found.expected > log_rate + math.log(1 + GAIN)
