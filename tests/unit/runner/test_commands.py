from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sizer.records.device import Device
from sizer.records.frameworks import FrameworkOptions
from sizer.records.own_programs import Variable
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.commands import (
    HOOK,
    RunPaths,
    argv,
    environment,
    hidden_values,
    setup_environment,
    shut_out_by,
    with_events,
)

PLACE = RunPaths(
    Path("/usr/bin/python3"), Path("/packages"), Path("/data/a.rec"), "recordio", Path("/scratch"), Path("/output")
)
TRAINING = Workload("train", "image_training", network="resnet50", format="recordio")
HOST_MEMORY = 2**34
SPEC = RunSpec(TRAINING, 32, Limits(vcpus=1.5), Measure())


def test_a_workload_gets_what_the_run_says() -> None:
    """Network, batch, data, input, cache, threads and seed, as options of a module."""
    words = argv(SPEC, PLACE, 8, HOST_MEMORY)
    assert words[:3] == ["/usr/bin/python3", "-m", "workloads.image_training"]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert options["--network"] == "resnet50"
    assert options["--batch-size"] == "32"
    assert options["--data"] == "/data/a.rec"
    assert options["--threads"] == "2"
    assert options["--device"] == "cpu"
    assert "--rate" not in options


def test_repeats_have_seeds_of_their_own() -> None:
    """Two repeats of a configuration do not shuffle alike."""
    first, second = argv(SPEC, PLACE, 8, HOST_MEMORY), argv(replace(SPEC, repeat=1), PLACE, 8, HOST_MEMORY)
    assert first[first.index("--seed") + 1] != second[second.index("--seed") + 1]


def test_a_users_own_command_is_taken_as_it_is() -> None:
    """No option is added, and nothing of ours is put into its module path."""
    own = replace(SPEC, workload=Workload("own", "command", command=("python", "train.py", "$HOME; rm")))
    assert argv(own, PLACE, 8, HOST_MEMORY) == ["python", "train.py", "$HOME; rm"]
    given = environment(own, PLACE, 8, HOST_MEMORY, {"PATH": "/bin", "PYTHONPATH": "/mine", "SECRET": "x"})
    assert given["PYTHONPATH"] == "/mine"
    assert "SECRET" not in given


def test_the_environment_is_an_allow_list() -> None:
    """Thread counts from the limit, our packages, and nothing that was not named."""
    given = environment(SPEC, PLACE, 8, HOST_MEMORY, {"PATH": "/bin", "PYTHONPATH": "/mine", "OMP_NUM_THREADS": "64"})
    assert given["OMP_NUM_THREADS"] == given["MXNET_CPU_WORKER_NTHREADS"] == "2"
    assert given["PYTHONPATH"] == "/packages"


def test_a_command_gets_what_its_study_says() -> None:
    """By exact names and with a star; `env` goes before all else, thread counts before what is passed on."""
    variables = (Variable("OMP_NUM_THREADS", "{vcpus}"), Variable("HF_TOKEN", kept="hush"), Variable("TASK"))
    own = replace(SPEC, workload=Workload("own", "command", env=variables, pass_env=("HF_HOME", "NCCL_*", "MKL_*")))
    ours = {
        "HF_HOME": "/hub",
        "HF_HOME_2": "x",
        "NCCL_DEBUG": "INFO",
        "NCCL_": "",
        "MKL_NUM_THREADS": "64",
        "TASK": "7",
        "OTHER": "x",
    }
    given = environment(own, PLACE, 8, HOST_MEMORY, ours)
    assert {name: given.get(name) for name in ours} == {
        "HF_HOME": "/hub",
        "HF_HOME_2": None,
        "NCCL_DEBUG": "INFO",
        "NCCL_": "",
        "MKL_NUM_THREADS": "2",
        "TASK": "7",
        "OTHER": None,
    }
    assert given["OMP_NUM_THREADS"] == "1.5"
    assert given["HF_TOKEN"] == "hush"
    assert set(hidden_values(own.workload, ours)) == {
        "HF_HOME",
        "NCCL_DEBUG",
        "NCCL_",
        "MKL_NUM_THREADS",
        "HF_TOKEN",
        "TASK",
    }
    alone = setup_environment(own.workload, Path("/tmp"), ours)
    assert alone["TASK"] == "7"
    assert "OMP_NUM_THREADS" not in alone


def test_options_of_the_framework_are_given_as_the_study_writes_them() -> None:
    """Those that it leaves out are the program's to choose."""
    workload = replace(TRAINING, precision="bf16", options=FrameworkOptions(compile=True, workers=0))
    words = argv(replace(SPEC, workload=workload), PLACE, 8, HOST_MEMORY)
    given = dict(zip(words[3::2], words[4::2], strict=True))
    assert (given["--precision"], given["--compile"], given["--workers"]) == ("bf16", "true", "0")
    assert not {"--channels-last", "--decoder"} & given.keys()


def test_several_emulated_accelerators_are_told_how_long_they_exchange() -> None:
    """As a share of a step: with a loss of 0.1 two of them make exp(-0.1) of as many alone."""
    device = Device("emulated", gpu="P100", samples_per_second=219.0, scaling_loss=0.1)
    several = replace(SPEC, workload=replace(TRAINING, device=device), gpu_count=2)
    words = argv(several, PLACE, 8, HOST_MEMORY)
    assert words[words.index("--gpu-count") + 1] == "2"
    assert float(words[words.index("--exchange") + 1]) == pytest.approx(0.105, abs=0.001)
    assert "--gpu-count" not in argv(replace(several, gpu_count=1), PLACE, 8, HOST_MEMORY)


FIFO = Path("/tmp/run/events")


def test_the_hook_is_first_on_the_path() -> None:
    """What the user has there comes after it; an empty entry, which is the current folder, is not made."""
    assert with_events({}, FIFO, True) == {"SIZER_EVENTS_PATH": str(FIFO), "PYTHONPATH": str(HOOK)}
    assert with_events({"PYTHONPATH": "/mine:/yours"}, FIFO, True)["PYTHONPATH"] == f"{HOOK}:/mine:/yours"
    assert "PYTHONPATH" not in with_events({}, FIFO, False)
    assert (HOOK / "sitecustomize.py").is_file()


def test_a_batch_size_that_the_study_gives_is_told_to_the_hook() -> None:
    """One of 1 is what every study has that says nothing."""
    assert with_events({}, FIFO, True, 64)["SIZER_BATCH_SIZE"] == "64"
    assert "SIZER_BATCH_SIZE" not in {**with_events({}, FIFO, True, 1), **with_events({}, FIFO, False, 64)}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["python", "train.py"], None),
        (["python3.11", "-I", "train.py"], "-I"),
        (["/usr/bin/python3", "-uE", "train.py"], "-E"),
        (["env", "A=1", "python", "-S", "-m", "train"], "-S"),
        (["python", "-W", "ignore", "-I", "train.py"], "-I"),
        (["python", "-X", "dev", "train.py", "-I"], None),
        (["python", "-c", "print('-I')", "-S"], None),
        (["python", "-m", "train", "-E"], None),
        (["python", "-Werror::Exception", "train.py"], None),
        (["python", "-cprint(1)", "-S"], None),
        (["python", "-"], None),
        (["python"], None),
        (["python", "--check-hash-based-pycs", "always", "-s", "-S", "x.py"], "-S"),
        (["pypy3", "-E", "x.py"], "-E"),
        (["bash", "-I", "run.sh"], None),
        ([], None),
    ],
)
def test_options_that_keep_the_hook_out(command: list[str], option: str | None) -> None:
    """Only Python's own, before the program's name."""
    assert shut_out_by(command) == option
