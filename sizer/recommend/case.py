"""One workload with what is asked of it: everything that an answer is made from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.candidates import Candidate, Kind
from sizer.recommend.quality import Quality
from sizer.recommend.table import Choice, Table, choose
from sizer.records.configuration import Configuration
from sizer.records.prediction import Prediction, Reason, ReasonCode
from sizer.records.run import SLIP, RentedMachine
from sizer.records.study import Objective


def on_curve(model: WorkloadModel, candidates: Sequence[Candidate]) -> bool:
    """Whether they are sizes of one kind, so that the model's curve describes them."""
    one_kind = len({each.kind for each in candidates}) == 1 and all(each.rented is None for each in candidates)
    return one_kind and model.posterior is not None and model.refused is None


@dataclass(frozen=True)
class Case:
    """`best` is the configuration that sizes on a curve are held against, with its rate; None of machines compared.

    `retired` are machines measured that nobody can rent any more, `machine` the instance type to compare the answer
    with, `other_inputs` rates with synthetic input by kind and count of accelerator.
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
    other_inputs: Mapping[Accelerators, float] = field(default_factory=dict)

    @cached_property
    def choice(self) -> Choice:
        return choose(self.table)

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        return tuple(row.candidate for row in self.table.rows)

    def of_kind(self, kind: Kind) -> list[Candidate]:
        return [each for each in self.candidates if each.kind == kind]

    def usd_per_hour(self, candidate: Candidate) -> float | None:
        """What is rented costs so much: a machine, or the instance type that holds a size; None where not known."""
        if self.table.of_machines:
            return candidate.usd_per_hour
        return None if candidate.offer is None else candidate.offer.usd_per_hour

    @property
    def on_curve(self) -> bool:
        return on_curve(self.model, self.candidates)

    def prediction(self, candidate: Candidate) -> Prediction | None:
        """What the model says of it; None where it does not describe such machines."""
        return predict(self.model, candidate.place) if self.on_curve and not self.slips else None

    @cached_property
    def slips(self) -> tuple[Reason, ...]:
        """The machines of which one run must be wrong; else one that does not go with the next smaller one."""
        if not self.table.of_machines:
            return ()
        found = [Reason(ReasonCode.RUNS_APART, {"factor": c.apart}, c.spec) for c in self.candidates if c.slipped]
        return tuple(found) or tuple(filter(None, [_sizes_apart(self.candidates)]))


def _sizes_apart(candidates: tuple[Candidate, ...]) -> Reason | None:
    """The first that is over SLIP times as fast as in proportion to the next smaller one, or as slow."""
    for each in candidates:
        for size, alike in ((_count, _but_for_count), (_vcpus, but_for_size)):
            fewer = [other for other in candidates if alike(other) == alike(each) and 0 < size(other) < size(each)]
            if not fewer:
                continue
            before = max(fewer, key=lambda other: (size(other), other.rate))
            slower = each.rate / before.rate
            faster = slower / (size(each) / size(before))
            if faster > SLIP or slower < 1 / SLIP:
                ratio = faster if faster > SLIP else 1 / slower
                figures = {"factor": ratio, "slower": faster <= SLIP, "fewer": size(before)}
                return Reason(ReasonCode.RUNS_APART, figures, each.spec)
    return None


def _count(candidate: Candidate) -> float:
    return float(candidate.kind[1])


def _vcpus(candidate: Candidate) -> float:
    return candidate.place.vcpus or 0.0


def _but_for_count(candidate: Candidate) -> tuple[object, ...]:
    return candidate.kind[0], candidate.place.batch_size, candidate.place.disk


def but_for_size(candidate: Candidate) -> tuple[object, ...]:
    """What candidates have alike that differ in vCPUs and memory alone; named ones are of one family."""
    return candidate.kind, candidate.place.disk, candidate.place.batch_size, _family_of(candidate.rented)


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
