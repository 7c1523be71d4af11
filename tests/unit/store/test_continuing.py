"""Whether a study may go on in a folder that holds runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.records.messages import InputError
from sizer.records.run import Configuration, DiskCheck, Estimate, Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import DiskRates, DiskTier, Limits, Measure, RunSpec, Study, Workload, WorkloadPlan
from sizer.store.continuing import (
    measured,
    refuse_other_machine,
    refuse_other_meaning,
    refuse_other_study,
    refuse_other_versions,
)

TRAIN = Workload("train", "image_training", network="resnet50")
SLOW = DiskTier("slow", emulated=DiskRates(read_bytes_per_second=4e7))
STUDY = Study("s", (WorkloadPlan(TRAIN, (32,)),), (SLOW,))
RUN = Run(
    RunSpec(TRAIN, 32, Limits(disk="slow"), Measure()),
    Outcome.COMPLETED,
    Configuration(1.0, 2**30, "slow", 32),
    "2026-11-21T10:00:00+00:00",
    40.0,
    disk=DiskCheck(SLOW, DiskRates()),
)


def test_more_of_the_same_may_go_on() -> None:
    """Other axes, repeats and workloads beside the old ones mix with nothing."""
    more = Study(
        "s", (WorkloadPlan(TRAIN, (8,), (1.0, 2.0)), WorkloadPlan(Workload("b", "lstm_training"), (20,))), (SLOW,)
    )
    refuse_other_study("x", STUDY, more)
    refuse_other_meaning("x", [RUN], more)
    refuse_other_meaning("x", [RUN], Study("s", ()))


def test_another_study_is_refused() -> None:
    """A folder belongs to the study that it is named after."""
    with pytest.raises(InputError, match="x contains the study `s`, not `t`"):
        refuse_other_study("x", STUDY, replace(STUDY, name="t"))


def test_a_workload_that_is_something_else_now_is_refused() -> None:
    """Rates of two networks under one name would be fitted as one."""
    other = replace(STUDY, workloads=(WorkloadPlan(replace(TRAIN, network="vgg16"), (32,)),))
    with pytest.raises(InputError, match="another workload named `train`"):
        refuse_other_meaning("x", [RUN], other)


def test_a_run_that_isolates_a_stage_is_of_the_same_workload() -> None:
    """It is fed otherwise, and nothing else about it may differ."""
    fed = replace(TRAIN, input="replay", cache="cold")
    stage = replace(RUN, spec=replace(RUN.spec, workload=fed, purpose=Purpose.ISOLATES_DISK))
    refuse_other_meaning("x", [stage], STUDY)
    other = replace(stage, spec=replace(stage.spec, workload=replace(fed, network="vgg16")))
    with pytest.raises(InputError, match="another workload named `train`"):
        refuse_other_meaning("x", [other], STUDY)


def test_preprocessing_of_before_its_decoder_was_stated_is_refused() -> None:
    """It was slower than what would be measured now, and both would be fitted as one."""
    pack = Workload("pack", "imagenet_preprocessing", "opencv", format="recordio")
    before = replace(RUN, spec=replace(RUN.spec, workload=pack), disk=None, throughput=Estimate(600.0, 590.0, 610.0))
    study = Study("s", (WorkloadPlan(pack, (32,)),))
    with pytest.raises(InputError, match="runs of `pack` by the slower preprocessing of an older version"):
        refuse_other_meaning("x", [before], study)
    refuse_other_meaning("x", [replace(before, stated={"decoder": "simplejpeg"})], study)
    refuse_other_meaning("x", [replace(before, outcome=Outcome.OUT_OF_MEMORY, throughput=None)], study)


def test_a_disk_that_is_something_else_now_is_refused() -> None:
    """A run's identity holds the disk's name alone, so its figures must stay what they were."""
    faster = replace(SLOW, emulated=DiskRates(read_bytes_per_second=8e7))
    with pytest.raises(InputError, match="another disk named `slow`"):
        refuse_other_meaning("x", [RUN], replace(STUDY, disks=(faster,)))


def test_another_machine_is_refused() -> None:
    """Rates of two machines are no study of one; facts that may change are no machine's."""
    host = {"cpu_model": "EPYC", "cpus": 2, "kernel": "6.1"}
    refuse_other_machine("x", host, {**host, "kernel": "6.18"})
    refuse_other_machine("x", {}, host)
    with pytest.raises(InputError, match="processor EPYC, and this one has Xeon"):
        refuse_other_machine("x", host, {**host, "cpu_model": "Xeon"})
    with pytest.raises(InputError, match="with 2 vCPUs, and this one has 4"):
        refuse_other_machine("x", host, {**host, "cpus": 4})


def test_another_version_of_a_framework_is_refused() -> None:
    """If runs were measured with the one before; other packages, and folders that do not say it, may differ."""

    def host(mxnet: str, numpy: str = "1.26.4", path: str = "/a/python") -> dict[str, object]:
        packages = {"mxnet": mxnet, "numpy": numpy} if mxnet else {}
        return {"frameworks": [{"framework": "mxnet", "path": path, "python": "3.11", "packages": packages}]}

    refuse_other_versions("x", [RUN], host("1.9.1"), host("1.9.1", "1.24", "/b/python"))
    refuse_other_versions("x", [RUN], {}, host("1.9.1"))
    refuse_other_versions("x", [RUN], host("1.9.1"), {"frameworks": "strange"})
    refuse_other_versions("x", [RUN], host(""), host("1.9.1"))
    refuse_other_versions("x", [], host("1.9.1"), host("1.8.0"))
    with pytest.raises(InputError, match=r"x was measured with mxnet 1.9.1, and /b/python has 1.8.0; name the interp"):
        refuse_other_versions("x", [RUN], host("1.9.1"), host("1.8.0", path="/b/python"))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_findings_are_measured(outcome: Outcome) -> None:
    """A command that crashed may be corrected under its name."""
    kept = outcome in (Outcome.COMPLETED, Outcome.OUT_OF_MEMORY)
    assert measured([replace(RUN, outcome=outcome)]) == ((replace(RUN, outcome=outcome),) if kept else ())
