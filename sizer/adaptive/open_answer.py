"""How open the answer of one workload is under its present model, and how much of that a run would take away. Pure.

The draws are what the rates may be. In each of them the rule of the answer takes some spec, so they say with which
probability the present answer would be regretted. A run tells which draws are nearer to the truth: for each rate that
it may give the draws are weighed anew, and what they disagree about then is the mean over these rates. Disagreement and
not the error of the best choice, which no single run lowers where only several would change it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.catalog import Catalog
from sizer.model.coordinates import vcpus_of
from sizer.model.edge import best_place
from sizer.model.model import WorkloadModel
from sizer.recommend.sizes import sizes_on_curve
from sizer.recommend.table import Row, Table, table_of_sizes, weighed_after
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import Spec
from sizer.records.study import Objective

Array = NDArray[np.float64]

POSSIBLE = 0.05
"""A spec is possible if it is the answer with this probability."""


@dataclass(frozen=True)
class OpenAnswer:
    """The answer of one workload with what it may turn out to be.

    `rows` are the S of the `table` that may be taken, `chosen` the number among them of the present answer. `log_rates`
    (D, X) are draws of ln rate at the `places` of runs, against the mean of what was measured elsewhere where a share
    is asked for; `noise` is the standard deviation of ln rate of a run.
    """

    table: Table
    rows: tuple[Row, ...]
    places: tuple[Configuration, ...]
    log_rates: Array
    noise: float
    chosen: int

    @property
    def own_place(self) -> Configuration:
        """Where the present answer is judged."""
        return self.rows[self.chosen].candidate.place

    @cached_property
    def wrong(self) -> Array:
        """Which would be regretted (D, S)."""
        return self.table.wrong[:, [row.number for row in self.rows]].astype(float)

    @cached_property
    def taken(self) -> NDArray[np.intp]:
        """The number of the one that each draw takes (D,)."""
        found: NDArray[np.intp] = self.table.regret[:, [row.number for row in self.rows]].argmin(axis=1)
        return found

    @cached_property
    def right(self) -> float:
        """The probability that the present answer would not be regretted: that it is neither too slow nor too dear."""
        return 1 - float(self.wrong[:, self.chosen].mean())

    @cached_property
    def doubt(self) -> float:
        """The probability that what one draw takes would be regretted in another."""
        return self._disagree(np.full((1, len(self.taken)), 1 / len(self.taken)))

    def gain(self, place: Configuration) -> float:
        """By how much more probably a spec at this place is right than the present answer: what a run there may give
        that lets it be the answer, although the draws agree about its rate."""
        wrong = self.wrong.mean(axis=0)
        here = [float(each) for each, row in zip(wrong, self.rows, strict=True) if row.candidate.place == place]
        return max(0.0, float(wrong[self.chosen]) - min(here, default=1.0))

    @property
    def possible(self) -> tuple[Spec, ...]:
        """The specs that may be the answer, the present one among them."""
        shares = np.bincount(self.taken, minlength=len(self.rows)) / len(self.taken)
        return tuple(
            row.candidate.spec
            for number, row in enumerate(self.rows)
            if number == self.chosen or shares[number] >= POSSIBLE
        )

    def most_telling(self, count: int) -> frozenset[Configuration]:
        """So many places whose rates go most with which specs give what is asked for."""
        enough = self.table.enough[:, [row.number for row in self.rows]].astype(float)
        rates, passes = self.log_rates - self.log_rates.mean(axis=0), enough - enough.mean(axis=0)
        spread = np.sqrt((rates**2).sum(axis=0)) + 1e-12
        explained = (((rates / spread).T @ passes) ** 2).sum(axis=1)
        order = np.argsort(-explained, kind="stable")[:count]
        return frozenset(self.places[int(number)] for number in order)

    def value(self, place: Configuration) -> float:
        """By how much one more run there should lower the doubt."""
        told = self.log_rates[:, self.places.index(place)]
        return self.doubt - self._disagree(weighed_after(told, self.noise))

    def _disagree(self, weights: Array) -> float:
        """The mean over rows of weights (J, D) of the probability that what one draw takes is regretted in another."""
        took = np.eye(len(self.rows))[self.taken]
        return float(((weights @ took) * (weights @ self.wrong)).sum(axis=1).mean())


def open_answer(
    model: WorkloadModel,
    answer: Answer,
    places: Sequence[Configuration],
    objective: Objective,
    catalog: Catalog,
) -> OpenAnswer | None:
    """What the answer may turn out to be, and what runs at `places` may give; None where the model is refused or has
    nothing to choose from."""
    if model.refused or model.posterior is None or answer.spec is None:
        return None
    best, here = best_place(model), tuple(dict.fromkeys(places))
    sizes = sizes_on_curve(model, catalog, best.batch_size, rented=False, between=tuple(map(vcpus_of, here)))
    sizes = [each for each in sizes if each.exists] or sizes
    measured = [rate.configuration for rate in model.measured.rates]
    table = table_of_sizes(model, sizes, best, objective, (*here, *measured))
    rows = tuple(row for row in table.rows if row.disk_is_right or row.candidate.spec == answer.spec)
    chosen = next((number for number, row in enumerate(rows) if row.candidate.spec == answer.spec), None)
    if chosen is None:
        return None
    of_runs = table.of_runs[:, : len(here)]
    if objective.rate is None:
        known = dict(zip(measured, table.of_runs[:, len(here) :].T, strict=True))
        of_runs = of_runs - _reference(here, known)
    return OpenAnswer(table, rows, here, of_runs, max(model.noise, 1e-3), chosen)


def _reference(places: Sequence[Configuration], measured: Mapping[Configuration, Array]) -> Array:
    """What a run at each place is held against (D, X): the mean of what was measured elsewhere. A share of the best
    rests on ratios, so what all rates have in common is nothing to be told."""
    total = np.sum(list(measured.values()), axis=0)
    elsewhere = [
        total / len(measured) if place not in measured else (total - measured[place]) / max(1, len(measured) - 1)
        for place in places
    ]
    return np.column_stack(elsewhere)
