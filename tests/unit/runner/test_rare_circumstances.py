"""Runs on folders that vanish, and a study that names an accelerator without a rate."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.records.device import Device
from sizer.records.errors import InputError
from sizer.records.run import Cause, CauseKind
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.child import _read_now
from sizer.runner.circumstances import Room
from sizer.runner.commands import RunPaths, argv
from sizer.words.language import in_words

PLACE = RunPaths(
    Path("/usr/bin/python3"), Path("/packages"), Path("/data/a.rec"), "recordio", Path("/scratch"), Path("/output")
)


def test_a_folder_that_is_gone_was_not_full(tmp_path: Path) -> None:
    """A mount that went away ends the run, and not by a full disk; its own last words are believed all the same."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    room = Room(scratch, scratch)
    scratch.rmdir()
    room.look()
    assert room.want("segmentation fault") == ()
    assert room.want("OSError: No space left on device") == (Cause(CauseKind.DISK_FULL),)


def test_an_emulated_accelerator_without_a_rate_cannot_be_run() -> None:
    """Only a table of another's measurements may lack it."""
    workload = Workload("train", "image_training", network="resnet50", format="recordio")
    spec = RunSpec(replace(workload, device=Device("emulated", gpu="P100")), 32, Limits(1.0), Measure())
    with pytest.raises(InputError) as refused:
        argv(spec, PLACE, 8, 2**34)
    assert in_words(refused.value) == (
        "workload `train`: the emulated accelerator has no rate; write its samples_per_second."
    )


def test_an_empty_pipe_is_not_waited_for() -> None:
    """The run is watched further; what is written later is read later."""
    reading, writing = os.pipe2(os.O_NONBLOCK)
    try:
        assert _read_now(reading) == b""
        os.write(writing, b"{}")
        assert _read_now(reading) == b"{}"
    finally:
        os.close(reading)
        os.close(writing)
