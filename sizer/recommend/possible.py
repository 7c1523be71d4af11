"""Which spec would be the answer if the rates were known: the rule of the answer, applied to draws of them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sizer.catalog import Catalog
from sizer.model import WorkloadModel
from sizer.recommend.candidates import candidates
from sizer.recommend.prices import prices
from sizer.recommend.thresholds import DISK_LOSS, TIE
from sizer.records import Configuration, Objective, Spec

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

REGRET = 0.05
"""Of its rate below what was asked for, or of its cost above the cheapest that gives it: less is no matter."""


@dataclass(frozen=True)
class Offered:
    """The S specs that the answer is chosen from, in the order in which the objective prefers those that do, each with
    the configuration that it is judged by and its cost: that of vCPUs, memory and disk where no machine of the kind has
    a price."""

    specs: tuple[Spec, ...]
    places: tuple[Configuration, ...]
    usd_per_hour: tuple[float, ...]

    def number(self, spec: Spec | None) -> int | None:
        """Its place among them; None where it is not one of them."""
        return self.specs.index(spec) if spec in self.specs else None


def offered(model: WorkloadModel, best: Configuration, catalog: Catalog, vcpus: Iterable[float] = ()) -> Offered:
    """Every spec that the answer may be, cheapest first, with the batch size of the best; also those of `vcpus` that
    are still to be measured between the fewest and the most that were."""
    known = model.measured.vcpus
    between = {value for value in vcpus if known and known[0] < value < known[-1]}
    supposed = replace(model, measured=replace(model.measured, vcpus=tuple(sorted({*known, *between}))))
    found = candidates(supposed, catalog, best.batch_size)
    found = [each for each in found if each.exists] or found
    cost = tuple(each.usd_per_hour for each in found)
    if not any(map(math.isfinite, cost)):
        price = prices(catalog)
        cost = tuple(
            price.usd_per_hour(each.spec.vcpus, each.spec.memory_bytes) + each.disk_usd_per_hour for each in found
        )
    return Offered(tuple(each.spec for each in found), tuple(each.configuration for each in found), cost)


def preferred(offer: Offered, log_rates: Array, objective: Objective, answer: Spec) -> Offered:
    """Those on a disk worth having, in the order in which the objective takes what gives what is asked for, for their
    expected rates (S,): as the answer does, by what a disk should lose and not by whether it might. The
    present `answer` is one of them whatever its disk."""
    sizes = [replace(spec, disk=None) for spec in offer.specs]
    top = {
        size: max(float(rate) for rate, each in zip(log_rates, sizes, strict=True) if each == size) for size in sizes
    }
    rates = np.exp(log_rates - log_rates.max())
    cost = np.array(offer.usd_per_hour)
    if objective.rate is not None:
        cost = cost / rates
    elif objective.counts == "balanced":
        cost = cost / rates**2
    order = [int(number) for number in np.argsort(cost, kind="stable")]
    worth = [rate >= top[size] + math.log(1 - DISK_LOSS) for rate, size in zip(log_rates, sizes, strict=True)]
    order = [number for number in order if worth[number] or offer.specs[number] == answer]
    return Offered(
        tuple(offer.specs[number] for number in order),
        tuple(offer.places[number] for number in order),
        tuple(offer.usd_per_hour[number] for number in order),
    )


def passing(log_rates: Array, log_best: Array, objective: Objective) -> Flags:
    """Which specs give what is asked for, by draw (D, S), for their rates (D, S) and that of the best (D,)."""
    if objective.rate is not None:
        enough: Flags = log_rates >= math.log(objective.rate)
    else:
        enough = log_rates >= log_best[:, None] + _share(objective)
    return enough


def taken(enough: Flags, log_rates: Array) -> NDArray[np.intp]:
    """The number of the spec that each draw takes (D,): the first that gives what is asked for, else the fastest."""
    found: NDArray[np.intp] = np.where(enough.any(axis=1), enough.argmax(axis=1), log_rates.argmax(axis=1))
    return found


def regretted(
    offer: Offered, log_rates: Array, log_best: Array, chosen: NDArray[np.intp], objective: Objective
) -> Flags:
    """Which specs would be wrong by draw (D, S): too slow by more than REGRET, or dearer by more than the one that the
    draw takes."""
    asked = (
        np.full(len(log_rates), math.log(objective.rate))
        if objective.rate is not None
        else log_best + _share(objective)
    )
    own = np.take_along_axis(log_rates, chosen[:, None], axis=1)
    short = log_rates < np.minimum(asked[:, None], own) + math.log(1 - REGRET)
    cost = np.array(offer.usd_per_hour)
    with np.errstate(invalid="ignore"):
        dear = cost[None] > (1 + REGRET) * cost[chosen][:, None]
    found: Flags = short | dear
    return found


def _share(objective: Objective) -> float:
    return math.log(TIE if objective.counts == "fastest" else objective.target)
