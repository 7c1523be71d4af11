"""Studies of any size, made of the measured grid's runs: real records, with all that a real host leaves in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import count, islice
from random import Random

from grid_data import GRID, load_grid

from sizer import __version__
from sizer.bundled.reports.subject import Material
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.prediction import Estimate
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.study.parse import read_study
from sizer.study.presets import HostSize

WORKLOADS = ("train-v100", "preprocess", "infer", "lstm")
"""One of each kind, for the pages that are counted in workloads."""
REPEATS = 2
MEMORY_BYTES = 25_276_510_208
"""Of the host that measured the grid."""


def of_workloads(number: int) -> Material:
    """A study of so many workloads, the same few again under other names, each configuration measured twice."""
    study, runs = _study(), load_grid()
    plans, chosen = [], []
    for turn in range(-(-number // len(WORKLOADS))):
        for name in WORKLOADS[: number - turn * len(WORKLOADS)]:
            called = f"{name}-{turn + 1}"
            plan = next(plan for plan in study.workloads if plan.workload.name == name)
            plans.append(replace(plan, workload=replace(plan.workload, name=called)))
            own = [run for run in runs if run.spec.workload.name == name and run.spec.repeat < REPEATS]
            chosen += [_renamed(run, called) for run in own]
    return _material(replace(study, workloads=tuple(plans)), chosen)


def of_runs(number: int) -> Material:
    """A study of so many runs: the grid's own, and further repeats of them."""
    return _material(_study(), list(islice(_repeated(load_grid()), number)))


def _study() -> Study:
    return read_study(GRID / "study.yaml", None, HostSize(2, MEMORY_BYTES), None)


def _repeated(runs: Sequence[Run]) -> Iterator[Run]:
    most = 1 + max(run.spec.repeat for run in runs)
    for turn in count():
        for run in runs:
            again = replace(run, spec=replace(run.spec, repeat=run.spec.repeat + turn * most))
            yield _disturbed(again) if turn else run


def _disturbed(run: Run) -> Run:
    """The run with other figures, as no two runs have the same: a page of copies would pack too well."""
    noise = Random(run.id)

    def about(value: float | None) -> float | None:
        return value and value * noise.gauss(1, 0.03)

    rate, used, factor = run.throughput, run.demand, noise.gauss(1, 0.02)
    return replace(
        run,
        wall_seconds=about(run.wall_seconds) or 0.0,
        rate=replace(run.rate, warm_up_seconds=about(run.rate.warm_up_seconds)),
        throughput=rate and Estimate(rate.value * factor, rate.low * factor, rate.high * factor),
        demand=used and replace(used, **{name: about(value) for name, value in asdict(used).items()}),
        memory=replace(
            run.memory,
            peak_memory_bytes=int(about(run.memory.peak_memory_bytes) or 0),
            peak_anonymous_bytes=int(about(run.memory.peak_anonymous_bytes) or 0),
            peak_page_cache_bytes=int(about(run.memory.peak_page_cache_bytes) or 0),
        ),
    )


def _renamed(run: Run, name: str) -> Run:
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, name=name)))


def _material(study: Study, runs: Sequence[Run]) -> Material:
    model = fit(runs)
    return Material(
        study=study,
        host={"cpu_model": "AMD EPYC 9B45", "cpus": 2, "memory_bytes": MEMORY_BYTES, "kernel": "6.18.0"},
        runs=tuple(runs),
        model=model,
        recommendation=recommend(model, runs, study.objective, Catalog.load(), host_vcpus=2.0),
        disk_checks=(),
        notes=(),
        created_at="2026-11-21 09:30 UTC",
        version=__version__,
    )
