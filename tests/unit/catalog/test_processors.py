"""Which CPU an instance type has, and how fast that is."""

from __future__ import annotations

import pytest

from sizer.catalog.catalog import Catalog
from sizer.catalog.processors import index_by_name, processor_called, processor_of


@pytest.mark.parametrize(
    ("name", "index", "cores", "instructions"),
    [
        ("aws/c6i.2xlarge", 1.0, 4, "avx512"),
        ("aws/c7a.2xlarge", 1.235, 8, "avx512"),
        ("aws/c7g.2xlarge", 0.903, 8, "sve"),
        ("gcp/c3d-standard-8", 1.152, 4, "avx512"),
        ("azure/Standard_D8s_v5", 1.027, 4, "avx512"),
        ("gcp/a2-highgpu-1g", 0.732, 6, "avx512"),
        ("azure/Standard_E8ads_v5", 0.999, 4, "avx2"),  # by its CPU: the family was not measured
    ],
)
def test_a_type_has_the_speed_of_its_family(name: str, index: float, cores: float, instructions: str) -> None:
    """AWS c6i is 1; of AMD's and ARM's on AWS a vCPU is a whole core."""
    processor = processor_of(Catalog.load().called(name)[0])
    assert processor is not None
    assert processor.index == pytest.approx(index, abs=0.003)
    assert (processor.cores, processor.instructions) == (cores, instructions)


def test_families_of_a_lottery_are_less_sure() -> None:
    """AWS c5 has one of three CPUs, c6i always the same."""
    lottery, sure = (processor_of(Catalog.load().called(name)[0]) for name in ("aws/c5.2xlarge", "aws/c6a.2xlarge"))
    assert lottery is not None
    assert sure is not None
    assert lottery.deviation > sure.deviation
    assert " or " in lottery.cpu


def test_what_nobody_measured_is_not_known() -> None:
    assert processor_of(Catalog.load().called("aws/a1.xlarge")[0]) is None
    assert processor_called("Itanium", 4) is None


def test_a_name_says_what_is_usual() -> None:
    """Also by the numbers that makers give, and where the name is hidden by the CPU's own."""
    assert index_by_name("AMD EPYC", "AuthenticAMD/25/17/1") == pytest.approx(1.22, abs=0.02)
    assert index_by_name("Xeon 8375C", "") == pytest.approx(1.0, abs=0.01)
    assert index_by_name("unknown", "?") is None
