"""The largest batch that fits is searched for when the study asks for it, by the real thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.conftest import BEAT, Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

MIB = 2**20
CAP = 192 * MIB
EACH = 16 * MIB
"""What the child holds for each sample of its batch, every page of it touched."""
INTERPRETER = 15 * MIB
"""The most that a bare Python needs beside it, with the kernel's own for the process."""


@pytest.fixture
def folder(folder: Path) -> Path:
    """The child holds so much for each sample and takes 20 ms and 2 ms a sample for a step."""
    child = folder / "child.py"
    written = child.read_text().replace("batch_size=8", "batch_size=size").replace("samples=8", "samples=size")
    written = written.replace(BEAT, f"{BEAT} + 0.002 * size")
    child.write_text(f"import sys\nsize = int(sys.argv[1])\nheld = bytearray(b'x') * ({EACH} * size)\n{written}")
    study = folder / "study.yaml"
    study.write_text(
        study.read_text()
        .replace("command: [child]", "command: [child, '{batch_size}']")
        .replace("axes: {vcpus: [0.5, 1, 2]}", "axes: {vcpus: 1, memory: 192MiB}\n    batch_size: [2, 4, 8]")
        + "    largest_batch: true\n"
    )
    return folder


def test_the_largest_batch_is_found_and_goes_on_after_a_kill(sizer: Typed, folder: Path) -> None:
    """Within a tenth, with whose memory ran out, in the terminal and in the JSON; a run that was lost is made again."""
    planned = sizer("run", "study.yaml", "--dry-run").stdout
    assert "runs to find the largest batch of `job` that fits, up to 16384" in planned

    done = sizer("run", "study.yaml")
    assert done.returncode == 0, done.stderr
    runs = json.loads(sizer("export", "study", "--format", "json").stdout)
    tried = {run["spec"]["batch_size"]: run["outcome"] for run in runs}
    held = max(size for size, outcome in tried.items() if outcome == "completed")
    killed = min(size for size, outcome in tried.items() if outcome == "out_of_memory")
    assert held < killed <= max(1.1 * held, held + 1)
    assert held * EACH < CAP
    assert killed * EACH > CAP - INTERPRETER
    assert {run["error"]["where"] for run in runs if run["outcome"] == "out_of_memory"} == {"host"}
    sentence = f"the largest batch that fits 192 MiB is {held}; {killed} ran out of memory"
    assert sentence in done.stderr

    answered = sizer("recommend", "study")
    assert sentence.capitalize().replace(" mib", " MiB") in answered.stdout
    (answer,) = json.loads(sizer("recommend", "study", "--json").stdout)["workloads"]
    largest, curve = answer["batch"]["largest"], answer["batch"]["curves"][0]
    assert (largest["batch_size"], largest["too_large"], largest["where"]) == (held, killed, "host")
    assert [point["batch_size"] for point in curve["points"]] == [2, 4, 8]
    assert curve["launch"]["low"] <= 0.025
    assert curve["launch"]["high"] >= 0.02
    assert "Which batch size?" in (folder / "study/report.html").read_text()

    stored = {path: json.loads(path.read_text()) for path in (folder / "study/runs").iterdir()}
    max(stored, key=lambda path: str(stored[path]["started_at"])).unlink()
    again = sizer("resume", "study")
    assert again.returncode == 0, again.stderr
    assert "finished already" not in again.stderr
    assert sentence in again.stderr
    assert len(json.loads(sizer("export", "study", "--format", "json").stdout)) == len(runs)
    assert "finished already" in sizer("resume", "study").stderr
