"""One child process under limits: its event pipe, its log, its end. Never outlives its context."""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sizer.analysis import ChildEvent, EventReader
from sizer.limits import MARK, Group, end_marked, owned_name
from sizer.records import Cause, CauseKind, HostError
from sizer.runner.run_log import Log

EVENTS_VARIABLE = "SIZER_EVENTS_FD"
READ_BYTES = 1 << 20
"""Most that is read at once, and what the pipes are asked to hold: 1 MiB is what Linux grants to anybody."""

FLOOD_BYTES = READ_BYTES // 4
"""After a read of more than this, the pipes are read as they fill for the rest of the run: a full one would hold the
child up."""

DRAIN_READS = 16
"""As often the log's pipe is read when all is over: it holds one read, unless something in it cannot be killed."""

REAP_SECONDS = 10.0
"""For a killed process to be gone: one that waits for a throttled disk needs a while."""

SILENT_SECONDS = 0.02
"""Between two looks at a child that closed its pipes and still runs."""


class Child:
    """A started child and its two pipes; `report` is a third, which only says that it could not join its group.

    `at_once`: what comes is read as it comes, where the time of a line matters. Else it waits in its pipe as long as
    the caller does: each time that a reader wakes costs 0.1 to 0.4 ms of a core, since its caches have gone cold.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], events: int, report: int, log: Log, at_once: bool = True
    ) -> None:
        self._process = process
        self._report = report
        self._events = events
        self._reader = EventReader()
        self._at_once = at_once
        self._flooded = False
        self.log = log
        self._selector = selectors.DefaultSelector()
        self._selector.register(events, selectors.EVENT_READ, "events")
        assert process.stdout is not None
        os.set_blocking(events, False)
        os.set_blocking(report, False)
        os.set_blocking(process.stdout.fileno(), False)
        _widen(process.stdout.fileno())
        self._selector.register(process.stdout, selectors.EVENT_READ, "log")

    def wait(self, seconds: float) -> tuple[list[ChildEvent], bytes]:
        """Events and log bytes that came in so many seconds; `at_once` returns with the first. Raises EventError."""
        if self.is_silent():
            time.sleep(min(seconds, SILENT_SECONDS))
            return [], b""
        if not self._at_once and not self._flooded:
            time.sleep(seconds)
            seconds = 0.0
        events: list[ChildEvent] = []
        printed = b""
        for key, _ in self._selector.select(seconds):
            data = os.read(key.fd, READ_BYTES)
            self._flooded |= len(data) > FLOOD_BYTES
            if not data:
                self._selector.unregister(key.fileobj)
            if key.data == "log":
                self.log.feed(data)
                printed = data
            elif data:
                events += self._reader.feed(data)
            else:
                self._reader.close()
        return events, printed

    def read_at_leisure(self) -> None:
        """From now on what comes may wait: it says itself when it was."""
        self._at_once = False

    def is_silent(self) -> bool:
        """Both pipes are closed, or the child is gone and what it left running has nothing to say now."""
        if not self._selector.get_map():
            return True
        return self._process.poll() is not None and not self._selector.select(0)

    def exit_status(self) -> int | None:
        """None while it runs; negative is the signal that ended it."""
        return self._process.poll()

    def joined(self) -> bool:
        """Whether a child that is gone had come into its group and become the workload."""
        return not _read_now(self._report)

    def ask_to_stop(self) -> None:
        """SIGTERM to the workload's own process: it ends after its present step, also if it had stopped itself."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.send_signal(signal.SIGCONT)

    def seen(self) -> tuple[Cause, ...]:
        """What there is to say of a child that no longer steps: that it is stopped, or has closed its event pipe."""
        found = []
        with suppress(OSError):
            state = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
            found += [Cause(CauseKind.STOPPED)] if state in "Tt" else []
        if all(key.data != "events" for key in self._selector.get_map().values()):
            found.append(Cause(CauseKind.PIPE_CLOSED))
        return tuple(found)

    def drain(self) -> None:
        """Take what is still in the log's pipe; a daemon that holds it open does not keep us."""
        for key in list(self._selector.get_map().values()):
            if key.data == "log":
                for _ in range(DRAIN_READS):
                    self.log.feed(_read_now(key.fd))

    def end(self, group: Group, mark: str) -> None:
        """Kill everything in the group and what carries the mark outside of it, and take what it still had to say.

        Raises HostError if something lives on.
        """
        # Until it has joined its group, the child is not among those that the group kills.
        self._process.kill()
        try:
            group.kill()
            end_marked(mark)
            self._process.wait(REAP_SECONDS)
        except subprocess.TimeoutExpired:
            pid = self._process.pid
            raise HostError(
                "Process {pid} does not die; to see what it waits for, type: ps -o pid,stat,wchan,cmd {pid}", pid=pid
            ) from None
        finally:
            self.drain()
            assert self._process.stdout is not None
            self._process.stdout.close()


def _widen(pipe: int) -> None:
    with suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, READ_BYTES)


def _read_now(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, READ_BYTES)
    except BlockingIOError:
        return b""


@contextmanager
def started(
    group: Group,
    argv: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    log_path: Path,
    at_once: bool = True,
) -> Iterator[Child]:
    """A child that joined the group before it became the workload; the whole group is killed at the end.

    Raises HostError if something in the group does not die: the child and its log can be looked at even then.
    """
    mark = owned_name("run")
    read_end, write_end = os.pipe()
    _widen(read_end)
    report, not_joined = os.pipe()
    log = Log(log_path)
    try:
        try:
            process = subprocess.Popen(
                group.command(argv, not_joined),
                env={**environment, EVENTS_VARIABLE: str(write_end), MARK: mark},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=(write_end, not_joined),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise HostError("The command cannot be started ({reason}); it may be too long.", reason=reason) from error
        finally:
            os.close(write_end)
            os.close(not_joined)
        child = Child(process, read_end, report, log, at_once)
        try:
            yield child
        finally:
            child.end(group, mark)
    finally:
        os.close(read_end)
        os.close(report)
        log.close()
