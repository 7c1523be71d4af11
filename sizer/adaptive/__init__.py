"""Pure: a Study, its runs so far and what they say become the one next run, or the reason to stop."""

from __future__ import annotations

from sizer.adaptive.chooser import Chooser, NextRun

__all__ = ["Chooser", "NextRun"]
