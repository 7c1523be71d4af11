"""Benchmarks are programs: they find each other in their own folder, and so do their tests."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
