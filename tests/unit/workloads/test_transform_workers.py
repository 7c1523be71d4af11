from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from workloads.faults import InputFault
from workloads.image_folder import LabelledImage
from workloads.transform_workers import Task, TransformWorkers

JPEG = cv2.imencode(".jpg", np.full((300, 280, 3), 128, np.uint8))[1].tobytes()


def images(folder: Path, count: int = 8) -> list[LabelledImage]:
    paths = [folder / f"{number}.jpg" for number in range(count)]
    for path in paths:
        path.write_bytes(JPEG)
    return [LabelledImage(path, len(JPEG), 0) for path in paths]


@pytest.mark.parametrize("workers", [1, 3])
def test_a_file_that_goes_ends_the_pass_with_its_name(tmp_path: Path, workers: int) -> None:
    """It is no unreadable image, which could be skipped: what is left would be another data set."""
    listed = images(tmp_path)
    listed[5].path.unlink()
    with (
        TransformWorkers(Task(listed, "recordio", False, 1), workers) as pool,
        pytest.raises(InputFault, match=r"5\.jpg is no longer there: put it back"),
    ):
        list(pool.results())


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
        assert [result.payload is not None for result in pool.results()] == [False, False, True]


def test_workers_of_a_program_that_used_opencvs_threads(tmp_path: Path) -> None:
    """Its pool of threads is not forked along, and no worker waits for it."""
    cv2.setNumThreads(2)
    cv2.resize(np.zeros((2000, 2000, 3), np.uint8), (1000, 1000))
    with TransformWorkers(Task(images(tmp_path, 4), "recordio", False, 1), 2) as pool:
        assert [result.payload is not None for result in pool.results()] == [True] * 4
