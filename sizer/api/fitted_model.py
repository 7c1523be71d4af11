"""What a study folder answers questions from: its model, read where it still holds, and fitted again where not."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizer.files.codec import FormatError, from_json, to_json
from sizer.model.model import Model, WorkloadModel
from sizer.records.messages import HostError, InputError, NoAnswer, typed_path
from sizer.records.prediction import Reason
from sizer.store.content import refuse_what_leads_elsewhere
from sizer.store.fitted_file import read_fitted, sources_of, write_fitted

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

    from sizer.model.host import Drift
    from sizer.records.device import Processor
    from sizer.records.run import Run
    from sizer.store.study_folder import StudyFolder

MOST_PROCESSES = 8
"""Each has its own copy of the memory that it changes, some 50 MB of a fit."""
PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that a process gets when its parent dies."""


class Stage(str, Enum):
    """What an import does, in this order."""

    READING = "reading"
    STORING = "storing"
    FITTING = "fitting"
    RECOMMENDING = "recommending"
    REPORTING = "reporting"


BEGINS_AT = {
    Stage.READING: 0.0,
    Stage.STORING: 0.05,
    Stage.FITTING: 0.1,
    Stage.RECOMMENDING: 0.4,
    Stage.REPORTING: 0.5,
}
"""The share of the whole that is done as a stage begins: 288 rows of 3 workloads on 2 vCPUs, 2026."""


@dataclass(frozen=True)
class StepBegun:
    """A stage begins, or one of its `of` workloads, the `number`-th from 1."""

    stage: Stage
    workload: str = ""
    number: int = 1
    of: int = 1

    @property
    def share(self) -> float:
        """What is done of the whole as it begins, about."""
        begin = BEGINS_AT[self.stage]
        end = min((share for share in BEGINS_AT.values() if share > begin), default=1.0)
        return begin + (end - begin) * (self.number - 1) / self.of


OnStep = Callable[[StepBegun], object]


def no_step(_: StepBegun) -> None:
    """For a caller who does not look on."""


@dataclass(frozen=True)
class FittedStudy:
    """The models of a study, the disks that it names, and by workload why its rates are known to be wrong."""

    model: Model
    disks: tuple[str, ...]
    contradicted: dict[str, Reason] = field(default_factory=dict)


def open_study(path: str | Path) -> StudyFolder:
    """The study folder at `path`, to be read; raises InputError where there is none."""
    from sizer.store.study_folder import StudyFolder

    return StudyFolder.open(Path(path))


def measured_runs(folder: StudyFolder) -> tuple[Run, ...]:
    """The runs of a folder; raises NoAnswer where it has none to conclude from."""
    runs = folder.runs()
    if not runs:
        study, path = typed_path(folder.study_path), typed_path(folder.path)
        if folder.problems():
            raise NoAnswer(
                "{folder} has no run that can be read; type: sizer run {study} --out {path}",
                folder=folder.path,
                study=study,
                path=path,
            )
        raise NoAnswer(
            "{folder} has no runs yet; type: sizer run {study} --out {path}",
            folder=folder.path,
            study=study,
            path=path,
        )
    return runs


def stored_study(path: str | Path, workload: str | None = None) -> FittedStudy | None:
    """What was fitted of the study folder at `path`, without reading its runs; None where that is to be done first.

    With `workload` the model of that one alone, if it has one of that name. None, too, where a file among the runs
    cannot be read, which whoever reads them says.
    """
    folder = Path(path)
    with suppress(OSError, InputError, HostError):
        refuse_what_leads_elsewhere(folder)
        form = read_fitted(folder / "model.json", sources_of(folder), workload)
        if form is None or form.get("unreadable_runs") != 0:
            return None
        model = from_json(Model, form, "model.json")
        contradicted = {name: from_json(Reason, reason, "model.json") for name, reason in form["contradicted"].items()}
        return FittedStudy(model, tuple(form["disks"]), contradicted)
    return None


def fitted_study(folder: StudyFolder) -> FittedStudy:
    """The same of an open folder; fitted first where it is not stored. Raises NoAnswer for one without runs."""
    runs = measured_runs(folder)
    return FittedStudy(fitted(folder), _disks(folder), _contradicted(runs))


def fit(folder: StudyFolder) -> Model:
    """The study's model; raises NoAnswer for a folder without runs."""
    measured_runs(folder)
    return fitted(folder)


def fitted(folder: StudyFolder, on_step: OnStep = no_step) -> Model:
    """The study's model, fitted first if it is missing, edited, of another sizer, or of other runs than are there."""
    path = folder.model_path
    refuse_folder(path)
    sources = sources_of(folder.path)
    form = read_fitted(path, sources)
    if form is not None:
        with suppress(FormatError):
            return from_json(Model, form, str(path))
    from sizer.api.elsewhere import machines_of

    runs = _in_the_studys_order(folder)
    model = _as_planned(_fitted(runs, on_step, machines_of(folder)), folder)
    others: dict[str, Any] = {
        "disks": list(_disks(folder)),
        "contradicted": {name: to_json(reason) for name, reason in _contradicted(runs).items()},
        "unreadable_runs": len(folder.problems()),
    }
    write_fitted(path, sources, {**to_json(model), **others}, folder.write_text)
    return model


def _disks(folder: StudyFolder) -> tuple[str, ...]:
    return tuple(tier.name for tier in folder.study.disks)


def _contradicted(runs: Iterable[Run]) -> dict[str, Reason]:
    from sizer.recommend.case import rate_contradicted

    reasons = {name: rate_contradicted(own) for name, own in _by_workload(runs).items()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def _fitted(runs: Iterable[Run], on_step: OnStep, measured_on: Sequence[Processor]) -> Model:
    """The model of each workload; of the others its runs tell how slow the host was meanwhile, and nothing else."""
    from concurrent.futures.process import BrokenProcessPool

    from sizer.model.host import drift_of
    from sizer.model.observations import completed

    runs = list(runs)
    workloads, drift = _by_workload(runs), drift_of(completed(runs))
    models: list[WorkloadModel] = []
    with suppress(BrokenProcessPool), _processes(len(workloads)) as processes:
        fits = processes.map(_fit_alone, workloads.values(), repeat(drift), repeat(measured_on)) if processes else None
        for number, (name, own) in enumerate(workloads.items()):
            on_step(StepBegun(Stage.FITTING, name, number + 1, len(workloads)))
            models.append(next(fits) if fits else _fit_alone(own, drift, measured_on))
    # Where a process was killed, as for want of memory, the rest is fitted here.
    models += [_fit_alone(own, drift, measured_on) for own in list(workloads.values())[len(models) :]]
    return Model(tuple(models))


def _fit_alone(runs: Sequence[Run], drift: Drift | None, measured_on: Sequence[Processor]) -> WorkloadModel:
    from sizer.model.fitting import fit as fit_model

    (model,) = fit_model(runs, drift, measured_on).workloads
    return model


@contextmanager
def _processes(workloads: int) -> Iterator[ProcessPoolExecutor | None]:
    """As many as sizer may use CPUs. None for one workload or one CPU, and where a thread runs: a forked process would
    wait in vain for what it holds. They die with sizer, and Ctrl-C is for it alone."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    count = min(workloads, len(os.sched_getaffinity(0)), MOST_PROCESSES)
    if count < 2 or threading.active_count() > 1:
        yield None
        return
    others = active_children()  # of a program that uses the API
    pool = ProcessPoolExecutor(count, get_context("fork"), _begin_process, (os.getpid(),))
    try:
        with warnings.catch_warnings():
            # From 3.12 on Python warns of threads that it does not know: those of OpenBLAS, which it ends at a fork.
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            yield pool
        pool.shutdown()
    except BaseException:
        for process in set(active_children()).difference(others):
            process.kill()
        pool.shutdown(cancel_futures=True)
        raise


def _begin_process(parent: int) -> None:
    import ctypes

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _as_planned(model: Model, folder: StudyFolder) -> Model:
    """The model whose refusals name what the study still has before anything else."""
    from sizer.api.study_plan import chosen_next, still_planned
    from sizer.recommend.edges import prefer_planned_run

    runs = folder.runs()
    if folder.study.imported or all(workload.refused is None for workload in model.workloads):
        return model
    left, own = still_planned(folder, runs, chosen_next(folder, runs, model)), _by_workload(runs)

    def advised(workload: WorkloadModel) -> WorkloadModel:
        refused = workload.refused
        if refused is None or refused.suggestion is None or workload.name not in left:
            return workload
        suggestion = prefer_planned_run(refused.suggestion, left[workload.name], workload.measured, own[workload.name])
        return replace(workload, refused=replace(refused, suggestion=suggestion))

    return Model(tuple(map(advised, model.workloads)))


def _by_workload(runs: Iterable[Run]) -> dict[str, list[Run]]:
    grouped: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        grouped[run.spec.workload.name].append(run)
    return grouped


def _in_the_studys_order(folder: StudyFolder) -> list[Run]:
    """The runs by their workload as the study names them, whichever was measured first; then those it does not name."""
    rank = {plan.workload.name: number for number, plan in enumerate(folder.study.workloads)}
    return sorted(folder.runs(), key=lambda run: rank.get(run.spec.workload.name, len(rank)))


def refuse_folder(path: Path) -> None:
    """Raise InputError where a folder is in the place of a file to be read or written."""
    if path.is_dir():
        raise InputError(
            "{path} is a folder where a file should be; move it away and type the command again.", path=path
        )
