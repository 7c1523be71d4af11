"""What the runs of a study say so far: the answer of each workload, and how open it is. Pure.

The draws are what the rates may be. In each of them the rule of the answer takes some spec, so they say with which
probability the present answer would be regretted. A run tells which draws are nearer to the truth: for each rate that
it may give the draws are weighed anew, and what they disagree about then is the mean over these rates. Disagreement and
not the error of the best choice, which no single run lowers where only several would change it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.catalog import Catalog
from sizer.model.edge import best_place
from sizer.model.fitting import fit
from sizer.model.host import Drift, drift_of, measured_after
from sizer.model.model import CPU_LABEL, Model, WorkloadModel, name_of_disk, vcpus_of
from sizer.model.observations import completed
from sizer.model.runs import as_asked, label_of
from sizer.plan.configurations import Axes, position
from sizer.recommend.recommendation import recommend
from sizer.recommend.rule import SURE, Row, Table, table_of_sizes, weighed_after
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer
from sizer.records.prediction import Configuration, ReasonCode, Spec
from sizer.records.run import Run
from sizer.records.study import Objective, RunReason, RunReasonKind, RunSpec, Study
from sizer.study.presets import HostSize

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

    @property
    def _numbers(self) -> list[int]:
        return [row.number for row in self.rows]

    @cached_property
    def wrong(self) -> Array:
        """Which would be regretted (D, S)."""
        return self.table.wrong[:, self._numbers].astype(float)

    @cached_property
    def taken(self) -> NDArray[np.intp]:
        """The number of the one that each draw takes (D,)."""
        return np.asarray(self.table.regret[:, self._numbers].argmin(axis=1))

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
        here = [float(share) for share, row in zip(wrong, self.rows, strict=True) if row.candidate.place == place]
        return max(0.0, float(wrong[self.chosen]) - min(here, default=1.0))

    @property
    def possible(self) -> tuple[Spec, ...]:
        """The specs that may be the answer, the present one among them."""
        shares = np.bincount(self.taken, minlength=len(self.rows)) / len(self.taken)
        shares[self.chosen] = 1.0
        return tuple(row.candidate.spec for row, share in zip(self.rows, shares, strict=True) if share >= POSSIBLE)

    def most_telling(self, count: int) -> frozenset[Configuration]:
        """So many places whose rates go most with which specs give what is asked for."""
        enough = self.table.enough[:, self._numbers].astype(float)
        rates, passes = self.log_rates - self.log_rates.mean(axis=0), enough - enough.mean(axis=0)
        spread = np.sqrt((rates**2).sum(axis=0)) + 1e-12
        explained = (((rates / spread).T @ passes) ** 2).sum(axis=1)
        order = np.argsort(-explained, kind="stable")[:count]
        return frozenset(self.places[int(number)] for number in order)

    def value(self, place: Configuration) -> float:
        """By how much one more run there should lower the doubt."""
        rates = self.log_rates[:, self.places.index(place)]
        return self.doubt - self._disagree(weighed_after(rates, self.noise))

    def _disagree(self, weights: Array) -> float:
        """The mean over rows of weights (J, D) of the probability that what one draw takes is regretted in another."""
        took = np.eye(len(self.rows))[self.taken]
        return float(((weights @ took) * (weights @ self.wrong)).sum(axis=1).mean())


def open_answer(
    model: WorkloadModel, answer: Answer, places: Sequence[Configuration], objective: Objective, catalog: Catalog
) -> OpenAnswer | None:
    """What the answer may turn out to be, and what runs at `places` may give; None where the model is refused or has
    nothing to choose from."""
    if model.refused or model.posterior is None or answer.spec is None or not places:
        return None
    best, here = best_place(model), tuple(dict.fromkeys(places))
    sizes = sizes_on_curve(model, catalog, best.batch_size, rented=False, between=tuple(map(vcpus_of, here)))
    sizes = [size for size in sizes if size.exists] or sizes
    measured = [rate.configuration for rate in model.measured.rates]
    table = table_of_sizes(model, sizes, best, objective, (*here, *measured))
    rows = tuple(row for row in table.rows if row.disk_is_right or row.candidate.spec == answer.spec)
    chosen = next((number for number, row in enumerate(rows) if row.candidate.spec == answer.spec), None)
    if chosen is None:
        return None
    of_runs = table.of_runs[:, : len(here)]
    if objective.rate is None:
        columns = dict(zip(measured, table.of_runs[:, len(here) :].T, strict=True))
        of_runs = of_runs - _reference(here, columns)
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


def why(answer: Answer, opened: OpenAnswer, again: bool) -> RunReason:
    """What the specs that may be the answer differ in: vCPUs before memory before the disk."""
    specs = opened.possible
    for kind, axis in ((RunReasonKind.BETWEEN_VCPUS, "vcpus"), (RunReasonKind.BETWEEN_MEMORY, "memory_bytes")):
        values = sorted({float(value) for spec in specs if (value := getattr(spec, axis)) is not None})
        if len(values) > 1:
            return RunReason(kind, {"low": values[0], "high": values[-1]}, again=again)
    disks = tuple(dict.fromkeys(spec.disk for spec in specs if spec.disk is not None))
    if len(disks) > 1:
        return RunReason(RunReasonKind.BETWEEN_DISKS, {}, disks, again=again)
    figures = {"probability": answer.probability or 0.0}
    if answer.spec is not None and answer.spec.vcpus is not None:
        figures["vcpus"] = answer.spec.vcpus
    return RunReason(RunReasonKind.NOT_SURE, figures, again=again)


@dataclass(frozen=True)
class Conclusion:
    """What the runs of one workload say: its answer, and how open that is, None where it cannot be said; `complete`
    where each of its configurations was tried."""

    answer: Answer
    opened: OpenAnswer | None
    complete: bool

    def sure(self, prefer: str) -> bool:
        """Whether the answer has its probability, and is as probably neither too slow nor too dear; where it cannot be
        said what else it may be, each configuration must have been tried. Never where the rate still rises, or rests on
        what no noise describes: rates known to be wrong, or readings in doubt."""
        if self.answer.status in ("refused", "at_least") or self._in_doubt:
            return False
        if self.opened is None and not self.complete:
            return False
        if self.opened is not None and self.opened.right < SURE:
            return False
        if self.answer.probability is None:
            return self.answer.status == "recommended"
        return self.answer.probability >= SURE or prefer == "fastest"

    @property
    def _in_doubt(self) -> bool:
        readings = any(reason.code is ReasonCode.RUNS_DOUBTFUL for reason in self.answer.reasons)
        return self.answer.rate_in_doubt or (self.answer.provisional and readings)


class Conclusions:
    """Of the workloads of a study; what is concluded from the same runs as before is kept."""

    def __init__(
        self, study: Study, host: HostSize, catalog: Catalog, axes: Mapping[str, Axes], fitted: Model | None = None
    ) -> None:
        """`fitted` is the model of the very runs that are asked about, where it is there already."""
        self._study, self._host, self._catalog, self._axes = study, host, catalog, axes
        self._fitted = {workload.name: workload for workload in fitted.workloads} if fitted is not None else {}
        self._kept: dict[str, tuple[tuple[object, ...], Conclusion]] = {}
        self._drift: tuple[tuple[object, ...], Drift] | None = None

    def of(self, name: str, runs: Sequence[Run]) -> Conclusion:
        """The answer of one workload among these runs; what others tell of the host may move it."""
        mine, drift = own(name, runs), self._drift_of(runs)
        key = tuple((run.id, run.started_at, run.throughput, run.warnings, drift.at(run)) for run in mine)
        concluded = self._kept.get(name)
        if concluded is None or concluded[0] != key:
            model = Model((self._fitted[name],)) if name in self._fitted else fit(mine, drift)
            concluded = self._kept[name] = key, self._concluded(name, mine, model)
        return concluded[1]

    def open(self, runs: Sequence[Run]) -> list[str]:
        """The workloads whose answer has not its probability."""
        prefer = self._study.objective.counts
        return [name for name in self._axes if not own(name, runs) or not self.of(name, runs).sure(prefer)]

    def surer_by(self, again: Run, runs: Sequence[Run], least: float) -> tuple[float, str]:
        """By how much an answer would be less open if this run was made once more, now, and gave the same; and of which
        workload. 0 while too little was measured again to tell how the host moves. Answers whose whole doubt is below
        `least` are not fitted for it: they cannot gain as much."""
        if not self._drift_of(runs).moved:
            return 0.0, ""
        surer = drift_of([*completed(runs), measured_after(again, runs)])
        gains = []
        for name in self.open(runs):
            mine = own(name, runs)
            now = self.of(name, runs).opened if mine else None
            if now is None or now.doubt < least:
                continue
            then = self._concluded(name, mine, fit(mine, surer)).opened
            if then is not None:
                gains.append((now.doubt - then.doubt, name))
        return max(gains, default=(0.0, ""))

    def _drift_of(self, runs: Sequence[Run]) -> Drift:
        """The path of the host by all of these runs, found once for all workloads."""
        key = tuple((run.id, run.started_at, run.throughput) for run in runs)
        if self._drift is None or self._drift[0] != key:
            self._drift = key, drift_of(completed(runs))
        return self._drift[1]

    def _concluded(self, name: str, mine: Sequence[Run], model: Model) -> Conclusion:
        objective, specs = self._study.objective, self._axes[name].specs
        answer = recommend(model, mine, objective, self._catalog, host_vcpus=float(self._host.vcpus)).workloads[0]
        workload = model.workloads[0]
        disks = {name_of_disk(disk.name) for disk in workload.measured.disks}
        labels = {gpus.gpu for gpus in workload.measured.gpus}
        names = names_of_devices(mine) if len(self._axes[name].devices) > 1 else None
        places = [place_of(spec, self._host, names) for spec in specs]
        places = [place for place in places if place.disk in disks and (names is None or place.gpu in labels)]
        tried = {position(run.spec, self._host) for run in as_asked(mine)}
        complete = all(position(spec, self._host) in tried for spec in specs)
        return Conclusion(answer, open_answer(workload, answer, places, objective, self._catalog), complete)


def names_of_devices(runs: Sequence[Run]) -> dict[str, str]:
    """How the model calls each device that runs were made on: `cuda:0` by the name of the GPU, where that is known."""
    return {run.spec.workload.computes_on.label: label_of(run) or CPU_LABEL for run in runs}


def place_of(spec: RunSpec, host: HostSize, names: Mapping[str, str] | None = None) -> Configuration:
    """Where the model finds what this run measures: its device by its name where several are compared."""
    vcpus, memory, disk, batch, count, device = position(spec, host)
    gpu = None if names is None else names.get(device, device)
    return Configuration(vcpus, memory, name_of_disk(disk), batch, gpu, count)


def own(name: str, runs: Iterable[Run]) -> list[Run]:
    """The runs of one workload."""
    return [run for run in runs if run.spec.workload.name == name]
