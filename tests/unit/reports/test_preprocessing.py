"""The time for a whole data set."""

from __future__ import annotations

from dataclasses import replace

from sizer.bundled.reports import workloads
from sizer.bundled.reports.subject import Material, subjects
from sizer.records.run import Estimate


def test_the_time_for_imagenet_is_in_seconds_and_in_words() -> None:
    """1,281,167 images at 182.7 images/s are 7,010 seconds, which a person calls 1 h 57 min."""
    text, human = workloads.time_for(workloads.IMAGENET_IMAGES, Estimate(182.7, 178.0, 188.0))
    assert text == "7,010 s (6,810–7,200)"
    assert human == "1 h 57 min (1 h 54 min to 2 h 00 min)"


def test_a_rate_that_may_be_nothing_leaves_the_time_open() -> None:
    """With a lower end of 0 there is no longest time."""
    assert workloads.time_for(1000, Estimate(10.0, 0.0, 20.0))[0] == "100 s (from 50)"


def test_every_measured_configuration_has_its_time(material: Material) -> None:
    """Each configuration of preprocessing has a row with both times; the data set is said to be the embedded one."""
    (subject,) = (each for each in subjects(material) if each.name == "preprocess")
    times = workloads.preprocessing_times(subject)
    assert times is not None
    assert times["data"] == "The embedded data set, 400 images"
    assert len(times["rows"]) == 7
    assert all("unknown" not in row["own"][0] + row["imagenet"][0] for row in times["rows"])


def test_training_has_no_such_table(material: Material) -> None:
    """Only preprocessing is a job that ends with its data."""
    assert workloads.preprocessing_times(subjects(material)[0]) is None


def test_the_times_say_what_decoded(material: Material) -> None:
    """As the runs state it; those of older versions do not."""
    (subject,) = (each for each in subjects(material) if each.name == "preprocess")
    older = replace(subject, runs=tuple(replace(run, stated={}) for run in subject.runs))
    times = workloads.preprocessing_times(older)
    assert times is not None
    assert times["decoders"] is None
    by = ("opencv", "simplejpeg")
    runs = tuple(replace(run, stated={"decoder": by[number % 2]}) for number, run in enumerate(subject.runs))
    times = workloads.preprocessing_times(replace(subject, runs=runs))
    assert times is not None
    assert times["decoders"] == "Images decoded by OpenCV and simplejpeg."
