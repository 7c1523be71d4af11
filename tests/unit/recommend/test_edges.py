"""Whether the rate still rises where measuring stopped is said as surely as the runs support, and no surer."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device, DiskRates
from sizer.records.run import Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind

Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
NOISY = ((0.5, 60), (1, 118), (2, 117))
CONTENDED = (RunWarning(WarningKind.CONTENDED, {"cores": 1.1}),)
IMPRECISE = (RunWarning(WarningKind.IMPRECISE, {"half_width": 0.196, "seconds": 5.0, "asked": 0.03}),)


def busy(runs: list[Run], share: float = 1.0) -> list[Run]:
    """The same with this share of their vCPUs' time accounted for."""
    rates = [run.throughput.value for run in runs if run.throughput is not None]
    seconds = [share * (run.configuration.vcpus or 0) / rate for run, rate in zip(runs, rates, strict=True)]
    return [replace(run, demand=Demand(core_seconds=each)) for run, each in zip(runs, seconds, strict=True)]


def warned(runs: list[Run], *warnings: tuple[RunWarning, ...]) -> list[Run]:
    return [replace(run, warnings=each) for run, each in zip(runs, warnings, strict=True)]


def test_what_is_not_settled_is_neither_rising_nor_recommended(curve: Curve, ask: Ask) -> None:
    """Where noise leaves the sign of the last doubling open, the answer is a lower bound that claims no rise."""
    answer = ask(curve(*NOISY, spread=0.2))
    assert answer.status == "at_least"
    assert answer.spec.vcpus == 1
    assert answer.beyond is None
    assert answer.reasons[0].startswith("It is not clear whether more than 2 vCPUs")
    assert "it is not known whether it is the right" in answer.reasons[1]
    assert "still rises" not in " ".join(answer.reasons)
    assert answer.next_run.startswith("Repeat `train` at ")


def test_a_fall_that_noise_explains_is_not_taken_for_sure(curve: Curve, ask: Ask) -> None:
    """A size below the most measured is recommended, and how likely more would pay is said."""
    answer = ask(curve((0.5, 60), (1, 118), (2, 105), spread=0.2))
    assert answer.spec.vcpus == 1
    assert re.search(r"the probability of more than 5 % is 0\.[1-5]", answer.reasons[0])


def test_a_smaller_size_that_is_sure_is_recommended_although_the_edge_is_open(curve: Curve, ask: Ask) -> None:
    """Many runs that agree on the plateau support a size below the most measured, whatever one bad run there says."""
    points = ((1, 100), (2, 200), (4, 203), (8, 202), (16, 201))
    runs = [replace(run, spec=replace(run.spec, repeat=k)) for k in range(3) for run in curve(*points, spread=0.02)]
    answer = ask([*runs, *curve((32, 212), spread=0.08)])
    assert answer.spec.vcpus < 32
    assert answer.status == "recommended"


def test_runs_that_move_cannot_tell_what_binds(curve: Curve, ask: Ask) -> None:
    """Where the curve is open and its runs move by more than is at stake, no bottleneck is named, and repeating one
    that tells most is the advice; a warning changes nothing of what is said."""
    answer = ask(warned(curve(*NOISY, spread=0.15), CONTENDED, CONTENDED + IMPRECISE, CONTENDED))
    assert (answer.status, answer.bottleneck, answer.next_bottleneck) == ("at_least", Bottleneck.AMBIGUOUS, None)
    assert "it is not known whether it is the right" in answer.reasons[1]
    assert any(reason.startswith("The bottleneck there is not known") for reason in answer.reasons)
    assert not any("bound" in each.why or "held back" in each.why for each in answer.rejected)
    assert answer.next_run.startswith("Repeat `train` at ")


@pytest.mark.parametrize("spread", [0.01, 0.1, 0.2])
def test_a_curve_that_rises_is_at_least_however_noisy(curve: Curve, ask: Ask, spread: float) -> None:
    """A CPU-bound curve is never called recommended, disturbed or not."""
    runs = curve((0.5, 50), (1, 100), (2, 190), spread=spread)
    for answer in (ask(runs), ask(warned(runs, CONTENDED, CONTENDED, CONTENDED))):
        assert (answer.status, answer.bottleneck) == ("at_least", Bottleneck.CPU)
        assert answer.reasons[0].startswith(
            "The rate still rises at 2 vCPUs, the most measured: twice as much should gain "
        )


@pytest.mark.parametrize(
    "points",
    [
        ((1, 100), (2, 200), (4, 400)),
        ((0.5, 227), (1, 425), (2, 620)),
        ((0.5, 68), (1, 152), (2, 212)),
        ((0.5, 2540), (1, 6140), (2, 7060)),
        ((1, 100), (2, 180), (4, 300), (8, 450)),
    ],
    ids=["linear", "preprocessing", "inference", "lstm", "Amdahl"],
)
@pytest.mark.parametrize("accounted", [True, False])
def test_a_last_doubling_that_gained_is_at_least(
    curve: Curve, ask: Ask, points: tuple[tuple[float, float], ...], accounted: bool
) -> None:
    """A last doubling that clearly gained, with no known ceiling near, is a lower bound; the estimate beyond rises."""
    answer = ask(busy(curve(*points, spread=0.02)) if accounted else curve(*points, spread=0.02))
    assert answer.status == "at_least"
    assert answer.spec.vcpus == points[-1][0]
    assert "The rate still rises at" in answer.reasons[0]
    assert answer.beyond.extrapolated
    assert answer.beyond.throughput.value > 1.02 * points[-1][1]
    assert answer.beyond.throughput.low < 1.5 * points[-1][1] < answer.beyond.throughput.high
    last = points[-1][1] / points[-2][1]
    assert answer.beyond.throughput.value <= 1.2 * last * points[-1][1]


def test_ten_percent_more_are_a_rise_where_the_vcpus_were_busy(curve: Curve, ask: Ask) -> None:
    """By rates alone the last doubling may have met a serial part, or the second thread of a core."""
    points = ((0.5, 50), (1, 100), (2, 110))
    answer, accounted = ask(curve(*points, spread=0.02)), ask(busy(curve(*points, spread=0.02)))
    assert (answer.status, answer.edge) == ("at_least", "unsettled")
    assert (accounted.status, accounted.edge) == ("at_least", "rising")


@pytest.mark.parametrize("top", [212, 216])
def test_the_ceiling_of_a_known_accelerator_is_evidence(curve: Curve, ask: Ask, top: float) -> None:
    """A last doubling of 50 % onto a GPU's own rate is settled: no vCPUs raise it further."""
    device = Device("emulated", gpu="P100", samples_per_second=219)
    answer = ask(curve((1, 72), (2, 142), (4, top), device=device, demand=Demand(core_seconds=0.0139)))
    assert (answer.status, answer.bottleneck) == ("recommended", Bottleneck.ACCELERATOR)
    assert answer.spec.vcpus == 4


def test_an_accelerator_fed_by_half_of_the_most_is_settled(curve: Curve, ask: Ask) -> None:
    """Where the GPU is reached at half of what was measured, that half is recommended."""
    device = Device("emulated", gpu="P100", samples_per_second=219)
    answer = ask(curve((0.5, 60), (1, 118), (2, 217), (4, 218.5), device=device, demand=Demand(core_seconds=0.0085)))
    assert (answer.status, answer.spec and answer.spec.vcpus) == ("recommended", 2)


def test_a_known_disk_that_binds_at_the_most_measured_is_evidence(curve: Curve, ask: Ask) -> None:
    """A disk of 30 MB/s ends at 300 samples of 0.1 MB: 299 is settled. At 290 vCPUs hold back some, too, and where
    accounting says CPU nothing is named."""
    demand, rates = Demand(core_seconds=0.006, read_bytes=1e5, read_ios=1.0), DiskRates(1e5, 3e7)
    points = ((0.5, 83), (1, 165), (2, 290))
    disk = Evidence(Bottleneck.DISK_BANDWIDTH, {"disk_bandwidth": 0.96}, EvidenceKind.BUSIEST)
    answer = ask(curve(*points, (4, 299), demand=demand, rates=rates, disk="slow", evidence=disk))
    assert (answer.status, answer.bottleneck) == ("recommended", Bottleneck.DISK_BANDWIDTH)
    cpu = Evidence(Bottleneck.CPU, {"cpu": 0.91}, EvidenceKind.BUSIEST)
    doubted = ask(curve(*points, demand=demand, rates=rates, disk="slow", evidence=cpu))
    assert doubted.status == "at_least"
    assert doubted.bottleneck is Bottleneck.AMBIGUOUS
    said = next(reason for reason in doubted.reasons if reason.startswith("There is no clear bottleneck there"))
    assert "the model says disk bandwidth" in said
    assert said.endswith("accounting says CPU 91 % busy.")


def test_vcpus_that_are_busy_while_the_rate_rises_are_no_serial_part(curve: Curve, ask: Ask) -> None:
    """227, 425, 620 with vCPUs 77 % busy is CPU-bound, and the shares do not say otherwise."""
    evidence = Evidence(Bottleneck.CPU, {"cpu": 0.77}, EvidenceKind.BUSIEST)
    answer = ask(busy(curve((0.5, 227), (1, 425), (2, 620), evidence=evidence), 0.77))
    assert answer.bottleneck is Bottleneck.CPU
    found = next(reason for reason in answer.reasons if reason.startswith("There it is bound by the CPU"))
    assert found.startswith("There it is bound by the CPU (shares: CPU 5")
    assert found.endswith("accounting: CPU 77 % busy).")


def test_a_serial_part_leaves_a_known_estimate_beyond(curve: Curve) -> None:
    """Seconds a sample A + B / c: what Amdahl's law gives at 8 vCPUs is predicted from 1, 2 and 4 within 6 %."""
    law = {c: 1 / (0.002 + 0.008 / c) for c in (1, 2, 4, 8)}
    model = fit(curve(*((c, law[c]) for c in (1, 2, 4)))).workload("train")
    configuration = replace(best_measured(model).configuration, vcpus=8)
    assert predict(model, configuration).throughput.value == pytest.approx(law[8], rel=0.06)


def test_a_plateau_is_settled(curve: Curve, ask: Ask) -> None:
    """908 at 64 vCPUs where the model expects 909 at 128 is no lower bound."""
    answer = ask(curve((1, 100), (2, 195), (4, 370), (8, 640), (16, 830), (32, 895), (64, 908)))
    assert answer.status == "recommended"
    assert "not clear" not in " ".join(answer.reasons)


def test_a_gain_below_what_counts_is_no_rise(curve: Curve, ask: Ask) -> None:
    """A last doubling that gained 3 % is not called one: half of what was measured is enough as far as is known."""
    answer = ask(curve((0.5, 50), (1, 100), (2, 103)))
    assert answer.edge != "rising"
    assert answer.spec.vcpus == 1
    assert "still rises" not in " ".join(answer.reasons)
    assert re.search(r"the probability of more than 5 % is 0\.[1-6]", answer.reasons[0])


def test_an_answer_from_imprecise_runs_is_less_sure(curve: Curve, ask: Ask) -> None:
    """By the interval of the run that it rests on, and by no label."""
    points = ((1, 98.0), (2, 100), (4, 100))
    precise, labelled = ask(curve(*points)), ask(warned(curve(*points), IMPRECISE, (), ()))
    assert (labelled.status, labelled.provisional) == (precise.status, precise.provisional)
    assert (labelled.spec, labelled.probability) == (precise.spec, precise.probability)
    wide = ask([*curve(points[0], spread=0.2), *curve(*points[1:])])
    surer, sure = precise.probability, wide.probability
    assert wide.spec != precise.spec or sure < surer


def test_accelerators_that_still_pay_are_a_lower_bound(make_run: Callable[..., Run], ask: Ask) -> None:
    """Each doubling of GPUs doubles the rate: the most measured is not the fastest, and the run to make is named."""
    made = [make_run(390 * count**0.99, 16, device=Device("cuda")) for count in (1, 2, 4, 8)]
    runs = [
        replace(run, configuration=replace(run.configuration, gpu_count=count))
        for run, count in zip(made, (1, 2, 4, 8), strict=True)
    ]
    answer = ask(runs, "fastest")
    assert (answer.status, answer.edge, answer.spec and answer.spec.gpu_count) == ("at_least", "rising", 8)
    assert answer.reasons[0].startswith("The rate still rises at 8 accelerators, the most measured")
    assert "with 16 accelerators" in answer.next_run


ACROSS_THE_KNEE = ((2, 96), (4, 187), (8, 342), (16, 395))


def test_a_step_across_the_knee_leaves_open_what_follows(ask_table: Callable[..., Answer]) -> None:
    """It gained 15 %: either the accelerator binds now, or a half of each core was added, as rates alone do not tell;
    twice as many may gain nothing, or much."""
    rows = "".join(f"\nresnet50,{vcpus},V100,1,{rate}" for vcpus, rate in ACROSS_THE_KNEE)
    answer = ask_table(f"workload,vcpus,gpu,gpu_count,throughput{rows}")
    assert (answer.status, answer.edge, answer.beyond) == ("at_least", "unsettled", None)
    assert answer.next_run.vcpus == (32.0,)


def test_vcpus_that_are_half_idle_across_the_knee_are_enough(ask_table: Callable[..., Answer]) -> None:
    """By accounting the job uses 8 of 16 vCPUs: more of them buy nothing."""
    rows = "".join(f"\nresnet50,{vcpus},V100,1,{rate},0.0207" for vcpus, rate in ACROSS_THE_KNEE)
    answer = ask_table(f"workload,vcpus,gpu,gpu_count,throughput,core_seconds_per_sample{rows}")
    assert (answer.status, answer.edge) == ("recommended", "settled")
    assert answer.bottleneck is not Bottleneck.CPU


def test_what_the_cpu_binds_at_the_most_measured_still_rises(ask_table: Callable[..., Answer]) -> None:
    rows = "".join(f"\nresnet50,{vcpus},V100,1,{rate}" for vcpus, rate in ((2, 96), (4, 187), (8, 350), (16, 610)))
    answer = ask_table(f"workload,vcpus,gpu,gpu_count,throughput{rows}")
    assert (answer.status, answer.edge) == ("at_least", "rising")


def test_a_step_that_gained_nothing_is_no_lower_bound(ask_table: Callable[..., Answer]) -> None:
    rows = "".join(f"\nresnet50,{vcpus},V100,1,{rate}" for vcpus, rate in ((2, 96), (4, 187), (8, 360), (16, 361)))
    answer = ask_table(f"workload,vcpus,gpu,gpu_count,throughput{rows}")
    assert (answer.status, answer.edge) == ("recommended", "settled")
    assert answer.spec.vcpus == 8
