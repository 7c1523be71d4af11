"""What charts say of the resources: ceilings, where the time of a sample goes, and the map of what binds."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from sizer.bundled.reports.figures import binding
from sizer.bundled.reports.figures.axis_chart import axis_chart
from sizer.bundled.reports.figures.binding import binding_map, piles, thinned
from sizer.bundled.reports.figures.disks import ceilings, disk_allows
from sizer.bundled.reports.figures.series import along
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.model.prediction import predict
from sizer.records.units import RELATIVE
from tests.reported_study import CHECKS, INFER, READ_BYTES, TRAIN


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


@pytest.fixture(scope="module")
def inferred(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == INFER.name)


def test_a_disk_allows_what_fio_measured_over_what_a_sample_needs(trained: Subject) -> None:
    """Of bandwidth and IOPS the scarcer one; by the measurement and not by what the tier declares."""
    slow = disk_allows("slow", None, trained)
    needed = READ_BYTES[TRAIN.name]
    assert slow == pytest.approx(min(20.1e6 / needed, 301 / (needed / 131072)))
    assert CHECKS[0].measured.read_bytes_per_second == 20.1e6
    assert disk_allows("nowhere", None, trained) is None


def test_ceilings_have_names(trained: Subject, inferred: Subject) -> None:
    """The accelerator's, with the word emulated, and the disk's; without an accelerator there is none of it."""
    runs = along("vcpus", trained.runs)[0].runs
    accelerator, disk = ceilings("vcpus", runs, trained)
    assert (accelerator.throughput, accelerator.name) == (219.0, "emulated P100 alone: 219 images/s")
    assert disk.name.startswith("disk fast (emulated) alone: ")
    assert len(ceilings("vcpus", along("vcpus", inferred.runs)[0].runs, inferred)) == 1


def test_what_changes_along_the_axis_is_no_ceiling(trained: Subject) -> None:
    """A disk where the page cache grows, or where there are several; an accelerator where the batch does."""
    assert [each.throughput for each in ceilings("memory_bytes", trained.runs, trained)] == [219.0]
    assert [each.throughput for each in ceilings("vcpus", trained.runs, trained)] == [219.0]
    assert ceilings("batch_size", trained.runs, trained) == ()


def test_the_parts_of_a_samples_time_add_up_to_it(trained: Subject) -> None:
    """By the shares of the model: a second over the rate that it predicts there."""
    base = along("vcpus", trained.runs)[0].base
    assert base is not None
    assert trained.model is not None
    found = piles("vcpus", [0.5, 1.0, 2.0], base, trained)
    assert [pile.x for pile in found] == [0.5, 1.0, 2.0]
    for pile in found:
        alone = predict(trained.model, replace(base, vcpus=pile.x))
        assert pile.seconds == pytest.approx(1 / alone.throughput.value, rel=0.02)
    assert found[0].parts[0].name == "decode and augment (CPU)"
    assert max(found[-1].parts, key=lambda part: part.seconds).name == "compute (emulated P100)"
    assert "by the model" in found[0].parts[0].title


def test_the_cpus_time_is_told_apart_where_runs_show_what_the_step_costs(inferred: Subject) -> None:
    """Else decoding and computing on the CPU are one part."""
    base = along("vcpus", inferred.runs)[0].base
    assert base is not None
    assert inferred.model is not None
    (together,) = piles("vcpus", [1.0], base, inferred)
    assert together.parts[0].name == "decode and compute (CPU)"
    facts = inferred.model.facts
    assert facts.core_seconds is not None
    known = replace(inferred.model, facts=replace(facts, step_core_seconds=facts.core_seconds / 4))
    (apart,) = piles("vcpus", [1.0], base, replace(inferred, model=known))
    assert [part.name for part in apart.parts][:2] == ["decode (CPU)", "compute (CPU)"]
    assert apart.parts[1].seconds / apart.parts[0].seconds == pytest.approx(1 / 3)


def test_a_chart_of_vcpus_says_all_it_knows(trained: Subject) -> None:
    """Points, line, ceilings, piles, the answer, and at each measured place both what was measured and the model."""
    chart = axis_chart("vcpus", "Throughput", along("vcpus", trained.runs)[:1], trained)
    assert len(chart.plot.piles) == 3
    assert chart.plot.pile_label == "where the time goes, ms an image (model)"
    assert [mark.word for mark in chart.plot.marks] == ["recommended 2"]
    told = {stop.x: stop.words for stop in chart.plot.stops}
    assert re.match(r"1 vCPU\nmeasured \d+ images/s \(\d+–\d+\), 2 runs; model \d+ images/s", told[1.0])
    assert any("extrapolated" in words for words in told.values())
    assert len(told) > 8
    assert chart.above.startswith("Above this picture: disk fast (emulated) alone: ")


def test_a_bar_that_is_missing_is_said(trained: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the runs do not tell what binds, and nowhere else."""
    said = "Where there is no bar, the runs do not tell what binds."
    assert not any(said in figure.caption for figure in figures(trained))
    monkeypatch.setattr(binding, "piles", lambda *given: piles(*given)[:-1])
    assert [said in figure.caption for figure in figures(trained)].count(True) == 1


def test_a_relative_rate_has_no_seconds(trained: Subject) -> None:
    """What takes how long is not known of a rate against another one."""
    runs = tuple(replace(run, sample_unit=RELATIVE) for run in trained.runs)
    subject = replace(trained, runs=runs)
    assert axis_chart("vcpus", "Throughput", along("vcpus", runs)[:1], subject).plot.piles == ()


def test_memory_shows_its_floor(trained: Subject) -> None:
    """Between the largest cap at which runs were killed and the smallest at which they completed."""
    chart = axis_chart("memory_bytes", "Throughput", along("memory_bytes", trained.runs)[:1], trained)
    assert [mark.word for mark in chart.plot.marks if not mark.is_answer] == ["memory floor: 384 MiB to 1 GiB"]


def test_a_map_says_what_binds_everywhere(trained: Subject) -> None:
    """Over vCPUs and disks, the fastest first; measured places look so, and the caption says what is fixed."""
    figure = binding_map(trained)
    assert figure is not None
    root = ElementTree.fromstring(str(figure.svg))
    assert [each.text for each in root.iter() if each.get("class") == "map-name"] == ["fast", "medium", "slow"]
    kinds = [each.get("class", "").split()[1] for each in root.iter() if each.get("class", "").startswith("cell ")]
    assert (kinds.count("measured"), kinds.count("modelled")) == (5, 4)
    assert figure.caption.startswith(
        "The first number is images/s by the model, the one beside a point the median of the runs there. "
        "At 4 GiB memory, batch 32."
    )
    assert [key.text for key in figure.keys] == [
        "CPU",
        "emulated P100",
        "disk bandwidth",
        "measured",
        "by the model alone",
    ]


def test_without_a_model_there_is_no_map(trained: Subject) -> None:
    """Nor where one axis alone was varied."""
    assert binding_map(replace(trained, model=None)) is None
    one = tuple(run for run in trained.runs if run.configuration.vcpus == 2.0)
    assert binding_map(replace(trained, runs=one)) is None


def test_machines_that_grow_in_both_have_no_map(trained: Subject) -> None:
    """More vCPUs came with a faster disk each time, so which of them it was is not known."""
    pairs = {(0.5, "slow"), (1.0, "medium"), (2.0, "fast")}
    runs = tuple(
        replace(run, configuration=replace(run.configuration, disk=disk))
        for run in trained.runs
        for vcpus, disk in pairs
        if run.configuration.vcpus == vcpus
    )
    assert binding_map(replace(trained, runs=runs)) is None


@pytest.mark.parametrize(("kept", "expected"), [(None, [1, 4, 7, 10]), (10, [1, 4, 7, 10]), (5, [1, 5, 7, 10])])
def test_of_many_values_some_are_shown(kept: int | None, expected: list[int]) -> None:
    """The ends, what is to be kept, and some between."""
    assert thinned(list(range(1, 11)), 4, kept) == expected
    assert thinned([1, 2], 4, kept) == [1, 2]


def test_a_chart_leaves_room_for_others(trained: Subject) -> None:
    """A page of 2 MB has some fifty of them beside its tables, and a chart of many points has 45 kB."""
    first = figures(trained)
    assert len(first) == 4
    assert max(len(figure.svg) for figure in first) < 15_000
