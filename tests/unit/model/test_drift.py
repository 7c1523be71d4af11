"""How slow the host was through a study, by what was measured again; and what its rates owe to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest

from sizer.model.host import NO_DRIFT, drift_of, exposures, own_deviation
from sizer.model.observations import observe
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.run import Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind

MakeRun = Callable[..., Run]
BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)
P100 = Device("emulated", gpu="P100", samples_per_second=219.0)
SLOW = math.log(0.8)


def in_order(runs: Sequence[Run]) -> list[Run]:
    """One a minute."""
    return [replace(run, started_at=(BEGAN + timedelta(minutes=at)).isoformat()) for at, run in enumerate(runs)]


def stepped(make_run: MakeRun, name: str = "train", slow: float = SLOW, noise: float = 0.003) -> list[Run]:
    """Three repeats of five sizes; from the middle of it on the host is 20 % slower."""
    random = np.random.default_rng(3)
    order = [(repeat, float(c)) for repeat in range(3) for c in random.permutation([1, 2, 4, 8, 16])]
    rates = [
        100 * c**0.8 * math.exp((slow if at >= 8 else 0.0) + noise * random.standard_normal())
        for at, (_, c) in enumerate(order)
    ]
    return [make_run(rate, c, repeat=repeat, name=name) for (repeat, c), rate in zip(order, rates, strict=True)]


def test_a_step_of_the_host_is_found_and_taken_off(make_run: MakeRun) -> None:
    """What repeats at other times gave tells it; the sizes then lie on their curve again, but for a level."""
    runs = in_order(stepped(make_run))
    drift = drift_of(runs)
    before, after = ([drift.at(run) for run in part] for part in (runs[:7], runs[9:]))
    assert all(each is not None and each.mean > 0.05 for each in before)
    assert all(each is not None and each.mean < -0.05 for each in after)
    raw, _ = observe(runs)
    found, _ = observe(runs, drift)
    off = [
        np.std([run.log_rate - 0.8 * math.log(run.configuration.vcpus or 1) for run in some]) for some in (raw, found)
    ]
    assert off[1] < 0.25 * off[0]
    assert max(each.deviation for each in found) < min(each.deviation for each in raw)


def test_a_quiet_host_corrects_nothing(make_run: MakeRun) -> None:
    """Repeats that agree leave no room for a path."""
    runs = in_order(stepped(make_run, slow=0.0))
    drift = drift_of(runs)
    shifts = [drift.at(run) for run in runs]
    assert all(shift is not None and abs(shift.mean) < 0.002 and shift.variance < 0.005**2 for shift in shifts)


def test_what_one_workload_alone_feels_is_not_taken_off_another(make_run: MakeRun) -> None:
    """Its own repeats, made between those that moved, did not."""
    moved, steady = stepped(make_run), stepped(make_run, name="steady", slow=0.0)
    runs = in_order([run for pair in zip(moved, steady, strict=True) for run in pair])
    drift = drift_of(runs)
    felt = [abs(shift.mean) for run in runs if (shift := drift.at(run)) and run.spec.workload.name == "train"]
    other = [abs(shift.mean) for run in runs if (shift := drift.at(run)) and run.spec.workload.name == "steady"]
    assert max(other) < 0.2 * np.mean(felt)


def test_without_times_or_repeats_nothing_is_known(make_run: MakeRun) -> None:
    """Runs of a table, and runs that were made once each."""
    assert drift_of(stepped(make_run)) == NO_DRIFT
    assert drift_of(in_order(stepped(make_run)[:5])) == NO_DRIFT
    assert drift_of([]) == NO_DRIFT


def accounted(run: Run, core_seconds: float, named: Bottleneck) -> Run:
    return replace(run, demand=Demand(core_seconds=core_seconds), evidence=Evidence(named, {}, EvidenceKind.BUSIEST))


def test_a_rate_shows_the_host_as_far_as_the_cpu_binds_it(make_run: MakeRun) -> None:
    """All of it where it does, next to nothing beside an accelerator that is full, all where nothing was accounted."""
    runs = [
        accounted(make_run(100.0, 1.0), 0.0098, Bottleneck.CPU),
        accounted(make_run(219.0, 4.0, device=P100), 0.0049, Bottleneck.ACCELERATOR),
        accounted(make_run(90.0, 2.0), 0.011, Bottleneck.SERIAL),
        make_run(90.0, 8.0),
    ]
    shown = exposures(runs)
    assert [shown[id(run)] for run in runs] == [1.0, pytest.approx(0.0010, abs=0.0002), 1.0, 1.0]


def test_an_accelerator_keeps_its_rate_while_the_host_drifts(make_run: MakeRun) -> None:
    """The reference, which the CPU binds, moved by 18 %: what waits for its accelerator is as sure as ever."""
    reference = [make_run(rate, 2.0, name="cpu", repeat=k) for k, rate in enumerate((100.0, 118.0, 101.0, 117.0))]
    fed = [
        accounted(make_run(219.0, c, device=P100, disk=disk, spread=1e-4), 0.0008, Bottleneck.ACCELERATOR)
        for c in (0.5, 1.0, 2.0)
        for disk in ("nvme", "ssd", "standard")
    ]
    runs = in_order([reference[0], *fed[:3], reference[1], *fed[3:6], reference[2], *fed[6:], reference[3]])
    drift = drift_of(runs)
    own = [run for run in runs if run.spec.workload.name == "train"]
    found, _ = observe(own, drift)
    assert [math.exp(each.log_rate) for each in found] == pytest.approx([219.0] * 9, rel=1e-3)
    assert max(each.deviation for each in found) < 0.015
    by_cpu, _ = observe(
        [replace(run, demand=None, evidence=None) for run in runs if run.spec.workload.name == "train"], drift
    )
    assert min(each.deviation for each in by_cpu) > 0.03


@pytest.mark.parametrize(
    ("warning", "exposure", "least", "most"),
    [
        (RunWarning(WarningKind.CONTENDED, {"cores": 0.5}), 1.0, 0.08, 0.13),
        (RunWarning(WarningKind.CONTENDED, {"cores": 0.5}), 0.01, 0.0, 0.002),
        (RunWarning(WarningKind.STOLEN, {"cores": 0.1}), 1.0, 0.01, 0.03),
        (RunWarning(WarningKind.GPU_SHARED, {"share": 0.5}), 0.0, 0.15, 0.25),
        (RunWarning(WarningKind.UNSETTLED), 1.0, 0.004, 0.007),
        (RunWarning(WarningKind.ONE_READING), 0.0, 0.05, 0.05),
        (RunWarning(WarningKind.DRIFTING, {"before": 100.0, "after": 120.0}), 1.0, 0.08, 0.1),
        (RunWarning(WarningKind.DRIFTING, {"level": 90.0, "low": 98.0, "high": 102.9}), 1.0, 0.04, 0.07),
        (RunWarning(WarningKind.DRIFTING), 1.0, 0.02, 0.03),
        (RunWarning(WarningKind.OVERHEAD, {"share": 0.02}), 1.0, 0.0, 0.0),
    ],
)
def test_a_warning_says_how_far_its_run_may_be_off(
    make_run: MakeRun, warning: RunWarning, exposure: float, least: float, most: float
) -> None:
    """By its own figures, and as far as the run shows the host."""
    run = replace(make_run(100.0, 2.0), warnings=(warning,))
    assert least <= own_deviation(run, exposure, host_known=False) <= most


def test_of_two_repeats_the_undisturbed_one_counts_for_more(make_run: MakeRun) -> None:
    """A run that others took half a core from is not worth as much as one that had the host for itself."""
    clean, disturbed = make_run(100.0, 1.0), make_run(80.0, 1.0, repeat=1)
    disturbed = replace(disturbed, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.6}),))
    (even,), _ = observe([clean, replace(disturbed, warnings=())])
    (found,), _ = observe([clean, disturbed])
    assert math.exp(even.log_rate) == pytest.approx(90.0)
    assert math.exp(found.log_rate) > 97
