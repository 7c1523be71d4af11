"""What one or two memory caps say: whether the job runs in them, and how fast. They are an answer, and no curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from sizer.model import MARGIN, MeasuredRate, WorkloadModel, memory_matters, undroppable_bytes
from sizer.records import MIB, Configuration, Reason, ReasonCode, reason

CHANCE = 1.96
"""Standard deviations that two rates differ by chance, in one of twenty cases at the most."""

LEAST_NOISE = 0.005
"""Standard deviation of ln rate between two runs of one configuration that is believed at the least."""

NORMAL_95 = 1.96


def few_memory_caps(model: WorkloadModel, configuration: Configuration | None = None) -> list[Reason]:
    """What is known where a study asks for one or two memory caps; nothing where it asks for none, or for more.

    The rates are those at this configuration, if it was measured with both, else over all that were.
    """
    measured = model.measured
    trials = [trial for trial in measured.trials if trial.asked]
    held = sorted({trial.memory_bytes for trial in trials if trial.completed})
    tried = sorted({trial.memory_bytes for trial in trials})
    if not held:
        return [reason(ReasonCode.EVERY_CAP_KILLED, killed=tuple(map(float, tried)))] if tried else []
    if len(tried) == 1:
        return [reason(ReasonCode.ONE_MEMORY_CAP, memory_bytes=float(tried[0]))]
    if len(tried) > 2:
        return []
    low, high = tried
    return [_two_rates(model, low, high, configuration)] if len(held) == 2 else [_one_rate(model, low, high)]


def _one_rate(model: WorkloadModel, low: int, high: int) -> Reason:
    """One cap was too small, so that the other alone has a rate."""
    between = round(math.sqrt(low * high) / MIB) * MIB
    return reason(ReasonCode.ONE_MEMORY_RATE, memory_bytes=float(high), more=float(between))


def _two_rates(model: WorkloadModel, low: int, high: int, configuration: Configuration | None) -> Reason:
    """Whether the rates in both differ by more than chance."""
    pairs = list(_pairs(model, low, high))
    here = [pair for pair in pairs if configuration is not None and _alike(pair[1].configuration, configuration)]
    shown = here or pairs
    known: dict[str, float | bool | None] = {"low": float(low), "high": float(high)}
    if shown:
        logs = [math.log(more.throughput.value / less.throughput.value) for less, more in shown]
        variance = sum(_variance(model, less) + _variance(model, more) for less, more in shown) / len(shown) ** 2
        gain = sum(logs) / len(logs)
        known["gain"] = math.expm1(gain)
        known["clear"] = abs(gain) > CHANCE * math.sqrt(variance)
        if len(shown) == 1:
            less, more = shown[0]
            known |= {"rate_low": less.throughput.value, "rate_high": more.throughput.value}
            known["vcpus"] = more.configuration.vcpus
    known["more"] = _third_size(model, low, high, bool(known.get("clear")))
    known["predicted"] = not memory_matters(model)
    return reason(ReasonCode.TWO_MEMORY_RATES, **known)


def _pairs(model: WorkloadModel, low: int, high: int) -> Iterable[tuple[MeasuredRate, MeasuredRate]]:
    """The rates with less memory and with more, where all else is alike."""
    rates = {rate.configuration: rate for rate in model.measured.rates}
    for configuration, more in rates.items():
        less = rates.get(replace(configuration, memory_bytes=low))
        if configuration.memory_bytes == high and less is not None:
            yield less, more


def _alike(one: Configuration, other: Configuration) -> bool:
    return replace(one, memory_bytes=None) == replace(other, memory_bytes=None)


def _variance(model: WorkloadModel, rate: MeasuredRate) -> float:
    """Of the ln of a rate: what its own interval says, and at the least what runs of this workload differ by."""
    own = math.log(rate.throughput.high / rate.throughput.low) / (2 * NORMAL_95) if rate.throughput.low > 0 else 1.0
    return max(LEAST_NOISE, model.noise, own) ** 2 / rate.runs


def _third_size(model: WorkloadModel, low: int, high: int, clear: bool) -> float | None:
    """The cap that would tell most: more where more was faster, else less, as far as the job may run in that."""
    if clear:
        return 2.0 * high
    needed = undroppable_bytes(model.measured, None, None) or 0
    less = max(low / 2, MARGIN * needed)
    return float(math.ceil(less / MIB) * MIB) if less < 0.9 * low else None
