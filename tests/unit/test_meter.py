"""The three lines that a program tells its steps with, and the file that they come from."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from sizer import meter
from sizer.limits.users import run_user
from sizer.meter import EventWriter, Meter
from sizer.runner.child import EventFifo, event_fifo
from tests import ROOT

IN_THE_PROGRAM = [ROOT / "sizer/meter.py", *sorted((ROOT / "sizer/hook").glob("*.py"))]


@pytest.fixture
def fifo(monkeypatch: pytest.MonkeyPatch) -> Iterator[EventFifo]:
    for name in ("RANK", "WORLD_SIZE"):
        monkeypatch.delenv(name, raising=False)
    with event_fifo(run_user()) as opened:
        monkeypatch.setenv(meter.PATH_VARIABLE, str(opened.path))
        yield opened


def records(fifo: EventFifo) -> list[dict[str, Any]]:
    return [json.loads(line) for line in fifo.read().splitlines()]


def test_three_lines_tell_the_steps(fifo: EventFifo) -> None:
    """The unit, each step with its samples, and the end."""
    before = time.monotonic()
    with Meter(unit="image", batch_size=32) as counter:
        for samples in (None, 7):
            counter.step(samples)
    start, *steps, end = records(fifo)
    assert (start["event"], start["sample_unit"], start["batch_size"]) == ("start", "image", 32)
    rows = [row for step in steps for row in step["steps"]]
    assert [row[1:] for row in rows] == [[32, 0.0, 0], [7, 0.0, 0]]
    assert before - 1e-5 <= rows[0][0] <= rows[1][0] <= time.monotonic() + 1e-5
    assert end["event"] == "end"
    assert {record["pid"] for record in (start, *steps, end)} == {os.getpid()}


def test_nothing_happens_outside_sizer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the variable, and with one that leads nowhere."""
    monkeypatch.delenv(meter.PATH_VARIABLE, raising=False)
    with Meter() as counter:
        counter.step("many")  # type: ignore[arg-type]
    monkeypatch.setenv(meter.PATH_VARIABLE, str(tmp_path / "gone"))
    with Meter() as counter:
        counter.step()
    assert not list(tmp_path.iterdir())


def test_whatever_it_is_told_it_does_not_raise(fifo: EventFifo) -> None:
    """The program goes on."""
    with Meter(unit="\n" * 50, batch_size=-4) as counter:
        for samples, input_wait, epoch in [("many", 0, 0), (nan, nan, nan), (-1, -1, -1), (inf, inf, inf), (4, 2, 1)]:
            counter.step(samples, input_wait, epoch)  # type: ignore[arg-type]
    written = records(fifo)
    assert (written[0]["sample_unit"], written[0]["batch_size"]) == ("sample", 1)
    told_of = [step[1:] for record in written for step in record.get("steps", [])]
    assert told_of == [[1, 0.0, 0]] * 4 + [[4, 2.0, 1]]


def test_the_first_steps_are_told_soon(fifo: EventFifo) -> None:
    """A program that is killed after a moment has shown them."""
    counter = Meter()
    for _ in range(20):
        counter.step()
        time.sleep(0.01)
    assert sum(len(record.get("steps", [])) for record in records(fifo)) >= 5


def test_a_rank_stays_what_it_was(fifo: EventFifo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when the processes have parted before the last steps are written."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with Meter() as counter:
        counter.step()
        monkeypatch.delenv("RANK")
        counter.step()
    assert {(record["rank"], record["ranks"]) for record in records(fifo)} == {(1, 2)}


def test_an_exception_of_the_program_is_its_own(fifo: EventFifo) -> None:
    """What was counted until then is told."""

    def program() -> None:
        with Meter() as counter:
            counter.step()
            raise KeyError

    with pytest.raises(KeyError):
        program()
    assert records(fifo)[-1]["event"] == "end"


def test_records_are_short_and_few(fifo: EventFifo) -> None:
    """Each below PIPE_BUF; many steps come in one."""
    writer = EventWriter("torch")
    for number in range(1000):
        writer.step("train", (1e6 + number + 0.123456789, 10**18, 1e6 + 0.123456789, 10**6))
    writer.end()
    lines = fifo.read().splitlines()
    assert max(map(len, lines)) < 4096
    assert len(lines) < 1100
    assert sum(len(json.loads(line).get("steps", [])) for line in lines) == 1000


def test_a_full_fifo_holds_nobody_up_and_loses_no_sample(fifo: EventFifo) -> None:
    """What it does not take is told later; of very many steps neighbours are joined."""
    writer = EventWriter("torch")
    count = 60_000
    for number in range(count):
        writer.step("train", (number / count, 2, 0.5, 0))
        if number % 10_000 == 9_999:
            writer.flush()
    rows = []
    for _ in range(4):
        rows += [row for record in records(fifo) for row in record["steps"]]
        writer.flush()
    assert sum(row[1] for row in rows) == 2 * count
    assert sum(row[2] for row in rows) == count / 2
    assert rows == sorted(rows)


def test_a_descriptor_that_became_something_else_is_left_alone(fifo: EventFifo, tmp_path: Path) -> None:
    """A program that closes all that is open, and opens files of its own with these numbers."""
    writer = EventWriter("torch")
    writer.start("image", 1)
    descriptor = writer._descriptor
    with (tmp_path / "own.txt").open("wb") as own:
        os.dup2(own.fileno(), descriptor)
        writer.end()
        assert not (tmp_path / "own.txt").read_bytes()
        os.close(descriptor)
    assert [record["event"] for record in records(fifo)] == ["start", "end"]


def test_ranks_are_those_of_the_launcher(fifo: EventFifo, monkeypatch: pytest.MonkeyPatch) -> None:
    """torchrun tells them in the environment."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    EventWriter("torch").start("image", 1)
    (start,) = records(fifo)
    assert (start["rank"], start["ranks"]) == (1, 4)


def test_a_fork_tells_its_own_steps(fifo: EventFifo) -> None:
    """Not those that its parent still keeps."""
    with Meter() as counter:
        counter.step()
        counter.step()
        child = os.fork()
        if not child:
            counter.step()
            counter.__exit__()
            os._exit(0)
        os.waitpid(child, 0)
    counts: dict[int, int] = {}
    for record in records(fifo):
        counts[record["pid"]] = counts.get(record["pid"], 0) + len(record.get("steps", []))
    assert counts == {os.getpid(): 2, child: 1}


def test_nobody_has_to_write_and_nothing_is_left() -> None:
    """A FIFO that is only read; its folder goes with it."""
    with event_fifo(run_user()) as fifo:
        assert fifo.read() == b""
        folder = fifo.path.parent
    assert not folder.exists()


@pytest.mark.parametrize("path", IN_THE_PROGRAM, ids=lambda path: path.stem)
def test_what_runs_in_the_program_is_plain_python_3_8(path: Path) -> None:
    """Its grammar, and no import but of the standard library or its neighbours."""
    tree = ast.parse(path.read_text(), feature_version=(3, 8))
    neighbours = {module.stem for module in IN_THE_PROGRAM}
    for node in ast.walk(tree):
        names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | neighbours
        assert not isinstance(node, ast.Match)


@pytest.mark.parametrize("module", ["sizer.meter", "sizer_hook"])
def test_loading_it_loads_no_library(module: str) -> None:
    """Not numpy, nor anything else that is not Python's own; the finder, which every Python loads, nearly nothing."""
    code = (
        f"import sys; sys.path[:0] = ['sizer/hook', '.']; sys.dont_write_bytecode = True; before = set(sys.modules); "
        f"import sizer_finder; light = set(sys.modules) - before; import {module}; "
        "loaded = {name.split('.')[0] for name in set(sys.modules) - before}; "
        "print(sorted(light)); print(sorted(loaded - sys.stdlib_module_names))"
    )
    argv = [sys.executable, "-I", "-c", code]
    light, foreign = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert set(ast.literal_eval(light)) <= {"sizer_finder", "__future__"}
    own = {"sizer", "sizer_finder", "sizer_hook", "sizer_steps"}
    assert {name for name in ast.literal_eval(foreign) if not name.startswith("_")} <= own
