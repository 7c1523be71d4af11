"""What a run starts with: its command, its circumstances, and what samples it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from sizer.records.device import Device, GpuSample
from sizer.records.frameworks import FrameworkOptions, Variable
from sizer.records.messages import InputError
from sizer.records.run import Cause, CauseKind, DataSet, Sample
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner import circumstances
from sizer.runner.child import _read_now
from sizer.runner.circumstances import Room, asked_for_input, left_in_memory, missing_data, not_in_folder, shared_memory
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
from sizer.runner.sampling import Sampler
from sizer.words.failures import cause_in_words
from sizer.words.language import in_words
from sizer.words.warnings import warning_in_words

# What explains that a run failed, on files and disks as they may be found.


MakeSpec = Callable[..., RunSpec]


@pytest.fixture
def spec() -> RunSpec:
    return RunSpec(Workload("train", "image_training"), 8, Limits(1.0), Measure())


def sentences_of(causes: Iterable[Cause | None], spec: RunSpec) -> str:
    """What a person reads of them."""
    return "; ".join(cause_in_words(cause, spec) for cause in causes if cause is not None)


def folder(path: Path, files: int) -> DataSet:
    path.mkdir()
    for number in range(files):
        (path / str(number)).write_bytes(bytes(1000))
    return DataSet(str(path), "folder", 1000 * files, files, False)


def test_data_that_is_there_explains_nothing(spec: RunSpec, tmp_path: Path) -> None:
    """Nor does a run that reads none, or a data set that has grown."""
    data_set = folder(tmp_path / "data", 4)
    assert missing_data(None, spec) is None
    assert missing_data(data_set, spec) is None
    (tmp_path / "data" / "more").write_text("more")
    assert missing_data(data_set, spec) is None


def test_data_that_is_gone_is_named(spec: RunSpec, make_spec: MakeSpec, tmp_path: Path) -> None:
    """All of it, or a part; a command may remove files of its own."""
    data_set = folder(tmp_path / "data", 4)
    (tmp_path / "data" / "0").unlink()
    assert "only 2.93 KiB of 3.91 KiB are still there" in sentences_of([missing_data(data_set, spec)], spec)
    assert missing_data(data_set, make_spec("program")) is None
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    assert missing_data(data_set, make_spec("program")) is not None
    (tmp_path / "data").rmdir()
    assert f"{tmp_path}/data is no longer there: put it back" in sentences_of([missing_data(data_set, spec)], spec)


def full(*folders: Path) -> Callable[[Path], SimpleNamespace]:
    """A host on which the disks of these folders are full, and the others are not."""

    def statvfs(path: Path) -> SimpleNamespace:
        free = 0 if path in folders else 10**6
        return SimpleNamespace(f_bfree=free, f_bavail=free, f_frsize=4096, f_blocks=10**7, f_files=100, f_ffree=50)

    return statvfs


def test_a_full_disk_is_named(spec: RunSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it was seen to be full, whatever was removed again since."""
    room = Room(tmp_path, tmp_path)
    monkeypatch.setattr(circumstances.os, "statvfs", full())
    room.poll()
    assert room.want("") == ()
    monkeypatch.setattr(circumstances.os, "statvfs", full(tmp_path))
    room.poll()
    monkeypatch.setattr(circumstances.os, "statvfs", full())
    room.poll()
    assert "the disk under its scratch folder (TMPDIR) and its output" in sentences_of(room.want(""), spec)
    assert "was full: make room there" in sentences_of(room.want(""), spec)


def test_a_program_that_complains_is_believed(spec: RunSpec, tmp_path: Path) -> None:
    """A disk that was full only between two looks is known by the program's own words, and by a path in them."""
    room = Room(tmp_path, tmp_path)
    complaint = f"OSError: [Errno 28] {os.strerror(28)}"
    assert "a disk that it wrote to was full" in sentences_of(room.want(complaint), spec)
    assert "under its scratch folder" in sentences_of(room.want(f"{complaint}: '{tmp_path}/file'"), spec)
    assert room.want("something else") == ()


def test_what_came_into_shared_memory_is_told() -> None:
    """New files with what they take, a few by name; nothing where all was there before."""
    assert left_in_memory({"a": 5}, {"a": 4096}) is None
    cause = left_in_memory({"a": 5}, {"a": 5, "b": 2**20, "c": 2**20, "d": 0, "e": 0})
    assert cause is not None
    assert (
        warning_in_words([cause], "image")
        == "/dev/shm/b, /dev/shm/c, /dev/shm/d and 1 more, 2 MiB of memory; remove what no other program uses"
    )


def test_our_files_in_shared_memory_are_found() -> None:
    """By name, with the memory that they take."""
    path = circumstances.SHARED_MEMORY / f"sizer-test-{os.getpid()}"
    try:
        path.write_bytes(bytes(10_000))
        assert shared_memory()[path.name] == 12_288
    finally:
        path.unlink()


def test_a_file_that_the_command_names_and_its_folder_lacks(spec: RunSpec, tmp_path: Path) -> None:
    """Only one that the last words complain of; a program given as text is no path, however long."""
    missing = "python: can't open file '/tmp/x/train.py': [Errno 2] No such file or directory"
    cause = not_in_folder(("python", "train.py"), tmp_path, missing)
    assert "where train.py is not: give `cwd`" in sentences_of([cause], spec)
    assert not_in_folder(("python", "train.py"), tmp_path, "KeyError: 'x'") is None
    assert not_in_folder(("python", "/tmp/x/train.py"), tmp_path, missing) is None
    text = "import json\n" * 1000 + "open('a/b.txt')"
    assert not_in_folder(("python", "-c", text), tmp_path, text) is None
    long = "x" * 400 + ".py"
    assert not_in_folder(("python", long), tmp_path, long) is not None
    (tmp_path / "train.py").write_text("")
    assert not_in_folder(("python", "train.py"), tmp_path, missing) is None


@pytest.mark.parametrize(
    ("last_words", "in_a_line", "asked"),
    [
        ("Please answer yes or no: Please answer yes or no: ", True, True),
        ("what is it? nobody knows", False, False),
        ("loss 0.5, any or no data", False, False),
        ("x/y [y/x]", False, False),
    ],
)
def test_a_question_is_known_by_its_choice(last_words: str, in_a_line: bool, asked: bool) -> None:
    """Also where the program went on behind it."""
    assert (asked_for_input(last_words, in_a_line) is not None) is asked


PLACE = RunPaths(
    Path("/usr/bin/python3"), Path("/packages"), Path("/data/a.rec"), "recordio", Path("/scratch"), Path("/output")
)


def test_a_folder_that_is_gone_was_not_full(tmp_path: Path) -> None:
    """A mount that went away ends the run, and not by a full disk; its own last words are believed all the same."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    room = Room(scratch, scratch)
    scratch.rmdir()
    room.poll()
    assert room.want("segmentation fault") == ()
    assert room.want("OSError: No space left on device") == (Cause(CauseKind.DISK_FULL),)


def test_an_emulated_accelerator_without_a_rate_cannot_be_run() -> None:
    """Only a table of another's measurements may lack it."""
    workload = Workload("train", "image_training", network="resnet50", format="recordio")
    spec = RunSpec(replace(workload, device=Device("emulated", gpu="P100")), 32, Limits(1.0), Measure())
    with pytest.raises(InputError) as refused:
        argv(spec, PLACE, 8, 2**34)
    assert in_words(refused.value) == (
        "workload `train`: the emulated accelerator has no rate; write its samples_per_second."
    )


def test_an_empty_pipe_is_not_waited_for() -> None:
    """The run is watched further; what is written later is read later."""
    reading, writing = os.pipe2(os.O_NONBLOCK)
    try:
        assert _read_now(reading) == b""
        os.write(writing, b"{}")
        assert _read_now(reading) == b"{}"
    finally:
        os.close(reading)
        os.close(writing)


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
        (["python3.11", "-I", "train.py"], "-I"),
        (["env", "A=1", "python", "-S", "-m", "train"], "-S"),
        (["python", "-X", "dev", "train.py", "-I"], None),
        (["python", "-m", "train", "-E"], None),
        (["python", "-cprint(1)", "-S"], None),
        (["python", "-"], None),
        (["python"], None),
        (["python", "--check-hash-based-pycs", "always", "-s", "-S", "x.py"], "-S"),
        (["pypy3", "-E", "x.py"], "-E"),
        (["bash", "-I", "run.sh"], None),
    ],
)
def test_options_that_keep_the_hook_out(command: list[str], option: str | None) -> None:
    """Only Python's own, before the program's name."""
    assert shut_out_by(command) == option


# Samples over time, and what NVML tells.


class Counting:
    """A group that uses half a core."""

    def sample(self, time: float) -> Sample:
        return Sample(time=time, core_seconds=time / 2)


def test_each_tick_keeps_a_sample_with_the_clocks_time() -> None:
    """The clock is the caller's."""
    times = iter([10.0, 10.5, 11.0])
    sampler = Sampler(Counting(), lambda: next(times))
    ticks = [sampler.tick() for _ in range(3)]
    assert sampler.samples == ticks
    assert [(tick.time, tick.core_seconds, tick.accelerator_busy) for tick in ticks] == [
        (10.0, 5.0, None),
        (10.5, 5.25, None),
        (11.0, 5.5, None),
    ]


def test_a_sample_has_what_the_driver_told_last_of_each_gpu() -> None:
    """The accelerator's busy seconds are the sum of several, and not known where one of them is not."""
    clock = count(0.0, 2.0)
    states = [
        (GpuSample(busy=1.0),),
        (GpuSample(busy=1.0), GpuSample(busy=2.0)),
        (GpuSample(busy=1.0), GpuSample()),
        (),
    ]
    readings = iter(states)
    sampler = Sampler(Counting(), lambda: next(clock), lambda: next(readings))
    for _ in range(4):
        sampler.tick()
    assert [sample.accelerator_busy for sample in sampler.samples] == [1.0, 3.0, None, None]
    assert [sample.gpus for sample in sampler.samples] == states
