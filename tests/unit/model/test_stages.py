"""What isolates a stage, or accounts for it, decides what the model says of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.attribution import bottleneck_of
from sizer.model.fitting import fit
from sizer.model.memory import cached_fraction, hit_rate
from sizer.model.model import WhatIf, WorkloadFacts, WorkloadModel
from sizer.model.prediction import predict
from sizer.model.stages import INSTANT
from sizer.records.prediction import ReasonCode, Refused
from sizer.records.run import Bottleneck, Configuration, DataSet, Demand, DiskCheck, Run
from sizer.records.study import Device, DiskRates, DiskTier
from sizer.records.units import GIB

MakeRun = Callable[..., Run]


def at(vcpus: float, disk: str = "host", batch: int = 32, gpu: str | None = None, count: int = 0) -> Configuration:
    return Configuration(vcpus, 8 * GIB, disk, batch, gpu, count)


def fed(run: Run, given: str) -> Run:
    """The same run with another input."""
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, input=given)))


def job(runs: list[Run]) -> WorkloadModel:
    return fit(runs).workload("train")


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_a_supposed_disk_is_no_faster_than_a_measured_one_that_is_as_good(make_run: MakeRun, share: float) -> None:
    """What makes the measured one slower than its figures say is not known of the supposed one."""
    demand, rates = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0), DiskRates(1e5, 1e10)
    model = job([make_run(c / 0.03, c, demand=demand, rates=rates, disk="far") for c in (1, 2, 4)])
    there = predict(model, at(3, "far")).throughput
    slower = WhatIf(disk_rates=DiskRates(1e5 * share, 1e10 * share))
    found = predict(model, at(3, "far"), slower).throughput
    assert found.value <= there.value
    assert found.low < found.value < found.high
    # More of what is not scarce frees no worker: how long each waits is on no data sheet.
    better_in_one = predict(model, at(3, "far"), WhatIf(disk_rates=DiskRates(2e5, 1e10 * share))).throughput
    assert better_in_one.value == pytest.approx(there.value, rel=0.05)
    without_waits = predict(model, at(3, "far"), WhatIf(disk_rates=INSTANT)).throughput
    assert without_waits.value > 1.5 * there.value


def test_a_worker_that_waits_is_no_busy_cpu(make_run: MakeRun) -> None:
    """The rate scales with vCPUs that are busy for a third of the time: the disk's latency binds, not the CPU."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    rates = DiskRates(1e5, 1e10)
    model = job([make_run(c / 0.03, c, demand=demand, rates=rates, disk="far") for c in (1, 2, 4)])
    found = predict(model, at(3, "far"))
    assert found.throughput.value == pytest.approx(100, rel=0.03)
    assert found.bottleneck in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS)
    assert found.shares["cpu"] == pytest.approx(1 / 3, abs=0.1)


def test_cores_that_were_busy_bind(make_run: MakeRun) -> None:
    """The same curve with busy vCPUs is bound by them."""
    model = job([make_run(c / 0.03, c, demand=Demand(core_seconds=0.03, read_bytes=1e5)) for c in (1, 2, 4)])
    assert predict(model, at(3)).bottleneck is Bottleneck.CPU


def test_a_launch_is_read_off_the_accelerator(make_run: MakeRun) -> None:
    """What a step costs beside its samples is seen in the busy time at other batch sizes, at one vCPU value."""

    def seconds(batch: int) -> float:
        return 0.002 + 0.064 / batch

    gpu = Device("cuda")
    runs = [
        make_run(
            1 / seconds(b), c, batch=b, device=gpu, demand=Demand(core_seconds=1e-4, accelerator_seconds=seconds(b))
        )
        for c, b in ((1, 32), (2, 32), (4, 32), (4, 8), (4, 128))
    ]
    found = predict(job(runs), at(2, batch=16))
    assert found.throughput.value == pytest.approx(1 / seconds(16), rel=0.05)
    assert found.bottleneck is Bottleneck.ACCELERATOR


def test_a_faster_decoder_can_be_asked_once_the_step_is_isolated(make_run: MakeRun) -> None:
    """On one CPU, decoding and the step are told apart by a run with synthetic input, and by nothing else."""
    whole = [make_run(c / 0.03, c, demand=Demand(core_seconds=0.03)) for c in (1, 2, 4)]
    with pytest.raises(Refused, match="step_not_separate"):
        predict(job(whole), at(2), WhatIf(decode_factor=0.5))
    alone = fed(make_run(4 / 0.01, 4, demand=Demand(core_seconds=0.01)), "synthetic")
    model = job([*whole, alone])
    assert model.measured.vcpus == (1, 2, 4)
    assert predict(model, at(2)).throughput.value == pytest.approx(2 / 0.03, rel=0.03)
    assert predict(model, at(2), WhatIf(decode_factor=0.5)).throughput.value == pytest.approx(2 / 0.02, rel=0.05)


def test_a_replay_tells_the_disk(make_run: MakeRun) -> None:
    """What the loader's own reads give of a disk counts for more than what fio saw of it."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    real = DiskCheck(DiskTier("far", disk_class="ssd"), DiskRates(1e5, 3e7))  # 300 samples/s by fio

    def run(rate: float, vcpus: float) -> Run:
        return replace(make_run(rate, vcpus, demand=demand, disk="far"), disk=real)

    runs = [run(100 * c, c) for c in (0.25, 0.5, 1)]
    replay = fed(run(150, 1), "replay")
    without, found = (predict(job(each), at(4, "far")).throughput.value for each in (runs, [*runs, replay]))
    assert found == pytest.approx(150, rel=0.05)
    assert without > 1.1 * found


def test_only_isolated_stages_carry_no_answer(make_run: MakeRun) -> None:
    """They do not say how the stages work together."""
    model = job([fed(make_run(100 * c, c), "replay") for c in (1, 2, 4)])
    assert model.refused
    assert model.refused.reason.code is ReasonCode.NO_RUN_COMPLETED


def test_several_accelerators_share_one_pipeline(make_run: MakeRun) -> None:
    """Runs on two GPUs are one model: the slower binds early, the faster where the pipeline no longer feeds it."""

    def run(vcpus: float, gpu: str, limit: float) -> Run:
        device = Device("emulated", gpu=gpu, samples_per_second=limit)
        rate = ((vcpus * 100) ** -8 + limit**-8) ** (-1 / 8)
        return make_run(rate, vcpus, device=device, demand=Demand(core_seconds=0.01))

    model = job([run(1, "K80", 52), run(2, "P100", 219), run(4, "P100", 219), run(4, "K80", 52)])
    assert predict(model, at(2, gpu="emulated:K80")).throughput.value == pytest.approx(52, rel=0.03)
    unfed = predict(model, at(1, gpu="emulated:P100")).throughput
    assert unfed.value == pytest.approx(100, rel=0.08)
    assert unfed.low < 100 < unfed.high
    with pytest.raises(Refused, match="not_measured"):
        predict(model, at(1, gpu="V100"))


def test_accelerators_are_counted(make_run: MakeRun) -> None:
    """Between measured counts the rate follows what each further one loses; with two counts it is not said."""

    def run(count: int) -> Run:
        made = make_run(100 * count / (1 + 0.05 * (count - 1)), 16, device=Device("cuda"))
        return replace(made, configuration=replace(made.configuration, gpu_count=count))

    model = job([run(count) for count in (1, 2, 8)])
    assert predict(model, at(16, count=4)).throughput.value == pytest.approx(100 * 4 / 1.15, rel=0.04)
    few = [run(1), run(2), *(make_run(rate, c, device=Device("cuda")) for c, rate in ((8, 80), (4, 40)))]
    with pytest.raises(Refused, match="too_few_values") as refused:
        predict(job(few), at(16, count=4))
    assert refused.value.refusal.reason.text("axis") == "gpu_count"


def test_slow_hours_of_the_host_are_no_property_of_a_limit(make_run: MakeRun) -> None:
    """Runs whose samples cost more core-seconds were made on slower CPUs: at usual ones the curve is straight. Some new
    run meets slower ones again."""
    slow = {0: 1.0, 1: 1.2, 2: 0.9}
    runs = [
        make_run(
            c / (0.01 * slow[(index + repeat) % 3]),
            c,
            repeat=repeat,
            demand=Demand(core_seconds=0.01 * slow[(index + repeat) % 3]),
        )
        for index, c in enumerate((1, 2, 4))
        for repeat in range(3)
    ]
    model = job(runs)
    usual = math.exp(sum(math.log(0.01 * value) for value in (1.0, 1.2, 0.9)) / 3)
    found = predict(model, at(3)).throughput
    assert found.value == pytest.approx(3 / usual, rel=0.03)
    assert found.low < 3 / 0.012
    assert found.high > 3 / 0.009


def test_reads_that_miss_are_amplified(make_run: MakeRun) -> None:
    """Readahead makes a device read more than what missed the cache; accounting under one cap tells for another."""
    data = DataSet("/data", "recordio", 8 * GIB, 80_000, False)
    size = data.bytes / data.samples
    rates = DiskRates(1e6, 1e7)

    def run(vcpus: float, memory: int, missed: float) -> Run:
        return make_run(
            min(100 * vcpus, 1e7 / (missed * size) if missed else math.inf),
            vcpus,
            memory=memory,
            cache="natural",
            data=data,
            disk="far",
            rates=rates,
            demand=Demand(core_seconds=0.01, read_bytes=missed * size, read_ios=missed),
            anonymous=GIB,
        )

    unseen = 0.5
    runs = [run(c, 9 * GIB, 0.0) for c in (1, 2, 4)] + [run(4, 5 * GIB, 2 * (unseen - unseen * math.log(unseen)))]
    unseen = 0.75
    expected = 1e7 / (2 * (unseen - unseen * math.log(unseen)) * size)
    found = predict(job(runs), Configuration(4, 3 * GIB, "far", 32))
    assert found.throughput.value == pytest.approx(expected, rel=0.12)


def test_headroom_ends_at_the_next_limit(make_run: MakeRun) -> None:
    """A pipeline that feeds half of a P100 could be twice as fast and not more."""
    device = Device("emulated", gpu="P100", samples_per_second=219)

    def rate(c: float) -> float:
        return ((100 * c) ** -8 + 219**-8) ** (-1 / 8)

    model = job([make_run(rate(c), c, device=device, demand=Demand(core_seconds=0.01)) for c in (0.5, 1, 2, 4)])
    half = predict(model, at(1))
    assert half.headroom == pytest.approx(1.19, abs=0.15)
    assert half.throughput.value * (1 + half.headroom) <= 1.03 * 219
    alone = predict(job([make_run(100 * c, c, demand=Demand(core_seconds=0.01)) for c in (1, 2, 4)]), at(1))
    assert alone.headroom is None or alone.headroom > 1


def test_a_run_that_hardly_knows_its_rate_counts_for_little(make_run: MakeRun) -> None:
    """An interval that reaches 0 is the widest there is, and no run without one."""
    demand = Demand(core_seconds=0.001, read_bytes=1e5, read_ios=1.0)
    rates = DiskRates(1e5, 1e7)
    runs = [make_run(90, c, demand=demand, rates=rates, disk="far") for c in (1, 2, 4)]
    replay = fed(make_run(40, 4, demand=demand, rates=rates, disk="far", spread=1.0), "replay")
    assert predict(job([*runs, replay]), at(2, "far")).throughput.value == pytest.approx(90, rel=0.05)


@pytest.mark.parametrize(
    ("cached", "sequential", "share"),
    [(1.0, False, 1.0), (1.0, True, 1.0), (0.9, True, 0.0), (0.0, False, 0.0), (0.5, False, 0.5 + 0.5 * math.log(0.5))],
)
def test_what_the_page_cache_serves(cached: float, sequential: bool, share: float) -> None:
    """Read in order, nothing is kept until everything fits; shuffled, less than what fits."""
    assert hit_rate(cached, sequential, 0.0) == pytest.approx(share)


@pytest.mark.parametrize(("data_bytes", "share"), [(None, 0.0), (8 * GIB, 0.375), (2 * GIB, 1.0)])
def test_how_much_of_the_data_memory_holds(data_bytes: int | None, share: float) -> None:
    """4 GiB less 1 GiB of the job's own; nothing is assumed of data whose size is not known."""
    facts = WorkloadFacts("image_training", Device(), data_bytes=data_bytes)
    assert cached_fraction(facts, 4 * GIB, GIB) == share


@pytest.mark.parametrize(
    ("shares", "evidence", "bottleneck"),
    [
        ({"cpu": 0.5, "serial": 0.4, "accelerator": 0.1}, Bottleneck.SERIAL, Bottleneck.SERIAL),
        ({"serial": 0.5, "cpu": 0.4, "accelerator": 0.1}, Bottleneck.CPU, Bottleneck.CPU),
        ({"cpu": 0.7, "serial": 0.3}, Bottleneck.CPU, Bottleneck.CPU),
        ({"cpu": 0.9, "accelerator": 0.1}, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS),
        ({"cpu": 0.52, "accelerator": 0.48}, None, Bottleneck.AMBIGUOUS),
    ],
)
def test_accounting_decides_between_a_cpu_and_its_serial_part(
    shares: dict[str, float], evidence: Bottleneck | None, bottleneck: Bottleneck
) -> None:
    """It saw whether the vCPUs were busy; where it names another resource than the model, neither is believed."""
    assert bottleneck_of(shares, evidence) is bottleneck
