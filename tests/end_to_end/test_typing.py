"""What a person can type wrong, and the commands that only look."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed

COMMANDS = [
    *("doctor", "demo", "init", "run", "resume", "profile", "status", "fit", "predict", "pattern"),
    *("recommend", "family", "compare", "report", "serve", "export", "import", "schema", "catalog", "disks"),
]


def test_help_names_every_command_and_each_says_what_it_does(sizer: Typed) -> None:
    """A person finds each command and what it is for."""
    text = sizer("--help").stdout
    for command in COMMANDS:
        assert f"\n    {command}" in text
        done = sizer(command, "--help")
        assert (done.returncode, len(done.stdout) > 100) == (0, True), command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["status", "."], "not a study folder"),
        (["init", "nowhere/x.yaml"], "the folder nowhere does not exist; make it first"),
        (["run", "nowhere"], "nowhere: there is no such file"),
        (["disks", "check", "alibaba/cloud_sd"], "alibaba/cloud_ssd"),
        (["catalog", "validate", "nowhere.json"], "nowhere.json"),
        (["frobnicate"], "invalid choice"),
        (["serve", "."], "is not a study folder"),
        (["serve", ".", "--port", "70000"], "is not a port; give a whole number from 1 to 65535"),
        (["recommend", ".", "--target", "7"], "`7` is not a share"),
        (["predict", ".", "--memory", "4G"], "has no known unit"),
        (["predict", ".", "--batch-size", "20.5"], "`20.5` is not a batch size"),
        (["predict", ".", "--vcpus", "1e300"], "argument --vcpus: `1e300` is not a number of vCPUs"),
        (["predict", ".", "--gpu-speedup", "0"], "`0` is not a factor"),
        (["disks", "check", ".", "--seconds", "x"], "`x` is not a number of seconds"),
        (["disks", "check", "/nope/x"], "/nope/x: there is no such folder"),
        (["catalog", "import", "/bin/ls"], "/bin/ls line 1 is not UTF-8"),
        (["catalog", "list", "--json", "nowhere.json"], "nowhere.json"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_2(sizer: Typed, words: list[str], said: str) -> None:
    """What is wrong, where, and never a traceback."""
    done = sizer(*words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_init_writes_a_study_that_can_be_planned(sizer: Typed) -> None:
    """The commented file is a study by itself, and is not overwritten."""
    assert sizer("init", "mine.yaml").returncode == 0
    done = sizer("run", "mine.yaml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert sizer("init", "mine.yaml").returncode == 2


def test_schema_and_catalog_are_data_on_stdout(sizer: Typed) -> None:
    """JSON that other programs read."""
    assert json.loads(sizer("schema").stdout)["$schema"]
    assert len(json.loads(sizer("catalog", "list", "--json").stdout)["instance_types"]) > 100
    assert "price unknown" in sizer("catalog", "list").stdout


def test_a_catalogue_of_ones_own_is_told_as_json(sizer: Typed, folder: Path) -> None:
    """The option may come before the file, and several files are a list."""
    (folder / "mine.csv").write_text("name,vcpus,price\nmine.large,4,0.25\n")
    listed = json.loads(sizer("catalog", "list", "--json", "mine.csv").stdout)
    assert [(each["instance_type"], each["price_per_hour"]) for each in listed["instance_types"]] == [
        ("mine.large", 0.25)
    ]
    valid = json.loads(sizer("catalog", "validate", "--json", "mine.csv").stdout)
    assert valid == {"catalogs": [{"file": "mine.csv", "entries": 1}]}


def test_a_dry_run_tells_what_will_not_run(sizer: Typed, folder: Path) -> None:
    """A GPU and a program that are not there are named before anything is made for them."""
    (folder / "odd.yaml").write_text(
        "workloads:\n"
        "  - {name: gpu, kind: image_training, device: 'cuda:7', axes: {vcpus: [1]}}\n"
        "  - {name: own, kind: command, command: [no-such-program], axes: {vcpus: [1]}}\n"
    )
    output = sizer("run", "odd.yaml", "--dry-run").stdout
    assert "`gpu`: this host has no GPU 7" in output
    assert "`own`: the program no-such-program was not found" in output


def test_a_dry_run_of_what_cannot_run_ends_as_the_run_would(sizer: Typed, folder: Path) -> None:
    """Exit 3 for a limit that cannot be set, after the list of runs."""
    (folder / "large.yaml").write_text("workloads: [{kind: lstm_training, axes: {vcpus: [1, 4096]}}]\n")
    done = sizer("run", "large.yaml", "--dry-run")
    assert done.returncode == 3
    assert "4096" in done.stderr
    assert "runs, about" in done.stdout


def test_a_dry_run_refuses_what_a_run_would(sizer: Typed, folder: Path) -> None:
    """TensorFlow is left to a program of one's own."""
    (folder / "tensors.yaml").write_text(
        "workloads:\n  - {kind: image_training, framework: [mxnet, tensorflow], axes: {vcpus: [1]}}\n"
    )
    for words in (["--dry-run"], []):
        done = sizer("run", "tensors.yaml", *words)
        assert done.returncode == 2
        assert done.stderr.startswith("sizer: tensors.yaml line 2: `framework: tensorflow` runs no program of sizer's")
        assert "`kind: command`" in done.stderr


def test_a_dry_run_says_how_sure_an_emulated_rate_is(sizer: Typed, folder: Path) -> None:
    """Of each batch size: the rate, what holds 90 % of it, and what it follows from."""
    (folder / "gpu.yaml").write_text(
        "workloads:\n  - {name: a, kind: image_training, batch_size: [32, 1024], device: {emulate: {gpu: V100}}}\n"
        "  - {name: b, kind: image_training, device: {emulate: {samples_per_second: 100, low: 80, high: 125}}}\n"
        "  - {name: c, kind: image_training, device: {emulate: {samples_per_second: 100}}}\n"
    )
    lines = [line for line in sizer("run", "gpu.yaml", "--dry-run").stdout.splitlines() if line.startswith("emulates")]
    published, beyond, given, plain = lines
    assert published.startswith("emulates: V100 for `a`, with a batch of 32: 299 samples/s (207 to 430), published (")
    assert "beyond the published batch sizes" in beyond
    assert given.endswith("with a batch of 32: 100 samples/s (80 to 125), given in the study file")
    assert plain.endswith("with a batch of 32: 100 samples/s, given in the study file")
