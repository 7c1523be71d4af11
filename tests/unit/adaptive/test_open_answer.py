"""How open an answer is, and what a run would take from that."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sizer.adaptive.open_answer import OpenAnswer, open_answer
from sizer.catalog import Catalog
from sizer.model import fit
from sizer.plan.configurations import configurations
from sizer.recommend import Offered, offered, recommend
from sizer.recommend.candidates import Candidate
from sizer.records.answer import Spec
from sizer.records.run import Configuration, Run
from sizer.records.study import Objective
from tests.unit.adaptive.machine import HOST, Rate, knee, made, study_of


def runs_at(*vcpus: float, rate: Rate) -> list[Run]:
    study = study_of()
    specs = configurations(study.workloads[0], study, HOST)
    return [made(spec, rate) for spec in specs if spec.limits.vcpus in vcpus]


def opened(runs: list[Run], rate: Rate) -> OpenAnswer:
    model = fit(runs)
    answer = recommend(model, runs, Objective(), Catalog.load()).workloads[0]
    places = [run.configuration for run in runs_at(1.0, 2.0, 4.0, 8.0, 16.0, rate=rate)]
    found = open_answer(model.workloads[0], answer, places, Objective(), Catalog.load(), seed=1)
    assert found is not None
    return found


def test_a_run_is_never_expected_to_add_doubt() -> None:
    """What is known after it is at least what was known before, but for what so few draws can tell."""
    rate = knee(6.0)
    found = opened(runs_at(1.0, 4.0, 16.0, rate=rate), rate)
    assert all(-0.05 <= found.value(place) <= 1 for place in found.places)


def test_most_is_learned_where_the_answer_is_open() -> None:
    """Between a size that is too small and one that is large enough, not at what was measured already."""
    rate = knee(6.0)
    found = opened(runs_at(1.0, 4.0, 16.0, rate=rate), rate)
    best = max(found.places, key=found.value)
    assert best.vcpus == 8.0


def test_measured_everywhere_nothing_is_open() -> None:
    """A knee at a measured size, all of them measured: no other would be right, and no run tells more."""
    rate = knee(4.0)
    found = opened(runs_at(1.0, 2.0, 4.0, 8.0, 16.0, rate=rate), rate)
    assert found.offer.specs[found.chosen].vcpus == 4.0
    assert found.right >= 0.95
    assert max(map(found.value, found.places)) <= 0.05


def test_a_refused_model_opens_nothing() -> None:
    """Two values carry no curve."""
    runs = runs_at(1.0, 4.0, rate=knee(4.0))
    model = fit(runs)
    answer = recommend(model, runs, Objective(), Catalog.load()).workloads[0]
    assert open_answer(model.workloads[0], answer, [], Objective(), Catalog.load(), seed=1) is None


def test_an_answer_that_is_enough_may_be_too_dear() -> None:
    """Nine of ten draws take the smaller of two: the larger is right in one of them, and a run at the smaller tells."""
    specs = Spec(1.0), Spec(2.0)
    small, large = Configuration(1.0, 2**30, None, 1), Configuration(2.0, 2**30, None, 1)
    dear, enough = np.tile([0.0, 1.0], (10, 1)), np.ones((10, 2))
    dear[0], enough[0, 0] = [1.0, 0.0], 0.0
    offer = Offered(specs, (small, large), (1.0, 2.0))
    taken = np.array([1, *[0] * 9])
    found = OpenAnswer(offer, (small, large), np.zeros((10, 2)), enough, dear, taken, 0.01, chosen=1)
    assert found.right == pytest.approx(0.1)
    assert found.gain(small) == pytest.approx(0.8)
    assert found.gain(large) == 0.0
    assert found.gain(Configuration(4.0, 2**30, None, 1)) == 0.0


@pytest.mark.parametrize(("usd", "compared"), [((math.inf, 2.0), (math.inf, 2.0)), ((math.inf, math.inf), None)])
def test_a_size_without_a_machine_is_not_cheaper_than_one_with(
    usd: tuple[float, float], compared: tuple[float, float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The price of its parts, without that of an accelerator, is compared only where no size has a machine."""
    found = [Candidate(Spec(n), Configuration(n, 2**33, None, 1), each, 0) for n, each in enumerate(usd, start=1)]
    monkeypatch.setattr("sizer.recommend.possible.candidates", lambda *_: found)
    rate = knee(4.0)
    model = fit(runs_at(1.0, 4.0, 16.0, rate=rate)).workloads[0]
    prices = offered(model, found[0].configuration, Catalog.load()).usd_per_hour
    assert prices == compared if compared is not None else all(map(math.isfinite, prices))
