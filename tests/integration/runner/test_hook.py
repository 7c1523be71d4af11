"""The hook counts what programs count themselves, to the step, through a whole run under limits."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from sizer.analysis.monitor import Live
from sizer.records.run import CauseKind, Meter, MeterKind, Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.runner.watching import Hooks

pytestmark = [pytest.mark.root, pytest.mark.slow]

PROGRAMS = Path(__file__).parent / "programs"
TORCH_PYTHON = os.environ.get("SIZER_TEST_TORCH_PYTHON", sys.executable)
LOG_OF_WORDS = r"rate (?P<rate>\d+)"
LONG = pytest.mark.long


@cache
def has_torch() -> bool:
    argv = [TORCH_PYTHON, "-c", "import importlib.util as u; raise SystemExit(u.find_spec('torch') is None)"]
    return subprocess.run(argv, check=False).returncode == 0


@pytest.fixture
def torch() -> str:
    if not has_torch():
        pytest.skip("PyTorch is not installed; SIZER_TEST_TORCH_PYTHON may name an interpreter that has it")
    return TORCH_PYTHON


@pytest.fixture
def measure(measure: Callable[..., Run]) -> Callable[..., Run]:
    """Launch a command until it ends by itself."""
    return partial(measure, seconds=600.0, pattern=None, batch_size=1)


def counted(folder: Path) -> tuple[int, int]:
    """Steps and samples that the program counted, by its log."""
    counts = re.findall(r"counted (\d+) (\d+)", (folder / "run.log").read_text())
    assert counts, (folder / "run.log").read_text()
    return int(counts[0][0]), int(counts[0][1])


def steps_and_samples(run: Run) -> tuple[int, int]:
    return len(run.steps), sum(step.samples for step in run.steps)


def variants(first: int, *ways: tuple[object, ...]) -> list[Any]:
    """The first of them, and those after it as rare variants."""
    return [*ways[:first], *(pytest.param(*way, marks=LONG) for way in ways[first:])]


TORCH = [("plain", 2), ("infer", 0)] + [(way, 0) for way in ("two", "accumulate", "evaluate", "again", "beside", "own")]


@pytest.mark.parametrize(("way", "workers"), variants(1, *TORCH))
def test_torch(measure: Callable[..., Run], torch: str, tmp_path: Path, way: str, workers: int) -> None:
    """Loops of every kind, with evaluations between epochs and, for one, in them."""
    run = measure(torch, str(PROGRAMS / "torch_program.py"), way, str(workers))
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.meter == Meter(MeterKind.HOOK, "torch")
    assert steps_and_samples(run) == counted(tmp_path)
    assert max(step.epoch for step in run.steps) == (0 if way in ("infer", "again") else 2)


SHAPES = [("yolo", "sample"), ("alone", "step"), ("picture", "step")] + [
    (way, "sample") for way in ("one", "detectron2", "mmengine", "buckets", "batches")
]


@pytest.mark.parametrize(("way", "unit"), variants(2, *SHAPES))
def test_loaders_of_every_shape(measure: Callable[..., Run], torch: str, tmp_path: Path, way: str, unit: str) -> None:
    """To the sample, last batches too; where nobody names a size and the arrays do not agree, to the step, and said."""
    run = measure(torch, str(PROGRAMS / "torch_loaders.py"), way)
    assert run.outcome is Outcome.COMPLETED, run.error
    assert steps_and_samples(run) == counted(tmp_path)
    assert run.sample_unit == unit
    assert (WarningKind.SAMPLES_NOT_SEEN in {warning.kind for warning in run.warnings}) == (unit == "step")


@pytest.mark.parametrize(
    ("option", "way", "size"), variants(1, ("samples_per_step", "yolo", 5), ("batch_size", "alone", 8))
)
def test_the_study_says_how_many_samples_a_step_has(
    measure: Callable[..., Run], torch: str, option: str, way: str, size: int
) -> None:
    """Its batch size where no loader names one; its samples per step whatever the loader names."""
    run = measure(torch, str(PROGRAMS / "torch_loaders.py"), way, **{option: size})
    assert run.outcome is Outcome.COMPLETED, run.error
    assert ({step.samples for step in run.steps}, run.sample_unit) == ({size}, "sample")
    assert WarningKind.SAMPLES_NOT_SEEN not in {warning.kind for warning in run.warnings}


def test_torchrun(measure: Callable[..., Run], torch: str, tmp_path: Path) -> None:
    """Two processes of a process, which share no descriptor with us: a step of theirs is one of the job."""
    launcher = [torch, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", "29517"]
    run = measure(*launcher, str(PROGRAMS / "torch_ranks.py"))
    assert run.outcome is Outcome.COMPLETED, run.error
    assert steps_and_samples(run) == counted(tmp_path)


@pytest.mark.parametrize(("way", "workers"), variants(2, ("gluon", 2), ("module", 0), ("gluon", 0)))
def test_mxnet(measure: Callable[..., Run], tmp_path: Path, way: str, workers: int) -> None:
    """gluon with its loaders, and a Module that reads a DataIter.

    On one vCPU, so one thread each: of more, those of a loader's workers do nothing but spin.
    """
    run = measure(sys.executable, str(PROGRAMS / "mxnet_program.py"), way, str(workers), vcpus=1)
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.meter == Meter(MeterKind.HOOK, "mxnet")
    assert steps_and_samples(run) == counted(tmp_path)


PRINTED = """
    import sys, time
    for _ in range(50):
        time.sleep(0.01)
        print("rate 7000", "sizer_finder" in sys.modules, flush=True)
"""


@pytest.mark.parametrize(
    ("options", "meter", "loaded"), [([], "log", False), ([], "hook", True), (["-I"], "hook", False)]
)
def test_the_log_is_read_where_the_hook_sees_nothing(
    measure: Callable[..., Run], tmp_path: Path, options: list[str], meter: str, loaded: bool
) -> None:
    """It can be switched off, and where Python passes over it, the run says why."""
    code = textwrap.dedent(PRINTED)
    run = measure(sys.executable, *options, "-c", code, meter=meter, pattern=LOG_OF_WORDS)
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.meter == Meter(MeterKind.LOG, "pattern")
    assert f"rate 7000 {loaded}" in (tmp_path / "run.log").read_text()
    texts = [warning.text for warning in run.warnings if warning.kind is WarningKind.NOT_HOOKED]
    assert texts == options


def test_a_framework_where_the_hook_was_kept_out(measure: Callable[..., Run], torch: str, tmp_path: Path) -> None:
    """It is seen from outside, whatever stands between the command and Python."""
    looked, left = tmp_path / "looked", [3]

    def watch(_: Live) -> None:
        """Let the program end once sizer has looked so often at it after it has begun to print."""
        left[0] -= "rate" in (tmp_path / "run.log").read_text()
        if left[0] <= 0:
            looked.touch()

    code = f"import os, time, torch\nwhile not os.path.exists({str(looked)!r}):\n print('rate 7000'); time.sleep(0.1)"
    command = ("sh", "-c", f'"{torch}" -I -c "{code}"; exit 0')
    run = measure(*command, meter="hook", pattern="no such line (?P<rate>.)", hooks=Hooks(watch=watch))
    assert CauseKind.HOOK_KEPT_OUT in [cause.kind for cause in run.error.reasons]


OWN = """
    import sys
    print("own", getattr(sys, "own_sitecustomize", None), [entry for entry in sys.path if entry.endswith("sizer/hook")])
    import sitecustomize
    print(sitecustomize.__file__)
"""


def test_the_users_own_sitecustomize_runs(
    measure: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the program finds its path as it would be without us."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("import sys\nsys.own_sitecustomize = True\n")
    monkeypatch.setenv("PYTHONPATH", str(own))
    measure(sys.executable, "-c", textwrap.dedent(OWN))
    log = (tmp_path / "run.log").read_text()
    assert "own True []" in log
    assert str(own / "sitecustomize.py") in log
