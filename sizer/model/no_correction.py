"""Which workloads keep their rates as measured although the study asks for a probe, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from sizer.model.exposure import exposures
from sizer.model.host_noise import believed, is_costly
from sizer.model.probe_coefficient import needed, telling
from sizer.model.seen_runs import EXPOSED
from sizer.records import Run


class NoCorrection(Enum):
    """Nothing was looked at; the CPU does not set the pace; what too few runs, sizer's own use or too few looks left
    open; or rates that do not move with the probe."""

    NO_PROBE = "no_probe"
    PACED = "paced"
    FEW_RUNS = "few_runs"
    COSTLY = "costly"
    FEW_LOOKS = "few_looks"
    UNTOLD = "untold"


@dataclass(frozen=True)
class Uncorrected:
    """A workload with so many `runs` that have a rate: of `costly` ones sizer took so much that their probe is not
    believed, `telling` ones show how their rate follows it, and `needed` would have to."""

    workload: str
    why: NoCorrection
    runs: int
    costly: int
    telling: int
    needed: int


def uncorrected(runs: Sequence[Run]) -> tuple[Uncorrected, ...]:
    """Of the runs of a whole study, with their corrections, the workloads of which none moves a rate."""
    measured = [run for run in runs if run.throughput is not None and run.throughput.value > 0]
    shown, told = exposures(measured), believed(measured)
    workloads: dict[str, list[Run]] = defaultdict(list)
    for run in measured:
        workloads[run.spec.workload.name].append(run)
    return tuple(
        _uncorrected(name, own, [run for run in told if run.spec.workload.name == name], shown)
        for name, own in workloads.items()
        if not any(run.correction is not None and run.correction.is_felt for run in own)
    )


def _uncorrected(name: str, runs: Sequence[Run], told: Sequence[Run], shown: Mapping[int, float]) -> Uncorrected:
    costly, enough, asked = sum(map(is_costly, runs)), telling(told, shown), needed(told)
    return Uncorrected(name, _why(runs, shown, costly, enough, asked), len(runs), costly, enough, asked)


def _why(runs: Sequence[Run], shown: Mapping[int, float], costly: int, enough: int, asked: int) -> NoCorrection:
    if all(run.probe is None for run in runs):
        return NoCorrection.NO_PROBE
    if max(shown[id(run)] for run in runs) < EXPOSED:
        return NoCorrection.PACED
    if enough >= asked:
        return NoCorrection.UNTOLD
    if len(runs) < asked:
        return NoCorrection.FEW_RUNS
    # What keeps most of the others from telling.
    return NoCorrection.COSTLY if 2 * costly > len(runs) - enough else NoCorrection.FEW_LOOKS
