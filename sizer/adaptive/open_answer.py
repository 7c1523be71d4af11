"""How open the answer of one workload is under its present model, and how much of that a run would take away. Pure.

The model's draws are what the rates may be. In each of them the rule of the answer takes some spec, so the draws say
with which probability the present answer would be regretted. A run at a configuration tells which draws are nearer to
the truth: for each rate that it may give the draws are weighed anew, and what they disagree about then is the mean over
these rates (preposterior analysis, Raiffa and Schlaifer 1961). Disagreement and not the error of the best choice, which
no single run lowers where only several would change it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.catalog import Catalog
from sizer.model import (
    WorkloadModel,
    batch_of,
    best_place,
    disk_of,
    gpus_of,
    memory_matters,
    memory_of,
    rates,
    vcpus_of,
)
from sizer.recommend import Offered, offered, passing, preferred, regretted, taken
from sizer.records import Answer, Configuration, Objective, Spec

Array = NDArray[np.float64]

POSSIBLE = 0.05
"""A spec is possible if it is the answer with this probability."""

SEED = 1861


@dataclass(frozen=True)
class OpenAnswer:
    """The answer of one workload with what it may turn out to be.

    `offer` are the S specs in the order in which they are taken, `log_rates` (D, X) draws of ln rate at the `places` of
    runs, against the mean of what was measured elsewhere where a share is asked for, `enough` (D, S) and `wrong` (D, S)
    which specs give what is asked for and which would be regretted, `taken` (D,) the number of the one that each draw
    takes, `noise` the standard deviation of ln rate of a run. `chosen` is the number of the present answer.
    """

    offer: Offered
    places: tuple[Configuration, ...]
    log_rates: Array
    enough: Array
    wrong: Array
    taken: NDArray[np.intp]
    noise: float
    chosen: int

    @property
    def right(self) -> float:
        """The probability that the present answer would not be regretted: that it is neither too slow nor too dear."""
        return 1 - float(self.wrong[:, self.chosen].mean())

    @property
    def doubt(self) -> float:
        """The probability that what one draw takes would be regretted in another."""
        return self._disagree(np.full((1, len(self.taken)), 1 / len(self.taken)))

    def gain(self, place: Configuration) -> float:
        """By how much more probably a spec at this place is right than the present answer: what a run there may give
        that lets it be the answer, although the draws agree about its rate."""
        wrong = self.wrong.mean(axis=0)
        here = [float(each) for each, at in zip(wrong, self.offer.places, strict=True) if at == place]
        return max(0.0, float(wrong[self.chosen]) - min(here, default=1.0))

    @property
    def possible(self) -> tuple[Spec, ...]:
        """The specs that may be the answer, the present one among them."""
        shares = np.bincount(self.taken, minlength=len(self.offer.specs)) / len(self.taken)
        return tuple(
            spec for number, spec in enumerate(self.offer.specs) if number == self.chosen or shares[number] >= POSSIBLE
        )

    def most_telling(self, count: int) -> frozenset[Configuration]:
        """So many places whose rates go most with which specs give what is asked for."""
        rates, passes = self.log_rates - self.log_rates.mean(axis=0), self.enough - self.enough.mean(axis=0)
        spread = np.sqrt((rates**2).sum(axis=0)) + 1e-12
        explained = (((rates / spread).T @ passes) ** 2).sum(axis=1)
        order = np.argsort(-explained, kind="stable")[:count]
        return frozenset(self.places[int(number)] for number in order)

    def value(self, place: Configuration) -> float:
        """By how much one more run there should lower the doubt."""
        return self.doubt - self._disagree(self._weights(place))

    def _weights(self, place: Configuration) -> Array:
        """What each draw weighs (J, D) for each rate (J,) that a run there may give."""
        rates = self.log_rates[:, self.places.index(place)]
        # Of so few draws a rate would name one; the width is that of a kernel density (Silverman 1986, 3.4.2).
        width = 1.06 * float(rates.std()) * len(rates) ** -0.2
        apart = (rates[:, None] - rates[None]) / math.hypot(math.sqrt(2) * self.noise, width, 1e-9)
        weights = np.exp(-0.5 * apart**2)
        found: Array = weights / weights.sum(axis=1, keepdims=True)
        return found

    def _disagree(self, weights: Array) -> float:
        """The mean over rows of weights (J, D) of the probability that what one draw takes is regretted in another."""
        took = np.eye(len(self.offer.specs))[self.taken]
        return float(((weights @ took) * (weights @ self.wrong)).sum(axis=1).mean())


def open_answer(
    model: WorkloadModel,
    answer: Answer,
    places: Sequence[Configuration],
    objective: Objective,
    catalog: Catalog,
    seed: int,
) -> OpenAnswer | None:
    """What the answer may turn out to be, and what runs at `places` may give; None where the model is refused or has
    nothing to choose from."""
    if model.refused or model.posterior is None or answer.spec is None:
        return None
    best = best_place(model)
    offer = offered(model, best, catalog, (vcpus_of(place) for place in places))
    measured = [rate.configuration for rate in model.measured.rates]
    asked = list(dict.fromkeys([*offer.places, best, *places, *measured]))
    mean, curves, draws, noise = _drawn(model, asked, seed)
    column = {place: number for number, place in enumerate(asked)}
    offer = preferred(offer, mean[[column[place] for place in offer.places]], objective, answer.spec)
    chosen = offer.number(answer.spec)
    if chosen is None:
        return None
    # A peak may lie where nothing was measured; of what each place has beside the curve, the highest is chance.
    beyond = curves[:, [column[place] for place in places]].max(axis=1, initial=-np.inf) - curves[:, column[best]]
    log_best = draws[:, column[best]] + np.maximum(0.0, beyond)
    offered_rates = draws[:, [column[place] for place in offer.places]]
    enough = passing(offered_rates, log_best, objective)
    took = taken(enough, offered_rates)
    wrong = regretted(offer, offered_rates, log_best, took, objective)
    here = tuple(dict.fromkeys(places))
    of_runs = draws[:, [column[place] for place in here]]
    if objective.rate is None:
        of_runs = of_runs - _reference(here, {place: draws[:, column[place]] for place in measured})
    return OpenAnswer(offer, here, of_runs, enough.astype(float), wrong.astype(float), took, noise, chosen)


def _drawn(model: WorkloadModel, places: Sequence[Configuration], seed: int) -> tuple[Array, Array, Array, float]:
    """Ln rates (N,) of these places, draws of the curve there (D, N) and of the places themselves (D, N), and the
    standard deviation of a run about them."""
    found = rates(model, places)
    groups, place_of = np.unique(_kinds(model, places), return_inverse=True)
    apart = np.random.default_rng(seed).standard_normal((len(found.mean), len(groups)))[:, place_of]
    draws: Array = found.mean + apart * np.sqrt(found.left)
    return found.centre, found.mean, draws, max(model.noise, 1e-3)


def _reference(places: Sequence[Configuration], measured: Mapping[Configuration, Array]) -> Array:
    """What a run at each place is held against (D, X): the mean of what was measured elsewhere. A share of the best
    rests on ratios, so what all rates have in common is nothing to be told."""
    total = np.sum(list(measured.values()), axis=0)
    elsewhere = [
        total / len(measured) if place not in measured else (total - measured[place]) / max(1, len(measured) - 1)
        for place in places
    ]
    return np.column_stack(elsewhere)


def _kinds(model: WorkloadModel, places: Sequence[Configuration]) -> list[str]:
    """Places that differ in memory alone are one where memory does not count."""
    matters = memory_matters(model)
    sizes = [memory_of(each) if matters else 0 for each in places]
    return [
        f"{vcpus_of(each)} {size} {disk_of(each)} {batch_of(each)} {each.gpu} {gpus_of(each)}"
        for each, size in zip(places, sizes, strict=True)
    ]
