"""A study is concluded: other processes fit its model while this one loads, and begins with, what needs no model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.api.fitted_model import fitted
from sizer.api.steps import OnStep, no_step

if TYPE_CHECKING:
    from sizer.api.conclusions import Tables
    from sizer.api.events import Conclusion
    from sizer.store.study_folder import StudyFolder


def conclude(folder: StudyFolder, on_step: OnStep = no_step) -> Conclusion:
    """Write model, recommendation, table of measurements and report into the folder. Raises HostError."""
    begun: list[Tables] = []

    def begin() -> None:
        from sizer.api import conclusions

        begun.append(conclusions.begin(folder))

    model = fitted(folder, on_step, meanwhile=begin)
    if not begun:
        begin()
    from sizer.api.conclusions import conclude_from

    return conclude_from(folder, model, begun[0], on_step)
