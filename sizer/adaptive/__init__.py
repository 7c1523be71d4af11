"""Pure: a Study, its runs so far and what they say become the one next run, or the reason to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.adaptive.chooser import Chooser, NextRun, chooser_of
else:
    __getattr__ = exports(__name__, __file__)

__all__ = ["Chooser", "NextRun", "chooser_of"]
