"""A program under a supervisor, so that all that descends from it is known and ends with it; the command line that
puts it where it belongs.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from sizer.limits.process_tree import KILL_SECONDS, MARK, owned_name, undying
from sizer.limits.topology import format_cpus
from sizer.records.messages import HostError

SUPERVISOR = Path(__file__).with_name("supervisor.py")

OURS = ("PATH", "LD_LIBRARY_PATH")
"""What our Python and the commands around a program need of our environment."""

_SUPERVISE = f"""
unset {" ".join(OURS)}
. /proc/self/fd/0
exec "$@" </dev/null
"""
"""Becomes the program with its environment, which is read from stdin: others see the arguments of a command."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Of a variable that a shell passes on."""


class Supervised:
    """A program that runs, in a session of its own, without the right to gain rights (no_new_privs).

    `around` are the commands that put it where it belongs. They have our environment and our rights: that of the
    program, which may be another user's, could make them load or execute anything. Of our descriptors it has its output
    and those of `keep`. One that cannot be executed ends with status 126 or 127. Raises HostError where nothing can be
    started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdout: int,
        stderr: int,
        keep: Sequence[int] = (),
        around: Sequence[str] = (),
    ) -> None:
        self._reports, status = os.pipe()
        variables = _exported(environment)
        command = [*around, "/bin/sh", "-c", _SUPERVISE, "sizer", *argv]
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR), str(status), str(os.getpid()), *command],
                env={**{name: os.environ[name] for name in OURS if name in os.environ}, MARK: owned_name("run")},
                cwd=folder,
                stdin=variables,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(status, *keep),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(self._reports)
            reason = getattr(error, "strerror", None) or error
            raise HostError("The command cannot be started ({reason}); it may be too long.", reason=reason) from error
        finally:
            os.close(status)
            os.close(variables)
        self._text, self._ended = b"", False
        while not self._lines() and self._read():
            pass
        os.set_blocking(self._reports, False)
        if not self._lines():
            self.end()
            status = self._supervisor.returncode
            raise HostError("The command cannot be started: its supervisor ended with {status}.", status=status)
        if self.pid < 0:
            self.end()
            raise OSError(-self.pid, os.strerror(-self.pid), command[0])

    @property
    def pid(self) -> int:
        """That of the program itself."""
        return int(self._lines()[0])

    def exit_status(self) -> int | None:
        """None while it runs; negative is the signal that ended it. What it has left running may still run."""
        self._drain()
        lines = self._lines()
        if len(lines) > 1:
            return int(lines[1])
        # A supervisor that somebody has killed says no more, and its program is no longer ours to wait for.
        return self._supervisor.poll()

    def processes(self) -> set[int]:
        """The pids of the program and of all that descends from it, daemons too."""
        try:
            return {process.pid for process in psutil.Process(self._supervisor.pid).children(recursive=True)}
        except psutil.NoSuchProcess:
            return set()

    def signal(self, number: int) -> None:
        """Send a signal to the program itself, if it still runs."""
        if self.exit_status() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def end(self) -> None:
        """Kill all of it and wait until it is gone. Raises HostError where something does not die."""
        self._supervisor.terminate()
        # Its program may have stopped it.
        self._supervisor.send_signal(signal.SIGCONT)
        try:
            self._supervisor.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired:
            raise undying(self.processes()) from None
        self._drain()
        os.close(self._reports)
        self._ended = True

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while not self._ended and self._read():
                pass

    def _read(self) -> bytes:
        part = os.read(self._reports, 4096)
        self._text += part
        return part

    def _lines(self) -> list[bytes]:
        return self._text.split(b"\n")[:-1]


def _exported(environment: Mapping[str, str]) -> int:
    """A file without a name that sets the variables, for a shell to read."""
    descriptor = os.memfd_create("environment")
    with open(descriptor, "wb", closefd=False) as file:
        for name, value in environment.items():
            if _NAME.fullmatch(name) and name != MARK:
                # `command`: a shell with a variable of its own of that name goes on (POSIX, 2.8.1).
                file.write(os.fsencode(f"command export {shlex.quote(f'{name}={value}')}\n"))
    return descriptor


JOIN_FAILED = 125
"""Exit status of a process that could not join its group; what `timeout` and `docker run` use for their own faults."""

OOM_SCORE = 500
"""Added to the badness of a run's processes, in thousandths of the memory there is (proc(5), oom_score_adj): when the
host itself runs out, the kernel kills the run, which is data, and not sizer. Anybody may raise it."""

# The shell writes its own pid and then execs, so the program is in the group from its first instruction, keeps the pid,
# and needs no preexec_fn, which is unsafe in a process with threads (Python's subprocess documentation).
_JOIN = f"""
report=$1
fail() {{ echo "sizer: the run could not join $1; type sizer doctor to see what this host allows" >&2
[ -z "$report" ] || echo "$1" >"$report"
exit {JOIN_FAILED}; }}
shift
{{ read -r score </proc/self/oom_score_adj && [ "$score" -ge {OOM_SCORE} ] ||
echo {OOM_SCORE} >/proc/self/oom_score_adj; }} 2>/dev/null
[ -z "$1" ] || taskset -p -c "$1" $$ >/dev/null || fail "CPUs $1"
shift
while [ "$1" != -- ]; do echo $$ > "$1" || fail "$1"; shift; done
shift
exec "$@"
"""


def join_command(
    argv: Sequence[str], files: Sequence[Path] = (), affinity: Sequence[int] = (), report: int | None = None
) -> list[str]:
    """`argv` behind a shell that first takes the CPUs of `affinity` and writes its pid into each of `files`.

    Where it cannot, it writes into our descriptor `report`, which it does not inherit, and ends with JOIN_FAILED. The
    kernel's killer for memory prefers it to sizer.
    """
    outlet = "" if report is None else f"/proc/{os.getpid()}/fd/{report}"
    return ["/bin/sh", "-c", _JOIN, "sizer", outlet, format_cpus(affinity), *map(str, files), "--", *argv]
