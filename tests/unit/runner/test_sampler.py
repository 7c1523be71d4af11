"""Samples over time, rates between them, and what NVML tells."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from itertools import count
from pathlib import Path

import pynvml
import pytest

from sizer.analysis.counter_rates import rates
from sizer.host.nvml import gpus
from sizer.records.gpu import GpuSample
from sizer.records.run import Sample
from sizer.runner.sampler import Sampler
from tests import ROOT


class Counting:
    """A group that uses half a core."""

    def sample(self, time: float) -> Sample:
        return Sample(time=time, core_seconds=time / 2)


def test_each_tick_keeps_a_sample_with_the_clocks_time() -> None:
    """The clock is the caller's."""
    times = iter([10.0, 10.5, 11.0])
    sampler = Sampler(Counting(), lambda: next(times))
    ticks = [sampler.tick() for _ in range(3)]
    assert sampler.samples == ticks
    assert [(each.time, each.core_seconds, each.accelerator_busy) for each in ticks] == [
        (10.0, 5.0, None),
        (10.5, 5.25, None),
        (11.0, 5.5, None),
    ]


def test_a_sample_has_what_the_driver_told_last_of_each_gpu() -> None:
    """The accelerator's busy seconds are the sum of several, and not known where one of them is not."""
    clock = count(0.0, 2.0)
    told = [(GpuSample(busy=1.0),), (GpuSample(busy=1.0), GpuSample(busy=2.0)), (GpuSample(busy=1.0), GpuSample()), ()]
    readings = iter(told)
    sampler = Sampler(Counting(), lambda: next(clock), lambda: next(readings))
    for _ in range(4):
        sampler.tick()
    assert [sample.accelerator_busy for sample in sampler.samples] == [1.0, 3.0, None, None]
    assert [sample.gpus for sample in sampler.samples] == told


BEFORE = Sample(
    time=10, core_seconds=1, read_bytes=100, read_ios=1, periods=10, throttled_periods=5, host_core_seconds=9
)
AFTER = Sample(
    time=12,
    core_seconds=2,
    read_bytes=300,
    written_bytes=50,
    read_ios=5,
    write_ios=2,
    periods=30,
    throttled_periods=10,
    host_core_seconds=12,
)


def test_rates_are_increments_a_second() -> None:
    """Cores, other people's cores, bytes, IOs, and the share of throttled periods."""
    found = rates(BEFORE, AFTER)
    assert found is not None
    assert (found.seconds, found.cores, found.other_cores) == (2, 0.5, 1.0)
    assert (found.read_bytes, found.written_bytes, found.read_ios, found.write_ios) == (100, 25, 2, 1)
    assert (found.throttled, found.accelerator) == (0.25, None)


def test_no_time_has_no_rates() -> None:
    """Two samples of one moment divide by nothing."""
    assert rates(BEFORE, BEFORE) is None
    assert rates(AFTER, BEFORE) is None


def test_a_machine_without_a_driver_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The usual case, not an error."""

    def no_library() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", no_library)
    assert gpus() == ()


DRIVER = """
#include <string.h>
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { unsigned int gpu, memory; } rates_t;
int nvmlInit_v2(void) { return 0; }
int nvmlInitWithFlags(unsigned int flags) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int code) { return "a test double's error"; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    if (index > 1) return 2;
    *device = (void *)(unsigned long)(index + 1); return 0; }
int nvmlDeviceGetName(void *device, char *name, unsigned int length) {
    strncpy(name, "FAKE-GPU (test double)", length); return 0; }
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
    if (device == (void *)2) return 3;  /* not supported */
    memory->total = 16ULL << 30; memory->free = memory->used = 8ULL << 30; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, rates_t *rates) {
    if (device == (void *)2) return 3;
    rates->gpu = 75; rates->memory = 10; return 0; }
"""

ASK = """
import json
from dataclasses import asdict
from sizer.host import gpus, watched
with watched(gpus()) as watch:
    print(json.dumps({"gpus": [asdict(gpu) for gpu in gpus()], "told": [asdict(each) for each in watch.latest]}))
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is needed to build the NVML double")
def test_nvml_is_asked_through_its_real_library_calls(tmp_path: Path) -> None:
    """A double of the driver's library: what a device does not support is None and spoils nothing else."""
    source = tmp_path / "nvml.c"
    source.write_text(DRIVER)
    library = tmp_path / "libnvidia-ml.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source)], check=True, timeout=300)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "PYTHONPATH": str(ROOT)}
    shown = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, check=True, capture_output=True, text=True, timeout=60
    )
    name = "FAKE-GPU (test double)"
    assert json.loads(shown.stdout) == {
        "gpus": [
            {"index": 0, "name": name, "memory_bytes": 16 << 30, "uuid": None},
            {"index": 1, "name": name, "memory_bytes": None, "uuid": None},
        ],
        "told": [
            asdict(GpuSample(busy=0.0, memory_bytes=8 << 30, others=())) | {"others": []},
            asdict(GpuSample()) | {"others": []},
        ],
    }
