"""An answer holds for what a GPU may make whose rate was not published for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.exchange.published import recommendation_form
from sizer.model.edge import vcpus_of_ceiling
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Configuration
from sizer.records.device import BatchRate, Device
from sizer.records.prediction import ReasonCode
from sizer.records.run import Demand, Run
from sizer.records.study import Deadline, Objective
from sizer.records.units import format_seconds
from sizer.words.names import Terms, terms_of
from sizer.words.reasons import reason_sentence, reason_sentences
from tests.tables import stored_catalog

MakeRun = Callable[..., Run]
RATE, CORE_SECONDS = 300.0, 0.004
SOURCE = "transferred from A100: a benchmark"
V100 = Device("emulated", 0, "V100", RATE, "a benchmark", rate_low=200.0, rate_high=450.0, rate_basis="published")
GUESSED = replace(V100, source=SOURCE, rate_low=150.0, rate_high=600.0, rate_basis="transferred")


def measured(make_run: MakeRun, device: Device, vcpus: float, batch: int = 32, count: int = 1) -> Run:
    ceiling = (device.at_batch(batch).samples_per_second or 0.0) * (device.speed_up(count) or 1.0)
    cpu = vcpus / CORE_SECONDS
    rate = (ceiling**-8 + cpu**-8) ** (-1 / 8)
    used = Demand(core_seconds=CORE_SECONDS, accelerator_seconds=count / ceiling)
    run = make_run(rate, vcpus, device=device, demand=used, batch=batch)
    if count > 1:
        spec, place = replace(run.spec, gpu_count=count), replace(run.configuration, gpu_count=count)
        run = replace(run, spec=spec, configuration=place)
    return run


def answered(runs: list[Run], deadline: Deadline | None = None) -> tuple[Answer, list[str]]:
    model = fit(runs)
    answer = recommend(model, runs, Objective(deadline=deadline), stored_catalog()).workloads[0]
    return answer, reason_sentences(answer.reasons, terms_of(model.workload("train")))


def curve(make_run: MakeRun, device: Device, vcpus: tuple[float, ...] = (0.5, 1, 2, 4)) -> list[Run]:
    return [measured(make_run, device, each) for each in vcpus]


def test_a_published_rate_is_said_with_its_interval(make_run: MakeRun) -> None:
    """The answer is that of this rate."""
    answer, said = answered(curve(make_run, V100))
    assert answer.throughput.high < 1.1 * RATE
    assert (
        "Each step waits for as long as the emulated V100 takes: 300 images/s (200 to 450), published (a benchmark)."
    ) in said


def test_a_transferred_rate_widens_the_answer(make_run: MakeRun) -> None:
    """The throughput reaches from what the slowest to what the fastest such GPU would give with these vCPUs."""
    answer, said = answered(curve(make_run, GUESSED))
    assert answer.throughput.low == pytest.approx(150, rel=0.1)
    assert answer.throughput.high == pytest.approx(600, rel=0.1)
    assert (
        "Each step waits for as long as the emulated V100 takes: 300 images/s (150 to 600), transferred from A100: a "
        "benchmark."
    ) in said


def test_a_size_that_a_faster_gpu_would_starve_is_not_taken(make_run: MakeRun) -> None:
    """Two vCPUs feed 300 images/s, and not the 600 that it may make, which four do."""
    sure, _ = answered(curve(make_run, V100))
    answer, _said = answered(curve(make_run, GUESSED))
    assert (sure.spec.vcpus, answer.spec.vcpus) == (2, 4)
    (two,) = (each for each in answer.rejected if each.spec.vcpus == 2)
    assert [each.code for each in two.why] == [ReasonCode.GIVES]
    assert two.why[0].number("probability") < 0.9


def test_a_smaller_size_at_the_same_price_that_is_less_sure_says_so(make_run: MakeRun) -> None:
    """Nothing is saved by it, and that it costs as much is no reason: how sure each is to be fast enough is one."""
    answer, _said = answered(curve(make_run, replace(GUESSED, rate_low=200.0, rate_high=450.0)))
    assert answer.spec.vcpus == 4
    (two,) = (each for each in answer.rejected if each.spec.vcpus == 2)
    (why,) = two.why
    assert why.has("same_price")
    assert 0.9 < why.number("probability") < why.number("chosen_probability")
    told = reason_sentence(why, Terms("train", "image"))
    assert told.startswith("At the same price the answer is surer to be fast enough: its probability is ")


def test_a_deadline_counts_with_the_interval(make_run: MakeRun) -> None:
    """A job that just fits on paper may be late."""
    deadline = Deadline(250 * 3600.0, 3600.0)
    sure, _ = answered(curve(make_run, V100), deadline)
    answer, said = answered(curve(make_run, GUESSED), deadline)
    assert answer.job.probability < sure.job.probability
    assert answer.job.seconds.high > 1.5 * sure.job.seconds.high
    assert answer.probability == answer.job.probability
    (told,) = (reason for reason in answer.reasons if reason.code is ReasonCode.JOB_TAKES)
    assert (told.number("high"), told.number("probability")) == (answer.job.seconds.high, answer.job.probability)
    assert any(f"take {format_seconds(told.number('seconds'))} (" in each for each in said)


def test_nothing_is_too_late_that_a_faster_gpu_would_finish(make_run: MakeRun) -> None:
    """By this rate it is; the time reaches down to what the fastest such GPU takes, and the rate is said."""
    deadline = Deadline(400 * 3600.0, 3600.0)
    sure, _ = answered(curve(make_run, V100), deadline)
    answer, said = answered(curve(make_run, GUESSED), deadline)
    assert (sure.status, answer.status) == ("refused", "refused")
    assert answer.job.seconds.low < 3600 < sure.job.seconds.low
    assert answer.job.probability > sure.job.probability
    (late,) = (reason for reason in answer.reasons if reason.code is ReasonCode.NONE_ENOUGH)
    assert (late.number("low"), late.number("probability")) == (answer.job.seconds.low, answer.job.probability)
    assert any("300 images/s (150 to 600), transferred from A100" in each for each in said)


def test_several_of_them_are_fed_where_the_fastest_would_be(make_run: MakeRun) -> None:
    """Twice the rate asks for twice the vCPUs."""
    device = replace(GUESSED, scaling_loss=0.02, scaling_source="a test")
    runs = [measured(make_run, device, vcpus, count=count) for count in (1, 2) for vcpus in (1.0, 2.0, 4.0, 8.0)]
    answer, _said = answered(runs)
    one, two = answer.accelerator_counts
    assert one.asked_vcpus.high == pytest.approx(2.4, rel=0.1)
    assert one.fed_vcpus == 2
    assert two.speed_up.low <= two.speed_up.value <= two.speed_up.high
    assert two.throughput.high > 1.5 * two.throughput.value


def test_the_vcpus_of_a_ceiling_are_those_of_the_batch_asked_about(make_run: MakeRun) -> None:
    """A large batch is computed faster, so it asks for more vCPUs than the usual one."""
    rates = {16: 150.0, 64: 300.0, 256: 400.0}
    given = tuple(BatchRate(size, rate, "a test") for size, rate in rates.items())
    device = replace(V100, batch_rates=given, samples_per_second=300.0)
    runs = [measured(make_run, device, vcpus, batch) for batch in rates for vcpus in (0.5, 1.0, 2.0, 4.0)]
    model = fit(runs).workload("train")
    for batch, rate in rates.items():
        asked = vcpus_of_ceiling(model, Configuration(2.0, 8 * 2**30, "host", batch))
        assert asked.value == pytest.approx(rate * CORE_SECONDS, rel=0.12)


def test_a_program_reads_the_rate_with_its_interval(make_run: MakeRun) -> None:
    """Beside the answer in recommendation.json."""
    runs = curve(make_run, GUESSED)
    model = fit(runs)
    form = recommendation_form(recommend(model, runs, Objective(), stored_catalog()), model)
    rate = form["workloads"][0]["emulated_rate"]
    assert (rate["low"], rate["high"], rate["basis"], rate["source"]) == (150.0, 600.0, "transferred", SOURCE)
    assert form["workloads"][0]["accelerator_counts_missing"] == []
