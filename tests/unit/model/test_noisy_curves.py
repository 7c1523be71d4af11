"""A curve of noisy runs: a serial part that is far from what they move by, and intervals as wide as that."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sizer.model.fitting import fit
from sizer.model.model import WorkloadModel
from sizer.model.prediction import predict
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.run import Demand, Evidence, EvidenceKind, Run

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
