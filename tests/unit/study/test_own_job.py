"""The study file of a program of the user's own is read as it was typed."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.records.errors import InputError
from sizer.records.own_programs import Variable
from sizer.records.study import Limits, Study
from sizer.records.units import GIB
from sizer.study.own_job import Axes, OwnJob, own_job_text
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize

HOST = HostSize(2, 8 * GIB)


def read(text: str) -> Study:
    return parse_study(text, "/home/me/job.yaml", None, HOST, Catalog.load())


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python train.py --epochs 1", "train"),
        ("python -u src/train_net.py", "train_net"),
        ("torchrun --nproc_per_node 2 examples/run.py --x y.py", "run"),
        ("python -m torch.distributed.run --nproc_per_node 2 main.py", "main"),
        ("python -m package.trainer --fast", "trainer"),
        ("python -m package.__main__", "package"),
        ("accelerate launch my-script.py", "my-script"),
        ("./benchmark.sh all", "benchmark"),
        ("/opt/caffe/build/tools/caffe train", "caffe"),
        ("python -c print(1)", "python"),
        ("python été.py", "t"),
        ("./...", "job"),
        ("python -m", "python"),
    ],
)
def test_a_job_is_called_by_its_script(command: str, name: str) -> None:
    assert OwnJob(tuple(command.split())).name == name


words = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" \n\t"), max_size=20)


@given(st.lists(words, max_size=5), words.filter(lambda text: "{" not in text))
def test_every_word_comes_back_as_it_was_typed(others: list[str], value: str) -> None:
    """Also one that YAML would take for a number, a truth or a list of its own."""
    job = OwnJob(("prog", *others), env=(Variable("NAME", value),))
    (planned,) = read(own_job_text(job, "x", Axes((0.5, 1.0)))).workloads
    assert planned.workload.command == job.command
    assert planned.workload.env == job.env


@pytest.mark.parametrize(
    "word", ["yes", "no", "null", "~", "1", "1e3", "0x1F", "1:30", "[a]", "{a: b}", "#", "- a", "'", '"', "a\nb", ""]
)
def test_a_word_that_means_something_in_yaml_does_not_there(word: str) -> None:
    (planned,) = read(own_job_text(OwnJob(("prog", word)), "x", Axes())).workloads
    assert planned.workload.command == ("prog", word)


def test_all_that_is_typed_stands_in_the_file() -> None:
    job = OwnJob(
        command=("./train.py", "{data}", "{batch_size}"),
        cwd="/home/me/project",
        disks=("alibaba/cloud_ssd:100GiB", "/mnt/nvme"),
        data="/data/images",
        batch_sizes=(16, 32),
        samples_per_step=5,
        sample_unit="image",
        pattern=r"step (?P<step>\d+)",
        meter="log",
        env=(Variable("HOME_OF", "a b"), Variable("HERE")),
        pass_env=("HF_*", "NCCL_DEBUG"),
        setup=("make", "all"),
        before=("./clean", "-f"),
        seconds=2.5,
        repeats=3,
    )
    disks: dict[str, str | tuple[str, int]] = {"cloud_ssd": ("alibaba/cloud_ssd", 100 * GIB), "nvme": "/mnt/nvme"}
    study = read(own_job_text(job, "my job", Axes((0.5, 1, 2), (GIB, 2 * GIB), True, disks), ["first", "", "second"]))
    (planned,) = study.workloads
    workload = planned.workload
    assert study.name == "my-job"
    assert study.around == Limits()
    assert (study.measure.repeats, study.measure.seconds) == (3, 2.5)
    assert workload.command == ("/home/me/project/train.py", "{data}", "{batch_size}")
    assert workload.before == ("/home/me/project/clean", "-f")
    assert workload.setup == ("make", "all")
    assert (workload.cwd, workload.data, workload.cache) == ("/home/me/project", "/data/images", "cold")
    assert (workload.pattern, workload.meter, workload.sample_unit) == (job.pattern, "log", "image")
    assert workload.samples_per_step == 5
    assert (workload.env, workload.pass_env) == (job.env, job.pass_env)
    assert planned.batch_size == (16, 32)
    assert (planned.vcpus, planned.memory_bytes, planned.memory_floor) == ((0.5, 1, 2), (GIB, 2 * GIB), True)
    assert planned.disk == ("cloud_ssd", "nvme")
    assert [tier.catalog_name for tier in study.disks] == ["alibaba/cloud_ssd", None]


def test_no_secret_is_in_the_file() -> None:
    """A variable whose name says that it is one is there by its name."""
    text = own_job_text(OwnJob(("prog",), env=(Variable("HF_TOKEN", "hf_abcdef"),)), "x", Axes())
    assert "hf_abcdef" not in text
    assert "env: {HF_TOKEN: null}" in text


def test_folders_are_whole_paths(tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The file may lie anywhere."""
    monkeypatch.chdir(tmp_path)
    (planned,) = read(own_job_text(OwnJob(("bin/prog",), data="words.txt"), "x", Axes())).workloads
    here = os.fspath(tmp_path)
    assert planned.workload.command == (f"{here}/bin/prog",)
    assert (planned.workload.cwd, planned.workload.data) == (here, f"{here}/words.txt")


def test_what_no_file_may_hold_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be printed"):
        read(own_job_text(OwnJob(("prog", "\x1b[2J")), "x", Axes()))
