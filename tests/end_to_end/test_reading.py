"""A program that reads its data into memory from a slow disk has the time for it, on real limits."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end import ready_sizer

Measured = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.root, pytest.mark.slow]

MBPS = 1
IMAGES = 60
"""Of 64 kB each: 4 s of reading."""
SECONDS, START_UP = 0.3, 0.2
"""Of measuring, and allowed to the first step beside reading, in the place of two minutes."""
LONGEST = 2 * (START_UP + 4 * SECONDS)
"""Seconds until a run that is busy is ended, if it reads nothing."""

STUDY = """
name: slow
measure: {{repeats: 1, seconds: {seconds}, precision: 0.5}}
disks:
  slow: {{emulate: {{class: standard, read_iops: 500, read_mbps: {mbps}, write_iops: 5000, write_mbps: 200}}}}
workloads:
  - name: job
    kind: imagenet_preprocessing
    data: data
    input: cached
    batch_size: 8
    axes: {{vcpus: 1, disk: slow}}
"""


@pytest.fixture
def measured(folder: Path, environment: dict[str, str]) -> Measured:
    """Measure JPEGs of noise that come from that disk."""
    import cv2
    import numpy as np

    random = np.random.default_rng(1)
    (folder / "data/noise").mkdir(parents=True)
    for number in range(IMAGES):
        image = random.integers(0, 256, (256, 256, 3), dtype=np.uint8)
        assert cv2.imwrite(str(folder / f"data/noise/{number}.jpg"), image, [cv2.IMWRITE_JPEG_QUALITY, 92])

    def measure() -> subprocess.CompletedProcess[str]:
        (folder / "study.yaml").write_text(STUDY.format(mbps=MBPS, seconds=SECONDS))
        return ready_sizer.typed(["run", "study.yaml"], folder, environment, quick_disks=True, start_up=START_UP)

    return measure


def test_it_is_not_ended_while_it_reads(measured: Measured, folder: Path) -> None:
    """It takes longer than any run may that reads nothing, tells how far it is, and completes.

    In one of three runs: the little time that each has beside reading may go in a moment in which the host holds it up.
    """
    for _ in range(3):
        shutil.rmtree(folder / "study", ignore_errors=True)
        done = measured()
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    (run,) = [json.loads(path.read_text()) for path in (folder / "study/runs").iterdir()]
    assert run["outcome"] == "completed"
    whole = run["data_set"]["bytes"]
    assert run["wall_seconds"] > 0.8 * whole / (MBPS * 1e6) > LONGEST
    (log,) = (folder / "study/logs").iterdir()
    amounts = [float(amount) for amount in re.findall(r"read ([0-9.]+) of [0-9.]+ MiB into memory", log.read_text())]
    assert len(amounts) >= 2
    assert amounts == sorted(amounts)
    assert amounts[-1] == pytest.approx(whole / 2**20, abs=0.06)
