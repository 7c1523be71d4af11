"""What a program tells, memory that it is refused, and how it reads ahead and from the page cache."""

from __future__ import annotations

import ctypes
import json
import mmap
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from workloads import progress as progress_module
from workloads.data_sets.image_folder import LabelledImage
from workloads.data_sets.transform_workers import SLOT_BYTES, Task, TransformWorkers
from workloads.faults import DESCRIPTOR_VARIABLE, Fault, InputFault, place_refused, run_program
from workloads.page_cache import CacheState, ask_for, evict, preload
from workloads.process import StopRequest
from workloads.progress import Events, Extent, Progress, Step


def written(write: object) -> list[dict[str, object]]:
    receiver, sender = os.pipe()
    write(Events(sender))  # type: ignore[operator]
    os.close(sender)
    with open(receiver) as lines:
        return [json.loads(line) for line in lines]


def test_start_carries_the_data_set_and_what_the_program_adds() -> None:
    """`start` tells size and count of the data set, bytes a sample, and any further facts."""
    (event,) = written(
        lambda events: events.start(
            sample_unit="image", batch_size=4, dataset_bytes=1000, dataset_samples=10, network="vgg16"
        )
    )
    assert event == {
        "event": "start",
        "sample_unit": "image",
        "batch_size": 4,
        "dataset_bytes": 1000,
        "dataset_samples": 10,
        "bytes_per_sample": 100.0,
        "network": "vgg16",
    }


def test_without_a_descriptor_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program run by a person writes no events."""
    monkeypatch.delenv("SIZER_EVENTS_FD", raising=False)
    Events.from_environment().end()


@pytest.mark.parametrize("value", ["no number", "987654"])
def test_a_descriptor_that_is_not_open_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A wrong SIZER_EVENTS_FD is one sentence that names it."""
    monkeypatch.setenv("SIZER_EVENTS_FD", value)
    with pytest.raises(InputFault, match=f"SIZER_EVENTS_FD={value}"):
        Events.from_environment()


def test_a_reader_that_has_gone_ends_the_program() -> None:
    """A closed pipe is a fault, not a traceback."""
    receiver, sender = os.pipe()
    os.close(receiver)
    with pytest.raises(InputFault, match="nobody reads"):
        Events(sender).end()
    os.close(sender)


def test_short_steps_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is written at once unless a write was just before it; what waits goes with a later one, in order."""
    receiver, sender = os.pipe()
    events = Events(sender)
    seen = []
    for now in (10.0, 10.1, 10.4, 10.6, 12.0):
        monkeypatch.setattr(progress_module.time, "monotonic", lambda now=now: now)
        events.step(Step(1, 0.0, 0))
        os.set_blocking(receiver, False)
        try:
            lines = os.read(receiver, 4096).splitlines()
        except BlockingIOError:
            lines = []
        seen.append([json.loads(line)["time"] for line in lines])
    os.close(sender)
    os.close(receiver)
    assert seen == [[10.0], [], [], [10.1, 10.4, 10.6], [12.0]]


def test_the_end_leaves_no_step_behind() -> None:
    """Steps that still wait are written before the end."""

    def two_steps_and_an_end(events: Events) -> None:
        events.step(Step(1, 0.0, 0))
        events.step(Step(1, 0.0, 0))
        events.end()

    assert [event["event"] for event in written(two_steps_and_an_end)] == ["step", "step", "end"]


def progress(extent: Extent) -> Progress:
    return Progress("job", "image", Events(None), StopRequest(), extent)


def test_the_closing_line_tells_samples_wait_and_latency(capsys: pytest.CaptureFixture[str]) -> None:
    """One line: what ran, the rate, the totals; the latency leaves the first step out."""
    account = progress(Extent())
    account.start(0, 0, 4)
    for latency in (9.0, 0.1, 0.2):
        account.step(Step(4, 0.5, 0, latency))
    account.end(" (emulated device)")
    line = capsys.readouterr().out
    assert line.startswith("job: ")
    assert "3 steps, 12 images" in line
    assert "1.5 s of them waiting for input" in line
    assert "p50 100.0 ms, p99 200.0 ms (emulated device)" in line


def test_one_is_not_said_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    """A job of a single step of a single image."""
    account = progress(Extent())
    account.start(0, 0, 1)
    account.step(Step(1, 0.0, 0))
    account.end()
    assert "1 step, 1 image in " in capsys.readouterr().out


# A workload whose framework is refused memory says so in a sentence and in an event, and tells whose it was.


Said = Callable[[Exception], tuple[int, list[dict[str, object]]]]


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> Said:
    """The exit status of a program that this error ends, and the events that it wrote."""

    def ended(error: Exception) -> tuple[int, list[dict[str, object]]]:
        receiver, sender = os.pipe()
        monkeypatch.setenv(DESCRIPTOR_VARIABLE, str(sender))

        def main() -> None:
            raise error

        status = run_program("image_training", main)
        os.close(sender)
        with open(receiver) as lines:
            return status, [json.loads(line) for line in lines]

    return ended


def test_pytorch_out_of_gpu_memory(ended: Said, capsys: pytest.CaptureFixture[str]) -> None:
    """The real class of errors, which needs no GPU to be raised."""
    torch = pytest.importorskip("torch")
    status, events = ended(torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nmore"))
    assert (status, events) == (Fault.exit_code, [{"event": "out_of_memory", "where": "gpu"}])
    err = capsys.readouterr().err
    assert err == (
        "image_training: there is too little GPU memory for this (CUDA out of memory. Tried to allocate 2.00 GiB.): "
        "give it more, or a smaller --batch-size\n"
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_mxnet_out_of_gpu_memory(ended: Said) -> None:
    """The real class with the sentence of its allocator on a GPU (src/storage/pooled_storage_manager.h)."""
    library = pytest.importorskip("workloads.backends.mxnet_library").load()
    error = library.base.MXNetError("cudaMalloc retry failed: out of memory")
    assert ended(error)[1] == [{"event": "out_of_memory", "where": "gpu"}]


def test_python_out_of_memory(ended: Said, capsys: pytest.CaptureFixture[str]) -> None:
    """numpy's is one, too."""
    assert ended(MemoryError())[1] == [{"event": "out_of_memory", "where": "host"}]
    assert "too little memory for this (MemoryError)" in capsys.readouterr().err


def test_any_other_error_is_not_about_memory() -> None:
    """It stays what it is, with its traceback."""
    assert place_refused(ValueError("out of memory")) is None
    assert place_refused(RuntimeError("CUDA error: device-side assert triggered")) is None

    def main() -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        run_program("image_training", main)


JPEG = cv2.imencode(".jpg", np.full((300, 280, 3), 128, np.uint8))[1].tobytes()


def images(folder: Path, count: int = 8) -> list[LabelledImage]:
    paths = [folder / f"{number}.jpg" for number in range(count)]
    for path in paths:
        path.write_bytes(JPEG)
    return [LabelledImage(path, len(JPEG), 0) for path in paths]


def records(pool: TransformWorkers) -> list[bytes | None]:
    """Those of a pass, in its order."""
    results = [
        (result.index, None if result.record is None else bytes(result.record))
        for results in pool.results()
        for result in results
    ]
    assert [index for index, _ in results] == list(range(len(pool.task.images)))
    return [record for _, record in results]


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    """With what the system says of it."""
    listed = images(tmp_path)
    listed[2].path.unlink()
    listed[2].path.mkdir()
    with (
        TransformWorkers(Task(listed, "lmdb", False, 1), 2) as pool,
        pytest.raises(InputFault, match=r"2\.jpg cannot be read \(Is a directory\)"),
    ):
        list(pool.results())


def test_an_unreadable_image_is_a_result_without_payload(tmp_path: Path) -> None:
    """Also a strip that cannot be made to a shorter side of 256."""
    listed = images(tmp_path, 3)
    listed[0].path.write_bytes(JPEG[:100])
    listed[1].path.write_bytes(cv2.imencode(".png", np.zeros((1, 4000, 3), np.uint8))[1].tobytes())
    with TransformWorkers(Task(listed, "recordio", False, 1), 1) as pool:
        assert [record is not None for record in records(pool)] == [False, False, True]


def small_and_large(folder: Path, count: int) -> list[LabelledImage]:
    """Distinct images, one of them a strip whose record is larger than a slot."""
    listed = images(folder, count)
    noise = np.random.default_rng(1)
    for number, image in enumerate(listed):
        shape = (256, 9000, 3) if number == 5 else (256, 256 + number, 3)
        coarse = noise.integers(0, 256, (shape[0] // 4, shape[1] // 4, 3), dtype=np.uint8)
        pixels = noise.integers(0, 256, shape, dtype=np.uint8) if number == 5 else cv2.resize(coarse, shape[1::-1])
        image.path.write_bytes(cv2.imencode(".jpg", pixels)[1].tobytes())
    return listed


def test_records_are_the_same_by_any_workers_pass_after_pass(tmp_path: Path) -> None:
    """Also with more images than slots, and with one whose record is larger than a slot."""
    task = Task(small_and_large(tmp_path, 84), "recordio", False, 1)
    transformer = task.opened()
    expected = [transformer.transform(index).record for index in range(len(task.images))]
    assert [index for index, record in enumerate(expected) if len(record or b"") > SLOT_BYTES] == [5]
    for workers in (1, 3):
        with TransformWorkers(task, workers) as pool:
            assert records(pool) == expected
            assert records(pool) == expected


def test_a_worker_that_is_killed_ends_the_pass(tmp_path: Path) -> None:
    """It may have held images that nobody else will make."""
    with TransformWorkers(Task(images(tmp_path, 500), "lmdb", False, 1), 2) as pool:
        results = pool.results()
        next(results)
        os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        with pytest.raises(Fault, match="a worker process died"):
            list(results)


SIZE = 8 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(os.urandom(SIZE))
    return path


def resident(path: Path) -> float:
    """Share of our own file's pages in the page cache, by mincore."""
    library = ctypes.CDLL(None, use_errno=True)
    with path.open("r+b") as opened, mmap.mmap(opened.fileno(), 0) as mapped:
        pages = (ctypes.c_ubyte * (SIZE // mmap.PAGESIZE))()
        begin = ctypes.c_char.from_buffer(mapped)
        assert library.mincore(ctypes.c_void_p(ctypes.addressof(begin)), ctypes.c_size_t(SIZE), pages) == 0
        del begin
        return sum(page & 1 for page in pages) / len(pages)


def untold(_done: int, _whole: int) -> None:
    """Nobody listens."""


def test_evicted_files_are_gone_and_preloaded_ones_are_there(file: Path) -> None:
    """Eviction works on a file just written; preloading brings all of it, and tells how far it is."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    assert resident(file) < 0.01
    calls: list[tuple[int, int]] = []
    preload([file], lambda done, whole: calls.append((done, whole)))
    assert resident(file) == 1.0
    assert calls == [(SIZE // 2, SIZE), (SIZE, SIZE)]


def test_files_that_are_asked_for_come_by_themselves(file: Path, tmp_path: Path) -> None:
    """At least their beginning, as far as the kernel reads ahead; one that is not there is nobody's fault yet."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    ask_for([tmp_path / "gone", file])
    deadline = time.monotonic() + 100
    while resident(file) == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert resident(file) > 0


@pytest.mark.parametrize(("state", "before", "between"), [("cold", 0, 0), ("natural", 0, 1), ("warm", 1, 1)])
def test_each_state_is_what_it_says(file: Path, state: str, before: int, between: int) -> None:
    """Cold is empty at every epoch's begin, natural at the first only, warm never."""
    evict([file])
    if resident(file) == 1.0:
        pytest.skip("this file system keeps its files in memory")
    preload([file], untold)
    cache = CacheState((file,), state)
    cache.before_run(untold)
    assert round(resident(file), 2) == before
    preload([file], untold)
    cache.between_epochs()
    assert round(resident(file), 2) == between


ROUNDS = 20
PAGES_A_ROUND = 48 * 2**20 // 4096

PROGRAM = f"""
import resource, sys
from workloads.process import keep_freed_memory
if sys.argv[1] == "kept":
    assert keep_freed_memory()
b"x" * (48 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({ROUNDS}):
    b"x" * (48 << 20)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
"""Takes and frees 48 MiB in each round, and prints the pages that had to be fetched."""


def pages_fetched(memory: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, memory], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_what_is_freed_is_taken_again_without_asking_the_kernel() -> None:
    """By itself the C library fetches all of it in each round."""
    assert pages_fetched("given back") > ROUNDS * PAGES_A_ROUND / 2
    assert pages_fetched("kept") < PAGES_A_ROUND
