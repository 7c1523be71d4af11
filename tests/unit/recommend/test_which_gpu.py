"""Which GPU: the input side as measured, the accelerator as published, and no answer where one of them is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import AgainstCpu, Answer, NoGpuAnswer, SecondGpu
from sizer.records.device import REFERENCE, Device, Processor
from sizer.records.prediction import Bottleneck, Estimate
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline, Objective
from sizer.words.accelerators import gpu_option_lines, gpus_compared
from sizer.words.names import terms_of
from tests.tables import stored_catalog

P100 = Device("emulated", gpu="P100", samples_per_second=181.53, source="a table")
MakeRun = Callable[..., Run]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return stored_catalog()


def emulated_runs(make_run: MakeRun, vcpus: Sequence[float] = (0.5, 1.0, 2.0, 4.0)) -> list[Run]:
    """A job that the CPU feeds with 100 images/s a vCPU, on an emulated P100."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    rates = {c: ((100 * c) ** -8 + 181.53**-8) ** (-1 / 8) for c in vcpus}
    return [_of(make_run(rate, c, device=P100, demand=demand), "resnet50") for c, rate in rates.items()]


def computed_runs(make_run: MakeRun, step: float) -> list[Run]:
    """A job of 100 ms of CPU time a sample; a run with synthetic input shows `step` seconds to be the step's."""
    demand = Demand(core_seconds=0.1, read_bytes=1e5, read_ios=1.0)
    runs = [_of(make_run(10 * c, c, demand=demand), "resnet50") for c in (1.0, 2.0, 4.0)]
    alone = _of(make_run(4 / step, 4.0, demand=Demand(core_seconds=step)), "resnet50")
    workload = replace(alone.spec.workload, input="synthetic")
    return [*runs, replace(alone, spec=replace(alone.spec, workload=workload))]


def _of(run: Run, network: str | None, kind: str = "image_training") -> Run:
    workload = replace(run.spec.workload, network=network, kind=kind)
    return replace(run, spec=replace(run.spec, workload=workload))


def answered(runs: list[Run], catalog: Catalog, *gpus: str, deadline: Deadline | None = None) -> Answer:
    return recommend(fit(runs), runs, Objective(gpus=gpus, deadline=deadline), catalog).workloads[0]


def test_the_input_side_is_moved_to_the_cpu_of_the_machine(make_run: MakeRun) -> None:
    """A host twice as fast as AWS c6i feeds a T4 on g4dn.xlarge, 0.78 as fast, with half of what it feeds here."""
    fast = {name: 2 * rate for name, rate in REFERENCE.items()}
    runs, host = emulated_runs(make_run), Processor("", "host", fast, 0.0, 4.0, 4.0, "avx2")
    catalog = Catalog.load()
    catalog = replace(catalog, instance_types=catalog.called("aws/g4dn.xlarge"))
    here, there = (
        recommend(model, runs, Objective(gpus=("T4",)), catalog).workloads[0].gpus[0]
        for model in (fit(runs), fit(runs, None, [host]))
    )
    assert (here.transferred, there.transferred) == (False, True)
    assert there.input_rate.value / here.input_rate.value == pytest.approx(0.784 / 2 * 1.25 / 2, rel=0.1)
    lines = gpu_option_lines(there, terms_of(fit(runs).workloads[0]))
    assert any("as measured here and moved to its CPU, feeds" in line for line in lines)


def test_each_gpu_has_rate_bottleneck_price_and_memory(make_run: MakeRun, catalog: Catalog) -> None:
    """A T4 is slower than its CPUs feed it; the input side holds an H100 back; both have a price."""
    options = answered(emulated_runs(make_run), catalog, "T4", "V100", "A100", "H100")
    t4, v100, a100, h100 = options.gpus
    assert t4.throughput.value == pytest.approx(110.8, rel=0.1)
    assert t4.bottleneck is Bottleneck.ACCELERATOR
    assert h100.bottleneck is not Bottleneck.ACCELERATOR or h100.extrapolated
    assert v100.usd_per_million_samples
    for gpu in (t4, v100, a100, h100):
        assert gpu.usd_per_million_samples or gpu.missing is NoGpuAnswer.INPUT_NOT_KNOWN
    assert t4.fits is True
    assert t4.second.gain.value > 1
    assert t4.accelerator.basis == "published"


def test_each_gpu_is_a_row_of_the_table_of_costs(make_run: MakeRun, catalog: Catalog) -> None:
    """Beside the sizes that were measured, which have the accelerator that all runs had; without one they are CPUs."""
    for runs, count in ((emulated_runs(make_run), 1), (computed_runs(make_run, 0.08), 0)):
        costs = answered(runs, catalog, "T4").costs
        assert {(row.published, row.spec.gpu_count) for row in costs.rows} == {(False, count), (True, 1)}
        assert costs.has_both is (count == 0)


def test_an_input_side_that_nobody_knows_is_no_figure(make_run: MakeRun, catalog: Catalog) -> None:
    """Where the interval would span more than tenfold, there is no rate, and the run that would settle it is named."""
    runs = emulated_runs(make_run, (0.5, 1.0, 2.0))
    gpus = answered(runs, catalog, "V100", "A100", "H100", "H200", "B200").gpus
    for gpu in gpus:
        wide = gpu.input_rate is not None and gpu.input_rate.high > 10 * gpu.input_rate.low
        assert not (wide and gpu.extrapolated and not gpu.bottleneck_sure)
    unknown = [gpu for gpu in gpus if gpu.missing is NoGpuAnswer.INPUT_NOT_KNOWN]
    for gpu in unknown:
        assert gpu.vcpus
        assert f"{gpu.vcpus:g} vCPUs" in gpu_option_lines(gpu, terms_of(fit(runs).workloads[0]))[0]


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
    (t4,) = answered(computed_runs(make_run, step=0.05), catalog, "T4").gpus
    assert t4.vcpus is not None
    assert t4.input_rate.value == pytest.approx(20 * t4.vcpus, rel=0.15)
    assert t4.against_cpu.time_ratio < 0.6
    assert t4.against_cpu.cost_ratio is not None


def test_the_interval_of_a_small_input_share_holds_the_truth(make_run: MakeRun, catalog: Catalog) -> None:
    """A tenth of 100 ms is the input's, so 4 vCPUs feed 400 images/s; two large times differ by hardly that."""
    (t4,) = answered(computed_runs(make_run, step=0.09), catalog, "T4").gpus
    assert t4.vcpus is not None
    assert t4.input_rate.low <= 100 * t4.vcpus <= t4.input_rate.high


def test_the_whole_job_has_a_time_and_a_price(make_run: MakeRun, catalog: Catalog) -> None:
    """Where its samples are known."""
    (t4,) = answered(emulated_runs(make_run), catalog, "T4", deadline=Deadline(1e6, 36000)).gpus
    assert t4.usd_per_hour is not None
    assert t4.seconds.value == pytest.approx(1e6 / t4.throughput.value)
    assert t4.usd == pytest.approx(t4.usd_per_hour * t4.seconds.value / 3600)


def test_every_line_says_where_its_figures_come_from(make_run: MakeRun, catalog: Catalog) -> None:
    """The headline has rate, bottleneck and price; behind it stand the source and the memory."""
    runs = emulated_runs(make_run)
    options = answered(runs, catalog, "T4", "A10G")
    terms = terms_of(fit(runs).workloads[0])
    headline, source, memory, *_ = gpu_option_lines(options.gpus[0], terms)
    assert "aws g4dn.xlarge" in headline
    assert "an hour" in headline
    assert "PROFET" in source
    assert "16 GiB" in memory
    assert gpu_option_lines(options.gpus[1], terms)[0].startswith("A10G: no answer: no published rate")


def test_what_follows_from_a_rate_is_as_far_off_as_it_is(make_run: MakeRun, catalog: Catalog) -> None:
    """The cost of a million samples, the whole job, two of them, and the ratios to the CPU have the rate's interval."""
    runs = emulated_runs(make_run)
    terms = terms_of(fit(runs).workloads[0])
    (t4,) = answered(runs, catalog, "T4").gpus
    rate = Estimate(100.0, 50.0, 200.0)
    doubtful = replace(
        t4, throughput=rate, usd_per_million_samples=2.0, seconds=Estimate(3600.0, 1800.0, 7200.0), usd=6.0
    )
    headline, *_ = gpu_option_lines(doubtful, terms)
    assert "$2.00 ($1.00 to $4.00) a million images" in headline
    assert "the whole job 1 h 00 min (30 min 00 s to 2 h 00 min) and $6.00 ($3.00 to $12.00)" in headline
    gain, scaled = Estimate(1.5, 1.0, 2.0), Estimate(0.9, 0.8, 1.0)
    two = SecondGpu(gain, scaled, "published", Bottleneck.ACCELERATOR, (), "a b", 9.0, 3.0, False, True)
    lines = gpu_option_lines(replace(doubtful, second=two, against_cpu=AgainstCpu(0.1, 0.5)), terms)
    assert any("$3.00 ($1.12 to $9.00) a million images" in line for line in lines)
    assert any(
        "10 % (5 % to 20 %) of the time on the CPU and 50 % (25 % to 100 %) of the cost" in line for line in lines
    )


def test_a_job_that_names_no_precision_is_one_in_fp32(make_run: MakeRun, catalog: Catalog) -> None:
    """sizer's networks compute in fp32, so ResNet-18's rate on RTX 3090 in mixed precision is none of this job."""
    runs = [_of(run, "resnet18") for run in emulated_runs(make_run)]
    (gpu,) = answered(runs, catalog, "RTX 3090").gpus
    assert gpu.missing is NoGpuAnswer.NO_RATE


def test_one_gpu_is_no_faster_than_itself_where_two_are_recommended(make_run: MakeRun, catalog: Catalog) -> None:
    """A job measured on one and two P100 that scale well is answered for one T4, not for two."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    device = replace(P100, scaling_loss=0.01, scaling_source="a table")
    runs = []
    for count, vcpus in ((count, vcpus) for count in (1, 2) for vcpus in (1.0, 2.0, 4.0, 8.0)):
        alone = 181.53 * (device.speed_up(count) or 1)
        run = _of(
            make_run(((100 * vcpus) ** -8 + alone**-8) ** (-1 / 8), vcpus, device=device, demand=demand), "resnet50"
        )
        spec = replace(run.spec, gpu_count=count)
        runs.append(replace(run, spec=spec, configuration=replace(run.configuration, gpu_count=count)))
    asked = Objective("fastest", gpus=("T4",))
    answer = recommend(fit(runs), runs, asked, catalog).workloads[0]
    (t4,) = answer.gpus
    assert answer.spec.gpu_count == 2
    assert t4.throughput.value <= 1.001 * t4.accelerator.rate.value


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


def test_every_gpu_with_an_answer_says_something_of_a_second_one(make_run: MakeRun, catalog: Catalog) -> None:
    """Unless its smallest machine has several."""
    for option in answered(emulated_runs(make_run), catalog, "T4", "V100", "L4", "K80", "P100", "A100", "H100").gpus:
        if option.throughput is not None and option.gpu_count == 1:
            assert (option.second is None) is (option.second_missing is not None)
