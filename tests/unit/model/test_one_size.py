"""One vCPU value does not tell a serial part from what others on the host took."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Bottleneck
from sizer.records.run import Demand, Evidence, EvidenceKind, Run
from sizer.records.study import Objective
from sizer.words.names import terms_of
from sizer.words.reasons import reason_sentences
from tests.modelled import contended

MakeRun = Callable[..., Run]
BATCHES = (8, 16, 32)
CORE_SECONDS = 0.02
SERIAL = Evidence(Bottleneck.SERIAL, {"cpu": 0.55}, EvidenceKind.SERIAL, {"cores": 1.1, "vcpus": 2.0})
CPU = Evidence(Bottleneck.CPU, {"cpu": 0.7}, EvidenceKind.BUSIEST, {"cpu": 0.7})


def forward(make_run: MakeRun, busy: float, evidence: Evidence | None, disturbed: bool) -> list[Run]:
    """The forward pass on synthetic input with 2 vCPUs, of which the job used this share."""
    runs = []
    for batch in BATCHES:
        rate = busy * 2 / CORE_SECONDS * (batch / (batch + 0.5))
        run = make_run(rate, 2.0, batch=batch, demand=Demand(core_seconds=CORE_SECONDS), evidence=evidence)
        workload = replace(run.spec.workload, input="synthetic", network="resnet50", mode="forward")
        run = replace(run, spec=replace(run.spec, workload=workload))
        if disturbed:
            run = contended(run, 0.8)
        runs.append(run)
    return runs


@pytest.mark.parametrize("evidence", [SERIAL, None])
def test_disturbed_runs_of_one_size_name_no_serial_part(make_run: MakeRun, evidence: Evidence | None) -> None:
    """Also where a stored run does: its accounting was disturbed, too."""
    runs = forward(make_run, 0.55, evidence, disturbed=True)
    model = fit(runs)
    for rate in model.workload("train").measured.rates:
        found = predict(model.workload("train"), rate.configuration)
        assert (found.bottleneck, found.shares) == (Bottleneck.AMBIGUOUS, {})
    answer = recommend(model, runs, Objective(), Catalog.load()).workloads[0]
    assert answer.bottleneck is not Bottleneck.SERIAL
    said = " ".join(reason_sentences(answer.reasons, terms_of(model.workload("train"))))
    assert "bound by its serial part" not in said
    assert "one vCPU value cannot tell a serial part from what others took" in said


def test_quiet_runs_of_one_size_show_a_serial_part_by_accounting(make_run: MakeRun) -> None:
    """One core was busy, and nobody else was there."""
    model = fit(forward(make_run, 0.55, SERIAL, disturbed=False)).workload("train")
    assert predict(model, model.measured.rates[-1].configuration).bottleneck is Bottleneck.SERIAL
