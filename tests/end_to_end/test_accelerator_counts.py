"""A study of one and two emulated accelerators on the embedded JPEGs, from its file to what it says of each number."""

from __future__ import annotations

import csv
import io
import json
from math import exp
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

STUDY = """
name: counts
embedded_images: 64
workloads:
  - name: train
    kind: image_training
    network: alexnet
    batch_size: 8
    cache: warm
    device: {emulate: {gpu: V100, samples_per_second: 40, scaling_loss: 0.1}}
axes: {vcpus: [0.5, 1, 2], gpu_count: [1, 2]}
measure: {repeats: 1, seconds: 1, precision: 0.2}
"""
TWO = 40 * 2 * exp(-0.1)
"""Samples a second of two accelerators that are fed."""


def test_it_says_what_each_number_gains_and_where_it_is_fed(sizer: Typed, tmp_path: Path) -> None:
    """Samples and accelerator seconds are those of both; the terminal, the JSON and the page say the same."""
    (tmp_path / "counts.yaml").write_text(STUDY, "utf-8")
    done = sizer("run", "counts.yaml", "--out", "counts")
    assert done.returncode == 0, done.stderr

    rows = list(csv.DictReader(io.StringIO(sizer("export", "counts").stdout)))
    assert {(row["vcpus"], row["gpu_count"], row["batch_size"]) for row in rows} == {
        (vcpus, count, "8") for vcpus in ("0.5", "1", "2") for count in ("1", "2")
    }
    of_two = next(row for row in rows if row["gpu_count"] == "2")
    assert float(of_two["throughput"]) <= TWO * 1.05
    assert float(of_two["accelerator_seconds_per_sample"]) == pytest.approx(2 / TWO, rel=1e-3)

    (answer,) = json.loads(sizer("recommend", "counts", "--json").stdout)["workloads"]
    one, two = answer["accelerator_counts"]
    assert (one["count"], two["count"]) == (1, 2)
    assert two["ceiling"] == pytest.approx(TWO, rel=0.1)
    assert one["speed_up"]["value"] == 1
    assert two["side_by_side"] is not None

    said = sizer("recommend", "counts").stdout
    assert "2 x emulated V100 make 90.5 % of as many alone" in said
    page = (tmp_path / "counts/report.html").read_text("utf-8")
    assert "More accelerators" in page

    asked = sizer("predict", "counts", "--workload", "train", "--vcpus", "2", "--gpu-count", "2", "--json")
    assert json.loads(asked.stdout)["predictions"][0]["gpu_count"] == 2
