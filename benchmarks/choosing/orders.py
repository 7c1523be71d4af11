"""In which order others would measure: at random, as the study is planned, by a pairwise design, and by Bayesian
optimisation with a Gaussian process. Each is asked for the next run after those that were made."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from accuracy_designs import designed
from accuracy_process import Array, fitted_process
from replayed import ReplayCase, by_workload

from sizer.catalog import Catalog
from sizer.plan import configurations_of, plan, position, repeated
from sizer.recommend.prices import prices
from sizer.records import Configuration, Objective, Purpose, Run, RunSpec

Order = Callable[[Sequence[Run]], RunSpec | None]
"""The next run after these; None where nothing is left."""


def at_random(case: ReplayCase, seed: int) -> Order:
    """Any run of the study, the reference's further repeats left out."""
    specs = list(_asked(case))
    random.Random(seed).shuffle(specs)
    return _listed(specs)


def as_planned(case: ReplayCase) -> Order:
    """The order of `sizer run` without an adaptive plan: one repeat of everything after another."""
    return _listed(list(plan(case.study, case.host)))


def pairwise(case: ReplayCase) -> Order:
    """Configurations in the order of a pairwise covering design, then their repeats."""
    starts = []
    for each in case.study.workloads:
        specs = configurations_of(each, case.study, case.host)
        places = {_place(case, spec): spec for spec in specs}
        starts.append([places[place] for place in designed(list(places), len(places))])
    turns = [spec for number in range(max(map(len, starts))) for own in starts for spec in own[number : number + 1]]
    return _listed([repeated(spec, repeat) for repeat in range(case.study.measure.repeats) for spec in turns])


def bayesian(case: ReplayCase, objective: Objective, catalog: Catalog) -> Order:
    """Three runs of the pairwise design, then the largest expected improvement in cost of a spec that reaches the
    target (under a constraint, as CherryPick, NSDI 2017: a Gaussian process, Matern 5/2). Repeats follow when every
    configuration was measured. Of several workloads the one with the fewest runs is next."""
    designs, price = pairwise(case), prices(catalog)

    def following(runs: Sequence[Run]) -> RunSpec | None:
        made = {run.id for run in runs}
        own = by_workload(runs)
        plans = sorted(case.study.workloads, key=lambda each: len(own.get(each.workload.name, ())))
        for each in plans:
            specs = [spec for spec in configurations_of(each, case.study, case.host) if spec.id not in made]
            seen = [run for run in own.get(each.workload.name, ()) if run.throughput is not None]
            if specs and len(seen) >= 3:
                costs = [
                    price.usd_per_hour(place.vcpus, place.memory_bytes) for place in (_place(case, s) for s in specs)
                ]
                known = [price.usd_per_hour(run.configuration.vcpus, run.configuration.memory_bytes) for run in seen]
                worth = _improvement(
                    [_place(case, spec) for spec in specs], np.array(costs), seen, np.array(known), objective
                )
                return specs[int(worth.argmax())]
            if specs:
                break
        return designs(runs)

    return following


def _improvement(
    places: Sequence[Configuration], costs: Array, seen: Sequence[Run], known: Array, objective: Objective
) -> Array:
    """Expected improvement (n,): the cost saved against the cheapest that was seen to reach the target, times the
    probability that this one does. A place that may be faster than the best counts with that gain."""
    process = fitted_process(_means(seen))
    mean, deviation = process(places)
    rates = np.log([run.throughput.value for run in seen if run.throughput is not None])
    best = float(rates.max())
    reached = known[rates >= best + math.log(objective.target)]
    cheapest = float(reached.min())
    needed = best + math.log(objective.target)
    feasible = np.array([_normal((m - needed) / s) for m, s in zip(mean, deviation, strict=True)])
    saved = np.maximum(0.0, 1 - costs / cheapest)
    z = (mean - best) / deviation
    faster = deviation * (z * np.array([_normal(each) for each in z]) + np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi))
    found: Array = saved * feasible + faster
    return found


def _normal(value: float) -> float:
    return 0.5 * math.erfc(-value / math.sqrt(2))


def _means(runs: Sequence[Run]) -> dict[Configuration, float]:
    found: dict[Configuration, list[float]] = {}
    for run in runs:
        if run.throughput is not None:
            found.setdefault(run.configuration, []).append(math.log(run.throughput.value))
    return {configuration: float(np.mean(logs)) for configuration, logs in found.items()}


def _asked(case: ReplayCase) -> Iterator[RunSpec]:
    return (spec for spec in plan(case.study, case.host) if spec.purpose is not Purpose.REFERENCE)


def _listed(specs: Sequence[RunSpec]) -> Order:
    def following(runs: Sequence[Run]) -> RunSpec | None:
        made = {run.id for run in runs}
        return next((spec for spec in specs if spec.id not in made), None)

    return following


def _place(case: ReplayCase, spec: RunSpec) -> Configuration:
    vcpus, memory, disk, batch, count = position(spec, case.host)
    return Configuration(vcpus, memory, disk or "host", batch, gpu_count=count)
