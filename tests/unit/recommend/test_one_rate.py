"""One configuration has one measured rate, wherever it is told, and one answer has one interval."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.bundled.reports import results
from sizer.model.fitting import fit
from sizer.model.model import Model, WorkloadModel
from sizer.model.observations import completed, observe
from sizer.model.prediction import predict
from sizer.recommend.candidates import machines_to_compare
from sizer.recommend.job_changes import judged_by
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Estimate
from sizer.records.run import Run, RunWarning, WarningKind
from sizer.records.study import Objective
from tests.modelled import SATURATING
from tests.tables import WHOLE_MACHINES, runs_of, stored_catalog

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
    at_place, known = results.rates_of_the_job(noisy)[here], model.measured.rate_at(here)
    assert math.exp(observed.log_rate) == pytest.approx(473.9, rel=0.005)
    assert known.throughput.value == row.throughput.value == at_place.value == MEDIAN
    assert known.throughput == row.throughput == at_place


def test_runs_that_were_fed_otherwise_are_not_of_the_rate(noisy: list[Run]) -> None:
    workload = replace(noisy[0].spec.workload, input="synthetic")
    spec, rate = replace(noisy[0].spec, workload=workload), Estimate(900.0, 890.0, 910.0)
    faster = [replace(run, spec=spec, throughput=rate) for run in noisy]
    found = results.rates_of_the_job([*faster, *noisy])[noisy[0].configuration]
    assert found.value == MEDIAN


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
NAMED = """
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
    "named machines": NAMED,
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


@pytest.mark.parametrize("vcpus", [(1.0, 2.0, 4.0), (1.0, 2.0, 4.0, 8.0), (1.0, 2.0)])
def test_an_answer_of_own_runs_and_its_prediction_are_one_figure(
    vcpus: tuple[float, ...], make_run: Callable[..., Run]
) -> None:
    runs = [make_run(min(100 * c, 220), c, repeat=repeat) for c in vcpus for repeat in range(2)]
    model = fit(runs)
    (answer,) = recommend(model, runs, Objective(), stored_catalog()).workloads
    if answer.spec is not None:
        workload = model.workloads[0]
        assert answer.throughput == predict(workload, judged_by(workload, answer.spec)).throughput


ROWS = 12
"""Of a model, over all of its table: to predict each of hundreds is slow."""


def test_measured_rows_of_every_model_without_accounting_are_taken_at_their_word(
    models: dict[str, WorkloadModel],
) -> None:
    told = 0
    for model in models.values():
        if model.facts.core_seconds is None and model.posterior is not None:
            for rate in model.measured.rates[:: math.ceil(len(model.measured.rates) / ROWS)]:
                assert predict(model, rate.configuration).throughput == rate.of_new_run
                told += 1
    assert told > 100


def test_a_model_is_stored_with_the_noise_of_its_rates(noisy: list[Run]) -> None:
    """Of runs that lie apart their own spread."""
    model: Model = fit(noisy)
    (rate,) = model.workloads[0].measured.rates
    assert rate.noise > 0.2
    assert rate.of_new_run.low < min(NOISY) < max(NOISY) < rate.of_new_run.high
