"""What a curve that is flat is bound by, where nothing but rates is known: a disk makes the same one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.run import Bottleneck, Configuration, Run

MakeRun = Callable[..., Run]
KNEE = {1: 100.0, 2: 197.0, 4: 300.0, 8: 303.0, 16: 304.0}


def named(runs: Iterable[Run], vcpus: float = 16, disk: str = "host") -> Bottleneck:
    model = fit(list(runs)).workloads[0]
    return predict(model, Configuration(vcpus, 8 * 2**30, disk, 32)).bottleneck


def test_one_disk_leaves_open_what_a_plateau_is_of(make_run: MakeRun) -> None:
    """The disk, or a serial part; where the rate still rises the CPU is named as ever."""
    runs = [make_run(rate, vcpus) for vcpus, rate in KNEE.items()]
    assert named(runs) is Bottleneck.AMBIGUOUS
    assert named(runs, vcpus=1) is Bottleneck.CPU


def test_data_in_the_page_cache_leave_no_disk(make_run: MakeRun) -> None:
    assert named(make_run(rate, vcpus, cache="warm") for vcpus, rate in KNEE.items()) is Bottleneck.SERIAL


def test_a_disk_that_is_as_fast_shows_that_none_binds(make_run: MakeRun) -> None:
    """Two disks give the same: it is something else."""
    runs = [make_run(rate * f, c, disk=disk) for c, rate in KNEE.items() for disk, f in (("a", 1.0), ("b", 1.002))]
    assert named(runs, disk="a") is Bottleneck.SERIAL
    assert named(runs, disk="b") is Bottleneck.SERIAL


def test_a_rate_that_falls_is_no_disks(make_run: MakeRun) -> None:
    """More vCPUs that are slower hinder each other."""
    points = {1: 100.0, 2: 190.0, 4: 340.0, 8: 540.0, 16: 640.0, 32: 560.0, 64: 380.0}
    assert named((make_run(rate, vcpus) for vcpus, rate in points.items()), vcpus=64) is Bottleneck.SERIAL


@pytest.mark.parametrize(("wait", "binding"), [(1.0, Bottleneck.CPU), (5.0, Bottleneck.DISK_BANDWIDTH)])
def test_a_wait_is_the_disks_as_far_as_another_has_less(make_run: MakeRun, wait: float, binding: Bottleneck) -> None:
    """Workers that wait as long on every disk scale as busy ones do, and are told from them by nothing."""
    waits = {"near": 1.0, "far": wait}
    runs = [make_run(100 * c / (1 + waits[disk]), c, disk=disk) for c in (1, 2, 4, 8) for disk in waits]
    assert named(runs, vcpus=4, disk="far") is binding
