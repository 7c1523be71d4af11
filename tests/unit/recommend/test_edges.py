"""Whether the rate still rises where measuring stopped is said as surely as the runs support, with the run to make."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.plan.run_order import plan
from sizer.recommend.edges import StillPlanned, prefer_planned_run
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer, Recommendation
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Action, Bottleneck, Configuration, Reason, ReasonCode, Spec, Suggestion, reason
from sizer.records.run import Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Objective
from sizer.records.units import GIB
from sizer.words.names import Terms
from sizer.words.reasons.phrasing import reason_sentences, suggestion_sentences
from tests.tables import stored_catalog
from tests.unit.plan.machine import HOST, knee, made, study_of

# Whether the rate still rises where measuring stopped is said as surely as the runs support, and no surer.


Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
NOISY = ((0.5, 60), (1, 118), (2, 117))
CONTENDED = (RunWarning(WarningKind.CONTENDED, {"cores": 1.1}),)
IMPRECISE = (RunWarning(WarningKind.IMPRECISE, {"half_width": 0.196, "seconds": 5.0, "asked": 0.03}),)


def busy(runs: list[Run], share: float = 1.0) -> list[Run]:
    """The same with this share of their vCPUs' time accounted for."""
    rates = [run.throughput.value for run in runs if run.throughput is not None]
    seconds = [share * (run.configuration.vcpus or 0) / rate for run, rate in zip(runs, rates, strict=True)]
    return [
        replace(run, demand=Demand(core_seconds=core_seconds)) for run, core_seconds in zip(runs, seconds, strict=True)
    ]


def warned(runs: list[Run], *warnings: tuple[RunWarning, ...]) -> list[Run]:
    return [replace(run, warnings=own) for run, own in zip(runs, warnings, strict=True)]


def test_runs_that_move_cannot_tell_what_binds(curve: Curve, ask: Ask) -> None:
    """Where the curve is open and its runs move by more than is at stake, no bottleneck is named, and repeating one
    that tells most is the advice; a warning changes nothing of what is said."""
    answer = ask(warned(curve(*NOISY, spread=0.15), CONTENDED, CONTENDED + IMPRECISE, CONTENDED))
    assert (answer.status, answer.bottleneck, answer.next_bottleneck) == ("at_least", Bottleneck.AMBIGUOUS, None)
    assert "it is not known whether it is the right" in answer.reasons[1]
    assert any(reason.startswith("The bottleneck there is not known") for reason in answer.reasons)
    assert not any("bound" in rejection.why or "held back" in rejection.why for rejection in answer.rejected)
    assert answer.next_run.startswith("Repeat `train` at ")


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
    sentence = next(reason for reason in doubted.reasons if reason.startswith("There is no clear bottleneck there"))
    assert "the model says disk bandwidth" in sentence
    assert sentence.endswith("accounting says CPU 91 % busy.")


def test_vcpus_that_are_busy_while_the_rate_rises_are_no_serial_part(curve: Curve, ask: Ask) -> None:
    """227, 425, 620 with vCPUs 77 % busy is CPU-bound, and the shares do not say otherwise."""
    evidence = Evidence(Bottleneck.CPU, {"cpu": 0.77}, EvidenceKind.BUSIEST)
    answer = ask(busy(curve((0.5, 227), (1, 425), (2, 620), evidence=evidence), 0.77))
    assert answer.bottleneck is Bottleneck.CPU
    sentence = next(reason for reason in answer.reasons if reason.startswith("There it is bound by the CPU"))
    assert sentence.startswith("There it is bound by the CPU (shares: CPU 5")
    assert sentence.endswith("accounting: CPU 77 % busy).")


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


# What a study still has is advised before anything that it has not.


NOT_MADE = reason(ReasonCode.RUN_WOULD_SETTLE)


def place(vcpus: float, memory_gib: int = 64) -> Configuration:
    return Configuration(vcpus, memory_gib * GIB, "host", 1, gpu_count=1)


def measured(*vcpus: float, failed: tuple[float, ...] = ()) -> list[Run]:
    """One run at each of these, of which some were killed."""
    specs = {spec.limits.vcpus: spec for spec in plan(study_of(vcpus=(*vcpus, *failed)), HOST) if spec.repeat == 0}
    return [
        made(specs[vcpu], knee(4.0), Outcome.OUT_OF_MEMORY if vcpu in failed else Outcome.COMPLETED)
        for vcpu in (*vcpus, *failed)
    ]


def advised(suggestion: Suggestion, runs: list[Run], left: StillPlanned) -> Suggestion:
    return prefer_planned_run(suggestion, left, fit(runs).workloads[0].measured, runs)


def at(*vcpus: float) -> Suggestion:
    return Suggestion(Action.MEASURE, reason(ReasonCode.RUN_WOULD_SETTLE, larger=vcpus[0]), vcpus=vcpus)


@pytest.mark.parametrize(
    ("tried", "wanted", "left", "expected"),
    [
        ((0.5, 2.0), (4.0,), (1.0,), (1.0,)),
        ((2.0,), (1.0, 4.0), (0.5, 1.0, 1.5), (1.0, 1.5)),
        ((2.0,), (1.0, 4.0), (0.5,), (0.5,)),
        ((1.0, 2.0, 4.0), (8.0, 16.0), (3.0, 6.0, 16.0), (6.0, 16.0)),
        ((1.0, 2.0, 4.0), (8.0,), (3.0, 0.5), (8.0,)),
        ((2.0, 3.0, 4.0), (1.0,), (1.5, 16.0), (1.5,)),
        ((1.0, 2.0, 8.0), (4.0,), (3.0, 16.0), (3.0,)),
        ((1.0, 2.0, 4.0), (8.0,), (), (8.0,)),
    ],
)
def test_the_nearest_value_of_the_study_that_would_do(
    tried: tuple[float, ...], wanted: tuple[float, ...], left: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """With fewer than three values any does; else those on the same side of what was tried."""
    suggestion = advised(at(*wanted), measured(*tried), StillPlanned(tuple(map(place, left))))
    assert suggestion.vcpus == expected
    assert (suggestion.why == NOT_MADE) is (expected != wanted)


def test_a_value_that_was_tried_is_none_that_is_left() -> None:
    """With more memory it may do; by itself it failed."""
    left = StillPlanned((place(1.0, 128),))
    assert advised(at(4.0), measured(0.5, 2.0, failed=(1.0,)), left).vcpus == (4.0,)


def test_a_search_is_no_run_of_what_is_planned() -> None:
    """It shows whether a cap holds and no rate."""
    *runs, searched = measured(0.5, 2.0, 1.0)
    searched = replace(searched, spec=replace(searched.spec, purpose=Purpose.FLOOR_SEARCH))
    assert advised(at(4.0), [*runs, searched], StillPlanned((place(1.0),))).vcpus == (1.0,)


def test_more_memory_is_more_than_was_tried() -> None:
    """Less is on the other side of what was killed."""
    runs = [
        replace(run, configuration=replace(run.configuration, memory_bytes=4 * GIB)) for run in measured(failed=(1.0,))
    ]
    more = Suggestion(Action.MEASURE, memory_bytes=8 * GIB)
    assert advised(more, runs, StillPlanned((place(1.0, 2), place(1.0, 6)))).memory_bytes == 6 * GIB
    assert advised(more, runs, StillPlanned((place(1.0, 2),))) == more


@pytest.mark.parametrize(
    "kept",
    [
        Suggestion(Action.RETRY, vcpus=(1.0,)),
        Suggestion(Action.REPEAT, repeat_how="batches"),
        Suggestion(Action.IMPORT, column="vcpus"),
    ],
)
def test_what_is_to_be_mended_first_stays(kept: Suggestion) -> None:
    assert advised(kept, measured(0.5, 2.0), StillPlanned((place(1.0),), place(1.0))) == kept


def test_the_next_run_of_an_adaptive_plan_is_advised() -> None:
    """With what the study varies; a further run of what was measured is a repeat."""
    terms = Terms("job")
    new = StillPlanned((place(1.0),), Configuration(1.0, 2 * GIB, None, None, gpu_count=None))
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), new), terms) == (
        "Measure `job` with 1 vCPU, 2 GiB. The study's plan has runs that are not made yet."
    )
    again = StillPlanned((), Configuration(2.0, None, None, None, gpu_count=None), again=True)
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), again), terms).startswith(
        "Repeat `job` at 2 vCPUs."
    )
    more = replace(again, next_run=Configuration(2.0, None, "slow", None, gpu_count=None))
    assert suggestion_sentences(advised(at(4.0), measured(0.5, 2.0), more), terms).startswith(
        "Repeat `job` with 2 vCPUs, disk slow."
    )


def test_the_same_run_keeps_what_it_would_settle() -> None:
    settling = Suggestion(Action.REPEAT, Reason(ReasonCode.RUN_WOULD_SETTLE, {}, Spec(2.0)), vcpus=(2.0,))
    left = StillPlanned((), Configuration(2.0, None, None, None, gpu_count=None), again=True)
    assert advised(settling, measured(0.5, 2.0), left) == settling


def test_an_answer_names_what_is_planned_and_not_a_larger_host() -> None:
    """The rate rises to the most of three values, of a study that has a fourth."""
    runs = measured(1.0, 2.0, 4.0)
    runs = [replace(run, throughput=made(run.spec, knee(64.0)).throughput) for run in runs]
    asked = fit(runs), runs, Objective(), stored_catalog()
    (alone,) = recommend(*asked, host_vcpus=8.0).workloads
    (answer,) = recommend(*asked, host_vcpus=8.0, still_planned={"job": StillPlanned((place(8.0),))}).workloads
    assert alone.next_run.needs_larger_host
    assert (answer.next_run.vcpus, answer.next_run.needs_larger_host) == ((8.0,), False)


# Of measurements made elsewhere the vCPUs may be unknown: then the answer names no number of them.


RATES = {"slow": DiskRates(500, 1e7), "fast": DiskRates(9000, 4e8)}


def without_vcpus(run: Run) -> Run:
    return replace(run, configuration=replace(run.configuration, vcpus=None))


def asked(runs: list[Run]) -> Recommendation:
    return recommend(fit(runs), runs, Objective(), stored_catalog())


def sentences_of(answer: Answer) -> str:
    terms = Terms(answer.workload, answer.sample_unit)
    rejected = [" ".join(reason_sentences(rejection.why, terms)) for rejection in answer.rejected]
    return "\n".join([*reason_sentences(answer.reasons, terms), *rejected, advice(answer)])


def advice(answer: Answer) -> str:
    return suggestion_sentences(answer.next_run, Terms(answer.workload)) if answer.next_run is not None else ""


@pytest.fixture
def by_memory(make_run: Callable[..., Run]) -> list[Run]:
    sizes = ((8, 50), (16, 100), (32, 101), (64, 100))
    return [without_vcpus(make_run(rate, 1, memory=size * GIB, capped=True)) for size, rate in sizes]


def test_memory_alone_is_answered_in_sizes_of_memory(by_memory: list[Run]) -> None:
    """Not in what families offer with a number of vCPUs that nobody knows."""
    (answer,) = asked(by_memory).workloads
    assert (answer.spec.vcpus, answer.spec.memory_bytes) == (None, 16 * GIB)
    assert not re.search(r"\d vCPU", sentences_of(answer))
    assert "The table has no `vcpus`" in sentences_of(answer)
    assert answer.instances == ()
    assert (
        advice(answer)
        == "Measure `train` at three vCPU values or more, or add a column `vcpus` and import the table again."
    )


def test_a_table_of_one_gpu_lacks_no_vcpus(make_run: Callable[..., Run]) -> None:
    """No advice about an axis that it does not have, and no guess at a bottleneck that it cannot show."""
    plain = [without_vcpus(make_run(rate, 1, batch=batch)) for batch, rate in ((16, 300), (32, 400), (64, 450))]
    runs = [
        replace(run, configuration=replace(run.configuration, gpu="V100", gpu_count=1, memory_bytes=None), demand=None)
        for run in plain
    ]
    (answer,) = asked(runs).workloads
    assert answer.spec.gpu == "V100"
    assert "three vCPU values" not in sentences_of(answer)
    assert "best guess" not in sentences_of(answer)
    assert "bottleneck" not in sentences_of(answer)
    assert answer.bottleneck is Bottleneck.AMBIGUOUS
