"""`plan: adaptive` in a study file, with its bounds."""

from __future__ import annotations

import pytest

from sizer.records.adaptive import Adaptive
from sizer.records.errors import InputError
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

HOST = HostSize(4, 2**34)
FILE = "workloads:\n  - kind: image_training\nmeasure: {{{measure}}}\n"


def read(measure: str) -> Adaptive | None:
    return parse_study(FILE.format(measure=measure), "s.yaml", None, HOST, None).adaptive


@pytest.mark.parametrize(
    ("measure", "asked"),
    [
        ("plan: adaptive", Adaptive()),
        ("plan: adaptive, budget: 30m", Adaptive(1800.0)),
        ("plan: adaptive, runs: 12", Adaptive(None, 12)),
        ("plan: adaptive, budget: 90s, runs: 12", Adaptive(90.0, 12)),
        ("seconds: 5", None),
    ],
)
def test_the_plan_with_its_bounds(measure: str, asked: Adaptive | None) -> None:
    """A budget is a time with its unit; without a plan all runs are asked for."""
    assert read(measure) == asked


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("budget: 30m", "`budget` is for an adaptive plan; write `plan: adaptive` beside it."),
        ("runs: 12", "`runs` is for an adaptive plan; write `plan: adaptive` beside it."),
        ("plan: adaptive, budget: 30", "is not a time; write a number and its unit"),
        ("plan: adaptive, runs: 0", "runs"),
        ("plan: clever", "adaptive"),
    ],
)
def test_what_makes_no_plan_is_refused(measure: str, said: str) -> None:
    """With its line."""
    with pytest.raises(InputError, match=r"s\.yaml line 3") as refused:
        read(measure)
    assert said in str(refused.value)


def test_the_resolved_study_has_it() -> None:
    """So that a study that is gone on with goes on alike."""
    study = parse_study(FILE.format(measure="plan: adaptive, budget: 90m, runs: 7"), "s.yaml", None, HOST, None)
    again = parse_study(to_yaml(study), "s.yaml", None, HOST, None)
    assert again.adaptive == study.adaptive == Adaptive(5400.0, 7)
