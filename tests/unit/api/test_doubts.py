"""What the API says of doubts, of a GPU's too, and that fits side by side are those made alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from sizer import api
from sizer.api import preconditions
from sizer.api.preconditions import check_interpreters, doubts, doubts_of_gpu, lacks_driver
from sizer.host.gpus import has_driver
from sizer.host.interpreters import Interpreter
from sizer.model import fitting
from sizer.model.model import Model
from sizer.records.device import Device
from sizer.records.frameworks import FRAMEWORKS, Variable
from sizer.records.messages import InputError
from sizer.records.study import FrameworkPython, RunSpec, Study, Workload
from sizer.words.terminal import doubt_in_words
from tests.unit.host.fake_nvml import FakeGpu, FakeNvml

# What is known before runs are made to let them fail.


MakeSpec = Callable[..., RunSpec]


def doubts_of(spec: RunSpec, beside: Path | None = None, **changes: object) -> list[str]:
    """Each doubt, as it is said."""
    changed = replace(spec, workload=replace(spec.workload, **changes))  # type: ignore[arg-type]
    return [doubt_in_words(doubt) for doubt in doubts([changed], beside)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a program, which nobody is in."""
    (tmp_path / "there" / "train.py").parent.mkdir()
    (tmp_path / "there" / "train.py").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "there"


def test_a_file_beside_the_study_file_needs_a_folder(make_spec: MakeSpec, folder: Path) -> None:
    """The command starts in an empty one, unless it is told otherwise."""
    spec = make_spec("sh", "train.py")
    assert doubts_of(spec, folder) == [
        "workload `job`: its command starts in an empty temporary folder, where train.py is not; give `cwd: .`"
    ]
    assert doubts_of(spec, folder, cwd=str(folder)) == []
    assert doubts_of(spec, folder.parent) == []
    assert doubts_of(make_spec("sh", str(folder / "train.py")), folder) == []
    assert doubts_of(make_spec("sh", "-c", "x" * 300), folder) == []
    assert doubts_of(make_spec("sh", "-c", "x\n" * 100_000), folder) == []


def test_a_file_in_the_present_folder_needs_it_by_its_path(
    make_spec: MakeSpec, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where the study file lies, another folder has another name."""
    monkeypatch.chdir(folder)
    assert doubts_of(make_spec("sh", "train.py"), folder.parent)[0].endswith(f"give `cwd: {folder}`")
    assert doubts_of(make_spec("sh", "train.py"))[0].endswith(f"give `cwd: {folder}`")


def test_a_user_that_runs_cannot_be_made_as_is_said_before(make_spec: MakeSpec) -> None:
    """As the runs would say, which are refused for it."""
    (doubt,) = doubts([make_spec("true")], run_as="no-such-user")
    assert doubt_in_words(doubt) == (
        "workload `job`: will not run: This host has no user no-such-user; write another one as `run_as`."
    )


def test_programs_that_are_not_there_are_named(make_spec: MakeSpec) -> None:
    """Those of `setup` and `before`, too; one that a run fills in is not known yet."""
    spec = make_spec("no-such-one")
    assert doubts_of(spec, setup=("no-such-two", "-x"), before=("no-such-three",)) == [
        "workload `job`: no-such-two, the program of its `setup`, was not found; give its path",
        "workload `job`: no-such-three, the program of its `before`, was not found; give its path",
        "workload `job`: the program no-such-one was not found; give its path",
    ]
    assert doubts_of(make_spec("sh"), before=("{scratch}/prog",), setup=("sh", "-c", "true")) == []


def test_a_variable_to_pass_on_that_is_not_set_is_named(make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name with a star may stand for none."""
    monkeypatch.setenv("SET_HERE", "1")
    assert doubts_of(make_spec("sh"), pass_env=("SET_HERE", "NOT_SET_HERE", "NOT_SET_*")) == [
        "workload `job`: NOT_SET_HERE of its `pass_env` is not set here; set it, or leave it out"
    ]


def trained(spec: RunSpec, name: str, framework: str) -> RunSpec:
    """The spec of one of sizer's own workloads."""
    return replace(spec, workload=Workload(name, "image_training", framework, "resnet50"))


def test_workloads_of_a_framework_that_is_not_installed_are_named_together(
    make_spec: MakeSpec, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the command that installs it; the others are none of it."""
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(bare))
    monkeypatch.delenv("SIZER_MXNET_PYTHON", raising=False)
    specs = [trained(make_spec(), name, framework) for name, framework in (("a", "pytorch"), ("b", "pytorch"))]
    assert [doubt_in_words(doubt) for doubt in doubts([*specs, trained(make_spec(), "c", "tensorflow")])] == [
        "workload `c`: will not run: sizer has no program on tensorflow; measure your own with `kind: command`, "
        "which reads its log",
        f"workloads `a` and `b`: will not run: {bare} has no torch, numpy or opencv-python-headless; type: {bare} "
        "-m pip install torch==2.13.0 numpy opencv-python-headless simplejpeg lmdb",
    ]
    assert doubts(specs, named=[FrameworkPython("pytorch", str(bare))]) == []


def test_an_interpreter_of_the_study_is_started_to_see_whether_it_can(
    make_spec: MakeSpec, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And only one that a run uses."""
    monkeypatch.delenv("SIZER_MXNET_PYTHON", raising=False)
    study = Study("s", (), frameworks=(FrameworkPython("pytorch", str(bare), "s.yaml", 3),))
    own, torch = trained(make_spec(), "a", "mxnet"), trained(make_spec(), "b", "pytorch")
    assert check_interpreters([own, make_spec("sh")], study) == {"mxnet": Path(sys.executable)}
    with pytest.raises(InputError, match=r"s.yaml line 3: `python` of `pytorch` in `frameworks`: .*/bare has no torch"):
        check_interpreters([own, torch], study)
    making = replace(study, frameworks=(FrameworkPython("opencv", str(bare), "s.yaml", 4),))
    with pytest.raises(InputError, match=r"s.yaml line 4: `python` of `opencv` in `frameworks`: .*/bare has no opencv"):
        check_interpreters([own], making)
    assert check_interpreters([make_spec("sh")], making) == {}


def test_a_network_whose_package_is_not_there_is_doubted(
    make_spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its workload alone; where the study names the interpreter, it is an error with the line."""
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    monkeypatch.setenv("SIZER_PYTORCH_PYTHON", str(python))
    has = Interpreter(python, "3.11.7", {"torch": "2.13.0"}, frozenset(FRAMEWORKS["pytorch"].modules))
    monkeypatch.setattr(preconditions, "examined", lambda *_: has)
    ours = replace(make_spec("sh").workload, kind="image_training", framework="pytorch", command=())
    specs = [
        replace(make_spec("sh"), workload=replace(ours, name=network, network=network))
        for network in ("resnet50", "vit_b16")
    ]
    problem = f"{python} has no transformers, which makes vit_b16; type: {python} -m pip install 'transformers>=5,<6'"
    assert [doubt_in_words(doubt) for doubt in doubts(specs)] == [f"workload `vit_b16`: will not run: {problem}"]
    assert doubts(specs[:1]) == []
    study = Study("s", (), frameworks=(FrameworkPython("pytorch", str(python), "s.yaml", 3),))
    with pytest.raises(InputError) as error:
        check_interpreters(specs, study)
    assert str(error.value) == f"s.yaml line 3: `python` of `pytorch` in `frameworks`: {problem}."
    assert check_interpreters(specs[:1], study) == {"pytorch": python}


# A GPU that a workload will not find is said before anything is measured, in one sentence.


TRAIN = Workload("train", "image_training", "pytorch", device=Device("cuda", 1))
PRESENT = (FakeGpu("GPU-aaaa"), FakeGpu("GPU-bbbb"))


def gpu_said(workload: Workload, count: int = 1) -> list[str]:
    return [doubt_in_words(doubt) for doubt in doubts_of_gpu(workload, count)]


def test_without_a_driver_one_sentence_says_so() -> None:
    """This machine's own library is asked."""
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    assert gpu_said(TRAIN) == [
        "workload `train`: this host has no GPU 1, since NVIDIA's driver is not installed or does not answer; type "
        "`nvidia-smi` to see why, or use cpu or an emulated one"
    ]
    assert gpu_said(replace(TRAIN, device=Device())) == []


def test_a_program_needs_cuda_and_not_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have the one without the other: the program runs, and it is said what will not be known."""
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    own = replace(TRAIN, kind="command", command=("train",), device=Device("cuda", 0))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert lacks_driver(own)
    monkeypatch.setattr("sizer.api.preconditions.cuda_gpus", lambda: 1)
    assert not lacks_driver(own)
    (sentence,) = gpu_said(own)
    assert sentence.startswith("workload `train`: NVML is not here, so nothing will be known of its GPU's use")
    second = replace(own, device=Device("cuda", 1))
    assert gpu_said(second)[1:] == ["workload `train`: this host has no GPU 1; use cpu or an emulated one"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "CUDA_VISIBLE_DEVICES=0 leaves it no GPU 1" in gpu_said(second)[1]


def test_a_gpu_that_is_there_and_shown_is_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As CUDA counts it, which need not be as the driver does."""
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.setattr("sizer.api.preconditions.gpus_seen", lambda *_: ("V100", "V100"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert gpu_said(TRAIN) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert gpu_said(TRAIN) == []


def test_an_index_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted from 0."""
    FakeNvml(*PRESENT).install(monkeypatch)
    third = replace(TRAIN, device=Device("cuda", 2))
    assert gpu_said(third) == ["workload `train`: this host has no GPU 2; use cpu or an emulated one"]
    assert gpu_said(TRAIN, count=2) == gpu_said(third)


def test_a_gpu_that_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """By our environment, or by what the study sets for the workload."""
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    sentence = (
        "workload `train`: CUDA_VISIBLE_DEVICES=1 leaves it no GPU 1; change or unset it, or use cpu or an emulated one"
    )
    assert gpu_said(TRAIN) == [sentence]
    monkeypatch.setattr("sizer.api.preconditions.gpus_seen", lambda *_: ("V100", "V100"))
    assert gpu_said(replace(TRAIN, env=(Variable("CUDA_VISIBLE_DEVICES", "0,1"),))) == []


def test_a_framework_that_does_not_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build for CPUs that is installed here, beside a driver that is a double; a command is not asked."""
    pytest.importorskip("torch")
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("SIZER_PYTORCH_PYTHON", raising=False)
    assert gpu_said(TRAIN) == [
        "workload `train`: its framework does not see the GPU 1, which the driver has; install a build of it for GPUs "
        f"into {sys.executable} (docs/accelerators.md), or use cpu or an emulated one"
    ]
    assert gpu_said(replace(TRAIN, kind="command", command=("train",))) == []


# Several workloads are fitted in processes of their own: the same models, and nothing is left of an ended sizer.


JOBS = ("read", "train", "infer")
TABLE = "workload,vcpus,throughput\n" + "".join(
    f"{job},{vcpus},{vcpus * (10 + number)}\n" for number, job in enumerate(JOBS) for vcpus in (1, 2, 3, 4, 6)
)

SLOW = """
import os, sys, time
from sizer import api
from sizer.model import fitting

def slow(*_):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)

os.sched_getaffinity = lambda _: {0, 1}
fitting.fit = slow
api.import_table(sys.argv[1], sys.argv[2])
"""


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Model]:
    (tmp_path / "table.csv").write_text(TABLE)

    def fitted(name: str) -> Model:
        api.import_table(tmp_path / "table.csv", tmp_path / name)
        return api.fit(api.open_study(tmp_path / name))

    return fitted


def test_models_do_not_depend_on_where_they_are_fitted(
    model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here on one CPU, in two processes on two, and again here where a process is killed, as for want of memory."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    here = model("here")
    assert [workload.name for workload in here.workloads] == list(JOBS)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert model("side-by-side") == here
    this, fit = os.getpid(), fitting.fit
    monkeypatch.setattr(
        fitting, "fit", lambda *given: fit(*given) if os.getpid() == this else os.kill(os.getpid(), signal.SIGKILL)
    )
    assert model("killed") == here


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_sizer(tmp_path: Path, ending: signal.Signals) -> None:
    """Ctrl-C waits for no more than the fits that have begun: each has 600 s here, and is told to end."""
    (tmp_path / "table.csv").write_text(TABLE)
    words = [sys.executable, "-c", SLOW, str(tmp_path / "table.csv"), str(tmp_path / "study")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        workers = [int(program.stdout.readline()) for _ in range(2)]
        program.send_signal(ending)
        assert program.wait(60) != 0
    until = time.monotonic() + 60
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(lives, workers))


def test_processes_of_the_calling_program_are_its_own(
    model: Callable[[str], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends the fits: only their processes are ended."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    this, context = os.getpid(), get_context("fork")
    monkeypatch.setattr(
        fitting, "fit", lambda *_: 1 // 0 if os.getpid() == this else os.kill(os.getpid(), signal.SIGKILL)
    )
    own = context.Process(target=time.sleep, args=(600,))
    own.start()
    try:
        with pytest.raises(ZeroDivisionError):
            model("interrupted")
        own.join(0.5)  # a signal is on its way
        assert own.is_alive()
    finally:
        own.kill()
        own.join()


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
