"""Several things worked on at once, each by one of a few processes that are forked for them.

What comes out is what this process alone would make of them, to the bit: each thing is worked on by one process, which
has all that this one had as it was forked, and what a process that ended early or raised an error did not hand over is
worked on here. What the work changes beside its result is lost, so it is for pure functions.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any, TypeVar

Thing = TypeVar("Thing")
Result = TypeVar("Result")

MOST_PROCESSES = 8
"""Each has its own copy of the memory that it changes, some 50 MB of a fit."""
MOST_NUMBERS = 1000
"""Dealt out by a pipe, which holds 4 KiB at the least (pipe(7)); further things are worked on with one of them each."""
NUMBER_BYTES = 4
PR_SET_PDEATHSIG = 1
"""prctl(2): the signal that a process gets when its parent dies."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""mallopt(3). By itself glibc gives arrays of a megabyte back as soon as they are freed, and the next ones come page by
page again: a tenth of what a fit of a hundred configurations takes."""
LARGEST_KEPT_BYTES = 1 << 25


def in_parallel(
    work: Callable[[Thing], Result],
    things: Sequence[Thing],
    begun: Callable[[int], object] = lambda _: None,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Result]:
    """What `work` makes of each, in their order, by as many processes as this one may use CPUs.

    `begun` hears the number of each thing in turn as it is begun. While others work, this process does `meanwhile`,
    which is nothing that it would not do by itself when it comes to it. With one thing or one CPU, and where another
    thread runs, whose locks a forked process would have for ever, all is worked on here. Raises what `work` raises.
    """
    found: dict[int, Result] = {}
    told = 0

    def tell(number: int) -> None:
        nonlocal told
        while told <= number:
            begun(told)
            told += 1

    processes = min(len(things), len(os.sched_getaffinity(0)), MOST_PROCESSES)
    if processes > 1 and threading.active_count() == 1:
        with closing(_handed_over(work, things, processes, meanwhile)) as handed_over:
            for number, results in handed_over:
                tell(number)
                found.update(zip(range(number, len(things), MOST_NUMBERS), results, strict=False))
    for number, thing in enumerate(things):
        if number not in found:
            tell(number)
            found[number] = work(thing)
    return [found[number] for number in range(len(things))]


def _handed_over(
    work: Callable[[Thing], Result], things: Sequence[Thing], processes: int, meanwhile: Callable[[], object]
) -> Generator[tuple[int, list[Result]], None, None]:
    """Twice each number that is dealt out: as it is begun, without results, and with those of its things."""
    numbers, dealt = os.pipe()
    os.write(dealt, b"".join(map(_bytes_of, range(min(len(things), MOST_NUMBERS)))))
    os.close(dealt)
    ends: list[Connection[Any, Any]] = []
    forked: list[int] = []

    def work_on(end: Connection[Any, Any]) -> None:
        while drawn := os.read(numbers, NUMBER_BYTES):
            number = int.from_bytes(drawn, "little")
            end.send((number, []))
            end.send((number, [work(thing) for thing in things[number::MOST_NUMBERS]]))

    try:
        for _ in range(processes):
            here, there = Pipe(duplex=False)
            ends.append(here)
            with there, suppress(OSError):  # where no further process may be made, those that are there do it
                forked.append(_forked(partial(work_on, there)))
        meanwhile()
        while ends:
            ready = wait(ends)
            for end in [each for each in ends if each in ready]:
                try:
                    told: tuple[int, list[Result]] = end.recv()
                except (EOFError, OSError):
                    ends.remove(end)
                    end.close()
                else:
                    yield told
    finally:
        os.close(numbers)
        for pid in forked:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _bytes_of(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "little")


def _forked(task: Callable[[], object]) -> int:
    """The id of a process that does this and ends, at the latest with this one; signals are for this one alone."""
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # From 3.12 on Python warns of threads that it does not know: those of OpenBLAS, which it ends at a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            try:
                system = ctypes.CDLL(None)
                system.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if hasattr(system, "mallopt"):
                    system.mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT_BYTES)
                    system.mallopt(M_TRIM_THRESHOLD, -1)
                if os.getppid() == parent:
                    gc.freeze()  # to look through what it was given would copy all of it
                    task()
            finally:
                os._exit(0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid
