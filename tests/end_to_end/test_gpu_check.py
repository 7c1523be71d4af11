"""`script/gpu-check`, rehearsed on the CPU from the command to the table, and what is said where it cannot begin."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed"),
]

CHECK = (sys.executable, str(ROOT / "script/gpu-check"))


def words(folder: Path, minutes: str = "9") -> list[str]:
    return [*CHECK, "--device", "cpu", "--out", str(folder / "out"), "--minutes", minutes]


def begun_at(run: Path) -> str:
    return str(json.loads(run.read_text())["started_at"])


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "SIZER_CACHE": str(tmp_path / "cache")}


@pytest.mark.long
def test_an_interrupt_ends_it_with_the_table_and_the_same_command_goes_on(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    """A rehearsal on the CPU, interrupted when its first run is stored; nothing that was measured is measured again."""
    begun = subprocess.Popen(
        words(tmp_path),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # what runs in the background ignores it
    )
    runs = tmp_path / "out/study/runs"
    while begun.poll() is None and not any(runs.glob("*.json")):
        time.sleep(0.1)
    begun.send_signal(signal.SIGINT)
    shown, errors = begun.communicate()
    assert begun.returncode == 130, errors
    for left in (
        "not run: transformer",
        "not finished: the largest batch of train-fp32",
        "not run: the plain loop by sizer profile",
    ):
        assert left in shown
    first = {path.name: begun_at(path) for path in runs.glob("*.json")}
    done = subprocess.run(words(tmp_path), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert first.items() <= {path.name: begun_at(path) for path in runs.glob("*.json")}.items()
    table = (tmp_path / "out/table.txt").read_text()
    assert table in done.stdout
    assert not re.search("^not ", table, re.MULTILINE)
    for name in ("train", "lstm", "transformer", "train-fp32", "forward_backward-fp32", "plain-fp32"):
        assert re.search(rf"^{name} +\d+ +1 .* [\d.,]+ ", table, re.MULTILINE), name
    assert re.search(r"^sizer / plain: [\d.]+ to [\d.]+ of 2", table, re.MULTILINE)
    assert "Largest batch that held: 4." in table
    assert "Without a meaning on a CPU" in table
    assert (tmp_path / "out/study/report.html").exists()


def test_what_the_time_leaves_out_is_listed(tmp_path: Path, environment: dict[str, str]) -> None:
    """Nothing is begun after it."""
    done = subprocess.run(words(tmp_path, "0.01"), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "not run: the plain loop by sizer profile" in done.stdout
    assert "not run: the study" in done.stdout


def test_what_cannot_begin_is_one_sentence(tmp_path: Path) -> None:
    """With what to type next."""
    for asked, code, sentence in (
        (["--device", "gpu"], 2, "gpu is not cpu, nor a GPU such as cuda:0"),
        (["--minutes", "0"], 2, "0 is no number of minutes, such as 9"),
        (["--out", __file__], 2, f"--out {__file__} is not a folder"),
        (["--device", "cuda:99"], 3, "GPUs and no cuda:99; type `nvidia-smi`"),
    ):
        done = subprocess.run([*CHECK, *asked], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
        assert sentence in done.stderr
    assert not list(tmp_path.iterdir())
