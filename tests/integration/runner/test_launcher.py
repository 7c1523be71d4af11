"""Each outcome with a real child under real limits."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from sizer.limits.affinity import AffinityBackend, AffinityGroup
from sizer.limits.control_group import ControlGroup
from sizer.limits.detection import detect
from sizer.limits.identity import owned_name
from sizer.limits.interface import Group, Throttle
from sizer.limits.machine import read_machine
from sizer.limits.tree import Tree
from sizer.records.errors import HostError
from sizer.records.run import DataSet, LimitedBy, LimitedByKind, Meter, MeterKind, Outcome, Run, WarningKind
from sizer.records.study import Limits, RunSpec
from sizer.runner.launcher import RunContext, launch
from sizer.runner.watching import UNWATCHED, Hooks
from sizer.words.failures import failure_in_words
from sizer.words.warnings import warning_line
from tests.control_groups import groups_of

pytestmark = [pytest.mark.root, pytest.mark.slow]

PREFACE = """
    import json, os, sys, time
    descriptor = int(os.environ["SIZER_EVENTS_FD"])
    def write(**fields):
        os.write(descriptor, (json.dumps(fields) + "\\n").encode())
    def start():
        write(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
    def step(seconds=0.02):
        time.sleep(seconds)
        write(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)
"""


@pytest.fixture
def measure(make_spec: Callable[..., RunSpec], context: RunContext) -> Callable[..., Run]:
    """Launch a Python child with this body, after the preface that gives it `start` and `step`."""

    def measured(body: str, hooks: Hooks = UNWATCHED, processes: int = 4096, **asked: float) -> Run:
        child = textwrap.dedent(PREFACE) + textwrap.dedent(body)
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
    assert run.throughput is not None
    # Less than 400 by what the host keeps it waiting, and at the least half of what all steps give, warm-up and all.
    counted = sum(step.samples for step in run.steps[1:])
    assert counted == 8 * (len(run.steps) - 1)
    assert counted / (run.steps[-1].time - run.steps[0].time) / 2 < run.throughput.value < 402
    assert run.demand is not None
    assert run.demand.core_seconds is not None
    assert run.sample_unit == "image"
    assert run.peak_anonymous_bytes is not None
    assert 2**20 < run.peak_anonymous_bytes < 2**28
    assert run.limited_by is not None
    assert run.limited_by.by_cpuset
    assert not groups_of(os.getpid())


def test_a_child_that_ends_by_itself_is_completed(measure: Callable[..., Run]) -> None:
    """A program that has only so much to do is measured over what it did."""
    run = measure("start()\nfor _ in range(20): step()\nwrite(event='end')", seconds=60)
    assert run.outcome is Outcome.COMPLETED
    assert run.stopped == "ended"


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


def test_a_program_that_stops_what_stands_above_it_ends_with_its_run(measure: Callable[..., Run]) -> None:
    """Nothing of the two is left behind."""
    run = measure("import signal\nos.kill(os.getppid(), signal.SIGSTOP)\nstart()\nwhile True: step()", seconds=0.5)
    assert run.outcome is Outcome.COMPLETED
    assert WarningKind.LEFT_BEHIND not in [warning.kind for warning in run.warnings]


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
    assert run.limited_by is not None
    assert (run.limited_by.user, run.limited_by.processes, run.limited_by.own_mounts) == ("root", 4096, True)


def test_a_program_that_wants_too_many_processes_is_told(measure: Callable[..., Run]) -> None:
    """Of a run that fails for it, that is the reason."""
    run = measure(
        """
        import threading
        start()
        for _ in range(30):
            threading.Thread(target=time.sleep, args=(10,), daemon=True).start()
        while True: step()
        """,
        processes=20,
    )
    assert run.outcome is Outcome.CRASHED
    assert "it was refused a process or thread: it may have 20 (`max_processes` of the study)" in failure(run)


def test_what_is_mounted_in_a_run_is_gone_after_it(measure: Callable[..., Run], tmp_path: Path) -> None:
    """Nobody else saw it, and the data that it showed are as they were."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "a").write_text("precious")
    run = measure(
        f"""
        import subprocess
        for name, words in (("d", ["--bind", {str(data)!r}]), ("t", ["-t", "tmpfs", "none"])):
            place = os.path.join(os.environ["TMPDIR"], name)
            os.mkdir(place)
            subprocess.run(["mount", *words, place], check=True)
        assert os.listdir(os.path.join(os.environ["TMPDIR"], "d")) == ["a"]
        start()
        while True: step()
        """,
        seconds=0.5,
    )
    assert run.outcome is Outcome.COMPLETED, failure(run)
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()
    assert (data / "a").read_text() == "precious"


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def test_what_a_child_leaves_in_shared_memory_is_told(measure: Callable[..., Run]) -> None:
    """It takes memory when all processes are gone, so the run says which files came while it ran."""
    path = Path(f"/dev/shm/sizer-test-{os.getpid()}")
    try:
        run = measure(f"open({str(path)!r}, 'w').write('x' * 5000)\nstart()\nfor _ in range(20): step()", seconds=60)
    finally:
        path.unlink()
    assert run.outcome is Outcome.COMPLETED
    assert any(each.kind is WarningKind.MEMORY_LEFT and str(path) in str(each.text) for each in run.warnings)


def test_out_of_memory(measure: Callable[..., Run]) -> None:
    """A child over its cap is a finding: out_of_memory, and its peak is near the cap."""
    run = measure("start()\nhog = [bytearray(2**20) for _ in range(200)]\nwhile True: step()", memory_bytes=64 * 2**20)
    assert run.outcome is Outcome.OUT_OF_MEMORY
    assert run.throughput is None
    assert not groups_of(os.getpid())


def test_a_killed_grandchild_is_out_of_memory_too(measure: Callable[..., Run]) -> None:
    """The parent lives on and steps, but what it measures is no longer the whole workload."""
    run = measure(
        """
        import subprocess
        start()
        hog = subprocess.Popen([sys.executable, "-c", "x = [bytearray(2**20) for _ in range(200)]"])
        hog.wait()
        while True: step()
        """,
        memory_bytes=64 * 2**20,
    )
    assert run.outcome is Outcome.OUT_OF_MEMORY


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


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("start()\nstep()\nraise SystemExit('the data is gone')", "the data is gone"),
        ("start()\nimport os\nos.kill(os.getpid(), 11)", "signal 11"),
        ("pass", "without enough steps"),
        ("start()\nwrite(event='end')", "without enough steps"),
    ],
)
def test_crashed(measure: Callable[..., Run], body: str, words: str) -> None:
    """A child that fails says why in the run's error, with the last words of its log."""
    run = measure(body)
    assert run.outcome is Outcome.CRASHED
    assert words in failure(run)


@pytest.mark.parametrize(
    "body",
    [
        "os.write(descriptor, b'hello\\n')\ntime.sleep(100)",
        "start()\nos.write(descriptor, bytes(range(256)) + b'\\n')\ntime.sleep(100)",
        "start()\nwrite(event='step', time='soon', samples=1, input_wait=0, epoch=0)\ntime.sleep(100)",
        "start()\nwhile True: os.write(descriptor, b'x' * 65536)",
    ],
)
def test_garbage_on_the_event_pipe(measure: Callable[..., Run], body: str) -> None:
    """A stream that breaks the form ends the run at once, with the line."""
    began = time.monotonic()
    run = measure(body)
    assert run.outcome is Outcome.CRASHED
    assert "invalid events" in failure(run)
    assert time.monotonic() - began < 90


def test_interrupted(measure: Callable[..., Run]) -> None:
    """A second Ctrl-C ends the run in hand."""
    ticks = iter(range(1000))
    run = measure("start()\nwhile True: step()", Hooks(stop_now=lambda: next(ticks) >= 2), seconds=60)
    assert run.outcome is Outcome.INTERRUPTED
    assert not groups_of(os.getpid())


def test_unsupported(measure: Callable[..., Run]) -> None:
    """Exit status 69 says that the framework or the device is not there."""
    run = measure("print('no CUDA here', file=sys.stderr)\nsys.exit(69)")
    assert run.outcome is Outcome.UNSUPPORTED
    assert "no CUDA here" in failure(run)


def test_refused(measure: Callable[..., Run]) -> None:
    """More vCPUs than the host has are refused, not silently fewer."""
    run = measure("start()\nwhile True: step()", vcpus=4096)
    assert run.outcome is Outcome.REFUSED
    assert "4096" in failure(run)


def test_daemons_do_not_outlive_their_run(measure: Callable[..., Run]) -> None:
    """A grandchild in a session of its own dies with the run, though it holds the log open."""
    run = measure(
        """
        import subprocess
        daemon = subprocess.Popen(["sleep", "987.6"], start_new_session=True)
        print("daemon", daemon.pid, flush=True)
        start()
        for _ in range(10): step()
        """
    )
    assert run.outcome is Outcome.COMPLETED
    assert not [each for each in psutil.process_iter(["cmdline"]) if each.info["cmdline"] == ["sleep", "987.6"]]


def test_a_gigabyte_of_log_is_cut(measure: Callable[..., Run], context: RunContext) -> None:
    """The log keeps its beginning and its end, and the run goes on."""
    run = measure("start()\nfor number in range(300):\n    print('x' * 99999, number)\n    step(0.001)", seconds=60)
    assert run.outcome is Outcome.COMPLETED
    size = context.log_path.stat().st_size
    assert size < 2 * 2**20 + 100
    assert context.log_path.read_text().rstrip().endswith(" 299")
    assert "bytes left out" in context.log_path.read_text()


def test_the_environment_is_an_allow_list(
    measure: Callable[..., Run], context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not named stays out, and thread counts are those of the limit."""
    monkeypatch.setenv("SECRET", "x")
    measure("print(sorted(os.environ), os.environ['OMP_NUM_THREADS'])", vcpus=1.5)
    log = context.log_path.read_text()
    assert "SECRET" not in log
    assert log.rstrip().endswith(" 2")


def test_data_is_evicted_before_the_run(make_spec: Callable[..., RunSpec], context: RunContext, tmp_path: Path) -> None:
    """A file that was in the page cache is read from the disk again, and the record says that none was resident."""
    data = tmp_path / "data.bin"
    data.write_bytes(os.urandom(16 * 2**20))
    body = f"start()\nopen({str(data)!r}, 'rb').read()\nfor _ in range(60): step()"
    spec = make_spec(sys.executable, "-c", textwrap.dedent(PREFACE) + body)
    run = launch(spec, replace(context, data_set=DataSet(str(data), "bin", 2**24, 0, False)), detect())
    assert run.resident_bytes == 0
    assert max(sample.read_bytes for sample in run.samples) >= 2**24


def test_a_program_that_is_not_there_is_named(make_spec: Callable[..., RunSpec], context: RunContext) -> None:
    """A command that cannot be executed is a crash with a sentence, not a traceback."""
    run = launch(make_spec("/nowhere/program"), context, detect())
    assert run.outcome is Outcome.CRASHED
    assert "not found" in failure(run)


def test_a_log_pattern_measures_a_foreign_program(make_spec: Callable[..., RunSpec], context: RunContext) -> None:
    """A program that only prints its rate is measured by what it prints."""
    body = "import time\nwhile True:\n    time.sleep(0.1)\n    print('Speed: 500.0 samples/sec', flush=True)"
    spec = make_spec(sys.executable, "-c", body)
    spec = replace(spec, workload=replace(spec.workload, pattern="mxnet_speedometer"))
    run = launch(spec, context, detect())
    assert run.outcome is Outcome.COMPLETED
    assert run.throughput is not None
    assert run.throughput.value == pytest.approx(500, rel=0.03)


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


def test_a_log_in_milliseconds_given_as_seconds_gives_no_rate(
    make_spec: Callable[..., RunSpec], context: RunContext
) -> None:
    """The sentence says what to type instead."""
    body = """
import time
for step in range(0, 4000, 2):
    time.sleep(0.1)
    print(f"| {step}/4000 batches | ms/batch {50 + step % 3}.10 |", flush=True)
"""
    spec = make_spec(sys.executable, "-c", body)
    spec = replace(spec, workload=replace(spec.workload, pattern=r"ms/batch (?P<seconds>[\d.]+)"))
    run = launch(spec, context, detect())
    assert run.outcome is Outcome.CRASHED
    assert "name the group `milliseconds`" in failure(run)
    assert run.throughput is None


def test_a_child_that_has_not_joined_its_group_yet_is_ended_too(measure: Callable[..., Run]) -> None:
    """Whatever stops sizer at the first moment, it does not wait for a child that its group does not hold."""

    def interrupted() -> bool:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        measure("start()\nwhile True: step()", Hooks(stop_now=interrupted), seconds=60)
    assert time.monotonic() - began < 50
    assert not groups_of(os.getpid())


class Stubborn(AffinityGroup):
    """A group that tells of a process which does not die, although none is left."""

    def kill(self) -> None:
        super().kill()
        raise HostError("processes 4711 do not die")


class StubbornBackend(AffinityBackend):
    """Opens such groups."""

    def open(
        self, run_id: str, limits: Limits, throttle: Throttle | None = None, processes: int | None = None
    ) -> Group:
        assert (throttle, processes) == (None, 4096)
        return Stubborn(owned_name(run_id), self.cpus_for(limits), LimitedBy(LimitedByKind.SIZER, "stubborn"))


def test_a_group_that_cannot_be_emptied_loses_nothing_that_was_measured(
    make_spec: Callable[..., RunSpec], context: RunContext
) -> None:
    """The rate is there, and a warning says what was left behind."""
    backend = StubbornBackend(read_machine(Tree()), "", {})
    body = textwrap.dedent(PREFACE) + "start()\nwhile True: step()"
    run = launch(make_spec(sys.executable, "-c", body, seconds=1.0), context, backend)
    assert run.outcome is Outcome.COMPLETED
    assert run.throughput is not None
    assert any(warning_line(each, "").startswith("left behind: processes 4711") for each in run.warnings)


def test_data_that_is_gone_refuses_its_run(
    make_spec: Callable[..., RunSpec], context: RunContext, tmp_path: Path
) -> None:
    """Nothing is started, and the run is measured when the data is back."""
    data_set = DataSet(str(tmp_path / "gone.rec"), "recordio", 1000, 10, False)
    run = launch(make_spec("/bin/true"), replace(context, data_set=data_set), detect())
    assert run.outcome is Outcome.REFUSED
    assert "gone.rec is no longer there: put it back" in failure(run)
    assert not context.log_path.exists()


def test_data_that_goes_during_a_run_is_told(
    make_spec: Callable[..., RunSpec], context: RunContext, tmp_path: Path
) -> None:
    """A crash names it; a rate that was measured meanwhile carries a warning."""
    data = tmp_path / "data.bin"
    for end, outcome in (("sys.exit(3)", Outcome.CRASHED), ("while True: step()", Outcome.COMPLETED)):
        data.write_bytes(bytes(10000))
        body = f"start()\nstep()\nos.remove({str(data)!r})\n{end}"
        spec = make_spec(sys.executable, "-c", textwrap.dedent(PREFACE) + body)
        run = launch(spec, replace(context, data_set=DataSet(str(data), "bin", 10000, 0, False)), detect())
        assert run.outcome is outcome
        assert "data.bin is no longer there" in f"{failure(run)} {[warning_line(each, '') for each in run.warnings]}"


def test_a_log_that_cannot_be_written_ends_no_run(measure: Callable[..., Run], context: RunContext) -> None:
    """The run is measured, its last words are kept, and a warning says that the log is not whole."""
    context.log_path.mkdir()
    run = measure("print('hello', flush=True)\nstart()\nwhile True: step()")
    assert run.outcome is Outcome.COMPLETED
    assert [warning for warning in run.warnings if warning.kind is WarningKind.LOG_INCOMPLETE]
    assert "hello" in failure(measure("sys.exit('hello')"))


def test_a_program_that_ends_with_125_was_not_refused(measure: Callable[..., Run]) -> None:
    """`docker run` ends so, too: only a child that could not join its group is refused, whatever it prints."""
    said = "sizer: the run could not join /x"
    assert measure(f"print({said!r}, flush=True)\nsys.exit(125)").outcome is Outcome.CRASHED


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


def test_a_terminal_that_is_gone_loses_no_run(measure: Callable[..., Run]) -> None:
    """That nobody looks on any more is no outcome."""

    def watch(_: object) -> None:
        raise OSError(5, "Input/output error")

    assert measure("start()\nwhile True: step()", Hooks(watch=watch), seconds=1.0).outcome is Outcome.COMPLETED


def test_a_command_that_is_too_long_is_refused_in_a_sentence(
    make_spec: Callable[..., RunSpec], context: RunContext
) -> None:
    """The kernel takes no word of more than 128 KiB."""
    run = launch(make_spec("/bin/echo", "x" * 200_000), context, detect())
    assert run.outcome is Outcome.REFUSED
    assert failure(run) == "The command cannot be started (Argument list too long); it may be too long"
