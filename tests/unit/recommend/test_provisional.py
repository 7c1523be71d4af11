"""An answer whose runs something speaks against does not pass for a sure one, and says no more than it knows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.model.runs import is_starved
from sizer.recommend.edges import for_host
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.prediction import Action, Bottleneck, ReasonCode, Suggestion
from sizer.records.run import Demand, Evidence, EvidenceKind, LimitedBy, LimitedByKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Deadline, Objective
from sizer.words.answers import conclusion_line, headline
from sizer.words.names import Terms, terms_of
from sizer.words.reasons.phrasing import reason_sentences, suggestion_sentences
from tests.modelled import contended
from tests.tables import stored_catalog

# An answer whose runs something speaks against does not pass for a sure one.


Ask = Callable[..., Answer]
Curve = Callable[..., list[Run]]
P100 = Device("emulated", gpu="P100", samples_per_second=219.0)
KNEE = ((1, 100), (2, 197), (4, 300), (8, 303), (16, 304))


def marked(runs: list[Run], warnings: tuple[RunWarning, ...], *vcpus: float) -> list[Run]:
    return [replace(run, warnings=warnings) if run.configuration.vcpus in vcpus else run for run in runs]


def test_a_warning_is_of_its_run_and_no_verdict(curve: Curve, ask: Ask) -> None:
    """However many runs have one: where their figures leave the answer as sure as before, it is no less of one."""
    runs = curve((1, 100), (2, 197), (4, 303), (8, 303), (16, 304))
    clean, slightly = ask(runs), marked(runs, (RunWarning(WarningKind.CONTENDED, {"cores": 0.06}),), 1, 2, 4, 8, 16)
    answer = ask(slightly)
    assert (answer.status, answer.provisional, answer.spec) == ("recommended", False, clean.spec)
    assert not any("contended" in reason for reason in answer.reasons)


def mistold(runs: list[Run], kind: WarningKind, *factors: float) -> list[Run]:
    """Runs whose logs tell a batch so many times as long as their lines show."""
    return [
        replace(run, warnings=(RunWarning(kind, {"told": factor * 0.05, "seen": 0.05}),))
        for run, factor in zip(runs, factors, strict=True)
    ]


@pytest.mark.parametrize(
    ("kind", "why", "what"),
    [
        ("batches_for_samples", "give `batches` in place of `rate` in the pattern.", "Name the group `batches`"),
        (
            "lines_of_ranks",
            "let the pattern read a counter (`step`), too.",
            "Let the pattern of `train` read a counter",
        ),
        ("told_unlike_seen", "check the unit of the pattern's groups.", "Correct the units in the pattern of `train`"),
    ],
)
def test_a_rate_known_to_be_wrong_is_no_sure_answer(curve: Curve, ask: Ask, kind: str, why: str, what: str) -> None:
    """However quiet the host was: the first reason says so and what to do, and no cost of samples is told."""
    answer = ask(mistold(curve(*KNEE), WarningKind(kind), 32, 32.4, 31.8, 32, 32))
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert "5 of 5 runs" in answer.reasons[0]
    assert answer.reasons[0].endswith(why)
    assert answer.next_run.startswith(what)
    assert answer.instances
    assert all(instance.usd_per_million_samples is None for instance in answer.instances)
    assert answer.spec == ask(curve(*KNEE)).spec


def test_rates_wrong_by_several_factors_do_not_even_compare_specs(curve: Curve, ask: Ask) -> None:
    """One right run among wrong ones, and factors that differ."""
    for factors in ((32, 32, 16, 32, 32),):
        answer = ask(mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, *factors))
        assert answer.reasons[0].endswith("They are not all wrong alike, so another spec may be the answer.")
    runs = curve(*KNEE)
    one = [*mistold(runs[:1], WarningKind.TOLD_UNLIKE_SEEN, 2.5), *runs[1:]]
    assert ask(one).provisional
    assert ask(one).reasons[0].startswith("In 1 of 5 runs the log tells another rate than its lines come at")
    assert "not all wrong alike" in ask(one).reasons[0]


def test_no_deadline_is_met_by_a_rate_known_to_be_wrong(curve: Curve, ask: Ask) -> None:
    """Time needs true rates."""
    runs = mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, 32, 32, 32, 32, 32)
    for asked in ({"within": Deadline(1e6, 1e5)}, {"at_least": 10.0}):
        answer = ask(runs, **asked)
        assert answer.status == "refused"
        assert answer.reasons[0].startswith("In 5 of 5 runs the log most likely tells a rate of batches")


def test_the_headline_leaves_out_a_rate_known_to_be_wrong(curve: Curve, catalog: Catalog) -> None:
    """And the line that a study ends with says why."""
    runs = mistold(curve(*KNEE), WarningKind.BATCHES_FOR_SAMPLES, 32, 32, 32, 32, 32)
    answer = recommend(fit(runs), runs, Objective(), catalog).workloads[0]
    terms = Terms("train", "image")
    line = headline(answer, terms)
    assert line.startswith("train: provisionally recommended 4 vCPUs")
    assert line.endswith("of which the rate in images/s is not known")
    assert "give `batches` in place of `rate`" in conclusion_line(answer, terms)


@pytest.mark.parametrize(
    ("doubt", "what"),
    [
        (RunWarning(WarningKind.ONE_READING), "Let the pattern of `train` read a counter (`step`), too"),
        (
            RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": 20, "given": 32}),
            "Give `train` the `batch_size` that its log tells",
        ),
    ],
)
def test_what_the_study_file_can_mend_is_said_so(curve: Curve, ask: Ask, doubt: RunWarning, what: str) -> None:
    """More seconds would not help."""
    answer = ask(marked(curve(*KNEE), (doubt,), 1, 2, 4, 8, 16))
    assert answer.provisional
    assert answer.next_run.startswith(what)


@pytest.mark.parametrize(
    ("advice", "cpus", "larger"),
    [
        (Suggestion(Action.MEASURE, vcpus=(8.0, 16.0)), 4, True),
        (Suggestion(Action.MEASURE, vcpus=(8.0, 16.0)), None, False),
        (Suggestion(Action.REPEAT, vcpus=(1.0, 2.0, 16.0)), 4, False),
        (Suggestion(Action.MEASURE, memory_bytes=64 * 2**30), 2, False),
    ],
)
def test_a_run_for_a_larger_host_says_so(advice: Suggestion, cpus: float | None, larger: bool) -> None:
    """More vCPUs than the measuring host has cannot be measured there."""
    placed = for_host(advice, cpus)
    assert placed.needs_larger_host == larger
    words = suggestion_sentences(placed, Terms("x"))
    assert ("larger host" in words) == larger
    assert not larger or words.endswith("which has 4 vCPUs.")


def test_a_job_that_crashes_is_to_be_mended(make_run: Callable[..., Run], ask: Ask) -> None:
    """No larger host, no more vCPUs: what became of its runs."""
    answer = ask([make_run(None, c, outcome=Outcome.CRASHED) for c in (1, 2, 4)], host_vcpus=2)
    assert answer.status == "refused"
    assert "says how each run ended" in answer.next_run
    assert "host" not in answer.next_run


def demo_training(make_run: Callable[..., Run]) -> list[Run]:
    """A training on an emulated P100 as the demo measures it, and its reference, which the host slowed by 18 %."""
    began = datetime(2026, 11, 21, tzinfo=timezone.utc)
    reference = [make_run(rate, 2.0, name="inference", repeat=k) for k, rate in enumerate((84.0, 99.1, 85.0, 98.0))]
    training = []
    for c in (0.25, 0.5, 1.0, 2.0):
        for disk in ("nvme", "ssd", "standard"):
            rate = 205.0 if c == 0.25 else 219.0
            named = Bottleneck.CPU if c == 0.25 else Bottleneck.ACCELERATOR
            run = make_run(rate, c, device=P100, disk=disk, spread=1e-4 if c > 0.25 else 0.01)
            evidence = Evidence(named, {named.value: 0.99}, EvidenceKind.BUSIEST)
            training.append(replace(run, demand=Demand(core_seconds=0.0011, read_bytes=3e4), evidence=evidence))
    runs = [reference[0], *training[:4], reference[1], *training[4:8], reference[2], *training[8:], reference[3]]
    drifting = (RunWarning(WarningKind.DRIFTING, {"before": 84.0, "after": 99.1}),)
    return [
        replace(run, started_at=(began + timedelta(minutes=at)).isoformat(), warnings=drifting)
        for at, run in enumerate(runs)
    ]


def test_what_waits_for_an_accelerator_is_recommended_while_the_host_drifts(
    make_run: Callable[..., Run], catalog: Catalog
) -> None:
    """219 images/s at 0.5, 1 and 2 vCPUs on three disks: no noise of the CPUs could change that answer."""
    runs = demo_training(make_run)
    answers = {workload.workload: workload for workload in recommend(fit(runs), runs, Objective(), catalog).workloads}
    training = answers["train"]
    assert (training.status, training.provisional) == ("recommended", False)
    assert training.probability >= 0.99
    assert 0.5 <= training.spec.vcpus <= 1
    assert training.bottleneck is Bottleneck.ACCELERATOR


# What runs beside other programs do not show is not told as if they did.


BUSY = Evidence(Bottleneck.CPU, {"cpu": 1.0}, EvidenceKind.BUSIEST)
OTHERS = 1.6


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> list[Run]:
    """Of an inference at 0.5, 1 and 2 vCPUs, the last beside programs that left it one of the host's two CPUs."""
    demand = Demand(core_seconds=0.0092)
    quiet = [make_run(rate, vcpus, demand=demand, evidence=BUSY) for vcpus, rate in ((0.5, 52.6), (1.0, 108.0))]
    return [*quiet, on_host(contended(make_run(110.0, 2.0, demand=demand), OTHERS), 2)]


def on_host(run: Run, cpus: int | None) -> Run:
    return replace(run, limited_by=LimitedBy(LimitedByKind.SIZER, host_cpus=cpus))


def asked(runs: Sequence[Run], **objective: Any) -> Answer:
    return recommend(fit(runs), runs, Objective(**objective), stored_catalog()).workloads[0]


@pytest.mark.parametrize(
    ("cpus", "stall", "starved"), [(2, None, True), (8, None, False), (None, None, False), (8, 0.004, True)]
)
def test_a_run_is_starved_where_the_host_was_full_or_it_waited(
    cpus: int | None, stall: float | None, starved: bool, runs: list[Run]
) -> None:
    """It used one of its two CPUs, others 1.6: of 2 of the host that is all, of 8 its waiting tells."""
    demand = Demand(core_seconds=0.0092, cpu_stall=stall)
    assert is_starved(on_host(replace(runs[-1], demand=demand), cpus)) is starved
    assert not is_starved(replace(runs[-1], conditions=replace(runs[-1].conditions, other_cores=0.0)))


def test_a_rate_without_its_vcpus_is_a_lower_bound(runs: list[Run]) -> None:
    """One vCPU made 108 images/s: that two made 110 says nothing against 200, and no answer is sure of it."""
    model = fit(runs)
    two = predict(model.workloads[0], runs[-1].configuration).throughput
    assert two.value > 110
    assert two.low < 160
    assert two.high > 200
    answer = asked(runs)
    assert answer.provisional
    assert ReasonCode.RUNS_STARVED in {reason.code for reason in answer.reasons}
    sentences = reason_sentences(answer.reasons, terms_of(model.workloads[0]))
    assert any(
        sentence.startswith("Measured there were 110 images/s while something else used 1.6 cores")
        for sentence in sentences
    )


def test_nothing_is_answered_where_no_run_had_its_vcpus(runs: list[Run]) -> None:
    starved = [
        replace(runs[-1], configuration=replace(runs[-1].configuration, batch_size=size)) for size in (8, 16, 32)
    ]
    answer = asked(starved)
    assert answer.status == "refused"
    assert ReasonCode.RUNS_STARVED in {reason.code for reason in answer.reasons}


def test_what_is_not_sold_has_no_cost(curve: Callable[..., list[Run]]) -> None:
    runs = curve((0.25, 60), (0.5, 100), (1, 101), (2, 101))
    for spot in (False, True):
        answer = asked(runs, at_least=90.0, spot=spot)
        codes = {rejection.spec.vcpus: rejection.why[0].code for rejection in answer.rejected}
        assert codes[0.5] is ReasonCode.GIVES


# On curves whose truth is known the answer loses little, and says no more than it knows.


MakeRun = Callable[..., Run]


def law(top: float, half: float, coherence: float) -> Callable[[float], float]:
    """Samples per second of the universal scalability law: rises, bends, and with coherence falls again."""
    return lambda c: top * c / (1 + half * (c - 1) + coherence * c * (c - 1))


def answered(make_run: MakeRun, truth: Callable[[float], float], sizes: list[float], noise: float, seed: int) -> Answer:
    chance = random.Random(seed)
    runs = [
        make_run(truth(c) * math.exp(noise * chance.gauss(0, 1)), c, repeat=k, spread=1.96 * noise + 1e-3)
        for c in sizes
        for k in range(2)
    ]
    return recommend(fit(runs), runs, Objective(), stored_catalog()).workloads[0]


@pytest.mark.slow
@settings(max_examples=8)
@given(
    top=st.floats(0.1, 1e6),
    half=st.floats(0.0, 0.5),
    coherence=st.sampled_from([0.0, 0.0, 0.001, 0.01]),
    first=st.sampled_from([1.0, 2.0]),
    noise=st.sampled_from([0.0, 0.01, 0.03]),
    seed=st.integers(0, 100),
)
def test_what_is_recommended_reaches_the_target(
    make_run: MakeRun, top: float, half: float, coherence: float, first: float, noise: float, seed: int
) -> None:
    """The true rate of the spec is within 5 % of the target x the best within what was measured."""
    truth, sizes = law(top, half, coherence), [first * 2**k for k in range(6)]
    answer = answered(make_run, truth, sizes, noise, seed)
    assert answer.status != "refused"
    assert answer.spec.vcpus is not None
    best = max(truth(c) for c in range(int(sizes[0]), int(sizes[-1]) + 1))
    reached = truth(min(answer.spec.vcpus, sizes[-1])) / best
    assert reached >= 0.95 * (1 - 0.05 - noise) or answer.edge == "unsettled"


@pytest.mark.slow
def test_the_probability_is_kept(make_run: MakeRun) -> None:
    """Of sizes called sure to reach the target, as many do as was said, less what so few draws can differ by."""
    chance, stated, kept = random.Random(11), [], []
    for seed in range(24):
        truth = law(100, chance.uniform(0.05, 0.6), chance.choice([0.0, 0.002, 0.01]))
        answer = answered(make_run, truth, [1, 2, 4, 8, 16, 32], 0.02, seed)
        if answer.status == "recommended" and answer.spec is not None and answer.probability is not None:
            assert answer.spec.vcpus is not None
            best = max(truth(c) for c in range(1, 33))
            stated.append(answer.probability)
            kept.append(truth(answer.spec.vcpus) >= 0.95 * best * 0.995)
    assert len(stated) > 10
    assert sum(kept) / len(kept) >= sum(stated) / len(stated) - 0.12
