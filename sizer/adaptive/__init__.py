"""Pure: a Study, its runs so far and what they say become the one next run, or the reason to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.adaptive.bounds import within
    from sizer.adaptive.chooser import Chooser, chooser_of
    from sizer.adaptive.chosen import NextRun, PlanEnd, next_of
    from sizer.adaptive.conclusions import place_of
    from sizer.adaptive.to_follow import Unfinished, most_to_follow, unfinished
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "Chooser",
    "NextRun",
    "PlanEnd",
    "Unfinished",
    "chooser_of",
    "most_to_follow",
    "next_of",
    "place_of",
    "unfinished",
    "within",
]
