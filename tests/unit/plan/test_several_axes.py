"""An adaptive plan over several axes at once: what it starts with, what it makes of each, and what it says."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sizer.model.fitting import fit
from sizer.plan.chosen import NextRun
from sizer.recommend.recommendation import recommend
from sizer.records.configuration import Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import (
    DiskTier,
    Measure,
    Objective,
    PlanEndKind,
    RunReasonKind,
    RunSpec,
    Study,
    Workload,
    WorkloadPlan,
)
from sizer.records.units import GIB
from sizer.words.studies.planning import reason_in_words
from tests.tables import stored_catalog
from tests.unit.plan.machine import LADDER, SECONDS, chooser_of, chosen, knee, made, study_of

MEMORY = (2 * GIB, 8 * GIB, 32 * GIB)
DISKS = tuple(
    DiskTier(name, emulated=DiskRates(100.0, mbps * 1e6))
    for name, mbps in (("slow", 20), ("middle", 60), ("fast", 200))
)


def emulated(*counts: int, vcpus: tuple[float, ...] = LADDER) -> Study:
    """Training on so many emulated accelerators, over vCPUs."""
    device = Device("emulated", gpu="V100", samples_per_second=300.0)
    workload = Workload("train", "image_training", network="resnet50", cache="cold", device=device)
    planned = WorkloadPlan(workload, (32,), vcpus=vcpus, gpu_count=counts)
    return Study("s", (planned,), measure=Measure(repeats=2, seconds=SECONDS))


def fed(configuration: Configuration) -> float:
    """100 samples/s a vCPU, as far as the accelerators take them."""
    return min(100.0 * (configuration.vcpus or 1.0), 300.0 * (configuration.gpu_count or 1))


def on_disks(configuration: Configuration) -> float:
    """A knee at four vCPUs, which the slow disk does not feed; memory is for nothing but to be enough."""
    return min(knee(4.0)(configuration), 150.0 if configuration.disk == "slow" else math.inf)


def over_memory_and_disks() -> Study:
    return replace(study_of(memory_bytes=MEMORY, disk=("fast", "middle", "slow")), disks=DISKS)


def test_every_number_of_accelerators_is_measured() -> None:
    """One that the start left out is next; then each configuration once, since only what was measured is compared."""
    study = emulated(1, 2, 3, 4, vcpus=(1.0, 4.0, 16.0))
    runs, end = chosen(study, fed)
    kinds = [run.reason.kind for run in runs if run.reason is not None]
    assert [run.spec.gpu_count for run in runs[:4]] == [1, 4, 3, 2]
    assert kinds[3] is RunReasonKind.NOT_SEEN
    assert set(kinds[4:]) == {RunReasonKind.NOT_COMPARED, RunReasonKind.HOST_AGAIN}
    assert len({(run.spec.limits.vcpus, run.spec.gpu_count) for run in runs}) == 12
    assert len(runs) == 12 + kinds.count(RunReasonKind.HOST_AGAIN)
    assert end.settled == ("train",)


def test_memory_and_disks_start_together() -> None:
    """Each of the first three runs has another vCPU value, memory and disk, the fastest with the most of all else."""
    specs = chooser_of(over_memory_and_disks()).start()
    assert [(spec.limits.vcpus, spec.limits.memory_bytes, spec.limits.disk) for spec in specs] == [
        (16.0, 32 * GIB, "fast"),
        (1.0, 2 * GIB, "slow"),
        (4.0, 8 * GIB, "middle"),
    ]


@pytest.mark.parametrize("drawn", range(4))
def test_memory_and_disks_are_answered_by_few_of_their_runs(drawn: int) -> None:
    """Of 45 configurations, a quarter at the most, whatever the noise: a run at a size whose rate is known tells
    nothing of how fast the best is, which was not measured on that disk."""
    runs, end = chosen(over_memory_and_disks(), on_disks, drawn=drawn)
    (answer,) = recommend(fit(runs), runs, Objective(), stored_catalog()).workloads
    assert end.kind in (PlanEndKind.SETTLED, PlanEndKind.NOTHING_LEFT)
    assert answer.spec is not None
    assert (answer.spec.vcpus, answer.spec.disk == "slow") == (4.0, False)
    assert answer.provisional is (end.kind is PlanEndKind.NOTHING_LEFT)
    assert len(runs) <= 11
    for why in (run.reason for run in runs[3:]):
        assert why is not None
        assert reason_in_words(why)


def test_where_too_little_memory_fails_the_fewest_vcpus_are_measured_with_more() -> None:
    """A curve needs three values; of those that failed nobody knows the rate."""
    study = study_of(memory_bytes=MEMORY)

    def run_of(spec: RunSpec) -> Run:
        held = (spec.limits.memory_bytes or 0) > 2 * GIB
        return made(spec, knee(4.0), Outcome.COMPLETED if held else Outcome.OUT_OF_MEMORY)

    chooser = chooser_of(study)
    runs = [run_of(spec) for spec in chooser.start()]
    following = chooser.next_run(runs)
    assert isinstance(following, NextRun)
    assert following.spec.limits.vcpus == 1.0
    assert following.spec.limits.memory_bytes == 32 * GIB
    assert following.why is not None
    assert reason_in_words(following.why) == "no run with these vCPUs completed yet"
