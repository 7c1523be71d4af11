"""Charts of resources: ceilings, where the time of a sample goes, what binds, and what chance alone ranks."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled.reports.charts.legend import Figure
from sizer.bundled.reports.doubts import largest_batches
from sizer.bundled.reports.figures.axis_chart import axis_plot
from sizer.bundled.reports.figures.binding import binding_map, piles, thinned
from sizer.bundled.reports.figures.disks import _groups, ceilings, disk_allows, disk_chart, disks_alike
from sizer.bundled.reports.figures.scaling import accelerator_chart, batch_chart
from sizer.bundled.reports.figures.series import Series, along
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.records.study import Objective, Study, WorkloadPlan
from tests.reported_study import CENTRE, CHECKS, INFER, READ_BYTES, TRAIN
from tests.tables import runs_of

# What charts say of the resources: ceilings, where the time of a sample goes, and the map of what binds.


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


@pytest.fixture(scope="module")
def inferred(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == INFER.name)


def test_a_disk_allows_what_fio_measured_over_what_a_sample_needs(trained: Subject) -> None:
    """Of bandwidth and IOPS the scarcer one; by the measurement and not by what the tier declares."""
    slow = disk_allows("slow", trained)
    needed = READ_BYTES[TRAIN.name]
    assert slow == pytest.approx(min(20.1e6 / needed, 301 / (needed / 131072)))
    assert CHECKS[0].measured.read_bytes_per_second == 20.1e6
    assert disk_allows("nowhere", trained) is None


def test_ceilings_have_names(trained: Subject, inferred: Subject) -> None:
    """The accelerator's, with the word emulated, and the disk's; without an accelerator there is none of it."""
    runs = along("vcpus", trained.runs)[0].runs
    accelerator, disk = ceilings("vcpus", runs, trained)
    assert (accelerator.throughput, accelerator.name) == (219.0, "emulated P100 alone: 219 images/s")
    assert disk.name.startswith("disk fast (emulated) alone: ")
    assert len(ceilings("vcpus", along("vcpus", inferred.runs)[0].runs, inferred)) == 1


def test_the_parts_of_a_samples_time_add_up_to_it(trained: Subject) -> None:
    """By the shares of the model: a second over the rate that it predicts there."""
    base = along("vcpus", trained.runs)[0].base
    assert trained.model is not None
    bars = piles("vcpus", [0.5, 1.0, 2.0], base, trained)
    assert [pile.x for pile in bars] == [0.5, 1.0, 2.0]
    for pile in bars:
        alone = predict(trained.model, replace(base, vcpus=pile.x))
        assert pile.seconds == pytest.approx(1 / alone.throughput.value, rel=0.02)
    assert bars[0].parts[0].name == "decode and augment (CPU)"
    assert max(bars[-1].parts, key=lambda part: part.seconds).name == "compute (emulated P100)"
    assert "by the model" in bars[0].parts[0].title


def test_the_cpus_time_is_told_apart_where_runs_show_what_the_step_costs(inferred: Subject) -> None:
    """Else decoding and computing on the CPU are one part."""
    base = along("vcpus", inferred.runs)[0].base
    assert base is not None
    (together,) = piles("vcpus", [1.0], base, inferred)
    assert together.parts[0].name == "decode and compute (CPU)"
    facts = inferred.model.facts
    assert facts.core_seconds is not None
    with_step = replace(inferred.model, facts=replace(facts, step_core_seconds=facts.core_seconds / 4))
    (apart,) = piles("vcpus", [1.0], base, replace(inferred, model=with_step))
    assert [part.name for part in apart.parts][:2] == ["decode (CPU)", "compute (CPU)"]
    assert apart.parts[1].seconds / apart.parts[0].seconds == pytest.approx(1 / 3)


def test_a_chart_of_vcpus_says_all_it_knows(trained: Subject) -> None:
    """Points, line, ceilings, piles, the answer, and at each measured place both what was measured and the model."""
    chart = axis_plot("vcpus", along("vcpus", trained.runs)[:1], trained)
    assert len(chart.piles) == 3
    assert chart.pile_label == "where the time goes, ms an image (model)"
    assert [mark.word for mark in chart.marks] == ["recommended 2"]
    words_at = {stop.x: stop.words for stop in chart.stops}
    assert re.match(r"1 vCPU\nmeasured \d+ images/s \(\d+–\d+\), 2 runs; model \d+ images/s", words_at[1.0])
    assert any("extrapolated" in words for words in words_at.values())
    assert len(words_at) > 8
    (above,) = (ceiling.name for ceiling in chart.ceilings if ceiling.throughput > chart.y.high)
    assert above.startswith("disk fast (emulated) alone: ")


def test_memory_shows_its_floor(trained: Subject) -> None:
    """Between the largest cap at which runs were killed and the smallest at which they completed."""
    chart = axis_plot("memory_bytes", along("memory_bytes", trained.runs)[:1], trained)
    assert [mark.word for mark in chart.marks if not mark.is_answer] == ["memory floor: 384 MiB to 1 GiB"]


def test_a_map_says_what_binds_everywhere(trained: Subject) -> None:
    """Over vCPUs and disks, the fastest first; measured places look so, and the caption says what is fixed."""
    figure = binding_map(trained)
    root = ElementTree.fromstring(str(figure.svg))
    assert [element.text for element in root.iter() if element.get("class") == "map-name"] == ["fast", "medium", "slow"]
    kinds = [
        element.get("class", "").split()[1] for element in root.iter() if element.get("class", "").startswith("cell ")
    ]
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


@pytest.mark.parametrize(("kept", "expected"), [(None, [1, 4, 7, 10]), (10, [1, 4, 7, 10]), (5, [1, 5, 7, 10])])
def test_of_many_values_some_are_shown(kept: int | None, expected: list[int]) -> None:
    """The ends, what is to be kept, and some between."""
    assert thinned(list(range(1, 11)), 4, kept) == expected
    assert thinned([1, 2], 4, kept) == [1, 2]


@pytest.fixture(scope="module")
def centre(runs: tuple[Run, ...]) -> Run:
    return next(run for run in runs if run.spec.workload is TRAIN and run.spec.limits == CENTRE)


def _trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


def _disks(subject: Subject) -> list[Series]:
    comparisons = along("disk", (*subject.runs, *subject.siblings))
    return [comparison for comparison in comparisons if comparison.base is not None]


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
    plans = tuple(
        WorkloadPlan(workload, (32,), (2.0,), (centre.configuration.memory_bytes,)) for workload in (warm, other)
    )
    study = replace(material.study, workloads=(*material.study.workloads, *plans))
    subject = _trained(replace(material, study=study, runs=(*material.runs, *again)))
    assert {run.spec.workload.name for run in subject.siblings} == {"warm"}
    rows = disk_chart(_disks(subject), subject).rows
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


def test_a_first_epoch_is_cold_where_the_cache_keeps_what_it_can(material: Material) -> None:
    """The rate of such a run is that of its later epochs."""
    natural = replace(TRAIN, cache="natural")
    runs = tuple(
        replace(
            run,
            spec=replace(run.spec, workload=natural),
            rate=replace(run.rate, first_epoch_throughput=150.0 if run.throughput is not None else None),
        )
        for run in material.runs
        if run.spec.workload is TRAIN
    )
    subject = replace(_trained(material), runs=runs)
    rows = disk_chart(_disks(subject), subject).rows
    assert [row.bars[1].throughput for row in rows] == [150.0, 150.0, 150.0]
    first = figures(subject)
    shown = next(figure for figure in first if figure.title == "Throughput against disk tier")
    assert "first epoch, from the disk" in [key.text for key in shown.keys]


TABLE = """workload,gpu,gpu_count,batch_size,throughput,outcome
job,V100,1,8,180,
job,V100,1,16,260,
job,V100,1,32,330,
job,V100,1,64,370,
job,V100,1,128,395,
job,V100,1,256,,out_of_memory
"""


def subject_of(folder: Path, study: Study, table: str = TABLE) -> Subject:
    runs = runs_of(folder, table)
    model = fit(runs)
    (answer,) = recommend(model, runs, Objective(), Catalog.load()).workloads
    return Subject("job", study, Objective(), runs, model=model.workload("job"), answer=answer)


def drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(figure.svg)


def test_the_chart_answers_which_batch_size(tmp_path: Path, study: Study) -> None:
    """Each batch is a point with what it gave, the fitted line is there, and what ran out of memory is a cross."""
    figure = batch_chart(subject_of(tmp_path, study))
    assert figure.question == "Which batch size?"
    assert figure.answer.startswith("A batch of 128 gave the best rate")
    assert "256 ran out of memory" in figure.answer
    titles = [element.text or "" for element in drawn(figure).iter() if element.tag.endswith("title")]
    assert any(title.startswith("batch 8: 5.56 ms a sample, 44.4 ms a step, 180 samples/s") for title in titles)
    assert any("256 ran out of memory" in title for title in titles)
    assert {key.text for key in figure.keys} >= {"a fixed time of a step and one for each of its samples, fitted"}


def test_what_is_no_line_is_not_drawn_as_one(tmp_path: Path, study: Study) -> None:
    """Nor said to be one."""
    bent = TABLE.replace("128,395", "128,120").replace("64,370", "64,190")
    figure = batch_chart(subject_of(tmp_path, study, bent))
    assert "No line fits what was measured" in figure.answer
    assert "a fixed time of a step and one for each of its samples, fitted" not in {key.text for key in figure.keys}


def test_without_batch_sizes_there_is_no_chart(tmp_path: Path, study: Study) -> None:
    """What a search found is then said beside the memory floors."""
    subject = subject_of(tmp_path, study)
    assert largest_batches([subject]) == []
    alone = replace(subject, answer=replace(subject.answer, batch=replace(subject.answer.batch, curves=())))
    assert batch_chart(alone) is None
    assert largest_batches([alone]) == ["job: a batch of 128 fits a machine with the V100, and 256 ran out of memory."]
    assert batch_chart(replace(subject, answer=None)) is None


def test_what_differs_in_its_batch_alone_has_one_chart(tmp_path: Path, study: Study) -> None:
    """Throughput by machine, and against batch size, would draw the same figures again; not what else was varied."""
    first = figures(subject_of(tmp_path, study))
    assert [chart.title for chart in first] == ["Time of a sample against batch size"]
    second = "".join(f"job,T4,1,{batch},{rate},\n" for batch, rate in ((8, 90), (16, 130)))
    first = figures(subject_of(tmp_path, study, TABLE + second))
    assert len(first) > 1
    crashed = TABLE.replace("out_of_memory", "crashed")
    first = figures(subject_of(tmp_path, study, crashed))
    assert "Throughput against batch size" in [chart.title for chart in first]


COUNTS = """workload,gpu,gpu_count,throughput
job,P100,1,200
job,P100,2,390
job,P100,4,720
job,V100,1,400
job,V100,1,380
job,V100,8,2400
job,K80,1,50
"""

Subjects = Callable[[str], tuple[Subject, ...]]


@pytest.fixture
def subjects_of(tmp_path: Path, study: Study) -> Subjects:
    """The workloads of a table, without model and answer."""

    def subjects_of(table: str) -> tuple[Subject, ...]:
        runs = runs_of(tmp_path, table)
        names = list(dict.fromkeys(run.spec.workload.name for run in runs))
        return tuple(
            Subject(name, study, Objective(), tuple(run for run in runs if run.spec.workload.name == name))
            for name in names
        )

    return subjects_of


def test_each_kind_has_its_line_of_perfect_scaling(subjects_of: Subjects) -> None:
    """Kinds with one count have none; of a count the fastest run's machine is shown."""
    (subject,) = subjects_of(COUNTS)
    figure = accelerator_chart(subject)
    assert [key.text for key in figure.keys] == ["V100", "P100", "perfect scaling from the fewest"]
    root = ElementTree.fromstring(str(figure.svg))
    assert sum(element.get("class") == "ideal" for element in root.iter()) == 2
    titles = [element.text or "" for element in root.iter() if element.tag == "title"]
    assert any(re.match(r"4 x P100: 720 samples/s.*, 90 % of perfect scaling from 1$", title) for title in titles)
    assert any(title.startswith("1 x V100: 390 samples/s") for title in titles), (
        "repeats of one machine are put together"
    )


# Disks whose rates differ by chance alone are not ranked, and measured rates never look like the model's.


@pytest.fixture(scope="module")
def alike_centre(trained: Subject) -> Configuration:
    return next(run.configuration for run in trained.runs if run.spec.limits == CENTRE)


def test_disks_that_only_chance_ranks_are_named(trained: Subject, alike_centre: Configuration) -> None:
    """Where the disk binds they are told apart, where the accelerator does they are not."""
    disks = {"": ["slow", "medium", "fast"]}
    sentence = disks_alike({"": alike_centre}, disks, trained)
    assert sentence == "The runs do not tell medium (emulated) and fast (emulated) apart."
    few = {name: replace(alike_centre, vcpus=vcpus) for name, vcpus in (("0.5 vCPU", 0.5), ("2 vCPUs", 2.0))}
    sentence = disks_alike(few, {name: ["slow", "fast"] for name in few}, trained)
    assert sentence in ("", "At 0.5 vCPU the runs do not tell slow (emulated) and fast (emulated) apart.")


def test_rates_that_overlap_are_not_told_apart_whatever_the_model_says(
    trained: Subject, alike_centre: Configuration
) -> None:
    """A single noisy run on each disk is no reason to rank them."""

    def noisy(run: Run) -> Run:
        return replace(run, throughput=Estimate(150.0, 80.0, 260.0)) if run.throughput is not None else run

    subject = replace(trained, runs=tuple(noisy(run) for run in trained.runs))
    sentence = disks_alike({"": alike_centre}, {"": ["slow", "medium", "fast"]}, subject)
    assert sentence == "The runs do not tell slow (emulated), medium (emulated) and fast (emulated) apart."


def test_groups_hold_only_what_is_alike_in_pairs() -> None:
    """Two disks that differ are not in one, though a third between them is like both."""
    alike = {("a", "b"), ("b", "c")}
    assert _groups(["a", "b", "c"], alike) == [("a", "b"), ("b", "c")]
    assert _groups(["a", "b", "c"], {*alike, ("a", "c")}) == [("a", "b", "c")]
