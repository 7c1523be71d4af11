"""A command that makes something ready: `setup` once before a study, `before` before each run. It has no limits."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sizer.limits.supervised import Supervised
from sizer.limits.users import RunUser
from sizer.records.run import Cause, CauseKind, Failure
from sizer.records.study import Workload
from sizer.runner.commands import hidden_values, setup_environment
from sizer.runner.outlets import Lines, pipe
from sizer.runner.run_log import Log
from sizer.runner.secrets import Secrets
from sizer.storage.placement import temporary_folder

POLL_SECONDS = 0.05

LONGEST_SECONDS = 3600.0
"""A command that makes something ready may compile or fetch, and does not wait for somebody for ever."""


def set_up(workload: Workload, user: RunUser, ours: Mapping[str, str], stop: Callable[[], bool]) -> Failure | None:
    """Run the `setup` of a workload as this user, in `ours` as the environment of sizer. Raises HostError."""
    with temporary_folder() as home:
        user.let_in(home)
        scratch = home / "scratch"
        scratch.mkdir(mode=0o700)
        user.own(scratch)
        return prepare(
            CauseKind.SETUP_FAILED,
            user,
            workload.setup,
            setup_environment(workload, scratch, user.environment(ours)),
            Path(workload.cwd) if workload.cwd is not None else scratch,
            home / "setup.log",
            Secrets(hidden_values(workload, ours)),
            stop,
        )


def prepare(
    kind: CauseKind,
    user: RunUser,
    argv: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    log_path: Path,
    secrets: Secrets,
    stop: Callable[[], bool],
) -> Failure | None:
    """Run the command as this user to its end, with its output in the log; a failure of this kind where that is no good
    one.

    Whatever it leaves running is ended. Raises HostError where that does not die.
    """
    if shutil.which(folder / argv[0] if "/" in argv[0] else argv[0], path=environment.get("PATH")) is None:
        return Failure(Cause(kind, text=f"{argv[0]}: {os.strerror(errno.ENOENT)}"))
    outlets, log = pipe(), Log(log_path)
    try:
        try:
            program = Supervised(argv, environment, folder, outlets.stdout, outlets.stderr, around=user.becoming)
        finally:
            outlets.hand_over()
        lines = Lines(outlets.reading[0])
        try:
            cause = _awaited(kind, program, lambda: log.feed(secrets.hidden(lines.read())), stop)
        finally:
            program.end()
            log.feed(secrets.hidden(lines.rest()))
    finally:
        outlets.close()
        log.close()
    return None if cause is None else Failure(cause, last_lines=log.last_lines())


def _awaited(kind: CauseKind, program: Supervised, read: Callable[[], None], stop: Callable[[], bool]) -> Cause | None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while (status := program.exit_status()) is None:
        read()
        if stop():
            return Cause(CauseKind.INTERRUPTED)
        if time.monotonic() > deadline:
            return Cause(kind, {"seconds": LONGEST_SECONDS})
        time.sleep(POLL_SECONDS)
    if not status:
        return None
    return Cause(kind, {"status": status} if status > 0 else {"signal": -status})
