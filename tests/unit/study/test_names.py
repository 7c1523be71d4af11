"""Names of studies, workloads and disks may be in any script."""

from __future__ import annotations

import unicodedata

import pytest

from sizer.api import parse_study
from sizer.records.errors import InputError
from sizer.study.resolved import to_yaml

STUDY = """
name: 图像
workloads:
  - {name: 训练, kind: image_training, axes: {disk: [云盘]}}
  - {name: Größe-2, kind: lstm_training}
disks: {云盘: {emulate: {class: ssd, read_iops: 6000, read_mbps: 60}}}
around: {disk: 云盘}
"""


def test_names_are_in_any_script() -> None:
    study = parse_study(STUDY, "x")
    assert study.name == "图像"
    assert [plan.workload.name for plan in study.workloads] == ["训练", "Größe-2"]
    assert study.disks[0].name == "云盘"
    assert parse_study(to_yaml(study), "x") == study


def test_a_study_is_called_by_its_file() -> None:
    """What a name may not hold becomes a hyphen."""
    text = "workloads: [{kind: lstm_training}]"
    assert parse_study(text, "图像 训练").name == "图像-训练"
    assert parse_study(text, "._a b(c)").name == "a-b-c-"


def test_letters_written_in_two_ways_are_one_name() -> None:
    parts = unicodedata.normalize("NFD", "Größe")
    text = f"name: {parts}\nworkloads: [{{kind: lstm_training, name: {parts}}}]"
    study = parse_study(text, "x")
    assert (study.name, study.workloads[0].workload.name) == ("Größe", "Größe")


@pytest.mark.parametrize("name", ["训 练", "训/练", "-训练", "训练;", "训'练"])
def test_what_is_no_name_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_study(f'workloads: [{{kind: lstm_training, name: "{name}"}}]', "x")
    assert "must be a name of letters of any script, digits, `.`, `_` and `-` that begins with" in str(refused.value)
