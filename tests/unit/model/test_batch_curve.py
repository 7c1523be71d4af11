"""Curves: of batch sizes, of any shape, at many points at once, and with intervals that hold new runs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.exchange.imported import read_measurements
from sizer.model.batch_curve import batch_curves, nearest, step_line
from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict, predict_several
from sizer.records.answer import BatchCurve, StepFit
from sizer.records.device import Device
from sizer.records.prediction import Bottleneck, Configuration, Refusal, Refused
from sizer.records.run import Demand, Run
from sizer.records.units import GIB
from tests.tables import runs_of, stored_catalog

# The mini-batch efficiency curve, and the line through the times of its steps.


TWO_GPUS = """workload,gpu,gpu_count,batch_size,throughput,outcome
job,V100,1,8,180,
job,V100,1,16,260,
job,V100,1,32,330,
job,V100,1,64,370,
job,V100,1,128,395,
job,V100,1,256,,out_of_memory
job,K80,1,8,40,
job,K80,1,16,45,
"""


def table(rates: dict[int, list[float]]) -> str:
    rows = [f"job,2,{batch},{rate!r}" for batch, repeats in rates.items() for rate in repeats]
    return "\n".join(["workload,vcpus,batch_size,throughput", *rows])


def curve_of(folder: Path, rates: dict[int, list[float]]) -> BatchCurve:
    (curve,) = batch_curves(runs_of(folder, table(rates)))
    return curve


def test_each_kind_of_accelerator_has_its_curve(tmp_path: Path) -> None:
    """The one with the most batch sizes comes first; what ran out of memory is no point of it."""
    v100, k80 = batch_curves(runs_of(tmp_path, TWO_GPUS))
    assert (v100.at.gpu, [point.batch_size for point in v100.points]) == ("V100", [8, 16, 32, 64, 128])
    assert (k80.at.gpu, k80.fit) == ("K80", StepFit.UNTESTED)
    assert v100.points[0].seconds_per_sample == pytest.approx(1 / 180)
    assert v100.points[0].step_seconds == pytest.approx(8 / 180)
    assert nearest((v100, k80), k80.at) is k80
    assert nearest((v100, k80), None) is v100
    assert nearest((), k80.at) is None


def test_launch_and_slope_are_those_of_the_job(tmp_path: Path) -> None:
    """20 ms a step and 2 ms a sample, from rates alone."""
    rates = {batch: [batch / (0.020 + 0.002 * batch)] for batch in (8, 16, 32, 64)}
    curve = curve_of(tmp_path, rates)
    assert curve.fit is StepFit.AFFINE
    assert curve.launch.value == pytest.approx(0.020)
    assert curve.slope.value == pytest.approx(0.002)
    assert (curve.rising, curve.beyond) == (True, 190)  # 19 x launch / slope


def test_the_smallest_batch_within_five_percent_is_enough(tmp_path: Path) -> None:
    """Clearly above it is sure, clearly below it is not open."""
    curve = curve_of(tmp_path, {8: [50, 51, 49], 16: [80, 81, 79], 32: [99.5, 100, 99], 64: [100, 101, 99.5]})
    assert (curve.best, curve.enough, curve.sure, curve.open) == (64, 32, True, ())


@given(st.floats(0, 0.5), st.floats(1e-4, 0.1), st.lists(st.integers(1, 512), min_size=2, max_size=5, unique=True))
def test_what_is_enough_is_enough(
    tmp_path_factory: pytest.TempPathFactory, launch: float, slope: float, batches: list[int]
) -> None:
    """It gives 95 % of the best rate, nothing smaller that was measured does, and the best is among those measured."""
    rates = {batch: [batch / (launch + slope * batch)] for batch in batches}
    curve = curve_of(tmp_path_factory.mktemp("table"), rates)
    best = max(rate for (rate,) in rates.values())
    assert math.isclose(rates[curve.best][0], best)
    assert rates[curve.enough][0] >= 0.95 * best * (1 - 1e-9)
    assert all(rates[batch][0] < 0.95 * best for batch in batches if batch < curve.enough)
    assert all(batch < curve.enough for batch in curve.open)


def test_an_emulated_accelerator_has_no_curve(make_run: Callable[..., Run]) -> None:
    """It waits for 1/100 s a sample at each batch size, which shows neither a launch nor which batch is enough."""
    emulated = Device("emulated", gpu="V100", samples_per_second=100.0, source="a table")
    assert batch_curves([make_run(rate, batch=batch, device=emulated) for batch, rate in ((16, 99), (32, 100))]) == ()


BATCHES = (8, 16, 32, 64, 128)


def noisy(launch: float, slope: float, batches: tuple[int, ...], repeats: int, noise: float, seed: int) -> list[float]:
    """Seconds of the steps of each run, off by a share of their own."""
    draw = random.Random(seed)
    times = [launch + slope * batch for batch in batches for _ in range(repeats)]
    return [time * math.exp(draw.gauss(0, noise)) for time in times]


def samples(batches: tuple[int, ...], repeats: int) -> list[int]:
    return [batch for batch in batches for _ in range(repeats)]


@given(st.floats(1e-5, 1.0), st.floats(1e-6, 0.1), st.lists(st.integers(1, 4096), min_size=3, max_size=6, unique=True))
def test_a_line_without_noise_is_found(launch: float, slope: float, batches: list[int]) -> None:
    """Launch and slope to a thousandth of the time of the step that shows them best."""
    line = step_line(batches, [launch + slope * batch for batch in batches], None)
    assert line.fit is StepFit.AFFINE
    assert line.launch.value == pytest.approx(launch, rel=1e-3, abs=1e-4 * slope * min(batches))
    assert line.slope.value == pytest.approx(slope, rel=1e-3, abs=1e-4 * launch / max(batches))


@pytest.mark.parametrize(("batches", "repeats"), [(BATCHES, 3), ((16, 64, 256), 1), ((16, 64), 3), (BATCHES, 1)])
def test_the_intervals_hold_the_truth(batches: tuple[int, ...], repeats: int) -> None:
    """Of 90 % at least 85 % do, with repeats or without, with two sizes or five."""
    launch, slope, noise = 0.020, 0.001, 0.02
    held = 0
    for seed in range(400):
        line = step_line(samples(batches, repeats), noisy(launch, slope, batches, repeats, noise, seed), None)
        if line.launch is None or line.slope is None:
            continue
        held += line.launch.low <= launch <= line.launch.high
        held += line.slope.low <= slope <= line.slope.high
    assert held >= 0.85 * 800


def test_what_is_no_line_is_said() -> None:
    """A step that becomes slower for each sample from some batch on, with repeats, with known noise, and without."""
    bent = {batch: (0.02 + 0.001 * batch) * (1.0 if batch < 128 else 1.5) for batch in BATCHES}
    draw = random.Random(4)
    repeated = [bent[batch] * math.exp(draw.gauss(0, 0.01)) for batch in BATCHES for _ in range(3)]
    assert step_line(samples(BATCHES, 3), repeated, None).fit is StepFit.NOT_AFFINE
    assert step_line(BATCHES, list(bent.values()), 0.01, repeated=True).fit is StepFit.NOT_AFFINE
    lone = step_line(BATCHES, list(bent.values()), None)
    assert (lone.fit, lone.launch, lone.slope) == (StepFit.NOT_AFFINE, None, None)


def test_a_line_is_seldom_denied() -> None:
    """Noise alone makes a line look bent in no more than one of ten studies."""
    denied = sum(
        step_line(samples(BATCHES, 3), noisy(0.02, 0.001, BATCHES, 3, 0.03, seed), None).fit is StepFit.NOT_AFFINE
        for seed in range(300)
    )
    assert denied <= 30


# Curves as others measure them: the rate alone along one axis, of any size and shape.


MakeRun = Callable[..., Run]


def curve(make_run: MakeRun, rate: Callable[[float], float], vcpus: list[float], noise: float = 0.0) -> WorkloadModel:
    random = np.random.default_rng(3)
    runs = [make_run(rate(c) * math.exp(noise * random.standard_normal()), c, spread=max(noise, 0.005)) for c in vcpus]
    return fit(runs).workload("train")


def at(vcpus: float, memory: int = 8 * GIB) -> Configuration:
    return Configuration(vcpus, memory, "host", 32)


def test_more_vcpus_may_be_slower(make_run: MakeRun) -> None:
    """A retrograde curve up to 64 vCPUs has its best inside, and its falling side is followed."""

    def rate(c: float) -> float:
        return 100 * c / (1 + 0.02 * (c - 1) + 0.0012 * c * (c - 1))

    model = curve(make_run, rate, [1, 2, 4, 8, 16, 32, 64], 0.01)
    assert best_measured(model).configuration.vcpus == pytest.approx(28, abs=6)
    assert predict(model, at(48)).throughput.value == pytest.approx(rate(48), rel=0.06)
    assert predict(model, at(64)).bottleneck is Bottleneck.SERIAL


# Many predictions at once are those that are made one by one.


VCPUS = "workload,vcpus,throughput\n" + "".join(
    f"a,{vcpus},{rate}\n"
    for vcpus, rate in ((1, 98), (2, 199), (3, 270), (4, 371), (6, 540), (8, 610), (12, 640), (16, 641))
)
MEMORY = "workload,cache,memory_gib,dataset_gib,throughput\n" + "".join(
    f"a,natural,{memory},60,{rate}\n" for memory, rate in ((4, 50), (8, 55), (16, 61), (32, 80), (64, 300))
)
KINDS = "workload,gpu,gpu_count,vcpus,throughput\n" + "".join(
    f"a,{gpu},{count},{vcpus},{round(1 / (1 / (base * count) + 1 / (90 * vcpus)), 1)}\n"
    for gpu, base in (("K80", 60), ("V100", 380))
    for count in (1, 2, 4)
    for vcpus in (4, 8, 16)
)
TOO_FEW = "workload,vcpus,throughput\na,1,100\na,2,190\n"
KILLED = "workload,vcpus,memory_gib,throughput,outcome\na,1,8,90,\na,2,8,170,\na,4,8,300,\na,4,2,,out_of_memory\n"


@pytest.mark.parametrize("table", [VCPUS, MEMORY, KINDS, TOO_FEW, KILLED])
def test_many_are_what_each_is_alone(tmp_path: Path, table: str) -> None:
    """Digit for digit but for the order of sums; also where there is no answer."""
    (tmp_path / "table.csv").write_text(table)
    model = fit(read_measurements(tmp_path / "table.csv", stored_catalog()).runs).workload("a")
    places = [
        Configuration(vcpus, memory, None, None, gpu, 2 if gpu else None)
        for vcpus in (None, 0.5, 1.0, 2.0, 5.0, 16.0, 40.0)
        for memory in (None, GIB, 10 * GIB, 32 * GIB, 100 * GIB)
        for gpu in (None, "V100")
    ]
    for place, prediction in zip(places, predict_several(model, places), strict=True):
        if isinstance(prediction, Refusal):
            with pytest.raises(Refused) as refused:
                predict(model, place)
            assert refused.value.refusal == prediction
            continue
        alone = predict(model, place)
        assert replace(prediction, throughput=alone.throughput, shares=alone.shares, headroom=alone.headroom) == alone
        assert prediction.shares == pytest.approx(alone.shares, rel=1e-6, abs=1e-9)
        assert (prediction.headroom is None) == (alone.headroom is None)
        assert (prediction.headroom or 0.0) == pytest.approx(alone.headroom or 0.0, rel=1e-6)
        assert [prediction.throughput.value, prediction.throughput.low, prediction.throughput.high] == pytest.approx(
            [alone.throughput.value, alone.throughput.low, alone.throughput.high], rel=1e-9
        )


# What a user is promised of any fit: new runs lie in their intervals, and measured rows are told as measured.


Law = Callable[[float], float]

FITTED_VCPUS = (1.0, 2.0, 4.0, 8.0, 16.0)
BETWEEN = (1.5, 3.0, 6.0, 12.0)
LAWS: dict[str, Law] = {
    "linear": lambda c: 100 * c,
    "Amdahl": lambda c: 100 * c / (1 + 0.06 * (c - 1)),
    "a cap": lambda c: ((100 * c) ** -8 + 520**-8) ** (-1 / 8),
    "second threads from 8 on": lambda c: 100 * (min(c, 8.0) + 0.3 * max(0.0, c - 8.0)),
    "more are slower": lambda c: 100 * c / (1 + 0.02 * (c - 1) + 0.004 * c * (c - 1)),
    "a power": lambda c: 100 * c**0.8,
    "nothing": lambda _: 100.0,
}


def rate_at(vcpus: float, memory: int = 8) -> Configuration:
    return Configuration(vcpus, memory * GIB, "host", 32)


def with_noise(
    make_run: MakeRun, law: Law, noise: float, seed: int, repeats: int, with_spread: bool, accounted: bool
) -> WorkloadModel:
    """Of runs that move by this standard deviation of ln rate; `with_spread`: their intervals show it."""
    random = np.random.default_rng(seed)
    runs = [
        make_run(
            law(vcpus) * math.exp(noise * random.standard_normal()),
            vcpus,
            repeat=repeat,
            spread=1.96 * noise if with_spread else 0.0,
            demand=Demand(core_seconds=1 / law(1.0)) if accounted else None,
        )
        for vcpus in FITTED_VCPUS
        for repeat in range(repeats)
    ]
    return fit(runs).workload("train")


@pytest.mark.parametrize(
    ("noise", "repeats", "with_spread", "accounted"),
    [(0.02, 1, False, False), (0.02, 2, True, False), (0.02, 2, True, True), (0.08, 3, True, False)],
    ids=["rates alone", "repeated", "accounted", "a busy host"],
)
def test_new_runs_lie_in_their_intervals(
    noise: float, repeats: int, with_spread: bool, accounted: bool, make_run: MakeRun
) -> None:
    """Of all laws, at what was measured and between: 85 to 97 % of new runs, and no law fewer than 70 %."""
    random, covered = np.random.default_rng(1), {}
    for name, law in LAWS.items():
        own = []
        for seed in range(3):
            model = with_noise(make_run, law, noise, seed, repeats, with_spread, accounted)
            for vcpus in (*FITTED_VCPUS, *BETWEEN):
                rate = predict(model, rate_at(vcpus)).throughput
                new = law(vcpus) * np.exp(noise * random.standard_normal(50))
                own.append(np.mean((rate.low <= new) & (new <= rate.high)))
        covered[name] = float(np.mean(own))
    assert 0.85 <= np.mean(list(covered.values())) <= 0.97, covered
    assert min(covered.values()) > 0.7, covered


MISSED = {4: 1.0, 8: 0.8, 16: 0.55, 32: 0.2, 64: 0.001}
"""What a disk of 120 samples/s is asked for, by GiB of memory."""


def slope(vcpus: float, memory: int) -> float:
    return 1 / (1 / (50 * vcpus) + MISSED[memory] / 120)


@pytest.mark.parametrize(("vcpus", "memory"), [(1, 16), (4, 16), (8, 16)])
def test_what_more_memory_gains_is_told_by_rates_alone(vcpus: float, memory: int, make_run: MakeRun) -> None:
    """A size between those measured, of data whose size nobody says: within 15 %, and within 10 % of the interval."""
    sizes = [size for size in MISSED if size != memory]
    runs = [make_run(slope(c, m), c, memory=m * GIB, cache="natural") for c, m in product((1, 2, 4, 8), sizes)]
    rate = predict(fit(runs).workload("train"), rate_at(vcpus, memory)).throughput
    assert rate.value == pytest.approx(slope(vcpus, memory), rel=0.15)
    assert rate.low / 1.1 < slope(vcpus, memory) < 1.1 * rate.high
