"""Which run an adaptive plan makes next, why, and when it ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.plan.chooser import Chooser
from sizer.plan.chosen import NextRun
from sizer.plan.reference_runs import MOST_BETWEEN, is_measurement, reference
from sizer.recommend.recommendation import recommend
from sizer.records.device import DiskRates
from sizer.records.run import RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Adaptive, DiskTier, Objective, PlanEndKind, RunReasonKind
from tests.tables import stored_catalog
from tests.unit.plan import machine
from tests.unit.plan.machine import HOST, LADDER, SECONDS, UNBOUNDED, chooser_of, chosen, knee, made, study_of


def test_the_first_runs_show_the_most_the_least_and_the_middle() -> None:
    """Three runs, whatever they show."""
    specs = chooser_of(study_of()).start()
    assert [spec.limits.vcpus for spec in specs] == [16.0, 1.0, 4.0]


def test_every_disk_is_among_the_first_runs() -> None:
    """The most vCPUs are measured on the fastest disk, so that everything else has something to be judged against."""
    slow, fast = (DiskTier(name, emulated=DiskRates(100.0, mbps * 1e6)) for name, mbps in (("slow", 20), ("fast", 200)))
    study = replace(study_of(disk=("fast", "slow")), disks=(slow, fast))
    first, *others = chooser_of(study).start()
    assert first.limits.disk == "fast"
    assert "slow" in {spec.limits.disk for spec in others}


@pytest.mark.parametrize("at", [2.0, 4.0, 8.0])
def test_a_knee_is_found_in_few_runs(at: float) -> None:
    """The answer is that of the whole grid, from at most five of its ten runs."""
    study = study_of()
    runs, end = chosen(study, knee(at))
    answer = recommend(fit(runs), runs, Objective(), stored_catalog()).workloads[0]
    assert end.kind is PlanEndKind.SETTLED
    assert answer.spec is not None
    assert answer.spec.vcpus == at
    assert len(runs) <= 5


def test_every_run_has_its_reason() -> None:
    """The first ones that they are the first; any other what is open."""
    runs, _ = chosen(study_of(), knee(6.0))
    kinds = [run.reason.kind for run in runs if run.reason is not None]
    assert len(kinds) == len(runs)
    assert kinds[:3] == [RunReasonKind.START] * 3
    assert RunReasonKind.START not in kinds[3:]


def test_it_goes_on_alike_wherever_it_was_ended() -> None:
    """What is chosen follows from the stored runs: a new chooser after any of them makes the same others."""
    study = study_of("one", "two")
    runs, end = chosen(study, knee(6.0))
    for number in range(len(runs)):
        again, its_end = chosen(study, knee(6.0), known=tuple(runs[:number]))
        assert [run.id for run in again] == [run.id for run in runs]
        assert [run.reason for run in again] == [run.reason for run in runs]
        assert its_end == end


def test_a_mark_that_a_run_gets_later_counts() -> None:
    """The host is found to have changed by a later run of the reference: what seemed settled is not any more."""
    study = study_of()
    chooser = chooser_of(study)
    runs, end = chosen(study, knee(3.0))
    assert chooser.next_run(runs) == end
    mark = RunWarning(WarningKind.DRIFTING, {"before": 100.0, "after": 200.0}, "sample")
    marked = [replace(run, warnings=(mark,)) for run in runs]
    assert isinstance(chooser.next_run(marked), NextRun)
    assert chooser.next_run(marked) == chooser_of(study).next_run(marked)


def test_noise_ends_a_study_only_where_nobody_said_how_many_runs_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """No single run tells much of such rates, and several do: they are made as long as a bound has room for them."""
    monkeypatch.setattr(machine, "NOISE", 0.2)
    study = study_of(repeats=5)
    runs, end = chosen(study, knee(3.0))
    assert end.kind is PlanEndKind.NOTHING_LEFT
    more, bounded = chosen(study, knee(3.0), Adaptive(runs=len(runs) + 4))
    assert bounded.kind in (PlanEndKind.RUNS, PlanEndKind.SETTLED)
    assert [run.id for run in more[: len(runs)]] == [run.id for run in runs]
    assert len(more) > len(runs)


def test_no_more_runs_than_allowed() -> None:
    """Those that were stored before count."""
    runs, end = chosen(study_of("one", "two"), knee(6.0), Adaptive(runs=4))
    assert len(runs) == 4
    assert end.kind is PlanEndKind.RUNS
    assert set(end.open) <= {"one", "two"}
    assert end.open


@pytest.mark.parametrize("count", [1, 2])
def test_a_bound_that_ends_it_tells_the_next_run(count: int) -> None:
    """The one that a larger bound makes, with room for as many as were made and four at the least."""
    study = study_of()
    whole, _ = chosen(study, knee(6.0))
    _, end = chosen(study, knee(6.0), Adaptive(runs=count))
    assert end.then is not None
    assert (end.then.spec, end.then.why) == (whole[count].spec, whole[count].reason)
    assert end.enough == count + 4
    _, later = chosen(study, knee(6.0), Adaptive(budget=(count + 0.5) * (SECONDS + 5)))
    assert later.then is not None
    assert later.then.spec == end.then.spec
    assert later.enough == pytest.approx((count + 4) * (SECONDS + 5), rel=0.05)


def test_what_failed_is_not_made_again() -> None:
    """One configuration that crashes: the others carry the answer."""
    study = study_of()
    chooser, runs = chooser_of(study), []
    while isinstance(found := chooser.next_run(runs), NextRun):
        crashed = found.spec.limits.vcpus == 4.0
        runs.append(made(found.spec, knee(2.0), Outcome.CRASHED if crashed else Outcome.COMPLETED))
        assert len(runs) <= 20
    assert sum(run.outcome is Outcome.CRASHED for run in runs) == 1


def test_a_workload_that_never_completes_is_given_up() -> None:
    """Three failures say enough."""
    study = study_of()
    chooser, runs = chooser_of(study), []
    while isinstance(found := chooser.next_run(runs), NextRun):
        runs.append(made(found.spec, knee(2.0), Outcome.CRASHED))
    assert len(runs) == 3
    assert found.kind is PlanEndKind.NOTHING_LEFT
    assert found.open == found.failed == ("job",)


def test_the_host_is_looked_at_again() -> None:
    """In a study of many runs the reference is soon after every eight, and after the first ones."""
    study = study_of("one", "two", "three", "four")
    runs, _ = chosen(study, knee(6.0))
    of = reference(study, HOST)
    assert of is not None
    places = [number for number, run in enumerate(runs) if is_measurement(run.spec, of)]
    assert places[0] == 0
    gaps = [later - earlier for earlier, later in zip(places, [*places[1:], len(runs)], strict=True)]
    assert max(gaps) <= 12 + 2
    assert max(gaps[1:]) <= MOST_BETWEEN + 2


def test_how_many_runs_may_come() -> None:
    """At the most all that the study asks for; less where a bound says so."""
    study = study_of()
    count, seconds = chooser_of(study).at_most([])
    assert count >= 2 * len(LADDER)
    assert chooser_of(study, runs=4).at_most([])[0] == 4
    assert seconds > 200.0
    bounded, most = chooser_of(study, budget=200.0).at_most([])
    assert 0 < bounded < count
    assert most <= 200.0
    assert chooser_of(study, budget=1.0).at_most([]) == (0, 0)


@pytest.mark.parametrize(
    "warning",
    [
        RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": 16.0, "batch_size": 1.0}, "sample"),
        RunWarning(WarningKind.TOLD_UNLIKE_SEEN, {"told": 2.0, "seen": 1.0}, "sample"),
    ],
)
def test_what_rests_on_doubtful_readings_is_not_called_settled(warning: RunWarning) -> None:
    """The same runs without the doubt settle it; no further run would take that away, so none is made."""
    chooser, runs = chooser_of(study_of()), []
    while isinstance(found := chooser.next_run(runs), NextRun):
        runs.append(replace(made(found.spec, knee(4.0)), reason=found.why, warnings=(warning,)))
    assert (found.kind, found.settled, found.open) == (PlanEndKind.NOTHING_LEFT, (), ("job",))
    assert len(runs) <= 4


def test_a_rate_that_still_rises_is_not_settled() -> None:
    """However sure it is that more is no less."""
    runs, end = chosen(study_of(), lambda configuration: 100.0 * (configuration.vcpus or 1.0))
    assert recommend(fit(runs), runs, Objective(), stored_catalog()).workloads[0].status == "at_least"
    assert end.kind is PlanEndKind.NOTHING_LEFT
    assert end.open == ("job",)


def test_a_model_that_is_there_is_not_fitted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what comes next is the same, in the middle of a study and at its end."""
    study = study_of("one", "two")
    runs, end = chosen(study, knee(4.0))
    some = runs[:-1]
    model, later = fit(some), fit(runs)
    after_some = Chooser(study, HOST, stored_catalog(), UNBOUNDED).next_run(some)
    assert isinstance(after_some, NextRun)
    monkeypatch.delattr("sizer.plan.conclusions.fit")
    assert Chooser(study, HOST, stored_catalog(), UNBOUNDED, model).next_run(some) == after_some
    assert Chooser(study, HOST, stored_catalog(), UNBOUNDED, later).next_run(runs) == end
