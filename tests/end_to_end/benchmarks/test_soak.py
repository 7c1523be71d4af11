from __future__ import annotations

import subprocess
import sys

import pytest
from soak import Table

from tests import ROOT

SOAK = ROOT / "benchmarks/reliability/soak.py"
SECONDS = 600
"""Before the quick variant is given up: it takes 40 to 70 s."""


@pytest.mark.root
@pytest.mark.slow
def test_ten_kills_lose_and_leave_nothing() -> None:
    """The soak of 200 kills with 10 of them."""
    argv = [sys.executable, str(SOAK), "--kills", "10", "--seed", "1", "--studies", "job"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_thing_lost_or_left_is_a_failure() -> None:
    """Whatever it is."""
    assert Table().holds()
    for kind in ("lost", "unreadable", "left"):
        assert not Table(**{kind: [("run", "a thing")]}).holds()
    assert not Table(incomplete=["a study"]).holds()
