"""What each stage costs, what a relief of it gains, and what a plateau is of."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from sizer.model.edge import gain, loader_waits
from sizer.model.equation import INSTANT
from sizer.model.fitting import fit
from sizer.model.model import Model, WhatIf, WorkloadModel
from sizer.model.prediction import bottleneck_of, predict
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Bottleneck, Configuration, ReasonCode, Refused
from sizer.records.run import DataSet, Demand, DiskCheck, Evidence, EvidenceKind, Run
from sizer.records.study import DiskTier
from sizer.records.units import GIB

# What isolates a stage, or accounts for it, decides what the model says of it.


MakeRun = Callable[..., Run]


def at(vcpus: float, disk: str = "host", batch: int = 32, gpu: str | None = None, count: int = 0) -> Configuration:
    return Configuration(vcpus, 8 * GIB, disk, batch, gpu, count)


def fed(run: Run, given: str) -> Run:
    """The same run with another input."""
    return replace(run, spec=replace(run.spec, workload=replace(run.spec.workload, input=given)))


def job(runs: list[Run]) -> WorkloadModel:
    return fit(runs).workload("train")


def test_a_worker_that_waits_is_no_busy_cpu(make_run: MakeRun) -> None:
    """The rate scales with vCPUs that are busy for a third of the time: the disk's latency binds, not the CPU."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    rates = DiskRates(1e5, 1e10)
    model = job([make_run(c / 0.03, c, demand=demand, rates=rates, disk="far") for c in (1, 2, 4)])
    prediction = predict(model, at(3, "far"))
    assert prediction.throughput.value == pytest.approx(100, rel=0.03)
    assert prediction.bottleneck in (Bottleneck.DISK_BANDWIDTH, Bottleneck.DISK_IOPS)
    assert prediction.shares["cpu"] == pytest.approx(1 / 3, abs=0.1)


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
    prediction = predict(job(runs), at(2, batch=16))
    assert prediction.throughput.value == pytest.approx(1 / seconds(16), rel=0.05)
    assert prediction.bottleneck is Bottleneck.ACCELERATOR


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
    without, with_replay = (
        predict(job(measured), at(4, "far")).throughput.value for measured in (runs, [*runs, replay])
    )
    assert with_replay == pytest.approx(150, rel=0.05)
    assert without > 1.1 * with_replay


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
    prediction = predict(job(runs), Configuration(4, 3 * GIB, "far", 32))
    assert prediction.throughput.value == pytest.approx(expected, rel=0.12)


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


# What a plateau is of, and how sure.


KNEE = {1: 100.0, 2: 197.0, 4: 300.0, 8: 303.0, 16: 304.0}


def named(runs: Iterable[Run], vcpus: float = 16, disk: str = "host") -> Bottleneck:
    model = fit(list(runs)).workloads[0]
    return predict(model, Configuration(vcpus, 8 * 2**30, disk, 32)).bottleneck


def test_one_disk_leaves_open_what_a_plateau_is_of(make_run: MakeRun) -> None:
    """The disk, or a serial part; where the rate still rises the CPU is named as ever."""
    runs = [make_run(rate, vcpus) for vcpus, rate in KNEE.items()]
    assert named(runs) is Bottleneck.AMBIGUOUS
    assert named(runs, vcpus=1) is Bottleneck.CPU


@pytest.mark.parametrize(("wait", "binding"), [(1.0, Bottleneck.CPU), (5.0, Bottleneck.DISK_BANDWIDTH)])
def test_a_wait_is_the_disks_as_far_as_another_has_less(make_run: MakeRun, wait: float, binding: Bottleneck) -> None:
    """Workers that wait as long on every disk scale as busy ones do, and are told from them by nothing."""
    waits = {"near": 1.0, "far": wait}
    runs = [make_run(100 * c / (1 + waits[disk]), c, disk=disk) for c in (1, 2, 4, 8) for disk in waits]
    assert named(runs, vcpus=4, disk="far") is binding


SERIAL = Evidence(Bottleneck.SERIAL, {"cpu": 0.13}, EvidenceKind.SERIAL, {"cores": 1.05, "vcpus": 8.0})
QUIET, BUSY = (0.99, 1.0, 1.01), (0.85, 1.0, 1.18)
AT_MOST = Configuration(8.0, 8 * 2**30, "host", 32)


def flat(make_run: MakeRun, moved: Sequence[float], evidence: Evidence | None = None) -> WorkloadModel:
    """100 images/s a vCPU, and never more than 160; each configuration three times, by these factors of that."""
    runs = []
    for repeat, factor in enumerate(moved):
        for vcpus in (1.0, 2.0, 4.0, 8.0):
            rate = factor * ((100 * vcpus) ** -6 + 160.0**-6) ** (-1 / 6)
            named = evidence if vcpus == 8 else None
            demand = Demand(core_seconds=0.01)
            runs.append(make_run(rate, vcpus, repeat=repeat, demand=demand, evidence=named))
    return fit(runs).workload("train")


def test_a_rate_is_no_surer_than_its_runs(make_run: MakeRun) -> None:
    """New runs of a host that is busy lie in an interval as wide as its runs are apart, and of a quiet one near by."""
    quiet, busy = (predict(flat(make_run, moved), AT_MOST).throughput for moved in (QUIET, BUSY))
    assert 0.93 * 160 < quiet.low < quiet.high < 1.07 * 160
    assert busy.low < 0.85 * 160 < 1.18 * 160 < busy.high


# What a change would gain: paired with what it is compared to, so that what is uncertain about both cancels.


SLOW = DiskRates(read_iops=100_000.0, read_bytes_per_second=20e6)
FAST = DiskRates(read_iops=100_000.0, read_bytes_per_second=400e6)
CORE, BYTES = 1 / 100, 100_000.0


def _fitted(runs: list[Run]) -> WorkloadModel:
    model: Model = fit(runs)
    return model.workload("train")


@pytest.fixture(scope="module")
def two_disks(make_run: Callable[..., Run]) -> WorkloadModel:
    """One that gives 200 samples/s and one that gives 4,000, of a job that takes 10 ms of a CPU a sample."""
    demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / 131072)
    measured = []
    for vcpus in (1.0, 2.0, 4.0, 8.0):
        for disk, rates in (("slow", SLOW), ("fast", FAST)):
            assert rates.read_bytes_per_second is not None
            ceilings = (vcpus / CORE, rates.read_bytes_per_second / BYTES)
            rate = sum(ceiling**-8 for ceiling in ceilings) ** (-1 / 8)
            measured += [
                make_run(rate, vcpus, disk=disk, rates=rates, demand=demand, repeat=number) for number in (0, 1)
            ]
    return _fitted(measured)


def _at(model: WorkloadModel, vcpus: float, disk: str) -> Configuration:
    return next(
        rate.configuration
        for rate in model.measured.rates
        if (rate.configuration.vcpus, rate.configuration.disk) == (vcpus, disk)
    )


def test_a_disk_on_which_nothing_waits_gains_what_is_held_back(two_disks: WorkloadModel) -> None:
    """Up to the CPU's limit where the disk binds, and nothing where the CPU does."""
    bound = _at(two_disks, 4.0, "slow")
    gained = gain(two_disks, bound, bound, WhatIf(disk_rates=INSTANT))
    assert gained.value == pytest.approx(1.0, abs=0.15)
    assert gained.low <= gained.value <= gained.high
    assert gained.low > 0.5
    assert gained.value == pytest.approx(predict(two_disks, bound).headroom, rel=0.15)
    free = _at(two_disks, 1.0, "fast")
    none = gain(two_disks, free, free, WhatIf(disk_rates=INSTANT))
    assert none.value < 0.01


def test_more_workers_wait_at_once(make_run: Callable[..., Run]) -> None:
    """A worker that waits for the disk twice as long as it computes: twice as many gain half of all that time."""
    demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / 4096)
    rates = DiskRates(read_iops=1e6, read_bytes_per_second=2e9)
    waiting = [
        make_run(vcpus / (3 * CORE), vcpus, disk="far", rates=rates, demand=demand, repeat=repeat)
        for vcpus in (1.0, 2.0, 4.0, 8.0)
        for repeat in (0, 1)
    ]
    model = _fitted(waiting)
    here = _at(model, 4.0, "far")
    waits = loader_waits(model, here)
    gained = gain(model, here, here, WhatIf(loader_workers_factor=2.0))
    assert waits == pytest.approx(2 / 3, abs=0.1)
    assert gained.value == pytest.approx(0.5, abs=0.15)
