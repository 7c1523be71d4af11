"""How the CPU's time for a sample falls with vCPUs: the forms that compete.

Each gives ln of the factor on `core-seconds / vCPUs` and which part of the CPU's time more vCPUs would not shorten.
Fractions of a vCPU are quotas, which are linear, so every form is 1 up to one vCPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

PARAMETERS = {
    "linear": (),
    "usl": ("contention", "coherence"),
    "siblings": ("overhead", "knee", "yield"),
    "paired": ("yield",),
}
"""USL: Gunther 2007; without coherence it is Amdahl's law. `siblings`: each sample costs more as soon as several vCPUs
work, by handing data on or clocks that fall, and from the knee on, where the second halves of hyperthreaded cores begin
at half of the vCPUs, each adds only its yield; `paired`: every second vCPU is the other half of a core, as clouds hand
them out."""

LEAST = 0.02
"""The part of the linear capacity that a falling yield leaves at the least."""
LEAST_YIELD, MOST_YIELD = -0.5, 1.5
"""Of the other half of a core: two threads of a matrix product may do less than one."""


@dataclass(frozen=True)
class Scaled:
    """Ln factor on the linear CPU time (R, n), the part of it that is contention (R, n), which predictions alone ask
    for, and d ln factor / d parameter."""

    log_factor: Array
    contention: Callable[[], Array]
    slopes: dict[str, Array]


def scale(form: str, vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """One form at vCPUs (n,) for R parameter vectors; `parameter` gives the values (R, 1) of a name."""
    return FORMS[form](vcpus[None], parameter)


def _linear(vcpus: Array, _: Callable[[str], Array]) -> Scaled:
    nothing = np.zeros_like(vcpus)
    return Scaled(nothing, lambda: nothing, {})


def _overhead(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """`1 + o (1 - 1/c)`: of what c of them make, all but the part that stays on one of them costs the overhead."""
    overhead, inverse = np.exp(_between(parameter("overhead"), -40, 5)), 1 / np.maximum(1.0, vcpus)
    whole = 1 + overhead * (1 - inverse)

    def wasted() -> Array:
        return np.where(vcpus > 1, np.minimum(overhead * inverse / whole, 1.0), 0.0)

    return Scaled(np.log(whole), wasted, {"overhead": overhead * (1 - inverse) / whole})


def _usl(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    share, slope = _share(parameter("contention"))
    extra = np.maximum(0.0, vcpus - 1)
    coherent = np.exp(parameter("coherence")) * extra * vcpus
    whole = 1 + share * extra + coherent
    slopes = {"contention": slope * extra / whole, "coherence": coherent / whole}
    return Scaled(np.log(whole), lambda: (share * extra + coherent) / whole, slopes)


def _between(values: Array, low: float, high: float) -> Array:
    """`np.clip`, which takes five times as long with few values."""
    found: Array = np.minimum(np.maximum(values, low), high)
    return found


def _share(logit: Array) -> tuple[Array, Array]:
    """A share between 0 and 1 of its logit, and its derivative."""
    share = 1 / (1 + np.exp(-_between(logit, -40, 40)))
    return share, share * (1 - share)


def _siblings(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    knee, gain = np.maximum(1.0, np.exp(_between(parameter("knee"), -5, 15))), parameter("yield")
    over = np.maximum(0.0, vcpus - knee)
    effective = np.minimum(vcpus, knee) + gain * over
    floor = LEAST * vcpus
    free = effective > floor
    effective = np.where(free, effective, floor)
    shared = _overhead(vcpus, parameter)
    slopes = shared.slopes | {
        "knee": np.where(free & (over > 0) & (knee > 1), -(1 - gain) * knee / effective, 0.0),
        "yield": np.where(free, -over / effective, 0.0),
    }

    def wasted() -> Array:
        beyond = np.where(over > 0, _between(1 - gain * vcpus / effective, 0.0, 1.0), 0.0)
        found: Array = np.minimum(shared.contention() + beyond, 1.0)
        return found

    return Scaled(shared.log_factor + np.log(vcpus / effective), wasted, slopes)


def _paired(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """A fraction is a quota over the next whole number of vCPUs, which all run for that share of the time."""
    given = parameter("yield")
    gain = _between(given, LEAST_YIELD, MOST_YIELD)
    whole = np.ceil(vcpus)
    seconds = np.floor(whole / 2)
    effective = (whole - seconds + gain * seconds) * vcpus / whole
    slopes = {"yield": np.where(gain == given, -seconds * vcpus / whole / effective, 0.0)}
    return Scaled(np.log(vcpus / effective), lambda: np.zeros_like(effective), slopes)


FORMS: dict[str, Callable[[Array, Callable[[str], Array]], Scaled]] = {
    "linear": _linear,
    "usl": _usl,
    "siblings": _siblings,
    "paired": _paired,
}
