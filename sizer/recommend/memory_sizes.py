"""What one or two memory caps say: whether the job runs in them, and how fast. They are an answer, and no curve."""

from __future__ import annotations

import math

from sizer.model.advice import memory_matters
from sizer.model.memory import MARGIN, undroppable_bytes
from sizer.model.memory_sizes import MemoryCompared, asked_sizes, memory_compared
from sizer.model.model import WorkloadModel
from sizer.records.configuration import Configuration
from sizer.records.prediction import Figure, Reason, ReasonCode, reason
from sizer.records.units import MIB


def few_memory_caps(model: WorkloadModel, configuration: Configuration | None = None) -> list[Reason]:
    """What is known where a study asks for one or two memory caps; nothing where it asks for none, or for more.

    The rates are those at this configuration, if it was measured with both, else over all that were.
    """
    measured = model.measured
    tried = asked_sizes(measured)
    held = {trial.memory_bytes for trial in measured.trials if trial.asked and trial.completed}
    if tried and not held:
        return [reason(ReasonCode.MEMORY_FLOOR, caps_killed=tuple(map(float, tried)))]
    if len(tried) == 1:
        return [reason(ReasonCode.FEW_MEMORY_CAPS, memory_bytes=float(tried[0]))]
    if len(tried) == 2 and len(held) == 1:
        between = round(math.sqrt(tried[0] * tried[1]) / MIB) * MIB
        return [reason(ReasonCode.FEW_MEMORY_CAPS, memory_bytes=float(min(held)), more=float(between))]
    compared = memory_compared(measured, configuration)
    return [] if compared is None else [_two_rates(model, compared)]


def _two_rates(model: WorkloadModel, compared: MemoryCompared) -> Reason:
    """Whether the rates in both differ by more than chance."""
    overall = memory_compared(model.measured) or compared
    figures: dict[str, Figure] = {
        "low_bytes": float(compared.low),
        "high_bytes": float(compared.high),
        "gain": compared.gain,
        "clear": compared.clear,
        "predicted": not memory_matters(model),
        "more": _third_size(model, overall),
    }
    if len(compared.pairs) == 1:
        less, more = compared.pairs[0]
        figures |= {
            "rate_low": less.throughput.value,
            "rate_high": more.throughput.value,
            "vcpus": more.configuration.vcpus,
        }
    return reason(ReasonCode.FEW_MEMORY_CAPS, **figures)


def _third_size(model: WorkloadModel, compared: MemoryCompared) -> float | None:
    """The cap that would tell most: more where more was faster, else less, as far as the job may run in that."""
    if compared.clear:
        return 2.0 * compared.high
    needed = undroppable_bytes(model.measured, None, None) or 0
    less = max(compared.low / 2, MARGIN * needed)
    return float(math.ceil(less / MIB) * MIB) if less < 0.9 * compared.low else None
