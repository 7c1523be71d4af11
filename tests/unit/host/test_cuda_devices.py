"""Which GPU `cuda:N` is."""

from __future__ import annotations

import pytest

from sizer.host.cuda_devices import BUS_ORDER, visible_gpus
from sizer.host.nvml import Gpu

ALIKE = tuple(Gpu(index, "V100", 16 << 30, f"GPU-{letter * 4}") for index, letter in enumerate("abc"))
MIXED = (ALIKE[0], Gpu(1, "T4", 16 << 30, "GPU-bbbb"), ALIKE[2])


@pytest.mark.parametrize(
    ("told", "indexes"),
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
def test_cuda_counts_the_visible_ones(told: str | None, indexes: list[int]) -> None:
    """By index or UUID; the list ends where one does not exist."""
    environment = dict(BUS_ORDER) if told is None else {**BUS_ORDER, "CUDA_VISIBLE_DEVICES": told}
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
    (found,) = visible_gpus(ALIKE, {"CUDA_VISIBLE_DEVICES": "MIG-1c0f"})
    assert (found.uuid, found.memory_bytes) == ("MIG-1c0f", None)
