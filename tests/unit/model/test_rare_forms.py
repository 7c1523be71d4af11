"""Parts of the model that only some studies reach: memory that keeps data, many runs, several batch sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model import Quantity, Trend, batch_edge, fit, predict
from sizer.model.attribution import bottleneck_of
from sizer.model.memory import cached_fraction, hit_rate
from sizer.model.model import WorkloadFacts
from sizer.model.onward import still_rises
from sizer.records import GIB, Bottleneck, Device, Run

MakeRun = Callable[..., Run]


@pytest.mark.parametrize(
    ("cached", "sequential", "share"),
    [(1.0, False, 1.0), (1.0, True, 1.0), (0.9, True, 0.0), (0.0, False, 0.0), (0.5, False, 0.5 + 0.5 * math.log(0.5))],
)
def test_what_the_page_cache_serves(cached: float, sequential: bool, share: float) -> None:
    """Read in order, nothing is kept until everything fits; shuffled, less than what fits."""
    assert hit_rate(cached, sequential, 0.0) == pytest.approx(share)


@pytest.mark.parametrize(("data_bytes", "share"), [(None, 0.0), (8 * GIB, 0.375), (2 * GIB, 1.0)])
def test_how_much_of_the_data_memory_holds(data_bytes: int | None, share: float) -> None:
    """4 GiB less 1 GiB of the job's own; nothing is assumed of data whose size is not known."""
    facts = WorkloadFacts("image_training", Device(), data_bytes=data_bytes)
    assert cached_fraction(facts, 4 * GIB, GIB) == share


@pytest.mark.parametrize(
    ("shares", "evidence", "bottleneck"),
    [
        ({"cpu": 0.5, "serial": 0.4, "accelerator": 0.1}, Bottleneck.SERIAL, Bottleneck.SERIAL),
        ({"serial": 0.5, "cpu": 0.4, "accelerator": 0.1}, Bottleneck.CPU, Bottleneck.CPU),
        ({"cpu": 0.7, "serial": 0.3}, Bottleneck.CPU, Bottleneck.CPU),
        ({"cpu": 0.9, "accelerator": 0.1}, Bottleneck.ACCELERATOR, Bottleneck.AMBIGUOUS),
        ({"cpu": 0.52, "accelerator": 0.48}, None, Bottleneck.AMBIGUOUS),
    ],
)
def test_accounting_decides_between_a_cpu_and_its_serial_part(
    shares: dict[str, float], evidence: Bottleneck | None, bottleneck: Bottleneck
) -> None:
    """It saw whether the vCPUs were busy; where it names another resource than the model, neither is believed."""
    assert bottleneck_of(shares, evidence) is bottleneck


@pytest.mark.parametrize(("batch", "trend"), [(32, Trend.RISING), (16, Trend.FLAT)])
def test_the_last_batch_size_says_whether_a_larger_one_pays(batch: int, trend: Trend, make_run: MakeRun) -> None:
    """Three batch sizes show an edge at the largest, and nothing is said from within."""
    runs = [
        make_run(rate * vcpus, vcpus, batch=size)
        for size, rate in ((8, 40.0), (16, 70.0), (32, 110.0))
        for vcpus in (1.0, 2.0, 4.0)
    ]
    model = fit(runs).workload("train")
    edge = batch_edge(model, replace(runs[-1].configuration, batch_size=batch))
    assert edge.trend is trend


def test_one_size_neither_rises_nor_falls(make_run: MakeRun) -> None:
    """Of two vCPU values nothing is drawn on beyond."""
    model = fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0)]).workload("train")
    assert still_rises(model, model.measured.rates[-1].configuration) is None
    rising = fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]).workload("train")
    edge = still_rises(rising, rising.measured.rates[-1].configuration)
    assert edge is not None
    assert edge.trend is Trend.RISING


def test_what_memory_keeps_no_disk_has_to_read(make_run: MakeRun) -> None:
    """With much memory two disks without figures are alike, and with little they are not: the cache is the reason."""
    runs = [
        make_run(1 / (1 / (200 * vcpus) + missed / disk_rate), vcpus, memory=size * GIB, capped=True, disk=disk)
        for disk, disk_rate in (("slow", 50.0), ("fast", 500.0))
        for size, missed in ((2, 1.0), (4, 0.5), (16, 0.01))
        for vcpus in (1.0, 2.0, 4.0)
    ]
    model = fit(runs).workload("train")
    assert Quantity.READS_MISSED in {parameter.quantity for parameter in model.parameters}
    little, much = (
        predict(model, replace(runs[0].configuration, vcpus=4.0, memory_bytes=size * GIB)).throughput.value
        for size in (2, 16)
    )
    assert much > 5 * little


def test_memory_that_a_disk_was_not_measured_with_widens_its_interval(make_run: MakeRun) -> None:
    """On a disk of which only 16 GiB was measured, 2 GiB is a pair that no run shows."""
    known = [("fast", 2), ("fast", 4), ("fast", 16), ("slow", 16)]
    runs = [
        make_run((100.0 if disk == "fast" else 60.0) * vcpus, vcpus, memory=size * GIB, capped=True, disk=disk)
        for disk, size in known
        for vcpus in (1.0, 2.0, 4.0)
    ]
    model = fit(runs).workload("train")
    fast, slow = (
        predict(model, replace(runs[0].configuration, disk=disk, memory_bytes=2 * GIB)).throughput.relative_half_width
        for disk in ("fast", "slow")
    )
    assert slow > 1.5 * fast


def test_forms_are_chosen_by_some_runs_and_fitted_to_all(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more sizes than are screened every other one chooses the form; those left out count, too, for the rate."""
    monkeypatch.setattr("sizer.model.fitting.SCREENED", 6)
    runs = [make_run(100.0 * vcpus * (1.1 if vcpus % 2 else 0.9), vcpus) for vcpus in map(float, range(1, 13))]
    prediction = predict(fit(runs).workload("train"), replace(runs[0].configuration, vcpus=6.5)).throughput
    assert prediction.value == pytest.approx(650.0, rel=0.04)
    assert prediction.low < 600 < 700 < prediction.high
