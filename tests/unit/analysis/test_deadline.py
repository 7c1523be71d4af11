from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis.events import Reading, Start
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.stopping import Progress, Stop, deadline_seconds, least_deadline, reading_seconds, reading_until
from sizer.records.device import DiskRates
from sizer.records.run import DataSet, DiskCheck, Sample, Step
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

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
