"""The warnings of a run: each says what spoilt a figure, and none is given without cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from sizer.analysis.epochs import Epochs
from sizer.analysis.run_warnings import run_warnings
from sizer.records.configuration import Configuration, Estimate
from sizer.records.run import Conditions, DataSet, Demand, MemoryGrowth, RateChange, RateDetails, Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.records.units import GIB
from sizer.words.warnings import warning_line


@pytest.fixture
def run() -> Callable[..., Run]:
    """A quiet run of 100 images/s, with figures changed."""

    def changed(vcpus: float = 1.0, **figures: Any) -> Run:
        spec = RunSpec(Workload("train", "image_training"), 32, Limits(vcpus), Measure(precision=0.02))
        quiet = Run(
            spec,
            Outcome.COMPLETED,
            Configuration(vcpus, 4 * GIB, "host", 32),
            "2026-11-21T10:00:00+00:00",
            40.0,
            sample_unit="image",
            data_set=DataSet("/data/train.rec", "recordio", GIB, 10_000, False),
            throughput=Estimate(100.0, 99.0, 101.0),
            rate=RateDetails(measured_seconds=30.0, stopped="precision"),
            demand=Demand(asked_bytes=100_000, read_bytes=101_000),
            conditions=Conditions(resident_bytes=0, other_cores=0.01, overhead=0.002, stolen_cores=0.01),
        )
        groups = {
            name: replace(getattr(quiet, name), **group) for name, group in figures.items() if type(group) is dict
        }
        return replace(quiet, **{**figures, **groups})

    return changed


def found(run: Run) -> list[str]:
    """What is said of a run."""
    return [warning_line(warning, run.sample_unit) for warning in run_warnings(run, Epochs.ANY)]


def test_a_quiet_run_has_no_warning(run: Callable[..., Run]) -> None:
    """Small figures of everything are normal."""
    assert run_warnings(run(), Epochs.ANY) == ()


@pytest.mark.parametrize(
    ("figures", "warning"),
    [
        ({"conditions": {"other_cores": 0.31}}, "contended: something else on this host used 0.31 cores meanwhile"),
        ({"conditions": {"overhead": 0.023}}, "overhead: sizer itself used 2.3 % of the workload's core-seconds"),
        ({"conditions": {"stolen_cores": 0.31}}, "stolen: the hypervisor gave 0.31 cores to others meanwhile"),
        (
            {"conditions": {"limits_buffered_writes": False, "unwritten_bytes": 120 << 20}},
            "writes unlimited: up to 120 MiB waited in the page cache, where this kernel's throttle does not see them; "
            "let the program sync while it writes",
        ),
        (
            {"conditions": {"resident_bytes": GIB // 2}},
            "page cache warm: 50 % of the data was in memory before the run",
        ),
        ({"memory": {"peak_swap_bytes": 3 * GIB}}, "swapped: up to 3 GiB of its memory was in swap"),
        (
            {"memory": {"memory_growth": MemoryGrowth(Estimate(1048.576, 900.0, 1200.0), 0.0, 500, True)}},
            "memory rising: anonymous memory still rose at the end, by 1 MiB in 1,000 steps; a longer run needs more",
        ),
        (
            {"demand": Demand(asked_bytes=100_000, read_bytes=127_000)},
            "read amplified: the device read 1.27 bytes for each byte that the program asked for",
        ),
        (
            {"rate": {"rate_change": RateChange(14.2, Estimate(812.0, 800.0, 824.0), Estimate(402.0, 396.0, 408.0))}},
            "two rates: 812 images/s for 14 s, then 402; the later rate counts",
        ),
        (
            {"throughput": Estimate(100.0, 93.0, 107.0)},
            "imprecise: ±7.0 % after 30 s, where ±2.0 % was asked for",
        ),
        ({"rate": {"stopped": "deadline"}}, "short: stopped at the deadline after 30 s of steady state"),
    ],
)
def test_each_cause_has_its_sentence(run: Callable[..., Run], figures: dict[str, Any], warning: str) -> None:
    """One cause, one sentence."""
    assert found(run(**figures)) == [warning]


def test_a_fraction_is_throttled_by_design_and_says_what_that_does(run: Callable[..., Run]) -> None:
    """Slices of time are not a slower CPU; with more than one thread waiting costs extra."""
    (half,) = found(run(0.5, conditions={"throttled": 0.97}))
    assert half.startswith("throttled: 97 % of CPU periods used up the quota of 0.5 vCPU")
    assert "wait for each other" not in half
    (more,) = found(run(1.5, conditions={"throttled": 0.97}))
    assert "wait for each other" in more


@pytest.mark.parametrize(
    ("limited", "unwritten"), [(True, 120 << 20), (None, 120 << 20), (False, 16 << 20), (False, None)]
)
def test_writes_that_wait_are_only_told_where_no_throttle_will_see_them(
    run: Callable[..., Run], limited: bool | None, unwritten: int | None
) -> None:
    """A throttle that holds them, no throttle at all, and a program that syncs as it writes are as they should be."""
    assert (
        run_warnings(run(conditions={"limits_buffered_writes": limited, "unwritten_bytes": unwritten}), Epochs.ANY)
        == ()
    )


@pytest.mark.parametrize(
    ("epochs", "kind"),
    [
        (Epochs.FIRST, WarningKind.FIRST_EPOCH),
        (Epochs.NOT_KNOWN, WarningKind.NO_EPOCHS),
        (Epochs.PART, WarningKind.PART_OF_EPOCH),
        (Epochs.WHOLE, None),
    ],
)
def test_a_rate_of_other_epochs_than_were_asked_for_is_said(
    run: Callable[..., Run], epochs: Epochs, kind: WarningKind | None
) -> None:
    """Whole later epochs need no word."""
    assert [warning.kind for warning in run_warnings(run(), epochs)] == ([kind] if kind else [])
