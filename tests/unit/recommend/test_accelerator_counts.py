"""What each number of accelerators makes of a job that was measured on several."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.model.model import Quantity
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.configuration import Bottleneck
from sizer.records.device import Device
from sizer.records.run import Demand, Evidence, EvidenceKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective
from sizer.words.accelerators import accelerator_counts_lines, accelerator_counts_note
from sizer.words.names import terms_of
from tests.tables import stored_catalog

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
def found(make_run: MakeRun) -> tuple[Answer, list[str]]:
    return answered([measured(make_run, count, vcpus) for count in (1, 2, 4) for vcpus in (1, 2, 4, 8)])


def test_it_says_where_each_number_is_fed(found: tuple[Answer, list[str]]) -> None:
    """Twice the accelerators ask for nearly twice the vCPUs."""
    counts = found[0].accelerator_counts
    assert [(count.count, count.fed_vcpus) for count in counts] == [(1, 2.0), (2, 4.0), (4, 8.0)]
    asked = [count.asked_vcpus.value for count in counts if count.asked_vcpus is not None]
    assert asked == pytest.approx([380 * 0.004, 723 * 0.004, 1410 * 0.004], rel=0.03)


def test_the_ceiling_has_the_loss(found: tuple[Answer, list[str]]) -> None:
    """n of them make n exp(-loss 2 (n - 1) / n) times the samples of one."""
    assert [count.ceiling for count in found[0].accelerator_counts] == pytest.approx([380, 722.9, 1410.2], rel=0.02)


def test_speed_up_and_efficiency_are_over_one(found: tuple[Answer, list[str]]) -> None:
    """With the most vCPUs, in intervals of two new runs."""
    one, two, four = found[0].accelerator_counts
    assert (one.speed_up.value, one.efficiency.value) == (1, 1)
    assert two.speed_up.value == pytest.approx(1.90, rel=0.02)
    assert two.speed_up.low < two.speed_up.value < two.speed_up.high
    assert four.efficiency.value == pytest.approx(four.speed_up.value / 4)


def test_jobs_side_by_side_lose_nothing_to_each_other(found: tuple[Answer, list[str]]) -> None:
    """Each of two jobs has half of the vCPUs, which feed its accelerator, and exchanges nothing."""
    one, two, _four = found[0].accelerator_counts
    assert one.side_by_side is None
    assert two.side_by_side.value == pytest.approx(760, rel=0.03)


def test_the_disk_is_asked_for_what_fed_accelerators_read(found: tuple[Answer, list[str]]) -> None:
    """Bytes of a sample, as many as they make."""
    assert [count.read_bytes for count in found[0].accelerator_counts] == pytest.approx([38e6, 72.3e6, 141e6], rel=0.02)


def test_it_is_said(found: tuple[Answer, list[str]]) -> None:
    """A line for each number, then what one more buys, where each is fed, and what is only stated."""
    lines = found[1]
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


def test_one_number_is_no_comparison(make_run: MakeRun) -> None:
    """Runs on four alone show no speed-up, and their ceiling is not taken for vCPUs that do not scale."""
    runs = [measured(make_run, 4, vcpus) for vcpus in (1, 2, 4, 8)]
    assert answered(runs)[0].accelerator_counts == ()
    model = fit(runs).workload("train")
    rate = next(parameter for parameter in model.parameters if parameter.quantity is Quantity.ACCELERATOR_RATE)
    assert rate.value == pytest.approx(RATE, rel=0.05)


def test_the_note_explains_the_columns_that_there_are(found: tuple[Answer, list[str]]) -> None:
    """A table that others measured says neither from where accelerators are fed nor what they ask of a disk."""
    counts = found[0].accelerator_counts
    note = accelerator_counts_note(counts)
    assert "Fed: they make 95 %" in note
    assert "The disk is asked for" in note
    bare = [replace(count, ceiling=None, fed=False, fed_vcpus=None, read_bytes=None, read_ios=None) for count in counts]
    assert accelerator_counts_note(bare).endswith("Intervals are those of new runs (90 %).")


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


def test_one_count_asked_for_says_nothing(make_run: MakeRun) -> None:
    """Nobody asked for a comparison."""
    answer, lines = answered([measured(make_run, 1, vcpus) for vcpus in (1, 2, 4)])
    assert (answer.accelerator_counts, answer.accelerator_counts_missing, lines) == ((), (), [])
