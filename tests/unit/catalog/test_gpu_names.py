"""What people and drivers call accelerators, and what price lists do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.catalog import Catalog
from sizer.catalog.gpu_scaling import scaling_efficiency
from sizer.catalog.gpus import gpu_names, meant_gpu


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200 141GB HBM3e", "H200"),
        ("H100 (80 GB)", "H100"),
        ("A100 (40GB)", "A100-40GB"),
        ("Tesla K40c", "K40m"),
        ("K40", "K40m"),
        ("GeForce GTX TITAN X", "Titan X (Maxwell)"),
        ("Maxwell Titan X", "Titan X (Maxwell)"),
        ("NVIDIA TITAN X (Pascal)", "Titan X (Pascal)"),
        ("GeForce GTX 1080", "GTX 1080"),
        ("A100 40 GB", "A100-40GB"),
        ("A100 40G", "A100-40GB"),
        ("A100 80", "A100-80GB"),
        ("NVIDIA A100 80GB PCIe", "A100-80GB"),
        ("V100 32GB", "V100-32GB"),
        ("Tesla V100-SXM2-32GB", "V100-32GB"),
        ("Tesla V100-SXM2", "V100"),
        ("tesla v100", "V100"),
        ("nvidia-tesla-t4", "T4"),
        ("Tesla P100-PCIE-16GB", "P100"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("RTX3090", "RTX 3090"),
        ("2080Ti", "RTX 2080 Ti"),
        ("NVIDIA A10G", "A10G"),
        ("AMD Instinct MI300X", "MI300X"),
    ],
)
def test_a_gpu_has_one_name(written: str, name: str) -> None:
    """Without the maker, the form and the only size of its memory; with the size where there are two."""
    assert gpu_names([written]) == {written: name}
    assert gpu_names([name]) == {name: name}


@pytest.mark.parametrize(
    "name", ["TPUv3", "Trainium", "H100 NVL 94GB", "A100 MIG 1g.5gb", "V100S-ish", "gpu", "a:b", "", "=1+1", "显卡"]
)
def test_a_name_that_is_not_known_stays_as_it_is_written(name: str) -> None:
    """A slice of a GPU, or another product, is not that GPU."""
    assert gpu_names([name]) == {name: name}


def test_a_card_and_a_module_stay_two_where_a_table_has_both() -> None:
    """They are not as fast."""
    both = gpu_names(["NVIDIA H100 PCIe", "H100 SXM5", "NVIDIA H100 80GB HBM3", "Tesla T4"])
    assert list(both.values()) == ["H100 PCIe", "H100", "H100", "T4"]


def test_every_gpu_of_the_catalogue_is_called_as_it_is_there() -> None:
    """By any name that one has elsewhere it is that of the price lists."""
    for gpu in {type_.gpu for type_ in Catalog.load().instance_types if type_.gpu}:
        assert gpu_names([gpu]) == {gpu: gpu}


@pytest.mark.parametrize(
    ("asked", "measured", "meant"),
    [
        ("tesla v100", ["V100", "K80"], "V100"),
        ("V100", ["V100-16GB"], "V100-16GB"),
        ("V100", ["V100-16GB", "V100-32GB"], None),
        ("NVIDIA V100 32GB", ["V100-16GB", "V100-32GB"], "V100-32GB"),
        ("V100 32GB", ["V100-16GB"], None),
        ("NVIDIA H100 PCIe", ["H100 PCIe", "H100"], "H100 PCIe"),
        ("H100", ["H100 PCIe", "H100"], "H100"),
        ("A100-SXM4-40GB", ["A100"], "A100"),
        ("mychip 9", ["MyChip-9"], "MyChip-9"),
        ("T4", [], None),
    ],
)
def test_the_gpu_that_is_meant_is_one_that_was_measured(asked: str, measured: list[str], meant: str | None) -> None:
    assert meant_gpu(asked, measured) == meant


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
