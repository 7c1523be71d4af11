"""A program that starts slowly and holds memory: its time is foretold by what was seen, and two caps are an answer."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

PROGRAM = """
import sys, time
from sizer.meter import Meter

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

held = bytearray(int(sys.argv[1]) << 20)
for at in range(0, len(held), 4096):
    held[at] = 1
burn(float(sys.argv[2]))
with Meter(unit="image", batch_size=4) as meter:
    while True:
        burn(0.02)
        meter.step()
"""


def study(folder: Path, megabytes: int, seconds: float, axes: str) -> None:
    (folder / "train.py").write_text(PROGRAM)
    (folder / "study.yaml").write_text(
        textwrap.dedent(
            f"""\
            workloads:
              - name: mine
                kind: command
                command: [{sys.executable}, {folder}/train.py, "{megabytes}", "{seconds}"]
                pass_env: PYTHONPATH
            axes: {axes}
            measure: {{repeats: 1, seconds: 1, precision: 0.05}}
            """
        )
    )


def test_two_memory_caps_are_an_answer_everywhere(tmp_path: Path, typed: Typed) -> None:
    """It runs in 512 MiB and not in 64 MiB: the terminal, recommendation.json and the page say the same."""
    study(tmp_path, 150, 0.1, "{vcpus: [1], memory: [64MiB, 512MiB]}")
    assert typed("run", "study.yaml", "--out", "s").returncode == 0
    sentence = "with 64 MiB it ran out of memory, with 512 MiB it completed."
    rate = "It completed in 512 MiB alone"
    said = typed("recommend", "s")
    assert said.returncode == 0
    assert rate in " ".join(said.stdout.split())
    (answer,) = json.loads((tmp_path / "s" / "recommendation.json").read_text())["workloads"]
    assert (answer["status"], answer["provisional"]) == ("recommended", True)
    assert any(sentence in reason for reason in answer["reasons"])
    assert any(rate in reason for reason in answer["reasons"])
    page = (tmp_path / "s" / "report.html").read_text()
    assert sentence in page
    assert rate in page
    small = json.loads(typed("predict", "s", "--memory", "64MiB", "--json").stdout)["predictions"][0]
    assert (small["throughput"], small["bottleneck"]) == (0.0, "memory")
