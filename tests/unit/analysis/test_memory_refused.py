"""A run that was refused memory is out of memory, and the record says whose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.analysis.ending import Ending, outcome
from sizer.analysis.events import EventError, EventReader, OutOfMemory
from sizer.analysis.memory_refused import refused_in
from sizer.analysis.monitor import RunMonitor
from sizer.analysis.stopping import Stop
from sizer.files.codec import from_json, to_json
from sizer.records.run import Cause, CauseKind, Configuration, Failure, Outcome, Run
from sizer.records.run_kinds import MemoryPlace
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.words.failures import failure_in_words, remedy_of_failure

START = b'{"event":"start","sample_unit":"image","batch_size":8,"dataset_bytes":0,"dataset_samples":0}\n'
GPU = b'{"event":"out_of_memory","where":"gpu"}\n'
SPEC = RunSpec(Workload("train", "image_training"), 8, Limits(1.0, 2**30), Measure())
CRASHED = Ending(stop=Stop.ENDED, exit_status=71, oom_kills=0, measured=False)


def run_of(how: Outcome, error: Failure | None) -> Run:
    return Run(SPEC, how, Configuration(1.0, 2**30, "host", 8), "2026-11-21T10:00:00+00:00", 3.0, error=error)


@pytest.mark.parametrize("before", [b"", START])
def test_a_program_tells_whose_memory_it_was_refused(before: bytes) -> None:
    """At any time: a framework may refuse it before the loop begins."""
    *_, told = EventReader().feed(before + GPU)
    assert told == OutOfMemory(MemoryPlace.GPU)
    seen = RunMonitor(SPEC, 0.0)
    seen.take([told])
    assert seen.refused_memory is MemoryPlace.GPU


@pytest.mark.parametrize("where", [b'"tpu"', b"1", b"null"])
def test_another_place_breaks_the_form(where: bytes) -> None:
    with pytest.raises(EventError, match="neither host nor gpu"):
        EventReader().feed(b'{"event":"out_of_memory","where":' + where + b"}\n")


def test_after_the_end_nothing_is_told() -> None:
    with pytest.raises(EventError, match="out of order"):
        EventReader().feed(START + b'{"event":"end"}\n' + GPU)


@pytest.mark.parametrize(
    ("ending", "kind", "where"),
    [
        (replace(CRASHED, exit_status=-9, oom_kills=1), CauseKind.MEMORY_CAP, MemoryPlace.HOST),
        (replace(CRASHED, exit_status=-9, oom_kills=1, capped=False), CauseKind.HOST_MEMORY, MemoryPlace.HOST),
        (replace(CRASHED, refused_memory=MemoryPlace.GPU), CauseKind.GPU_MEMORY, MemoryPlace.GPU),
        (replace(CRASHED, refused_memory=MemoryPlace.HOST), CauseKind.NOT_ALLOCATED, MemoryPlace.HOST),
    ],
)
def test_the_record_says_whose_memory_it_was(ending: Ending, kind: CauseKind, where: MemoryPlace) -> None:
    """In `error.where`, and with a sentence and what to do."""
    how, error = outcome(ending)
    assert how is Outcome.OUT_OF_MEMORY
    assert error is not None
    assert (error.cause.kind, error.where) == (kind, where)
    run = run_of(how, error)
    form = to_json(run)
    assert form["error"]["where"] == where.value
    assert from_json(Run, form, "x") == run
    assert failure_in_words(run, 80)
    assert remedy_of_failure(run)


def test_a_program_that_went_on_was_not_out_of_memory() -> None:
    """It tried a larger block, was refused it, and ended in good order."""
    assert outcome(replace(CRASHED, exit_status=0, measured=True, refused_memory=MemoryPlace.GPU))[0] is (
        Outcome.COMPLETED
    )


def test_a_run_of_a_sizer_before_names_it_by_its_cause() -> None:
    """Killed by the kernel is the host's memory; a table says nothing of whose it was."""
    form = to_json(run_of(Outcome.OUT_OF_MEMORY, Failure(Cause(CauseKind.MEMORY_CAP))))
    del form["error"]["where"]
    assert from_json(Run, form, "x").ran_out_of is MemoryPlace.HOST
    assert run_of(Outcome.OUT_OF_MEMORY, Failure(Cause(CauseKind.IMPORTED))).ran_out_of is None
    assert run_of(Outcome.CRASHED, Failure(Cause(CauseKind.EXIT_STATUS))).ran_out_of is None


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", MemoryPlace.GPU),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", MemoryPlace.GPU),
        ("RuntimeError: HIP out of memory.", MemoryPlace.GPU),
        ("mxnet.base.MXNetError: cudaMalloc retry failed: out of memory", MemoryPlace.GPU),
        ("failed to allocate 2.00G: CUDA_ERROR_OUT_OF_MEMORY: out of memory", MemoryPlace.GPU),
        ("OOM when allocating tensor with shape[64,3] on /job:localhost/device:GPU:0", MemoryPlace.GPU),
        ("MemoryError", MemoryPlace.HOST),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.11 PiB", MemoryPlace.HOST),
        ("RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes", MemoryPlace.HOST),
        ("terminate called after throwing an instance of 'std::bad_alloc'", MemoryPlace.HOST),
        ("ValueError: the memory of the past", None),
        ("", None),
    ],
)
def test_what_frameworks_print_is_known(line: str, place: MemoryPlace | None) -> None:
    assert refused_in(f"Traceback (most recent call last):\n  File x\n{line}\n") is place
