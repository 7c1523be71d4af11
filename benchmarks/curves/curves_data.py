"""Curves of throughput by vCPUs that others measured on real machines; a third of the machines stays out of every fit.

`README.md` beside this file says where each is from and under which licence. Pure but for reading these files.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
MACHINES, JPEG, LOADERS, OTHERS = "machines", "JPEG by yields", "loaders", "others"
MOST = 5
"""Places of a curve that are used: tables have three to five vCPU values."""


@dataclass(frozen=True)
class RealCurve:
    """One curve: samples per second at rising numbers of busy vCPUs; `kind` says which file it is from.

    JPEG: a machine's curve up to its cores, and from there on with the yield that its CPU has for JPEG.
    """

    kind: str
    name: str
    cpu_model: str
    places: tuple[float, ...]
    rates: tuple[float, ...]

    @property
    def held_out(self) -> bool:
        """Whether no constant of the model may be learnt from it: a third of the CPU models, or names of `others`."""
        return hashlib.sha256(self.cpu_model.upper().encode()).digest()[0] % 3 == 0


@dataclass(frozen=True)
class Asked:
    """One inner place that is left out of a curve, with the three or four that are measured."""

    curve: RealCurve
    measured: tuple[int, ...]
    left_out: int


def real_curves() -> list[RealCurve]:
    """All of them, those with three places at least."""
    machines = _grouped("scaling_curves.csv", ("provider", "instance_type", "cpu_model", "vcpus"))
    found = [
        RealCurve(MACHINES, f"{key[0]} {key[1]}", key[2], *_points(rows, "processes", "bogo_ops_per_second"))
        for key, rows in machines.items()
    ]
    yields = {
        key[0]: float(rows[0]["jpeg_smt_yield"]) for key, rows in _grouped("jpeg_yields.csv", ("cpu_model",)).items()
    }
    halved = {key for key, rows in machines.items() if rows[0]["threads_per_core"] == "2"}
    found += [
        _with_yield(curve, yields[curve.cpu_model])
        for key, curve in zip(machines, list(found), strict=True)
        if key in halved and curve.cpu_model in yields and curve.places[-1] / 2 in curve.places
    ]
    for key, rows in _grouped("loaders.csv", ("cpu_model", "decoder")).items():
        places = _points(rows, "processes", "images_per_second")
        found.append(RealCurve(LOADERS, f"{key[1]} on {key[0]}", key[0], *places))
    for key, rows in _grouped("others.csv", ("curve",)).items():
        found.append(RealCurve(OTHERS, key[0], key[0], *_points(rows, "vcpus", "rate")))
    return [curve for curve in found if len(curve.places) > 2]


def _with_yield(curve: RealCurve, gain: float) -> RealCurve:
    cores = curve.places[-1] / 2
    whole = curve.rates[curve.places.index(cores)]
    rates = [
        rate if place <= cores else whole * (1 + gain * (place - cores) / cores)
        for place, rate in zip(curve.places, curve.rates, strict=True)
    ]
    return RealCurve(JPEG, curve.name, curve.cpu_model, curve.places, tuple(rates))


def questions(curve: RealCurve) -> list[Asked]:
    """Of the places that halve the most of them, down to MOST, each inner one in turn is left out."""
    chosen = _halving(curve.places)
    return [
        Asked(curve, tuple(index for index in chosen if index != out), out) for out in chosen[1:-1] if len(chosen) > 3
    ]


def _halving(places: Sequence[float]) -> list[int]:
    wanted = [places[-1] / 2**step for step in range(MOST)]
    wanted = [place for place in wanted if place > places[0] / math.sqrt(2)]
    near = {min(range(len(places)), key=lambda i: abs(math.log(places[i] / place))) for place in wanted}
    return sorted(near)


def _grouped(name: str, key: Sequence[str]) -> Mapping[tuple[str, ...], list[dict[str, str]]]:
    found: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[tuple(row[column] for column in key)].append(row)
    return found


def _points(rows: Iterable[Mapping[str, str]], place: str, rate: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    known = sorted((float(row[place]), float(row[rate])) for row in rows)
    return tuple(one for one, _ in known), tuple(other for _, other in known)
