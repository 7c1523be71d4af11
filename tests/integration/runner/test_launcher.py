"""Each outcome with a real child under real limits."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from sizer.limits.backends.control_group import ControlGroup
from sizer.limits.detection import detect
from sizer.records.run import DataSet, Meter, MeterKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec
from sizer.runner.launcher import RunContext, launch
from sizer.runner.watching import UNWATCHED, Hooks
from sizer.words.failures import failure_in_words
from sizer.words.warnings import warning_line
from tests.control_groups import groups_of
from tests.shared import TELLS

pytestmark = [pytest.mark.root, pytest.mark.slow]


@pytest.fixture
def measure(make_spec: Callable[..., RunSpec], context: RunContext) -> Callable[..., Run]:
    """Launch a Python child with this body, after the preface that gives it `start` and `step`."""

    def measured(body: str, hooks: Hooks = UNWATCHED, processes: int = 4096, **asked: float) -> Run:
        child = TELLS + textwrap.dedent(body)
        around = replace(context, processes=processes)
        return launch(make_spec(sys.executable, "-c", child, **asked), around, detect(), hooks)

    return measured


def failure(run: Run) -> str:
    """Why a run did not complete, with its last words."""
    return "\n".join(filter(None, (failure_in_words(run), run.error.last_lines))) if run.error is not None else ""


def test_completed(measure: Callable[..., Run]) -> None:
    """A child that steps every 20 ms gives 400 samples/s, with its accounting and no group left behind."""
    run = measure("start()\nwhile True: step()", vcpus=1)
    assert run.outcome is Outcome.COMPLETED
    assert run.error is None
    # Less than 400 by what the host keeps it waiting, and at the least half of what all steps give, warm-up and all.
    counted = sum(step.samples for step in run.steps[1:])
    assert counted == 8 * (len(run.steps) - 1)
    assert counted / (run.steps[-1].time - run.steps[0].time) / 2 < run.throughput.value < 402
    assert run.demand.core_seconds is not None
    assert run.sample_unit == "image"
    assert run.memory.peak_anonymous_bytes is not None
    assert 2**20 < run.memory.peak_anonymous_bytes < 2**28
    assert run.limited_by.by_cpuset
    assert not groups_of(os.getpid())


LEAVE = """
        import glob, re, subprocess, threading
        from pathlib import Path
        def move(files):
            for file in glob.glob(f"/sys/fs/cgroup/*/{files}") + glob.glob(f"/sys/fs/cgroup/{files}"):
                try:
                    Path(file).write_text(str(threading.get_native_id()))
                except OSError:
                    pass
"""

ESCAPES = {
    "the program": "move('cgroup.procs')",
    "a thread of it": "t = threading.Thread(target=lambda: (move('tasks'), time.sleep(1000)), daemon=True); t.start()",
    "a limit": "Path('/sys/fs/cgroup/pids' + re.search('pids:(.*)', Path('/proc/self/cgroup').read_text())[1]"
    " + '/pids.max').write_text('max')",
}


@pytest.mark.parametrize("way", ESCAPES)
def test_what_leaves_its_limits_is_refused(measure: Callable[..., Run], way: str) -> None:
    """As root a program may move itself to any group, and write other limits; its rate would be taken for theirs."""
    if way != "the program" and not Path("/sys/fs/cgroup/pids").is_dir():
        pytest.skip("cgroup v2: no thread leaves alone, and another file is the limit")
    run = measure(
        LEAVE + f"        {ESCAPES[way]}\n        time.sleep(0.5); start()\n        while True: step()", seconds=1
    )
    assert run.outcome is Outcome.REFUSED
    assert failure_in_words(run).startswith("part of it was not under the limits of the run (")
    assert ("pids.max" in failure_in_words(run)) == (way == "a limit")


def test_a_daemon_that_forgets_where_it_comes_from_ends_with_its_run(measure: Callable[..., Run]) -> None:
    """Out of the group, without the parent, the session or a variable of the run."""
    nap = f"300.{os.getpid()}"
    daemon = f"exec env -i setsid sh -c 'sleep {nap} & exec sleep {nap}'"
    measure(
        LEAVE
        + f"""
        move("cgroup.procs")
        subprocess.run(["sh", "-c", {daemon!r} + " &"], stdin=subprocess.DEVNULL)
        start()
        for _ in range(20): step()
    """
    )
    assert not [process for process in psutil.process_iter() if nap in _words(process)]


def test_a_program_has_no_way_to_more_rights(measure: Callable[..., Run], context: RunContext) -> None:
    """Nor a descriptor but its output and the event pipe, nor more processes than it may have; its record says so."""
    run = measure(
        """
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        print(status["NoNewPrivs"].strip(), len(os.listdir("/proc/self/fd")) - 1, flush=True)
        start()
        while True: step()
        """,
        seconds=0.5,
    )
    assert run.outcome is Outcome.COMPLETED
    assert context.log_path.read_text() == "1 4\n"
    assert (run.limited_by.user, run.limited_by.processes, run.limited_by.own_mounts) == ("root", 4096, True)


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


HOG = "hog = [bytearray(2**20) for _ in range(200)]"
GRANDCHILD = f"import subprocess\nsubprocess.run([sys.executable, '-c', '{HOG}'])"
MANY = "import threading\nfor _ in range(30): threading.Thread(target=time.sleep, args=(10,), daemon=True).start()"
MANY += "\nwhile True: step()"
GARBAGE = "os.write(int(os.environ['SIZER_EVENTS_FD']), b'x' * 65536)"


@pytest.mark.parametrize(
    ("body", "asked", "outcome", "words"),
    [
        (f"{HOG}\nwhile True: step()", {"memory_bytes": 2**26}, Outcome.OUT_OF_MEMORY, ""),
        # The parent lives on and steps, but what it measures is no longer the whole workload.
        (f"{GRANDCHILD}\nwhile True: step()", {"memory_bytes": 2**26}, Outcome.OUT_OF_MEMORY, ""),
        ("step()\nraise SystemExit('the data is gone')", {}, Outcome.CRASHED, "the data is gone"),
        ("write(event='end')", {}, Outcome.CRASHED, "without enough steps"),
        (f"while True: {GARBAGE}", {}, Outcome.CRASHED, "invalid events"),
        ("while True: step()", {"vcpus": 4096}, Outcome.REFUSED, "4096"),
        (MANY, {"processes": 20}, Outcome.CRASHED, "it may have 20 (`max_processes` of the study)"),
    ],
)
def test_a_run_that_does_not_complete_says_why(
    measure: Callable[..., Run], body: str, asked: dict[str, Any], outcome: Outcome, words: str
) -> None:
    """With the last words of its log, and nothing left behind."""
    run = measure(f"start()\n{body}", **asked)
    assert (run.outcome, run.throughput) == (outcome, None)
    assert words in failure(run)
    assert not groups_of(os.getpid())


def test_timeout(measure: Callable[..., Run], context: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that hangs before its first step is stopped at the deadline, even if it ignores SIGTERM.

    The deadline is over as soon as it hangs, by the clock of this run.
    """
    monkeypatch.setattr("sizer.runner.watching.GRACE_SECONDS", 0.5)

    def clock() -> float:
        hangs = context.log_path.exists() and "hanging" in context.log_path.read_text()
        return time.monotonic() + 200 * hangs

    began = time.monotonic()
    run = measure(
        """
        import signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("hanging", flush=True)
        start()
        time.sleep(1000)
        """,
        Hooks(clock=clock),
        timeout=200.0,
    )
    assert run.outcome is Outcome.TIMEOUT
    assert "hanging" in failure(run)
    assert time.monotonic() - began < 190
    assert not groups_of(os.getpid())


def test_interrupted(measure: Callable[..., Run]) -> None:
    """A second Ctrl-C ends the run in hand. Whatever stops sizer at the first moment, it does not wait for a child that
    its group does not hold yet."""
    ticks = iter(range(1000))
    run = measure("start()\nwhile True: step()", Hooks(stop_now=lambda: next(ticks) >= 2), seconds=60)
    assert run.outcome is Outcome.INTERRUPTED

    def interrupted() -> bool:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        measure("start()\nwhile True: step()", Hooks(stop_now=interrupted), seconds=60)
    assert time.monotonic() - began < 50
    assert not groups_of(os.getpid())


def test_a_program_without_a_pattern_is_measured_by_its_progress_bar(
    make_spec: Callable[..., RunSpec], context: RunContext
) -> None:
    """A bar as tqdm draws it, over carriage returns on stderr: 40 batches, and a validation that is none."""
    body = """
import sys, time
due = time.monotonic()
for epoch in range(2):
    for name, total in (("train", 20), ("valid", 5)):
        for step in range(1, total + 1):
            due += 0.05
            time.sleep(max(0, due - time.monotonic()))
            bar = f"\\r{name}: {100 * step // total:3d}%|###  | {step}/{total} [00:00<00:01, 20.0it/s]"
            print(bar, end="\\n" if step == total else "", file=sys.stderr, flush=True)
"""
    run = launch(make_spec(sys.executable, "-c", body, seconds=60.0), context, detect())
    assert run.outcome is Outcome.COMPLETED, run.error
    assert run.meter == Meter(MeterKind.LOG, "tqdm")
    assert run.throughput is not None
    assert [step.samples for step in run.steps] == [0, *[8] * 39]


def test_data_is_evicted_before_the_run_and_told_of_when_it_goes(
    make_spec: Callable[..., RunSpec], context: RunContext, tmp_path: Path
) -> None:
    """A file that was in the page cache is read from the disk again, and the record says that none was resident. A rate
    that was measured while the data went carries a warning, and the next run is refused until they are back."""
    data = tmp_path / "data.bin"
    data.write_bytes(os.urandom(16 * 2**20))
    body = f"start()\nopen({str(data)!r}, 'rb').read()\nos.remove({str(data)!r})\nwhile True: step()"
    spec = make_spec(sys.executable, "-c", TELLS + body)
    around = replace(context, data_set=DataSet(str(data), "bin", 2**24, 0, False))
    run = launch(spec, around, detect())
    assert run.outcome is Outcome.COMPLETED
    assert run.conditions.resident_bytes == 0
    assert max(sample.read_bytes for sample in run.samples) >= 2**24
    assert any("data.bin is no longer there" in warning_line(warning, "") for warning in run.warnings)
    again = launch(spec, around, detect())
    assert again.outcome is Outcome.REFUSED
    assert "data.bin is no longer there: put it back" in failure(again)


def test_a_child_that_cannot_join_its_group_is_refused(
    measure: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is measured outside its limits."""
    command = ControlGroup.command

    def elsewhere(group: ControlGroup, argv: Sequence[str], report: int | None = None) -> list[str]:
        return [word.replace("cgroup.procs", "nothing/cgroup.procs") for word in command(group, argv, report)]

    monkeypatch.setattr(ControlGroup, "command", elsewhere)
    run = measure("start()\nwhile True: step()")
    assert run.outcome is Outcome.REFUSED
    assert "could not be put under its limits" in failure(run)


def test_a_command_that_is_too_long_is_refused_in_a_sentence(
    make_spec: Callable[..., RunSpec], context: RunContext
) -> None:
    """The kernel takes no word of more than 128 KiB."""
    run = launch(make_spec("/bin/echo", "x" * 200_000), context, detect())
    assert run.outcome is Outcome.REFUSED
    assert failure(run) == "The command cannot be started (Argument list too long); it may be too long"
