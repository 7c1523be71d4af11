"""What a person says of a fleet: weights of its workloads, prices of parts, and what is wrong with tables of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.exchange.fleet_tables import read_amounts, read_prices
from sizer.records.family import Amounts, PartPrices
from sizer.records.messages import InputError


def write(folder: Path, text: str) -> Path:
    path = folder / "table.csv"
    path.write_text("\n".join(text.split()) + "\n")
    return path


@pytest.mark.parametrize(
    ("text", "amounts"),
    [
        ("workload,weight a,3 b,1", Amounts({"a": 3.0, "b": 1.0})),
        ("samples;workload 1e6;b 2M;a", Amounts({"b": 1e6, "a": 2e6}, samples=True)),
        ("workload,weight a,0 b,1 unserved,7", Amounts({"a": 0.0, "b": 1.0, "unserved": 7.0})),
        ("workload,weight a,0 b,1", Amounts({"a": 0.0, "b": 1.0})),
    ],
)
def test_amounts(tmp_path: Path, text: str, amounts: Amounts) -> None:
    """Weights, or samples."""
    assert read_amounts(write(tmp_path, text), ["a", "b"], ["a", "b", "unserved"]) == amounts


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("workload,weight a,3", "has no row for `b`; add `b,1`."),
        ("workload,weight a,3 b,1 c,1", "line 4: workload: the studies have no `c`; use a, b or unserved."),
        ("workload,weight a,3 b,1 a,1", "line 4: workload: `a` stands in two rows; remove one of them."),
        ("workload,weight a,3 b,x", "line 3: weight: `x` is not a number; write one such as 0.5."),
        ("workload,weight a,3 b,-1", "line 3: weight: `-1` is below 0; give 0 or more."),
        ("workload,weight a,0 b,0", "every amount is 0; give one workload more."),
        (
            "name,weight a,0 b,0",
            "needs the columns `workload` and `weight` (or `samples`); write them in its first line.",
        ),
    ],
)
def test_bad_amounts(tmp_path: Path, text: str, complaint: str) -> None:
    """Each names the line and what to write."""
    with pytest.raises(InputError) as error:
        read_amounts(write(tmp_path, text), ["a", "b"], ["a", "b", "unserved"])
    assert str(error.value).endswith(complaint)


def test_prices(tmp_path: Path) -> None:
    """Accelerators by any of their names, with their memory where the file says it; memory may cost nothing."""
    gpus = "gpu,Tesla-V100,2 gpu,A100-40GB,3 gpu,A100-SXM4-80GB,4"
    path = write(tmp_path, f"resource,name,usd_per_hour vcpu,,0.04 gib,,0 {gpus} disk,aws/gp3,0.02")
    assert read_prices(path) == PartPrices(0.04, 0.0, {"v100": 2.0, "a100-40": 3.0, "a100-80": 4.0}, {"aws/gp3": 0.02})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("vcpu,,0.04", "has no price of a gib; add `gib,,0.01`."),
        ("gib,,1", "has no price of a vcpu; add `vcpu,,0.01`."),
        ("vcpu,,0 gib,,1", "a vcpu costs 0; give more, such as 0.01."),
        (
            "vcpu,,0.04 gpu,a100-40gb,1 gpu,A100-PCIe-40GB,1",
            "line 4: resource: this price stands in two rows; remove one of them.",
        ),
        ("vcpu,,0.04 ram,,1", "line 3: resource: `ram` is none of vcpu, gib, gpu or disk."),
        ("vcpu,,0.04 gpu,,1", "line 3: name: a gpu and a disk have a name here, a vcpu and a gib have none."),
        ("vcpu,,0.04 vcpu,,1", "line 3: resource: this price stands in two rows; remove one of them."),
        ("vcpu,,free", "line 2: usd_per_hour: `free` is not a number; write one such as 0.5."),
    ],
)
def test_bad_prices(tmp_path: Path, text: str, complaint: str) -> None:
    """The same of prices."""
    with pytest.raises(InputError) as error:
        read_prices(write(tmp_path, f"resource,name,usd_per_hour {text}"))
    assert str(error.value).endswith(complaint)
