"""The rate on other CPUs: the CPU's stage moves, others stay."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.processors import processor_of
from sizer.model.fitting import fit
from sizer.model.model import CpuWork, WorkloadModel
from sizer.model.prediction import predict, predict_several
from sizer.model.transfer import knowing, on_machines
from sizer.records.device import Processor
from sizer.records.prediction import Configuration, Prediction, ReasonCode, Refusal
from tests.tables import runs_of

ROWS = "vcpus,throughput\n2,100\n4,196\n8,380\n"


def processor(name: str) -> Processor:
    its = processor_of(Catalog.load().called(name)[0])
    assert its is not None
    return its


def on(model: WorkloadModel, name: str, vcpus: float = 8) -> Prediction:
    at = Configuration(vcpus, None, None, None, machine=processor(name).name)
    return predict(knowing(model, [processor(name)]), at)


@pytest.fixture
def model(tmp_path: Path) -> WorkloadModel:
    """A job of the CPU, by rates on AWS c7a, whose vCPUs are whole cores."""
    return fit(runs_of(tmp_path, ROWS), None, [processor("aws/c7a.2xlarge")]).workloads[0]


def test_the_rate_moves_with_the_index(model: WorkloadModel) -> None:
    """To another CPU with whole cores by the ratio of indices, to the same one not at all."""
    here, there = on(model, "aws/c7a.2xlarge").throughput, on(model, "aws/c8a.2xlarge").throughput
    assert here.value == pytest.approx(380, rel=0.03)
    assert there.value / here.value == pytest.approx(1.529 / 1.235, rel=0.06)
    assert math.log(there.high / there.low) > math.log(here.high / here.low)


def test_two_hyperthreads_do_less_than_two_cores(model: WorkloadModel) -> None:
    """Eight vCPUs of c6i are four cores."""
    moved = on(model, "aws/c6i.2xlarge")
    assert moved.throughput.value / 380 == pytest.approx(1.0 / 1.235 * 1.25 / 2, rel=0.1)
    assert moved.transferred is not None
    assert moved.transferred.number("faster") == pytest.approx(1.0 / 1.235, rel=0.01)
    assert on(model, "aws/c7a.2xlarge").transferred is None


def test_two_sizes_of_one_type_tell_second_threads(tmp_path: Path) -> None:
    """Five times as fast with the eight vCPUs of four cores: eight whole cores do eight times as much."""
    rows = "vcpus,throughput\n1,100\n8,500\n"
    model = fit(runs_of(tmp_path, rows), None, [processor("aws/c6i.2xlarge")]).workloads[0]
    assert on(model, "aws/c7a.2xlarge").throughput.value == pytest.approx(800 * 1.235, rel=0.12)


def test_rates_on_several_types_are_one_model(tmp_path: Path) -> None:
    """What the work makes of each CPU is learnt, so that the rate on a further one is known better."""
    types = [processor(f"aws/{name}.2xlarge") for name in ("c6a", "c6i", "m5", "m8i")]
    rows = "".join(f"{one.name},8,{1000 * one.index:.4g}\n" for one in types)
    runs = runs_of(tmp_path, f"instance_type,vcpus,throughput\n{rows}")
    named, machines = on_machines(runs, {id(run): types[place] for place, run in enumerate(runs)})
    several, one = fit(named, None, machines).workloads[0], fit(runs[:1], None, types[:1]).workloads[0]
    moved, alone = on(several, "gcp/c3-standard-8").throughput, on(one, "gcp/c3-standard-8").throughput
    assert moved.value == pytest.approx(962, rel=0.06)
    assert math.log(moved.high / moved.low) < math.log(alone.high / alone.low)


def test_what_computes_matrices_stays_with_its_instructions(model: WorkloadModel) -> None:
    """The published rates say nothing of AVX-512 beside SVE."""
    matrix = replace(model, facts=replace(model.facts, cpu_work=CpuWork.MATRIX))
    names = ("aws/c7g.2xlarge", "aws/c8a.2xlarge")
    asked = [Configuration(8.0, None, None, None, machine=processor(name).name) for name in names]
    arm, alike = predict_several(knowing(matrix, [processor(name) for name in names]), asked)
    assert isinstance(alike, Prediction)
    assert isinstance(arm, Refusal)
    assert arm.reason.code is ReasonCode.NOT_MEASURED
    assert arm.reason.text("instructions") == "sve"


def test_a_second_thread_adds_more_on_some_cpus(tmp_path: Path) -> None:
    """From Intel's hyperthreads to AMD's a rate gains beside the index: decoding JPEGs they add 0.29 and 0.38."""
    model = fit(runs_of(tmp_path, "vcpus,throughput\n8,300\n"), None, [processor("aws/c6i.2xlarge")]).workloads[0]
    moved = on(model, "gcp/c2d-standard-8").throughput.value / 300
    assert 1.0 < moved / (processor("gcp/c2d-standard-8").index / 1.0) < 1.12
