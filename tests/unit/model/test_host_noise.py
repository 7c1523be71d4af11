"""What probes beside runs tell of the host is taken off their rates, and nothing else is."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import fmean, median

import numpy as np
import pytest
from noise_scores import log_rate, repeat_differences
from simulated_noise import Host, Job, study

from sizer.model import completed, corrected, drift_of, without_host_noise
from sizer.model.exposure import own_deviation
from sizer.model.feeds import made_alike
from sizer.model.observations import DRIFT, observe
from sizer.records import Run, RunWarning, WarningKind

VCPUS = (0.5, 1.0, 2.0)
NOISY = Host(slow=0.06, quick=0.05, core_slow=0.03, core_quick=0.025)


def runs_on(host: Host, *jobs: Job, seed: int = 0, repeats: int = 3) -> list[Run]:
    return study(list(jobs), VCPUS, repeats, 10.0, host, np.random.default_rng(seed))


def ratio(runs: list[Run], vcpus: float) -> float:
    """Ln of the mean rate there over that at the fewest vCPUs."""
    means = [fmean(log_rate(run) for run in runs if run.configuration.vcpus == value) for value in (vcpus, VCPUS[0])]
    return means[0] - means[1]


def test_repeats_on_a_noisy_host_differ_by_less() -> None:
    """The probe tells nearly all of what neighbours did."""
    runs = runs_on(NOISY, Job("train"), Job("preprocess", feels=0.5))
    before, after = (median(repeat_differences(each)) for each in (runs, without_host_noise(runs)))
    assert before > 0.02
    assert after < before / 4


def test_on_a_quiet_host_nothing_changes() -> None:
    """What probes differ by is chance there."""
    runs = runs_on(Host(0.001, 0.001, 0.001, 0.001), Job("train"), repeats=4)
    for before, after in zip(runs, without_host_noise(runs), strict=True):
        assert log_rate(after) == pytest.approx(log_rate(before), abs=0.003)


@pytest.mark.parametrize("slows", [0.05, 0.5])
def test_what_a_job_does_to_its_own_memory_bus_is_not_explained_away(slows: float) -> None:
    """A probe beside it is slower with more vCPUs, and so is the job itself."""

    def own(vcpus: float) -> float:
        return slows * (vcpus - 0.5)

    job = Job("copies", feels=0.9, slows_probe=own, slows_products=own, slows_itself=own)
    quiet = Job("copies", feels=0.9, slows_itself=own)
    moved = []
    for seed in range(12):
        runs, alike = (without_host_noise(runs_on(NOISY, each, seed=seed)) for each in (job, quiet))
        for vcpus in VCPUS[1:]:
            # The same as for a job that a probe does not notice: how it slows the probe has no part in the answer.
            assert ratio(runs, vcpus) == pytest.approx(ratio(alike, vcpus), abs=0.002)
            moved.append(ratio(runs, vcpus) - ratio(runs_on(NOISY, job, seed=seed), vcpus))
    assert abs(fmean(moved)) < 0.01


@pytest.mark.parametrize("ceiling", [20.0, 39.0])
def test_a_run_that_an_accelerator_binds_keeps_its_rate(ceiling: float) -> None:
    """A slower CPU does not show in it, not even where that is nearly busy: the rate stood still, its costs did not."""
    runs = runs_on(NOISY, Job("train", ceiling=ceiling))
    for before, after in zip(runs, without_host_noise(runs), strict=True):
        assert log_rate(after) == pytest.approx(log_rate(before), abs=0.003)


@pytest.mark.parametrize("costly", [False, True])
def test_so_it_does_in_short_runs_and_beside_one_whose_probe_is_not_believed(costly: bool) -> None:
    """Two runs of 3 s have a stretch each, which tell that the rate stood still; the second is told by the first's."""
    host = Host(slow=0.1, quick=0.3)
    runs = study([Job("train", ceiling=65.0)], (0.25, 0.5, 0.6, 1.0), 2, 3.0, host, np.random.default_rng(3))
    fed = [run for run in runs if run.configuration.vcpus == 1]
    mark = RunWarning(WarningKind.OVERHEAD, {"share": 0.012})
    runs = [replace(run, warnings=(mark,)) if costly and run is fed[0] else run for run in runs]
    found = list(zip(runs, without_host_noise(runs), strict=True))
    moved = [abs(log_rate(after) - log_rate(before)) for before, after in found if before.configuration.vcpus != 1]
    assert median(moved) > 0.02
    for before, after in found:
        if before.configuration.vcpus == 1:
            assert log_rate(after) == pytest.approx(log_rate(before), abs=0.003)


@pytest.mark.parametrize(
    "host", [Host(0.06, 0.05), Host(0.0, 0.0, 0.03, 0.025), NOISY], ids=["memory", "cores", "both"]
)
def test_whichever_noise_a_host_has_both_kinds_tell_it(host: Host) -> None:
    """As well as the better of the two alone, and much better than reads alone where it has both."""
    both, reads, raw = [], [], []
    for seed in range(4):
        runs = runs_on(host, Job("train"), Job("preprocess", feels=0.3), seed=seed)
        one = [replace(run, probe=replace(run.probe, product=None)) for run in runs if run.probe is not None]
        raw += repeat_differences(runs)
        both += repeat_differences(without_host_noise(runs))
        reads += repeat_differences(without_host_noise(one))
    assert median(both) < 1.25 * median(reads)
    assert median(both) < median(raw) / 2.5
    if host is NOISY:
        assert median(both) < median(reads) / 1.5


def test_runs_with_reads_alone_are_corrected_by_these() -> None:
    """As those stored before products were made; where some have no products, those of the others say nothing."""
    runs = runs_on(Host(0.06, 0.05), Job("train"))
    one = [replace(run, probe=replace(run.probe, product=None)) for run in runs if run.probe is not None]
    assert without_host_noise([*one[:1], *runs[1:]]) == [
        replace(after, probe=run.probe)
        for run, after in zip([*one[:1], *runs[1:]], without_host_noise(one), strict=True)
    ]
    assert median(repeat_differences(without_host_noise(one))) < median(repeat_differences(runs)) / 3


def test_a_coefficient_is_never_from_the_run_that_it_corrects() -> None:
    """Whatever one run says of itself, its own coefficient stays as it was."""
    runs = runs_on(NOISY, Job("train"))
    odd = replace(
        runs[0], steps=tuple(replace(step, samples=step.samples * (1 + n % 3)) for n, step in enumerate(runs[0].steps))
    )
    changed, before = corrected([odd, *runs[1:]]), corrected(runs)
    assert changed[0].correction is not None
    assert before[0].correction is not None
    assert changed[0].correction.log == pytest.approx(before[0].correction.log, rel=1e-9)
    assert changed[1].correction != before[1].correction


def test_what_a_correction_is_off_by_counts_once() -> None:
    """It is between the repeats already; and a mark of drift says nothing that the probe did not tell."""
    marked = RunWarning(WarningKind.DRIFTING, {"before": 100.0, "after": 130.0})
    runs = without_host_noise([replace(run, warnings=(marked,)) for run in runs_on(NOISY, Job("train"), repeats=8)])
    for run in runs:
        assert run.correction is not None
        assert own_deviation(run, 1.0, host_known=False) == pytest.approx(run.correction.own)
    found, _ = observe(runs)
    spread = [np.std([log_rate(run) for run in group], ddof=1) / math.sqrt(8) for group in made_alike(runs)]
    assert median(each.deviation for each in found) < 2 * math.hypot(median(spread), DRIFT)


def test_what_was_corrected_is_not_corrected_again_as_drift() -> None:
    """The path that the rates show is that of what is left."""
    runs = runs_on(Host(slow=0.1, quick=0.01), Job("train"), repeats=5)
    before, after = (drift_of(completed(each)) for each in (runs, without_host_noise(runs)))
    assert before.deviation["train"] > 0.02
    assert after.deviation["train"] < before.deviation["train"] / 2


def test_a_run_as_measured_keeps_its_rate_and_says_what_is_taken_off() -> None:
    """Both rates are there, and the record of a run can be corrected again."""
    runs = runs_on(NOISY, Job("train"))
    noted = corrected(runs)
    assert [run.throughput for run in noted] == [run.throughput for run in runs]
    assert corrected(noted) == noted
    for run, taken in zip(noted, without_host_noise(noted), strict=True):
        assert run.correction is not None
        assert taken.throughput == run.correction.of_run
        assert math.exp(run.correction.log) == pytest.approx(math.exp(log_rate(taken) - log_rate(run)))


def test_the_error_of_a_correction_is_in_its_interval() -> None:
    """The corrected rates of repeats are as far apart as their intervals say, which are wider than a run's own."""
    noted = corrected(runs_on(Host(slow=0.1, quick=0.05), Job("train"), repeats=8))
    within, outside = 0, 0
    for group in made_alike(noted):
        rates = [run.correction.throughput for run in group if run.correction is not None]
        for one, other in itertools.combinations(rates, 2):
            error = math.hypot(*(math.log(each.high / each.low) / 2 for each in (one, other)))
            far = abs(math.log(one.value / other.value)) > error
            within, outside = within + (not far), outside + far
    assert within / (within + outside) > 0.85
    for run in noted:
        assert run.correction is not None
        told, alone = run.correction.throughput, run.correction.of_run
        assert told.low < alone.low <= alone.value <= alone.high < told.high


def test_a_run_of_which_sizer_took_too_much_has_no_correction() -> None:
    """Beside others that have one."""
    runs = runs_on(NOISY, Job("train"))
    marked = replace(runs[0], warnings=(RunWarning(WarningKind.OVERHEAD, {"share": 0.012}),))
    found = corrected([marked, *runs[1:]])
    assert found[0].correction is None
    assert all(run.correction is not None for run in found[1:])


def test_a_look_that_met_something_else_corrects_nothing() -> None:
    """Reads ten times as dear are no neighbour's doing; what the others tell is as if that run had had no probe."""
    runs = runs_on(NOISY, Job("train"))
    probe = runs[0].probe
    assert probe is not None
    assert probe.during is not None
    odd = replace(runs[0], probe=replace(probe, during=10 * probe.during))
    blind = replace(runs[0], probe=None)
    assert corrected([odd, *runs[1:]])[0].correction is None
    assert corrected([odd, *runs[1:]])[1:] == corrected([blind, *runs[1:]])[1:]


def test_runs_without_a_probe_stay_as_they_are() -> None:
    """As those of a table, or of a sizer before."""
    runs = [replace(run, probe=None) for run in runs_on(NOISY, Job("train"))]
    assert without_host_noise(runs) == runs
