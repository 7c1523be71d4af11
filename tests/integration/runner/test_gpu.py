"""A run on a GPU whose driver is a double: the launcher, the watching thread and the child are real, the GPU is not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.limits.detection import detect
from sizer.records.device import Device
from sizer.records.prediction import Bottleneck
from sizer.records.run import WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import RunSpec
from sizer.runner.launcher import RunContext, launch
from tests.shared import TELLS
from tests.unit.host.fake_nvml import FakeGpu, FakeNvml

pytestmark = pytest.mark.slow

TRAINS = f"""{TELLS}
print(os.environ["CUDA_DEVICE_ORDER"], flush=True)
start()
last = time.monotonic()
while True:
    time.sleep(0.02)
    now = time.monotonic()
    write(event="step", time=now, samples=8, input_wait=0.0, epoch=0, accelerator_seconds=0.97 * (now - last))
    last = now
"""


def test_a_run_on_a_gpu_has_its_figures(
    make_spec: Callable[..., RunSpec], context: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The visible GPU of that index is watched; a kernel running is the demand; another process is named."""
    stranger = os.getppid()
    other = FakeGpu("GPU-bbbb", busy=90, used=5 << 30, reasons=0x4, compute={stranger: 1 << 30})
    FakeNvml(FakeGpu("GPU-aaaa", used=1), other).install(monkeypatch)
    spec = make_spec(sys.executable, "-c", TRAINS, seconds=4)
    spec = replace(spec, workload=replace(spec.workload, device=Device("cuda", 0)))
    run = launch(spec, replace(context, environment={**os.environ, "CUDA_VISIBLE_DEVICES": "GPU-bbbb"}), detect())
    assert run.outcome is Outcome.COMPLETED
    assert context.log_path.read_text().startswith("PCI_BUS_ID")
    (gpu,) = run.conditions.gpus
    assert (gpu.index, gpu.uuid, gpu.peak_memory_bytes) == (1, "GPU-bbbb", 5 << 30)
    assert gpu.held_back == {"power_cap": 1.0}
    assert gpu.others[0].endswith(f"(pid {stranger})")
    assert run.demand.accelerator_seconds is not None
    assert run.demand.accelerator_seconds * run.throughput.value == pytest.approx(0.9, abs=0.03)
    assert run.configuration.gpu == other.name
    assert run.evidence.bottleneck is Bottleneck.ACCELERATOR
    kinds = {warning.kind for warning in run.warnings}
    assert {WarningKind.GPU_THROTTLED, WarningKind.GPU_SHARED} <= kinds
    assert (run.samples[-1].accelerator_busy or 0) > 1
