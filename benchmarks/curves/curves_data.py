"""Curves of throughput that others measured on real machines; a third of the machines stays out of every fit.

`README.md` beside this file says where each is from and under which licence. Pure but for reading these files.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

FOLDER = Path(__file__).parent
MACHINES, JPEG, LOADERS, OTHERS = "machines", "JPEG by yields", "loaders", "others"
MOST = 5
"""Places of a curve that are used: tables have three to five vCPU values."""


@dataclass(frozen=True)
class Curve:
    """Samples per second at rising numbers of vCPUs; `kind` is the file that it is from.

    JPEG: a machine's curve up to its cores, and from there on with the yield that its CPU has for JPEG.
    """

    kind: str
    name: str
    places: tuple[float, ...]
    rates: tuple[float, ...]
    cpu_model: str = ""

    @property
    def held_out(self) -> bool:
        """Whether nothing of the model may be set by it: a third of the CPU models, or names of `others`."""
        return hashlib.sha256((self.cpu_model or self.name).upper().encode()).digest()[0] % 3 == 0

    def at(self, kept: Sequence[int]) -> Curve:
        """The same at these of its places."""
        return replace(self, places=tuple(self.places[i] for i in kept), rates=tuple(self.rates[i] for i in kept))


def real_curves() -> list[Curve]:
    """Those over vCPUs with three places at least."""
    machines = _grouped("scaling_curves.csv", ("provider", "instance_type", "cpu_model", "vcpus"))
    yields = {
        name: float(row["jpeg_smt_yield"]) for (name,), (row, *_) in _grouped("jpeg_yields.csv", ("cpu_model",)).items()
    }
    curves, by_yields = [], []
    for (provider, name, model, _), rows in machines.items():
        points = _points(rows, "processes", "bogo_ops_per_second")
        curves.append(Curve(MACHINES, f"{provider} {name}", *points, cpu_model=model))
        if rows[0]["threads_per_core"] == "2" and model in yields and curves[-1].places[-1] / 2 in curves[-1].places:
            by_yields.append(_with_yield(curves[-1], yields[model]))
    curves += by_yields
    for (model, decoder), rows in _grouped("loaders.csv", ("cpu_model", "decoder")).items():
        points = _points(rows, "processes", "images_per_second")
        curves.append(Curve(LOADERS, f"{decoder} on {model}", *points, cpu_model=model))
    for (name,), rows in _grouped("others.csv", ("curve",)).items():
        curves.append(Curve(OTHERS, name, *_points(rows, "vcpus", "rate")))
    return [curve for curve in curves if len(curve.places) > 2]


def questions(curve: Curve) -> list[tuple[Curve, int]]:
    """The curve at the places that halve the most of them, down to MOST, and each inner one in turn to leave out."""
    places = curve.places
    wanted = [place for step in range(MOST) if (place := places[-1] / 2**step) > places[0] / math.sqrt(2)]
    near = {min(range(len(places)), key=lambda i: abs(math.log(places[i] / place))) for place in wanted}
    return [(curve.at(sorted(near)), out) for out in range(1, len(near) - 1) if len(near) > 3]


def _with_yield(curve: Curve, gain: float) -> Curve:
    cores = curve.places[-1] / 2
    whole = curve.rates[curve.places.index(cores)]
    rates = [
        rate if place <= cores else whole * (1 + gain * (place - cores) / cores)
        for place, rate in zip(curve.places, curve.rates, strict=True)
    ]
    return replace(curve, kind=JPEG, rates=tuple(rates))


def _grouped(name: str, key: Sequence[str]) -> Mapping[tuple[str, ...], list[dict[str, str]]]:
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            groups[tuple(row[column] for column in key)].append(row)
    return groups


def _points(rows: Sequence[Mapping[str, str]], place: str, rate: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    points = sorted((float(row[place]), float(row[rate])) for row in rows)
    return tuple(one for one, _ in points), tuple(other for _, other in points)
