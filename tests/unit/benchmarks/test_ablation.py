"""A part of the model is left out from outside, as long as that lasts, and what it changes is told from chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ablation import Case, Judged, Kept, changes
from ablation_cases import Outcome
from ablation_chosen import ANSWERS, by_few_runs, studies
from ablation_drawn import GAIN, caps_case, edge_case
from ablation_more import SEED, SOURCES, both, by_source, sources
from ablation_parts import Part, parts, touched
from ablation_real import (
    EDGE,
    FEW,
    FURTHER,
    PAIRS,
    further,
    further_curves,
    grid_designs,
    in_pairs,
    noisy_edges,
    pairs,
    tables_of_three,
)
from accuracy_machines import Cores, Faster
from curves_data import JPEG, RealCurve

from sizer.model import WorkloadModel, fit
from sizer.model.scaling import FORMS
from sizer.records.run import Run


def fitted(make_run: Callable[..., Run]) -> WorkloadModel:
    return fit([make_run(min(100.0 * c, 350.0), c) for c in (0.5, 1.0, 2.0, 3.0, 4.0, 8.0)]).workload("train")


def named(name: str) -> Part:
    return next(part for part in parts() if part.name == name)


def test_every_form_is_a_part() -> None:
    """But the straight line, of which each is a change; no name stands twice."""
    names = [part.name for part in parts()]
    assert {name for name in FORMS if name != "linear"} < set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize("part", parts(), ids=lambda part: part.name)
def test_what_is_left_out_is_there(part: Part) -> None:
    """Each name is one that sizer has, and is as it was afterwards."""
    before = [getattr(each.module, each.name) for each in part.replaced]
    with part.left_out():
        assert all(getattr(each.module, each.name) is not was for each, was in zip(part.replaced, before, strict=True))
    assert [getattr(each.module, each.name) for each in part.replaced] == before


def test_without_caps_no_form_has_one(make_run: Callable[..., Run]) -> None:
    """And with them this curve, which ends at 350, has."""
    assert any(member.structure.capped for member in fitted(make_run).members)
    with named("cap").left_out():
        assert not any(member.structure.capped for member in fitted(make_run).members)


def test_without_averaging_one_form_is_left(make_run: Callable[..., Run]) -> None:
    assert len(fitted(make_run).members) > 1
    with named("averaging").left_out():
        assert len(fitted(make_run).members) == 1


def test_a_part_that_says_nothing_changes_nothing(make_run: Callable[..., Run]) -> None:
    """One that touched nothing gives the same model to the last digit; what has a part in this curve is found."""
    with touched(parts()) as found:
        whole = fitted(make_run)
    assert {"cap", "usl", "averaging"} <= found
    silent = [part for part in parts() if part.name not in found]
    assert {"memory: reads of each disk", "blocking"} <= {part.name for part in silent}
    for part in silent:
        with part.left_out():
            assert fitted(make_run) == whole


def test_what_was_judged_is_read_back(tmp_path: Path) -> None:
    """A run that was stopped goes on where it was; another size begins anew."""
    judged = [Case({"grid": Outcome((0.1, 0.2), (True,), (), (False,))}, frozenset({"cap"})), Case({})]
    Kept(tmp_path / "kept.jsonl", "small").add("cap", judged)
    assert Kept(tmp_path / "kept.jsonl", "small").get("cap") == judged
    assert Kept(tmp_path / "kept.jsonl", "middle").get("cap") is None
    assert Kept(tmp_path / "none.jsonl", "small").get("cap") is None


def test_a_change_is_told_from_chance() -> None:
    """Errors that are larger in every case, and not those that are in as many cases smaller."""
    whole = Judged(tuple(Outcome((0.01 + 0.0001 * n,), (True,)) for n in range(40)))
    worse = Judged(tuple(Outcome((0.03 + 0.0001 * n,), (True,)) for n in range(40)))
    other = Judged(tuple(Outcome((0.01 + 0.0001 * (39 - n),), (True,)) for n in range(40)))
    assert changes(whole, worse) == ["**median +2.0**", "**90th +2.0**", "covered +0.0"]
    assert changes(whole, other) == ["median +0.0", "90th +0.0", "covered +0.0"]
    assert changes(whole, whole) == []


def test_each_kind_counts_alike() -> None:
    """However many cases it has, in the figures and whenever the cases are drawn again."""
    few, many = Outcome((0.3,), (False,), kind="few"), Outcome((0.1,), (True,), kind="many")
    judged = Judged((few, *(many for _ in range(9))))
    assert judged.figures()[:3] == pytest.approx([20.0, 20.0, 50.0])
    for seed in range(5):
        assert judged.figures(judged.draw(np.random.default_rng(seed)))[2] == pytest.approx(50.0)


def test_a_table_of_caps_is_nearly_whole() -> None:
    """Four vCPU values and three caps at the least, a quarter or more of it left out, and its corners never."""
    cases = [case for number in range(24) if (case := caps_case(number, SEED)) is not None]
    assert len(cases) > 8
    for case in cases:
        axes, measured = case.axes, {(place.vcpus, place.memory_bytes) for place in case.measured}
        assert len(axes.vcpus) >= 4
        assert len(axes.memory) >= 3
        assert len(axes.disks) == 1
        assert not case.accounted
        assert {(c, m) for c in (axes.vcpus[0], axes.vcpus[-1]) for m in (axes.memory[0], axes.memory[-1])} <= measured
        assert 0.2 < len(case.inside) / (len(case.inside) + len(case.measured)) < 0.45


def test_little_memory_slows_some_jobs() -> None:
    """One in four; of the others a page cache may, or nothing."""
    cases = {n: case for n in range(12) if (case := caps_case(n, SEED)) is not None}
    for number, case in cases.items():
        memory, few = case.machine.memory, case.measured[0]
        assert (memory.pressure > 0) == (number % 4 == 2)
        assert (memory.slowed(few) > 1) == (number % 4 == 2)
        assert memory.natural == (number % 4 < 2)


def test_an_edge_is_where_the_rate_still_rises() -> None:
    case = next(case for number in range(60) if (case := edge_case(number, SEED)) is not None)
    most = case.measured[-1]
    few = replace(most, vcpus=(most.vcpus or 0) / 2)
    less, now = case.machine.truth([(few, Faster()), (most, Faster())]).values()
    assert GAIN[0] <= now / less - 1 <= GAIN[1]
    assert [place.vcpus for place in case.beyond] == [1.5 * (most.vcpus or 0), 2 * (most.vcpus or 0)]


def test_real_curves_are_asked_between_three_values_and_beyond() -> None:
    found = tables_of_three()[0]()[FEW]
    assert found.errors
    assert found.kind
    onward = further(further_curves()[0])()[FURTHER]
    assert len(onward.errors) == len(onward.covered) > 0


def test_hosts_whose_cores_are_known_hand_out_whole_ones() -> None:
    """Two cores and one of their other halves are 3 vCPUs; these are told well because pairs are known."""
    yields = RealCurve(JPEG, "machine", "cpu", (1.0, 2.0, 4.0, 6.0, 8.0), (100.0, 200.0, 400.0, 460.0, 520.0))
    curve = in_pairs(yields)
    assert dict(zip(curve.places, curve.truth, strict=True)) == pytest.approx({1: 100, 2: 130, 3: 230, 4: 260, 8: 520})
    whole = pairs()[0]()[PAIRS]
    with named("paired").left_out():
        without = pairs()[0]()[PAIRS]
    assert max(whole.errors) < 0.05 < max(without.errors)


def test_both_grids_are_asked_with_other_designs() -> None:
    (found,) = grid_designs(1, SEED)().values()
    assert found.errors


def test_an_answer_by_few_runs_is_right_where_it_is_hardly_regretted() -> None:
    """Of a curve with noise and of a real one, by their last and first."""
    for kind, case in (studies(SEED)[0], studies(SEED)[-1]):
        found = by_few_runs(kind, case)()[ANSWERS]
        assert found.kind == kind
        assert [regret <= 0.05 for regret in found.errors] == list(found.right) != []


def test_what_is_said_of_a_noisy_edge_is_judged_by_the_curve_without_noise() -> None:
    """An error is how far a probability is off; what is called neither rising nor flat is not judged."""
    found = [judge()[EDGE] for judge in noisy_edges(SEED)[:3]]
    assert all(0 <= error <= 1 for each in found for error in each.errors)
    assert all(len(each.agrees) <= len(each.errors) != 0 for each in found)
    assert any(each.agrees for each in found)


def test_more_cases_are_those_in_which_a_part_says_something() -> None:
    """The first curves, with and without caps: some are told alike, and of those that are not both ways are kept."""
    asked = [both(("drawn curves", number, ("cap",))) for number in range(3)]
    speaking = [found["cap"] for found in asked if found]
    assert speaking
    assert all(each.whole != each.without for each in speaking)


def test_there_is_a_source_of_more_cases_for_every_part() -> None:
    names = [part.name for part in parts()]
    assert {name for _, own in by_source(names) for name in own} == set(names)
    assert {source for name in names for source in sources(name)} < set(SOURCES)
    assert dict(by_source(["cap", "usl"], ["caps"])) == {"caps": ["cap", "usl"]}


def test_a_fraction_of_a_vcpu_may_lose_work() -> None:
    """Whole vCPUs do not."""
    cores = Cores(8, 0.3, "none", 0.0, lost=0.1)
    assert [cores.power(vcpus) for vcpus in (0.5, 1.0, 1.5, 2.0)] == pytest.approx([0.45, 1.0, 1.35, 2.0])
