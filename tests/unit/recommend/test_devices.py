"""Which of the devices of a study's list: one answer for the workload, as surely as the rates of the GPUs are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.device import Device
from sizer.records.prediction import Bottleneck
from sizer.records.run import Demand, Evidence, EvidenceKind, Run
from sizer.records.study import Objective
from sizer.words.answers import headline
from sizer.words.costs import costs_lines
from sizer.words.names import terms_of_answer
from sizer.words.reasons.phrasing import reason_sentences
from tests.tables import stored_catalog

MakeRun = Callable[..., Run]
CORE_SECONDS = 0.002
T4 = Device("emulated", 0, "T4", 110.0, "a test", rate_low=80.0, rate_high=150.0, rate_basis="published")
A100 = Device("emulated", 0, "A100", 1000.0, "a test", rate_low=700.0, rate_high=1400.0, rate_basis="published")
UNSURE = replace(A100, rate_low=300.0, rate_high=3300.0, rate_basis="transferred")


def measured(make_run: MakeRun, devices: Sequence[Device]) -> list[Run]:
    """One pipeline that feeds each of the devices, from 1 to 4 vCPUs."""
    runs = []
    for device in devices:
        for vcpus in (1.0, 2.0, 4.0):
            cpu, of_device = vcpus / CORE_SECONDS, device.samples_per_second or 30.0 * vcpus
            bound = Bottleneck.CPU if cpu < of_device or device.kind == "cpu" else Bottleneck.ACCELERATOR
            rate = (cpu**-8 + of_device**-8) ** (-1 / 8)
            used = Demand(core_seconds=CORE_SECONDS, read_bytes=1e5, read_ios=1.0, accelerator_seconds=1 / of_device)
            evidence = Evidence(bound, {}, EvidenceKind.BUSIEST, {})
            runs.append(make_run(rate, vcpus, device=device, demand=used, evidence=evidence))
    return runs


def answered(runs: list[Run], **objective: Any) -> tuple[Answer, list[str]]:
    """The answer, and what the terminal says of it."""
    model = fit(runs)
    answer = recommend(model, runs, Objective(**objective), stored_catalog()).workloads[0]
    terms = terms_of_answer(answer, model.workloads[0])
    lines = [headline(answer, terms), *reason_sentences(answer.reasons, terms), *costs_lines(answer, terms)]
    return answer, lines


@pytest.fixture(scope="module")
def of_gpus(make_run: MakeRun) -> tuple[Answer, list[str]]:
    return answered(measured(make_run, [T4, A100]))


def test_one_answer_names_the_device(of_gpus: tuple[Answer, list[str]]) -> None:
    """With its vCPUs, and the rate that was emulated for it, not for the first of the list."""
    answer, lines = of_gpus
    assert answer.spec is not None
    assert (answer.status, answer.spec.gpu, answer.spec.gpu_count) == ("recommended", "emulated:A100", 1)
    assert (answer.probability or 0) >= 0.9
    assert "bound by the emulated A100" in lines[0]
    assert any("the emulated A100 takes: 1,000 images/s (700 to 1,400), published" in line for line in lines)


def test_what_the_others_cost_is_told(of_gpus: tuple[Answer, list[str]]) -> None:
    """Each configuration of each device in one table, whatever is the cheapest."""
    answer, lines = of_gpus
    assert answer.costs is not None
    assert [(row.spec.gpu, row.spec.vcpus) for row in answer.costs.rows] == [
        (f"emulated:{gpu}", vcpus) for gpu in ("A100", "T4") for vcpus in (1.0, 2.0, 4.0)
    ]
    assert sum("1 x emulated T4" in line for line in lines if "images/s" in line and "$" in line) == 3


def test_a_gpu_whose_rate_is_not_sure_makes_the_answer_less_sure(make_run: MakeRun) -> None:
    """The real one may be far slower than it was emulated; its published rate would be taken as it is."""
    (sure, _), (unsure, _) = (answered(measured(make_run, [T4, gpu])) for gpu in (A100, UNSURE))
    assert (unsure.probability or 0) < 0.95 < (sure.probability or 0)
    widths = [answer.throughput.high / answer.throughput.low for answer in (unsure, sure) if answer.throughput]
    assert widths[0] > 4 > widths[1]


def test_the_cpu_may_be_one_of_them(make_run: MakeRun) -> None:
    """A row without an accelerator, which is asked for like any other."""
    answer, lines = answered(measured(make_run, [Device(), A100]), at_least=50.0)
    assert answer.costs is not None
    assert {(row.spec.gpu, row.spec.gpu_count) for row in answer.costs.rows} == {(None, 0), ("emulated:A100", 1)}
    assert any(line.startswith("CPU or GPU") for line in lines)


def test_a_device_is_a_baseline_by_its_name(make_run: MakeRun) -> None:
    """`T4`, although it was emulated."""
    answer, _ = answered(measured(make_run, [T4, A100]), baseline="T4")
    assert answer.baseline is not None
    assert answer.baseline.spec.gpu == "emulated:T4"
