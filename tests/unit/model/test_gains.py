"""What a change would gain: paired with what it is compared to, so that what is uncertain about both cancels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.model.edge import batch_edge, gain, loader_waits
from sizer.model.equation import INSTANT
from sizer.model.fitting import fit
from sizer.model.model import Model, WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.records.configuration import Configuration
from sizer.records.device import DiskRates
from sizer.records.run import Demand, Run

SLOW = DiskRates(read_iops=100_000.0, read_bytes_per_second=20e6)
FAST = DiskRates(read_iops=100_000.0, read_bytes_per_second=400e6)
CORE, BYTES = 1 / 100, 100_000.0


def _fitted(runs: list[Run]) -> WorkloadModel:
    model: Model = fit(runs)
    return model.workload("train")


@pytest.fixture(scope="module")
def two_disks(make_run: Callable[..., Run]) -> WorkloadModel:
    """One that gives 200 samples/s and one that gives 4,000, of a job that takes 10 ms of a CPU a sample."""
    demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / 131072)
    found = []
    for vcpus in (1.0, 2.0, 4.0, 8.0):
        for disk, rates in (("slow", SLOW), ("fast", FAST)):
            assert rates.read_bytes_per_second is not None
            ceilings = (vcpus / CORE, rates.read_bytes_per_second / BYTES)
            rate = sum(ceiling**-8 for ceiling in ceilings) ** (-1 / 8)
            found += [make_run(rate, vcpus, disk=disk, rates=rates, demand=demand, repeat=each) for each in (0, 1)]
    return _fitted(found)


def _at(model: WorkloadModel, vcpus: float, disk: str) -> Configuration:
    return next(
        rate.configuration
        for rate in model.measured.rates
        if (rate.configuration.vcpus, rate.configuration.disk) == (vcpus, disk)
    )


def test_no_change_gains_nothing(two_disks: WorkloadModel) -> None:
    """Whatever is uncertain about the rate itself."""
    here = _at(two_disks, 4.0, "slow")
    found = gain(two_disks, here, here)
    assert found is not None
    assert max(abs(found.value), abs(found.low), abs(found.high)) < 1e-9


def test_a_disk_on_which_nothing_waits_gains_what_is_held_back(two_disks: WorkloadModel) -> None:
    """Up to the CPU's limit where the disk binds, and nothing where the CPU does."""
    bound = _at(two_disks, 4.0, "slow")
    found = gain(two_disks, bound, bound, WhatIf(disk_rates=INSTANT))
    assert found is not None
    assert found.value == pytest.approx(1.0, abs=0.15)
    assert found.low <= found.value <= found.high
    assert found.low > 0.5
    assert found.value == pytest.approx(predict(two_disks, bound).headroom, rel=0.15)
    free = _at(two_disks, 1.0, "fast")
    none = gain(two_disks, free, free, WhatIf(disk_rates=INSTANT))
    assert none is not None
    assert none.value < 0.01


def test_another_configuration_has_a_misfit_of_its_own(two_disks: WorkloadModel) -> None:
    """So its gain is less sure than that of a what-if in place."""
    here = _at(two_disks, 4.0, "slow")
    found = gain(two_disks, here, replace(here, disk="fast"))
    assert found is not None
    assert found.value == pytest.approx(1.0, abs=0.15)
    assert found.high - found.low > 0


def test_more_workers_wait_at_once(make_run: Callable[..., Run]) -> None:
    """A worker that waits for the disk twice as long as it computes: twice as many gain half of all that time."""
    demand = Demand(core_seconds=CORE, read_bytes=BYTES, read_ios=BYTES / 4096)
    rates = DiskRates(read_iops=1e6, read_bytes_per_second=2e9)
    waiting = [
        make_run(vcpus / (3 * CORE), vcpus, disk="far", rates=rates, demand=demand, repeat=repeat)
        for vcpus in (1.0, 2.0, 4.0, 8.0)
        for repeat in (0, 1)
    ]
    model = _fitted(waiting)
    here = _at(model, 4.0, "far")
    waits = loader_waits(model, here)
    found = gain(model, here, here, WhatIf(loader_workers_factor=2.0))
    assert found is not None
    assert waits == pytest.approx(2 / 3, abs=0.1)
    assert found.value == pytest.approx(0.5, abs=0.15)


@pytest.mark.parametrize(("batch", "rises"), [(32, True), (16, False)])
def test_the_largest_batch_says_whether_a_larger_one_pays(
    batch: int, rises: bool, make_run: Callable[..., Run]
) -> None:
    """Three batch sizes show an edge at the largest, and nothing is said from within."""
    runs = [
        make_run(rate * vcpus, vcpus, batch=size)
        for size, rate in ((8, 40.0), (16, 70.0), (32, 110.0))
        for vcpus in (1.0, 2.0, 4.0)
    ]
    assert batch_edge(_fitted(runs), replace(runs[-1].configuration, batch_size=batch)).rises is rises
