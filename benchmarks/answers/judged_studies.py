"""What is answered of a job on a simulated machine, beside the true rates of all that it was chosen from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accuracy_draws import Case
from accuracy_machines import Faster

from sizer.catalog.catalog import Catalog
from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.model import Model, WorkloadModel
from sizer.recommend.recommendation import recommend
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer, Event
from sizer.records.prediction import Configuration, Spec
from sizer.records.run import Run
from sizer.records.study import Objective

TARGET = 0.95
REGRET = 0.05
LEAST_RIGHT, LEAST_ANSWERED = 0.95, 0.80


@dataclass(frozen=True)
class JudgedAnswer:
    """An answer, the true rate of its spec (0 where the job runs out of memory), and those of all specs that were on
    offer and hold the job. Without a spec there is none of them."""

    answer: Answer
    own: float = 0.0
    offered: tuple[tuple[Spec, float], ...] = ()

    @property
    def status(self) -> str:
        return f"provisional {self.answer.status}" if self.answer.provisional else self.answer.status

    @property
    def answered(self) -> bool:
        """Whether it is an answer to act on."""
        return self.status == "recommended"

    @property
    def needed(self) -> float:
        """The rate that an answer has to reach."""
        return TARGET * max([self.own, *(rate for _, rate in self.offered)])

    @property
    def right(self) -> bool:
        return self.answer.spec is not None and self.own >= (1 - REGRET) * self.needed

    @property
    def true(self) -> bool | None:
        """Whether what the probability of the answer is of is so."""
        event, spec = self.answer.probability_of, self.answer.spec
        if spec is not None and event is Event.REACHES_TARGET:
            return self.own >= self.needed
        if spec is None or event not in (Event.FEWER_TOO_FEW, Event.LESS_TOO_LITTLE):
            return None
        return not any(rate >= self.needed for other, rate in self.offered if _is_less(other, spec, event))

    @property
    def line(self) -> str:
        spec = self.answer.spec
        chosen = "-" if spec is None else f"{spec.vcpus} {spec.disk or ''}"
        return f"{self.status} {chosen} P {self.answer.probability}, {self.own:.4g} of {self.needed:.4g}"


def _is_less(spec: Spec, mine: Spec, event: Event) -> bool:
    """Of a lower bound: fewer vCPUs, or as many with less memory where that is said, too."""
    if (spec.vcpus or 0.0) < (mine.vcpus or 0.0):
        return True
    less_memory = (spec.memory_bytes or 0) < (mine.memory_bytes or 0)
    return event is Event.LESS_TOO_LITTLE and spec.vcpus == mine.vcpus and less_memory


def answers_of(runs: Sequence[Run]) -> tuple[Model, dict[str, Answer]]:
    """The model of these runs, and the answer of each job."""
    model = fit(runs)
    answers = recommend(model, runs, Objective("cheapest", TARGET), Catalog.load()).workloads
    return model, {answer.workload: answer for answer in answers}


def judged_answer(case: Case, model: WorkloadModel, answer: Answer) -> JudgedAnswer:
    """The answer against the truth of the machine of this case."""
    if answer.spec is None:
        return JudgedAnswer(answer)
    machine, mine = case.machine, bought(case, answer.spec)
    places = {spec: place for spec in offered(model, answer) if machine.holds(place := bought(case, spec))}
    rates = machine.truth([(place, Faster()) for place in (*places.values(), mine)])
    own = rates[mine, Faster()] if machine.holds(mine) else 0.0
    return JudgedAnswer(answer, own, tuple((spec, rates[place, Faster()]) for spec, place in places.items()))


def offered(model: WorkloadModel, answer: Answer) -> list[Spec]:
    """What the answer was chosen from, with its own count of accelerators where several were."""
    if not answer.alternatives:
        batch = best_measured(model).configuration.batch_size
        sizes = sizes_on_curve(model, Catalog.load(), batch, rented=False)
        return [size.spec for size in sizes if size.exists]
    count = answer.spec.gpu_count if answer.spec is not None else 0
    return [alternative.spec for alternative in answer.alternatives if alternative.spec.gpu_count == count]


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
