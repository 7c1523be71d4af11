"""A user's own program and job, as they are typed and as they are written down."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.files.codec import to_json
from sizer.records.frameworks import Variable, filled, placeholders_in
from sizer.records.messages import InputError
from sizer.records.study import Limits, Study
from sizer.records.units import GIB, NamedTier, parse_tier
from sizer.study.own_job import Axes, OwnJob, own_job_text
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

# How a study file says that a user's own program is started.


Parse = Callable[..., Study]


def own(parse: Parse, keys: str) -> Study:
    """A study of a command with these keys."""
    return parse(f"workloads:\n  - kind: command\n    command: [python, train.py]\n{keys}", where="/home/me/study.yaml")


def test_everything_is_read_as_it_is_spelled(parse: Parse) -> None:
    """Numbers and truths are the words that they are written with; lines are split as a shell would, without one."""
    study = own(
        parse,
        """\
    env: {RATE: 0.10, FLAG: true, EMPTY: "", MINE: }
    pass_env: [HF_HOME, NCCL_*]
    cwd: work
    setup: pip install -e '.[all]'
    before: [rm, -rf, "{scratch}/out"]
""",
    )
    workload = study.workloads[0].workload
    assert workload.env == (
        Variable("RATE", "0.10"),
        Variable("FLAG", "true"),
        Variable("EMPTY", ""),
        Variable("MINE"),
    )
    assert workload.pass_env == ("HF_HOME", "NCCL_*")
    assert workload.cwd == "/home/me/work"
    assert workload.setup == ("pip", "install", "-e", ".[all]")
    assert workload.before == ("rm", "-rf", "{scratch}/out")
    assert own(parse, "    pass_env: HF_HOME\n").workloads[0].workload.pass_env == ("HF_HOME",)


@pytest.mark.parametrize("name", ["HF_TOKEN", "aws_secret_access_key", "API_KEY", "DbPassword", "GIT_CREDENTIALS"])
def test_a_secret_is_in_nothing_that_is_written(parse: Parse, name: str) -> None:
    """The run has it; what is written reads as the same study, and needs it from the environment."""
    study = own(parse, f"    env: {{{name}: abc-123, PLAIN: there}}\n")
    secret, plain = study.workloads[0].workload.env
    assert secret.value_in({}) == "abc-123"
    assert plain.value == "there"
    for text in (to_yaml(study), json.dumps(to_json(study)), repr(study)):
        assert "abc-123" not in text
        assert "there" in text
    again = parse(to_yaml(study))
    assert again == study
    assert again.workloads[0].workload.env[0].value_in({}) is None
    assert again.workloads[0].workload.env[0].value_in({name: "other"}) == "other"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_TOKENS", "512"),
        ("MAX_KEYS", "1000000"),
        ("tokens_per_batch", "4096"),
        ("KEY_SIZE", "256"),
        ("NUM_KEY_VALUE_HEADS", "8"),
    ],
)
def test_how_many_there_are_is_no_secret(name: str, value: str) -> None:
    """A small number under a name that counts something."""
    assert Variable(name, value).value == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PASSWORD", "1234"),
        ("MAX_PASSWORD", "12345678"),
        ("PASSWORD_LENGTH_PIN", "12345678"),
        ("API_KEY", "123456789"),
        ("API_KEYS", "12345678"),
        ("ACCESS_TOKENS", "12345678"),
        ("TOKEN", "123456"),
        ("SECRET_KEYS", "4711"),
        ("CARD_PIN_KEYS", "4711"),
        ("MAX_TOKENS", "1234567890"),
        ("MAX_TOKENS", "512k"),
        ("HF_TOKENS", "hf_abc"),
    ],
)
def test_a_number_may_be_a_secret(name: str, value: str) -> None:
    """A PIN is one, and so is what is longer than any count, or no number."""
    variable = Variable(name, value)
    assert variable.value is None
    assert variable.value_in({}) == value
    assert value not in repr(variable).replace(name, "")


def test_too_long_a_value_is_not_shown(parse: Parse) -> None:
    """A private key may be long."""
    with pytest.raises(InputError) as refused:
        own(parse, f"    env: {{API_KEY: {'hush' * 10_000}}}\n")
    assert "hush" not in str(refused.value)


def test_a_batch_size_may_be_told_anywhere(parse: Parse) -> None:
    """Among the words, or in a variable."""
    for keys in ("    env: {BATCH: '{batch_size}'}\n", "    before: [write, '--batch={batch_size}']\n"):
        assert own(parse, f"    batch_size: [8, 16]\n{keys}").workloads[0].batch_size == (8, 16)


def test_only_placeholders_are_filled_in() -> None:
    """Programs have braces of their own; doubled ones are the word itself."""
    values = {"vcpus": "2", "data": "{vcpus}"}
    assert filled("{vcpus} {data} {{data}} {x} {} ${vcpus} {'vcpus': 1}", values) == (
        "2 {vcpus} {data} {x} {} $2 {'vcpus': 1}"
    )
    assert placeholders_in(["{vcpus}", "{{data}} {x}"]) == {"vcpus"}


# The study file of a program of the user's own is read as it was typed.


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
    disks: dict[str, str | NamedTier] = {"gp3": parse_tier("aws/gp3:100GiB:6000iops:500mbps"), "nvme": "/mnt/nvme"}
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
    assert planned.disk == ("gp3", "nvme")
    assert [tier.catalog_name for tier in study.disks] == ["aws/gp3", None]
    rates = study.disks[0].emulated
    assert rates is not None
    assert (rates.read_iops, rates.read_bytes_per_second) == (6000, 500e6)


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
