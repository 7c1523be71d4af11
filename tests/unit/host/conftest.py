"""What the tests of the host share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """An interpreter of this version without any package."""
    path = tmp_path / "bare"
    path.write_text(f'#!/bin/sh\nexec "{sys._base_executable}" -I -S "$@"\n')  # type: ignore[attr-defined]
    path.chmod(0o755)
    return path
