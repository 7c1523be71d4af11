"""CPU or GPU: time and cost of the same work beside a baseline, on demand and at spot prices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.model import Model
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer, CostRow
from sizer.records.device import Device
from sizer.records.run import Run
from sizer.records.study import Interruptions, Objective
from sizer.records.units import GIB
from sizer.words.answers import alternative_line, headline
from sizer.words.costs import costs_lines, is_asked
from sizer.words.names import Terms
from sizer.words.verdict import spec_parts
from tests.tables import runs_of

Asked = Callable[..., Answer]
KERAS = """instance_type,vcpus,gpu,gpu_count,throughput,usd_per_hour,usd_per_hour_spot
n1-standard-1 + K80,1,K80,1,100,0.7,
small-8,8,none,0,50,0.2,0.05
large-32,32,none,0,150,0.9,0.3
huge-64,64,none,0,140,1.8,
"""
TERMS = Terms("w", "image", device=Device("cuda", 0))


def _rows(answer: Answer) -> Mapping[str | None, CostRow]:
    assert answer.costs is not None
    return {row.instance_type: row for row in answer.costs.rows}


@pytest.mark.parametrize("name", ["n1-standard-1 + K80", "N1-standard-1  + k80", "1 x K80", "K80", "1 vCPU"])
def test_a_row_is_a_baseline_by_its_name_or_its_size(ask_table: Asked, name: str) -> None:
    rows = _rows(ask_table(KERAS, baseline=name))
    assert [at for at, row in rows.items() if row.is_baseline] == ["n1-standard-1 + K80"]
    small = rows["small-8"]
    assert small.time_ratio == pytest.approx(2)
    assert small.on_demand is not None
    assert small.on_demand.ratio == pytest.approx(2 * 0.2 / 0.7)
    assert small.spot is not None
    assert small.spot.ratio == pytest.approx(2 * 0.05 / 0.7)


def test_a_name_in_a_column_that_is_not_used_is_one_too(ask_table: Asked) -> None:
    answer = ask_table(KERAS.replace("instance_type", "configuration"), baseline="n1-standard-1 + K80")
    assert answer.baseline is not None
    assert (answer.baseline.spec.gpu, answer.baseline.named) == ("K80", True)


@pytest.mark.parametrize(
    ("named", "rate"),
    [("aws/m7i.2xlarge", 298), ("aws/m7i.8xlarge", 305), ("aws/c6i.2xlarge", None), ("aws/m7i.large", None)],
)
def test_an_instance_type_is_a_baseline_where_its_size_was_measured(
    ask_table: Asked, named: str, rate: float | None
) -> None:
    """On machines without a name: with as many vCPUs, or the most of them, and no more memory than it has."""
    answer = ask_table("vcpus,memory_gib,throughput\n4,16,195\n8,32,298\n16,64,305\n", baseline=named)
    base = answer.baseline
    assert (base and (base.instance_type, base.throughput.value)) == (rate and (named.replace("/", " "), rate))


def test_an_unknown_price_stays_unknown(ask_table: Asked) -> None:
    """The GPU has no spot price, and `huge` none either: never 0, and nowhere the least."""
    answer = ask_table(KERAS, spot=True, baseline="large-32")
    rows = _rows(answer)
    assert rows["n1-standard-1 + K80"].spot is None
    assert rows["huge-64"].spot is None
    on_demand = rows["large-32"].on_demand
    assert on_demand is not None
    assert on_demand.usd_per_hour == 0.9
    assert answer.costs is not None
    assert answer.costs.cheapest_spot is rows["small-8"]


def test_without_a_rate_of_interruptions_no_expected_cost_is_told(ask_table: Asked) -> None:
    """With one the time is (e^x - 1) / x times as long, x interruptions between two checkpoints."""
    assert all(row.spot_expected is None for row in _rows(ask_table(KERAS)).values())
    small = _rows(ask_table(KERAS, interruptions=Interruptions(0.5, 1800.0)))["small-8"]
    assert small.spot is not None
    assert small.spot_expected is not None
    million, expected = small.spot.usd_per_million_samples, small.spot_expected.usd_per_million_samples
    assert million is not None
    assert expected == pytest.approx(million * math.expm1(0.25) / 0.25)
    assert Interruptions(1e-9, 600.0).time_factor == pytest.approx(1.0)


def test_the_whole_job(ask_table: Asked) -> None:
    """An hour, a million samples, and all of them."""
    small = _rows(ask_table(KERAS, samples=1e6))["small-8"]
    assert small.seconds == pytest.approx(20_000)
    assert small.on_demand is not None
    assert small.on_demand.usd_of_job == pytest.approx(20_000 / 3600 * 0.2)
    assert small.on_demand.usd_per_million_samples == small.on_demand.usd_of_job


def test_a_gpu_is_slower_where_the_intervals_say_so(ask_table: Asked) -> None:
    """Not by 2 %, which two runs differ by."""
    for rate, slower in ((147, 0), (100, 1)):
        costs = ask_table(KERAS.replace(",100,", f",{rate},"), baseline="large-32").costs
        assert costs is not None
        assert len(costs.slow_accelerators) == slower


def test_what_follows_from_the_table_is_told(ask_table: Asked) -> None:
    lines = list(costs_lines(ask_table(KERAS, baseline="K80"), TERMS))
    assert lines[0] == "CPU or GPU: time and cost of the same work, 1 vCPU, 1 x K80 (n1-standard-1 + K80) = 1:"
    assert lines[1:4] == [
        "  machine                                        rate  time  cost  an hour  a million",
        "  8 vCPUs (small-8)                       50 images/s  2.00  0.57    $0.20      $1.11",
        "    spot                                                     0.14    $0.05     $0.278",
    ]
    assert "64 vCPUs (huge-64) is no faster than 32 vCPUs (large-32): it takes 107 % of the time." in lines
    assert "1 vCPU, 1 x K80 (n1-standard-1 + K80) is slower than 32 vCPUs (large-32)." in lines


def test_the_whole_job_stands_below_each_machine(ask_table: Asked) -> None:
    """Each figure of a machine stands below those of the others; without a price it has none."""
    asked = {"samples": 1e6, "interruptions": Interruptions(0.1, 3600.0)}
    answer = ask_table(KERAS.replace("0.7,\n", ",\n").replace("n1-standard-1", "mine"), **asked)
    lines = list(costs_lines(answer, TERMS))
    rows = [line for line in lines if line.startswith("  ")]
    assert rows[1:5] + rows[-3:] == [
        "  8 vCPUs (small-8)              50 images/s  3.00  0.67    $0.20      $1.11",
        "    spot                                            0.17    $0.05     $0.278",
        "    spot, with interruptions                                          $0.292",
        "    the job: 5 h 33 min; $1.11 on demand; $0.278 spot, $0.292 with interruptions",
        "  1 vCPU, 1 x K80 (mine + K80)  100 images/s  1.50",
        "    retired 2026",
        "    the job: 2 h 47 min",
    ]


def test_it_is_shown_where_somebody_asked(ask_table: Asked) -> None:
    """Machines of one kind alone stand in the list of those that were compared."""
    plain = "\n".join(line for line in KERAS.splitlines() if "K80" not in line)
    assert not is_asked(ask_table(plain))
    assert is_asked(ask_table(plain, baseline="small-8"))
    assert is_asked(ask_table(KERAS))


def test_a_machine_without_a_gpu_has_none_on_the_page(ask_table: Asked) -> None:
    """Though another row of the table has one."""
    answer = ask_table(KERAS, prefer="fastest")
    assert spec_parts(answer, TERMS) == ["32 vCPUs"]
    assert "1 accelerator" not in headline(ask_table("gpu,throughput\nK80,10\nnone,100\n", "fastest"), TERMS)


def test_what_costs_less_on_another_kind_is_named(ask_table: Asked) -> None:
    """Too slow for the target of its own kind, and 43 % cheaper than the answer."""
    rows = "\n".join(line for line in KERAS.splitlines() if "large" not in line and "huge" not in line)
    answer = ask_table(rows.replace("K80", "T4") + "\nlarge-32,32,none,0,90,9,\n")
    assert answer.spec is not None
    assert answer.spec.gpu == "T4"
    cheaper = [reason for reason in answer.reasons if reason.has("role") and reason.text("role") == "cheaper"]
    assert [reason.text("instance_type") for reason in cheaper] == ["small-8"]


def test_a_gpu_that_nobody_rents_out_is_no_choice_whatever_the_table_says_that_it_costs(ask_table: Asked) -> None:
    """Its time is told, and its cost where it is the baseline; alone it is somebody's own if nothing says its price."""
    cheap = KERAS.replace("0.7", "0.01").replace(",100,", ",200,")
    answer = ask_table(cheap)
    assert answer.spec is not None
    assert answer.spec.gpu is None
    row = _rows(answer)["n1-standard-1 + K80"]
    assert (row.retired, row.on_demand) == (2026, None)
    lines = list(costs_lines(ask_table(cheap, baseline="K80"), TERMS))
    own = next(number for number, line in enumerate(lines) if line.startswith("  1 vCPU"))
    assert lines[own].split()[-6:] == ["200", "images/s", "1.00", "1.00", "$0.01", "$0.0139"]
    assert lines[own + 1] == "    retired 2026"
    assert "Of all that can be rented, the work costs the least on 8 vCPUs (small-8)" in "".join(lines)
    assert ask_table("gpu,throughput,usd_per_hour\nK80,10,1\n2 x K80,18,2\n").status == "refused"
    assert ask_table("gpu,gpu_count,throughput\nK80,1,10\nK80,2,18\n").spec is not None


@pytest.mark.parametrize(("rate", "chosen"), [(240, "ecs.t4"), (100, "ecs.v100")])
def test_prices_in_one_other_currency_rank_within_it(
    tmp_path: Path, catalog: Catalog, fitted: Callable[..., Model], rate: float, chosen: str
) -> None:
    """Nobody said what one is worth: the least cost of the work is known all the same, and each price is told in it."""
    yuan = [
        InstanceType("alibaba", name, 4, 16 * GIB, gpu=gpu, gpu_count=1, price_per_hour=price, currency="CNY", usd=None)
        for name, gpu, price in (("ecs.t4", "T4", 12.0), ("ecs.v100", "V100", 27.0))
    ]
    offers = replace(catalog, instance_types=tuple(yuan))
    table = f"instance_type,gpu,throughput\necs.t4,T4,{rate}\necs.v100,V100,500\n"
    runs = runs_of(tmp_path, table)
    answer = recommend(fitted(runs), runs, Objective(), offers).workloads[0]
    assert answer.chosen is not None
    assert (answer.chosen.instance_type, answer.provisional) == (chosen, False)
    lines = [alternative_line(one, TERMS) for one in answer.alternatives]
    assert lines[0].startswith("1 x T4" if chosen == "ecs.t4" else "1 x V100")
    assert "CNY 27.00 an hour" in " ".join(lines)


def test_sizes_on_a_curve_are_rows_by_their_vcpus(curve: Callable[..., list[Run]], ask: Callable[..., Answer]) -> None:
    """Each at the price of the cheapest type that holds it, beside the one that is named."""
    answer = ask(curve((1, 100), (2, 196), (4, 300), (8, 303)), baseline="8 vCPUs")
    assert answer.costs is not None
    vcpus = [row.spec.vcpus for row in answer.costs.rows]
    assert vcpus == sorted(vcpus)
    base = answer.costs.baseline
    assert base is not None
    assert base.spec.vcpus == 8
    assert all(row.on_demand is not None and row.on_demand.ratio is not None for row in answer.costs.rows)
