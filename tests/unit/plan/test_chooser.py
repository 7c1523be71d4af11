"""Runs that are chosen one after another: along one axis and several, by what is open, and by how the host is."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from sizer.model.fitting import fit
from sizer.plan.chooser import Chooser, NextRun
from sizer.plan.conclusions import OpenAnswer, open_answer
from sizer.plan.configurations import configurations
from sizer.plan.run_order import MOST_BETWEEN, is_measurement, plan, reference
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Configuration, Spec
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import (
    Adaptive,
    DiskTier,
    Measure,
    Objective,
    PlanEndKind,
    RunReasonKind,
    RunSpec,
    Study,
    Workload,
    WorkloadPlan,
)
from sizer.records.units import GIB
from sizer.words.studies.planning import reason_in_words
from tests.tables import stored_catalog
from tests.unit.plan import machine
from tests.unit.plan.machine import HOST, LADDER, SECONDS, UNBOUNDED, Rate, chooser_of, chosen, knee, made, study_of

# Which run an adaptive plan makes next, why, and when it ends.


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
    for number in (0, len(runs) // 2, len(runs) - 1):
        again, its_end = chosen(study, knee(6.0), before=tuple(runs[:number]))
        assert [run.id for run in again] == [run.id for run in runs]
        assert [run.reason for run in again] == [run.reason for run in runs]
        assert its_end == end


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
    assert (end.then.spec, end.then.why) == (whole[count].spec, whole[count].reason)
    assert end.enough == count + 4
    _, later = chosen(study, knee(6.0), Adaptive(budget=(count + 0.5) * (SECONDS + 5)))
    assert later.then.spec == end.then.spec
    assert later.enough == pytest.approx((count + 4) * (SECONDS + 5), rel=0.05)


def test_what_failed_is_not_made_again() -> None:
    """One configuration that crashes: the others carry the answer."""
    study = study_of()
    chooser, runs = chooser_of(study), []
    while isinstance(step := chooser.next_run(runs), NextRun):
        crashed = step.spec.limits.vcpus == 4.0
        runs.append(made(step.spec, knee(2.0), Outcome.CRASHED if crashed else Outcome.COMPLETED))
        assert len(runs) <= 20
    assert sum(run.outcome is Outcome.CRASHED for run in runs) == 1


def test_a_workload_that_never_completes_is_given_up() -> None:
    """Three failures say enough."""
    study = study_of()
    chooser, runs = chooser_of(study), []
    while isinstance(step := chooser.next_run(runs), NextRun):
        runs.append(made(step.spec, knee(2.0), Outcome.CRASHED))
    assert len(runs) == 3
    assert step.kind is PlanEndKind.NOTHING_LEFT
    assert step.open == step.failed == ("job",)


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
    while isinstance(step := chooser.next_run(runs), NextRun):
        runs.append(replace(made(step.spec, knee(4.0)), reason=step.why, warnings=(warning,)))
    assert (step.kind, step.settled, step.open) == (PlanEndKind.NOTHING_LEFT, (), ("job",))
    assert len(runs) <= 4


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


# An adaptive plan over several axes at once: what it starts with, what it makes of each, and what it says.


MEMORY = (2 * GIB, 8 * GIB, 32 * GIB)
DISKS = tuple(
    DiskTier(name, emulated=DiskRates(100.0, mbps * 1e6))
    for name, mbps in (("slow", 20), ("middle", 60), ("fast", 200))
)


RATES = {"T4": 110.0, "A100": 750.0, "V100": 320.0}


def emulated(*counts: int, vcpus: tuple[float, ...] = LADDER) -> Study:
    """Training on so many emulated accelerators, over vCPUs."""
    device = Device("emulated", gpu="V100", samples_per_second=300.0)
    workload = Workload("train", "image_training", network="resnet50", cache="cold", device=device)
    planned = WorkloadPlan(workload, (32,), vcpus=vcpus, gpu_count=counts)
    return Study("s", (planned,), measure=Measure(repeats=2, seconds=SECONDS))


def fed(configuration: Configuration) -> float:
    """100 samples/s a vCPU, as far as the accelerators take them."""
    return min(100.0 * (configuration.vcpus or 1.0), 300.0 * (configuration.gpu_count or 1))


def on_disks(configuration: Configuration) -> float:
    """A knee at four vCPUs, which the slow disk does not feed; memory is for nothing but to be enough."""
    return min(knee(4.0)(configuration), 150.0 if configuration.disk == "slow" else math.inf)


def over_memory_and_disks() -> Study:
    return replace(study_of(memory_bytes=MEMORY, disk=("fast", "middle", "slow")), disks=DISKS)


def test_every_number_of_accelerators_is_measured() -> None:
    """One that the start left out is next; then each configuration once, since only what was measured is compared."""
    study = emulated(1, 2, 3, 4, vcpus=(1.0, 4.0, 16.0))
    runs, end = chosen(study, fed)
    kinds = [run.reason.kind for run in runs if run.reason is not None]
    assert [run.spec.gpu_count for run in runs[:4]] == [1, 4, 3, 2]
    assert kinds[3] is RunReasonKind.NOT_SEEN
    assert set(kinds[4:]) == {RunReasonKind.NOT_COMPARED, RunReasonKind.HOST_AGAIN}
    assert len({(run.spec.limits.vcpus, run.spec.gpu_count) for run in runs}) == 12
    assert len(runs) == 12 + kinds.count(RunReasonKind.HOST_AGAIN)
    assert end.settled == ("train",)


def test_every_device_is_measured() -> None:
    """By the first three runs, the fastest with the most of all else; then each configuration once."""
    devices = tuple(Device("emulated", gpu=gpu, samples_per_second=rate) for gpu, rate in RATES.items())
    workload = Workload("train", "image_training", network="resnet50", cache="cold", device=devices[0])
    planned = WorkloadPlan(workload, (32,), vcpus=(1.0, 4.0, 16.0), devices=devices)
    study = Study("s", (planned,), measure=Measure(repeats=2, seconds=SECONDS))
    runs, end = chosen(study, lambda at: min(200.0 * (at.vcpus or 1.0), RATES[(at.gpu or "").split(":")[-1]]))
    first = [(run.spec.device.gpu, run.spec.limits.vcpus) for run in runs[:3]]
    assert first == [("T4", 1.0), ("A100", 16.0), ("V100", 4.0)]
    assert len({(run.spec.limits.vcpus, run.spec.device.gpu) for run in runs}) == 9
    assert end.settled == ("train",)


def test_memory_and_disks_start_together() -> None:
    """Each of the first three runs has another vCPU value, memory and disk, the fastest with the most of all else."""
    specs = chooser_of(over_memory_and_disks()).start()
    assert [(spec.limits.vcpus, spec.limits.memory_bytes, spec.limits.disk) for spec in specs] == [
        (16.0, 32 * GIB, "fast"),
        (1.0, 2 * GIB, "slow"),
        (4.0, 8 * GIB, "middle"),
    ]


@pytest.mark.parametrize("drawn", range(2))
def test_memory_and_disks_are_answered_by_few_of_their_runs(drawn: int) -> None:
    """Of 45 configurations, a quarter at the most, whatever the noise: a run at a size whose rate is known tells
    nothing of how fast the best is, which was not measured on that disk."""
    runs, end = chosen(over_memory_and_disks(), on_disks, drawn=drawn)
    (answer,) = recommend(fit(runs), runs, Objective(), stored_catalog()).workloads
    assert end.kind in (PlanEndKind.SETTLED, PlanEndKind.NOTHING_LEFT)
    assert (answer.spec.vcpus, answer.spec.disk == "slow") == (4.0, False)
    assert answer.provisional is (end.kind is PlanEndKind.NOTHING_LEFT)
    assert len(runs) <= 11
    for why in (run.reason for run in runs[3:]):
        assert why is not None
        assert reason_in_words(why)


def test_where_too_little_memory_fails_the_fewest_vcpus_are_measured_with_more() -> None:
    """A curve needs three values; of those that failed nobody knows the rate."""
    study = study_of(memory_bytes=MEMORY)

    def run_of(spec: RunSpec) -> Run:
        held = (spec.limits.memory_bytes or 0) > 2 * GIB
        return made(spec, knee(4.0), Outcome.COMPLETED if held else Outcome.OUT_OF_MEMORY)

    chooser = chooser_of(study)
    runs = [run_of(spec) for spec in chooser.start()]
    following = chooser.next_run(runs)
    assert isinstance(following, NextRun)
    assert following.spec.limits.vcpus == 1.0
    assert following.spec.limits.memory_bytes == 32 * GIB
    assert following.why is not None
    assert reason_in_words(following.why) == "no run with these vCPUs completed yet"


# How open an answer is, and what a run would take from that.


def runs_at(*vcpus: float, rate: Rate) -> list[Run]:
    study = study_of()
    specs = configurations(study.workloads[0], study, HOST)
    return [made(spec, rate) for spec in specs if spec.limits.vcpus in vcpus]


PLACES = [run.configuration for run in runs_at(1.0, 2.0, 4.0, 8.0, 16.0, rate=knee(4.0))]


def opened(runs: list[Run]) -> OpenAnswer:
    model = fit(runs)
    answer = recommend(model, runs, Objective(), stored_catalog()).workloads[0]
    open_one = open_answer(model.workloads[0], answer, PLACES, Objective(), stored_catalog())
    assert open_one is not None
    return open_one


def test_most_is_learned_where_the_answer_is_open() -> None:
    """Between a size that is too small and one that is large enough, not at what was measured already."""
    rate = knee(6.0)
    open_one = opened(runs_at(1.0, 4.0, 16.0, rate=rate))
    best = max(open_one.places, key=open_one.value)
    assert best.vcpus == 8.0


def test_an_answer_that_is_enough_may_be_too_dear() -> None:
    """Where half as much surely does, the larger is regretted, and a run at the smaller tells."""
    rate = knee(2.0)
    model = fit(runs_at(1.0, 2.0, 4.0, 16.0, rate=rate))
    larger = Answer("job", "recommended", Spec(4.0))
    open_one = open_answer(model.workloads[0], larger, PLACES, Objective(), stored_catalog())
    small, large = (next(r.candidate.place for r in open_one.rows if r.candidate.spec.vcpus == n) for n in (2.0, 4.0))
    assert open_one.right < 0.1
    assert open_one.gain(small) > 0.9
    assert open_one.gain(large) == 0.0
    assert open_one.gain(Configuration(32.0, 2**30, None, 1)) == 0.0


# The reference is weighed like every other run: the host is looked at again where the answers are open by it.


BEGAN = datetime(2026, 11, 21, tzinfo=timezone.utc)


STUDY = study_of("one", "two", "three")


def on_host(path: Callable[[int], float]) -> list[Run]:
    """Every run that is made of three jobs that 4.4 vCPUs serve, a minute apart, on a host that is slower by `path` of
    the number of the run (ln)."""
    chooser, runs = Chooser(STUDY, HOST, stored_catalog(), Adaptive()), list[Run]()
    while isinstance(step := chooser.next_run(runs), NextRun):
        run = made(step.spec, slowed(path(len(runs))))
        started = BEGAN + timedelta(seconds=60 * len(runs))
        runs.append(replace(run, started_at=started.isoformat(), reason=step.why))
    return runs


def slowed(by: float) -> Rate:
    return lambda configuration: knee(4.4)(configuration) * math.exp(-by)


def looks(runs: list[Run], kind: RunReasonKind) -> list[Run]:
    return [run for run in runs if run.reason is not None and run.reason.kind is kind]


def planned(count: int, path: Callable[[int], float]) -> list[Run]:
    """So many of the runs of the whole plan, in its order, on such a host."""
    specs = plan(STUDY, HOST)[:count]
    return [
        replace(made(spec, slowed(path(number))), started_at=(BEGAN + timedelta(seconds=60 * number)).isoformat())
        for number, spec in enumerate(specs)
    ]


@pytest.mark.parametrize("slower", [0.01, 0.03])
def test_a_host_that_gets_slower_is_looked_at_where_it_leaves_an_answer_open(slower: float) -> None:
    """Sooner than after eight runs, and the reason names the job whose answer would be surer."""
    of = reference(STUDY, HOST)
    assert of is not None
    runs = planned(31, lambda number: slower * number)
    assert [is_measurement(run.spec, of) for run in runs[-7:]] == [True, *[False] * 6]
    step = Chooser(STUDY, HOST, stored_catalog(), Adaptive()).next_run(runs)
    assert isinstance(step, NextRun)
    assert is_measurement(step.spec, of)
    assert step.why.kind is RunReasonKind.HOST_OPEN
    assert step.why.names[0] in {workload.workload.name for workload in STUDY.workloads}


def test_a_quiet_host_is_looked_at_only_when_it_is_due() -> None:
    """No answer is open by how slow it was."""
    runs = on_host(lambda _number: 0.0)
    assert not looks(runs, RunReasonKind.HOST_OPEN)
    assert looks(runs, RunReasonKind.HOST_AGAIN)
