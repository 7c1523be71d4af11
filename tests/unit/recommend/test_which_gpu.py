"""Which GPU: the input side as measured, the accelerator as published, and no answer where one of them is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog import Catalog
from sizer.model import fit
from sizer.recommend import recommend
from sizer.records import Answer, Bottleneck, Deadline, Demand, Device, Estimate, NoGpuAnswer, Objective, Run
from sizer.words import gpu_option_lines, gpus_compared, terms_of

P100 = Device("emulated", gpu="P100", samples_per_second=181.53, source="a table")
MakeRun = Callable[..., Run]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load()


def emulated_runs(make_run: MakeRun) -> list[Run]:
    """A job that the CPU feeds with 100 images/s a vCPU, on an emulated P100."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    rates = {c: ((100 * c) ** -8 + 181.53**-8) ** (-1 / 8) for c in (0.5, 1.0, 2.0, 4.0)}
    return [_of(make_run(rate, c, device=P100, demand=demand), "resnet50") for c, rate in rates.items()]


def _of(run: Run, network: str | None, kind: str = "image_training") -> Run:
    workload = replace(run.spec.workload, network=network, kind=kind)
    return replace(run, spec=replace(run.spec, workload=workload))


def answered(runs: list[Run], catalog: Catalog, *gpus: str, deadline: Deadline | None = None) -> Answer:
    return recommend(fit(runs), runs, Objective(gpus=gpus, deadline=deadline), catalog).workloads[0]


def test_each_gpu_has_rate_bottleneck_price_and_memory(make_run: MakeRun, catalog: Catalog) -> None:
    """A T4 is slower than its CPUs feed it; the input side holds an H100 back; both have a price."""
    found = answered(emulated_runs(make_run), catalog, "T4", "V100", "A100", "H100")
    t4, v100, a100, h100 = found.gpus
    assert t4.throughput is not None
    assert t4.throughput.value == pytest.approx(110.8, rel=0.1)
    assert t4.bottleneck is Bottleneck.ACCELERATOR
    assert h100.bottleneck is not Bottleneck.ACCELERATOR or h100.extrapolated
    assert all(each.usd_per_million_samples for each in (t4, v100, a100, h100))
    assert t4.fits is True
    assert t4.second is not None
    assert t4.second.gain.value > 1
    assert t4.accelerator is not None
    assert t4.accelerator.basis == "published"


def test_a_gpu_without_rate_has_no_answer(make_run: MakeRun, catalog: Catalog) -> None:
    """A10G was never published: that is said, with the GPUs that were."""
    (a10g,) = answered(emulated_runs(make_run), catalog, "A10G").gpus
    assert (a10g.throughput, a10g.missing) == (None, NoGpuAnswer.NO_RATE)
    assert "V100" in a10g.published_on


def test_a_job_without_a_known_network_has_no_answer(make_run: MakeRun, catalog: Catalog) -> None:
    """Preprocessing computes nothing on a GPU."""
    runs = [_of(make_run(rate, c), None, "imagenet_preprocessing") for c, rate in ((1.0, 100), (2.0, 190), (4.0, 300))]
    (t4,) = answered(runs, catalog, "T4").gpus
    assert t4.missing is NoGpuAnswer.NO_NETWORK


def test_on_the_cpu_the_input_must_have_been_measured_apart(make_run: MakeRun, catalog: Catalog) -> None:
    """Without a run on synthetic input nobody knows what the CPU would have left to do."""
    demand = Demand(core_seconds=0.1, read_bytes=1e5, read_ios=1.0)
    runs = [_of(make_run(rate, c, demand=demand), "resnet50") for c, rate in ((1.0, 10), (2.0, 19), (4.0, 36))]
    (t4,) = answered(runs, catalog, "T4").gpus
    assert t4.missing is NoGpuAnswer.STEP_NOT_SEPARATE


def test_a_job_on_the_cpu_is_compared_with_it(make_run: MakeRun, catalog: Catalog) -> None:
    """Half of its 100 ms a sample is the input's, as a synthetic run shows: 4 vCPUs feed 80 images/s."""
    demand = Demand(core_seconds=0.1, read_bytes=1e5, read_ios=1.0)
    runs = [_of(make_run(10 * c, c, demand=demand), "resnet50") for c in (1.0, 2.0, 4.0)]
    alone = _of(make_run(4 / 0.05, 4.0, demand=Demand(core_seconds=0.05)), "resnet50")
    workload = replace(alone.spec.workload, input="synthetic")
    (t4,) = answered([*runs, replace(alone, spec=replace(alone.spec, workload=workload))], catalog, "T4").gpus
    assert t4.input_rate is not None
    assert t4.vcpus is not None
    assert t4.input_rate.value == pytest.approx(20 * t4.vcpus, rel=0.15)
    assert t4.against_cpu is not None
    assert t4.against_cpu.time_ratio < 0.6
    assert t4.against_cpu.cost_ratio is not None


def test_the_whole_job_has_a_time_and_a_price(make_run: MakeRun, catalog: Catalog) -> None:
    """Where its samples are known."""
    (t4,) = answered(emulated_runs(make_run), catalog, "T4", deadline=Deadline(1e6, 36000)).gpus
    assert t4.throughput is not None
    assert t4.seconds is not None
    assert t4.usd_per_hour is not None
    assert t4.seconds.value == pytest.approx(1e6 / t4.throughput.value)
    assert t4.usd == pytest.approx(t4.usd_per_hour * t4.seconds.value / 3600)


def test_no_interval_is_turned_around(make_run: MakeRun, catalog: Catalog) -> None:
    """Low, value and high are in order, and nothing is faster than its accelerators."""
    for option in answered(emulated_runs(make_run), catalog, "T4", "V100", "L4", "K80", "P100", "B200").gpus:
        for each in (option.throughput, option.input_rate, option.second and option.second.gain):
            if isinstance(each, Estimate):
                assert each.low <= each.value <= each.high


def test_every_line_says_where_its_figures_come_from(make_run: MakeRun, catalog: Catalog) -> None:
    """The headline has rate, bottleneck and price; behind it stand the source and the memory."""
    runs = emulated_runs(make_run)
    found = answered(runs, catalog, "T4", "A10G")
    terms = terms_of(fit(runs).workloads[0])
    headline, source, memory, *_ = gpu_option_lines(found.gpus[0], terms)
    assert "aws g4dn.xlarge" in headline
    assert "an hour" in headline
    assert "PROFET" in source
    assert "16 GiB" in memory
    assert gpu_option_lines(found.gpus[1], terms)[0].startswith("A10G: no answer: no published rate")


def test_a_job_that_names_no_precision_is_one_in_fp32(make_run: MakeRun, catalog: Catalog) -> None:
    """sizer's networks compute in fp32, so ResNet-18's rate on RTX 3090 in mixed precision is none of this job."""
    runs = [_of(run, "resnet18") for run in emulated_runs(make_run)]
    (found,) = answered(runs, catalog, "RTX 3090").gpus
    assert found.missing is NoGpuAnswer.NO_RATE


def test_the_cheapest_and_the_fastest_are_said_with_their_doubt(make_run: MakeRun, catalog: Catalog) -> None:
    """Beside those that may be instead by their intervals, or alone where none reaches them; of one nothing is said."""
    runs = emulated_runs(make_run)
    terms = terms_of(fit(runs).workloads[0])
    t4, v100, a10g = answered(runs, catalog, "T4", "V100", "A10G").gpus
    least, most = gpus_compared((t4, v100, a10g), terms)
    assert least.startswith("T4 does the work for least, $")
    assert most.startswith("V100 is the fastest, ")
    assert gpus_compared((t4, a10g), terms) == []
    near = replace(t4, throughput=Estimate(100.0, 90.0, 110.0), usd_per_million_samples=1.0)
    far = replace(v100, throughput=Estimate(300.0, 290.0, 310.0), usd_per_million_samples=2.0)
    assert gpus_compared((near, far), terms) == [
        "T4 does the work for least, $1.00 a million images.",
        "V100 is the fastest, 300 images/s (290–310).",
    ]
    wide = replace(far, throughput=Estimate(300.0, 100.0, 700.0))
    assert gpus_compared((near, wide), terms) == [
        "T4 does the work for least, $1.00 a million images; by the intervals V100 may, too.",
        "V100 is the fastest, 300 images/s (100–700); by the intervals T4 may be, too.",
    ]
    assert gpus_compared((near, replace(far, usd_per_million_samples=None)), terms)[0].startswith("V100 is the fastest")
