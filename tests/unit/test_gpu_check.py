"""What `script/gpu-check` would measure on a GPU, and how its table tells of one; nothing here ran on a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import gpu_study
import gpu_table

from sizer import api
from sizer.plan.configurations import configurations as configurations_of
from sizer.records.device import Device, GpuUse
from sizer.records.run import Run, Step
from sizer.study.presets import HostSize

HOST = HostSize(16, 128 << 30)


def test_the_study_of_a_gpu_is_one() -> None:
    """Every precision, batch size, mode and number of vCPUs is in it, and so few runs that minutes are enough."""
    text = json.dumps(gpu_study.study_file(gpu_study.ON_GPU, "cuda:0", HOST.vcpus, caps=True))
    study = api.parse_study(text, "gpu")
    specs = [spec for workload in study.workloads for spec in configurations_of(workload, study, HOST)]
    assert {spec.workload.computes_on.label for spec in specs} == {"cuda:0"}
    trained = {(spec.workload.precision, spec.batch_size) for spec in specs if spec.workload.mode == "train"}
    assert trained == {(precision, size) for precision in ("fp16", "fp32") for size in (32, 64, 128)}
    for name in ("train", "infer"):
        assert {spec.limits.vcpus for spec in specs if spec.workload.name == name} == {1, 2, 4, 8, 16}
    assert [workload.workload.name for workload in study.workloads if workload.largest_batch] == ["train-fp16"]
    assert {spec.limits.memory_bytes for spec in specs if spec.workload.name == "train"} == {None, 8 << 30}
    assert len(specs) <= 40


def test_a_row_has_both_ways_of_telling_how_busy_a_gpu_was(make_run: Callable[..., Run]) -> None:
    """What NVML does not tell is a dash, and is named."""
    run = make_run(400.0, 16, device=Device("cuda", 0), capped=True)
    steps = tuple(Step(0.08 * at, 32, 0.0, 0, accelerator_seconds=0.0768) for at in range(10))
    run = replace(run, steps=steps, conditions=replace(run.conditions, gpus=(GpuUse(0, "a double", busy=0.97),)))
    assert " ".join(gpu_table.row(run, 402.0).split()) == "train 32 16 8GiB 400.0 402.0 0.995 97% 96%"
    assert (
        " ".join(gpu_table.row(replace(run, conditions=replace(run.conditions, gpus=())), None).split())
        == "train 32 16 8GiB 400.0 - - - 96%"
    )
    lacking = gpu_table.nvml([run])
    assert lacking.startswith("a double: NVML lacks memory_bytes, peak_memory_bytes, own_peak_memory_bytes, watts, ")
    assert gpu_table.nvml([]) == "NVML told nothing of a GPU in any run that completed."
