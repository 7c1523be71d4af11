"""The model of each workload on the page, and how well it predicts what was left out."""

from __future__ import annotations

import re
from dataclasses import replace

from sizer.bundled.reports import Material
from sizer.bundled.reports.measurement.fitted import models
from sizer.bundled.reports.subject import subjects
from sizer.model import LeftOut
from sizer.records import Configuration


def test_the_error_of_the_middle_and_of_the_worst_prediction_is_said(material: Material) -> None:
    """With the configuration of the worst."""
    subject = next(each for each in subjects(material) if each.model is not None)
    assert subject.model is not None
    errors = {1.0: 1.02, 2.0: 0.9, 4.0: 1.05}
    left_out = tuple(
        LeftOut(Configuration(vcpus, None, None, None), 100.0, 100.0 * error) for vcpus, error in errors.items()
    )
    (shown,) = models([replace(subject, model=replace(subject.model, left_out=left_out))])
    assert "3 configurations" in shown["quality"]
    assert "off by 5.0 % or less, the worst by 10 % (2 vCPUs" in shown["quality"]


def test_nothing_is_said_where_nothing_was_left_out(material: Material) -> None:
    """Of few configurations, or without a model."""
    subject = next(each for each in subjects(material) if each.model is not None)
    assert subject.model is not None
    (shown,) = models([replace(subject, model=replace(subject.model, left_out=()))])
    assert shown["quality"] == ""
    (refused,) = models([replace(subject, model=None, model_refusal="Too few runs.")])
    assert (refused["refusal"], refused["quality"], refused["parameters"]) == ("Too few runs.", "", [])


def test_the_forms_that_count_are_named_with_their_weight(material: Material) -> None:
    """The weights of all are near one."""
    for shown in models(subjects(material)):
        if not shown["refusal"]:
            percent = [int(each) for each in re.findall(r"(\d+) %", shown["forms"])]
            assert 95 <= sum(percent) <= 105, shown["forms"]
