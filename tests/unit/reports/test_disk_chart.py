"""Disk tiers as bars: cold and warm side by side where both were measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.figures.disk_chart import disk_chart
from sizer.bundled.reports.figures.disks import disk_allows, reading_sizes
from sizer.bundled.reports.figures.series import Series, along
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.records.configuration import Estimate
from sizer.records.run import DataSet, Run
from sizer.records.run_kinds import Purpose
from sizer.records.study import Limits, WorkloadPlan
from sizer.records.units import MIB
from tests.reported_study import CENTRE, TRAIN


@pytest.fixture(scope="module")
def centre(runs: tuple[Run, ...]) -> Run:
    return next(run for run in runs if run.spec.workload is TRAIN and run.spec.limits == CENTRE)


def _trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


def _disks(subject: Subject) -> list[Series]:
    found = along("disk", (*subject.runs, *subject.siblings))
    return [each for each in found if each.base is not None]


def test_a_workload_that_differs_in_the_cache_alone_has_bars_beside_it(material: Material, centre: Run) -> None:
    """Of each tier one cold and one warm; the model speaks of the one that was asked for."""
    warm = replace(TRAIN, name="warm", cache="warm")
    other = replace(TRAIN, name="other", cache="warm", network="alexnet")
    again = tuple(
        replace(run, spec=replace(run.spec, workload=workload), throughput=Estimate(218.0, 217.0, 219.0))
        for run in material.runs
        for workload in (warm, other)
        if run.spec.workload is TRAIN and run.throughput is not None and run.spec.limits.vcpus == 2.0
    )
    plans = tuple(WorkloadPlan(each, (32,), (2.0,), (centre.configuration.memory_bytes,)) for each in (warm, other))
    study = replace(material.study, workloads=(*material.study.workloads, *plans))
    subject = _trained(replace(material, study=study, runs=(*material.runs, *again)))
    assert {run.spec.workload.name for run in subject.siblings} == {"warm"}
    rows = disk_chart("Disks", _disks(subject), subject).groups[0].rows
    assert [row.name.split(" ")[0] for row in rows] == ["slow", "medium", "fast"]
    for row in rows:
        cold, beside = row.bars
        assert beside.throughput == pytest.approx(218.0)
        assert cold.predicted is not None
        assert beside.predicted is None
    assert rows[0].bars[0].throughput < 200  # type: ignore[operator]
    first = figures(subject)
    shown = next(figure for figure in first if figure.title == "Throughput against disk tier")
    assert [key.text for key in shown.keys][:2] == ["cache cold", "cache warm"]


def test_what_was_isolated_in_memory_is_a_row_of_its_own(material: Material, centre: Run) -> None:
    """At the same vCPUs; of other vCPUs it says nothing here."""
    fed = replace(TRAIN, input="cached", cache="warm")
    spec = replace(centre.spec, workload=fed, purpose=Purpose.ISOLATES_PIPELINE, limits=Limits(vcpus=2.0))
    alone = replace(centre, spec=spec, throughput=Estimate(217.0, 216.0, 218.0))
    subject = replace(_trained(material), isolating=(alone,))
    last = disk_chart("Disks", _disks(subject), subject).groups[0].rows[-1]
    assert (last.name, last.bars[0].throughput) == ("in memory (cache warm)", 217.0)
    elsewhere = replace(alone, configuration=replace(alone.configuration, vcpus=1.0))
    rows = disk_chart("Disks", _disks(subject), replace(subject, isolating=(elsewhere,))).groups[0].rows
    assert len(rows) == 3


def test_what_a_disk_is_enough_for_is_said_of_a_memory_size(material: Material) -> None:
    """A page cache that holds everything leaves nothing to read, so runs with it say nothing of the disk."""
    natural = replace(TRAIN, cache="natural")
    known = [run for run in material.runs if run.spec.workload is TRAIN and run.demand is not None]
    low, high = 220 * MIB, 320 * MIB
    data = DataSet("/data", "recordio", 10**9, 10**4, embedded=True)
    runs = tuple(
        replace(
            run,
            spec=replace(run.spec, workload=natural),
            configuration=replace(run.configuration, memory_bytes=size),
            demand=replace(run.demand, read_bytes=read, read_ios=None),
            data_set=data,
        )
        for run in known
        for size, read in ((low, 9e4), (high, 1e3))
    )
    subject = replace(_trained(material), runs=runs)
    rows = disk_chart("Disks", _disks(subject), subject).groups[0].rows
    slow = next(row for row in rows if row.name.startswith("slow"))
    assert slow.figures[-1] == "enough for 223 images/s with 220 MiB of memory"
    assert not any("320 MiB" in line for line in slow.figures)
    assert slow.ceiling is None
    (size,) = reading_sizes("slow", subject)
    assert size == low
    assert disk_allows("slow", low, subject) == pytest.approx(20.1e6 / 9e4)
    assert disk_allows("slow", high, subject) == pytest.approx(20.1e6 / 1e3)


def test_a_first_epoch_is_cold_where_the_cache_keeps_what_it_can(material: Material) -> None:
    """The rate of such a run is that of its later epochs."""
    natural = replace(TRAIN, cache="natural")
    runs = tuple(
        replace(
            run,
            spec=replace(run.spec, workload=natural),
            first_epoch_throughput=150.0 if run.throughput is not None else None,
        )
        for run in material.runs
        if run.spec.workload is TRAIN
    )
    subject = replace(_trained(material), runs=runs)
    rows = disk_chart("Disks", _disks(subject), subject).groups[0].rows
    assert [row.bars[1].throughput for row in rows] == [150.0, 150.0, 150.0]
    first = figures(subject)
    shown = next(figure for figure in first if figure.title == "Throughput against disk tier")
    assert "first epoch, from the disk" in [key.text for key in shown.keys]
