"""Programs of this host that are started only to ask them something."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sizer.limits.process_tree import MARK, owned_name

ANSWER_SECONDS = 120
"""Importing MXNet takes 2 s, PyTorch 3 s, and a minute where their files come over a network."""


def ask(
    argv: Sequence[str], seconds: float = ANSWER_SECONDS, becoming: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """A program of this host, in a folder that is root's: `python -c` looks for modules in the one it is started in
    first, which may be somebody else's and hold a json.py; nor in those of PYTHONPATH, which no run gets. `becoming`
    is the command that gives it another user's rights. Errors as subprocess.run."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*becoming, *argv],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        cwd="/",
        stdin=subprocess.DEVNULL,
        env={**ours, "LC_ALL": "C", MARK: owned_name(Path(argv[0]).name)},
    )


def first_line(program: str, *arguments: str) -> str | None:
    """The first line that a program prints; some print their version to stderr. None where it is not installed."""
    path = shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if path is None or not os.path.isabs(path):
        return None
    shown = ask([path, *arguments], 20)
    lines = (shown.stdout + shown.stderr).strip().splitlines()
    return lines[0] if lines else program
