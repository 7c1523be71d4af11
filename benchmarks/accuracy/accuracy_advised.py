"""What is recommended for simulated machines against the truth: what the spec gives, and what it costs too much."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from accuracy_draws import Case, draw_case
from accuracy_machines import Faster
from accuracy_runs import measured_runs
from accuracy_scores import GoalRow, at_most, share
from accuracy_simulated import SEED

from sizer.catalog.catalog import Catalog
from sizer.model.coordinates import vcpus_of
from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.recommend.prices import prices
from sizer.recommend.recommendation import recommend
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import Spec
from sizer.records.study import Objective

TARGET = 0.95
REGRET = 0.05
NOMINAL = 1.0
"""USD an hour of an accelerator that has no price: more than a vCPU costs."""


@dataclass(frozen=True)
class Advised:
    """A recommendation against the truth over every size that exists in the measured range.

    `rate_regret` is the share by which the rate misses the target x the best, 0 where it is reached; `cost_regret` what
    the spec costs above the cheapest that truly reaches the target, as a share; `gain` is what twice the vCPUs of the
    largest would truly give over it. All are nan without a spec.
    """

    case: int
    status: str
    spec: Spec | None
    rate_regret: float = math.nan
    cost_regret: float = math.nan
    gain: float = math.nan

    @property
    def line(self) -> str:
        """As it is listed among the worst."""
        return (
            f"    machine {self.case}: {self.status} {self.spec}: misses {100 * self.rate_regret:.1f} % of the target, "
            f"costs {100 * self.cost_regret:+.0f} %, twice the vCPUs would gain {100 * self.gain:.0f} %"
        )


def advise_case(number: int, seed: int = SEED) -> Advised:
    """One machine, from drawing to judging."""
    case, catalog = draw_case(number, seed), Catalog.load()
    runs = measured_runs(case)
    model = fit(runs)
    answer = recommend(model, runs, Objective("cheapest", TARGET), catalog).workloads[0]
    if answer.spec is None:
        return Advised(number, answer.status, None)
    return against(case, answer, answer.spec, offered(model.workloads[0], answer, catalog))


def offered(workload: WorkloadModel, answer: Answer, catalog: Catalog) -> dict[Spec, float]:
    """What the answer was chosen from, with USD an hour: with its own count of accelerators
    where several were. An accelerator without a price counts NOMINAL."""
    if not answer.alternatives:
        batch = best_measured(workload).configuration.batch_size
        found = sizes_on_curve(workload, catalog, batch, rented=False)
        return {each.spec: each.hourly for each in found if each.exists}
    count, price = answer.spec.gpu_count if answer.spec is not None else 0, prices(catalog)
    specs = [each.spec for each in answer.alternatives if each.spec.gpu_count == count]
    return {spec: price.usd_per_hour(spec.vcpus, spec.memory_bytes) + NOMINAL * count for spec in specs}


def against(case: Case, answer: Answer, spec: Spec, sold: Mapping[Spec, float]) -> Advised:
    """The job runs on what is bought: in too little memory not at all, which misses all of the target."""
    machine = case.machine
    fitting = {each: place for each in sold if machine.holds(place := bought(case, each))}
    mine, largest = bought(case, spec), replace(bought(case, spec), vcpus=case.axes.vcpus[-1])
    doubled = replace(largest, vcpus=2 * vcpus_of(largest))
    truth = machine.truth([(place, Faster()) for place in (*fitting.values(), mine, largest, doubled)])
    own = truth[mine, Faster()] if machine.holds(mine) else 0.0
    best = max([*(truth[place, Faster()] for place in fitting.values()), own])
    reaching = [sold[each] for each, place in fitting.items() if truth[place, Faster()] >= TARGET * best]
    return Advised(
        case.number,
        answer.status,
        spec,
        rate_regret=max(0.0, 1 - own / (TARGET * best)) if best else 0.0,
        cost_regret=sold.get(spec, math.nan) / min(reaching) - 1 if reaching else math.nan,
        gain=truth[doubled, Faster()] / truth[largest, Faster()] - 1,
    )


def bought(case: Case, spec: Spec) -> Configuration:
    """The machine that is bought: the spec, and what it does not say as the study had it."""
    axes = case.axes
    return Configuration(
        spec.vcpus or axes.vcpus[-1],
        spec.memory_bytes or axes.memory[-1],
        spec.disk or axes.disks[-1],
        spec.batch_size or axes.batches[0],
        axes.gpu,
        spec.gpu_count or axes.gpu_counts[0],
    )


def scores(advised: Sequence[Advised], worst: int = 0) -> tuple[list[GoalRow], list[str]]:
    """The rows of the table, and the answers that lose most."""
    given = [each for each in advised if each.status == "recommended"]
    rising = [each for each in advised if each.status == "at_least"]
    costs = [each.cost_regret for each in given if not math.isnan(each.cost_regret)]
    part = "simulated, answers"
    table = [
        share(part, "recommended: rate within 5 % of the target", [e.rate_regret <= REGRET for e in given], 0.95),
        share(part, "recommended: cost within 5 % of the cheapest", [cost <= REGRET for cost in costs]),
        at_most(part, "recommended: 90th percentile of cost above it", costs, 0.9),
        share(part, "at_least: rate within 5 % of the target", [e.rate_regret <= REGRET for e in rising]),
        share(part, "recommended of all answers", [e.status == "recommended" for e in advised]),
        share(part, "refused of all answers", [e.status == "refused" for e in advised]),
        share(part, "recommended: twice the vCPUs gain <= 10 %", [e.gain <= 0.1 for e in given]),
        share(part, "at_least: twice the vCPUs truly gain > 5 %", [e.gain > 0.05 for e in rising]),
    ]
    losing = sorted((each for each in given if each.rate_regret > 0), key=lambda each: -each.rate_regret)
    return table, ["answers that miss the target:", *(each.line for each in losing[:worst])]
