from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sizer.parallel import MOST_NUMBERS, in_parallel


@pytest.fixture(autouse=True)
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()]


@pytest.mark.parametrize("count", [0, 1, 2, 9, MOST_NUMBERS + 2])
def test_results_come_in_the_order_of_the_things(count: int) -> None:
    before = children()
    assert in_parallel(lambda thing: thing * thing, range(count)) == [thing * thing for thing in range(count)]
    assert children() == before


def test_two_processes_work_where_there_are_two_cpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And this one does where there is one CPU, one thing, or another thread."""
    here = os.getpid()
    until = time.monotonic() + 60

    def worker(_: int) -> int:
        (tmp_path / str(os.getpid())).touch()
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        return os.getpid()

    assert len({here, *in_parallel(worker, range(6))}) == 3
    assert in_parallel(worker, range(1)) == [here]
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert in_parallel(worker, range(2)) == [here, here]
    over.set()
    thread.join()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    assert in_parallel(worker, range(2)) == [here, here]


def test_each_is_told_once_in_turn_as_it_begins() -> None:
    told: list[int] = []
    in_parallel(lambda thing: time.sleep(0.01 * (thing % 2)), range(7), told.append)
    assert told == list(range(7))


def test_what_a_process_that_dies_leaves_is_made_here() -> None:
    here = os.getpid()

    def work(thing: int) -> int:
        if os.getpid() != here and thing in (1, 4):
            os.kill(os.getpid(), signal.SIGKILL)
        return thing + 10

    told: list[int] = []
    assert in_parallel(work, range(6), told.append) == [10, 11, 12, 13, 14, 15]
    assert told == list(range(6))


def test_a_result_that_no_other_process_can_hand_over_is_made_here() -> None:
    (one, other) = in_parallel(lambda thing: lambda: thing, range(2))
    assert (one(), other()) == (0, 1)


def test_the_first_error_is_raised() -> None:
    def work(thing: int) -> int:
        return 1 // (thing - 3) + {5: 0}.get(thing, 1)

    with pytest.raises(ZeroDivisionError):
        in_parallel(work, range(8))


def test_an_interrupt_ends_all_processes() -> None:
    def interrupted(number: int) -> None:
        if number == 1:
            raise KeyboardInterrupt

    before, began = children(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        in_parallel(lambda _: time.sleep(600), range(4), interrupted)
    assert time.monotonic() - began < 300
    assert children() == before


KILLED = """
import os, time
from sizer.parallel import in_parallel
os.sched_getaffinity = lambda _: {0, 1}
def work(_):
    os.write(1, b"%d\\n" % os.getpid())
    time.sleep(600)
in_parallel(work, range(2))
"""


def test_no_process_outlives_one_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        workers = [int(program.stdout.readline()) for _ in range(2)]
        program.kill()
    until = time.monotonic() + 300
    while any(map(lives, workers)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(lives, workers))


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_signals_are_for_the_process_that_waits() -> None:
    """Its workers neither take them nor run its handlers."""
    taken: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: taken.append(os.getpid()))
    try:

        def work(thing: int) -> list[int]:
            os.kill(os.getpid(), signal.SIGUSR1)
            return [thing, *taken]

        assert in_parallel(work, range(4)) == [[0], [1], [2], [3]]
        os.kill(os.getpid(), signal.SIGUSR1)
        assert taken == [os.getpid()]
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_this_process_does_something_meanwhile_where_others_work() -> None:
    """What is to be done in any case is done while it waits, and not where nobody works for it."""
    done: list[int] = []
    assert in_parallel(str, [1, 2, 3], meanwhile=lambda: done.append(os.getpid())) == ["1", "2", "3"]
    assert in_parallel(str, [1], meanwhile=lambda: done.append(0)) == ["1"]
    assert done == [os.getpid()]
