"""In which order others would measure: at random, as the study is planned, by a pairwise design, and by Bayesian
optimisation with a Gaussian process. Each is asked for the next run after those that were made."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from accuracy_designs import designed
from accuracy_rivals import Array, process
from replayed import ReplayCase, by_workload
from scipy.special import ndtr

from sizer.catalog.catalog import Catalog
from sizer.plan.configurations import configurations as configurations_of
from sizer.plan.configurations import position, repeated
from sizer.plan.run_order import plan
from sizer.recommend.prices import prices
from sizer.records.configuration import Configuration
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose
from sizer.records.study import Objective, RunSpec

Order = Callable[[Sequence[Run]], RunSpec | None]
"""The next run after these; None where nothing is left."""


def at_random(case: ReplayCase, seed: int) -> Order:
    """Any run of the study, the reference's further repeats left out."""
    specs = [spec for spec in plan(case.study, case.host) if spec.purpose is not Purpose.REFERENCE]
    random.Random(seed).shuffle(specs)
    return _listed(specs)


def as_planned(case: ReplayCase) -> Order:
    """The order of `sizer run` without an adaptive plan: one repeat of everything after another."""
    return _listed(list(plan(case.study, case.host)))


def pairwise(case: ReplayCase) -> Order:
    """Configurations in the order of a pairwise covering design, then their repeats."""
    starts = []
    for each in case.study.workloads:
        places = {_place(case, spec): spec for spec in configurations_of(each, case.study, case.host)}
        starts.append([places[place] for place in designed(list(places), len(places))])
    turns = [spec for number in range(max(map(len, starts))) for own in starts for spec in own[number : number + 1]]
    return _listed([repeated(spec, repeat) for repeat in range(case.study.measure.repeats) for spec in turns])


def bayesian(case: ReplayCase, objective: Objective, catalog: Catalog) -> Order:
    """Three runs of the pairwise design, then the largest expected improvement in cost of a spec that reaches the
    target (under a constraint, as CherryPick, NSDI 2017: a Gaussian process, Matern 5/2). Repeats follow when every
    configuration was measured. Of several workloads the one with the fewest runs is next."""
    designs, price = pairwise(case), prices(catalog)

    def cost(places: Sequence[Configuration]) -> Array:
        return np.array([price.usd_per_hour(place.vcpus, place.memory_bytes) for place in places])

    def following(runs: Sequence[Run]) -> RunSpec | None:
        made, own = {run.id for run in runs}, by_workload(runs)
        for each in sorted(case.study.workloads, key=lambda each: len(own.get(each.workload.name, ()))):
            specs = [spec for spec in configurations_of(each, case.study, case.host) if spec.id not in made]
            seen = [run for run in own.get(each.workload.name, ()) if run.throughput is not None]
            if specs and len(seen) >= 3:
                places, known = [_place(case, spec) for spec in specs], cost([run.configuration for run in seen])
                return specs[int(_improvement(places, cost(places), seen, known, objective.target).argmax())]
            if specs:
                break
        return designs(runs)

    return following


def _improvement(
    places: Sequence[Configuration], costs: Array, seen: Sequence[Run], known: Array, target: float
) -> Array:
    """Expected improvement (n,): the cost saved against the cheapest that was seen to reach the target, times the
    probability that this one does. A place that may be faster than the best counts with that gain."""
    mean, deviation = process(seen)(places)
    rates = np.log([run.throughput.value for run in seen if run.throughput is not None])
    best = float(rates.max())
    needed = best + math.log(target)
    saved = np.maximum(0.0, 1 - costs / float(known[rates >= needed].min()))
    z = (mean - best) / deviation
    faster = deviation * (z * ndtr(z) + np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))
    found: Array = saved * ndtr((mean - needed) / deviation) + faster
    return found


def _listed(specs: Sequence[RunSpec]) -> Order:
    def following(runs: Sequence[Run]) -> RunSpec | None:
        made = {run.id for run in runs}
        return next((spec for spec in specs if spec.id not in made), None)

    return following


def _place(case: ReplayCase, spec: RunSpec) -> Configuration:
    vcpus, memory, disk, batch, count = position(spec, case.host)
    return Configuration(vcpus, memory, disk or "host", batch, gpu_count=count)
