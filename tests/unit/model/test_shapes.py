"""Curves as others measure them: the rate alone along one axis, of any size and shape."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from sizer.model.edge import best_measured
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.records.run import Bottleneck, Configuration, Run
from sizer.records.units import GIB

MakeRun = Callable[..., Run]


def curve(make_run: MakeRun, rate: Callable[[float], float], vcpus: list[float], noise: float = 0.0) -> WorkloadModel:
    random = np.random.default_rng(3)
    runs = [make_run(rate(c) * math.exp(noise * random.standard_normal()), c, spread=max(noise, 0.005)) for c in vcpus]
    return fit(runs).workload("train")


def at(vcpus: float, memory: int = 8 * GIB) -> Configuration:
    return Configuration(vcpus, memory, "host", 32)


def test_hyperthreads_bend_the_curve_once(make_run: MakeRun) -> None:
    """From 16 vCPUs on each adds a third of a core: what lies between is predicted on both sides of the knee."""

    def rate(c: float) -> float:
        return 50 * (min(c, 16) + 0.33 * max(0.0, c - 16))

    model = curve(make_run, rate, [1, 2, 4, 8, 16, 24, 32])
    for c in (12.0, 20.0, 28.0):
        assert predict(model, at(c)).throughput.value == pytest.approx(rate(c), rel=0.03)


def test_more_vcpus_may_be_slower(make_run: MakeRun) -> None:
    """A retrograde curve up to 64 vCPUs has its best inside, and its falling side is followed."""

    def rate(c: float) -> float:
        return 100 * c / (1 + 0.02 * (c - 1) + 0.0012 * c * (c - 1))

    model = curve(make_run, rate, [1, 2, 4, 8, 16, 32, 64], 0.01)
    assert best_measured(model).configuration.vcpus == pytest.approx(28, abs=6)
    assert predict(model, at(48)).throughput.value == pytest.approx(rate(48), rel=0.06)
    assert predict(model, at(64)).bottleneck is Bottleneck.SERIAL


def test_a_hump_is_followed(make_run: MakeRun) -> None:
    """What the equation does not say is taken from the runs nearby, and the interval says so."""

    def rate(c: float) -> float:
        return 1000 * (1 - math.exp(-c / 8)) * (1 + 0.6 * math.exp(-((math.log(c / 10)) ** 2) / 0.1))

    model = curve(make_run, rate, [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 16, 20, 24, 32])
    found = predict(model, at(11)).throughput
    assert found.value == pytest.approx(rate(11), rel=0.08)
    assert found.low < rate(11) < found.high


def test_two_hundred_noisy_points_are_smoothed(make_run: MakeRun) -> None:
    """Noise of 10 % on 200 points leaves a curve within 3 % of the truth, no bend that is not there, and intervals of
    new runs."""

    def rate(c: float) -> float:
        return 0.2 * c / (1 + 0.05 * (c - 1))

    vcpus = [float(c) for c in np.linspace(2, 512, 200).round()]
    model = curve(make_run, rate, vcpus, 0.1)
    places = (7.0, 33.0, 100.0, 300.0, 500.0)
    found = [predict(model, at(c)).throughput for c in places]
    errors = [abs(math.log(each.value / rate(c))) for each, c in zip(found, places, strict=True)]
    assert max(errors) < 0.07
    assert np.median(errors) < 0.03
    new = [rate(c) * math.exp(0.1 * z) for c in places for z in np.random.default_rng(4).standard_normal(200)]
    ends = [each for each in found for _ in range(200)]
    assert 0.8 < np.mean([each.low < run < each.high for each, run in zip(ends, new, strict=True)]) < 0.97


def test_a_peak_that_no_run_shows_is_not_the_best(make_run: MakeRun) -> None:
    """Runs that rise to 64 vCPUs and fall beyond it have their best there, at the rate that was measured."""
    points = {2: 2000, 8: 8000, 32: 32000, 64: 60000, 128: 45454.5, 256: 30612.2, 512: 18518.5}
    model = fit([make_run(rate, c) for c, rate in points.items()]).workload("train")
    best = best_measured(model)
    assert best.configuration.vcpus == 64
    assert best.throughput.value == pytest.approx(60000, rel=0.05)
