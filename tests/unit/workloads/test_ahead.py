from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from workloads.data_sets.image_folder import LabelledImage
from workloads.data_sets.lmdb_images import Ahead
from workloads.data_sets.transform_workers import SLOT_BYTES, SLOTS, Task, TransformWorkers
from workloads.faults import Fault, InputFault


def test_items_come_in_their_order_and_end_with_none() -> None:
    """All items, then None."""
    ahead = Ahead(iter(range(100)), depth=3)
    assert [ahead.next() for _ in range(101)] == [*range(100), None]
    ahead.close()


def test_no_more_than_the_depth_is_prepared_and_close_ends_the_thread() -> None:
    """Memory is bounded, and nothing is left running."""
    prepared = []
    enough = threading.Event()

    def items() -> Iterator[int]:
        for number in range(1000):
            prepared.append(number)
            if number == 3:
                enough.set()
            yield number

    ahead = Ahead(items(), depth=3)
    assert enough.wait(100)
    ahead.close()
    assert prepared == [0, 1, 2, 3]


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
    task = Task(small_and_large(tmp_path, SLOTS + 20), "recordio", False, 1)
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
        with pytest.raises(Fault, match=r"a worker process died \(exit status -9;"):
            list(results)
