"""A command that makes something ready: `setup` once before a study, `before` before each run. It has no limits."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sizer.limits import MARK, end_marked, owned_name
from sizer.records import Cause, CauseKind, Failure, Workload
from sizer.runner.commands import hidden_values, setup_environment
from sizer.runner.outlets import Lines, pipe
from sizer.runner.run_log import Log
from sizer.runner.secrets import Secrets
from sizer.storage import temporary_folder

LOOK_SECONDS = 0.05

LONGEST_SECONDS = 3600.0
"""A command that makes something ready may compile or fetch, and does not wait for somebody for ever."""


def set_up(workload: Workload, ours: Mapping[str, str], stop: Callable[[], bool]) -> Failure | None:
    """Run the `setup` of a workload, in `ours` as the environment of sizer. Raises HostError."""
    with temporary_folder() as scratch:
        return prepare(
            CauseKind.SETUP_FAILED,
            workload.setup,
            setup_environment(workload, scratch, ours),
            Path(workload.cwd) if workload.cwd is not None else scratch,
            scratch / "setup.log",
            Secrets(hidden_values(workload, ours)),
            stop,
        )


def prepare(
    kind: CauseKind,
    argv: Sequence[str],
    environment: Mapping[str, str],
    folder: Path,
    log_path: Path,
    secrets: Secrets,
    stop: Callable[[], bool],
) -> Failure | None:
    """Run the command to its end, with its output in the log; a failure of this kind where it does not end well.

    Whatever it leaves running is ended. Raises HostError where that does not die.
    """
    mark, outlets, log = owned_name("before"), pipe(), Log(log_path)
    try:
        process = subprocess.Popen(
            argv,
            env={**environment, MARK: mark},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=outlets.stdout,
            stderr=outlets.stderr,
            start_new_session=True,
        )
    except OSError as error:
        outlets.close()
        log.close()
        return Failure(Cause(kind, text=error.strerror or str(error)))
    finally:
        outlets.hand_over()
    lines = Lines(outlets.reading[0])
    try:
        cause = _awaited(kind, process, lambda: log.feed(secrets.hidden(lines.read())), stop)
    finally:
        process.kill()
        end_marked(mark)
        process.wait()
        log.feed(secrets.hidden(lines.rest()))
        outlets.close()
        log.close()
    return None if cause is None else Failure(cause, last_lines=log.last_lines())


def _awaited(
    kind: CauseKind, process: subprocess.Popen[bytes], read: Callable[[], None], stop: Callable[[], bool]
) -> Cause | None:
    deadline = time.monotonic() + LONGEST_SECONDS
    while process.poll() is None:
        read()
        if stop():
            return Cause(CauseKind.INTERRUPTED)
        if time.monotonic() > deadline:
            return Cause(kind, {"seconds": LONGEST_SECONDS})
        time.sleep(LOOK_SECONDS)
    status = process.returncode
    if not status:
        return None
    return Cause(kind, {"status": status} if status > 0 else {"signal": -status})
