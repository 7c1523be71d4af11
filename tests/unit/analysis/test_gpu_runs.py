"""The record of a run on a GPU: what bound it, and what must be known of its figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis.ending import ChildResult
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.record import run_record
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import ClockReason, Device, GpuSample, GpuUse
from sizer.records.run import LimitedBy, LimitedByKind, Run, Sample, Step
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.words.warnings import warning_line

GIB = 2**30
GPU = GpuUse(1, "V100", "GPU-aaaa", 16 * GIB)


def run(cores: float, step_seconds: float, gpu: GpuSample | None = None, exit_status: int = 0) -> Run:
    """Twenty seconds of 80 images/s on two vCPUs; the GPU takes `step_seconds` of each 0.1 s, the host `cores`."""
    seen = RunMonitor(
        RunSpec(Workload("train", "image_training", device=Device("cuda", 0)), 8, Limits(2.0), Measure(seconds=20)), 0.0
    )
    seen.steps = [Step(0.1 * at, 8, 0.0, 0, accelerator_seconds=step_seconds) for at in range(201)]
    ticks = [0.5 * tick for tick in range(41)]
    told = gpu or GpuSample()
    result = ChildResult(
        seen=seen,
        exit_status=exit_status,
        joined=True,
        samples=tuple(
            Sample(time=time, core_seconds=cores * time, gpus=(replace(told, busy=0.9 * time, joules=160 * time),))
            for time in ticks
        ),
        accounted=frozenset({"core_seconds"}),
        limited_by=LimitedBy(LimitedByKind.SIZER, "cgroup v2", "0-1", by_cpuset=True),
        last_lines="",
        resident_bytes=None,
        resident_after_bytes=None,
        throttles_buffered_writes=False,
        gpus=(GPU,),
    )
    return run_record(result, Configuration(2.0, 8 * GIB, "host", 8), None, None, "2026-11-21T10:00:00+00:00", 21.0)


@pytest.mark.parametrize(
    ("cores", "step_seconds", "bound"),
    [
        (0.6, 0.097, Bottleneck.ACCELERATOR),
        (1.96, 0.04, Bottleneck.CPU),
        (1.95, 0.098, Bottleneck.AMBIGUOUS),
    ],
)
def test_the_host_works_while_the_gpu_computes(cores: float, step_seconds: float, bound: Bottleneck) -> None:
    """Loading overlaps with computing, so each side's share is of the same time, and the fuller one binds."""
    made = run(cores, step_seconds)
    assert made.demand is not None
    assert made.demand.accelerator_seconds == pytest.approx(step_seconds / 8)
    assert made.evidence is not None
    assert made.evidence.bottleneck is bound
    assert made.evidence.busy["accelerator"] == pytest.approx(10 * step_seconds, abs=1e-4)


@pytest.mark.parametrize(
    ("gpu", "said"),
    [
        (
            GpuSample(held_back=(ClockReason.POWER_CAP,)),
            "GPU throttled: the clocks of the GPU were lowered for 100 % of the time: it reached its power limit",
        ),
        (
            GpuSample(others=("Xorg (pid 7)", "python (pid 9)")),
            "GPU shared: others were on its GPU for 100 % of the time: Xorg (pid 7), python (pid 9)",
        ),
        (
            GpuSample(memory_bytes=int(15.8 * GIB)),
            "GPU memory full: up to 15.8 GiB of the 16 GiB of its GPU's memory were in use; part of it may be memory "
            "that the framework keeps without need",
        ),
    ],
)
def test_what_spoils_a_figure_is_said(gpu: GpuSample, said: str) -> None:
    """Which reason, how much of the time, and who."""
    found = [warning for warning in run(0.6, 0.09, gpu).warnings if warning.kind.value.startswith("gpu_")]
    assert [warning_line(warning, "image") for warning in found] == [said]
