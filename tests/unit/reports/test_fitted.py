"""The model of each workload on the page, and how well it predicts what was left out."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

from sizer.bundled.reports.measurement import models
from sizer.bundled.reports.subject import Material, subjects
from sizer.model.prediction import left_out


def test_the_error_of_the_middle_and_of_the_worst_prediction_is_said(material: Material) -> None:
    """Of each workload with four configurations or more, each told by the others."""
    for subject, shown in zip(subjects(material), models(subjects(material)), strict=True):
        told = [] if subject.model is None else left_out(subject.model)
        if not told:
            assert shown["quality"] == ""
            continue
        errors = [abs(each.predicted / each.measured - 1) for each in told]
        assert f"Each of {len(told)} configurations" in shown["quality"]
        assert median(errors) < 0.1
        assert max(errors) < 0.5


def test_a_workload_without_a_model_says_why(material: Material) -> None:
    """And nothing else."""
    subject = next(each for each in subjects(material) if each.model is not None)
    (refused,) = models([replace(subject, model=None, model_refusal="Too few runs.")])
    assert (refused["refusal"], refused["quality"], refused["parameters"]) == ("Too few runs.", "", [])
