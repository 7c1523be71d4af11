"""What is read of study files, and that it is written and read again alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
import yaml

from sizer.records.study import Deadline, Objective, Study
from sizer.study.resolved import to_yaml

CASES = yaml.safe_load(Path(__file__).with_name("read.yaml").read_text("utf-8"))


def part_of(whole: Any, name: str) -> Any:
    return whole[int(name)] if name.isdigit() else getattr(whole, name)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["study"][:60])
def test_a_study_is_read_and_written_again(parse: Callable[..., Study], case: dict[str, Any]) -> None:
    study = parse(case["study"], case.get("preset"))
    for path, value in case["is"].items():
        found = reduce(
            lambda part, name: part[int(name)] if name.isdigit() else getattr(part, name), path.split("."), study
        )
        assert (list(found) if isinstance(found, tuple) else found) == value, path
    assert parse(to_yaml(study), case.get("preset")) == study


def test_a_time_is_written_as_people_say_it(parse: Callable[..., Study]) -> None:
    study = parse("workloads: [{kind: image_training}]")
    for seconds, spelt in ((21600.0, "6h"), (5400.0, "90m"), (90.5, "90.5s")):
        asked = replace(study, objective=Objective(deadline=Deadline(1e6, seconds)))
        assert f"within: {spelt}}}" in to_yaml(asked)
