"""Prices of machines and GPUs by the names that tables have for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.exchange.imported import read_measurements
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.answer import Answer
from sizer.records.study import Objective
from tests.tables import stored_catalog


def _answer(folder: Path, table: str) -> Answer:
    path = folder / "table.csv"
    path.write_text(table)
    runs = read_measurements(path, stored_catalog()).runs
    return recommend(fit(runs), runs, Objective("cheapest"), stored_catalog()).workloads[0]


def _prices(answer: Answer) -> dict[tuple[str | None, int | None], float | None]:
    return {
        (alternative.spec.gpu, alternative.spec.gpu_count): alternative.usd_per_hour
        for alternative in answer.alternatives
    }


@pytest.mark.parametrize(
    ("written", "name", "price"),
    [
        ("NVIDIA H100 80GB HBM3", "H100", 6.88),
        ("NVIDIA H200 141GB HBM3e", "H200", 63.296),
        ("A100 (40GB)", "A100-40GB", 3.67),
        ("V100 16GB", "V100-16GB", 2.95),
        ("V100 32GB", "V100-32GB", 31.212),
        ("Tesla V100-SXM2-32GB", "V100-32GB", 31.212),
        ("RTX 3090", "RTX 3090", None),
    ],
)
def test_a_gpu_has_the_price_of_a_machine_with_it(tmp_path: Path, written: str, name: str, price: float | None) -> None:
    """Of its memory, too."""
    answer = _answer(tmp_path, f"gpu,gpu_count,throughput\n{written},1,500\nK80,1,45\n")
    assert _prices(answer)[name, 1] == price


def test_the_newer_gpu_with_a_drivers_name_is_the_least_costly(tmp_path: Path) -> None:
    table = "gpu,gpu_count,throughput\nNVIDIA A100 80GB PCIe,1,850\nNVIDIA H100 80GB HBM3,1,1700\nNVIDIA L4,1,150\n"
    answer = _answer(tmp_path, table)
    assert answer.spec.gpu == "H100"


def test_a_host_to_which_gpus_are_added_costs_what_the_catalogue_has_with_as_many(tmp_path: Path) -> None:
    """Without a GPU, or with one that is not listed with it, its price is not known."""
    bare = _answer(tmp_path, "instance_type,throughput\nn1-highmem-4,6.1\nn1-highmem-8,11.7\n")
    assert {alternative.usd_per_hour for alternative in bare.alternatives} == {None}
    table = (
        "instance_type,gpu,gpu_count,throughput\nn1-highmem-8,V100,1,390\nn1-highmem-8,P4,2,150\nn1-highmem-8,T4,1,9\n"
    )
    assert _prices(_answer(tmp_path, table)) == {("V100", 1): 2.95, ("P4", 2): 1.67, ("T4", 1): None}


def test_a_machine_with_other_gpus_than_the_catalogue_knows_has_no_price_of_it(tmp_path: Path) -> None:
    """Of another kind, or more of them; with fewer in use it costs as much as it does."""
    table = (
        "instance_type,gpu,gpu_count,throughput\ng4dn.xlarge,V100,1,110\ng6e.xlarge,L40S,4,380\n"
        "p3dn.24xlarge,V100,2,390\ng5.xlarge,A10G,1,240\n"
    )
    found = _prices(_answer(tmp_path, table))
    assert found == {("V100", 1): None, ("L40S", 4): None, ("V100", 2): 31.212, ("A10G", 1): 1.006}
