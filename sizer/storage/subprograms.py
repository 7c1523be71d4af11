"""Programs that prepare something, out of reach of the terminal's Ctrl-C, which is ours to answer, and whether sizer
itself ran all the time: while it stands still nothing is watched, and its program may stand, too.

It stands still when it is stopped by a signal (Ctrl-Z, SIGSTOP, a frozen group), when the machine is suspended (a
laptop's lid, a paused virtual machine), and when a host is so busy that it gets no CPU time.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sizer.limits.process_tree import MARK, owned_name
from sizer.records.messages import HostError, Interrupted

LONGEST_GAP_SECONDS = 2.0
"""Between two looks that come twice a second or more often; nothing is measured over a longer one."""


def seconds_since_boot() -> float:
    """CLOCK_BOOTTIME goes on while the machine is suspended, when CLOCK_MONOTONIC stands still (clock_gettime(2)), and
    nobody sets it, as they do CLOCK_REALTIME."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Standstill:
    """Asked at least twice a second, it tells for how long nobody asked; `longest` of all such gaps, in seconds."""

    def __init__(self, clock: Callable[[], float] = seconds_since_boot) -> None:
        self.longest = 0.0
        self._clock = clock
        self._looked = clock()

    def poll(self) -> float:
        """The seconds since the last look, or 0 where they are no more than LONGEST_GAP_SECONDS."""
        before, self._looked = self._looked, self._clock()
        gap = self._looked - before
        if gap <= LONGEST_GAP_SECONDS:
            return 0.0
        self.longest = max(self.longest, gap)
        return gap


POLL_SECONDS = 0.2
GRACE_SECONDS = 5.0
"""For a program to end after SIGTERM, for its pipes to be closed after its end, and for the kernel to end it."""


def never() -> bool:
    """Nobody asks to stop."""
    return False


def complete(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stop: Callable[[], bool] = never,
    patience: float | None = None,
    standstill: Standstill | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run to its end and return what it printed.

    Raises Interrupted, the program ended, as soon as `stop` says so; HostError when it takes more than `patience`
    seconds, without those in which sizer stood still, which `standstill` tells. The program has our mark, so that the
    next sizer ends it if we are killed.
    """
    name = Path(argv[0]).name
    marked = {**(os.environ if environment is None else environment), MARK: owned_name(name)}
    process = subprocess.Popen(
        list(argv),
        env=marked,
        # Not in this folder, which may be a stranger's and hold a module or a program of a name that is looked for.
        cwd=folder or "/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # What it makes in the cache is never for others to write.
        umask=0o022,
    )
    try:
        output, errors = _outcome(process, name, stop, patience, standstill or Standstill())
    except BaseException:
        _end(process)
        raise
    finally:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    return subprocess.CompletedProcess(argv, process.returncode, _text(output), _text(errors))


def _outcome(
    process: subprocess.Popen[bytes],
    name: str,
    stop: Callable[[], bool],
    patience: float | None,
    standstill: Standstill,
) -> tuple[bytes | None, bytes | None]:
    began = time.monotonic()
    ended: float | None = None
    while True:
        try:
            printed = process.communicate(timeout=POLL_SECONDS)
            standstill.poll()
            return printed
        except subprocess.TimeoutExpired as unfinished:
            now = time.monotonic()
            began += standstill.poll()
            if process.poll() is not None:
                # What it left running holds its pipes: what it said itself is there by now.
                ended = now if ended is None else ended
                if now - ended > GRACE_SECONDS:
                    return unfinished.output, unfinished.stderr
            elif stop():
                raise Interrupted("Interrupted while {name} was running.", name=name) from None
            elif patience is not None and now - began > patience:
                raise HostError(
                    "{name} has not ended after {patience} s, so sizer went on without it; to see what it waits for, "
                    "type: ps -o pid,stat,wchan,cmd {pid}",
                    name=name,
                    patience=f"{patience:.0f}",
                    pid=process.pid,
                ) from None


def _text(printed: bytes | None) -> str:
    return (printed or b"").decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask, then kill. One that hangs in the kernel, on a mount that does not answer, is not waited for."""
    for ask in (process.terminate, process.kill):
        ask()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            return
