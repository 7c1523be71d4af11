"""A study file becomes a Study with every default filled in."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.api import parse_study as parse_study_here
from sizer.records.messages import InputError
from sizer.records.study import FrameworkPython, Study
from sizer.study.parse import read_study
from sizer.study.presets import HostSize, Preset, vcpus_axis
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]


def one(parse: Parse, keys: str = "", rest: str = "", kind: str = "image_training", preset: str | None = None) -> Study:
    """A study of one workload of that kind with these keys, in one line each."""
    return parse(f"workloads:\n  - {{kind: {kind}{', ' if keys else ''}{keys}}}\n{rest}", preset)


@pytest.mark.parametrize("command", ["[./my tool, ./x]", "'./my\\ tool ./x'"])
def test_a_program_by_its_path_lies_where_the_study_says(parse: Parse, command: str) -> None:
    """From the study file's folder, whatever folder it will be started in; other words stay."""
    study = parse(f"workloads:\n  - kind: command\n    command: {command}\n")
    assert study.workloads[0].workload.command == (os.path.abspath("my tool"), "./x")


def test_an_unknown_preset_is_told(parse: Parse) -> None:
    """With the ones there are."""
    with pytest.raises(InputError, match="`fast` is not a preset; choose quick, standard or full"):
        one(parse, preset="fast")


def test_paths_are_taken_from_the_files_folder(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """And from the home folder after a tilde."""
    monkeypatch.setenv("HOME", "/home/me")
    text = "workloads: [{kind: image_training, name: a, data: x/../y}, {kind: image_training, name: b, data: ~/z}]\n"
    study = parse(text, where="/a/study.yaml")
    assert [plan.workload.data for plan in study.workloads] == ["/a/y", "/home/me/z"]


@pytest.mark.parametrize(
    ("data", "files", "form"),
    [
        ("train.rec", ["train.rec"], "recordio"),
        ("d", ["d/a.rec", "d/a.idx"], "recordio"),
        ("d", ["d/data.mdb", "d/lock.mdb"], "lmdb"),
        ("d", ["d/n01/a.JPEG"], "folder"),
        ("gone", [], "recordio"),
    ],
)
def test_the_form_of_data_is_seen_from_it(parse: Parse, tmp_path: Path, data: str, files: list[str], form: str) -> None:
    """A newcomer need not say that a folder of JPEGs is one."""
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    study = parse(f"workloads: [{{kind: image_training, data: {data}}}]\n", where=str(tmp_path / "study.yaml"))
    assert study.workloads[0].workload.format == form


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "there is no such file; `sizer init"),
        (b"name: a\nworkloads: \xff\n", "line 2 is not UTF-8"),
        (b"\xff\xfea\x00", "is not UTF-8"),
        (b"", "is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    """Missing, in another encoding, or empty."""
    path = tmp_path / "study.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        read_study(path, None, HostSize(2, 2**30), None)
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path, None, HostSize(2, 2**30), None)


def test_a_study_is_called_by_its_file() -> None:
    """What a name may not hold becomes a hyphen."""
    text = "workloads: [{kind: lstm_training}]"
    assert parse_study_here(text, "图像 训练").name == "图像-训练"
    assert parse_study_here(text, "._a b(c)").name == "a-b-c-"


def test_letters_written_in_two_ways_are_one_name() -> None:
    parts = unicodedata.normalize("NFD", "Größe")
    text = f"name: {parts}\nworkloads: [{{kind: lstm_training, name: {parts}}}]"
    study = parse_study_here(text, "x")
    assert (study.name, study.workloads[0].workload.name) == ("Größe", "Größe")


@pytest.mark.parametrize(
    ("preset", "host", "axis"),
    [
        ("quick", 2, (0.5, 1, 2)),
        ("quick", 64, (16, 32, 64)),
        ("standard", 6, (1, 2, 3, 6)),
        ("standard", 64, (1, 2, 4, 8, 16, 32, 64)),
        ("full", 2, (0.5, 0.75, 1, 1.5, 2)),
        ("full", 8, (0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)),
    ],
)
def test_the_axis_goes_down_from_the_host_by_halves(preset: str, host: int, axis: tuple[float, ...]) -> None:
    """quick has the three largest, standard goes down to one vCPU, full has the middles too."""
    assert vcpus_axis(Preset(preset), host) == axis


@given(st.sampled_from(list(Preset)), st.integers(1, 512))
def test_every_axis_can_be_measured_and_predicted_along(preset: Preset, host: int) -> None:
    """Three distinct values at least, in quarters, none above the host, and the host's own among them."""
    axis = vcpus_axis(preset, host)
    assert len(set(axis)) >= 3
    assert all(value % 0.25 == 0 and 0 < value <= host for value in axis)
    assert max(axis) == host
    assert list(axis) == sorted(axis)


WORKLOADS = "workloads: [{kind: image_training}]\n"


def test_interpreters_are_found_from_the_files_folder(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` is the home folder, and a bare name is left to be found in PATH."""
    monkeypatch.setenv("HOME", "/home/me")
    text = "frameworks:\n  pytorch: {python: ../torch/bin/python}\n  mxnet:\n    python: ~/mx/bin/python\n"
    study = parse(text + "  opencv: {python: python3.11}\n" + WORKLOADS, where="/data/studies/s.yaml")
    assert study.frameworks == (
        FrameworkPython("pytorch", "/data/torch/bin/python"),
        FrameworkPython("mxnet", "/home/me/mx/bin/python"),
        FrameworkPython("opencv", "python3.11"),
    )
    assert [(framework.file, framework.line) for framework in study.frameworks] == [
        ("/data/studies/s.yaml", line) for line in (2, 4, 5)
    ]
    assert study.python("pytorch") == study.frameworks[0]
    assert study.python("tensorflow") is None
    assert parse(WORKLOADS).frameworks == ()


def test_a_stored_study_keeps_them(parse: Parse, tmp_path: Path) -> None:
    """Also one whose interpreter is gone: what is stored can be read anywhere."""
    study = parse(f"frameworks: {{pytorch: {{python: {tmp_path}/gone}}}}\n" + WORKLOADS)
    assert parse(to_yaml(study), where="/elsewhere/study.yaml").frameworks == study.frameworks
    assert "frameworks" not in to_yaml(parse(WORKLOADS))
