"""From planned runs to stored runs and their answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sizer import bundled, disks, placement
from sizer.cli.answering import answer
from sizer.cli.interrupts import Interrupts
from sizer.cli.progress import Progress
from sizer.cli.wording import emulated_disks
from sizer.commands import Place
from sizer.data_sets import DataSets, cache_folder
from sizer.disk_check import Fio, check_disk
from sizer.drift import changed_marks
from sizer.duration import estimate_seconds
from sizer.errors import Interrupted
from sizer.floor_search import TYPICAL_RUNS, Search, marked, searches
from sizer.host import Host
from sizer.interpreters import interpreter
from sizer.launcher import Hooks, Setting, launch
from sizer.limits import LimitsBackend
from sizer.placement import Placement, room_on_emulated
from sizer.plan import UNFINISHED, remaining
from sizer.records import DataSet, DiskCheck, DiskTier, Outcome, Run, RunSpec, Study, Workload
from sizer.reference import is_measurement, reference
from sizer.store import StudyFolder
from sizer.study import Facts

FAULTS = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Outcomes that end a study with exit code 4; out_of_memory is a finding."""


@dataclass(frozen=True)
class Bench:
    """This machine, set up to measure."""

    host: Host
    backend: LimitsBackend
    fio: Fio = Fio()


@dataclass(frozen=True)
class Ready:
    """What runs need besides their spec: data, where it lies on each disk, what the disks give, and who looks on."""

    data: Mapping[Workload, DataSet | None]
    places: Placement
    checks: Mapping[str, DiskCheck]
    progress: Progress


def measure(study: Study, specs: Sequence[RunSpec], folder: StudyFolder, bench: Bench) -> int:
    """Run what is not finished yet, then write the answer, whatever stopped the runs. The exit code."""
    bench.backend.remove_leftovers()
    disks.remove_leftovers(_cache() / "disks")
    placement.remove_leftovers()
    with Interrupts() as interrupts:
        measuring = _Measuring(study, folder, bench, interrupts)
        try:
            with suppress(Interrupted):
                measuring.run(specs)
        finally:
            if folder.runs():
                measuring.mark_drift()
                answer(folder, say=_say)
                _say(f"report: {folder.report_path}")
        interrupted = interrupts.finish()
    if interrupted:
        _say(f"interrupted; go on with: sizer resume {folder.path}")
        return Interrupted.exit_code
    planned = {spec.id for spec in specs}
    return 4 if any(run.outcome in FAULTS for run in folder.runs() if measuring.asked(planned, run)) else 0


class _Measuring:
    """One stretch of measuring: data first, then disks, then run after run, and the search for memory floors."""

    def __init__(self, study: Study, folder: StudyFolder, bench: Bench, interrupts: Interrupts) -> None:
        self._study = study
        self._folder = folder
        self._bench = bench
        self._interrupts = interrupts
        here = Facts(bench.host.cpus, bench.host.memory_bytes)
        self._reference = reference(study, here)
        self._searches = searches(study, here)

    def run(self, specs: Sequence[RunSpec]) -> None:
        todo = remaining(specs, self._folder.runs())
        needed = [*todo, *(spec for spec in map(self._next, self._searches) if spec is not None)]
        if not needed:
            _say(f"all {len(specs)} runs are finished already; for new ones choose another folder with --out")
            return
        emulated = emulated_disks(self._study)
        progress = Progress(len(specs), len(specs) - len(todo), self._left(todo), emulated=emulated)
        data = self._prepare_data(needed, progress)
        room = room_on_emulated(self._study, needed, data)
        with Placement(_cache(), room, progress.say) as places:
            checks = self._check_disks(needed, places, progress)
            for spec in needed:
                places.data(data[spec.workload], self._tier(spec))
                self._stop_if_asked()
            ready = Ready(data, places, checks, progress)
            for number, spec in enumerate(todo):
                self._stop_if_asked()
                progress.begin(spec, self._left(todo[number:]))
                self._keep(self._launch(spec, ready), progress)
            for search in self._searches:
                self._search(search, ready)

    def mark_drift(self) -> None:
        """Write each run again whose warning of drift is not what the runs of the reference say by now."""
        for run in changed_marks(self._folder.runs(), self._reference):
            self._folder.add(run)

    def asked(self, planned: Collection[str], run: Run) -> bool:
        """Whether the study asks for a run: a folder may hold others, of a time when its axes were longer."""
        return run.id in planned or any(search.includes(run.spec) for search in self._searches)

    def _left(self, todo: Sequence[RunSpec]) -> float:
        """Seconds that these runs and the searches after them are expected to take."""
        searched = [spec for search in self._searches if (spec := self._next(search)) for _ in range(TYPICAL_RUNS)]
        return estimate_seconds([*todo, *searched], self._folder.runs())

    def _next(self, search: Search) -> RunSpec | None:
        return search.next_run(self._folder.runs())

    def _keep(self, run: Run, progress: Progress) -> None:
        if run.outcome is not Outcome.INTERRUPTED:
            self._folder.add(run)
        progress.end(run)
        if self._reference is not None and is_measurement(run.spec, self._reference):
            self.mark_drift()

    def _search(self, search: Search, ready: Ready) -> None:
        """Run after run until the floor is found, or a run shows that it cannot be."""
        while (spec := self._next(search)) is not None:
            self._stop_if_asked()
            ready.progress.begin(spec, self._left(()))
            run = self._launch(spec, ready)
            self._keep(marked(run), ready.progress)
            if run.outcome in UNFINISHED:
                break
        ready.progress.say(search.result(self._folder.runs()))

    def _prepare_data(self, todo: Sequence[RunSpec], progress: Progress) -> dict[Workload, DataSet | None]:
        prepared = {}
        for workload in dict.fromkeys(spec.workload for spec in todo):
            python = Path(sys.executable) if workload.kind == "command" else interpreter(workload.framework)
            images, stop = self._study.embedded_images, self._interrupts.finish
            sets = DataSets(_cache(), python, bundled.WORKLOADS_PATH, images, progress.say, stop)
            prepared[workload] = sets.prepare(workload)
        return prepared

    def _check_disks(self, todo: Sequence[RunSpec], places: Placement, progress: Progress) -> dict[str, DiskCheck]:
        """fio's figures of every tier in use."""
        checks = {}
        for name in dict.fromkeys(spec.limits.disk for spec in todo if spec.limits.disk is not None):
            self._stop_if_asked()
            tier = self._study.disk(name)
            progress.say(f"checking disk `{name}` with fio")
            checks[name] = check_disk(tier, places.volume(tier), self._bench.backend, self._bench.fio)
            if checks[name].deviates:
                progress.say(f"  disk `{name}` deviates: {checks[name].note}")
        return checks

    def _launch(self, spec: RunSpec, ready: Ready) -> Run:
        tier, places = self._tier(spec), ready.places
        data_set = places.data(ready.data[spec.workload], tier)
        with places.folders(tier) as (scratch, output):
            setting = Setting(
                place=Place(
                    interpreter=interpreter(spec.workload.framework),
                    packages=bundled.WORKLOADS_PATH,
                    data=Path(data_set.path) if data_set else None,
                    data_format=data_set.format if data_set else None,
                    scratch=scratch,
                    output=output,
                ),
                data_set=data_set,
                throttle=places.volume(tier).throttle(tier) if tier else None,
                disk=ready.checks.get(tier.name) if tier else None,
                host_vcpus=self._bench.host.cpus,
                host_memory_bytes=self._bench.host.memory_bytes,
                environment=os.environ,
                log_path=self._folder.log_path(spec.id),
            )
            return launch(spec, setting, self._bench.backend, Hooks(ready.progress.watch, self._interrupts.now))

    def _tier(self, spec: RunSpec) -> DiskTier | None:
        return self._study.disk(spec.limits.disk) if spec.limits.disk is not None else None

    def _stop_if_asked(self) -> None:
        if self._interrupts.finish():
            raise Interrupted("interrupted between two runs")


def _cache() -> Path:
    return cache_folder(os.environ)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
