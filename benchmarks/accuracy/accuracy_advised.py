"""A recommendation for a simulated machine against the truth: what the spec gives, and what it costs too much. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from accuracy_draws import Case
from accuracy_machines import Faster, Question

from sizer.catalog import Catalog
from sizer.model import WorkloadModel, best_measured, vcpus_of
from sizer.recommend.candidates import candidates
from sizer.recommend.prices import prices
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import Spec

TARGET = 0.95
REGRET = 0.05


@dataclass(frozen=True)
class Advised:
    """A recommendation against the truth over every size that exists in the measured range.

    `rate_regret` is the share by which the rate misses the target x the best, 0 where it is reached; `cost_regret` what
    the spec costs above the cheapest that truly reaches the target, as a share; `gain` is what twice the vCPUs of the
    largest would truly give over it.
    """

    case: int
    accounted: bool
    status: str
    spec: Spec | None
    rate_regret: float
    cost_regret: float
    gain: float


NOMINAL = 1.0
"""USD an hour of an accelerator that has no price: more than a vCPU costs."""


@dataclass(frozen=True)
class Offered:
    """A spec that could be chosen, and what an hour of it costs."""

    spec: Spec
    usd_per_hour: float


def offered(workload: WorkloadModel, answer: Answer, catalog: Catalog) -> list[Offered]:
    """What the answer was chosen from: values measured together, with its own count of accelerators where several were.

    An accelerator without a price counts NOMINAL.
    """
    if not answer.alternatives:
        batch = best_measured(workload).configuration.batch_size
        together = [each for each in candidates(workload, catalog, batch)]
        return [Offered(each.spec, each.usd_per_hour) for each in together if each.exists]
    price = prices(catalog)
    return [
        Offered(each.spec, price.usd_per_hour(each.spec.vcpus, each.spec.memory_bytes) + NOMINAL * each.spec.gpu_count)
        for each in answer.alternatives
        if answer.spec is not None and each.spec.gpu_count == answer.spec.gpu_count
    ]


def against(case: Case, answer: Answer, spec: Spec, sold: Sequence[Offered], truth: dict[Question, float]) -> Advised:
    """The job runs on what is bought: in too little memory not at all, which misses all of the target.

    `truth` has the true rates that are known, and gets those that are not.
    """
    machine = case.machine
    fitting = [(each, place) for each in sold if machine.holds(place := bought(case, each.spec))]
    mine, largest = bought(case, spec), replace(bought(case, spec), vcpus=case.axes.vcpus[-1])
    places = [*(place for _, place in fitting), mine, largest, replace(largest, vcpus=2 * vcpus_of(largest))]
    questions = [(place, Faster()) for place in places]
    new = [question for question in questions if question not in truth]
    truth.update(machine.truth(new) if new else {})
    *rates, own, most, doubled = (truth[question] for question in questions)
    own = own if machine.holds(mine) else 0.0
    best = max([*rates, own])
    reaching = [each.usd_per_hour for (each, _), rate in zip(fitting, rates, strict=True) if rate >= TARGET * best]
    cost = next((each.usd_per_hour for each in sold if each.spec == spec), math.nan)
    return Advised(
        case=case.number,
        accounted=case.accounted,
        status=answer.status,
        spec=spec,
        rate_regret=max(0.0, 1 - own / (TARGET * best)) if best else 0.0,
        cost_regret=cost / min(reaching) - 1 if reaching else math.nan,
        gain=doubled / most - 1,
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
