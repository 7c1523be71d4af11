"""The table of `script/gpu-check`: what sizer says of a GPU beside what else says it, and what is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from statistics import median

from sizer import api
from sizer.records.device import GpuUse
from sizer.records.kinds import COMMAND
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.store.study_folder import StudyFolder
from sizer.words.runs import result_and_warnings, run_in_words
from sizer.words.warnings import warning_names

LEAST_RATIO, FULL = 0.99, 0.9
"""Of sizer's program to the plain loop, where a kernel runs for so much of the time: a thread of the CPU that starts
them too slowly differs by more from run to run."""
PRINTED = re.compile(r"^rate ([\d.]+)$", re.MULTILINE)
OF_NVML = tuple(field_.name for field_ in fields(GpuUse) if field_.default is None and field_.name != "uuid")
FORM = "{:24} {:>5} {:>5} {:>7} {:>9} {:>9} {:>6} {:>9} {:>9}  {}"
HEAD = FORM.format("workload", "batch", "vCPUs", "memory", "sizer", "plain", "ratio", "NVML busy", "by events", "")
NO_MEANING = (
    "Without a meaning on a CPU: how busy a GPU is by NVML and by events, gpu_count, fp16, out of memory of a GPU, and "
    "the ratio that is expected of one."
)

Key = tuple[str, int]
"""Precision and batch size of a training on synthetic images."""


def lines(device: str, study: Path, profile: Path, how: str) -> Iterator[str]:
    """A row a run, then what follows from all of them, and what was not run; `how` and how long it was measured."""
    folders = {folder: api.open_study(folder) for folder in (study, profile) if (folder / "study.yaml").exists()}
    runs = sorted((run for folder in folders.values() for run in folder.runs()), key=_place)
    plain = {_key(run): _printed(folders[study].log_of(run)) for run in runs if _is_plain(run)}
    yield f"{device}, {how}. Samples/s by sizer, and as the plain loop prints them: on a GPU by CUDA events."
    yield HEAD
    yield from (row(run, plain.get(_key(run))) for run in runs if run.spec.purpose is not Purpose.BATCH_SEARCH)
    yield from _ratios(runs, plain)
    yield from _largest([run for run in runs if run.spec.purpose is Purpose.BATCH_SEARCH])
    yield NO_MEANING if device == "cpu" else nvml(runs)
    yield from _not_run(list(folders.values()), profile)
    if folders:
        yield f"page: {study / 'report.html'}"


def row(run: Run, plain: float | None) -> str:
    """One run; of one that did not complete, why."""
    limits, rate, gpu = run.spec.limits, _rate(run), next(iter(run.conditions.gpus), None)
    cells = (
        run.spec.workload.name,
        run.spec.batch_size,
        f"{run.configuration.vcpus:g}",
        "" if limits.memory_bytes is None else f"{limits.memory_bytes / 2**30:g}GiB",
        _figure(rate, ",.1f"),
        _figure(plain, ",.1f"),
        _figure(rate and plain and rate / plain, ".3f"),
        _figure(gpu.busy if gpu else None, ".0%"),
        _figure(_by_events(run), ".0%"),
    )
    return FORM.format(*cells, ", ".join(warning_names(run)) if rate else result_and_warnings(run)).rstrip()


def _by_events(run: Run) -> float | None:
    """The share of the time between the first step and the last that the GPU took for them by its own clock."""
    timed = [step.accelerator_seconds for step in run.steps[1:] if step.accelerator_seconds is not None]
    if not timed:
        return None
    seconds_a_step = (run.steps[-1].time - run.steps[0].time) / (len(run.steps) - 1)
    return sum(timed) / len(timed) / seconds_a_step


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _place(run: Run) -> tuple[object, ...]:
    return run.spec.workload.name, run.spec.batch_size, run.configuration.vcpus, run.started_at


def _rate(run: Run) -> float | None:
    completed = run.outcome is Outcome.COMPLETED and run.throughput is not None
    return run.throughput.value if completed and run.throughput else None


def _is_plain(run: Run) -> bool:
    return run.spec.workload.name.startswith("plain-")


def _key(run: Run) -> Key | None:
    """What the plain loop does the same as; None where it does something else, or with fewer vCPUs."""
    workload = run.spec.workload
    if workload.kind == COMMAND:
        words = dict(pairwise(workload.command))
        batch = words["--batch-size"]
        alike = _is_plain(run) or run.spec.limits.vcpus is None
        return (words["--precision"], int(batch) if batch.isdigit() else run.spec.batch_size) if alike else None
    alike = workload.mode == "train" and workload.input == "synthetic"
    return (workload.precision or "fp32", run.spec.batch_size) if alike else None


def _printed(log: Path | None) -> float | None:
    """The median of what the loop printed in the second half of its time, without sizer's reading of it."""
    rates = [] if log is None else [float(rate) for rate in PRINTED.findall(log.read_text(errors="replace"))]
    return median(rates[len(rates) // 2 :]) if rates else None


def _ratios(runs: Sequence[Run], plain: Mapping[Key | None, float | None]) -> Iterator[str]:
    pairs = [(run, _rate(run), plain.get(_key(run))) for run in runs if not _is_plain(run)]
    ratios: dict[bool, list[float]] = {True: [], False: []}
    for run, rate, beside in pairs:
        if rate and beside:
            ratios[any((gpu.busy or 0) >= FULL for gpu in run.conditions.gpus)].append(rate / beside)
    full, others = ratios[True], ratios[False]
    if full:
        yield f"sizer / plain: {_span(full)} where a kernel ran for {FULL:.0%} of the time; {LEAST_RATIO} is expected."
    if others:
        yield f"sizer / plain: {_span(others)} where none did; a thread of the CPU differs from process to process."


def _span(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.3f} to {max(ratios):.3f} of {len(ratios)}"


def _largest(tried: Sequence[Run]) -> Iterator[str]:
    """What the search for the largest batch found."""
    held = max((run.spec.batch_size for run in tried if run.outcome is Outcome.COMPLETED), default=None)
    if held is not None:
        yield f"Largest batch that held: {held}."
    for run in tried:
        if run.outcome is Outcome.OUT_OF_MEMORY:
            where = run.error.where if run.error is not None else None
            yield f"Batch {run.spec.batch_size}: out of memory, where: {where}."


def nvml(runs: Sequence[Run]) -> str:
    """Which of NVML's figures are in no run."""
    uses = [use for run in runs if run.outcome is Outcome.COMPLETED for use in run.conditions.gpus]
    if not uses:
        return "NVML told nothing of a GPU in any run that completed."
    lacking = [name for name in OF_NVML if all(getattr(use, name) is None for use in uses)]
    counted = "" if all(use.pcie_counted for use in uses) else "; bytes over PCIe are 20 ms of each half second"
    return f"{uses[0].name}: NVML lacks {', '.join(lacking) or 'nothing'}{counted}."


def _not_run(folders: Sequence[StudyFolder], profile: Path) -> Iterator[str]:
    """What the time, an interrupt, or the host left out."""
    for folder in folders:
        status = api.study_status(folder)
        yield from (f"not run: {run_in_words(spec)}" for spec in status.todo)
        searched = {run.spec.workload.name for run in status.runs if run.spec.purpose is Purpose.BATCH_SEARCH}
        searched -= {search.following.base.workload.name for search in status.searching}
        names = [plan.workload.name for plan in folder.study.workloads if plan.largest_batch]
        yield from (f"not finished: the largest batch of {name}" for name in names if name not in searched)
    if not any(folder.path == profile for folder in folders):
        yield "not run: the plain loop by sizer profile"
    if not folders:
        yield "not run: the study"
