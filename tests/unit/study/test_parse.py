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
from sizer.records.device import DiskRates
from sizer.records.messages import InputError
from sizer.records.study import DiskTier, FrameworkPython, Limits, Measure, Objective, Study
from sizer.study.document import RESOLVED
from sizer.study.parse import read_study
from sizer.study.presets import HostSize, Preset, vcpus_axis
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]

CONTRACT = """\
name: resnet-sizing
workloads:
  - name: train                # unique; by default from kind, framework and network
    kind: image_training       # image_training | image_inference | lstm_training | imagenet_preprocessing | command
    framework: mxnet           # mxnet | pytorch | tensorflow
    network: resnet50
    batch_size: [16, 32]
    data: /data/imagenet       # folder, .rec or text; without it the embedded data set
    format: recordio           # recordio | lmdb | folder; what the data is, or what preprocessing writes
    input: disk                # disk | cached | synthetic
    cache: cold                # cold | natural | warm; a memory axis is measured natural
    device: cpu                # cpu | cuda:0 | {emulate: {gpu: P100}} | {emulate: {samples_per_second: 219}}
    axes: {vcpus: [1, 2]}      # overrides the study's axes for this workload
axes:                          # crossed; an axis left out is not limited and is recorded at the host's value
  vcpus: [1, 2, 4]
  memory: [2GiB, 8GiB]
  disk: [nvme, cloud_ssd]
disks:
  nvme: /mnt/nvme                                     # a real mount
  cloud_ssd: {emulate: alibaba/cloud_ssd, size: 500GiB}
  slow: {emulate: {class: standard, read_iops: 500, read_mbps: 40}}
around: {vcpus: 2, memory: 8GiB, disk: nvme}        # optional: vary one axis at a time around this point, do not cross
measure: {repeats: 3, seconds: 30, precision: 0.02, seed: 1}
objective: {prefer: cheapest, target: 0.95}
"""


def one(parse: Parse, keys: str = "", rest: str = "", kind: str = "image_training", preset: str | None = None) -> Study:
    """A study of one workload of that kind with these keys, in one line each."""
    return parse(f"workloads:\n  - {{kind: {kind}{', ' if keys else ''}{keys}}}\n{rest}", preset)


def test_the_documented_file_is_read(parse: Parse) -> None:
    """Every key of the contract is understood."""
    study = parse(CONTRACT)
    (plan,) = study.workloads
    assert study.name == "resnet-sizing"
    assert (plan.workload.name, plan.workload.network, plan.workload.data) == ("train", "resnet50", "/data/imagenet")
    assert (plan.workload.format, plan.workload.input, plan.workload.cache) == ("recordio", "disk", "cold")
    assert plan.batch_size == (16, 32)
    assert plan.vcpus == (1.0, 2.0)
    assert plan.memory_bytes == (2 * 2**30, 8 * 2**30)
    assert plan.disk == ("nvme", "cloud_ssd")
    assert study.around == Limits(2.0, 8 * 2**30, "nvme")
    assert study.measure == Measure(3, 30.0, 0.02, 1)
    assert study.objective == Objective("cheapest", 0.95)


def test_only_workloads_is_required(parse: Parse) -> None:
    """All else has a default; a file that names no axis varies vCPUs."""
    study = one(parse)
    (plan,) = study.workloads
    assert plan.workload.name == "image_training-mxnet-resnet50"
    assert (plan.batch_size, plan.vcpus, plan.memory_bytes, plan.disk) == ((32,), (1.0, 2.0, 4.0), (), ())
    assert (study.name, study.measure, study.objective) == ("study", Measure(), Objective())


def test_a_stored_study_of_preprocessing_keeps_its_word(parse: Parse) -> None:
    """The first study folders call it mxnet."""
    (stored,) = parse(RESOLVED + "workloads:\n  - kind: imagenet_preprocessing\n    framework: mxnet\n").workloads
    assert stored.workload.framework == "mxnet"


def test_disks(parse: Parse) -> None:
    """A path is a real mount from the file's folder, a name has the catalogue's figures, writes are as reads."""
    rest = """\
disks:
  real: ssd
  named: {emulate: alibaba/cloud_ssd, size: 1GiB}
  slow: {emulate: {class: standard, read_iops: 500, read_mbps: 40}}
  odd: {emulate: {read_mbps: 1.5, write_mbps: 1, write_iops: 7}}
"""
    study = parse("workloads: [{kind: image_training}]\n" + rest, where="/a/b/study.yaml")
    whole = float(round(2**30 / 3000))
    assert study.disks == (
        DiskTier("real", "/a/b/ssd"),
        DiskTier("named", None, DiskRates(30.0, whole, 30.0, whole), "ssd", "alibaba/cloud_ssd", 2**30),
        DiskTier("slow", None, DiskRates(500.0, 4e7, 500.0, 4e7), "standard"),
        DiskTier("odd", None, DiskRates(None, 1.5e6, 7.0, 1e6)),
    )


@pytest.mark.parametrize("command", ["[./my tool, ./x]", "'./my\\ tool ./x'"])
def test_a_program_by_its_path_lies_where_the_study_says(parse: Parse, command: str) -> None:
    """From the study file's folder, whatever folder it will be started in; other words stay."""
    study = parse(f"workloads:\n  - kind: command\n    command: {command}\n")
    assert study.workloads[0].workload.command == (os.path.abspath("my tool"), "./x")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "[python, train.py, --rate, 0.10, 08, yes, 1:30]",
            ("python", "train.py", "--rate", "0.10", "08", "yes", "1:30"),
        ),
        ("python train.py --name 'a b'", ("python", "train.py", "--name", "a b")),
    ],
)
def test_a_command_keeps_its_words(parse: Parse, command: str, words: tuple[str, ...]) -> None:
    """Numbers and truth values stay as they are spelled; a line is split as a shell would."""
    study = parse(f"workloads:\n  - kind: command\n    command: {command}\n    sample_unit: image\n")
    workload = study.workloads[0].workload
    assert workload.command == words
    assert (workload.name, workload.framework, workload.sample_unit) == ("command", "other", "image")
    assert study.workloads[0].batch_size == (1,)


@pytest.mark.parametrize(
    "pattern", ["mxnet_speedometer", "caffe", "torch", "tensorflow", "cntk", "neon", "(?P<rate>.)"]
)
def test_known_patterns_and_ones_own(parse: Parse, pattern: str) -> None:
    """Six frameworks' logs are known by name."""
    study = parse(f"workloads:\n  - kind: command\n    command: a\n    pattern: {pattern}\n")
    assert study.workloads[0].workload.pattern == pattern


def test_a_preset_fills_what_the_file_leaves_out(parse: Parse) -> None:
    """Also a vCPU axis beside a memory axis; what the file says stays."""
    study = one(parse, rest="axes: {memory: [1GiB, 2GiB]}\nmeasure: {seconds: 7}\n", preset="quick")
    assert study.measure == Measure(2, 7.0, 0.05, 1)
    assert study.workloads[0].vcpus == (1.0, 2.0, 4.0)
    assert one(parse, rest="axes: {vcpus: 1}\n", preset="full").workloads[0].vcpus == (1.0,)
    assert one(parse, preset="full").measure == Measure(5, 60.0, 0.01)


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


def test_what_was_imported_takes_what_it_took(parse: Parse) -> None:
    """A network of vectors that somebody else measured is none of sizer's own."""
    (plan,) = parse(RESOLVED + "workloads:\n  - {kind: imported, name: a, network: fcn5, input: disk}\n").workloads
    assert plan.workload.network == "fcn5"


ANY_SCRIPT = """
name: 图像
workloads:
  - {name: 训练, kind: image_training, axes: {disk: [云盘]}}
  - {name: Größe-2, kind: lstm_training}
disks: {云盘: {emulate: {class: ssd, read_iops: 6000, read_mbps: 60}}}
around: {disk: 云盘}
"""


def test_names_are_in_any_script() -> None:
    study = parse_study_here(ANY_SCRIPT, "x")
    assert study.name == "图像"
    assert [plan.workload.name for plan in study.workloads] == ["训练", "Größe-2"]
    assert study.disks[0].name == "云盘"
    assert parse_study_here(to_yaml(study), "x") == study


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


def test_frameworks_networks_and_batch_sizes_are_crossed(parse: Parse) -> None:
    """Each framework and network is a workload with every batch size; without a name, their kind begins it."""
    many = "framework: [mxnet, pytorch], network: [alexnet, vgg16], batch_size: [8, 16, 32]"
    study = parse(f"workloads: [{{kind: image_training, {many}}}]\n")
    assert [plan.workload.name for plan in study.workloads] == [
        f"image_training-{framework}-{network}"
        for framework in ("mxnet", "pytorch")
        for network in ("alexnet", "vgg16")
    ]
    assert {plan.batch_size for plan in study.workloads} == {(8, 16, 32)}
    (both, other) = parse("workloads: [{kind: lstm_training, framework: [mxnet, pytorch]}]\n").workloads
    assert both.batch_size == other.batch_size == (20,)
    assert (both.workload.framework, other.workload.framework) == ("mxnet", "pytorch")
