"""A curve of noisy runs: a serial part shows where they move by less than what is at stake."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from sizer.model import WorkloadModel, fit, predict
from sizer.records import Bottleneck, Configuration, Demand, Evidence, EvidenceKind, Run

MakeRun = Callable[..., Run]
SERIAL = Evidence(Bottleneck.SERIAL, {"cpu": 0.13}, EvidenceKind.SERIAL, {"cores": 1.05, "vcpus": 8.0})
QUIET, BUSY = (0.99, 1.0, 1.01), (0.85, 1.0, 1.18)


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
    ("moved", "evidence", "named"),
    [
        (QUIET, None, Bottleneck.SERIAL),
        (BUSY, None, Bottleneck.AMBIGUOUS),
        (BUSY, SERIAL, Bottleneck.SERIAL),
    ],
)
def test_what_binds_is_no_surer_than_its_runs(
    make_run: MakeRun, moved: Sequence[float], evidence: Evidence | None, named: Bottleneck
) -> None:
    """Of runs that move by a sixth only accounting tells a serial part."""
    model = flat(make_run, moved, evidence)
    at_most = Configuration(8.0, 8 * 2**30, "host", 32)
    assert predict(model, at_most).bottleneck is named
