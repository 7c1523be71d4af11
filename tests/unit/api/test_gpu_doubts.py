"""A GPU that a workload will not find is said before anything is measured, in one sentence."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from sizer.api.preconditions import doubts_of_gpu, lacks_driver
from sizer.host.nvml import has_driver
from sizer.records.device import Device
from sizer.records.own_programs import Variable
from sizer.records.study import Workload
from sizer.words.terminal import doubt_in_words
from tests.unit.host.fake_nvml import FakeGpu, FakeNvml

TRAIN = Workload("train", "image_training", "pytorch", device=Device("cuda", 1))
PRESENT = (FakeGpu("GPU-aaaa"), FakeGpu("GPU-bbbb"))


def said(workload: Workload, count: int = 1) -> list[str]:
    return [doubt_in_words(doubt) for doubt in doubts_of_gpu(workload, count)]


def test_without_a_driver_one_sentence_says_so() -> None:
    """This machine's own library is asked."""
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    assert said(TRAIN) == [
        "workload `train`: this host has no GPU 1, since NVIDIA's driver is not installed or does not answer; type "
        "`nvidia-smi` to see why, or use cpu or an emulated one"
    ]
    assert said(replace(TRAIN, device=Device())) == []


def test_a_program_needs_cuda_and_not_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have the one without the other: the program runs, and it is said what will not be known."""
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    own = replace(TRAIN, kind="command", command=("train",), device=Device("cuda", 0))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert lacks_driver(own)
    monkeypatch.setattr("sizer.api.preconditions.cuda_gpus", lambda: 1)
    assert not lacks_driver(own)
    (sentence,) = said(own)
    assert sentence.startswith("workload `train`: NVML is not here, so nothing will be known of its GPU's use")
    second = replace(own, device=Device("cuda", 1))
    assert said(second)[1:] == ["workload `train`: this host has no GPU 1; use cpu or an emulated one"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert "CUDA_VISIBLE_DEVICES=0 leaves it no GPU 1" in said(second)[1]


def test_a_gpu_that_is_there_and_shown_is_no_doubt(monkeypatch: pytest.MonkeyPatch) -> None:
    """As CUDA counts it, which need not be as the driver does."""
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.setattr("sizer.api.preconditions.gpus_seen", lambda *_: ("V100", "V100"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert said(TRAIN) == []
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,0")
    assert said(TRAIN) == []


def test_an_index_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted from 0."""
    FakeNvml(*PRESENT).install(monkeypatch)
    third = replace(TRAIN, device=Device("cuda", 2))
    assert said(third) == ["workload `train`: this host has no GPU 2; use cpu or an emulated one"]
    assert said(TRAIN, count=2) == said(third)


def test_a_gpu_that_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """By our environment, or by what the study sets for the workload."""
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    sentence = (
        "workload `train`: CUDA_VISIBLE_DEVICES=1 leaves it no GPU 1; change or unset it, or use cpu or an emulated one"
    )
    assert said(TRAIN) == [sentence]
    monkeypatch.setattr("sizer.api.preconditions.gpus_seen", lambda *_: ("V100", "V100"))
    assert said(replace(TRAIN, env=(Variable("CUDA_VISIBLE_DEVICES", "0,1"),))) == []


def test_a_framework_that_does_not_see_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The build for CPUs that is installed here, beside a driver that is a double; a command is not asked."""
    pytest.importorskip("torch")
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    FakeNvml(*PRESENT).install(monkeypatch)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("SIZER_PYTORCH_PYTHON", raising=False)
    assert said(TRAIN) == [
        "workload `train`: its framework does not see the GPU 1, which the driver has; install a build of it for GPUs "
        f"into {sys.executable} (docs/accelerators.md), or use cpu or an emulated one"
    ]
    assert said(replace(TRAIN, kind="command", command=("train",))) == []
