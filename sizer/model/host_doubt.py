"""Whether a probe beside the runs of a workload would make its rates surer than more runs alone."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from sizer.model.exposure import exposures, within
from sizer.model.feeds import made_alike
from sizer.model.isolation import end_to_end
from sizer.model.observations import completed, noise_of
from sizer.model.probe_coefficient import FEWEST_OTHERS
from sizer.model.seen_runs import EXPOSED
from sizer.records import Run, WarningKind

MORE_THAN_TOLD = 1.5
"""Times the deviation that the intervals of runs tell: repeats that are further apart met a host that moved."""


def probe_would_help(runs: Sequence[Run], vcpus: float | None, gpu: str | None) -> bool:
    """Whether the host moved by more than the workload's runs tell of themselves, the CPU binds those with so many
    vCPUs and that accelerator, so that it shows in their rates, no probe was asked for yet, and the runs are enough to
    tell a coefficient."""
    runs = [run for run in completed(end_to_end(runs)) if not run.imported]
    if len(runs) <= FEWEST_OTHERS or any(run.probe is not None for run in runs) or not _host_moved(runs):
        return False
    shown = exposures(runs)
    alike = [run for run in runs if run.configuration.vcpus == vcpus and gpu in (None, run.configuration.gpu)]
    return max(shown[id(run)] for run in alike or runs) >= EXPOSED


def _host_moved(runs: Sequence[Run]) -> bool:
    """By the marks of drift, or by repeats."""
    if any(warning.kind is WarningKind.DRIFTING for run in runs for warning in run.warnings):
        return True
    noise, own = noise_of(made_alike(runs)), [width for run in runs if (width := within(run)) is not None]
    return noise.repeated and bool(own) and noise.run > MORE_THAN_TOLD * median(own)
