"""The model foretells configurations it has not seen, on machines that follow other laws than its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.records.run import Bottleneck, Configuration, Run
from sizer.records.units import GIB

JOBS = 8
STAGE = {
    Bottleneck.CPU: 0,
    Bottleneck.SERIAL: 0,
    Bottleneck.DISK_BANDWIDTH: 1,
    Bottleneck.DISK_IOPS: 1,
    Bottleneck.ACCELERATOR: 2,
}


@pytest.fixture(scope="module")
def fitted_jobs(
    draw_job: Callable[..., Any], measure_job: Callable[..., list[Run]]
) -> Callable[[bool], list[tuple[Any, WorkloadModel]]]:
    """Jobs with the models of their runs, with and without accounting; fitted once."""

    @cache
    def fitted(accounted: bool) -> list[tuple[Any, WorkloadModel]]:
        random = np.random.default_rng(7)
        jobs = []
        for _ in range(JOBS):
            job = draw_job(random)
            runs = measure_job(job, (1, 2, 4, 8), random, 0.02, 2, accounted)
            jobs.append((job, fit(runs).workload("train")))
        return jobs

    return fitted


@pytest.mark.slow
@pytest.mark.parametrize("accounted", [True, False])
def test_held_out_vcpus_are_predicted(fitted_jobs: Callable[..., Any], accounted: bool) -> None:
    """Between measured vCPUs, the median error is within 3 %, the 90th percentile within 10 %, intervals cover."""
    random = np.random.default_rng(8)
    errors, covered = [], []
    for job, model in fitted_jobs(accounted):
        for vcpus in (3.0, 6.0):
            for disk in job.disks:
                truth = job.rate(vcpus, disk)
                found = predict(model, Configuration(vcpus, 8 * GIB, disk, 32))
                errors.append(abs(math.log(found.throughput.value / truth)))
                new = truth * math.exp(0.02 * random.standard_normal())
                covered.append(found.throughput.low <= new <= found.throughput.high)
                assert not found.extrapolated
    assert np.median(errors) < 0.03
    assert np.quantile(errors, 0.9) < 0.10
    assert np.mean(covered) >= 0.85


@pytest.mark.slow
def test_bottleneck_is_the_true_one(fitted_jobs: Callable[..., Any]) -> None:
    """Where one stage clearly binds, the model names it in 95 % of cases."""
    right = []
    for job, model in fitted_jobs(True):
        for vcpus in (1.0, 3.0, 8.0):
            for disk in job.disks:
                shares = job.shares(vcpus, disk)
                first, second = sorted(shares, reverse=True)[:2]
                if first - second > 0.3:
                    found = predict(model, Configuration(vcpus, 8 * GIB, disk, 32)).bottleneck
                    right.append(STAGE.get(found, -1) == int(np.argmax(shares)))
    assert len(right) > 40
    assert np.mean(right) >= 0.95


def test_beyond_the_range_is_said_and_is_wider(
    draw_job: Callable[..., Any], measure_job: Callable[..., list[Run]]
) -> None:
    """Above the largest vCPUs measured the prediction is extrapolated and its interval grows with the distance."""
    random = np.random.default_rng(5)
    job = draw_job(random)
    model = fit(measure_job(job, (1, 2, 4), random, 0.02, 2, True)).workload("train")
    disk = next(iter(job.disks))
    near, far, further = (predict(model, Configuration(c, 8 * GIB, disk, 32)) for c in (3.0, 8.0, 32.0))
    widths = [math.log(each.throughput.high / each.throughput.low) for each in (near, far, further)]
    assert (near.extrapolated, far.extrapolated, further.extrapolated) == (False, True, True)
    assert widths[0] < widths[1] < widths[2]
