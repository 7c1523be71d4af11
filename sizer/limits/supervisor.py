"""Stands above one program and all that descends from it: adopts its orphans, and ends all of them.

    python -I -S supervisor.py STATUS STARTER COMMAND...

Run by its path, in a Python of its own, outside of the limits of what it supervises; it imports nothing of sizer. Into
the inherited descriptor STATUS it writes the pid of the command, or the negative errno with which it could not be
executed, and its exit status once it has ended (negative for a signal), a line each. It ends when nothing that descends
from it lives. On SIGTERM, and when STARTER, the process that started it, dies, it kills until that is so. A daemon
cannot get away: what loses its parent becomes a child of this process (prctl(2)).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
"""Of linux/prctl.h."""


def main(words: Sequence[str]) -> int:
    """Supervise the command; 0 when all of it has ended."""
    status, starter, command = int(words[0]), int(words[1]), list(words[2:])
    for option, value in (
        (PR_SET_CHILD_SUBREAPER, 1),
        (PR_SET_NO_NEW_PRIVS, 1),
        (PR_SET_PDEATHSIG, signal.SIGTERM),
    ):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    is_ending = False

    def end(*_: object) -> None:
        nonlocal is_ending
        is_ending = True
        _kill_below()

    signal.signal(signal.SIGTERM, end)
    # Closed by a successful exec (PEP 446), else it has the reason.
    reason, failing = os.pipe()
    program = os.fork()
    if not program:
        os.close(status)
        _become(command, failing)
    os.close(failing)
    failure = os.read(reason, 16)
    _let_go(status)
    _tell(status, -int(failure) if failure else program)
    # Whoever started us may have died before the kernel was asked to say so.
    if os.getppid() != starter:
        end()
    while True:
        try:
            pid, how = os.wait()
        except ChildProcessError:
            return 0
        if pid == program:
            _tell(status, os.waitstatus_to_exitcode(how))
        if is_ending:
            _kill_below()


def _let_go(status: int) -> None:
    """Close all but `status`: whoever reads what the program writes is to see when nobody of it can write any more."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nothing, standard)
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        if descriptor > 2 and descriptor != status:
            with suppress(OSError):
                os.close(descriptor)


def _tell(status: int, number: int) -> None:
    with suppress(BrokenPipeError):
        os.write(status, f"{number}\n".encode())


def _become(command: list[str], failing: int) -> None:
    """Execute the command, out of reach of what it sends to its own process group."""
    # Python ignores two of them, and a program inherits what is ignored.
    for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.setsid()
    try:
        os.execvp(command[0], command)
    except OSError as error:
        os.write(failing, str(error.errno).encode())
        os._exit(1)


def _kill_below() -> None:
    """SIGKILL to all that descends from this process; what is forked meanwhile, once its parent has been waited for."""
    parents = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
            parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    below, count = {os.getpid()}, -1
    while len(below) > count:
        count = len(below)
        below |= {pid for pid, parent in parents.items() if parent in below}
    for pid in below - {os.getpid()}:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
