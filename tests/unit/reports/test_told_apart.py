"""Disks whose rates differ by chance alone are not ranked, and measured rates never look like the model's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.figures.binding import binding_map
from sizer.bundled.reports.figures.disk_chart import _groups, disks_alike
from sizer.bundled.reports.figures.workload import figures
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.model.edge import gain, tells_apart
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import Run
from tests.reported_study import CENTRE, TRAIN


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


@pytest.fixture(scope="module")
def centre(trained: Subject) -> Configuration:
    return next(run.configuration for run in trained.runs if run.spec.limits == CENTRE)


def test_the_model_judges_as_its_gains_do(trained: Subject, centre: Configuration) -> None:
    """Of each two whether the interval of the gain leaves out 0."""
    assert trained.model is not None
    places = [replace(centre, disk=disk) for disk in ("slow", "medium", "fast")]
    pairs = [(one, other) for one in places for other in places]
    for (one, other), apart in zip(pairs, tells_apart(trained.model, pairs), strict=True):
        found = gain(trained.model, one, other)
        assert found is not None
        assert apart == (not found.low <= 0 <= found.high)
    assert tells_apart(trained.model, []) == []


def test_disks_that_only_chance_ranks_are_named(trained: Subject, centre: Configuration) -> None:
    """Where the disk binds they are told apart, where the accelerator does they are not."""
    disks = {"": ["slow", "medium", "fast"]}
    said = disks_alike({"": centre}, disks, trained)
    assert said == "The runs do not tell medium (emulated) and fast (emulated) apart."
    few = {name: replace(centre, vcpus=vcpus) for name, vcpus in (("0.5 vCPU", 0.5), ("2 vCPUs", 2.0))}
    said = disks_alike(few, {name: ["slow", "fast"] for name in few}, trained)
    assert said in ("", "At 0.5 vCPU the runs do not tell slow (emulated) and fast (emulated) apart.")


def test_rates_that_overlap_are_not_told_apart_whatever_the_model_says(trained: Subject, centre: Configuration) -> None:
    """A single noisy run on each disk is no reason to rank them."""

    def noisy(run: Run) -> Run:
        return replace(run, throughput=Estimate(150.0, 80.0, 260.0)) if run.throughput is not None else run

    subject = replace(trained, runs=tuple(noisy(run) for run in trained.runs))
    said = disks_alike({"": centre}, {"": ["slow", "medium", "fast"]}, subject)
    assert said == "The runs do not tell slow (emulated), medium (emulated) and fast (emulated) apart."


def test_groups_hold_only_what_is_alike_in_pairs() -> None:
    """Two disks that differ are not in one, though a third between them is like both."""
    alike = {("a", "b"), ("b", "c")}
    assert _groups(["a", "b", "c"], alike) == [("a", "b"), ("b", "c")]
    assert _groups(["a", "b", "c"], {*alike, ("a", "c")}) == [("a", "b", "c")]


def test_the_map_and_the_bars_say_it(trained: Subject) -> None:
    """Under each picture in which a reader would rank them."""
    plane = binding_map(trained)
    assert plane is not None
    assert "the runs do not tell" in plane.caption.lower()
    first = figures(trained)
    bars = next(figure for figure in first if figure.title == "Throughput against disk tier")
    assert "The runs do not tell medium (emulated) and fast (emulated) apart." in bars.caption
