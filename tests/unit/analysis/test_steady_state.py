"""The rate after the warm-up, growth of memory, what was not seen, and how long a start-up may take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sizer.analysis import accounting
from sizer.analysis.events import Reading, Start
from sizer.analysis.monitor import (
    Progress,
    RunMonitor,
    Stop,
    deadline_seconds,
    least_deadline,
    reading_seconds,
    reading_until,
)
from sizer.analysis.run_warnings import memory_growth, rate_change
from sizer.analysis.steady_state import Epochs, SteadyState, shown, steady_state
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Estimate
from sizer.records.run import DataSet, Demand, DiskCheck, Sample, Step
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

Steps = Callable[..., list[Step]]


def test_constant_steps_give_their_rate_exactly(make_steps: Steps) -> None:
    """8 samples every 0.1 s are 80 samples/s, with no doubt left."""
    steady = steady_state(make_steps([0.1] * 50))
    assert steady.throughput.value == pytest.approx(80)
    assert steady.relative_half_width < 1e-6


def test_warm_up_is_cut(make_steps: Steps) -> None:
    """Slow first steps do not lower the rate, and their time is said."""
    steady = steady_state(make_steps([3.0, 2.0, 1.0, 0.5] + [0.1] * 60))
    assert steady.throughput.value == pytest.approx(80, rel=0.01)
    assert steady.warm_up_seconds == pytest.approx(3.5, abs=0.3)


def test_a_stall_among_ordinary_steps_is_not_warm_up(make_steps: Steps) -> None:
    """Cutting it would leave a rate that is too high, and too sure."""
    durations = [0.1] * 100
    durations[20] = durations[70] = 1.0
    steady = steady_state(make_steps(durations))
    assert steady.warm_up_seconds == 0.0
    assert steady.throughput.low < 8 * 99 / 11.7 < steady.throughput.high


def test_correlated_noise_widens_the_interval(make_steps: Steps) -> None:
    """Neighbours that are alike (AR(1), 0.8) tell less: three times the half-width of independent ones."""
    random = np.random.default_rng(4)
    shocks, noise = random.normal(0, 0.1, 600), np.zeros(600)
    for index in range(1, 600):
        noise[index] = 0.8 * noise[index - 1] + 0.6 * shocks[index]
    plain, correlated = (steady_state(make_steps(list(0.1 * np.exp(values)))) for values in (shocks, noise))
    assert 2 < correlated.relative_half_width / plain.relative_half_width < 5


def test_lines_that_come_at_once_are_of_one_moment() -> None:
    """Whoever reads them was held up for 2 s: what was done in these is neither left out nor done in no time."""
    held_up = [0.1] * 10 + [2.0] + [0.0] * 19
    joined = [Step(time, round(80 * took), 0.0, 0) for time, took in zip(np.cumsum(held_up), held_up, strict=True)]
    counted = [replace(step, samples=8) for step in joined]
    for steps in (joined, counted):
        steady = steady_state(steps)
        assert steady.throughput.value == pytest.approx(80, rel=0.03)
    assert steady_state([replace(step, time=joined[0].time) for step in joined]) is None


def noise(count: int, seed: int = 1, spread: float = 0.05) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(0, spread, count))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_both_rates_and_the_time_between_them_are_told(make_steps: Steps, share: float) -> None:
    """80 samples/s that become 40 after a share of the time: both with an interval, and when."""
    before = round(600 * 2 * share / (1 + share))
    durations = np.where(np.arange(600) < before, 0.1, 0.2) * noise(600)
    change = rate_change(make_steps(list(durations)))
    assert change.before.value == pytest.approx(80, rel=0.03)
    assert change.after.value == pytest.approx(40, rel=0.03)
    assert change.before.low < change.before.value < change.before.high
    assert change.seconds == pytest.approx(durations[1:before].sum(), abs=3.0)


def test_a_slow_drift_is_no_fall(make_steps: Steps) -> None:
    """A line explains it better than two rates."""
    assert rate_change(make_steps(list(np.linspace(0.1, 0.15, 600) * noise(600)))) is None


def test_few_steps_tell_nothing(make_steps: Steps) -> None:
    """Without steps, and with ten of them, there is no change to be found."""
    assert rate_change([]) is None
    assert rate_change(make_steps([0.1] * 5 + [0.2] * 5)) is None


NATURAL = Workload("train", "image_training", cache="natural")
EPOCH = 160
"""Samples: twenty steps of eight."""


@pytest.fixture
def reading(make_steps: Steps) -> Callable[..., list[Step]]:
    """Epochs of twenty steps: the first at 0.2 s, later ones at 0.1 s in their first half and 0.3 s in their second."""

    def make(*counts: int) -> list[Step]:
        steps: list[Step] = []
        for epoch, count in enumerate(counts):
            durations = [0.2] * count if epoch == 0 else ([0.1] * 10 + [0.3] * 10)[:count]
            steps += make_steps(durations, epoch=epoch, start=steps[-1].time if steps else 100.0)
        return steps

    return make


def test_a_memory_study_is_measured_over_whole_later_epochs(reading: Steps) -> None:
    """The start of the third epoch is faster than any whole one, so it does not count."""
    shown_rate = shown(reading(20, 20, 5), NATURAL, EPOCH)
    assert shown_rate.epochs is Epochs.WHOLE
    assert shown_rate.sufficient
    assert shown_rate.steady.throughput.value == pytest.approx(40)
    assert (shown_rate.steady.measured_seconds, shown_rate.steady.intervals) == (pytest.approx(4.0), 20)
    assert shown_rate.steady.warm_up_seconds == pytest.approx(3.8)


def test_an_epoch_is_over_when_less_than_a_batch_of_it_is_left(reading: Steps) -> None:
    """A program that ends after its second epoch never shows the third; loaders may drop a last, smaller batch."""
    assert shown(reading(20, 20), NATURAL, EPOCH).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 7).epochs is Epochs.WHOLE
    assert shown(reading(20, 20), NATURAL, EPOCH + 8).epochs is Epochs.PART


@pytest.mark.parametrize("later", [(), (2,)])
def test_the_first_epoch_serves_where_no_later_one_was_reached(reading: Steps, later: tuple[int, ...]) -> None:
    """Two steps of the second are not a rate."""
    shown_rate = shown(reading(20, *later), NATURAL, EPOCH)
    assert shown_rate.epochs is Epochs.FIRST
    assert shown_rate.steady.throughput.value == pytest.approx(40, rel=0.1)


# Memory over time: its slope over steps, and whether the peak was still being raised.


MIB = 2**20
STEADY = SteadyState(Estimate(320.0, 310.0, 330.0), 0.0, 0.0, 20.0)
STEPS = [Step(0.1 * number, 32, 0.0, 0) for number in range(201)]


def samples(anonymous: Callable[[float], float], page_cache: Callable[[float], float] = lambda _: 0.0) -> list[Sample]:
    """A sampling each half second for 20 s."""
    times = [0.5 * number for number in range(41)]
    return [
        Sample(time=time, anonymous_bytes=int(anonymous(time)), page_cache_bytes=int(page_cache(time)))
        for time in times
    ]


def test_memory_that_goes_up_and_down_does_not_grow() -> None:
    """The interval of the slope holds zero, and the peak of the first part is not passed."""
    growth = memory_growth(STEADY, STEPS, samples(lambda time: (100 + 5 * (int(time * 2) % 3)) * MIB))
    assert growth.anonymous_bytes_per_step.low < 0 < growth.anonymous_bytes_per_step.high
    assert not growth.rising


# Runs of which too little was seen: nothing is made up of it.


NOTHING_STEADY = SteadyState(Estimate(100.0, 99.0, 101.0), 1.0, 1.0, 11.0)
SAMPLES = [Sample(time=float(second), core_seconds=float(second)) for second in range(13)]


def test_without_a_sample_nothing_costs_anything() -> None:
    """No step lay in the steady state, so there is nothing to divide by."""
    late = [Step(20.0, 100, 0.1, 0)]
    everything = frozenset(accounting.COUNTERS)
    workload = Workload("train", "image_training", device=Device())
    assert accounting.demand(NOTHING_STEADY, late, SAMPLES, workload, None, everything) == Demand()
    seen = accounting.demand(NOTHING_STEADY, [replace(late[0], time=5.0)], SAMPLES, workload, None, everything)
    assert seen.core_seconds == pytest.approx(0.1)


@pytest.mark.parametrize(("count", "grown"), [(0, 0.0), (1, 0.0), (13, 10.0)])
def test_one_sampling_shows_no_growth(count: int, grown: float) -> None:
    """A counter grows between two."""
    assert accounting.grown(SAMPLES[:count], "core_seconds", 1.0, 11.0) == pytest.approx(grown)


def test_memory_does_not_grow_over_no_step() -> None:
    """Where nothing was done between the first and the last sampling, bytes a step mean nothing."""
    seen = [Sample(time=0.25 * number, anonymous_bytes=number) for number in range(41)]
    assert memory_growth(NOTHING_STEADY, [Step(0.5, 1, 0.0, 0)], seen) is None
    steps = [Step(0.25 * number, 1, 0.0, 0) for number in range(41)]
    growth = memory_growth(NOTHING_STEADY, steps, seen)
    assert growth.anonymous_bytes_per_step.value == pytest.approx(1.0)


NOTHING = Progress()


def test_the_least_is_the_users_or_follows_from_the_seconds() -> None:
    """A run of 30 s has four times that and two minutes of start-up; at a quarter of a vCPU four times as long."""
    assert least_deadline(Measure(seconds=30.0)) == 240
    assert least_deadline(Measure(seconds=30.0, timeout=7.0), vcpus=0.25) == 7
    assert least_deadline(Measure(seconds=30.0), vcpus=4) == 240
    assert least_deadline(Measure(seconds=30.0), vcpus=0.25) == 960


def test_a_start_up_that_others_needed_has_three_times_as_long() -> None:
    """At 0.25 vCPU 400 s to the first step are expected, where 960 s are given anyway, or 500 s."""
    measure = Measure(seconds=30.0)
    assert deadline_seconds(measure, 0.25, NOTHING, 400.0) == 1200
    assert deadline_seconds(measure, 0.25, NOTHING, 5.0) == 960


SLOW = DiskCheck(DiskTier("slow"), DiskRates(read_iops=1000.0, read_bytes_per_second=2e6))
CACHED = Workload("a", "image_training", input="cached")


def test_reading_into_memory_takes_what_its_bytes_and_the_disk_say() -> None:
    """404 MB at 2 MB/s are 202 s; requests count, too; nothing where nothing is read first, or by whom nobody knows."""
    data = DataSet("/data/a.rec", "recordio", 404_000_000, 4000, embedded=True)
    spec = RunSpec(CACHED, 32, Limits(1.0, None, "slow"), Measure())
    assert reading_seconds(spec, data, SLOW) == pytest.approx(202)
    few = replace(SLOW, measured=DiskRates(read_iops=10.0, read_bytes_per_second=2e6))
    assert reading_seconds(spec, data, few) == pytest.approx(404e6 / 131072 / 10)
    assert reading_seconds(spec, data, None) is None
    assert reading_seconds(spec, None, SLOW) is None
    warm, cold = replace(CACHED, input="disk", cache="warm"), replace(CACHED, input="disk", cache="cold")
    assert reading_seconds(replace(spec, workload=warm), data, SLOW) == pytest.approx(202)
    assert reading_seconds(replace(spec, workload=cold), data, SLOW) is None
    own = replace(spec, workload=replace(warm, kind="command", command=("true",)))
    assert reading_seconds(own, data, SLOW) is None


def test_a_run_that_reads_has_its_start_up_after_that() -> None:
    """As long as expected and half as long again, or as what it told shows; from the last byte on as any other."""
    assert reading_until(202.0, None, 0.0) == pytest.approx(303)
    assert reading_until(202.0, Reading(100, 400), 100.0) == pytest.approx(600)
    assert reading_until(202.0, Reading(400, 400), 250.0) == 250
    assert reading_until(None, None, 0.0) == 0
    measure = Measure(seconds=6.0)
    assert deadline_seconds(measure, 1.0, Progress(reading=303.0)) == 303 + 144
    assert deadline_seconds(measure, 1.0, Progress(first_step=210.0, reading=303.0)) == 210 + 144


def test_a_run_that_still_reads_is_not_given_up() -> None:
    """144 s are over when it has read 70 % of its data; what it told last says how far it is."""
    spec = RunSpec(CACHED, 32, Limits(1.0, None, "slow"), Measure(seconds=6.0))
    seen = RunMonitor(spec, 0.0, reading_seconds=202.0)
    seen.take([Reading(288, 404)], now=144.0)
    seen.decide(150.0, stop_now=False)
    assert seen.stop is None
    assert seen.live(150.0, ()).reading == Reading(288, 404)
    seen.decide(500.0, stop_now=False)
    assert seen.stop is Stop.DEADLINE
    assert seen.still_reading == Reading(288, 404)


def monitor(seconds: float = 10.0, vcpus: float = 0.5, start_up: float | None = None) -> RunMonitor:
    spec = RunSpec(Workload("w", "command"), 8, Limits(vcpus), Measure(1, seconds, 0.02))
    return RunMonitor(spec, 0.0, Start("image", 8, 0, 0), start_up_seconds=start_up)


def ended(seen: RunMonitor, cores: float, steps: dict[float, Step] | None = None) -> float:
    """When it is stopped, if it uses so many cores without end and makes these steps."""
    now, samples = 0.0, [Sample(0.0)]
    while seen.stop is None:
        now += 0.5
        samples.append(Sample(now, core_seconds=cores * now))
        seen.take([step for time, step in (steps or {}).items() if now - 0.5 < time <= now])
        seen.decide(now, False, samples)
    return now


def test_a_program_that_hangs_before_its_first_step_ends_soon_and_one_that_spins_later() -> None:
    """At 0.5 vCPU, after 320 s and twice as long; the record says which it was."""
    hangs, spins = monitor(), monitor()
    assert ended(hangs, cores=0.0) == pytest.approx(320, abs=1)
    assert ended(spins, cores=0.5) == pytest.approx(640, abs=1)
    assert (hangs.stop, hangs.busy, spins.stop, spins.busy) == (Stop.DEADLINE, False, Stop.DEADLINE, True)
    assert spins.limit_seconds == 640


def test_a_program_with_steps_of_a_minute_is_measured() -> None:
    """Where the time alone would have ended it after five of them."""
    seen = monitor(vcpus=1.0)
    steps = {60.0 * number: Step(60.0 * number, 8, 0.0, 0) for number in range(1, 20)}
    ended(seen, 1.0, steps)
    assert seen.stop is Stop.TIME
