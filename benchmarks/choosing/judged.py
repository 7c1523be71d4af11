"""An answer from some runs of a study against the answer from all of them: the same spec, or one that is no worse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from replayed import ReplayCase, Truth, by_workload, truth_of

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, best_measured, fit, vcpus_of
from sizer.recommend import Offered, offered, recommend
from sizer.recommend.prices import disk_prices, prices
from sizer.records import Answer, Configuration, Objective, Run, Spec

REGRET = 0.05
"""Of the rate below the target, and of the cost above that of the answer from the whole grid."""


@dataclass(frozen=True)
class WholeGrid:
    """The answer of one workload from its whole grid, and the highest rate of the grid (ln)."""

    answer: Answer
    truth: Truth
    log_best: float
    offer: Offered
    catalog: Catalog

    def cost(self, spec: Spec) -> float:
        """USD an hour, by the prices that specs are compared by: of one that the grid would not offer by its parts."""
        for known, usd in zip(self.offer.specs, self.offer.usd_per_hour, strict=True):
            if known == spec:
                return usd
        measured = self.truth.model.measured
        volume = disk_prices(measured.disks, self.catalog)[spec.disk] if spec.disk is not None else 0.0
        return prices(self.catalog).usd_per_hour(spec.vcpus, spec.memory_bytes) + volume

    def regret(self, spec: Spec, target: float) -> tuple[float, float]:
        """The share by which its rate misses the target, and by which it costs more than the answer from the grid; what
        ran out of memory there misses all of it."""
        assert self.answer.spec is not None, "cases without an answer are left out"
        place = place_of(self.truth.model, spec)
        short = 1.0
        if place not in self.truth.model.measured.did_not_fit:
            (log_rate,) = self.truth.log_rates([place])
            short = max(0.0, 1 - math.exp(log_rate - self.log_best) / target)
        return short, max(0.0, self.cost(spec) / self.cost(self.answer.spec) - 1)

    def right(self, answer: Answer, target: float) -> bool:
        """Whether it is the same spec, or costs and misses no more than REGRET."""
        return self.most_regret(answer, target) <= REGRET

    def most_regret(self, answer: Answer | None, target: float) -> float:
        """The larger of both regrets of its spec: none of the same spec, and all of it where there is none."""
        if answer is None or answer.spec is None or self.answer.spec is None:
            return 1.0
        return 0.0 if answer.spec == self.answer.spec else max(self.regret(answer.spec, target))


def place_of(model: WorkloadModel, spec: Spec) -> Configuration:
    """Where a grid has what this spec buys: no more than was measured; what it leaves out as the best has it."""
    measured, best = model.measured, best_measured(model).configuration
    vcpus = min(spec.vcpus or vcpus_of(best), measured.vcpus[-1])
    fitting = [size for size in measured.memory_bytes if size <= (spec.memory_bytes or math.inf)]
    memory = fitting[-1] if fitting else measured.memory_bytes[0]
    batch = spec.batch_size or best.batch_size
    return Configuration(vcpus, memory, spec.disk or best.disk, batch, best.gpu, best.gpu_count)


def whole_grids(case: ReplayCase, objective: Objective, catalog: Catalog) -> dict[str, WholeGrid]:
    """Of each workload that the whole grid answers."""
    found = {}
    for name, runs in by_workload(case.all_runs).items():
        answer, truth = answer_of(runs, objective, catalog), truth_of(case, runs)
        if answer.spec is None or truth.model.refused:
            continue
        vcpus = [value for plan in case.study.workloads for value in plan.vcpus]
        offer = offered(truth.model, best_measured(truth.model).configuration, catalog, vcpus)
        places = [rate.configuration for rate in truth.model.measured.rates]
        log_best = float(np.max(truth.log_rates([*places, *offer.places])))
        found[name] = WholeGrid(answer, truth, log_best, offer, catalog)
    return found


def answer_of(runs: Sequence[Run], objective: Objective, catalog: Catalog) -> Answer:
    """The answer of one workload from these runs of it."""
    model = fit(runs)
    return recommend(model, runs, objective, catalog).workloads[0]
