"""Machines compared as they were measured: what is likely enough, what is surer, and what is only named."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.recommend.machines import machines_to_compare
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.words.answers import main_sentences, reason_sentences
from sizer.words.names import Terms

Asked = Callable[..., Answer]


def _said(answer: Answer) -> list[str]:
    return reason_sentences(answer, Terms(answer.sample_unit))


def _codes(answer: Answer) -> list[ReasonCode]:
    return [reason.code for reason in answer.reasons]


NAMES = """
    instance_type,usd_per_hour,img/s
    lambda-a10,0.60,300
    runpod-4090,0.44,620
    lambda-a100,1.29,800
    lambda-h100,2.49,1500
"""


def test_machines_that_are_only_named_may_have_any_accelerator(ask_table: Asked) -> None:
    """Nothing says that they are of one kind, so none is too slow beside another, and the least cost is taken."""
    answer = ask_table(NAMES)
    assert answer.instances[0].instance_type == "runpod-4090"
    assert answer.status == "recommended"


LATENCIES = """
    workload,gpu,batch_size,latency_p99_ms,throughput,usd_per_hour
    bert,T4,1,10.2,123,0.526
    bert,T4,4,24,210,0.526
    bert,A10G,1,4.9,250,1.006
    bert,A10G,4,9.6,506,1.006
    bert,L4,1,6.5,192,0.8048
    bert,L4,4,12,412,0.8048
"""


def test_a_latency_that_is_likely_kept_is_provisional_and_the_surer_machine_is_named(ask_table: Asked) -> None:
    answer = ask_table(LATENCIES, latency_p99=0.010)
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.spec.batch_size, answer.provisional) == ("A10G", 4, True)
    assert 0.5 < (answer.probability or 0) < 0.9
    surer = next(reason for reason in answer.reasons if reason.text("role") == "surer")
    assert surer.spec is not None
    assert (surer.spec.gpu, surer.spec.batch_size) == ("L4", 1)
    assert "2.11 times the cost of the same work" in _said(answer)[1]


def test_a_machine_that_is_sure_is_taken_where_it_costs_next_to_no_more(ask_table: Asked) -> None:
    """The L4 at batch 4 takes 12 of 12.2 ms, the A10G 9.6 at 2 % more."""
    answer = ask_table(LATENCIES, latency_p99=0.0122)
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.spec.batch_size) == ("A10G", 4)
    assert "the least of those that are surely enough" in _said(answer)[0]


def test_a_rate_that_is_likely_given_is_provisional(ask_table: Asked) -> None:
    answer = ask_table("gpu,throughput,usd_per_hour\nT4,102,0.5\nV100,400,3.0", at_least=100.0)
    assert answer.spec is not None
    assert (answer.spec.gpu, answer.provisional) == ("T4", True)
    assert _codes(answer)[:2] == [ReasonCode.GIVES, ReasonCode.BESIDE]
    assert answer.next_run is not None
    assert answer.next_run.why is not None
    assert answer.next_run.why.spec == answer.spec


@pytest.mark.parametrize("rivals", [1, 4, 12])
def test_many_that_cost_nearly_alike_leave_more_doubt_than_one(ask_table: Asked, rivals: int) -> None:
    """That none is 5 % cheaper is of all of them together: each may be the one that is."""
    one, many = (
        ask_table("\n".join(["gpu,throughput,usd_per_hour", "T4,100,1.0", *(f"G{n},300,3.06" for n in range(count))]))
        for count in (1, rivals)
    )
    assert one.spec is not None
    assert one.probability is not None
    assert many.probability is not None
    assert one.spec == many.spec
    assert many.probability <= one.probability
    assert many.probability < one.probability - 0.02 or rivals == 1


@pytest.mark.parametrize("second", [6900, 60])
def test_a_rate_that_does_not_go_with_its_neighbour_is_named(ask_table: Asked, second: int) -> None:
    """Two accelerators are not twenty times as fast as one, nor a fifth."""
    rows = f"gpu,gpu_count,throughput\nV100,1,350\nV100,2,{second}\nV100,4,1350\nV100,8,2600"
    answer = ask_table(rows)
    assert answer.provisional
    assert _codes(answer)[0] is ReasonCode.RUNS_APART
    assert "looks like a slip: 2 x V100" in _said(answer)[0] or second < 350


def test_accelerators_that_scale_as_they_do_are_no_slip(ask_table: Asked) -> None:
    answer = ask_table("gpu,gpu_count,throughput\nV100,1,350\nV100,8,2600")
    assert ReasonCode.RUNS_APART not in _codes(answer)


def test_what_costs_much_less_below_the_target_is_named(ask_table: Asked) -> None:
    """The target keeps the largest machine for 7 %; who pays for it is told what less costs."""
    rows = "workload,instance_type,throughput\nt,g4dn.xlarge,100\nt,g4dn.2xlarge,101\nt,g4dn.16xlarge,107"
    answer = ask_table(rows)
    assert answer.instances[0].instance_type == "g4dn.16xlarge"
    assert answer.status == "recommended"
    (said,) = [each for each in _said(answer) if "--target" in each]
    assert "(aws g4dn.2xlarge), 94 % as fast; --target 0.94 accepts that" in said
    taken = ask_table(rows, target=0.93)
    assert taken.instances[0].instance_type == "g4dn.xlarge"


def test_the_only_machine_with_a_price_is_provisional(ask_table: Asked) -> None:
    rows = """
        workload,instance_type,region,usd_per_hour,throughput
        r,g5.xlarge,eu-west-1,,300
        r,g6.xlarge,eu-west-1,,250
        r,p3dn.24xlarge,us-east-1,,420
    """
    answer = ask_table(rows)
    assert answer.provisional
    assert "the only machine with a known price" in _said(answer)[0]
    assert answer.next_run is not None
    assert answer.next_run.column == "usd_per_hour"
    fastest = ask_table(rows, "fastest")
    assert not fastest.provisional
    assert "fastest of 3 machines measured" in _said(fastest)[0]


def test_more_accelerators_are_no_question_where_they_cost_more_at_best(ask_table: Asked) -> None:
    """16 A100 are sold at more than twice the price of 8, so the work cannot cost less on them."""
    rows = "gpu,gpu_count,throughput\nA100,1,900\nA100,8,7150"
    assert ask_table(rows).status == "recommended"
    assert ask_table(rows, "fastest").status == "at_least"


def test_one_machine_at_two_prices_is_one(ask_table: Asked) -> None:
    rows = """
        instance_type,usd_per_hour,throughput
        g5.xlarge,1.006,300
        g5.xlarge,1.20,305
        g6.xlarge,0.80,250
    """
    answer = ask_table(rows, "fastest")
    assert len(answer.alternatives) == 2
    assert answer.alternatives[1].usd_per_hour == 1.006


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
        found = next(each for each in ask_table(rows, prefer).reasons if each.text("role") == "next")
        assert found.spec is not None
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
    reason = next(each for each in answer.reasons if each.code is ReasonCode.HELD_BACK)
    assert reason.figures == {"share": pytest.approx(2100 / 3200), "gpu_count": 8.0, "fewer": 1.0}
    linear = ask_table(rows.replace("2100", "3100").replace("2050", "3000"), "fastest")
    assert ReasonCode.HELD_BACK not in _codes(linear)
    fed = ask_table(rows.replace("2050", "1500"), "fastest")
    assert any("the input holds them back" in each for each in _said(fed))


def test_a_baseline_that_is_named_is_compared(ask_table: Asked) -> None:
    rows = "instance_type,throughput\ng4dn.xlarge,200\ng5.xlarge,410\ng6e.xlarge,520"
    said = " ".join(_said(ask_table(rows, machine="aws g6e.xlarge")))
    assert "The baseline is 4 vCPUs, 1 x L40S, 32 GiB (aws g6e.xlarge): 127 % as fast, 146 % the cost" in said
    assert "p5.48xlarge cannot be compared" in " ".join(_said(ask_table(rows, machine="aws p5.48xlarge")))


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
    assert answer.spec is not None
    assert (answer.spec.vcpus, answer.spec.gpu, answer.provisional) == (4, None, False)


def test_balanced_asks_for_more_accelerators_where_they_made_it_better(ask_table: Asked) -> None:
    """The work cost no less with four than with one, but price times time fell: eight are sold and may be better."""
    answer = ask_table("gpu,gpu_count,throughput\nV100,1,400\nV100,2,780\nV100,4,1500", "balanced")
    assert answer.status == "at_least"
    assert answer.next_run is not None
    assert answer.next_run.gpu_count == 8


def test_what_nobody_sells_is_not_asked_for(ask_table: Asked) -> None:
    """192 vCPUs are the most of c7i, and eight the most V100 of any machine."""
    rows = "instance_type,throughput\nc7i.24xlarge,400\nc7i.48xlarge,790"
    assert ask_table(rows).status == "recommended"
    refused = ask_table(rows, at_least=900.0)
    assert (refused.status, refused.next_run) == ("refused", None)
    assert ask_table("gpu,gpu_count,throughput\nV100,1,350\nV100,8,2600", "fastest").status == "recommended"


def test_the_front_is_of_rate_and_cost_of_the_work(ask_table: Asked) -> None:
    """A T4 costs less an hour, and its work more, than that of a faster V100."""
    answer = ask_table("gpu,gpu_count,throughput\nT4,1,200\nT4,8,1590\nV100,1,1800\nV100,4,7105")
    front = [(each.spec.gpu, each.spec.gpu_count) for each in answer.alternatives if not each.dominated]
    assert front == [("V100", 1), ("V100", 4)]


def test_of_sizes_that_rent_the_same_machine_and_are_as_fast_the_smallest_is_needed(ask_table: Asked) -> None:
    """A thousandth of a rate is chance: what the job needs is the size from which more gains nothing."""
    answer = ask_table("""
        gpu,gpu_count,vcpus,throughput,usd_per_hour
        V100,1,1,299.0,2.95
        V100,1,2,299.2,2.95
        V100,1,4,299.1,2.95
        V100,2,4,500.0,5.91
    """)
    assert answer.spec is not None
    assert (answer.spec.gpu_count, answer.spec.vcpus) == (1, 1)


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
    model = next(each for each in fit(runs).workloads if each.name == "train")
    machines = {
        (each.accelerators.gpu, each.place.vcpus): each
        for each in machines_to_compare(model, own, Objective(), catalog)
    }
    for vcpus in (1.0, 2.0, 4.0):
        assert 0.9 < machines["V100", vcpus].rate / machines["T4", vcpus].rate < 1.02
    raw = {each.configuration.gpu: each for each in own if each.configuration.vcpus == 2.0 and each.throughput}
    assert raw["V100"].throughput.value / raw["T4"].throughput.value == pytest.approx(1 / 1.2, abs=0.001)
