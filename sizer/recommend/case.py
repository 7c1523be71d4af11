"""One workload with what is asked of it, and what its own runs say against an answer."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import mean, median

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import processor_of
from sizer.model.model import Gpus, WorkloadModel
from sizer.model.observations import beside_others
from sizer.model.prediction import predict, predict_several
from sizer.model.refusals import counted_outcomes
from sizer.model.runs import as_asked, is_starved
from sizer.model.transfer import knowing
from sizer.recommend.candidates import Candidate, Kind
from sizer.recommend.prices import has_gpus
from sizer.recommend.rule import Choice, Table, choose
from sizer.recommend.sizes import sold_there
from sizer.records.prediction import Configuration, Prediction, Reason, ReasonCode, reason
from sizer.records.run import OUTLIER, RentedMachine, Run, RunWarning, WarningKind
from sizer.records.run_kinds import FINDINGS, Outcome
from sizer.records.study import Objective

DOUBTS = (
    WarningKind.CONTENDED,
    WarningKind.STOLEN,
    WarningKind.GPU_SHARED,
    WarningKind.DRIFTING,
    WarningKind.IMPRECISE,
    WarningKind.UNSETTLED,
    WarningKind.SHORT,
    WarningKind.ONE_READING,
    WarningKind.OTHER_BATCH_SIZE,
)
"""Warnings that make a run's rate doubtful. How far most of them may have moved it is in the model's likelihood."""

IN_STUDY = {WarningKind.ONE_READING: "counter", WarningKind.OTHER_BATCH_SIZE: "batch_size"}
"""Doubts that no noise describes: the study file removes them, and by what. An answer that rests on them says so."""

CONTRADICTED = {
    WarningKind.BATCHES_FOR_SAMPLES: "batches",
    WarningKind.LINES_OF_RANKS: "counter",
    WarningKind.TOLD_UNLIKE_SEEN: "units",
}
"""Warnings that a run's rate is known to be wrong by some factor, and what to correct in its pattern."""

ALIKE_FACTORS = 1.2
"""Rates that are wrong by factors this near to one another compare specs as true rates do: so far may a log be from the
arrival of its lines without a warning."""
HELD_BACK = 1.1
"""How many times as fast a job must be without its input for that to be what holds it back."""


@dataclass(frozen=True)
class Quality:
    """What the completed runs of a workload say against an answer, each as a reason, None where nothing is.

    `doubtful`: in how many the rate rests on a doubt of IN_STUDY; `poor` if in at least half, `doubtful_at` the
    configurations of which all are; `remedy` is what the study file lacks. `starved`: in how many others had the vCPUs.
    `contradicted`: some tell a rate that is known to be wrong; `mixed`: some may be of another job. `others` are the
    cores that something else used beside the runs of a configuration, in the mean, where that marked each of them.
    """

    doubtful: Reason | None = None
    starved: Reason | None = None
    failed: Reason | None = None
    contradicted: Reason | None = None
    mixed: Reason | None = None
    poor: bool = False
    doubtful_at: frozenset[Configuration] = frozenset()
    remedy: str = ""
    others: Mapping[Configuration, float] = field(default_factory=dict)

    def rests_on_doubt(self, place: Configuration) -> bool:
        """Whether at least half of the runs are doubtful, or all of those at this configuration, or others had the
        vCPUs of some, which could be faster than they were."""
        return self.poor or place in self.doubtful_at or self.starved is not None


def quality_of(runs: Sequence[Run]) -> Quality:
    """Of the runs of one workload, but not those that search for the memory floor or isolate a stage."""
    runs = as_asked(runs)
    completed = [run for run in runs if run.outcome is Outcome.COMPLETED]
    at: dict[Configuration, list[Run]] = defaultdict(list)
    for run in completed:
        at[run.configuration].append(run)
    doubted = [run for run in completed if _doubts(run)]
    doubts = [doubt for doubt in IN_STUDY if any(doubt in _doubts(run) for run in doubted)]
    starved, failed = sum(map(is_starved, completed)), [run.outcome for run in runs if run.outcome not in FINDINGS]
    of = {"completed": float(len(completed))}
    of_all = {"failed": float(len(failed)), "runs": float(len(runs))}
    named = tuple(doubt.value for doubt in doubts)
    return Quality(
        reason(ReasonCode.RUNS_DOUBTFUL, **of, doubtful=float(len(doubted)), doubts=named) if doubted else None,
        reason(ReasonCode.RUNS_STARVED, starved=float(starved), **of) if starved else None,
        reason(ReasonCode.RUNS_FAILED, **of_all, **counted_outcomes(failed)) if failed else None,
        _contradicted(completed),
        _mixed(completed),
        poor=0 < len(completed) <= 2 * len(doubted),
        doubtful_at=frozenset(place for place, group in at.items() if all(map(_doubts, group))),
        remedy=IN_STUDY[doubts[0]] if doubts else "",
        others={place: cores for place, group in at.items() if (cores := _used_by_others(group)) > 0},
    )


def rate_contradicted(runs: Sequence[Run]) -> Reason | None:
    """Why the rates of one workload are known to be wrong; None where they are not."""
    return quality_of(runs).contradicted


def _doubts(run: Run) -> set[WarningKind]:
    return {warning.kind for warning in run.warnings} & set(IN_STUDY)


def _warnings(runs: Sequence[Run], *kinds: WarningKind) -> list[RunWarning]:
    return [warning for run in runs for warning in run.warnings if warning.kind in kinds]


def _used_by_others(runs: Sequence[Run]) -> float:
    """The cores that something else used beside these runs; 0 where that marks not each of them."""
    if not all(map(beside_others, runs)):
        return 0.0
    return mean(sum(warning.figures.get("cores", 0.0) for warning in run.warnings) for run in runs)


def _contradicted(completed: Sequence[Run]) -> Reason | None:
    """How many tell a wrong rate, what to correct, and whether all are wrong by the same factor."""
    warnings = _warnings(completed, *CONTRADICTED)
    if not warnings:
        return None
    factors = [warning.figures["told"] / warning.figures["seen"] for warning in warnings if warning.figures.get("seen")]
    return reason(
        ReasonCode.RATE_CONTRADICTED,
        mistold=float(len(warnings)),
        completed=float(len(completed)),
        factor=median(factors) if factors else None,
        alike=len(factors) == len(completed) and max(factors) <= ALIKE_FACTORS * min(factors),
        correct=Counter(CONTRADICTED[warning.kind] for warning in warnings).most_common(1)[0][0],
    )


def _mixed(completed: Sequence[Run]) -> Reason | None:
    """By how much rows of one configuration differ at the most, and in which columns."""
    warnings = _warnings(completed, WarningKind.MAY_BE_ANOTHER_JOB)
    if not warnings:
        return None
    columns = Counter(column for warning in warnings for column in (warning.text or "").split("; "))
    factor = max(warning.figures["factor"] for warning in warnings)
    return reason(ReasonCode.JOBS_MIXED, factor=factor, columns=tuple(column for column, _ in columns.most_common()))


def on_curve(model: WorkloadModel, candidates: Sequence[Candidate]) -> bool:
    """Whether they are sizes of one kind, so that the model's curve describes them."""
    one_kind = len({one.kind for one in candidates}) == 1 and all(one.rented is None for one in candidates)
    return one_kind and model.posterior is not None and model.refused is None


@dataclass(frozen=True)
class Case:
    """`best` is the configuration that sizes on a curve are held against, with its rate; None of machines compared.

    `retired` are machines measured that nobody can rent any more, `machine` the instance type to compare the answer
    with, `synthetic` rates with synthetic input by kind and count of accelerator. `here`: of instance types by their
    own rates, the vCPUs that would be chosen by rates on the host that measured.
    """

    model: WorkloadModel
    objective: Objective
    catalog: Catalog
    quality: Quality
    table: Table
    best: Configuration | None = None
    best_rate: float = 0.0
    retired: tuple[Candidate, ...] = ()
    machine: InstanceType | None = None
    synthetic: Mapping[Gpus, float] = field(default_factory=dict)
    here: float | None = None

    @cached_property
    def choice(self) -> Choice:
        return choose(self.table)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(row.candidate for row in self.table.rows)

    @property
    def is_moved(self) -> bool:
        """Whether it is known how fast the CPU was that all was measured on, so that rates elsewhere are told."""
        return len(self.model.facts.measured_on) == 1 and self.model.posterior is not None

    @cached_property
    def sold(self) -> tuple[WorkloadModel, tuple[Candidate, ...]]:
        """The instance types of its sizes by their own rates, and the model that knows their CPUs; none where it is not
        known how fast the host was, or the machines that were measured have names or are of several kinds."""
        named = tuple(one for one in self.candidates if one.place.machine is not None)
        several = len({one.kind for one in self.candidates}) > 1 or any(one.rented for one in self.candidates)
        if named or several or not self.is_moved:
            return self.model, named
        rate = self.objective.rate or self.best_rate
        model, types = sold_there(self.model, self.candidates, self.catalog, rate)
        return model, tuple(types)

    def cheapest_there(self, size: Candidate) -> Candidate | None:
        """The instance type on which the work of this size costs the least, by its own rate; None where none is
        known."""
        held = [one for one in self.sold[1] if one.spec.vcpus == size.spec.vcpus and one.spec.disk == size.spec.disk]
        held = [one for one in held if (one.spec.memory_bytes or 0) >= (size.spec.memory_bytes or 0) and one.rate > 0]
        return size if size.is_named or self.table.of_machines else min(held, key=lambda one: one.cost, default=None)

    def of_kind(self, kind: Kind) -> list[Candidate]:
        return [one for one in self.candidates if one.kind == kind]

    @property
    def on_curve(self) -> bool:
        return on_curve(self.model, self.candidates)

    def prediction(self, candidate: Candidate) -> Prediction | None:
        """What the model says of it; None where it does not describe such machines."""
        return predict(self.model, candidate.place) if self.on_curve and not self.outliers else None

    def without_input(self, candidate: Candidate) -> float | None:
        """The rate of its accelerators without the job's input, where that is what holds the job back; else None."""
        rate = self.synthetic.get(candidate.accelerators)
        return rate if rate is not None and rate > HELD_BACK * candidate.rate else None

    @property
    def compared(self) -> Candidate | None:
        """The fastest that was measured on the machine that the answer is to be compared with."""
        asked = self.objective.baseline
        measured = (*self.candidates, *self.retired)
        named = [one for one in measured if asked is not None and one.is_called(asked)]
        if not named and self.machine is not None and self.table.of_machines:
            named = [one for one in self.candidates if self._may_be(one, self.machine)]
            named = [replace(one, offer=self.machine, usd_per_hour=self.machine.usd_per_hour) for one in named]
            named = [*filter(None, [self._moved(one, self.machine) for one in named])] if self.is_moved else named
        if named and named[0].place.machine is not None and not self.table.of_machines:
            return min(named, key=lambda one: one.cost)  # the size is meant
        return max(named, key=lambda one: one.rate, default=None)

    def _moved(self, one: Candidate, machine: InstanceType) -> Candidate | None:
        """With its own rate on that machine; None where it is not known."""
        its = processor_of(machine)
        place = replace(one.place, machine=machine.name)
        (there,) = [None] if its is None else predict_several(knowing(self.model, [its]), [place])
        return replace(one, place=place, throughput=there.throughput) if isinstance(there, Prediction) else None

    def _may_be(self, one: Candidate, machine: InstanceType) -> bool:
        """Whether it was measured on any machine of this size; of more vCPUs than were, with the most of them."""
        most = max(other.spec.vcpus or 0.0 for other in self.candidates)
        is_unnamed = one.rented is None and one.spec.nodes == 1
        has_size = one.spec.vcpus == min(machine.vcpus, most) and (one.spec.memory_bytes or 0) <= machine.memory_bytes
        device, kind = self.model.facts.device, one.accelerators
        gpu, count = kind.catalog_name(device), kind.number(device)
        return is_unnamed and has_size and (count == 0 or (gpu is not None and has_gpus(machine, gpu, count)))

    @property
    def baseline_name(self) -> str | None:
        """What the machine to compare with is called: as the catalogue does, else as it was asked for."""
        return self.objective.baseline if self.machine is None else self.machine.name

    @cached_property
    def outliers(self) -> tuple[Reason, ...]:
        """The machines of which one run must be wrong; else one that does not go with the next smaller one."""
        if not self.table.of_machines:
            return ()
        own = [Reason(ReasonCode.RUNS_APART, {"factor": c.apart}, c.spec) for c in self.candidates if c.apart > OUTLIER]
        return tuple(own) or tuple(filter(None, [_out_of_proportion(self.candidates)]))


def _out_of_proportion(candidates: Sequence[Candidate]) -> Reason | None:
    """The first that is over OUTLIER times as fast as in proportion to the next smaller one, or as slow."""
    for one in candidates:
        for size, alike in BY_SIZE:
            fewer = [other for other in candidates if alike(other) == alike(one) and 0 < size(other) < size(one)]
            if not fewer:
                continue
            before = max(fewer, key=lambda other: (size(other), other.rate))
            times = one.rate / before.rate
            faster = times / (size(one) / size(before))
            if faster > OUTLIER or times < 1 / OUTLIER:
                ratio = faster if faster > OUTLIER else 1 / times
                figures = {"factor": ratio, "slower": faster <= OUTLIER, "fewer": size(before)}
                return Reason(ReasonCode.RUNS_APART, figures, one.spec)
    return None


def but_for_size(candidate: Candidate) -> tuple[object, ...]:
    """What candidates have alike that differ in vCPUs and memory alone; named ones are of one family."""
    return candidate.kind, candidate.place.disk, candidate.place.batch_size, _family_of(candidate.rented)


BY_SIZE: tuple[tuple[Callable[[Candidate], float], Callable[[Candidate], object]], ...] = (
    (lambda one: float(one.kind[1]), lambda one: (one.kind[0], one.place.batch_size, one.place.disk)),
    (lambda one: one.place.vcpus or 0.0, but_for_size),
)
"""By what candidates are of several sizes, the number of accelerators and vCPUs, and what else they must have alike."""


def _family_of(rented: RentedMachine | None) -> str | None:
    """`aws m7i` of aws m7i.4xlarge, `gcp n1-standard` of gcp n1-standard-8: sizes of one family differ in size alone.

    Other names are without their last number, and Azure's without their first. None where it has no name.
    """
    name = None if rented is None else rented.name
    if name is None:
        return None
    if "." in name:
        return name.rpartition(".")[0]
    if "Standard_" in name:
        return re.sub(r"\d+", "", name, count=1)
    return re.sub(r"\d+(?=\D*$)", "", name)
