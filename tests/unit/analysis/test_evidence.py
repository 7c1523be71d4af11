"""What a run shows of its resources: demands, the one that is busy, and what a GPU's driver told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis import accounting
from sizer.analysis.accounting import busy_shares, gpu_uses, name_bottleneck, peaks, short_of_memory
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.record import ChildResult, run_record
from sizer.analysis.steady_state import SteadyState
from sizer.records.device import ClockReason, Device, DiskRates, GpuSample, GpuUse
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import DataSet, Demand, LimitedBy, LimitedByKind, Run, Sample, Step
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.words.warnings import warning_line

HERE = Configuration(vcpus=2, memory_bytes=2**30, disk="ssd", batch_size=32)
TIER = DiskRates(read_iops=1000, read_bytes_per_second=50e6, write_iops=1000, write_bytes_per_second=50e6)


def name(throughput: float, demand: Demand, device: Device = Device(), vcpus: float = 2) -> Bottleneck:
    here = Configuration(vcpus, HERE.memory_bytes, HERE.disk, HERE.batch_size)
    return name_bottleneck(busy_shares(throughput, demand, here, TIER, device), vcpus).bottleneck


@pytest.mark.parametrize(
    ("throughput", "demand", "expected"),
    [
        (100, Demand(core_seconds=0.0199, read_bytes=1e4, read_ios=0.1), Bottleneck.CPU),
        (490, Demand(core_seconds=0.001, read_bytes=1e5, read_ios=1), Bottleneck.DISK_BANDWIDTH),
        (240, Demand(core_seconds=0.001, read_bytes=2e4, read_ios=4), Bottleneck.DISK_IOPS),
        (490, Demand(core_seconds=0.001, read_bytes=2e4, read_ios=0.2, written_bytes=1e5), Bottleneck.DISK_WRITE),
        (100, Demand(core_seconds=0.0101), Bottleneck.SERIAL),
        (10, Demand(core_seconds=0.001), Bottleneck.AMBIGUOUS),
        (490, Demand(core_seconds=0.00405, read_bytes=1e5), Bottleneck.AMBIGUOUS),
        (10, Demand(), Bottleneck.AMBIGUOUS),
        (100, Demand(core_seconds=0.015, read_bytes=1e5), Bottleneck.CPU),
        (300, Demand(core_seconds=0.0035, read_bytes=1e5), Bottleneck.AMBIGUOUS),
        # Two workers that wait for a disk half of the time keep one core busy, too, and are not serial.
        (240, Demand(core_seconds=0.004, read_bytes=1e5), Bottleneck.AMBIGUOUS),
        # 219 images/s of an accelerator that gives 219 is all of it.
        (218, Demand(core_seconds=0.002), Bottleneck.ACCELERATOR),
    ],
)
def test_the_busy_resource_is_named(throughput: float, demand: Demand, expected: Bottleneck) -> None:
    """The one resource that is busy is the bottleneck; none, or two at once, is ambiguous."""
    gpu = Device("emulated", gpu="P100", samples_per_second=219)
    assert name(throughput, demand, gpu if expected is Bottleneck.ACCELERATOR else Device()) is expected


def test_rereading_for_want_of_page_cache_is_memory() -> None:
    """A disk that is busy with what a larger memory would have kept is a matter of memory."""
    busy = {Bottleneck.DISK_BANDWIDTH: 0.99, Bottleneck.CPU: 0.3}
    assert name_bottleneck(busy, 2, starved=True).bottleneck is Bottleneck.MEMORY


@pytest.mark.parametrize(
    ("missed", "own_mib", "data_mib", "cap_mib", "expected"),
    [
        (1.0, 30, 83, 48, False),  # read in order; 48 and 72 MiB gave 194 and 195 images/s
        (1.0, 30, 38, 48, True),
        (0.25, 160, 80, 225, True),  # gave 1,207 images/s, and 1,994 with half as much memory again
        (0.01, 160, 80, 340, False),
        (0.88, 200, 10_000, 4_000, True),
        (0.95, 200, 10_000, 4_000, False),
    ],
)
def test_memory_is_short_only_where_half_as_much_again_would_help(
    missed: float, own_mib: int, data_mib: int, cap_mib: int, expected: bool
) -> None:
    """A data set far beyond the cap that is missed wholly is a matter of the disk."""
    data = DataSet("d", "lmdb", data_mib * 2**20, 1000, True)
    used = Demand(read_bytes=missed * 1e5, asked_bytes=1e5)
    assert short_of_memory(used, own_mib * 2**20, data, cap_mib * 2**20) is expected


def test_memory_is_not_short_where_bytes_were_not_accounted() -> None:
    """A host that counts no disk bytes says nothing of the page cache."""
    assert not short_of_memory(Demand(asked_bytes=1e5), 2**20, DataSet("d", "lmdb", 2**20, 1, True), 2**30)


@pytest.mark.parametrize(
    ("cpu", "vcpus", "throttled", "expected"),
    [
        (0.79, 1.25, 0.0, Bottleneck.SERIAL),
        (0.65, 1.5, 0.0, Bottleneck.SERIAL),
        (0.86, 1.25, 0.02, Bottleneck.SERIAL),
        (0.5, 2, None, Bottleneck.SERIAL),
        (0.79, 1.25, 0.9, Bottleneck.CPU),
        (0.79, 1.25, None, Bottleneck.CPU),
        (0.99, 1, None, Bottleneck.CPU),
        (0.97, 1.5, 0.0, Bottleneck.CPU),
    ],
)
def test_one_busy_core_is_serial_where_no_quota_cuts_it_short(
    cpu: float, vcpus: float, throttled: float | None, expected: Bottleneck
) -> None:
    """Under a fraction of a vCPU the same share is a serial part without throttling, and the vCPUs with it."""
    assert name_bottleneck({Bottleneck.CPU: cpu}, vcpus, throttled=throttled).bottleneck is expected


@pytest.mark.parametrize(
    ("cpu", "vcpus", "withheld", "serial"),
    [
        (0.55, 2, 0.0, True),
        (0.55, 2, 0.04, True),
        (0.55, 2, 0.2, True),
        (0.55, 2, 0.5, False),
        (0.14, 8, 0.5, True),
        (0.14, 8, 3.0, False),
    ],
)
def test_one_busy_core_is_not_serial_where_others_may_have_taken_the_rest(
    cpu: float, vcpus: float, withheld: float, serial: bool
) -> None:
    """What others on the host used explains idle vCPUs as well."""
    named = name_bottleneck({Bottleneck.CPU: cpu}, vcpus, withheld=withheld)
    assert named.bottleneck is (Bottleneck.SERIAL if serial else Bottleneck.AMBIGUOUS)


# What one sample cost: counters between two moments, and what follows from them.


STEADY = SteadyState(Estimate(100.0, 99.0, 101.0), 1.0, 1.0, 11.0)
STEPS = [Step(float(second), 100, 0.25, 0) for second in range(12)]
DATA = DataSet("/data/train.rec", "recordio", 100_000_000, 1000, False)
EVERY = frozenset(accounting.COUNTERS)
TRAINING = Workload("train", "image_training")


def samples(**rates: float) -> list[Sample]:
    """One sampling a second of counters that grow at these rates."""
    return [Sample(time=float(t), **{name: rate * t for name, rate in rates.items()}) for t in range(13)]  # type: ignore[arg-type]


def test_counters_are_divided_by_the_samples_of_the_steady_state() -> None:
    """Ten seconds of 100 samples a second."""
    seen = samples(core_seconds=1.5, read_bytes=2_500_000, io_stall=0.5)
    used = accounting.demand(STEADY, STEPS, seen, TRAINING, DATA, EVERY)
    assert used.core_seconds == pytest.approx(0.015)
    assert used.read_bytes == pytest.approx(25_000)
    assert used.io_stall == pytest.approx(0.005)
    assert used.input_wait == pytest.approx(0.0025)
    assert used.asked_bytes == 100_000


@pytest.mark.parametrize(("read", "expected"), [(0.0, 1.0), (25_000.0, 0.75), (100_000.0, 0.0), (127_000.0, 0.0)])
def test_what_did_not_come_from_the_device_was_a_hit(read: float, expected: float) -> None:
    """Device bytes against bytes asked for; readahead that nobody used is no negative hit."""
    assert accounting.hit_rate(Demand(asked_bytes=100_000, read_bytes=read)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "workload",
    [Workload("synthetic", "image_training", input="synthetic"), Workload("lstm", "lstm_training")],
    ids=lambda workload: workload.name,
)
def test_a_job_that_does_not_read_with_each_sample_asks_for_nothing(workload: Workload) -> None:
    """A text is read at the start of an epoch: no second of the epoch has bytes of its own."""
    assert accounting.asked_bytes(workload, DATA) is None


def test_the_emulated_accelerator_is_busy_as_its_rate_says() -> None:
    """The published step time is the demand."""
    device = Device("emulated", samples_per_second=200.0)
    workload = Workload("train", "image_training", device=device)
    assert accounting.demand(STEADY, STEPS, samples(), workload, DATA, EVERY).accelerator_seconds == 0.005


CUDA = Workload("train", "image_training", device=Device("cuda", 0))


def waiting_steps(*seconds: float | None) -> list[Step]:
    """The steps, of which the accelerator took so long for each, in turn."""
    return [replace(step, accelerator_seconds=seconds[at % len(seconds)]) for at, step in enumerate(STEPS)]


@pytest.mark.parametrize(
    ("steps", "kernels", "expected"),
    [
        (waiting_steps(0.6), 0.9, 0.006),
        (waiting_steps(0.6, None), 0.9, 0.006),
        (waiting_steps(0.6), 0.4, 0.004),
        (waiting_steps(0.6, None, None), 0.9, 0.009),
        (waiting_steps(None), 0.9, 0.009),
        (waiting_steps(0.6), None, 0.006),
        (waiting_steps(None), None, None),
    ],
)
def test_gaps_between_kernels_are_none_of_the_gpus_time(
    steps: list[Step], kernels: float | None, expected: float | None
) -> None:
    """Its own clock counts them where it timed at least half of the samples, its driver what others do: the less."""
    busy = [None if kernels is None else kernels * sample.time for sample in samples()]
    seen = [replace(sample, gpus=(GpuSample(busy=seconds),)) for sample, seconds in zip(samples(), busy, strict=True)]
    used = accounting.demand(STEADY, steps, seen, CUDA, DATA, EVERY)
    assert used.accelerator_seconds == pytest.approx(expected)


# The record of a run on a GPU: what bound it, and what must be known of its figures.


GIB = 2**30
GPU = GpuUse(1, "V100", "GPU-aaaa", 16 * GIB)


def run(
    cores: float, step_seconds: float, gpu: GpuSample | None = None, exit_status: int = 0, kernels: float = 1.0
) -> Run:
    """Twenty seconds of 80 images/s on two vCPUs; the GPU takes `step_seconds` of each 0.1 s, the host `cores`, and a
    kernel runs for the share `kernels` of the time."""
    seen = RunMonitor(
        RunSpec(Workload("train", "image_training", device=Device("cuda", 0)), 8, Limits(2.0), Measure(seconds=20)), 0.0
    )
    seen.steps = [Step(0.1 * at, 8, 0.0, 0, accelerator_seconds=step_seconds) for at in range(201)]
    ticks = [0.5 * tick for tick in range(41)]
    sample = gpu or GpuSample()
    result = ChildResult(
        seen=seen,
        exit_status=exit_status,
        joined=True,
        samples=tuple(
            Sample(
                time=time, core_seconds=cores * time, gpus=(replace(sample, busy=kernels * time, joules=160 * time),)
            )
            for time in ticks
        ),
        accounted=frozenset({"core_seconds"}),
        limited_by=LimitedBy(LimitedByKind.SIZER, "cgroup v2", "0-1", by_cpuset=True),
        last_lines="",
        resident_bytes=None,
        resident_after_bytes=None,
        throttles_buffered_writes=False,
        gpus=(GPU,),
    )
    return run_record(result, Configuration(2.0, 8 * GIB, "host", 8), None, None, "2026-11-21T10:00:00+00:00", 21.0)


@pytest.mark.parametrize(
    ("cores", "step_seconds", "bound"),
    [
        (0.6, 0.097, Bottleneck.ACCELERATOR),
        (1.96, 0.04, Bottleneck.CPU),
        (1.95, 0.098, Bottleneck.AMBIGUOUS),
    ],
)
def test_the_host_works_while_the_gpu_computes(cores: float, step_seconds: float, bound: Bottleneck) -> None:
    """Loading overlaps with computing, so each side's share is of the same time, and the fuller one binds."""
    made = run(cores, step_seconds)
    assert made.demand.accelerator_seconds == pytest.approx(step_seconds / 8)
    assert made.evidence.bottleneck is bound
    assert made.evidence.busy["accelerator"] == pytest.approx(10 * step_seconds, abs=1e-4)


@pytest.mark.parametrize(
    ("cores", "kernels", "bound"),
    [
        (1.0, 0.5, Bottleneck.SERIAL),
        (1.0, 0.95, Bottleneck.ACCELERATOR),
        (0.5, 0.5, Bottleneck.AMBIGUOUS),
        (1.95, 0.5, Bottleneck.CPU),
    ],
)
def test_a_thread_that_starts_kernels_too_slowly_holds_the_gpu_back(
    cores: float, kernels: float, bound: Bottleneck
) -> None:
    """A step without a pause keeps the GPU's clock running though no kernel does; a thread that waits spins."""
    made = run(cores, 0.1, kernels=kernels)
    assert made.evidence.bottleneck is bound
    assert made.configuration.gpu == "V100"


@pytest.mark.parametrize(
    ("gpu", "sentence"),
    [
        (
            GpuSample(held_back=(ClockReason.POWER_CAP,)),
            "GPU throttled: the clocks of the GPU were lowered for 100 % of the time: it reached its power limit",
        ),
        (
            GpuSample(others=("Xorg (pid 7)", "python (pid 9)")),
            "GPU shared: others were on its GPU for 100 % of the time: Xorg (pid 7), python (pid 9)",
        ),
        (
            GpuSample(memory_bytes=int(15.8 * GIB)),
            "GPU memory full: up to 15.8 GiB of the 16 GiB of its GPU's memory were in use; part of it may be memory "
            "that the framework keeps without need",
        ),
    ],
)
def test_what_spoils_a_figure_is_said(gpu: GpuSample, sentence: str) -> None:
    """Which reason, how much of the time, and who."""
    warnings = [warning for warning in run(0.6, 0.09, gpu).warnings if warning.kind.value.startswith("gpu_")]
    assert [warning_line(warning, "image") for warning in warnings] == [sentence]


# What a run used of its GPUs, from samplings of every second.


USE_GPU = GpuUse(0, "V100", "GPU-aaaa", 16 << 30)


def sampled(*gpus: GpuSample) -> tuple[Sample, ...]:
    return tuple(Sample(time=float(second), gpus=(gpu,)) for second, gpu in enumerate(gpus))


def test_figures_are_medians_and_costs_of_a_sample() -> None:
    """Over the steady state alone: the first two seconds are warm-up, and 100 samples are counted in the rest."""
    seen = sampled(
        *(
            GpuSample(
                busy=max(0, second - 2) * 0.9,
                memory_bytes=(20 - second) << 20,
                own_memory_bytes=(10 - second) << 20,
                watts=100.0 + second,
                sm_hertz=1e9,
                joules=second * 50.0,
                sent_bytes=second * 1_000.0,
                received_bytes=second * 2_000.0,
            )
            for second in range(7)
        )
    )
    (use,) = gpu_uses(peaks([USE_GPU], seen), seen, 2.0, 6.0, 100)
    assert (use.name, use.uuid, use.memory_bytes) == ("V100", "GPU-aaaa", 16 << 30)
    assert use.busy == pytest.approx(0.9)
    assert (use.peak_memory_bytes, use.own_peak_memory_bytes) == (20 << 20, 10 << 20)
    assert (use.watts, use.sm_hertz, use.memory_hertz) == (104.0, 1e9, None)
    assert (use.joules, use.sent_bytes, use.received_bytes) == (2.0, 40.0, 80.0)


def test_shares_of_the_time_by_reason_and_of_others() -> None:
    """A sampling at which the driver did not say counts for neither side."""
    cap, hot = (ClockReason.POWER_CAP,), (ClockReason.POWER_CAP, ClockReason.THERMAL)
    seen = sampled(
        GpuSample(held_back=cap),
        GpuSample(held_back=hot, others=("Xorg (pid 7)",)),
        GpuSample(held_back=None),
        GpuSample(held_back=(), others=("python (pid 9)", "Xorg (pid 7)")),
        GpuSample(held_back=()),
    )
    (use,) = gpu_uses([USE_GPU], seen, 0.0, 4.0, 10)
    assert use.held_back == {"power_cap": 0.5, "thermal": 0.25}
    assert (use.shared, use.others) == (0.4, ("Xorg (pid 7)", "python (pid 9)"))
