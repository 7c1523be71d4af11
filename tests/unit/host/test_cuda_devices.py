"""Which GPU `cuda:N` is."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizer.host.gpus import BUS_ORDER, Gpu, cuda_gpus, visible_gpus
from sizer.host.gpus import cuda_gpus as cached

ALIKE = tuple(Gpu(index, "V100", 16 << 30, f"GPU-{letter * 4}") for index, letter in enumerate("abc"))
MIXED = (ALIKE[0], Gpu(1, "T4", 16 << 30, "GPU-bbbb"), ALIKE[2])


@pytest.mark.parametrize(
    ("visible", "indexes"),
    [
        (None, [0, 1, 2]),
        ("2,0", [2, 0]),
        (" 1 , 2", [1, 2]),
        ("", []),
        ("-1", []),
        ("0,7,1", [0]),
        ("1,1,2", [1]),
        ("GPU-cccc,0", [2, 0]),
        ("GPU-c", [2]),
        ("GPU-", []),
        ("GPU-dddd", []),
    ],
)
def test_cuda_counts_the_visible_ones(visible: str | None, indexes: list[int]) -> None:
    """By index or UUID; the list ends where one does not exist."""
    environment = dict(BUS_ORDER) if visible is None else {**BUS_ORDER, "CUDA_VISIBLE_DEVICES": visible}
    assert [gpu.index for gpu in visible_gpus(ALIKE, environment)] == indexes


def test_by_speed_nobody_knows_which_of_several_kinds_is_meant() -> None:
    """CUDA's own order is that of the bus where it is told so, and does not matter among GPUs of one kind."""
    assert visible_gpus(MIXED, {}) == ()
    assert visible_gpus(MIXED, {"CUDA_VISIBLE_DEVICES": "1"}) == ()
    assert visible_gpus(MIXED, {"CUDA_VISIBLE_DEVICES": "GPU-bbbb"}) == (MIXED[1],)
    assert visible_gpus(MIXED, BUS_ORDER) == MIXED
    assert visible_gpus(ALIKE, {}) == ALIKE


def test_a_mig_instance_is_asked_for_by_its_name() -> None:
    """It has a handle of its own; its size is what it says itself."""
    (gpu,) = visible_gpus(ALIKE, {"CUDA_VISIBLE_DEVICES": "MIG-1c0f"})
    assert (gpu.uuid, gpu.memory_bytes) == ("MIG-1c0f", None)


LIBRARY = """
int cuInit(unsigned int flags) { return %d; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
"""


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    cached.cache_clear()
    yield
    cached.cache_clear()


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to make a double of the library with")
@pytest.mark.parametrize(("answer", "count"), [(0, 2), (100, 0)])
def test_the_library_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int, count: int) -> None:
    """A double of it: with two GPUs, and one that says that there is no device (100)."""
    (tmp_path / "cuda.c").write_text(LIBRARY % answer)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libcuda.so.1", "cuda.c"], cwd=tmp_path, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert cuda_gpus() == count


def test_without_the_library_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where no program can be asked."""
    monkeypatch.setattr("sizer.host.gpus.sys.executable", "/nowhere/python")
    assert cuda_gpus() == 0
