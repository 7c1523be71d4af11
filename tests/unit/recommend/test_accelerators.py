"""Kinds, counts and rates of accelerators, and which batch size they are given."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.model.edge import vcpus_of_ceiling
from sizer.model.fitting import fit
from sizer.model.model import Gpus
from sizer.recommend.job_changes import ChangeKind, changes
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import BatchRate, Device
from sizer.records.prediction import Bottleneck, Configuration, ReasonCode
from sizer.records.run import Cause, CauseKind, Demand, Evidence, EvidenceKind, Failure, Run
from sizer.records.run_kinds import MemoryPlace, Outcome, Purpose
from sizer.records.study import Deadline, Objective
from sizer.records.units import GIB, format_seconds
from sizer.words.accelerators import accelerator_counts_lines, batch_sentences
from sizer.words.names import accelerators_name, terms_of
from sizer.words.reasons.phrasing import reason_sentences
from tests.tables import runs_of, stored_catalog

# What each number of accelerators makes of a job that was measured on several.


MakeRun = Callable[..., Run]
RATE, CORE_SECONDS = 380.0, 0.004
V100 = Device("emulated", 0, "V100", RATE, "a test", 0.05, "given in the study file")


def measured(make_run: MakeRun, count: int, vcpus: float, sharpness: float = 8.0, read_bytes: float = 1e5) -> Run:
    """A run of so many accelerators that share a pipeline, by the equation with known demands."""
    ceiling = RATE * (V100.speed_up(count) or 0.0)
    cpu = vcpus / CORE_SECONDS
    rate = (ceiling**-sharpness + cpu**-sharpness) ** (-1 / sharpness)
    bound = Bottleneck.ACCELERATOR if ceiling < cpu else Bottleneck.CPU
    used = Demand(core_seconds=CORE_SECONDS, read_bytes=read_bytes, read_ios=1.0, accelerator_seconds=count / ceiling)
    run = make_run(rate, vcpus, device=V100, demand=used, evidence=Evidence(bound, {}, EvidenceKind.BUSIEST, {}))
    return replace(
        run,
        spec=replace(run.spec, gpu_count=count),
        configuration=replace(run.configuration, gpu_count=count),
    )


def answered(runs: list[Run]) -> tuple[Answer, list[str]]:
    """The answer and its lines."""
    model = fit(runs)
    answer = recommend(model, runs, Objective(), stored_catalog()).workloads[0]
    return answer, accelerator_counts_lines(answer, terms_of(model.workload("train")))


@pytest.fixture(scope="module")
def answer_and_lines(make_run: MakeRun) -> tuple[Answer, list[str]]:
    return answered([measured(make_run, count, vcpus) for count in (1, 2, 4) for vcpus in (1, 2, 4, 8)])


def test_it_says_where_each_number_is_fed(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """Twice the accelerators ask for nearly twice the vCPUs."""
    counts = answer_and_lines[0].accelerator_counts
    assert [(count.count, count.fed_vcpus) for count in counts] == [(1, 2.0), (2, 4.0), (4, 8.0)]
    asked = [count.asked_vcpus.value for count in counts if count.asked_vcpus is not None]
    assert asked == pytest.approx([380 * 0.004, 723 * 0.004, 1410 * 0.004], rel=0.03)


def test_the_ceiling_has_the_loss(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """n of them make n exp(-loss 2 (n - 1) / n) times the samples of one."""
    assert [count.ceiling for count in answer_and_lines[0].accelerator_counts] == pytest.approx(
        [380, 722.9, 1410.2], rel=0.02
    )


def test_speed_up_and_efficiency_are_over_one(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """With the most vCPUs, in intervals of two new runs."""
    one, two, four = answer_and_lines[0].accelerator_counts
    assert (one.speed_up.value, one.efficiency.value) == (1, 1)
    assert two.speed_up.value == pytest.approx(1.90, rel=0.02)
    assert two.speed_up.low < two.speed_up.value < two.speed_up.high
    assert four.efficiency.value == pytest.approx(four.speed_up.value / 4)


def test_jobs_side_by_side_lose_nothing_to_each_other(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """Each of two jobs has half of the vCPUs, which feed its accelerator, and exchanges nothing."""
    one, two, _four = answer_and_lines[0].accelerator_counts
    assert one.side_by_side is None
    assert two.side_by_side.value == pytest.approx(760, rel=0.03)


def test_the_disk_is_asked_for_what_fed_accelerators_read(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """Bytes of a sample, as many as they make."""
    assert [count.read_bytes for count in answer_and_lines[0].accelerator_counts] == pytest.approx(
        [38e6, 72.3e6, 141e6], rel=0.02
    )


def test_it_is_said(answer_and_lines: tuple[Answer, list[str]]) -> None:
    """A line for each number, then what one more buys, where each is fed, and what is only stated."""
    lines = answer_and_lines[1]
    assert re.match(r"1 x emulated V100: 3(79|80|81) images/s", lines[0])
    assert lines[3].startswith("2 accelerators make 1.9")
    assert lines[4] == (
        "1 x emulated V100 fed from 2 vCPUs; 2 x emulated V100 fed from 4 vCPUs; 4 x emulated V100 fed from 8 vCPUs."
    )
    assert lines[-1] == (
        "What they lose to each other is given in the study file, and was not measured here: 4 x emulated V100 make "
        "92.8 % of as many alone."
    )


def test_too_few_vcpus_feed_none_of_more(make_run: MakeRun) -> None:
    """Where vCPUs bind, a second accelerator buys nothing, and it is said how many vCPUs it asks for."""
    answer, lines = answered([measured(make_run, count, vcpus) for count in (1, 2, 4) for vcpus in (0.5, 1, 1.5)])
    two = answer.accelerator_counts[1]
    assert (two.fed, two.fed_vcpus) == (False, None)
    assert two.speed_up.value < 1.1
    assert any("times as much as 1: hardly more." in line for line in lines)
    (fed,) = (line for line in lines if "fed by" in line)
    assert re.search(r"2 x emulated V100 not fed by 1\.5 vCPUs \(asks for 2\.[78] to (2\.9|3|3\.1) vCPUs\)", fed)


def bare(make_run: MakeRun, count: int, batch: int, rate: float, outcome: Outcome = Outcome.COMPLETED) -> Run:
    """A run with two vCPUs of which nothing is accounted."""
    run = make_run(rate if outcome is Outcome.COMPLETED else None, 2.0, batch=batch, device=V100, outcome=outcome)
    return replace(
        run, spec=replace(run.spec, gpu_count=count), configuration=replace(run.configuration, gpu_count=count)
    )


def test_counts_with_which_no_run_completed_are_named(make_run: MakeRun) -> None:
    """With how they ended."""
    runs = [measured(make_run, 1, vcpus) for vcpus in (1, 2, 4)]
    runs += [bare(make_run, 2, 32, 0.0, Outcome.CRASHED)]
    answer, lines = answered(runs)
    assert answer.accelerator_counts == ()
    assert lines[0].startswith("What 2 accelerators make is not known: no run with as many completed (1 crashed).")


def test_two_counts_at_one_place_are_compared_though_there_is_no_model(make_run: MakeRun) -> None:
    """Their runs say what the second one buys."""
    answer, _lines = answered([bare(make_run, count, 32, rate) for count, rate in ((1, 300), (2, 570))])
    one, two = answer.accelerator_counts
    assert two.speed_up.value == pytest.approx(1.9, rel=0.05)
    assert one.count == 1
    assert answer.accelerator_counts_missing == ()


# Several kinds and counts of accelerators: what is recommended was measured, and machines and prices match it.


Ask = Callable[..., Answer]
CUDA_V100 = Device("cuda", gpu="V100")


@pytest.fixture
def on(make_run: MakeRun) -> Callable[..., Run]:
    """A run on so many accelerators of a kind; None is the kind of the device."""

    def on(rate: float, vcpus: float, count: int, gpu: str | None = None) -> Run:
        run = make_run(rate, vcpus, device=CUDA_V100)
        return replace(run, configuration=replace(run.configuration, gpu=gpu, gpu_count=count))

    return on


def rate(vcpus: float, ceiling: float) -> float:
    return float(((60 * vcpus) ** -8 + ceiling**-8) ** (-1 / 8))


def test_the_count_is_part_of_the_spec_and_of_the_price(on: Callable[..., Run], ask: Ask) -> None:
    """One makes the work cheapest; of two the rate is asked for, on machines that have at least two of that kind."""
    tops = {1: 300, 2: 590, 4: 600}
    runs = [on(rate(c, top), c, n) for c in (2, 4, 8, 16, 32) for n, top in tops.items()]
    one, two = ask(runs), ask(runs, at_least=400.0)
    assert (one.spec.vcpus, one.spec.gpu, one.spec.gpu_count) == (8, "V100", 1)
    assert (two.spec.vcpus, two.spec.gpu, two.spec.gpu_count) == (16, "V100", 2)
    assert two.instances
    assert all(offer.gpu == "V100" and offer.gpu_count >= 2 for offer in two.instances)
    assert any(
        rejection.spec.gpu_count == 1 and "that it reaches 400 images/s" in rejection.why for rejection in two.rejected
    )
    assert any("2 x V100" in reason and "the same work costs" in reason for reason in one.reasons)


def test_a_kind_without_a_price_is_not_the_cheapest(on: Callable[..., Run], ask: Ask) -> None:
    """The one with a price is taken, even where the other is faster; of the fastest it is said that its price lacks."""
    alike = [on(rate(c, 300), c, 1, gpu) for c in (2, 4, 8, 16, 32) for gpu in ("V100", "Z9000")]
    spec = ask(alike).spec
    assert spec.gpu == "V100"
    faster = [on(rate(c, top), c, 1, gpu) for c in (2, 4, 8, 16, 32) for gpu, top in (("V100", 300), ("Z9000", 700))]
    cheapest, fastest = ask(faster), ask(faster, "fastest")
    assert cheapest.spec.gpu == "V100"
    assert "Not ranked by cost for lack of a known price: 5 of 10 machines." in cheapest.reasons
    assert fastest.spec.gpu == "Z9000"
    nearly = "It is the smallest of those within 1 % of the fastest of 10 machines measured; its price is not known."
    assert nearly in fastest.reasons
    assert fastest.instances == ()


@pytest.mark.parametrize(
    ("asked_gpus", "device", "words"),
    [
        (Gpus("V100", 2), None, "2 x V100"),
        (Gpus(None, 4), CUDA_V100, "4 x V100"),
        (Gpus(None, 1), Device("cuda"), "1 accelerator"),
        (Gpus(None, 0), Device("emulated", gpu="P100"), "1 x emulated P100"),
        (Gpus("emulated:P100", 1), None, "1 x emulated P100"),
        (Gpus("cpu", 0), CUDA_V100, "no accelerator"),
    ],
)
def test_names(asked_gpus: Gpus, device: Device | None, words: str) -> None:
    """What was emulated says so, a number agrees with its noun."""
    assert accelerators_name(asked_gpus.gpu, asked_gpus.count, device) == words


# An answer holds for what a GPU may make whose rate was not published for it.


EMULATED_RATE, EMULATED_CORE_SECONDS = 300.0, 0.004
SOURCE = "transferred from A100: a benchmark"
EMULATED_V100 = Device(
    "emulated", 0, "V100", EMULATED_RATE, "a benchmark", rate_low=200.0, rate_high=450.0, rate_basis="published"
)
GUESSED = replace(EMULATED_V100, source=SOURCE, rate_low=150.0, rate_high=600.0, rate_basis="transferred")


def emulated_measured(make_run: MakeRun, device: Device, vcpus: float, batch: int = 32, count: int = 1) -> Run:
    ceiling = (device.at_batch(batch).samples_per_second or 0.0) * (device.speed_up(count) or 1.0)
    cpu = vcpus / EMULATED_CORE_SECONDS
    rate = (ceiling**-8 + cpu**-8) ** (-1 / 8)
    used = Demand(core_seconds=EMULATED_CORE_SECONDS, accelerator_seconds=count / ceiling)
    run = make_run(rate, vcpus, device=device, demand=used, batch=batch)
    if count > 1:
        spec, place = replace(run.spec, gpu_count=count), replace(run.configuration, gpu_count=count)
        run = replace(run, spec=spec, configuration=place)
    return run


def emulated_answered(runs: list[Run], deadline: Deadline | None = None) -> tuple[Answer, list[str]]:
    model = fit(runs)
    answer = recommend(model, runs, Objective(deadline=deadline), stored_catalog()).workloads[0]
    return answer, reason_sentences(answer.reasons, terms_of(model.workload("train")))


def curve(make_run: MakeRun, device: Device, vcpus: tuple[float, ...] = (0.5, 1, 2, 4)) -> list[Run]:
    return [emulated_measured(make_run, device, vcpu) for vcpu in vcpus]


def test_a_transferred_rate_widens_the_answer(make_run: MakeRun) -> None:
    """The throughput reaches from what the slowest to what the fastest such GPU would give with these vCPUs."""
    answer, sentences = emulated_answered(curve(make_run, GUESSED))
    assert answer.throughput.low == pytest.approx(150, rel=0.1)
    assert answer.throughput.high == pytest.approx(600, rel=0.1)
    assert (
        "Each step waits for as long as the emulated V100 takes: 300 images/s (150 to 600), transferred from A100: a "
        "benchmark."
    ) in sentences


def test_a_size_that_a_faster_gpu_would_starve_is_not_taken(make_run: MakeRun) -> None:
    """Two vCPUs feed 300 images/s, and not the 600 that it may make, which four do."""
    sure, _ = emulated_answered(curve(make_run, EMULATED_V100))
    answer, _said = emulated_answered(curve(make_run, GUESSED))
    assert (sure.spec.vcpus, answer.spec.vcpus) == (2, 4)
    (two,) = (rejection for rejection in answer.rejected if rejection.spec.vcpus == 2)
    assert [reason.code for reason in two.why] == [ReasonCode.GIVES]
    assert two.why[0].number("probability") < 0.9


def test_a_deadline_counts_with_the_interval(make_run: MakeRun) -> None:
    """A job that just fits on paper may be late."""
    deadline = Deadline(250 * 3600.0, 3600.0)
    sure, _ = emulated_answered(curve(make_run, EMULATED_V100), deadline)
    answer, sentences = emulated_answered(curve(make_run, GUESSED), deadline)
    assert answer.job.probability < sure.job.probability
    assert answer.job.seconds.high > 1.5 * sure.job.seconds.high
    assert answer.probability == answer.job.probability
    (takes,) = (reason for reason in answer.reasons if reason.code is ReasonCode.JOB_TAKES)
    assert (takes.number("high"), takes.number("probability")) == (answer.job.seconds.high, answer.job.probability)
    assert any(f"take {format_seconds(takes.number('seconds'))} (" in sentence for sentence in sentences)


def test_the_vcpus_of_a_ceiling_are_those_of_the_batch_asked_about(make_run: MakeRun) -> None:
    """A large batch is computed faster, so it asks for more vCPUs than the usual one."""
    rates = {16: 150.0, 64: 300.0, 256: 400.0}
    given = tuple(BatchRate(size, rate, "a test") for size, rate in rates.items())
    device = replace(EMULATED_V100, batch_rates=given, samples_per_second=300.0)
    runs = [emulated_measured(make_run, device, vcpus, batch) for batch in rates for vcpus in (0.5, 1.0, 2.0, 4.0)]
    model = fit(runs).workload("train")
    for batch, rate in rates.items():
        asked = vcpus_of_ceiling(model, Configuration(2.0, 8 * 2**30, "host", batch))
        assert asked.value == pytest.approx(rate * EMULATED_CORE_SECONDS, rel=0.12)


# Which batch size is recommended: nearly the best rate, in memory that is known to hold it.


CPU = """workload,device,vcpus,memory_gib,batch_size,throughput,sample_unit,peak_anonymous_gib,outcome
job,cpu,2,4,8,80,image,1.0,
job,cpu,2,4,8,81,image,1.0,
job,cpu,2,4,32,99,image,1.6,
job,cpu,2,4,32,100,image,1.6,
job,cpu,2,4,128,101,image,3.0,
job,cpu,2,4,128,100,image,3.0,
job,cpu,2,2,8,80,image,1.0,
job,cpu,2,2,32,99,image,1.6,
job,cpu,2,2,128,,image,,out_of_memory
"""


def answer_of(runs: tuple[Run, ...]) -> Answer:
    model = fit(runs)
    (answer,) = recommend(model, runs, Objective(), stored_catalog()).workloads
    return answer


def batch_lines(runs: tuple[Run, ...]) -> list[str]:
    model = fit(runs)
    answer = answer_of(runs)
    assert answer.batch is not None
    return batch_sentences(answer.batch, terms_of(model.workload("job")))


def test_the_smallest_batch_that_is_enough_is_recommended(tmp_path: Path) -> None:
    """With the line of its step, what is known to fit, and the curve at the answer first."""
    runs = runs_of(tmp_path, CPU)
    batch = answer_of(runs).batch
    assert batch.batch_size == 32
    assert len(batch.curves) == 2
    assert batch.curves[0].best == 128
    assert (batch.largest.batch_size, batch.largest.too_large, batch.largest.memory_bytes) == (32, 128, 2 * GIB)
    first, *_ = batch_lines(runs)
    assert first == "A batch of 32 is the smallest measured within 5 % of the best rate (100 images/s at 128)."


def test_a_batch_that_does_not_fit_is_not_recommended(tmp_path: Path) -> None:
    """It completed once, and ran out of memory another time with as much: the next smaller one is."""
    runs = runs_of(tmp_path, CPU)
    four = [run for run in runs if run.configuration.memory_bytes == 4 * GIB]
    flaky = next(run for run in four if run.configuration.batch_size == 32)
    error = Failure(Cause(CauseKind.MEMORY_CAP), where=MemoryPlace.HOST)
    killed = replace(flaky, outcome=Outcome.OUT_OF_MEMORY, throughput=None, error=error)
    batch = answer_of((*four, killed)).batch
    assert batch.batch_size == 8
    assert "A batch of 8 is the largest measured that is known to fit." in batch_lines((*four, killed))


def test_runs_of_a_search_change_no_answer(tmp_path: Path) -> None:
    """They say which batch fits, and count for no rate and no size of memory."""
    runs = tuple(run for run in runs_of(tmp_path, CPU) if run.configuration.memory_bytes == 4 * GIB)
    own = answer_of(runs)
    last = runs[-1]
    spec = replace(last.spec, batch_size=256, purpose=Purpose.BATCH_SEARCH)
    place = replace(last.configuration, batch_size=256)
    error = Failure(Cause(CauseKind.MEMORY_CAP), where=MemoryPlace.HOST)
    started = "2026-11-21T10:00:00+00:00"
    searched = replace(
        last, spec=spec, configuration=place, outcome=Outcome.OUT_OF_MEMORY, throughput=None, error=error,
        started_at=started,
    )  # fmt: skip
    held = replace(last, spec=replace(spec, batch_size=192), configuration=replace(place, batch_size=192))
    answer = answer_of((*runs, replace(held, started_at=started), searched))
    assert replace(answer, batch=None, rejected=()) == replace(own, batch=None, rejected=())
    assert (answer.batch.largest.batch_size, answer.batch.largest.too_large) == (192, 256)
    assert answer.batch.curves == (own.batch.curves if own.batch is not None else None)


@pytest.mark.parametrize(("killed", "rises", "twice"), [(None, True, True), (40, True, False), (36, False, False)])
def test_no_larger_batch_is_advised_than_fits(
    make_run: Callable[..., Run], killed: int | None, rises: bool, twice: bool
) -> None:
    """Where the rate still rises with the batch: nothing is said of one that is known to run out of memory."""
    sizes = (1.0, 2.0, 4.0, 8.0)
    rates = ((8, 40.0), (16, 70.0), (32, 110.0))
    runs = [make_run(rate * min(vcpus, 4), vcpus, batch=size) for size, rate in rates for vcpus in sizes]
    if killed is not None:
        runs += [make_run(None, vcpus, batch=killed, outcome=Outcome.OUT_OF_MEMORY) for vcpus in sizes]
    advice = [
        reason
        for reason in answer_of(tuple(runs)).reasons
        if reason.code is ReasonCode.RISES and reason.has("batch_size")
    ]
    assert bool(advice) is rises
    here = Configuration(8.0, 8 * GIB, "host", 32)
    advised = {change.kind for change in changes(fit(runs).workload("train"), runs, here)}
    assert (ChangeKind.BATCH in advised) is twice


@pytest.mark.parametrize("unit", ["image", "relative"])
def test_relative_rates_have_no_time(tmp_path: Path, unit: str) -> None:
    runs = tuple(replace(run, sample_unit=unit) for run in runs_of(tmp_path, CPU))
    assert any("a step takes" in sentence.lower() for sentence in batch_lines(runs)) is (unit == "image")


@pytest.mark.parametrize(
    ("most", "ending"),
    [
        ({"job": 256}, "that was the largest to be tried"),
        ({"job": 512}, "the search is not finished"),
        (None, "the search is not finished"),
    ],
)
def test_a_search_that_went_as_far_as_it_was_to_is_finished(
    tmp_path: Path, most: dict[str, int] | None, ending: str
) -> None:
    """The largest that was to be tried held: that is no search broken off."""
    runs = tuple(run for run in runs_of(tmp_path, CPU) if run.configuration.memory_bytes == 4 * GIB)
    spec = replace(runs[-1].spec, batch_size=256, purpose=Purpose.BATCH_SEARCH)
    held = replace(
        runs[-1], spec=spec, configuration=replace(runs[-1].configuration, batch_size=256), started_at="2026-11-21"
    )
    model = fit((*runs, held))
    (answer,) = recommend(model, (*runs, held), Objective(), stored_catalog(), most_batches=most).workloads
    assert answer.batch is not None
    assert batch_sentences(answer.batch, terms_of(model.workload("job")))[-1].endswith(f"{ending}.")
