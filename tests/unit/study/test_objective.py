"""What a study file asks for: the objective, and the adaptive plan with its bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.api import parse_study
from sizer.records.study import Adaptive, Deadline, Objective
from sizer.study.parse import parse_study as parse_study_file
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

TRAIN = "workloads:\n  - kind: image_training\n"


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("{}", Objective()),
        ("{prefer: balanced}", Objective("balanced")),
        ("{samples: 1.2M, within: 6h}", Objective(deadline=Deadline(1.2e6, 21600.0))),
        ("{samples: 1200000, within: 90s}", Objective(deadline=Deadline(1.2e6, 90.0))),
        ("{samples: 1.5e3, within: 0.5h}", Objective(deadline=Deadline(1500.0, 1800.0))),
        ("{at_least: 1.2k}", Objective(at_least=1200.0)),
        ("{at_least: 512.5, spot: true}", Objective(at_least=512.5, spot=True)),
        ("{gpus: [T4, V100]}", Objective(gpus=("T4", "V100"))),
        ("{prefer: fastest, target: 0.9, latency_p99: 20}", Objective("fastest", 0.9, latency_p99=0.02)),
    ],
)
def test_an_objective_is_read_and_written_again(written: str, asked: Objective) -> None:
    study = parse_study(TRAIN + f"objective: {written}\n", "study")
    assert study.objective == asked
    assert parse_study(to_yaml(study), "study").objective == asked


def test_a_time_is_written_as_people_say_it() -> None:
    study = parse_study(TRAIN, "study")
    for seconds, spelt in ((21600.0, "6h"), (5400.0, "90m"), (90.5, "90.5s")):
        asked = replace(study, objective=Objective(deadline=Deadline(1e6, seconds)))
        assert f"within: {spelt}}}" in to_yaml(asked)


HOST = HostSize(4, 2**34)
ADAPTIVE = "workloads:\n  - kind: image_training\nmeasure: {{{measure}}}\n"


def read(measure: str) -> Adaptive | None:
    return parse_study_file(ADAPTIVE.format(measure=measure), "s.yaml", None, HOST, None).adaptive


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


def test_the_resolved_study_has_it() -> None:
    """So that a study that is gone on with goes on alike."""
    study = parse_study_file(
        ADAPTIVE.format(measure="plan: adaptive, budget: 90m, runs: 7"), "s.yaml", None, HOST, None
    )
    again = parse_study_file(to_yaml(study), "s.yaml", None, HOST, None)
    assert again.adaptive == study.adaptive == Adaptive(5400.0, 7)
