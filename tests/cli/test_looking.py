"""What `sizer status` says of runs that are stored."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

STORED = Path(__file__).parents[1] / "stored" / "version_1"


def test_status_tells_which_runs_carry_a_warning(
    sizer: Callable[..., subprocess.CompletedProcess[str]], folder: Path
) -> None:
    """The kind stands with the run, and their number at the end and in the JSON."""
    shutil.copytree(STORED, folder / "old")
    *lines, last = sizer("status", "old").stdout.splitlines()
    assert any(line.endswith("(throttled)") for line in lines)
    assert last.endswith("runs finished, 1 with a warning")
    assert json.loads(sizer("status", "old", "--json").stdout)["warned"] == 1
