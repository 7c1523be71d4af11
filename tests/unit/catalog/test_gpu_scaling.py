"""What n accelerators together do, by published tables: with a source, an interval, and never faster than n alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.gpu_scaling import scaling_efficiency


def rate(network: str, count: int, samples_per_second: float, gpu: str = "V100") -> AcceleratorRate:
    """One published number of a table."""
    return AcceleratorRate(
        mode="train",
        network=network,
        gpu=gpu,
        precision="fp32",
        batch_size=64,
        samples_per_second=samples_per_second,
        framework="MXNet",
        as_of="2021",
        source="a table",
        gpu_count=count,
    )


TABLE = [rate(name, n, one * n * lost) for name, one in (("a", 100), ("b", 50)) for n, lost in ((1, 1.0), (4, 0.9))]


def test_a_published_table_is_its_own_answer() -> None:
    """The MXNet table of ResNet-50 on V100: 0.973 of four, with its source."""
    found = scaling_efficiency("resnet50", "V100", 4, precision="fp32", framework="mxnet")
    assert (found.basis, round(found.value, 3)) == ("published", 0.973)
    assert found.low < found.value < found.high
    assert any("RN50v1.5" in source for source in found.sources)


def test_a_count_between_follows_its_own_table() -> None:
    """Eight of what was published for four lose a little more than four."""
    eight = scaling_efficiency("a", "V100", 8, rates=TABLE)
    assert eight.basis == "interpolated"
    assert 0.8 < eight.value < 0.9


def test_another_network_is_less_sure() -> None:
    """What no table has is told from others on the same GPU, with a wider interval."""
    own, other = (scaling_efficiency(name, "V100", 4, rates=TABLE) for name in ("a", "c"))
    assert other.basis == "transferred"
    assert other.high - other.low > own.high - own.low


@pytest.mark.parametrize(("mode", "count"), [("infer", 8), ("forward", 4), ("train", 1)])
def test_who_exchanges_nothing_loses_nothing(mode: str, count: int) -> None:
    """Accelerators that only infer, and one alone, are as fast as so many."""
    found = scaling_efficiency("resnet50", "V100", count, mode=mode)
    assert (found.value, found.low, found.high, found.basis) == (1.0, 1.0, 1.0, "independent")


@given(
    st.sampled_from(["resnet50", "vgg16", "unheard_of"]),
    st.sampled_from(["V100", "A100", "T4", "Z9000"]),
    st.integers(2, 16),
)
def test_more_accelerators_never_lose_each_other(network: str, gpu: str, count: int) -> None:
    """All of them are as fast as one at the least, and the interval holds the value."""
    found = scaling_efficiency(network, gpu, count)
    assert 1 / count <= found.low <= found.value <= found.high <= 1.1
