"""The page of a study that is not finished yet, for whoever looks at it meanwhile (`sizer serve`).

To draw it takes seconds of CPU time. During a run these would be other load on the host, so while a study is measured
it is who measures that writes the page, between two runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from sizer.api.conclusions import write_report
from sizer.store.study_folder import StudyFolder
from sizer.store.watched import is_watched

PAUSE = 10.0
"""How many times as long as the last page took there is no other one: pages take a tenth of the time at most."""


class WatchedPage:
    """Writes the page again where somebody looks at it, there are newer runs, and the last one is some time ago."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = float("-inf")

    def write_if_due(self, folder: StudyFolder, anew: bool = False) -> None:
        """With `anew` also where there are no newer runs. Raises SizerError where the page cannot be written."""
        began = self._clock()
        if began < self._not_before or not is_watched(folder.path):
            return
        if not (anew or folder.is_stale(folder.report_path)) or not folder.runs():
            return
        try:
            write_report(folder)
        finally:
            ended = self._clock()
            self._not_before = ended + PAUSE * (ended - began)
