"""Curves as others measure them: the rate alone along one axis, of any size and shape."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.model import WorkloadModel, best_measured, fit, predict
from sizer.model.equation import CPU
from sizer.model.problem import Data, Residuals, forms_of, problem_of, side_by_side
from sizer.model.scaling import FORMS, PARAMETERS, scale
from sizer.records import GIB
from sizer.records.run import Bottleneck, Configuration, Run

MakeRun = Callable[..., Run]


def curve(make_run: MakeRun, rate: Callable[[float], float], vcpus: list[float], noise: float = 0.0) -> WorkloadModel:
    random = np.random.default_rng(3)
    runs = [make_run(rate(c) * math.exp(noise * random.standard_normal()), c, spread=max(noise, 0.005)) for c in vcpus]
    return fit(runs).workload("train")


def at(vcpus: float, memory: int = 8 * GIB) -> Configuration:
    return Configuration(vcpus, memory, "host", 32)


@given(st.sampled_from(sorted(FORMS)), st.floats(0.1, 600), st.floats(-3, 3), st.floats(-1, 1.4), st.floats(-0.5, 1.4))
@settings(max_examples=60, derandomize=True)
def test_each_form_knows_its_own_slope(form: str, vcpus: float, first: float, second: float, third: float) -> None:
    """The derivatives that the fit follows are those of the form itself, and a form is linear up to one vCPU."""
    values = dict(zip(PARAMETERS[form], (first, second, third), strict=False))

    def factor(given: dict[str, float]) -> float:
        return float(scale(form, np.array([vcpus]), lambda name: np.array([[given[name]]])).log_factor[0, 0])

    scaled = scale(form, np.array([vcpus]), lambda name: np.array([[values[name]]]))
    for name, slope in scaled.slopes.items():
        step = 1e-6
        sides = [factor({**values, name: values[name] + sign * step}) for sign in (1, -1)]
        exact = (sides[0] - sides[1]) / (2 * step)
        on_a_kink = abs(factor(values) * 2 - sum(sides)) > 1e-9
        assert on_a_kink or float(slope[0, 0]) == pytest.approx(exact, abs=1e-4)
    if vcpus <= 1 and form != "paired":
        assert factor(values) == pytest.approx(0.0, abs=1e-9)


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


def test_a_hump_that_no_form_knows_is_followed(make_run: MakeRun) -> None:
    """What the forms leave is taken from the runs nearby, and the interval says so."""

    def rate(c: float) -> float:
        return 1000 * (1 - math.exp(-c / 8)) * (1 + 0.6 * math.exp(-((math.log(c / 10)) ** 2) / 0.1))

    model = curve(make_run, rate, [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 16, 20, 24, 32])
    assert model.residual is not None
    found = predict(model, at(11)).throughput
    assert found.value == pytest.approx(rate(11), rel=0.05)
    assert found.low < rate(11) < found.high


def test_two_hundred_noisy_points_are_smoothed(make_run: MakeRun) -> None:
    """Noise of 10 % on 200 points leaves a curve within 3 % of the truth, and no bend that is not there."""

    def rate(c: float) -> float:
        return 0.2 * c / (1 + 0.05 * (c - 1))

    vcpus = [float(c) for c in np.linspace(2, 512, 200).round()]
    model = curve(make_run, rate, vcpus, 0.1)
    errors = [abs(math.log(predict(model, at(c)).throughput.value / rate(c))) for c in (7.0, 33.0, 100.0, 300.0, 500.0)]
    assert max(errors) < 0.07
    assert np.median(errors) < 0.03
    assert model.noise == pytest.approx(0.1, rel=0.3)


def test_memory_that_suddenly_fits(make_run: MakeRun) -> None:
    """On both sides of the jump the rate is that of the side; between the two caps anything in between may be."""
    sizes = [2, 4, 6, 8, 10, 12, 14, 16]
    model = fit([make_run(100 if size < 9 else 700, 4, memory=size * GIB) for size in sizes]).workload("train")
    assert predict(model, at(4, 5 * GIB)).throughput.value == pytest.approx(100, rel=0.05)
    assert predict(model, at(4, 13 * GIB)).throughput.value == pytest.approx(700, rel=0.05)
    between = predict(model, at(4, 9 * GIB)).throughput
    assert between.low < 110
    assert between.high > 640
    assert between.high < 2000


def test_the_gradient_of_the_equation_is_its_own(make_run: MakeRun) -> None:
    """All parameters of a form with every stage move the rate as the derivatives say."""
    from sizer.model.equation import solve
    from sizer.model.facts import gather_facts
    from sizer.model.families import scalings
    from sizer.model.observations import measure, observe

    runs = [make_run(100 * c**0.8, c, batch=b) for c in (1, 2, 3, 4, 6) for b in (8, 32)]
    measured = measure(runs)
    observations, _ = observe(runs)
    facts = gather_facts(runs, (), measured)
    for structure in scalings(facts, measured, observations):
        problem = problem_of(structure, Data(facts, measured, observations))
        theta = problem.belief.mean + 0.1
        exact = solve(structure, theta[None], problem.design)
        for column in range(theta.size):
            moved = theta.copy()
            moved[column] += 1e-6
            other = solve(structure, moved[None], problem.design)
            slope = (other.log_rate - exact.log_rate)[0] / 1e-6
            assert slope == pytest.approx(exact.gradient[0, column], abs=1e-4)
            stage = (other.cpu - exact.cpu)[0] / 1e-6
            assert stage == pytest.approx(exact.cpu_gradient[0, column], abs=1e-4)
        assert exact.shares[0].sum(axis=1) == pytest.approx(1)
        assert exact.shares.shape[2] > CPU


def test_forms_that_are_solved_together_are_what_each_is_alone(make_run: MakeRun) -> None:
    """Also some of the vectors only; what a form does not have changes nothing."""
    from sizer.model.equation import solve, solve_forms
    from sizer.model.facts import gather_facts
    from sizer.model.families import scalings
    from sizer.model.observations import measure, observe

    runs = [make_run(100 * c**0.8, c, batch=b) for c in (0.5, 1, 2, 3, 4, 6) for b in (8, 32)]
    measured = measure(runs)
    observations, _ = observe(runs)
    data = Data(gather_facts(runs, (), measured), measured, observations)
    problems = [problem_of(each, data) for each in scalings(data.facts, measured, observations)]
    vectors = [np.stack([each.belief.mean, each.belief.mean + 0.1]) for each in problems]
    forms = forms_of(problems, [2] * len(problems))
    together, design = side_by_side(forms, vectors), problems[0].design
    rates = solve_forms(forms, together, design)
    residuals = Residuals(problems, forms, data.target[None], np.zeros_like(together))
    values, slopes = residuals(together)
    for number, (problem, own) in enumerate(zip(problems, vectors, strict=True)):
        rows, alone = np.array([2 * number, 2 * number + 1]), solve(problem.structure, own, design)
        assert rates.log_rate[rows] == pytest.approx(alone.log_rate, rel=1e-12)
        assert rates.gradient[rows][:, forms.places(number)] == pytest.approx(alone.gradient, rel=1e-9, abs=1e-12)
        some_values, some_slopes = residuals.only(rows)(together[rows])
        assert some_values == pytest.approx(values[rows], rel=1e-12)
        assert some_slopes == pytest.approx(slopes[rows], rel=1e-12)
    left = np.ones(slopes.shape[:2], dtype=bool)
    for number in range(len(problems)):
        left[np.ix_([2 * number, 2 * number + 1], forms.places(number))] = False
    assert not slopes[left].any()


def test_a_peak_that_no_run_shows_is_not_the_best(make_run: MakeRun) -> None:
    """Runs that rise to 64 vCPUs and fall beyond it have their best there, at the rate that was measured."""
    points = {2: 2000, 8: 8000, 32: 32000, 64: 60000, 128: 45454.5, 256: 30612.2, 512: 18518.5}
    model = fit([make_run(rate, c) for c, rate in points.items()]).workload("train")
    best = best_measured(model)
    assert best.configuration.vcpus == 64
    assert best.throughput.value == pytest.approx(60000, rel=0.05)


def test_memory_may_slow_all_alike(make_run: MakeRun) -> None:
    """Below the jump every vCPU count is slower by the same factor, and memory is what is named."""
    runs = [
        make_run((12 if size < 24 else 30) * c, c, memory=size * GIB)
        for c in (1, 2, 4, 8)
        for size in (8, 16, 32, 64)
        if (c, size) != (4, 16)
    ]
    model = fit(runs).workload("train")
    found = predict(model, at(4, 16 * GIB))
    assert found.throughput.value == pytest.approx(48, rel=0.05)
    assert found.shares["memory"] == pytest.approx(0.6, abs=0.05)
    assert found.bottleneck is Bottleneck.MEMORY
    assert predict(model, at(6, 48 * GIB)).throughput.value == pytest.approx(180, rel=0.05)


def test_each_memory_cap_slows_by_its_own_factor(make_run: MakeRun) -> None:
    """Pairs of vCPUs and memory that were left out are told by the pairs with as much memory or as many vCPUs."""
    sizes, left_out = {8: 10.0, 16: 16.0, 32: 24.0, 64: 30.0}, {(4, 16), (2, 32), (8, 8), (1, 64)}
    runs = [
        make_run(rate * vcpus, vcpus, memory=size * GIB)
        for vcpus in (1, 2, 4, 8)
        for size, rate in sizes.items()
        if (vcpus, size) not in left_out
    ]
    model = fit(runs).workload("train")
    for vcpus, size in left_out:
        assert predict(model, at(vcpus, size * GIB)).throughput.value == pytest.approx(sizes[size] * vcpus, rel=0.03)
