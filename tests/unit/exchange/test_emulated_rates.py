"""What a table says of the rate of an emulated accelerator comes back from an export."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from sizer.exchange.measurements import write_csv
from sizer.model.batch_curve import batch_curves
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.device import GIVEN_IN_TABLE, BatchRate, Device
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.words.accelerators import accelerator_counts_lines, batch_sentences
from sizer.words.names import terms_of
from tests.tables import Read, stored_catalog

RATES = (
    BatchRate(16, 150.0, "a table", 100.0, 220.0, "published"),
    BatchRate(64, 300.0, "a table", 200.0, 450.0, "published"),
    BatchRate(256, 400.0, "extrapolated: a table", 180.0, 900.0, "extrapolated"),
)
V100 = replace(Device("emulated", 0, "V100").with_rate(RATES[1]), batch_rates=RATES)


@pytest.fixture
def runs(make_run: Callable[..., Run]) -> list[Run]:
    return [make_run(0.99 * each.samples_per_second, 4.0, batch=each.batch_size, device=V100) for each in RATES]


def test_an_exported_study_keeps_its_batch_curve(read: Read, runs: list[Run]) -> None:
    """Each batch waited for its own rate, and all are of one curve."""
    (before,) = batch_curves(runs)
    found = read(write_csv(runs))
    (after,) = batch_curves(found.runs)
    assert [point.batch_size for point in after.points] == [16, 64, 256]
    assert [point.throughput.value for point in after.points] == [point.throughput.value for point in before.points]
    assert {run.spec.workload.computes_on for run in found.runs} == {found.runs[0].spec.workload.computes_on}
    rates = [(run.spec.batch_size, run.spec.device.samples_per_second) for run in found.runs]
    assert rates == [(16, 150.0), (64, 300.0), (256, 400.0)]


def test_how_sure_a_rate_is_comes_back_too(read: Read, runs: list[Run]) -> None:
    """An answer from the table is no surer than one from the study."""
    devices = [run.spec.device for run in read(write_csv(runs)).runs]
    assert [(device.rate_low, device.rate_high, device.rate_basis) for device in devices] == [
        (each.low, each.high, each.basis) for each in RATES
    ]


def test_it_is_said_where_the_rates_come_from(read: Read, runs: list[Run]) -> None:
    """And not that there was one rate for all."""
    found = read(write_csv(runs))
    model = fit(found.runs)
    (answer,) = recommend(model, found.runs, Objective(), stored_catalog()).workloads
    assert answer.batch is not None
    said = " ".join(batch_sentences(answer.batch, terms_of(model.workload("train"))))
    assert "is given in the imported table, and was not measured here" in said
    assert "one rate for all batch sizes" not in said


def test_what_several_lose_to_each_other_comes_back_and_is_said(read: Read, make_run: Callable[..., Run]) -> None:
    """It was stated and not measured, also for whoever imports the table."""
    device = replace(Device("emulated", 0, "V100", 300.0, "a table"), scaling_loss=0.05, scaling_source="a source")
    runs = []
    for count, vcpus in product((1, 2), (1.0, 2.0, 4.0, 8.0)):
        ceiling = 300.0 * (device.speed_up(count) or 1.0)
        run = make_run((ceiling**-8 + (250 * vcpus) ** -8) ** (-1 / 8), vcpus, device=device)
        spec, place = replace(run.spec, gpu_count=count), replace(run.configuration, gpu_count=count)
        runs.append(replace(run, spec=spec, configuration=place))
    found = read(write_csv(runs))
    devices = {run.spec.workload.computes_on for run in found.runs}
    assert {(device.scaling_loss, device.scaling_source) for device in devices} == {(0.05, GIVEN_IN_TABLE)}
    model = fit(found.runs)
    (answer,) = recommend(model, found.runs, Objective(), stored_catalog()).workloads
    assert (
        "What they lose to each other is given in the imported table, and was not measured here: 2 x emulated V100 "
        "make 95.1 % of as many alone."
    ) in accelerator_counts_lines(answer, terms_of(model.workload("train")))
