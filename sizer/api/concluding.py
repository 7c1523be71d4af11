"""A study is concluded: other processes fit its model while this one loads, and begins with, what needs no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sizer.api.fitted_model import fitted
from sizer.api.steps import OnStep, no_step

if TYPE_CHECKING:
    from sizer.api.conclusions import Beginning
    from sizer.model import Model, Uncorrected
    from sizer.plan import Spread
    from sizer.records import Correction, Lines, Message, Recommendation
    from sizer.store import StudyFolder


@dataclass(frozen=True)
class Conclusion:
    """What the runs of a study say: how far the host drifted, None where it did not, `problems` about files among its
    runs that cannot be read, what was taken off rates for the noise of the host, and of which workloads, whose study
    asks for a probe, nothing was."""

    model: Model
    recommendation: Recommendation
    drift: Spread | None
    problems: tuple[Message | Lines, ...]
    corrections: tuple[Correction, ...] = ()
    uncorrected: tuple[Uncorrected, ...] = ()


def conclude(folder: StudyFolder, on_step: OnStep = no_step) -> Conclusion:
    """Write model, recommendation, table of measurements and report into the folder. Raises HostError."""
    begun: list[Beginning] = []

    def begin() -> None:
        from sizer.api import conclusions

        begun.append(conclusions.begin(folder))

    model = fitted(folder, on_step, meanwhile=begin)
    if not begun:
        begin()
    from sizer.api.conclusions import conclude_from

    return conclude_from(folder, model, begun[0], on_step)
