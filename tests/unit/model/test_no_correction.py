"""Why the rates of a workload stay as measured although its study asks for a probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from simulated_noise import Host, Job, study

from sizer.model import NoCorrection, corrected, uncorrected
from sizer.records import RoundCost, Run, RunWarning, WarningKind

VCPUS = (0.5, 1.0, 2.0)
NOISY, QUIET = Host(0.06, 0.05), Host(0.0, 0.0)


def runs_on(host: Host, *jobs: Job, repeats: int = 3) -> list[Run]:
    return study(list(jobs), VCPUS, repeats, 10.0, host, np.random.default_rng(0))


def blind(run: Run) -> Run:
    """Without any look at the host."""
    assert run.probe is not None
    return replace(run, probe=replace(run.probe, rounds=0, during=None, product=RoundCost()))


def costly(run: Run) -> Run:
    return replace(run, warnings=(RunWarning(WarningKind.OVERHEAD, {"share": 0.012}),))


def some(change: Callable[[Run], Run], count: int) -> list[Run]:
    """Of nine runs of one job so many changed."""
    runs = runs_on(NOISY, Job("train"))
    return [*map(change, runs[:count]), *runs[count:]]


@pytest.mark.parametrize(
    ("runs", "why", "costly", "telling"),
    [
        (runs_on(NOISY, Job("train", ceiling=10.0)), NoCorrection.PACED, 0, 9),
        (runs_on(NOISY, Job("train"), repeats=1), NoCorrection.FEW_RUNS, 0, 3),
        (runs_on(QUIET, Job("train")), NoCorrection.UNTOLD, 0, 9),
        (some(blind, 5), NoCorrection.FEW_LOOKS, 0, 4),
        (some(costly, 5), NoCorrection.COSTLY, 5, 4),
        (some(lambda run: replace(run, probe=None), 9), NoCorrection.NO_PROBE, 0, 0),
    ],
    ids=lambda each: each.value if isinstance(each, NoCorrection) else "",
)
def test_what_keeps_the_rates_as_measured(runs: Sequence[Run], why: NoCorrection, costly: int, telling: int) -> None:
    """One reason a workload."""
    (found,) = uncorrected(corrected(runs))
    assert (found.workload, found.why, found.runs) == ("train", why, len(runs))
    assert (found.costly, found.telling, found.needed) == (costly, telling, 5)


def test_a_workload_with_a_corrected_rate_is_none_of_them() -> None:
    """Nor one that is corrected in some of its runs; beside it, one that waits for a GPU is."""
    assert uncorrected(corrected(some(blind, 4))) == ()
    runs = corrected(runs_on(NOISY, Job("preprocess"), Job("train", ceiling=10.0)))
    assert [each.workload for each in uncorrected(runs)] == ["train"]


def test_reads_alone_need_one_run_less() -> None:
    """As stored by a sizer before; and what did not complete is no run of which a rate is asked."""
    runs = [replace(run, probe=replace(run.probe, product=None)) for run in some(blind, 6) if run.probe is not None]
    (found,) = uncorrected(corrected([*runs, replace(runs[0], throughput=None)]))
    assert (found.why, found.runs, found.telling, found.needed) == (NoCorrection.FEW_LOOKS, 9, 3, 4)
