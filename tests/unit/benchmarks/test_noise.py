"""The benchmarks of the noise of a host, in a small form."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import repeats
import saturation
import simulated
from grid_data import save_runs
from noise_scores import covered, held_out, planned, repeat_differences
from probe_gain import corrected, every, spread, thin, windows
from probe_series import Series
from repeat_table import show_repeats
from simulated_noise import Host, Job, study

from sizer.records import GIB, Purpose, Run, Sample, Step, Study, WorkloadPlan
from sizer.store import StudyFolder


def test_scores_are_those_of_repeats() -> None:
    """Two repeats of each of three configurations differ three times, and each is held out once."""
    runs = study([Job("a")], (0.5, 1.0, 2.0), 2, 6.0, Host(0.05, 0.05), np.random.default_rng(0))
    assert len(repeat_differences(runs)) == 3
    found = list(held_out(runs))
    assert len(found) == 6
    assert sum(off for off, _ in found) == pytest.approx(0.0, abs=1e-9)
    assert 0.5 <= covered(found) <= 1


def test_simulated_studies_meet_their_aim(capsys: pytest.CaptureFixture[str]) -> None:
    """No difference between configurations is explained away."""
    assert simulated.line("both", "fills the memory bus", 12) == 0
    assert "fills the memory bus" in capsys.readouterr().out


def test_tables_of_measured_runs_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """From runs as they are measured, raw and corrected."""
    runs = study([Job("preprocessing")], (0.5, 1.0), 4, 6.0, Host(0.05, 0.05), np.random.default_rng(3))
    show_repeats(runs)
    found = saturation.show([0.5, 1.0], [undisturbed(runs)])
    assert found in (saturation.WITHIN, saturation.BEYOND, saturation.NOT_TOLD)
    told = capsys.readouterr().out
    assert "rates corrected by" in told
    assert "a corrected ratio is off the undisturbed one" in told


def test_what_a_correction_moves_a_ratio_by_has_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """On simulated hosts, where nothing is explained away, it holds nothing; few and noisy blocks show neither."""
    job, sizes = Job("copies"), (0.5, 1.0, 2.0)
    many = undisturbed(study([job], sizes, 10, 10.0, Host(0.02, 0.02), np.random.default_rng(1)))
    moved = saturation.told_by_blocks(saturation.moved_by, many, sizes)[-1]
    assert moved.low < moved.middle < moved.high
    assert moved.low <= 0.005
    assert moved.high >= -0.005
    assert saturation.show(sizes, [many]) == saturation.WITHIN
    few = undisturbed(study([job], sizes, 3, 6.0, Host(0.3, 0.3), np.random.default_rng(1)))
    assert saturation.show(sizes, [few]) == saturation.NOT_TOLD
    assert "not shown" in capsys.readouterr().out
    assert saturation.told_by_blocks(saturation.moved_by, few[:6], sizes)[-1].high == math.inf
    quiet = study([job], sizes, 3, 6.0, Host(0.0, 0.0), np.random.default_rng(1))
    assert saturation.show(sizes, [undisturbed([replace(run, probe=None) for run in quiet])]) == saturation.NOT_TOLD
    assert "nothing was corrected" in capsys.readouterr().out


def test_looks_that_slow_one_size_are_no_part_of_the_undisturbed_ratio(capsys: pytest.CaptureFixture[str]) -> None:
    """They take 3 % off the rate at 2 vCPUs, which no correction gives back."""
    sizes = (0.5, 2.0)
    runs = study([Job("copies")], sizes, 6, 6.0, Host(0.01, 0.01), np.random.default_rng(1))
    slowed = [saturation.Looked(run, -0.03 if run.configuration.vcpus == 2 else 0.0) for run in runs]
    assert saturation.show(sizes, [slowed]) == saturation.BEYOND
    looks, both = (
        saturation.told_by_blocks(of, slowed, sizes)[-1]
        for of in (saturation.moved_by_looks, saturation.off_undisturbed)
    )
    assert looks.low == pytest.approx(-0.03)
    assert looks.high == pytest.approx(-0.03)
    assert both.middle == pytest.approx(-0.03, abs=0.005)
    assert "shown to be so: a corrected ratio is off the undisturbed one" in capsys.readouterr().out


def test_two_studies_tell_more_than_each() -> None:
    """Their mean is nearer to the surer one, and surer than it."""
    (found,) = saturation.together([[saturation.Shift(0.01, -0.01, 0.03)], [saturation.Shift(-0.01, -0.02, 0.0)]])
    assert found.middle == pytest.approx(-0.006)
    assert found.high - found.middle == pytest.approx(0.01 / math.sqrt(1.25))


@pytest.mark.parametrize("held_up", [0.0, 0.01, 0.05])
def test_what_looks_take_off_a_run_is_told_by_the_moments_around_them(held_up: float) -> None:
    """A look each half second, at which the job stands still for so many seconds, on a host that becomes slower."""
    run = study([Job("copies")], (1.0,), 1, 6.0, Host(0.0, 0.0), np.random.default_rng(1))[0]
    samples = tuple(Sample(100.0 + 0.5 * number, probe_rounds=2 * number) for number in range(41))
    steps, freely = steps_beside_looks(held_up), steps_beside_looks(0.0)
    found = saturation.by_looks(replace(run, steps=steps, samples=samples))
    assert found == pytest.approx(math.log(len(steps) / len(freely)), rel=0.07, abs=0.001)
    assert saturation.by_looks(replace(run, steps=steps, samples=())) == 0.0


def steps_beside_looks(held_up: float) -> tuple[Step, ...]:
    """Of 2 ms, slower by a hundredth each second, for 20 s."""
    steps, time = [], 100.0
    while time < 120.0:
        time += max(0.0, held_up - (time - 100.0) % 0.5) + 0.002 * (1 + 0.01 * (time - 100.0))
        steps.append(Step(time, 1, 0.0, 0))
    return tuple(steps)


def undisturbed(runs: Sequence[Run]) -> list[saturation.Looked]:
    """Runs from which looks take nothing."""
    return [saturation.Looked(run, 0.0) for run in runs]


@pytest.mark.parametrize(
    ("low", "high", "looked", "found"),
    [
        (-0.004, 0.009, True, saturation.WITHIN),
        (-0.004, 0.011, True, saturation.NOT_TOLD),
        (0.011, 0.030, True, saturation.BEYOND),
        (-0.030, -0.011, True, saturation.BEYOND),
        (-0.002, 0.002, False, saturation.NOT_TOLD),
    ],
)
def test_not_shown_to_be_above_is_not_above(low: float, high: float, looked: bool, found: int) -> None:
    assert saturation.judged([saturation.Shift(0.0, low, high), saturation.Shift(0.0, 0.0, 0.0)], looked) == found


def test_what_a_probe_tells_is_found_from_the_other_half() -> None:
    """A probe that feels what the job feels leaves little; one that feels nothing leaves all."""
    random, seconds = np.random.default_rng(1), np.arange(0.0, 200.0, 0.1)
    host = np.repeat(0.05 * random.normal(size=100), 20)
    job = np.column_stack([seconds, np.cumsum(0.1 * np.exp(host)), np.arange(1, len(seconds) + 1)])
    rounds = np.column_stack([seconds, 0.001 * np.exp(host)])
    chance = np.column_stack([seconds, 0.001 * np.exp(0.05 * random.normal(size=len(seconds)))])
    series = Series(job, {"same": rounds, "chance": chance})
    left, coefficient = corrected(series, [rounds], 1.4)
    assert left < spread(series, 1.4) / 3
    assert coefficient == pytest.approx([1.0], abs=0.1)
    assert corrected(series, [chance], 1.4)[0] > 0.9 * spread(series, 1.4)
    assert len(thin(rounds, 0.1)) == 200
    assert len(windows(series, [], 5.7)[0]) == 35


def test_runs_of_a_stored_study_are_compared_without_its_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They tell the host as the others do, and are too many of one configuration to count among repeats."""
    runs = study([Job("preprocessing")], (0.5, 1.0), 4, 6.0, Host(0.05, 0.05, 0.02, 0.02), np.random.default_rng(3))
    place = runs[-1].configuration
    reference = [
        replace(run, spec=replace(run.spec, purpose=Purpose.REFERENCE, repeat=10 + number))
        for number, run in enumerate(each for each in runs if each.configuration == place)
    ]
    plan = WorkloadPlan(runs[0].spec.workload, (32,), (0.5, 1.0))
    host = {"cpus": 2, "memory_bytes": 8 * GIB}
    with StudyFolder.create(tmp_path / "s", Study("s", (plan,), probe=True), host) as folder:
        for run in [*runs, *reference]:
            folder.add(run)
    assert len(repeat_differences(planned([*runs, *reference]))) == len(repeat_differences(runs)) == 12
    monkeypatch.setattr(sys, "argv", ["repeats.py", "--study", str(tmp_path / "s")])
    assert repeats.main() in (0, 1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["preprocessing", "all"]
    save_runs(StudyFolder.open(tmp_path / "s").runs(), tmp_path / "runs.jsonl")
    monkeypatch.setattr(sys, "argv", ["repeats.py", "--runs", str(tmp_path / "runs.jsonl")])
    assert repeats.main() in (0, 1)
    assert capsys.readouterr().out.splitlines() == lines
    assert "rates corrected by" in lines[3]
    monkeypatch.setattr(sys, "argv", ["repeats.py", "--runs", str(tmp_path / "runs.jsonl"), "--only", "0,3"])
    few = [run for run in [*runs, *reference] if run.spec.repeat in (0, 3) or run in reference]
    assert repeats.main() == int(not show_repeats(few))
    printed = capsys.readouterr().out.splitlines()
    assert printed[:5] == printed[5:] != lines


def test_two_probes_tell_what_neither_does_alone() -> None:
    """Each feels another noise, and the job both."""
    random, seconds = np.random.default_rng(2), np.arange(0.0, 300.0, 0.1)
    memory, cores = (np.repeat(0.04 * random.normal(size=150), 20) for _ in range(2))
    felt = 0.8 * memory + 0.9 * cores
    job = np.column_stack([seconds, np.cumsum(0.1 * np.exp(felt)), np.arange(1, len(seconds) + 1)])
    reads = np.column_stack([seconds, 0.001 * np.exp(memory + 0.5 * cores)])
    products = np.column_stack([seconds, 0.0002 * np.exp(cores)])
    series = Series(job, {"reads": reads, "products": products})
    (both, coefficients), (alone, _) = (corrected(series, probes, 1.4) for probes in ([reads, products], [reads]))
    assert both < alone / 3
    assert coefficients == pytest.approx([0.8, 0.5], abs=0.1)
    assert len(every(reads, 0.5)) == pytest.approx(600, abs=2)
