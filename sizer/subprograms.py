"""Programs that prepare something, out of reach of the terminal's Ctrl-C, which is ours to answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sizer.errors import Interrupted

POLL_SECONDS = 0.2
GRACE_SECONDS = 5.0


def never() -> bool:
    """Nobody asks to stop."""
    return False


def complete(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stop: Callable[[], bool] = never,
) -> subprocess.CompletedProcess[str]:
    """Run to its end and return what it printed. Raises Interrupted, the program ended, as soon as `stop` says so."""
    with subprocess.Popen(
        list(argv),
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=POLL_SECONDS)
                return subprocess.CompletedProcess(argv, process.returncode, output, errors)
            except subprocess.TimeoutExpired:
                if stop():
                    _end(process)
                    raise Interrupted(f"interrupted while {Path(argv[0]).name} was preparing") from None
            except BaseException:
                _end(process)
                raise


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
