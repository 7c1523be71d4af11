"""Tables in which several machines ran one job together: what the row has, what it costs, and what is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main
from tests.tables import STORED

PRICES = ("--catalog", str(STORED / "instances.csv"))


def answered(folder: Path, table: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The answer for the only job of a table, by the two commands that people type."""
    (folder / "job.csv").write_text(table, encoding="utf-8")
    assert main(["import", str(folder / "job.csv"), "--out", str(folder / "study")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "study"), "--json", *options]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["workloads"]
    found: dict[str, Any] = answer
    return found


NODES = """\
job,instance_type,nodes,accelerators per node,usd_per_hour,images/s
train,big.16x,1,8,24.48,2900
train,big.16x,2,8,24.48,5600
train,small.8x,1,2,4.56,760
"""
H100 = """\
model,accelerator,accelerators,nodes,samples/s
llama,H100,8,1,24087
llama,H100,8,2,41672
llama,H200,8,1,32124
"""


@pytest.mark.parametrize(
    ("table", "options", "machine", "nodes", "rate", "usd_a_million"),
    [
        (NODES, (), "small.8x", 1, 760, 4.56 / 3600 / 760 * 1e6),
        (NODES, ("--objective", "fastest"), "2 x big.16x", 2, 5600, 48.96 / 3600 / 5600 * 1e6),
        (H100, PRICES, "aws p5en.48xlarge", 1, 32124, 0.547),
        (H100, (*PRICES, "--objective", "fastest"), "2 x aws p5.48xlarge", 2, 41672, 0.734),
        # Without accelerators, too: two machines at twice the price that are not twice as fast cost more.
        (
            "machine,nodes,usd_per_hour,img/s\nm.large,1,1.00,100\nm.large,4,1.00,350\n",
            (),
            "m.large",
            1,
            100,
            1 / 3600 / 100 * 1e6,
        ),
        # A price that grows with the machines is that of all of them.
        (
            "machine,nodes,usd_per_hour,img/s\nm.large,1,1.00,100\nm.large,4,4.00,350\n",
            ("--objective", "fastest"),
            "4 x m.large",
            4,
            350,
            4 / 3600 / 350 * 1e6,
        ),
    ],
)
def test_several_machines_cost_as_much_as_all_of_them(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    options: tuple[str, ...],
    machine: str,
    nodes: int,
    rate: float,
    usd_a_million: float,
) -> None:
    """The price of one times their number, by the table or the catalogue, in the answer and beside it."""
    answer = answered(tmp_path, table, capsys, *options)
    chosen = next(each for each in answer["alternatives"] if each["spec"] == answer["spec"])
    assert (chosen["instance_type"], answer["spec"].get("nodes", 1)) == (machine, nodes)
    assert answer["throughput"]["value"] == pytest.approx(rate)
    assert chosen["usd_per_million_samples"] == pytest.approx(usd_a_million, abs=0.001)
    assert len(answer["alternatives"]) == len(table.splitlines()) - 1
