"""A workload whose framework is refused memory says so in a sentence and in an event, and tells whose it was."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from workloads.faults import DESCRIPTOR_VARIABLE, Fault, place_refused, run_program

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
    said = capsys.readouterr().err
    assert said == (
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
