"""An answer from some runs of a study against the answer from all of them: the same spec, or one that is no worse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from replayed import ReplayCase, by_workload

from sizer.catalog.catalog import Catalog
from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel, disk_of, gpus_of, vcpus_of
from sizer.model.prediction import rates
from sizer.recommend.candidates import Candidate
from sizer.recommend.prices import disk_prices, prices
from sizer.recommend.recommendation import recommend
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer
from sizer.records.prediction import Configuration, Spec
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import GIB

REGRET = 0.05
"""Of the rate below the target, and of the cost above that of the answer from the whole grid."""


@dataclass(frozen=True)
class WholeGrid:
    """The answer of one workload from its whole grid, with the model of that and the true rates that are known."""

    answer: Answer
    model: WorkloadModel
    truth: Mapping[Configuration, float]
    sizes: Sequence[Candidate]
    catalog: Catalog

    def log_rates(self, places: Sequence[Configuration]) -> list[float]:
        """Ln samples per second at each place: the true rate, else the measured one, else that of the model."""
        true_rates = {_plain(rate.configuration): rate.throughput.value for rate in self.model.measured.rates}
        true_rates |= {_plain(place): rate for place, rate in self.truth.items()}
        fitted = rates(self.model, places).centre
        return [
            math.log(true_rates[_plain(place)]) if _plain(place) in true_rates else float(log_rate)
            for place, log_rate in zip(places, fitted, strict=True)
        ]

    def cost(self, spec: Spec) -> float:
        """USD an hour, by the prices that specs are compared by: of one that the grid would not offer by its parts."""
        for size in self.sizes:
            if size.spec == spec:
                return size.hourly
        volume = disk_prices(self.model.measured.disks, self.catalog)[spec.disk] if spec.disk is not None else 0.0
        vcpu, gib = prices(self.catalog)
        return vcpu * (spec.vcpus or 1.0) + gib * (spec.memory_bytes or 0) / GIB + volume

    def regret(self, spec: Spec, target: float) -> tuple[float, float]:
        """The share by which its rate misses the target, and by which it costs more than the answer from the grid; what
        ran out of memory there misses all of it."""
        assert self.answer.spec is not None, "cases without an answer are left out"
        place, measured = place_of(self.model, spec), [rate.configuration for rate in self.model.measured.rates]
        own, *others = self.log_rates([place, *measured, *(size.place for size in self.sizes)])
        lost = place in self.model.measured.did_not_fit
        short = 1.0 if lost else max(0.0, 1 - math.exp(own - max(others)) / target)
        return short, max(0.0, self.cost(spec) / self.cost(self.answer.spec) - 1)

    def right(self, answer: Answer | None, target: float) -> bool:
        """Whether it is the same spec, or costs and misses no more than REGRET."""
        if answer is None or answer.spec is None:
            return False
        return answer.spec == self.answer.spec or max(self.regret(answer.spec, target)) <= REGRET


def _plain(place: Configuration) -> tuple[object, ...]:
    return place.vcpus, place.memory_bytes, disk_of(place), place.batch_size, gpus_of(place)


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
    grids = {}
    vcpus = [value for plan in case.study.workloads for value in plan.vcpus]
    for name, runs in by_workload(case.all_runs).items():
        fitted = fit(runs)
        answer, model = recommend(fitted, runs, objective, catalog).workloads[0], fitted.workloads[0]
        if answer.spec is not None and not model.refused:
            batch = best_measured(model).configuration.batch_size
            sizes = sizes_on_curve(model, catalog, batch, rented=False, between=vcpus)
            sizes = [size for size in sizes if size.exists] or sizes
            grids[name] = WholeGrid(answer, model, case.truth.get(name, {}), sizes, catalog)
    return grids


def answer_of(runs: Sequence[Run], objective: Objective, catalog: Catalog) -> Answer:
    """The answer of one workload from these runs of it."""
    return recommend(fit(runs), runs, objective, catalog).workloads[0]
