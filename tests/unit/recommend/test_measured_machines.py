"""Machines compared as they were measured: what is likely enough, what is surer, and what is only named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.candidates import machines_to_compare
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.words.answers import main_sentences
from sizer.words.names import Terms
from sizer.words.reasons import reason_sentences

Asked = Callable[..., Answer]


def _said(answer: Answer) -> list[str]:
    return reason_sentences(answer.reasons, Terms(answer.sample_unit))


def _codes(answer: Answer) -> list[ReasonCode]:
    return [reason.code for reason in answer.reasons]


NAMES = """
    instance_type,usd_per_hour,img/s
    lambda-a10,0.60,300
    runpod-4090,0.44,620
    lambda-a100,1.29,800
    lambda-h100,2.49,1500
"""


LATENCIES = """
    workload,gpu,batch_size,latency_p99_ms,throughput,usd_per_hour
    bert,T4,1,10.2,123,0.526
    bert,T4,4,24,210,0.526
    bert,A10G,1,4.9,250,1.006
    bert,A10G,4,9.6,506,1.006
    bert,L4,1,6.5,192,0.8048
    bert,L4,4,12,412,0.8048
"""


def test_a_rate_that_is_likely_given_is_provisional(ask_table: Asked) -> None:
    answer = ask_table("gpu,throughput,usd_per_hour\nT4,102,0.5\nV100,400,3.0", at_least=100.0)
    assert (answer.spec.gpu, answer.provisional) == ("T4", True)
    assert _codes(answer)[:2] == [ReasonCode.GIVES, ReasonCode.BESIDE]
    assert answer.next_run.why.spec == answer.spec


@pytest.mark.parametrize("rivals", [1, 4, 12])
def test_many_that_cost_nearly_alike_leave_more_doubt_than_one(ask_table: Asked, rivals: int) -> None:
    """That none is 5 % cheaper is of all of them together: each may be the one that is."""
    one, many = (
        ask_table("\n".join(["gpu,throughput,usd_per_hour", "T4,100,1.0", *(f"G{n},300,3.06" for n in range(count))]))
        for count in (1, rivals)
    )
    assert one.spec == many.spec
    assert many.probability <= one.probability
    assert many.probability < one.probability - 0.02 or rivals == 1


def test_the_next_machine_is_next_by_the_objective(ask_table: Asked) -> None:
    rows = """
        gpu,gpu_count,throughput,usd_per_hour
        V100,1,100,3
        V100,4,310,12
        A100,4,325,13
        H100,1,90,0.9
    """
    nexts = {}
    for prefer in ("cheapest", "fastest"):
        found = next(reason for reason in ask_table(rows, prefer).reasons if reason.text("role") == "next")
        nexts[prefer] = (found.spec.gpu, found.spec.gpu_count)
    assert nexts == {"cheapest": ("V100", 1), "fastest": ("V100", 4)}


def test_the_interconnect_is_named_where_synthetic_rows_show_it(ask_table: Asked) -> None:
    """Eight accelerators lose a third of their rate without any input: no faster input would give it back."""
    rows = """
        gpu,gpu_count,input,throughput,usd_per_hour
        V100,1,synthetic,400,3
        V100,4,synthetic,1500,12
        V100,8,synthetic,2100,24
        V100,1,real,390,3
        V100,4,real,1450,12
        V100,8,real,2050,24
    """
    answer = ask_table(rows, "fastest")
    reason = next(reason for reason in answer.reasons if reason.code is ReasonCode.HELD_BACK)
    assert reason.figures == {"share": pytest.approx(2100 / 3200), "gpu_count": 8.0, "fewer": 1.0}
    linear = ask_table(rows.replace("2100", "3100").replace("2050", "3000"), "fastest")
    assert ReasonCode.HELD_BACK not in _codes(linear)
    fed = ask_table(rows.replace("2050", "1500"), "fastest")
    assert any("the input holds them back" in each for each in _said(fed))


def test_a_baseline_that_is_named_is_compared(ask_table: Asked) -> None:
    rows = "instance_type,throughput\ng4dn.xlarge,200\ng5.xlarge,410\ng6e.xlarge,520"
    said = " ".join(_said(ask_table(rows, baseline="aws g6e.xlarge")))
    assert (
        "The baseline is 4 vCPUs, 1 x L40S, 32 GiB (aws g6e.xlarge): 127 % as fast; the same work costs 146 %" in said
    )
    assert "p5.48xlarge cannot be compared" in " ".join(_said(ask_table(rows, baseline="aws p5.48xlarge")))


@pytest.mark.parametrize("objective", [{}, {"prefer": "fastest"}, {"at_least": 240.0}, {"latency_p99": 0.010}])
def test_three_reasons_are_said(ask_table: Asked, objective: dict[str, object]) -> None:
    answer = ask_table(LATENCIES, **objective)
    assert len(main_sentences(answer, Terms(answer.sample_unit))) <= 3


def test_a_balanced_question_with_a_rate_counts_cost_alone(ask_table: Asked) -> None:
    """The rate takes the place of the balance, in the choice and in its probability."""
    rows = "gpu,throughput,usd_per_hour\nT4,102,0.5\nA10G,210,1.0\nV100,400,3.0"
    balanced, cheapest = (ask_table(rows, prefer, at_least=90.0) for prefer in ("balanced", "cheapest"))
    assert (balanced.spec, balanced.probability) == (cheapest.spec, cheapest.probability)
    assert Objective("balanced", at_least=90.0).counts == "cheapest"


@pytest.mark.parametrize("nothing", ["-", "N/A", "no GPU", "CPU only", "none", "0"])
def test_a_cell_that_says_no_gpu_names_none(ask_table: Asked, nothing: str) -> None:
    answer = ask_table(f"workload,vcpus,gpu,throughput\nj,4,T4,100\nj,4,{nothing},90")
    assert (answer.spec.vcpus, answer.spec.gpu, answer.provisional) == (4, None, False)


def test_balanced_asks_for_more_accelerators_where_they_made_it_better(ask_table: Asked) -> None:
    """The work cost no less with four than with one, but price times time fell: eight are sold and may be better."""
    answer = ask_table("gpu,gpu_count,throughput\nV100,1,400\nV100,2,780\nV100,4,1500", "balanced")
    assert answer.status == "at_least"
    assert answer.next_run.gpu_count == 8


def drifting_comparison(make_run: Callable[..., Run]) -> list[Run]:
    """A job that the CPU binds on two kinds of GPU alike, at 1 to 4 vCPUs; the host slows down by a fifth between the
    runs on one and those on the other, which a reference of another workload shows."""
    began, found = datetime(2026, 11, 23, tzinfo=timezone.utc), []
    for number in range(26):
        slow = 1.0 if number < 12 else 1 / 1.2
        if number % 2 == 0:
            run = make_run(100 * slow, 2.0, name="reference", repeat=number, spread=0.005)
        else:
            vcpus = (1.0, 2.0, 4.0)[number // 2 % 3]
            gpu = Device("emulated", gpu="T4" if number < 12 else "V100", samples_per_second=900.0)
            run = make_run(90 * vcpus * slow, vcpus, device=gpu, repeat=number // 2 // 3, spread=0.005)
            run = replace(run, configuration=replace(run.configuration, gpu=gpu.gpu, gpu_count=1))
        found.append(replace(run, started_at=(began + timedelta(minutes=number)).isoformat()))
    return found


def test_machines_that_sizer_measured_are_compared_on_the_host_as_it_usually_was(
    make_run: Callable[..., Run], catalog: Catalog
) -> None:
    """By the rates that the model was fitted to, and how sure these are: more than half of the drift is gone."""
    runs = drifting_comparison(make_run)
    own = [run for run in runs if run.spec.workload.name == "train"]
    model = next(workload for workload in fit(runs).workloads if workload.name == "train")
    machines = {
        (candidate.accelerators.gpu, candidate.place.vcpus): candidate
        for candidate in machines_to_compare(model, own, Objective(), catalog)
    }
    for vcpus in (1.0, 2.0, 4.0):
        assert 0.9 < machines["V100", vcpus].rate / machines["T4", vcpus].rate < 1.02
    raw = {each.configuration.gpu: each for each in own if each.configuration.vcpus == 2.0 and each.throughput}
    assert raw["V100"].throughput.value / raw["T4"].throughput.value == pytest.approx(1 / 1.2, abs=0.001)
