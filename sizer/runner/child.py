"""One child process under limits: its event pipe and FIFO, what it prints, its end. Never outlives its context."""

from __future__ import annotations

import fcntl
import os
import selectors
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from sizer.analysis.events import ChildEvent, EventReader
from sizer.limits.interface import Group
from sizer.limits.supervised import Supervised
from sizer.limits.users import RunUser
from sizer.records.run import Cause, CauseKind
from sizer.runner.outlets import READ_BYTES, Lines, pipe, terminals, widen
from sizer.runner.processes import ClientsBelow, tree, uses_framework
from sizer.runner.run_log import Log
from sizer.runner.secrets import NO_SECRETS, Secrets
from sizer.storage.placement import temporary_folder

EVENTS_VARIABLE = "SIZER_EVENTS_FD"
FLOOD_BYTES = READ_BYTES // 4
"""After a read of more than this, the pipes are read as they fill for the rest of the run: a full one would hold the
child up."""

LINES_SECONDS = 0.01
"""Between two looks at a terminal: what each line of a program that prints hundreds a second would cost, a wake-up of
0.1 to 0.4 ms of a core, is paid for all of them together."""

LEISURE_SECONDS = 0.05
"""The same where nothing is made of the lines' times: a program that fills its terminal waits no longer than this."""

DENSE_BYTES = 1 << 11
"""A terminal that gave more than this at once is looked at again right away: it gives 4 KiB, and more may wait."""

DRAIN_READS = 16
"""As often what was printed is read when all is over: it holds one read, unless something in it cannot be killed."""

SILENT_SECONDS = 0.02
"""Between two looks at a child that closed its pipes and still runs."""


class Child:
    """A started child, its event pipe and what it prints; `report` only says that it could not join its group.

    `at_once`: lines are read as they come, because their time matters, and a terminal holds little. Else all waits as
    long as the caller does: each time that a reader wakes costs 0.1 to 0.4 ms of a core, as its caches have gone cold.
    """

    def __init__(
        self,
        program: Supervised,
        events: int,
        report: int,
        printed: Sequence[int],
        log: Log,
        at_once: bool = True,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._program = program
        self._report = report
        self._reader = EventReader()
        self._rest_seconds = LINES_SECONDS if at_once else None
        self._secrets = secrets
        self._flooded = False
        self._looked = 0.0
        self.log = log
        self._clients = ClientsBelow(program.pid)
        self._lines = tuple(map(Lines, printed))
        os.set_blocking(events, False)
        os.set_blocking(report, False)
        self._all = selectors.DefaultSelector()
        self._all.register(events, selectors.EVENT_READ)
        self._events: int | None = events
        self._printed = selectors.DefaultSelector()
        for lines in self._lines:
            self._all.register(lines.descriptor, selectors.EVENT_READ)
            self._printed.register(lines.descriptor, selectors.EVENT_READ)

    def wait(self, seconds: float) -> tuple[list[ChildEvent], bytes]:
        """Events and printed lines that came in so many seconds; `at_once` returns with the first lines.

        Raises EventError.
        """
        if self.is_silent():
            time.sleep(min(seconds, SILENT_SECONDS))
            return [], b""
        if self._flooded:
            self._all.select(seconds)
        elif self._rest_seconds is not None:
            rest = min(seconds, max(0.0, self._looked + self._rest_seconds - time.monotonic()))
            time.sleep(rest)
            self._printed.select(seconds - rest)
        else:
            time.sleep(seconds)
        printed = self._read_lines()
        self._looked = time.monotonic() if len(printed) < DENSE_BYTES else 0.0
        return self._read_events(), printed

    def _read_events(self) -> list[ChildEvent]:
        if self._events is None:
            return []
        try:
            data = os.read(self._events, READ_BYTES)
        except BlockingIOError:
            return []
        self._flooded |= len(data) > FLOOD_BYTES
        if data:
            return self._reader.feed(data)
        self._all.unregister(self._events)
        self._events = None
        self._reader.close()
        return []

    def _read_lines(self) -> bytes:
        """The lines of stdout, then those of stderr, which are in the log from now on."""
        printed = b""
        for lines in self._lines:
            if not lines.closed:
                printed += lines.read()
                if lines.closed:
                    self._all.unregister(lines.descriptor)
                    self._printed.unregister(lines.descriptor)
        self._flooded |= len(printed) > FLOOD_BYTES
        printed = self._secrets.hidden(printed)
        self.log.feed(printed)
        return printed

    def container_client(self, now: float) -> str | None:
        """The client of a container that the program is, or waits for."""
        return self._clients.poll(now)

    def has_process(self, pid: int) -> bool:
        """Whether a process is the program, or descends from it; for any thread."""
        return pid in self._program.processes()

    def escaped(self, group: Group) -> str | None:
        """What is no longer under the limits of its group; None where all is as it should be."""
        return group.escaped(self._program.processes())

    def uses_framework(self) -> bool:
        """Whether a Python of it has imported a framework that the hook knows."""
        return uses_framework(tree(self._program.pid))

    def read_at_leisure(self) -> None:
        """From now on lines may wait: nothing is made of when they come."""
        self._rest_seconds = LEISURE_SECONDS

    def is_silent(self) -> bool:
        """Both pipes are closed, or the child is gone and what it left running has nothing to say now."""
        if not self._all.get_map():
            return True
        return self._program.exit_status() is not None and not self._all.select(0)

    def exit_status(self) -> int | None:
        """None while it runs; negative is the signal that ended it."""
        return self._program.exit_status()

    def joined(self) -> bool:
        """Whether a child that is gone had come into its group and become the workload."""
        return not _read_now(self._report)

    def ask_to_stop(self) -> None:
        """SIGTERM to the workload's own process: it ends after its present step, also if it had stopped itself."""
        self._program.signal(signal.SIGTERM)
        self._program.signal(signal.SIGCONT)

    def seen(self) -> tuple[Cause, ...]:
        """What there is to say of a child that no longer steps: that it is stopped, has closed its pipes, or is gone
        while others hold its output."""
        causes = []
        with suppress(OSError):
            state = Path(f"/proc/{self._program.pid}/stat").read_text().rpartition(")")[2].split()[0]
            causes += [Cause(CauseKind.STOPPED)] if state in "Tt" else []
        if self._events is None:
            causes.append(Cause(CauseKind.PIPE_CLOSED))
        if all(lines.closed for lines in self._lines):
            causes.append(Cause(CauseKind.OUTPUT_CLOSED))
        elif self._program.exit_status() is not None:
            causes.append(Cause(CauseKind.LEFT_RUNNING))
        return tuple(causes)

    def drain(self) -> None:
        """Take what is still to be read of what it printed; a daemon that holds it open does not keep us."""
        for lines in self._lines:
            for _ in range(DRAIN_READS):
                self.log.feed(self._secrets.hidden(lines.read()))
        # A question that it asked comes last, after what it says of having got no answer.
        for lines in self._lines:
            self.log.feed(self._secrets.hidden(lines.rest()))

    def end(self, group: Group) -> None:
        """Kill everything in the group and what descends from the program, and take what it still had to say.

        Raises HostError if something lives on.
        """
        try:
            group.kill()
            self._program.end()
        finally:
            self.drain()


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
    secrets: Secrets = NO_SECRETS,
    mounts: Sequence[str] = (),
    becoming: Sequence[str] = (),
) -> Iterator[Child]:
    """A child that joined the group before it became the workload; the whole group is killed at the end.

    With `at_once` it prints to terminals, else into a pipe; `secrets` are in no line of its log. `mounts` is the
    command that gives it mounts of its own, `becoming` the one by which it has the rights of its user. Raises HostError
    if something in the group does not die: the child and its log can be looked at even then.
    """
    outlets = terminals() if at_once else pipe()
    read_end, write_end = os.pipe()
    widen(read_end)
    report, not_joined = os.pipe()
    log = Log(log_path)
    try:
        try:
            around = [*mounts, *group.command(becoming, not_joined)]
            variables = {**environment, EVENTS_VARIABLE: str(write_end)}
            program = Supervised(argv, variables, folder, outlets.stdout, outlets.stderr, (write_end,), around)
        finally:
            os.close(write_end)
            outlets.hand_over()
        child = Child(program, read_end, report, outlets.reading, log, at_once, secrets)
        try:
            yield child
        finally:
            child.end(group)
    finally:
        os.close(read_end)
        os.close(report)
        os.close(not_joined)
        outlets.close()
        log.close()


FIFO_BYTES = 1 << 20
"""Asked for, so that nothing is lost while nobody reads: 1 MiB is what Linux grants to anybody."""

MOST_BYTES = 1 << 24
"""Read at once; a program that fills the FIFO faster than this is read does not keep us."""


class EventFifo:
    """The reading end. Nobody has to write, and a writer never waits."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def read(self) -> bytes:
        """What has been written since the last time."""
        parts: list[bytes] = []
        with suppress(BlockingIOError):
            while sum(map(len, parts)) < MOST_BYTES:
                parts.append(os.read(self._descriptor, FIFO_BYTES))
        return b"".join(parts)


@contextmanager
def event_fifo(user: RunUser) -> Iterator[EventFifo]:
    """A FIFO that the user of the run alone can find and open, removed at the end.

    What is written into it becomes the rate of the run. So it lies in a folder that is this user's, and its name cannot
    be guessed; nor does a program that reads its own folder come upon it. Raises OSError where there is no room for it.
    """
    with temporary_folder() as home:
        user.let_in(home)
        folder = home / token_hex(16)
        folder.mkdir(mode=0o700)
        path = folder / token_hex(16)
        os.mkfifo(path, 0o600)
        user.own(folder)
        # Open for writing, too, it has no end each time that the last writer leaves.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            with suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, FIFO_BYTES)
            yield EventFifo(path, descriptor)
        finally:
            os.close(descriptor)
