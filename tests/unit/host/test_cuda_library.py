"""Whether CUDA finds a GPU where NVML, which tells of them, is not there."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sizer.host.cuda_library import cuda_gpus
from sizer.host.cuda_library import cuda_gpus as cached

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
@pytest.mark.parametrize(("answer", "found"), [(0, 2), (100, 0)])
def test_the_library_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: int, found: int) -> None:
    """A double of it: with two GPUs, and one that says that there is no device (100)."""
    (tmp_path / "cuda.c").write_text(LIBRARY % answer)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libcuda.so.1", "cuda.c"], cwd=tmp_path, check=True)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    assert cuda_gpus() == found


def test_without_the_library_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where no program can be asked."""
    monkeypatch.setattr("sizer.host.cuda_library.sys.executable", "/nowhere/python")
    assert cuda_gpus() == 0
