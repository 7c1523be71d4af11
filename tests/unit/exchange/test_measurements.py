"""measurements.csv: one row a run."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.exchange.measurements import write_csv
from sizer.files.tables import harmless, unharmed
from sizer.records.configuration import Bottleneck, Configuration, Estimate
from sizer.records.device import Device, GpuUse
from sizer.records.run import Conditions, Demand, Evidence, EvidenceKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload

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


def test_a_row_tells_what_its_figures_rest_on() -> None:
    """Bottleneck, hit rate and every warning are in the row; what is not known is empty, and no hits are 0."""
    stated = run(
        evidence=Evidence(Bottleneck.DISK_IOPS, {"disk_iops": 0.99}, EvidenceKind.BUSIEST, {"disk_iops": 0.99}),
        conditions=Conditions(hit_rate=0.0),
        warnings=(
            RunWarning(WarningKind.CONTENDED, {"cores": 0.31}),
            RunWarning(WarningKind.OTHER, text='odd: a "quoted", longer one'),
        ),
    )
    found, plain = rows(stated, run())
    assert (found["bottleneck"], found["hit_rate"]) == ("disk_iops", "0.0")
    assert found["warnings"] == 'contended; odd: a "quoted", longer one'
    assert (plain["bottleneck"], plain["hit_rate"], plain["warnings"]) == ("", "", "")


def test_the_table_tells_the_order_of_the_runs() -> None:
    """When each run started, and which repeat it was, counted from 1 as on the page."""
    (row,) = rows(run())
    assert (row["started_at"], row["repeat"]) == ("2026-11-21T10:00:00+00:00", "1")


def test_a_run_that_failed_has_empty_figures() -> None:
    """A failed run keeps its row: it is a finding."""
    (row,) = rows(run(Outcome.OUT_OF_MEMORY))
    assert row["outcome"] == "out_of_memory"
    assert row["throughput"] == row["throughput_low"] == row["core_seconds_per_sample"] == ""


def test_the_cpu_has_no_gpu() -> None:
    """Without an accelerator the count is zero and the name empty."""
    done = run()
    plain = Run(
        RunSpec(Workload("train", "image_training"), 32, Limits(), Measure()),
        Outcome.COMPLETED,
        done.configuration,
        done.started_at,
        1.0,
    )
    (row,) = rows(plain)
    assert (row["device"], row["gpu"], row["gpu_count"]) == ("cpu", "", "0")


def test_bytes_come_back_exactly() -> None:
    """GiB are written with all their digits."""
    odd = 123_456_789_123
    first = run()
    place = Run(first.spec, first.outcome, Configuration(1.0, odd, "host", 32), first.started_at, 1.0)
    (row,) = rows(place)
    assert math.isclose(float(row["memory_gib"]) * 2**30, odd, rel_tol=0, abs_tol=1e-4)


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


@given(st.text("=＝+-@;|' ax"))
def test_what_was_kept_from_being_a_formula_comes_back(text: str) -> None:
    """As an import reads it."""
    assert unharmed(harmless(text)) == text


def test_a_run_is_one_line_whatever_its_text() -> None:
    """A line's end in a cell would make up a row."""
    text = write_csv([replace(run(), sample_unit="a\nb\r\x1b[2J")])
    assert len(text.splitlines()) == 2
    assert r"a\nb\r\x1b[2J" in text


def test_a_number_below_nought_stays_one() -> None:
    """Only text has the apostrophe."""
    (cells,) = rows(run(conditions=Conditions(hit_rate=-0.25)))
    assert float(cells["hit_rate"]) == -0.25


def test_what_a_driver_told_has_its_columns() -> None:
    """Of several GPUs the highest; watts, GiB, MHz, and bytes and joules of a sample."""
    used = GpuUse(0, "V100", busy=0.5, peak_memory_bytes=3 * 2**30, watts=150.0, sm_hertz=1.38e9, joules=2.5)
    (row,) = rows(run(conditions=Conditions(gpus=(used, replace(used, index=1, busy=0.75, sent_bytes=10.0)))))
    told = {name: cell for name, cell in row.items() if name.startswith("gpu_") and name != "gpu_count"}
    assert told == {
        "gpu_busy": "0.75",
        "gpu_memory_peak_gib": "3",
        "gpu_watts": "150.0",
        "gpu_joules_per_sample": "2.5",
        "gpu_sm_mhz": "1380",
        "gpu_memory_mhz": "",
        "gpu_sent_bytes_per_sample": "10.0",
        "gpu_received_bytes_per_sample": "",
    }


def test_mode_and_precision_are_those_of_the_network() -> None:
    """sizer's own networks compute in fp32; what an emulated GPU computes in, or a command, nobody knows."""
    emulated = run()
    computed = replace(
        emulated, spec=replace(emulated.spec, workload=Workload("f", "image_training", mode="forward_backward"))
    )
    own = replace(emulated, spec=replace(emulated.spec, workload=Workload("c", "command")))
    found = [(row["mode"], row["precision"]) for row in rows(emulated, computed, own)]
    assert found == [("train", ""), ("forward_backward", "fp32"), ("", "")]
