"""What the runs of a study say so far: the answer of each workload, and how open it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sizer.adaptive.open_answer import OpenAnswer, open_answer
from sizer.adaptive.start import Axes
from sizer.catalog.catalog import Catalog
from sizer.model.coordinates import name_of_disk
from sizer.model.drift import Drift, drift_of, measured_after
from sizer.model.fitting import fit
from sizer.model.isolation import as_asked
from sizer.model.model import Model
from sizer.model.observations import completed
from sizer.plan.configurations import position
from sizer.recommend.recommendation import recommend
from sizer.recommend.table import SURE
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run
from sizer.records.study import RunSpec, Study
from sizer.study.presets import HostSize


@dataclass(frozen=True)
class Known:
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
        readings = any(each.code is ReasonCode.RUNS_DOUBTFUL for each in self.answer.reasons)
        return self.answer.rate_in_doubt or (self.answer.provisional and readings)


class Conclusions:
    """Of the workloads of a study; what is concluded from the same runs as before is kept."""

    def __init__(
        self, study: Study, host: HostSize, catalog: Catalog, axes: Mapping[str, Axes], fitted: Model | None = None
    ) -> None:
        """`fitted` is the model of the very runs that are asked about, where it is there already."""
        self._study, self._host, self._catalog, self._axes = study, host, catalog, axes
        self._fitted = {each.name: each for each in fitted.workloads} if fitted is not None else {}
        self._known: dict[str, tuple[tuple[object, ...], Known]] = {}
        self._drift: tuple[tuple[object, ...], Drift] | None = None

    def of(self, name: str, runs: Sequence[Run]) -> Known:
        """The answer of one workload among these runs; what others tell of the host may move it."""
        mine, drift = own(name, runs), self._drift_of(runs)
        key = tuple((run.id, run.started_at, run.throughput, run.warnings, drift.at(run)) for run in mine)
        found = self._known.get(name)
        if found is None or found[0] != key:
            model = Model((self._fitted[name],)) if name in self._fitted else fit(mine, drift)
            found = self._known[name] = key, self._concluded(name, mine, model)
        return found[1]

    def open(self, runs: Sequence[Run]) -> list[str]:
        """The workloads whose answer has not its probability."""
        prefer = self._study.objective.counts
        return [name for name in self._axes if not own(name, runs) or not self.of(name, runs).sure(prefer)]

    def surer_by(self, again: Run, runs: Sequence[Run], least: float) -> tuple[float, str]:
        """By how much an answer would be less open if this run was made once more, now, and gave the same; and of which
        workload. 0 while too little was measured again to tell how the host moves. Answers whose whole doubt is below
        `least` are not fitted for it: they cannot gain as much."""
        if not self._drift_of(runs).moves:
            return 0.0, ""
        surer = drift_of([*completed(runs), measured_after(again, runs)])
        found = []
        for name in self.open(runs):
            mine = own(name, runs)
            now = self.of(name, runs).opened if mine else None
            if now is None or now.doubt < least:
                continue
            then = self._concluded(name, mine, fit(mine, surer)).opened
            if then is not None:
                found.append((now.doubt - then.doubt, name))
        return max(found, default=(0.0, ""))

    def _drift_of(self, runs: Sequence[Run]) -> Drift:
        """The path of the host by all of these runs, found once for all workloads."""
        key = tuple((run.id, run.started_at, run.throughput) for run in runs)
        if self._drift is None or self._drift[0] != key:
            self._drift = key, drift_of(completed(runs))
        return self._drift[1]

    def _concluded(self, name: str, mine: Sequence[Run], model: Model) -> Known:
        objective, specs = self._study.objective, self._axes[name].specs
        answer = recommend(model, mine, objective, self._catalog, host_vcpus=float(self._host.vcpus)).workloads[0]
        workload = model.workloads[0]
        disks = {name_of_disk(disk.name) for disk in workload.measured.disks}
        places = [place for spec in specs if (place := place_of(spec, self._host)).disk in disks]
        tried = {position(run.spec, self._host) for run in as_asked(mine)}
        complete = all(position(spec, self._host) in tried for spec in specs)
        return Known(answer, open_answer(workload, answer, places, objective, self._catalog), complete)


def place_of(spec: RunSpec, host: HostSize) -> Configuration:
    """Where the model finds what this run measures."""
    vcpus, memory, disk, batch, count = position(spec, host)
    return Configuration(vcpus, memory, name_of_disk(disk), batch, gpu_count=count)


def own(name: str, runs: Iterable[Run]) -> list[Run]:
    """The runs of one workload."""
    return [run for run in runs if run.spec.workload.name == name]
