"""How answers are judged: the best of a table by looking at it, prices, and fleets whose truth is known."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from answers_asked import job_rows, read_table, write_table
from answers_held_out import is_between, one_at_a_time, thirds
from answers_jobs import HELD_OUT, PUBLISHED, SAME_JOB, Machine, MeasuredRow, PublishedJob, published_jobs
from answers_prices import Sold, retired_machines, sold_machines, usd_per_hour
from answers_truth import OBJECTIVES, Choice, Given, best_choice, choices, fastest_given, verdict
from fleet_machines import both, drawn_fleet

from sizer.records.configuration import Configuration

OLD, TWO_OLD, NEW, UNSOLD = Machine("K80", 1), Machine("K80", 2), Machine("V100", 1), Machine("Titan", 1)
PRICES = {OLD: 0.9, TWO_OLD: 1.8, NEW: 3.06}
ROWS = (
    MeasuredRow(OLD, 32, 50.0),
    MeasuredRow(OLD, 16, 30.0),
    MeasuredRow(TWO_OLD, 32, 90.0),
    MeasuredRow(NEW, 32, 160.0),
    MeasuredRow(NEW, 64, 164.0),
)
"""A million samples cost $5, $5.56 and $5.18 on them, in that order; cost x time favours the V100."""


def _sold(name: str, gpu: str | None, count: int, usd: float | None, memory: float | None = 16.0) -> Sold:
    return Sold("cloud", name, None, 8.0, 61.0, gpu, count, memory if gpu else None, usd)


def _found(rows: tuple[MeasuredRow, ...] = ROWS) -> list[Choice]:
    return choices(rows, PRICES.get)


def test_the_best_of_a_table_follows_from_its_rows() -> None:
    """Least dollars, least dollars x time, and of those as fast as the fastest the cheapest."""
    best = {objective: best_choice(_found(), objective) for objective in OBJECTIVES}
    assert best["cheapest"] is not None
    assert (best["cheapest"].machine, best["cheapest"].batch_size) == (OLD, 32)
    assert best["cheapest"].usd_per_million == pytest.approx(5.0)
    assert best["balanced"] is not None
    assert (best["balanced"].machine, best["balanced"].batch_size) == (NEW, 64)
    assert best["fastest"] is not None
    assert best["fastest"].machine == NEW


def test_a_batch_size_that_loses_rate_is_below_its_own_machines_target() -> None:
    """Cheapest keeps 95 % of the best of its own GPU kind and count."""
    wrong = verdict(_found(), "cheapest", Given("K80", 1, batch_size=16))
    assert not wrong.right
    assert "below 95%" in wrong.reason


def test_an_answer_within_five_percent_is_right() -> None:
    """A V100 costs 3.6 % more for the work than a K80, and is right; two K80s cost 11 % more, and are not."""
    assert verdict(_found(), "cheapest", Given("V100", 1, batch_size=64)).right
    assert not verdict(_found(), "cheapest", Given("K80", 2, batch_size=32)).right


def test_what_is_not_in_the_table_is_wrong_and_so_is_a_refusal() -> None:
    """Eight of an accelerator of which two were measured, no accelerator at all, and no answer."""
    for given in (Given("K80", 8), Given(vcpus=8.0), Given("V100", 1, batch_size=128), Given(refused="why")):
        assert not verdict(_found(), "fastest", given).right


def test_without_a_price_the_fastest_is_right_or_the_word_that_prices_are_unknown() -> None:
    """A machine without a price is never the cheapest where another has one."""
    rows = (MeasuredRow(UNSOLD, 32, 200.0), MeasuredRow(Machine("Titan", 2), 32, 300.0))
    assert verdict(choices(rows, PRICES.get), "cheapest", Given("Titan", 1, batch_size=32)).right
    assert not verdict(choices(rows, PRICES.get), "cheapest", Given("Titan", 1, batch_size=32, priced=True)).right
    assert verdict(choices(rows, PRICES.get), "cheapest", Given("Titan", 2, batch_size=32, priced=True)).without_price
    some = choices((*ROWS, rows[0]), PRICES.get)
    assert not verdict(some, "cheapest", Given("Titan", 1, batch_size=32)).right
    assert verdict(some, "fastest", Given("Titan", 1, batch_size=32)).right


def test_an_answer_that_leaves_something_open_means_the_slowest_of_what_it_leaves() -> None:
    """Unless it names an instance type of the table."""
    small, large = Machine("T4", 1, "g4dn.xlarge", 4.0), Machine("T4", 1, "g4dn.8xlarge", 32.0)
    found = choices((MeasuredRow(small, 8, 50.0), MeasuredRow(large, 8, 90.0)), lambda _: None)
    assert not verdict(found, "fastest", Given("T4", 1)).right
    assert verdict(found, "fastest", Given("T4", 1, instance_type="g4dn.8xlarge")).right
    assert verdict(found, "fastest", fastest_given(found)).right


def test_machines_without_a_gpu_are_told_apart_by_vcpus_or_by_name() -> None:
    """An answer that says neither means none of them."""
    small, large = Machine(None, 0, "c5.2xlarge", 8.0), Machine(None, 0, "c5.18xlarge", 72.0)
    found = choices((MeasuredRow(small, 1, 50.0), MeasuredRow(large, 1, 200.0)), lambda _: None)
    assert verdict(found, "fastest", Given(vcpus=72.0)).right
    assert not verdict(found, "fastest", Given(vcpus=8.0)).right
    assert not verdict(found, "fastest", Given()).right


def test_a_price_is_of_the_named_type_or_the_cheapest_with_that_gpu() -> None:
    """Too many GPUs are paid for, too few are no machine; memory counts where the name has it."""
    sold = (
        _sold("v.large", "V100", 8, 24.0),
        _sold("v.small", "V100", 1, 3.0),
        _sold("v.dear", "V100", 1, 4.0),
        _sold("v.free", "V100", 1, None),
        _sold("v.memory", "V100", 1, 5.0, 32.0),
        _sold("c.small", None, 0, 0.1),
    )
    assert usd_per_hour(Machine("V100", 1), sold) == 3.0
    assert usd_per_hour(Machine("V100", 1, "v.dear"), sold) == 4.0
    assert usd_per_hour(Machine("V100", 1, "v.dear", usd_per_hour=1.2), sold) == 1.2
    assert usd_per_hour(Machine("V100", 1, "v.free"), sold) == 3.0
    assert usd_per_hour(Machine("V100", 2), sold) == 24.0
    assert usd_per_hour(Machine("V100-32GB", 1), sold) == 5.0
    assert usd_per_hour(Machine("V100", 16), sold) is None
    assert usd_per_hour(Machine(None, 0, "c.small"), sold) == 0.1
    assert usd_per_hour(Machine(None, 0, "", 4.0), sold) is None


def test_published_jobs_have_machines_to_choose_between() -> None:
    """Every row of the file belongs to a job with two machines or more."""
    jobs = published_jobs()
    assert len(jobs) > 100
    assert all(len(job.machines) > 1 for job in jobs)
    assert all(row.rate is not None and row.rate > 0 for job in jobs for row in job.rows)


def test_held_out_jobs_are_none_of_the_published_ones() -> None:
    """Every row has a rate or did not fit, and says where it is from and under which licence."""
    cells = {}
    for path in (PUBLISHED, HELD_OUT):
        with path.open(encoding="utf-8", newline="") as file:
            cells[path] = list(csv.DictReader(file))
    assert len(published_jobs([HELD_OUT])) > 100
    known = {tuple(row[column] for column in SAME_JOB) for row in cells[PUBLISHED]}
    for row in cells[HELD_OUT]:
        assert tuple(row[column] for column in SAME_JOB) not in known
        assert bool(row["samples_per_second"]) != (row["outcome"] == "out_of_memory")
        assert all(row[column] for column in ("source", "path", "commit", "licence", "year"))


def test_a_batch_size_that_did_not_fit_is_no_choice() -> None:
    """It is asked as a run that was out of memory, and an answer that means it is wrong."""
    rows = (*ROWS, MeasuredRow(OLD, 64, None))
    found = choices(rows, PRICES.get)
    assert len(found) == len(ROWS)
    assert not verdict(found, "cheapest", Given("K80", 1, batch_size=64)).right
    job = PublishedJob(0, dict.fromkeys(SAME_JOB, "x"), rows)
    assert job_rows(job)[-1]["outcome"] == "out_of_memory"
    assert job_rows(job)[-1]["throughput"] is None


def test_synthetic_rows_are_no_choice_in_a_table_with_real_data(tmp_path: Path) -> None:
    """Jobs with both are asked a third time, as one table, about real data."""
    columns = (
        "mode,network,framework,precision,input,data,unit,source,gpu,gpu_memory_gib,form,gpu_count,cpu",
        "t,n,f,p,i",
    )
    lines = [
        f"{columns[1]},{data},u,s,V100,16,,{count},,,,32,{rate}"
        for data, rates in (("synthetic", (100, 200)), ("real", (90, 95)))
        for count, rate in enumerate(rates, 1)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([f"{columns[0]},instance_type,vcpus,batch_size,samples_per_second", *lines]))
    jobs = published_jobs([table])
    assert [job.terms["data"] for job in jobs] == ["synthetic", "real", "real and synthetic"]
    assert [each.rate for each in choices(jobs[2].rows, PRICES.get)] == [90, 95]
    assert [row["input"] for row in job_rows(jobs[2])] == ["synthetic", "synthetic", "disk", "disk"]


def test_rates_are_left_out_between_others_and_in_thirds(tmp_path: Path) -> None:
    """Of four batch sizes the two inner ones singly, and each of them once in a third."""
    job = PublishedJob(
        0,
        {**dict.fromkeys(SAME_JOB, ""), "mode": "train", "network": "resnet50", "unit": "image"},
        tuple(MeasuredRow(NEW, batch, batch / (0.02 + 0.005 * batch)) for batch in (8, 16, 32, 64)),
    )
    write_table(path := tmp_path / "table.csv", job_rows(job))
    runs = read_table(path).runs
    inner = one_at_a_time(runs)
    assert [each.configuration.batch_size for each in inner] == [16, 32]
    assert all(each.between and each.error < 0.1 for each in inner)
    parts = thirds(runs)
    assert sorted(each.configuration.batch_size or 0 for each in parts) == [8, 16, 32, 64]
    assert {each.configuration.batch_size for each in parts if each.between} == {16, 32}
    assert thirds(runs[:3]) == ()


def test_between_is_within_what_the_same_gpu_was_measured_at() -> None:
    """Another GPU's batch sizes do not count."""
    old, larger, new = (Configuration(None, None, None, *each) for each in ((8, "K80"), (32, "K80"), (16, "V100")))
    assert is_between([old, larger], Configuration(None, None, None, 16, "K80"))
    assert not is_between([old, larger], Configuration(None, None, None, 64, "K80"))
    assert not is_between([old, larger], new)


def test_gpus_of_one_name_are_told_apart_by_memory_and_then_by_form(tmp_path: Path) -> None:
    """A name stays as it is where the job has one of it."""
    head = "mode,network,framework,precision,input,data,unit,source,gpu,gpu_memory_gib,form,gpu_count,cpu"
    rows = [
        f"infer,n,f,p,i,d,u,s,{gpu},1,,,," for gpu in ("A100,40,PCIe", "A100,80,PCIe", "A100,80,SXM4", "T4,16,PCIe")
    ]
    table = tmp_path / "table.csv"
    lines = [f"{row}1,10" for row in rows]
    table.write_text("\n".join([f"{head},instance_type,vcpus,batch_size,samples_per_second", *lines]))
    names = [machine.gpu for machine in published_jobs([table])[0].machines]
    assert names == ["A100-40GB", "A100-80GB PCIe", "A100-80GB", "T4"]


def test_the_truth_is_never_a_machine_that_nobody_can_rent() -> None:
    """Its rows are no choices; of a job that has no others the right answer is none."""
    rows = [MeasuredRow(Machine("V100", 1, name), 32, rate) for name, rate in (("p3.2xlarge", 9.0), ("gn6v", 5.0))]
    found = choices(rows, lambda _: None, retired_machines())
    assert [each.machine.instance_type for each in found] == ["gn6v"]
    assert not {each.instance_type for each in sold_machines()} & retired_machines()
    none = choices(rows[:1], lambda _: None, retired_machines())
    assert verdict(none, "cheapest", Given(refused="all_retired")).right
    assert not verdict(none, "fastest", Given("V100", 1)).right


def test_two_stations_in_a_ring() -> None:
    """As fast as each other they lose one turn in n + 1; one that is much slower than the other binds alone."""
    assert both(100.0, 100.0, 4) == pytest.approx(80.0)
    assert both(100.0, 1e6, 4) == pytest.approx(100.0)
    assert both(50.0, 100.0, 3) == both(100.0, 50.0, 3) < 50.0


def test_fleets_are_the_same_for_the_same_seed_and_can_be_answered() -> None:
    """Three to nine machines that are sold; a deadline is one that some machine meets."""
    on_offer = sold_machines()
    for number in range(24):
        fleet = drawn_fleet(number, on_offer)
        assert fleet == drawn_fleet(number, on_offer)
        assert 3 <= len(set(fleet.machines)) == len(fleet.sold) <= 9
        assert fleet.needed is None or max(fleet.rates) > fleet.needed
        assert all(rates for rates in fleet.measured)
        assert {each.gpu is None for each in fleet.sold} == {"gpu": {False}, "cpu": {True}}.get(
            fleet.kind, {False, True}
        )
