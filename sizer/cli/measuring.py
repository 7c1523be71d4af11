"""From planned runs to stored runs and their answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
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
from sizer.errors import Interrupted
from sizer.host import Host
from sizer.interpreters import interpreter
from sizer.launcher import Hooks, Setting, launch
from sizer.limits import LimitsBackend
from sizer.placement import Placement, room_on_emulated
from sizer.plan import estimate_seconds, remaining
from sizer.records import DataSet, DiskCheck, DiskTier, Outcome, Run, RunSpec, Study, Workload
from sizer.store import StudyFolder

FAULTS = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Outcomes that end a study with exit code 4; out_of_memory is a finding."""


@dataclass(frozen=True)
class Bench:
    """This machine, set up to measure."""

    host: Host
    backend: LimitsBackend
    fio: Fio = Fio()


def measure(study: Study, specs: Sequence[RunSpec], folder: StudyFolder, bench: Bench) -> int:
    """Run what is not finished yet, then write the answer, whatever stopped the runs. The exit code."""
    bench.backend.remove_leftovers()
    disks.remove_leftovers(_cache() / "disks")
    placement.remove_leftovers()
    todo = remaining(specs, folder.runs())
    if not todo:
        _say(f"all {len(specs)} runs are finished already; for new ones choose another folder with --out")
    with Interrupts() as interrupts:
        try:
            with suppress(Interrupted):
                _Measuring(study, folder, bench, interrupts).run(specs, todo)
        finally:
            if folder.runs():
                answer(folder, say=_say)
                _say(f"report: {folder.report_path}")
        interrupted = interrupts.finish()
    if interrupted:
        _say(f"interrupted; go on with: sizer resume {folder.path}")
        return Interrupted.exit_code
    planned = {spec.id for spec in specs}
    return 4 if any(run.outcome in FAULTS for run in folder.runs() if run.id in planned) else 0


class _Measuring:
    """One stretch of measuring: data first, then disks, then run after run."""

    def __init__(self, study: Study, folder: StudyFolder, bench: Bench, interrupts: Interrupts) -> None:
        self._study = study
        self._folder = folder
        self._bench = bench
        self._interrupts = interrupts

    def run(self, specs: Sequence[RunSpec], todo: Sequence[RunSpec]) -> None:
        if not todo:
            return
        left, emulated = estimate_seconds(todo, self._folder.runs()), emulated_disks(self._study)
        progress = Progress(len(specs), len(specs) - len(todo), left, emulated=emulated)
        data = self._prepare_data(todo, progress)
        room = room_on_emulated(self._study, todo, data)
        with Placement(_cache(), room, progress.say) as places:
            checks = self._check_disks(todo, places, progress)
            for spec in todo:
                places.data(data[spec.workload], self._tier(spec))
                self._stop_if_asked()
            for number, spec in enumerate(todo):
                self._stop_if_asked()
                progress.begin(spec, estimate_seconds(todo[number:], self._folder.runs()))
                run = self._launch(spec, data[spec.workload], places, checks, progress)
                if run.outcome is not Outcome.INTERRUPTED:
                    self._folder.add(run)
                progress.end(run)

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

    def _launch(
        self,
        spec: RunSpec,
        prepared: DataSet | None,
        places: Placement,
        checks: dict[str, DiskCheck],
        progress: Progress,
    ) -> Run:
        tier = self._tier(spec)
        data_set = places.data(prepared, tier)
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
                disk=checks.get(tier.name) if tier else None,
                host_vcpus=self._bench.host.cpus,
                host_memory_bytes=self._bench.host.memory_bytes,
                environment=os.environ,
                log_path=self._folder.log_path(spec.id),
            )
            return launch(spec, setting, self._bench.backend, Hooks(progress.watch, self._interrupts.now))

    def _tier(self, spec: RunSpec) -> DiskTier | None:
        return self._study.disk(spec.limits.disk) if spec.limits.disk is not None else None

    def _stop_if_asked(self) -> None:
        if self._interrupts.finish():
            raise Interrupted("interrupted between two runs")


def _cache() -> Path:
    return cache_folder(os.environ)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
