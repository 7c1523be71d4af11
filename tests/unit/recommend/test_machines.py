"""Machines that others measured: their names and prices, which one is the answer, and what is only relative."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports import results
from sizer.catalog.catalog import Catalog
from sizer.cli import main
from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.observations import completed, observe
from sizer.model.prediction import predict
from sizer.recommend.candidates import machines_to_compare
from sizer.recommend.job_changes import judged_by
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.prediction import ReasonCode
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.study import Objective
from sizer.words.answers import main_sentences
from sizer.words.names import Terms, terms_of
from sizer.words.reasons.phrasing import reason_sentences
from tests.modelled import SATURATING
from tests.tables import WHOLE_MACHINES, runs_of, stored_catalog

# Prices of machines and GPUs by the names that tables have for them.


Asked = Callable[..., Answer]


@pytest.mark.parametrize(
    ("header", "rows", "prices"),
    [
        ("gpu,gpu_count", "NVIDIA H100 80GB HBM3,1,5", {("H100", 1): 6.88}),
        ("gpu,gpu_count", "NVIDIA H200 141GB HBM3e,1,5", {("H200", 1): 63.296}),
        ("gpu,gpu_count", "A100 (40GB),1,5", {("A100-40GB", 1): 3.67}),
        ("gpu,gpu_count", "V100 16GB,1,5", {("V100-16GB", 1): 2.95}),
        ("gpu,gpu_count", "V100 32GB,1,5", {("V100-32GB", 1): 31.212}),
        ("gpu,gpu_count", "Tesla V100-SXM2-32GB,1,5", {("V100-32GB", 1): 31.212}),
        ("gpu,gpu_count", "RTX 3090,1,5", {("RTX 3090", 1): None}),
        # A host to which GPUs are added costs what the catalogue has with as many.
        ("instance_type", "n1-highmem-4,6.1 / n1-highmem-8,11.7", {(None, 0): None}),
        (
            "instance_type,gpu,gpu_count",
            "n1-highmem-8,V100,1,390 / n1-highmem-8,P4,2,150 / n1-highmem-8,T4,1,9",
            {("V100", 1): 2.95, ("P4", 2): 1.67, ("T4", 1): None},
        ),
        # With other GPUs than the catalogue knows, or more, it has no price; with fewer in use it costs what it does.
        (
            "instance_type,gpu,gpu_count",
            "g4dn.xlarge,V100,1,110 / g6e.xlarge,L40S,4,380 / p3dn.24xlarge,V100,2,390 / g5.xlarge,A10G,1,240",
            {("V100", 1): None, ("L40S", 4): None, ("V100", 2): 31.212, ("A10G", 1): 1.006},
        ),
    ],
)
def test_a_machine_has_the_price_that_the_catalogue_has_of_it(
    ask_table: Asked, header: str, rows: str, prices: dict[tuple[str | None, int], float | None]
) -> None:
    """By its name, or by its GPUs and their memory."""
    table = f"{header},throughput / {rows}" + (" / K80,1,45" if header.startswith("gpu") else "")
    offers = ask_table(table.replace(" / ", "\n")).alternatives
    assert prices.items() <= {(one.spec.gpu, one.spec.gpu_count): one.usd_per_hour for one in offers}.items()


# Machines compared as they were measured: what is likely enough, what is surer, and what is only named.


def _said(answer: Answer) -> list[str]:
    return reason_sentences(answer.reasons, Terms(answer.sample_unit))


def _codes(answer: Answer) -> list[ReasonCode]:
    return [reason.code for reason in answer.reasons]


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
    assert any("the input holds them back" in sentence for sentence in _said(fed))


@pytest.mark.parametrize("nothing", ["-", "N/A", "no GPU", "CPU only", "none", "0"])
def test_a_cell_that_says_no_gpu_names_none(ask_table: Asked, nothing: str) -> None:
    answer = ask_table(f"workload,vcpus,gpu,throughput\nj,4,T4,100\nj,4,{nothing},90")
    assert (answer.spec.vcpus, answer.spec.gpu, answer.provisional) == (4, None, False)


def drifting_comparison(make_run: Callable[..., Run]) -> list[Run]:
    """A job that the CPU binds on two kinds of GPU alike, at 1 to 4 vCPUs; the host slows down by a fifth between the
    runs on one and those on the other, which a reference of another workload shows."""
    began, runs = datetime(2026, 11, 23, tzinfo=timezone.utc), []
    for number in range(26):
        slow = 1.0 if number < 12 else 1 / 1.2
        if number % 2 == 0:
            run = make_run(100 * slow, 2.0, name="reference", repeat=number, spread=0.005)
        else:
            vcpus = (1.0, 2.0, 4.0)[number // 2 % 3]
            gpu = Device("emulated", gpu="T4" if number < 12 else "V100", samples_per_second=900.0)
            run = make_run(90 * vcpus * slow, vcpus, device=gpu, repeat=number // 2 // 3, spread=0.005)
            run = replace(run, configuration=replace(run.configuration, gpu=gpu.gpu, gpu_count=1))
        runs.append(replace(run, started_at=(began + timedelta(minutes=number)).isoformat()))
    return runs


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
    raw = {run.configuration.gpu: run for run in own if run.configuration.vcpus == 2.0 and run.throughput}
    assert raw["V100"].throughput.value / raw["T4"].throughput.value == pytest.approx(1 / 1.2, abs=0.001)


# A machine that nobody can rent any more is never the answer, and its price is no basis of a cost.


NAMED = """
    instance_type,latency_p99_ms,usd_per_hour,throughput
    g4dn.xlarge,8,,200
    g5.xlarge,9,,410
    p3.2xlarge,2,{usd},4000
    azure/NC6s v2,2,,3000
"""
SAID = "Nobody can rent aws p3.2xlarge (retired 2026) and azure NC6s v2 (retired 2023) any more: measured, but "


def _names(answer: Answer) -> set[str | None]:
    return {machine.instance_type for machine in (*answer.alternatives, *answer.instances)}


@pytest.mark.parametrize("usd", ["", "0.01"])
@pytest.mark.parametrize(
    "objective",
    [{}, {"prefer": "fastest"}, {"prefer": "balanced"}, {"at_least": 390.0}, {"latency_p99": 0.02}, {"spot": True}],
)
def test_a_retired_machine_of_a_table_is_not_the_answer(
    ask_table: Callable[..., Answer], usd: str, objective: dict[str, object]
) -> None:
    """However fast it was, and however little the table says it cost."""
    answer = ask_table(NAMED.format(usd=usd), **objective)
    assert (answer.spec.gpu, answer.status) == ("A10G", "recommended")
    assert not any(name and ("p3." in name or "NC6s" in name) for name in _names(answer))
    assert sum(sentence.startswith(SAID) for sentence in main_sentences(answer, Terms("image"))) == 1


@pytest.mark.parametrize(
    ("gpu", "spot", "advice"),
    [
        ("P100", False, "Nobody can rent a machine with this GPU at a known price any more (retired 2023)."),
        ("P100", True, None),
        ("V100", False, None),
        ("Z9000", False, None),
    ],
)
def test_who_emulates_a_gpu_that_is_gone_is_told(
    curve: Callable[..., list[Run]], catalog: Catalog, gpu: str, spot: bool, advice: str | None
) -> None:
    runs = curve((1, 100), (2, 190), (4, 215), (8, 217), device=Device("emulated", gpu=gpu, samples_per_second=219))
    model = fit(runs)
    answer = recommend(model, runs, Objective(spot=spot), catalog).workloads[0]
    assert answer.spec is not None
    about = [
        sentence for sentence in main_sentences(answer, terms_of(model.workloads[0])) if sentence.startswith("Nobody")
    ]
    assert about == ([] if advice is None else [advice])
    assert not any(instance.instance_type.startswith(("NC", "p2.", "p3.")) for instance in answer.instances)


# A table of relative rates: what the work costs on one machine beside another, and no dollar a sample anywhere.


MACHINES = """workload,gpu,gpu_count,instance_type,usd_per_hour,relative_throughput
job,V100,1,one,3.06,1.0
job,T4,1,two,0.526,0.4
job,V100,4,three,12.24,3.6
"""
CURVE = """workload,gpu,vcpus,speedup
job,V100,1,1.0
job,V100,2,1.9
job,V100,4,3.5
job,V100,8,5.0
job,V100,16,5.2
"""


@pytest.fixture(scope="module", params=[MACHINES, CURVE], ids=["machines", "curve"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("relative")
    (folder / "table.csv").write_text(request.param)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "study")]) == 0
    return folder / "study"


def _of_million(form: Any) -> Iterator[float | None]:
    """Every price of a million samples anywhere in a form."""
    if isinstance(form, dict):
        for name, value in form.items():
            if name.startswith("usd_per_million"):
                yield value
            yield from _of_million(value)
    elif isinstance(form, list):
        for part in form:
            yield from _of_million(part)


@pytest.mark.parametrize("objective", ["cheapest", "fastest", "balanced"])
def test_nobody_is_given_dollars_a_sample(study: Path, objective: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a program nor a person."""
    capsys.readouterr()
    main(["recommend", str(study), "--objective", objective, "--json"])
    prices = list(_of_million(json.loads(capsys.readouterr().out)))
    assert prices
    assert set(prices) == {None}
    main(["recommend", str(study), "--objective", objective])
    page = (study / "report.html").read_text("utf-8")
    for shown in (capsys.readouterr().out, re.sub("<style>.*?</style>|<script.*?</script>", "", page, flags=re.DOTALL)):
        assert " an hour" in shown
        assert "million" not in shown
        assert "relatives" not in shown
        assert "relative/s" not in shown


def test_a_gate_on_the_price_of_a_sample_says_why_it_is_not_known(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recommend", str(study), "--fail-if", "usd_per_million_samples>1"]) == 6
    assert "its rates are relative" in capsys.readouterr().err


# One configuration has one measured rate, wherever it is told, and one answer has one interval.


NOISY = (291.6, 471.0, 476.8, 526.9)
"""Four runs of one configuration on a host that others used, images/s."""
MEDIAN = pytest.approx((471.0 + 476.8) / 2)


FEWER_IS_FASTER = """
    workload,gpu,gpu_count,vcpus,memory_gib,throughput
    job,V100,1,8,61,500
    job,V100,2,16,122,900
    job,V100,4,32,244,1100
    job,V100,8,64,488,800
"""


@pytest.fixture
def noisy(make_run: Callable[..., Run]) -> list[Run]:
    """The first of the four was disturbed."""
    runs = [make_run(rate, 2.0, repeat=repeat) for repeat, rate in enumerate(NOISY)]
    return [replace(runs[0], warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.5}),)), *runs[1:]]


def test_fit_answer_and_page_pool_the_runs_of_a_configuration_alike(noisy: list[Run]) -> None:
    """The mean would be 442; the disturbed run counts like the others, and for a little less in the fit."""
    here = noisy[0].configuration
    model = fit(noisy).workloads[0]
    (observed,), _noise = observe(completed(noisy))
    (row,) = results.by_configuration(noisy)
    at_place, measured = results.rates_of_the_job(noisy)[here], model.measured.rate_at(here)
    assert math.exp(observed.log_rate) == pytest.approx(473.9, rel=0.005)
    assert measured.throughput.value == row.throughput.value == at_place.value == MEDIAN
    assert measured.throughput == row.throughput == at_place


REPEATED = """
    workload,gpu,gpu_count,vcpus,memory_gib,throughput
    job,V100,1,8,61,500
    job,V100,1,8,61,520
    job,V100,1,8,61,505
    job,V100,2,16,122,900
    job,V100,4,32,244,1100
    job,T4,1,8,32,210
    job,T4,1,8,32,190
"""
INTERVALS = """
    workload,vcpus,memory_gib,throughput,throughput_low,throughput_high
    job,2,8,100,90,110
    job,4,16,190,180,200
    job,8,32,340,338,342
    job,16,64,500,450,550
"""
PRICED_BY_NAME = """
    workload,instance_type,usd_per_hour,throughput
    a,aws g4dn.xlarge,0.526,90
    a,aws p3.2xlarge,3.06,350
    a,aws p3.2xlarge,2.90,360
"""
TABLES = {
    "whole machines": WHOLE_MACHINES,
    "fewer is faster": FEWER_IS_FASTER,
    "disks that saturate": SATURATING,
    "repeated": REPEATED,
    "with intervals": INTERVALS,
    "named machines": PRICED_BY_NAME,
}


@pytest.mark.parametrize("name", TABLES)
def test_an_answer_of_a_table_and_its_prediction_are_one_figure(name: str, tmp_path: Path) -> None:
    """Value and interval, of the answer and of each machine that it was chosen from."""
    runs = runs_of(tmp_path, TABLES[name])
    model = fit(runs)
    for answer in recommend(model, runs, Objective(), stored_catalog()).workloads:
        workload = model.workload(answer.workload)
        assert answer.spec is not None
        assert answer.throughput == predict(workload, judged_by(workload, answer.spec)).throughput
        for machine in machines_to_compare(workload, runs, Objective(), stored_catalog()):
            assert machine.throughput == predict(workload, machine.place).throughput


ROWS = 12
"""Of a model, over all of its table: to predict each of hundreds is slow."""


def test_measured_rows_of_every_model_without_accounting_are_taken_at_their_word(
    models: dict[str, WorkloadModel],
) -> None:
    count = 0
    for model in models.values():
        if model.facts.core_seconds is None and model.posterior is not None:
            for rate in model.measured.rates[:: math.ceil(len(model.measured.rates) / ROWS)]:
                assert predict(model, rate.configuration).throughput == rate.of_new_run
                count += 1
    assert count > 100
