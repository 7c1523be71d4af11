"""Real curves and the measured grids asked otherwise than by the benchmark: three vCPU values, what lies beyond, noisy
hosts, hosts that say which vCPUs share a core, and other designs. Curves are those that taught the prior, and published
ones; what is held out chooses nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from ablation_cases import Judge, Outcome, grid_case, measured_grids
from ablation_drawn import GAIN
from accuracy_curves import Curve
from accuracy_grid import A_WORKLOAD, Group
from accuracy_scores import error
from accuracy_shapes import PUBLISHED_CURVES, configuration_at, run_at, told_of
from curves_data import JPEG, OTHERS, RealCurve, real_curves

from sizer.model import GAIN as GAIN_WORTH
from sizer.model import Trend, fit, predict, vcpus_edge, vcpus_of
from sizer.model.scaling_prior import FEWEST
from sizer.records import Bottleneck, Estimate, NoAnswer
from sizer.records.run import LimitedBy, LimitedByKind, Run

FEW, FURTHER, EDGE, PAIRS = "three vCPU values", "real curves, further", "noisy edges", "known pairs"
VALUES = 4
"""Places of a curve that halve each other: of a table of three one is left out, or the last is asked for."""
PLATEAU = (1.1, 1.8)
"""By how many times the rate rises over the last four-fold vCPUs of a table with a plateau."""
IN_PAIRS, WHOLE_CORES = ((1, 2, 3, 4), (1, 2, 4, 8), (2, 3, 4, 8)), (2, 4, 8)
"""vCPU values of hosts that say which of them share a core, and those that give no vCPU a core alone."""
SPARSE = 3, 6
"""The fewest and the most configurations of a design that has hardly any: the benchmark's own of twelve in all has
three a workload."""
NOISES = (0.03, 0.06, 0.1, 0.15)
"""Standard deviations of ln rate, one of which every run of a noisy edge has."""
CPU, SERIAL = 0.3, 0.7
"""`cpu` is right where ln rate rises by at least this much of ln vCPUs to one side, `serial` where by at most that."""


@lru_cache(maxsize=1)
def _curves() -> tuple[Curve, ...]:
    """By the file that they are from, in a `source`."""
    taught = [
        Curve(each.name, "vcpus", each.places, each.rates, 0.0, each.kind)
        for each in real_curves()
        if not each.held_out and each.kind != JPEG
    ]
    published = [
        Curve(each.shape, "vcpus", each.places, each.truth, 0.0, OTHERS)
        for each in PUBLISHED_CURVES
        if each.axis == "vcpus"
    ]
    return (*taught, *published)


def _tables(curve: Curve) -> list[tuple[int, ...]]:
    """Every four places in a row of those that halve the most of it, down to the fewest."""
    places, wanted = curve.places, curve.places[-1]
    chosen: set[int] = set()
    while wanted > places[0] / math.sqrt(2):
        chosen.add(min(range(len(places)), key=lambda i: abs(math.log(places[i] / wanted))))
        wanted /= 2
    halving = sorted(chosen)
    return [tuple(halving[at : at + VALUES]) for at in range(len(halving) - VALUES + 1)]


def _of(curve: Curve, chosen: Sequence[int]) -> Curve:
    places, truth = (tuple(values[at] for at in chosen) for values in (curve.places, curve.truth))
    return Curve(curve.shape, "vcpus", places, truth, 0.0, curve.source)


@lru_cache(maxsize=1)
def tables_of_three() -> tuple[Judge, ...]:
    """One for each curve: of all its tables of four each inner place is told by the three others."""
    return tuple(_three(curve) for curve in _curves() if _tables(curve))


@lru_cache(maxsize=1)
def plateaus() -> tuple[Judge, ...]:
    """The same of the tables that end in a plateau, and of the place between its ends alone."""
    return tuple(_three(curve, plateau=True) for curve in _curves() if any(map(_is_flat, _fours(curve))))


def _fours(curve: Curve) -> list[Curve]:
    return [_of(curve, chosen) for chosen in _tables(curve)]


def _is_flat(table: Curve) -> bool:
    return PLATEAU[0] <= table.truth[-1] / table.truth[-3] <= PLATEAU[1]


def _three(curve: Curve, plateau: bool = False) -> Judge:
    def judge() -> dict[str, Outcome]:
        tables = [table for table in _fours(curve) if not plateau or _is_flat(table)]
        asked = [(table, out) for table in tables for out in range(VALUES - 2 if plateau else 1, VALUES - 1)]
        found = [point for table, out in asked for point in told_of(table, table.truth, [out], with_rivals=False)[0]]
        covered = tuple(each.low <= each.truth <= each.high for each in found)
        return {FEW: Outcome(tuple(each.error for each in found), covered, kind=curve.source)}

    return judge


@lru_cache(maxsize=1)
def further_curves() -> tuple[Curve, ...]:
    """Those of which three places are known whose last doubling gains GAIN, and one more beyond."""
    return tuple(curve for curve in _curves() if _rising(curve))


def _rising(curve: Curve) -> list[Curve]:
    return [table for table in _fours(curve) if GAIN[0] <= table.truth[-2] / table.truth[-3] - 1 <= GAIN[1]]


def further(curve: Curve) -> Judge:
    """Of each of its tables the last place is told by the others, and what binds at the last of these."""

    def judge() -> dict[str, Outcome]:
        errors, covered, named = [], [], []
        for table in _rising(curve):
            points, _ = told_of(table, table.truth, [VALUES - 1], with_rivals=False)
            errors += [each.error for each in points]
            covered += [each.low <= each.truth <= each.high for each in points]
            named += _named(table)
        return {FURTHER: Outcome(tuple(errors), tuple(covered), named=tuple(named), kind=curve.source)}

    return judge


def _named(table: Curve) -> list[bool]:
    """Whether what binds at the last but one of its places is named right, from those before it; none if nothing is."""
    runs = [run_at(table, place, rate) for place, rate in zip(table.places[:-1], table.truth[:-1], strict=True)]
    try:
        named = predict(fit(runs).workloads[0], configuration_at(table, table.places[-2])).bottleneck
    except NoAnswer:
        return []
    ends = zip(table.places[-3:-1], table.places[-2:], table.truth[-3:-1], table.truth[-2:], strict=True)
    rises = [math.log(more / less) / math.log(many / few) for few, many, less, more in ends]
    right = {Bottleneck.CPU: max(rises) >= CPU, Bottleneck.SERIAL: min(rises) <= SERIAL}
    return [right[named]] if named in right else []


@lru_cache(maxsize=1)
def noisy_edges(seed: int) -> tuple[Judge, ...]:
    """One for each curve: of every three places that halve each other rates with noise are known, and their intervals.
    Judged is the probability that the last doubling gains what is worth a size, and what is called rising or flat."""
    return tuple(_edge(curve, number, seed) for number, curve in enumerate(_curves()) if _tables(curve))


def _edge(curve: Curve, number: int, seed: int) -> Judge:
    random = np.random.default_rng([seed, number, 10])
    studies = [(_noisy(table, random), table.truth[-1] / table.truth[-2] - 1 > GAIN_WORTH) for table in _fours(curve)]

    def judge() -> dict[str, Outcome]:
        errors, right = [], []
        for runs, gains in studies:
            edge = vcpus_edge(fit(runs).workloads[0], runs[-1].configuration)
            errors.append(abs(edge.probability - gains))
            if edge.trend is not Trend.UNSETTLED:
                right.append(gains is (edge.trend is Trend.RISING))
        return {EDGE: Outcome(tuple(errors), agrees=tuple(right), kind=curve.source)}

    return judge


def _noisy(table: Curve, random: np.random.Generator) -> list[Run]:
    """Of its three last places."""
    noise, found = float(random.choice(NOISES)), []
    for place, truth in list(zip(table.places, table.truth, strict=True))[1:]:
        rate = truth * math.exp(noise * random.standard_normal())
        seen = Estimate(rate, rate * math.exp(-1.96 * noise), rate * math.exp(1.96 * noise))
        found.append(replace(run_at(table, place, rate), throughput=seen))
    return found


def pairs() -> tuple[Judge, ...]:
    """One for each machine of which the yield of its CPU for JPEG is known, as a host that says which vCPUs share a
    core: of each of IN_PAIRS each inner place is told by the three others."""
    tables = [(table[:out] + table[out + 1 :], table[out]) for table in IN_PAIRS for out in range(1, VALUES - 1)]
    return tuple(_pairs(in_pairs(curve), tables) for curve in _known_yields())


def whole_cores() -> tuple[Judge, ...]:
    """The same of runs that had both vCPUs of each core, asked at places where one of them has a core alone."""
    tables = [(WHOLE_CORES, odd) for odd in (1, 3)]
    return tuple(_pairs(in_pairs(curve), tables) for curve in _known_yields())


@lru_cache(maxsize=1)
def _known_yields() -> tuple[RealCurve, ...]:
    return tuple(curve for curve in real_curves() if curve.kind == JPEG and not curve.held_out)


def in_pairs(curve: RealCurve) -> Curve:
    """By vCPUs that are handed out as whole cores: the rate of as many cores, the last of an odd number half, times
    what their second halves add."""
    cores = [place for place in curve.places if 2 * place <= curve.places[-1]]
    alone = curve.rates[: len(cores)]
    gain = curve.rates[-1] / alone[-1] - 1
    places = sorted({vcpus for table in IN_PAIRS for vcpus in table})

    def rate(vcpus: int) -> float:
        used = -(-vcpus // 2)
        return float(np.interp(used, cores, alone)) * (1 + gain * (vcpus // 2) / used)

    return Curve(curve.name, "vcpus", tuple(map(float, places)), tuple(map(rate, places)), 0.0, curve.kind)


def _pairs(curve: Curve, asked: Sequence[tuple[Sequence[int], int]]) -> Judge:
    truth = {round(place): rate for place, rate in zip(curve.places, curve.truth, strict=True)}
    runs = {vcpus: _on_pairs(run_at(curve, vcpus, rate)) for vcpus, rate in truth.items()}

    def judge() -> dict[str, Outcome]:
        errors, covered = [], []
        for measured, out in asked:
            model = fit([runs[place] for place in measured]).workloads[0]
            said = predict(model, runs[out].configuration).throughput
            errors.append(error(said.value, truth[out]))
            covered.append(said.low <= truth[out] <= said.high)
        return {PAIRS: Outcome(tuple(errors), tuple(covered))}

    return judge


def _on_pairs(run: Run) -> Run:
    """As of decoding images on a host that said how many of its cores both vCPUs were used of."""
    workload = replace(run.spec.workload, kind="imagenet_preprocessing")
    vcpus = round(vcpus_of(run.configuration))
    limited = LimitedBy(LimitedByKind.SIZER, cores=-(-vcpus // 2), paired_cores=vcpus // 2)
    return replace(run, spec=replace(run.spec, workload=workload), limited_by=limited)


@lru_cache(maxsize=1)
def _groups() -> tuple[Group, ...]:
    return tuple(group for groups in measured_grids() for group in groups.values())


def grid_designs(number: int, seed: int) -> Judge:
    """A workload of the two grids in turn, with half of its configurations, A_WORKLOAD at most, drawn by chance."""
    group = _groups()[number % len(_groups())]
    places, random = list(group), np.random.default_rng([seed, number, 9])
    chosen = random.permutation(len(places))[: min(A_WORKLOAD, len(places) // 2)]
    return grid_case(group, [places[int(at)] for at in sorted(chosen)])


def sparse_designs(number: int, seed: int) -> Judge:
    """A workload of the two grids in turn, with SPARSE of its configurations, drawn by chance until three vCPU values
    are among them."""
    group = _groups()[number % len(_groups())]
    places, random = list(group), np.random.default_rng([seed, number, 10])
    count = int(random.integers(SPARSE[0], SPARSE[1] + 1))
    while True:
        chosen = [places[int(at)] for at in sorted(random.permutation(len(places))[:count])]
        if len({place.vcpus for place in chosen}) >= FEWEST:
            return grid_case(group, chosen)
