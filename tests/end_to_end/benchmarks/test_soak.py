"""sizer is killed at drawn moments and started again: a short form of `benchmarks/reliability/soak.py`."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from soak_sizer import REPLACED

from tests import ROOT

SOAK = ROOT / "benchmarks/reliability/soak.py"
SECONDS = 1800
"""Before it is given up: ten kills take 40 to 70 s."""


@pytest.mark.root
@pytest.mark.long
def test_kills_lose_and_leave_nothing() -> None:
    """The soak of 200 kills with fewer of them."""
    argv = [sys.executable, str(SOAK), "--kills", "50", "--seed", "1", "--studies", "job"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("name", "attribute"), [(name, attribute) for name, attribute, _ in REPLACED])
def test_what_tells_of_a_phase_stands_where_it_is_called(name: str, attribute: str) -> None:
    """In a module that only defines it, or only hands it on, nobody would meet the replacement."""
    named = {
        node.id for node in ast.walk(ast.parse(inspect.getsource(import_module(name)))) if isinstance(node, ast.Name)
    }
    package = name.rpartition(".")[2]
    elsewhere = any(f"{package}.{attribute}(" in path.read_text() for path in (ROOT / "sizer/cli").glob("*.py"))
    face = attribute in getattr(import_module(name), "__all__", ())  # of sizer.api, which the commands ask by name
    assert attribute in named or elsewhere or face
