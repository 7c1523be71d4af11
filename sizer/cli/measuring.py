"""run, resume and demo: plan, measure, store, and answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sizer import bundled, disks
from sizer.cli.answering import answer
from sizer.cli.interrupts import Interrupts
from sizer.cli.progress import Progress
from sizer.commands import Place
from sizer.data_sets import DataSets, cache_folder
from sizer.disk_check import Fio, check_disk
from sizer.errors import HostError
from sizer.host import Host
from sizer.launcher import Hooks, Setting, launch
from sizer.limits import Control, LimitsBackend
from sizer.placement import Placement, emulated_bytes
from sizer.plan import estimate_seconds, remaining
from sizer.records import DataSet, DiskCheck, DiskTier, Outcome, RunSpec, Study, Workload
from sizer.store import StudyFolder

FAULTS = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Outcomes that end a study with exit code 4; out_of_memory is a finding."""

IN_WORDS = {
    Control.VCPUS: "vCPUs",
    Control.FRACTIONAL_VCPUS: "fractions of a vCPU",
    Control.MEMORY: "memory",
    Control.DISK: "disks",
}

EMBEDDED_IMAGES = 4000
DEMO_IMAGES = 400


@dataclass(frozen=True)
class Bench:
    """This machine, set up to measure."""

    host: Host
    backend: LimitsBackend
    embedded_images: int = EMBEDDED_IMAGES
    fio: Fio = Fio()


def refuse_what_cannot_be_limited(specs: Sequence[RunSpec], study: Study, backend: LimitsBackend) -> None:
    """Raises HostError before anything is run, with each thing that is missing and the command that would fix it."""
    lacking = {}
    for spec in specs:
        emulated = spec.limits.disk is not None and study.disk(spec.limits.disk).emulated is not None
        for each in backend.missing(spec.limits, throttled=emulated):
            fix = f"; type: {each.fix}" if each.fix else ""
            lacking[each.control, each.how] = f"this host cannot limit {IN_WORDS[each.control]} ({each.how}){fix}"
        reason = disks.missing_for_emulation() if emulated else None
        if reason:
            lacking[Control.DISK, reason] = f"this host cannot emulate disks: {reason}"
    if lacking:
        raise HostError("\n".join(lacking.values()))


def measure(study: Study, specs: Sequence[RunSpec], folder: StudyFolder, bench: Bench) -> int:
    """Run what is not finished yet, then write the answer. The exit code."""
    refuse_what_cannot_be_limited(specs, study, bench.backend)
    bench.backend.remove_leftovers()
    disks.remove_leftovers(cache_folder(os.environ) / "disks")
    todo = remaining(specs, folder.runs())
    with Interrupts() as interrupts:
        if todo:
            _measure(study, specs, todo, folder, bench, interrupts)
        interrupted = interrupts.finish()
    answer(folder, say=_say)
    _say(f"report: {folder.report_path}")
    if interrupted:
        _say(f"interrupted; go on with: sizer resume {folder.path}")
        return 130
    planned = {spec.id for spec in specs}
    return 4 if any(run.outcome in FAULTS for run in folder.runs() if run.id in planned) else 0


def _measure(
    study: Study,
    specs: Sequence[RunSpec],
    todo: Sequence[RunSpec],
    folder: StudyFolder,
    bench: Bench,
    interrupts: Interrupts,
) -> None:
    progress = Progress(len(specs), len(specs) - len(todo), estimate_seconds(todo, folder.runs()))
    cache = cache_folder(os.environ)
    data = DataSets(cache, interpreter("mxnet"), bundled.WORKLOADS_PATH, bench.embedded_images, progress.say)
    prepared = {workload: data.prepare(workload) for workload in {spec.workload for spec in todo}}
    with Placement(cache, emulated_bytes(prepared.values()), progress.say) as placement:
        checks = _check_disks(study, todo, placement, bench, progress)
        for number, spec in enumerate(todo):
            if interrupts.finish():
                return
            progress.begin(spec, estimate_seconds(todo[number:], folder.runs()))
            setting = _setting(spec, study, prepared, placement, checks, folder, bench.host)
            run = launch(spec, setting, bench.backend, Hooks(progress.watch, interrupts.now))
            if run.outcome is not Outcome.INTERRUPTED:
                folder.add(run)
            progress.end(run)


def _check_disks(
    study: Study, todo: Sequence[RunSpec], placement: Placement, bench: Bench, progress: Progress
) -> dict[str, DiskCheck]:
    """fio's figures of every tier in use."""
    checks = {}
    for name in dict.fromkeys(spec.limits.disk for spec in todo if spec.limits.disk is not None):
        tier = study.disk(name)
        progress.say(f"checking disk `{name}` with fio")
        checks[name] = check_disk(tier, placement.volume(tier), bench.backend, bench.fio)
        if checks[name].deviates:
            progress.say(f"  disk `{name}` deviates: {checks[name].note}")
    return checks


def _setting(
    spec: RunSpec,
    study: Study,
    prepared: dict[Workload, DataSet | None],
    placement: Placement,
    checks: dict[str, DiskCheck],
    folder: StudyFolder,
    host: Host,
) -> Setting:
    tier: DiskTier | None = study.disk(spec.limits.disk) if spec.limits.disk is not None else None
    data_set = placement.data(prepared[spec.workload], tier)
    place = Place(
        interpreter=interpreter(spec.workload.framework),
        packages=bundled.WORKLOADS_PATH,
        data=Path(data_set.path) if data_set else None,
        scratch=placement.scratch(),
        output=placement.output(tier),
    )
    return Setting(
        place=place,
        data_set=data_set,
        throttle=placement.volume(tier).throttle(tier) if tier else None,
        disk=checks.get(tier.name) if tier else None,
        host_vcpus=host.cpus,
        host_memory_bytes=host.memory_bytes,
        environment=os.environ,
        log_path=folder.log_path(spec.id),
    )


def interpreter(framework: str) -> Path:
    """The Python that runs a framework's workloads: SIZER_MXNET_PYTHON and the like, or our own."""
    variable = f"SIZER_{framework.upper()}_PYTHON"
    chosen = os.environ.get(variable)
    if chosen is None:
        return Path(sys.executable)
    if not os.access(chosen, os.X_OK):
        raise HostError(f"{variable} is {chosen}, which is not a program; give the path of a Python interpreter")
    return Path(chosen)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
