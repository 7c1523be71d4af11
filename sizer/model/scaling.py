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
    "power": ("exponent",),
    "usl": ("contention", "coherence"),
    "siblings": ("overhead", "knee", "yield"),
    "knee": ("overhead", "knee", "yield"),
    "paired": ("yield",),
}
"""USL: Gunther 2007; without coherence it is Amdahl's law. `knee`: each sample costs more as soon as several vCPUs
work, by handing data on or clocks that fall, and from some number of vCPUs on each adds only its yield; `siblings`: the
same where the second halves of hyperthreaded cores begin, at half of the vCPUs; `paired`: every second vCPU is the
other half of a core, as clouds hand them out. The power law covers what none of them describes."""

LEAST = 0.02
"""The part of the linear capacity that a falling yield leaves at the least."""


@dataclass(frozen=True)
class Scaled:
    """Ln factor on the linear CPU time (R, n), the part of it that is contention (R, n), d ln factor / d parameter."""

    log_factor: Array
    contention: Array
    slopes: dict[str, Array]


def scale(form: str, vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """One form at vCPUs (n,) for R parameter vectors; `parameter` gives the values (R, 1) of a name."""
    return FORMS[form](vcpus[None], parameter)


def _linear(vcpus: Array, _: Callable[[str], Array]) -> Scaled:
    return Scaled(np.zeros_like(vcpus), np.zeros_like(vcpus), {})


def _power(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    exponent, above = parameter("exponent"), np.maximum(0.0, np.log(vcpus))
    wasted = np.where(above > 0, np.clip(1 - exponent, 0.0, 1.0), 0.0)
    return Scaled((1 - exponent) * above, wasted, {"exponent": np.broadcast_to(-above, wasted.shape)})


def _overhead(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """`1 + o (1 - 1/c)`: of what c of them make, all but the part that stays on one of them costs the overhead."""
    overhead, inverse = np.exp(np.clip(parameter("overhead"), -40, 5)), 1 / np.maximum(1.0, vcpus)
    whole = 1 + overhead * (1 - inverse)
    wasted = np.where(vcpus > 1, np.minimum(overhead * inverse / whole, 1.0), 0.0)
    return Scaled(np.log(whole), wasted, {"overhead": overhead * (1 - inverse) / whole})


def _usl(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    share, slope = _share(parameter("contention"))
    extra = np.maximum(0.0, vcpus - 1)
    coherent = np.exp(parameter("coherence")) * extra * vcpus
    whole = 1 + share * extra + coherent
    slopes = {"contention": slope * extra / whole, "coherence": coherent / whole}
    return Scaled(np.log(whole), (share * extra + coherent) / whole, slopes)


def _share(logit: Array) -> tuple[Array, Array]:
    """A share between 0 and 1 of its logit, and its derivative."""
    share = 1 / (1 + np.exp(-np.clip(logit, -40, 40)))
    return share, share * (1 - share)


def _knee(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    knee, gain = np.maximum(1.0, np.exp(np.clip(parameter("knee"), -5, 15))), parameter("yield")
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
    wasted = shared.contention + np.where(over > 0, np.clip(1 - gain * vcpus / effective, 0.0, 1.0), 0.0)
    return Scaled(shared.log_factor + np.log(vcpus / effective), np.minimum(wasted, 1.0), slopes)


def _paired(vcpus: Array, parameter: Callable[[str], Array]) -> Scaled:
    """A fraction is a quota over the next whole number of vCPUs, which all run for that share of the time."""
    given = parameter("yield")
    gain = np.clip(given, 0.05, 1.5)
    whole = np.ceil(vcpus)
    seconds = np.floor(whole / 2)
    effective = (whole - seconds + gain * seconds) * vcpus / whole
    slopes = {"yield": np.where(gain == given, -seconds * vcpus / whole / effective, 0.0)}
    return Scaled(np.log(vcpus / effective), np.zeros_like(effective), slopes)


FORMS: dict[str, Callable[[Array, Callable[[str], Array]], Scaled]] = {
    "linear": _linear,
    "power": _power,
    "usl": _usl,
    "siblings": _knee,
    "knee": _knee,
    "paired": _paired,
}
