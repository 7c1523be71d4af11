"""What a package's `__init__` exports is used outside the package: a face is no larger than others need."""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tests import ROOT

FOLDERS = ("sizer", "reports", "benchmarks")
FACES = sorted(path.parent.name for path in ROOT.glob("sizer/*/__init__.py") if "__all__" in path.read_text("utf-8"))
"""Packages that export; what the engine exports is documented, which its own test asks."""


@cache
def imported(path: Path) -> set[tuple[str, str]]:
    """(package, name) of every `from sizer.package import name` and `package.name` in a file."""
    text = path.read_text("utf-8")
    found = {
        (node.module.removeprefix("sizer."), each.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("sizer")
        for each in node.names
    }
    modules = {name for module, name in found if module == "sizer"}
    return found | {(module, name) for module, name in re.findall(r"\b(\w+)\.(\w+)", text) if module in modules}


@pytest.mark.parametrize("package", [name for name in FACES if name != "api"])
def test_every_export_is_used(package: str) -> None:
    """By another package or a benchmark; a test imports the module that it tests."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    outside = [path for path in files if path.parent != ROOT / "sizer" / package]
    used = {name for path in outside for module, name in imported(path) if module == package}
    assert set(import_module(f"sizer.{package}").__all__) - used == set()
