"""`sizer ...` in a process of its own that is forked from one which has imported it already.

Python's start and the import of numpy and scipy cost 0.7 s of CPU time, and tests type sizer a hundred times. What a
process meets as it starts, and signals and streams, are tried with `python -m sizer`.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from sizer.analysis import monitor
from sizer.api import this_host
from sizer.cli import main
from sizer.storage.disk_check import Fio

SECONDS = 600
"""Longer than any command takes that is typed so."""

READY = multiprocessing.get_context("forkserver")
READY.set_forkserver_preload(
    ["sizer.api", "sizer.cli.commands.run", "sizer.cli.commands.profile", "sizer.cli.commands.doctor"]
)


def typed(
    words: Sequence[str],
    folder: Path,
    environment: dict[str, str],
    *,
    quick_disks: bool = False,
    start_up: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Type `sizer` and these words in a folder, and wait for its end; `quick_disks`: checks of disks take less time;
    `start_up`: seconds that a run is allowed to its first step, in the place of two minutes."""
    with TemporaryDirectory() as place:
        outputs = Path(place, "out"), Path(place, "err")
        process = READY.Process(target=_typed, args=(list(words), folder, environment, outputs, quick_disks, start_up))
        process.start()
        process.join(SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(words, SECONDS, *(path.read_text() for path in outputs))
        return subprocess.CompletedProcess(words, process.exitcode, *(path.read_text() for path in outputs))


def quicken() -> None:
    """Check disks so from now on."""
    assert this_host.__defaults__ == (Fio(),)
    this_host.__defaults__ = (Fio(seconds=0.2),)


def _typed(
    words: list[str],
    folder: Path,
    environment: dict[str, str],
    outputs: tuple[Path, Path],
    quick_disks: bool,
    start_up: float | None,
) -> None:
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, path in enumerate(outputs, start=1):
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), descriptor)
    if quick_disks:
        quicken()
    if start_up is not None:
        monitor.START_UP_SECONDS = start_up
    sys.exit(main(words))
