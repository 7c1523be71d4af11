"""What `sizer status` says of runs that are stored."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path


def test_status_tells_which_runs_carry_a_warning(
    sizer: Callable[..., subprocess.CompletedProcess[str]], first_version: Path
) -> None:
    """The kind stands with the run, and their number at the end and in the JSON."""
    *lines, last = sizer("status", str(first_version)).stdout.splitlines()
    assert any(line.endswith("(throttled)") for line in lines)
    assert last.endswith("runs finished, 1 with a warning")
    assert json.loads(sizer("status", str(first_version), "--json").stdout)["warned"] == 1
