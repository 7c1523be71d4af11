"""How open an answer is, and what a run would take from that."""

from __future__ import annotations

from sizer.model.fitting import fit
from sizer.plan.conclusions import OpenAnswer, open_answer
from sizer.plan.configurations import configurations
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.study import Objective
from tests.tables import stored_catalog
from tests.unit.plan.machine import HOST, Rate, knee, made, study_of


def runs_at(*vcpus: float, rate: Rate) -> list[Run]:
    study = study_of()
    specs = configurations(study.workloads[0], study, HOST)
    return [made(spec, rate) for spec in specs if spec.limits.vcpus in vcpus]


PLACES = [run.configuration for run in runs_at(1.0, 2.0, 4.0, 8.0, 16.0, rate=knee(4.0))]


def opened(runs: list[Run]) -> OpenAnswer:
    model = fit(runs)
    answer = recommend(model, runs, Objective(), stored_catalog()).workloads[0]
    found = open_answer(model.workloads[0], answer, PLACES, Objective(), stored_catalog())
    assert found is not None
    return found


def test_a_run_is_never_expected_to_add_doubt() -> None:
    """What is known after it is at least what was known before, but for what so few draws can tell."""
    rate = knee(6.0)
    found = opened(runs_at(1.0, 4.0, 16.0, rate=rate))
    assert all(-0.05 <= found.value(place) <= 1 for place in found.places)


def test_most_is_learned_where_the_answer_is_open() -> None:
    """Between a size that is too small and one that is large enough, not at what was measured already."""
    rate = knee(6.0)
    found = opened(runs_at(1.0, 4.0, 16.0, rate=rate))
    best = max(found.places, key=found.value)
    assert best.vcpus == 8.0


def test_measured_everywhere_nothing_is_open() -> None:
    """A knee at a measured size, all of them measured: no other would be right, and no run tells more."""
    rate = knee(4.0)
    found = opened(runs_at(1.0, 2.0, 4.0, 8.0, 16.0, rate=rate))
    assert found.own_place.vcpus == 4.0
    assert found.right >= 0.95
    assert max(map(found.value, found.places)) <= 0.05


def test_an_answer_that_is_enough_may_be_too_dear() -> None:
    """Where half as much surely does, the larger is regretted, and a run at the smaller tells."""
    rate = knee(2.0)
    model = fit(runs_at(1.0, 2.0, 4.0, 16.0, rate=rate))
    larger = Answer("job", "recommended", Spec(4.0))
    found = open_answer(model.workloads[0], larger, PLACES, Objective(), stored_catalog())
    assert found is not None
    small, large = (next(r.candidate.place for r in found.rows if r.candidate.spec.vcpus == n) for n in (2.0, 4.0))
    assert found.right < 0.1
    assert found.gain(small) > 0.9
    assert found.gain(large) == 0.0
    assert found.gain(Configuration(32.0, 2**30, None, 1)) == 0.0
