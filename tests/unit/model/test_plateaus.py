"""What a plateau is of, and how sure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import pytest

from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.run import Demand, Evidence, EvidenceKind, Run

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


def test_a_disk_that_is_as_fast_shows_that_none_binds(make_run: MakeRun) -> None:
    """Two disks give the same: it is something else."""
    runs = [make_run(rate * f, c, disk=disk) for c, rate in KNEE.items() for disk, f in (("a", 1.0), ("b", 1.002))]
    assert named(runs, disk="a") is Bottleneck.SERIAL
    assert named(runs, disk="b") is Bottleneck.SERIAL


@pytest.mark.parametrize(("wait", "binding"), [(1.0, Bottleneck.CPU), (5.0, Bottleneck.DISK_BANDWIDTH)])
def test_a_wait_is_the_disks_as_far_as_another_has_less(make_run: MakeRun, wait: float, binding: Bottleneck) -> None:
    """Workers that wait as long on every disk scale as busy ones do, and are told from them by nothing."""
    waits = {"near": 1.0, "far": wait}
    runs = [make_run(100 * c / (1 + waits[disk]), c, disk=disk) for c in (1, 2, 4, 8) for disk in waits]
    assert named(runs, vcpus=4, disk="far") is binding


MakeRun = Callable[..., Run]
SERIAL = Evidence(Bottleneck.SERIAL, {"cpu": 0.13}, EvidenceKind.SERIAL, {"cores": 1.05, "vcpus": 8.0})
QUIET, BUSY = (0.99, 1.0, 1.01), (0.85, 1.0, 1.18)
AT_MOST = Configuration(8.0, 8 * 2**30, "host", 32)


def flat(make_run: MakeRun, moved: Sequence[float], evidence: Evidence | None = None) -> WorkloadModel:
    """100 images/s a vCPU, and never more than 160; each configuration three times, by these factors of that."""
    runs = []
    for repeat, factor in enumerate(moved):
        for vcpus in (1.0, 2.0, 4.0, 8.0):
            rate = factor * ((100 * vcpus) ** -6 + 160.0**-6) ** (-1 / 6)
            named = evidence if vcpus == 8 else None
            demand = Demand(core_seconds=0.01)
            runs.append(make_run(rate, vcpus, repeat=repeat, demand=demand, evidence=named))
    return fit(runs).workload("train")


@pytest.mark.parametrize(
    ("moved", "evidence"), [(QUIET, None), (BUSY, None), (BUSY, SERIAL)], ids=["quiet", "busy", "accounted"]
)
def test_a_fifth_of_what_vcpus_would_give_is_a_serial_parts(
    make_run: MakeRun, moved: Sequence[float], evidence: Evidence | None
) -> None:
    """However runs move: 8 vCPUs would make 800, and 160 were seen."""
    assert predict(flat(make_run, moved, evidence), AT_MOST).bottleneck is Bottleneck.SERIAL


def test_a_rate_is_no_surer_than_its_runs(make_run: MakeRun) -> None:
    """New runs of a host that is busy lie in an interval as wide as its runs are apart, and of a quiet one near by."""
    quiet, busy = (predict(flat(make_run, moved), AT_MOST).throughput for moved in (QUIET, BUSY))
    assert 0.93 * 160 < quiet.low < quiet.high < 1.07 * 160
    assert busy.low < 0.85 * 160 < 1.18 * 160 < busy.high
