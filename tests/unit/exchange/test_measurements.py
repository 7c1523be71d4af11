"""What other programs read: the table of measurements, and the forms of answers and predictions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from sizer.exchange.formats import no_prediction_form, prediction_form, recommendation_form
from sizer.exchange.measurements import write_csv
from sizer.model.batch_curve import batch_curves
from sizer.model.fitting import fit
from sizer.model.model import Model
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Recommendation
from sizer.records.device import GIVEN_IN_TABLE, BatchRate, Device, DiskRates, GpuUse
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Conditions, Demand, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, Objective, RunSpec, Workload
from sizer.words.accelerators import accelerator_counts_lines, batch_sentences
from sizer.words.names import terms_of
from tests.tables import Read, stored_catalog

# measurements.csv: one row a run.


HEADER = (
    "workload,framework,device,network,batch_size,vcpus,memory_gib,disk,input,cache,gpu,gpu_count,"
    "throughput,throughput_low,throughput_high,sample_unit,outcome,"
    "core_seconds_per_sample,read_bytes_per_sample,read_ios_per_sample,written_bytes_per_sample,"
    "write_ios_per_sample,input_wait_per_sample,accelerator_seconds_per_sample,asked_bytes_per_sample,"
    "cpu_stall_per_sample,memory_stall_per_sample,io_stall_per_sample,"
    "bottleneck,hit_rate,warnings,started_at,repeat,"
    "kind,format,dataset,dataset_gib,dataset_samples,first_epoch_throughput,"
    "disk_read_iops,disk_read_mbps,disk_write_iops,disk_write_mbps,disk_class,disk_emulated,"
    "peak_anonymous_gib,accelerator_samples_per_second,isolates,"
    "precision,latency_p50_ms,latency_p99_ms,provider,instance_type,region,usd_per_hour,usd_per_hour_spot,mode,"
    "gpu_busy,gpu_memory_peak_gib,gpu_watts,gpu_joules_per_sample,gpu_sm_mhz,gpu_memory_mhz,"
    "gpu_sent_bytes_per_sample,gpu_received_bytes_per_sample,"
    "accelerator_rate_low,accelerator_rate_high,accelerator_rate_basis,accelerator_scaling_loss"
)


def run(outcome: Outcome = Outcome.COMPLETED, **figures: object) -> Run:
    """A run on an emulated P100."""
    workload = Workload("train", "image_training", network="resnet50", device=Device("emulated", 0, "P100", 219.0))
    return Run(
        RunSpec(workload, 32, Limits(0.5, None, "slow"), Measure()),
        outcome,
        Configuration(0.5, 3 * 2**29, "slow", 32),
        "2026-11-21T10:00:00+00:00",
        40.0,
        sample_unit="image",
        **figures,  # type: ignore[arg-type]
    )


def rows(*runs: Run) -> list[dict[str, str]]:
    """The CSV as a reader sees it."""
    return list(csv.DictReader(io.StringIO(write_csv(runs))))


def test_the_header_is_the_contract() -> None:
    """Columns and their order are fixed; the demands follow, then what helps to judge a figure."""
    assert write_csv([]) == HEADER + "\n"


def test_a_completed_run_is_one_row() -> None:
    """Rate, interval, configuration and demands are in their columns."""
    done = run(throughput=Estimate(183.25, 180.0, 186.5), demand=Demand(core_seconds=0.01, read_bytes=1e5))
    (row,) = rows(done)
    assert row["workload"] == "train"
    assert (row["device"], row["gpu"], row["gpu_count"]) == ("emulated:P100", "P100", "1")
    assert (row["vcpus"], row["memory_gib"], row["disk"]) == ("0.5", "1.5", "slow")
    assert (row["throughput"], row["throughput_low"], row["throughput_high"]) == ("183.25", "180.0", "186.5")
    assert (row["core_seconds_per_sample"], row["read_ios_per_sample"]) == ("0.01", "")
    assert (row["sample_unit"], row["outcome"]) == ("image", "completed")


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *((text, f"'{text}") for text in ("=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)", " =1")),
        (";=1+1", "';'=1+1"),
        ("image;=1+1", "image;'=1+1"),
        ("image; ＝1+1", "image;' ＝1+1"),
        ("|;@SUM(A1)", "'|';'@SUM(A1)"),
        ("'=1", "''=1"),
        ("\t=1+1", r"\t=1+1"),
        ("\r=1+1", r"\r=1+1"),
        ("it's; a-b|c", "it's; a-b|c"),
    ],
)
def test_text_is_never_a_formula(text: str, cell: str) -> None:
    """A spreadsheet shows what a workload called its samples, and does not compute it, at whatever it begins a cell."""
    (cells,) = rows(replace(run(), sample_unit=text))
    assert cells["sample_unit"] == cell


def test_a_run_is_one_line_whatever_its_text() -> None:
    """A line's end in a cell would make up a row."""
    text = write_csv([replace(run(), sample_unit="a\nb\r\x1b[2J")])
    assert len(text.splitlines()) == 2
    assert r"a\nb\r\x1b[2J" in text


def test_what_a_driver_told_has_its_columns() -> None:
    """Of several GPUs the highest; watts, GiB, MHz, and bytes and joules of a sample."""
    used = GpuUse(0, "V100", busy=0.5, peak_memory_bytes=3 * 2**30, watts=150.0, sm_hertz=1.38e9, joules=2.5)
    (row,) = rows(run(conditions=Conditions(gpus=(used, replace(used, index=1, busy=0.75, sent_bytes=10.0)))))
    figures = {name: cell for name, cell in row.items() if name.startswith("gpu_") and name != "gpu_count"}
    assert figures == {
        "gpu_busy": "0.75",
        "gpu_memory_peak_gib": "3",
        "gpu_watts": "150.0",
        "gpu_joules_per_sample": "2.5",
        "gpu_sm_mhz": "1380",
        "gpu_memory_mhz": "",
        "gpu_sent_bytes_per_sample": "10.0",
        "gpu_received_bytes_per_sample": "",
    }


# The form of recommendation.json and of predict's JSON is a contract with other programs.


CONTRACT = {
    *("workload", "status", "spec", "throughput", "probability", "bottleneck", "next_bottleneck", "reasons"),
    *("rejected", "runner_up", "instances"),
}
SPEC = {"vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count"}
REJECTION = {"spec", "why", "codes", "instance_type", "throughput", "share", "usd_saved_per_hour", "saving"}
OPTION = {
    *("preferences", "spec", "throughput", "probability", "bottleneck"),
    *("instance_type", "usd_per_hour", "usd_per_million_samples"),
}
PREDICTION = {
    *("workload", "vcpus", "memory_gib", "disk", "batch_size", "throughput", "low", "high", "bottleneck", "shares"),
    *("gpu", "gpu_count", "extrapolated"),
}


@pytest.fixture
def concluded(make_run: Callable[..., Run]) -> tuple[Model, Recommendation]:
    """What is concluded from a job on an emulated disk, and from one on an emulated accelerator."""
    rates = DiskRates(read_iops=5000.0, read_bytes_per_second=1e9)
    rising = [
        make_run(100.0 * vcpus, vcpus, disk="nvme", rates=rates, memory=memory, capped=True, repeat=repeat)
        for vcpus in (1.0, 2.0, 4.0)
        for memory in (3 * 2**29, 2**33)
        for repeat in (0, 1)
    ]
    device = Device("emulated", 0, "P100", 219.0)
    level = [make_run(rate, vcpus, name="gpu", device=device) for vcpus, rate in ((1.0, 150.0), (2.0, 217), (4.0, 219))]
    runs = [*rising, *level]
    model = fit(runs)
    return model, recommend(model, runs, Objective("cheapest", 0.9), stored_catalog())


def test_a_recommendation_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """Objective and target beside each other, sizes in GiB, and what else is known added."""
    model, recommendation = concluded
    form = json.loads(json.dumps(recommendation_form(recommendation, model)))
    asked = {"objective", "target", "at_least", "deadline", "latency_p99", "spot", "samples", "interruptions"}
    assert set(form) == asked | {"baseline", "schema_version", "workloads", "family", "cross_table"}
    assert (form["schema_version"], form["objective"], form["target"]) == (SCHEMA_VERSION, "cheapest", 0.9)
    for answer in form["workloads"]:
        assert set(answer) >= CONTRACT | {"sample_unit", "next_run", "beyond", "emulated"}
        assert set(answer) >= {"provisional", "edge", "baseline", "job"}
        assert set(answer["spec"]) == SPEC
        assert set(answer["throughput"]) == {"value", "low", "high"}
        assert answer["rejected"]
        for rejection in answer["rejected"]:
            assert set(rejection) == REJECTION
            assert set(rejection["spec"]) == SPEC
        assert {name for option in answer["options"] for name in option["preferences"]} == {
            "cheapest",
            "balanced",
            "fastest",
        }
        assert all(set(option["spec"]) == SPEC and set(option) == OPTION for option in answer["options"])
        assert answer["runner_up"] is None or set(answer["runner_up"]) == SPEC
        offer = answer["instances"][0]
        assert {"provider", "instance_type", "usd_per_hour", "usd_per_million_samples", "as_of"} <= set(offer)
    assert "memory_bytes" not in json.dumps(form)
    first, second = form["workloads"]
    assert first["spec"]["memory_gib"] in (1.5, 8.0)
    assert second["spec"]["memory_gib"] is None
    assert first["emulated"] is second["emulated"] is True


def test_a_prediction_has_exactly_the_keys_of_the_contract(concluded: tuple[Model, Recommendation]) -> None:
    """With and without an answer the same keys, and the reason where there is none."""
    workload = concluded[0].workload("gpu")
    place = Configuration(2.0, 2**33, "host", 32)
    form = prediction_form(predict(workload, place), workload)
    assert set(form) == PREDICTION | {"out_of_memory", "headroom", "sample_unit", "emulated"}
    assert (form["memory_gib"], form["emulated"]) == (8.0, True)
    assert set(no_prediction_form(place, workload, "no such batch", None)) == {*form, "error", "error_code"}


# What a table says of the rate of an emulated accelerator comes back from an export.


RATES = (
    BatchRate(16, 150.0, "a table", 100.0, 220.0, "published"),
    BatchRate(64, 300.0, "a table", 200.0, 450.0, "published"),
    BatchRate(256, 400.0, "extrapolated: a table", 180.0, 900.0, "extrapolated"),
)
V100 = replace(Device("emulated", 0, "V100").with_rate(RATES[1]), batch_rates=RATES)


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> list[Run]:
    return [make_run(0.99 * rate.samples_per_second, 4.0, batch=rate.batch_size, device=V100) for rate in RATES]


def test_an_exported_study_keeps_its_batch_curve(read: Read, runs: list[Run]) -> None:
    """Each batch waited for its own rate, and all are of one curve."""
    (before,) = batch_curves(runs)
    imported = read(write_csv(runs))
    (after,) = batch_curves(imported.runs)
    assert [point.batch_size for point in after.points] == [16, 64, 256]
    assert [point.throughput.value for point in after.points] == [point.throughput.value for point in before.points]
    assert {run.spec.workload.computes_on for run in imported.runs} == {imported.runs[0].spec.workload.computes_on}
    rates = [(run.spec.batch_size, run.spec.device.samples_per_second) for run in imported.runs]
    assert rates == [(16, 150.0), (64, 300.0), (256, 400.0)]


def test_it_is_said_where_the_rates_come_from(read: Read, runs: list[Run]) -> None:
    """And not that there was one rate for all."""
    imported = read(write_csv(runs))
    model = fit(imported.runs)
    (answer,) = recommend(model, imported.runs, Objective(), stored_catalog()).workloads
    assert answer.batch is not None
    sentences = " ".join(batch_sentences(answer.batch, terms_of(model.workload("train"))))
    assert "is given in the imported table, and was not measured here" in sentences
    assert "one rate for all batch sizes" not in sentences


def test_what_several_lose_to_each_other_comes_back_and_is_said(read: Read, make_run: Callable[..., Run]) -> None:
    """It was stated and not measured, also for whoever imports the table."""
    device = replace(Device("emulated", 0, "V100", 300.0, "a table"), scaling_loss=0.05, scaling_source="a source")
    runs = []
    for count, vcpus in product((1, 2), (1.0, 2.0, 4.0, 8.0)):
        ceiling = 300.0 * (device.speed_up(count) or 1.0)
        run = make_run((ceiling**-8 + (250 * vcpus) ** -8) ** (-1 / 8), vcpus, device=device)
        spec, place = replace(run.spec, gpu_count=count), replace(run.configuration, gpu_count=count)
        runs.append(replace(run, spec=spec, configuration=place))
    imported = read(write_csv(runs))
    devices = {run.spec.workload.computes_on for run in imported.runs}
    assert {(device.scaling_loss, device.scaling_source) for device in devices} == {(0.05, GIVEN_IN_TABLE)}
    model = fit(imported.runs)
    (answer,) = recommend(model, imported.runs, Objective(), stored_catalog()).workloads
    assert (
        "What they lose to each other is given in the imported table, and was not measured here: 2 x emulated V100 "
        "make 95.1 % of as many alone."
    ) in accelerator_counts_lines(answer, terms_of(model.workload("train")))
