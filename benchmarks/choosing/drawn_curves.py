"""Curves over vCPUs of the shapes that tables from elsewhere have, drawn with a known truth. Pure.

2 to 512 vCPUs, 0.1 to a million samples a second, 4 to 200 points, noisy to 10 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from accuracy_network import Array, Random
from curves_data import Curve


def _flat(_: Array, __: Random) -> Array:
    return np.zeros(1)


def _linear(c: Array, _: Random) -> Array:
    found: Array = np.log(c)
    return found


def _saturating(c: Array, random: Random) -> Array:
    found: Array = np.log(c / (1 + random.uniform(0.01, 0.2) * (c - 1)))
    return found


def _knee(c: Array, random: Random) -> Array:
    sharp, limit = random.uniform(3, 20), math.exp(random.uniform(math.log(c[0]), math.log(c[-1])))
    found: Array = -np.log(c**-sharp + limit**-sharp) / sharp
    return found


def _retrograde(c: Array, random: Random) -> Array:
    """Up to somewhere inside of the range, then down again by up to half."""
    peak = math.exp(random.uniform(math.log(c[-1]) - 1.6, math.log(c[-1]) - 0.4))
    found: Array = np.log(c / (1 + random.uniform(0.0, 0.05) * (c - 1) + (c / peak) ** 2))
    return found


def _falling(c: Array, random: Random) -> Array:
    """Slower with every further one, as loaders that start anew for each epoch."""
    found: Array = -random.uniform(0.1, 0.8) * np.log(c) - random.uniform(0.0, 0.02) * c
    return found


def _hyperthreads(c: Array, random: Random) -> Array:
    half, siblings = c[-1] / 2, random.uniform(0.15, 0.5)
    found: Array = np.log(np.minimum(c, half) + siblings * np.maximum(0.0, c - half))
    return found


def _irregular(c: Array, random: Random) -> Array:
    """A saturating curve with bumps of a few percent that repeat: placement, sizes that do not divide."""
    bumps = random.uniform(0.02, 0.06) * np.sin(random.uniform(2, 5) * np.log(c) + random.uniform(0, 6))
    found: Array = _saturating(c, random) + bumps
    return found


SHAPES: dict[str, Callable[[Array, Random], Array]] = {
    "flat": _flat,
    "linear": _linear,
    "saturating": _saturating,
    "knee": _knee,
    "retrograde": _retrograde,
    "falling": _falling,
    "hyperthreads": _hyperthreads,
    "irregular": _irregular,
}


def drawn(shape: str, number: int, seed: int) -> Curve:
    """A curve of that shape; the same for the same seed."""
    random = np.random.default_rng([seed, number, list(SHAPES).index(shape)])
    places = _places(random)
    values = np.broadcast_to(SHAPES[shape](np.array(places), random), (len(places),))
    rate = math.exp(random.uniform(math.log(0.1), math.log(1e6))) / math.exp(float(values.max()))
    truth = tuple(float(rate * math.exp(value)) for value in values)
    return Curve("drawn", shape, "vcpus", places, truth, float(random.choice([0.003, 0.01, 0.03, 0.1])))


def _places(random: Random) -> tuple[float, ...]:
    most = int(random.choice([4, 8, 16, 32, 64, 96, 128, 256, 512]))
    count = int(random.choice([5, 6, 8, 12, 40, 200]))
    spaced = np.unique(
        np.round(np.geomspace(1, most, count)) if random.random() < 0.6 else np.linspace(1, most, count).round()
    )
    return tuple(float(value) for value in spaced)
