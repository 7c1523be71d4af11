"""What people and drivers call accelerators, and what price lists do."""

from __future__ import annotations

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import gpu_names, meant_gpu, read_gpu_name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200 141GB HBM3e", "H200"),
        ("H100 (80 GB)", "H100"),
        ("A100 (40GB)", "A100-40GB"),
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
    """And its memory there is one of those that its makers name."""
    for each in Catalog.load().instance_types:
        if each.gpu:
            assert gpu_names([each.gpu]) == {each.gpu: each.gpu}
            assert read_gpu_name(each.gpu).model == each.gpu


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
