"""Tables in which several machines ran one job together: what the row has, what it costs, and what is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main
from sizer.records.errors import InputError
from tests.tables import Read

Had = list[tuple[int, float | None, int | None]]


def had(table: str, read: Read) -> Had:
    """Of each row how many machines it had, their vCPUs and their accelerators, all of them together."""
    runs = read(table).runs
    return [(run.nodes, run.configuration.vcpus, run.configuration.gpu_count) for run in runs]


def answered(folder: Path, table: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The answer for the only job of a table, by the two commands that people type."""
    (folder / "job.csv").write_text(table, encoding="utf-8")
    assert main(["import", str(folder / "job.csv"), "--out", str(folder / "study")]) == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "study"), "--json", *options]) == 0
    (answer,) = json.loads(capsys.readouterr().out)["workloads"]
    found: dict[str, Any] = answer
    return found


@pytest.mark.parametrize(
    ("table", "right"),
    [
        ("gpu,gpus per node,nodes,img/s\nV100,8,1,2900\nV100,8,2,5600\n", [(1, None, 8), (2, None, 16)]),
        ("gpu,total gpus,# of nodes,img/s\nV100,8,1,2900\nV100,16,2,5600\n", [(1, None, 8), (2, None, 16)]),
        ("显卡,总卡数,机数,img/s\nV100,8,1,2900\nV100,16,2,5600\n", [(1, None, 8), (2, None, 16)]),
        ("gpu,单机卡数,节点数,img/s\nV100,8,1,2900\nV100,8,2,5600\n", [(1, None, 8), (2, None, 16)]),
        # The same count in one and in two is that of each, and one that grows with them that of all.
        ("gpu,gpus,nodes,img/s\nV100,8,1,2900\nV100,8,2,5600\n", [(1, None, 8), (2, None, 16)]),
        ("gpu,gpus,nodes,img/s\nV100,8,1,2900\nV100,16,2,5600\n", [(1, None, 8), (2, None, 16)]),
        # No eight accelerators are 1.7 times as fast by being in two machines (MLPerf inference 4.1, llama2-70b).
        (
            "gpu,gpus,nodes,tok/s\nH100,4,1,10700\nH100,8,1,24087\nH100,8,2,41672\n",
            [(1, None, 4), (1, None, 8), (2, None, 16)],
        ),
        # The catalogue knows that a p3.16xlarge has eight, and that no machine has 64 V100.
        ("instance type,gpus,nodes,img/s\np3.16xlarge,8,2,5600\n", [(2, 128, 16)]),
        ("instance type,gpus,nodes,img/s\np3.16xlarge,16,2,5600\n", [(2, 128, 16)]),
        ("gpu,gpus,nodes,img/s\nV100,64,8,21000\n", [(8, None, 64)]),
        ("gpu,gpus,nodes,img/s\nV100,3,2,1000\n", [(2, None, 6)]),
        # Cells that count machines.
        ("machine,img/s\n1x p3.16xlarge,2900\n2x p3.16xlarge,5600\n", [(1, 64, 8), (2, 128, 16)]),
        (
            "cluster,img/s\n1 g3.8xlarge node (1 worker),40.7\n4 g3.16xlarge nodes (16 workers),746\n",
            [(1, 32, 2), (4, 256, 16)],
        ),
        ("instance,img/s\np3.16xlarge,2900\np3.16xlarge (x2),5600\n", [(1, 64, 8), (2, 128, 16)]),
        ("Hardware,img/s\n1x p3.16xlarge,2900\n2 × p3.16xlarge,5600\n", [(1, 64, 8), (2, 128, 16)]),
        ("gpu,world_size,nodes,img/s\nV100,8,1,2900\nV100,16,2,5600\n", [(1, None, 8), (2, None, 16)]),
        ("配置,img/s\nV100单机8卡（1x8）,2900\nV100两机8卡（2x8）,5600\n", [(1, None, 8), (2, None, 16)]),
        ("gpu,img/s\n8x V100,2900\n2x8 V100,5600\n", [(1, None, 8), (2, None, 16)]),
        # What counts no machines: accelerators, CPUs of one machine, copies of a network.
        ("machine,gpu,img/s\n8x V100,V100,2900\nV100 x4,V100,1500\n", [(1, None, 0), (1, None, 0)]),
        ("device,vcpus,img/s\n2x Xeon Gold 6148,40,9\n1x Xeon Gold 6148,20,5\n", [(1, 40, 0), (1, 20, 0)]),
        ("gpu,instance count,img/s\nT4,1,110\nT4,1,111\n", [(1, None, 0), (1, None, 0)]),
        ("gpu,nodes,edges,img/s\nT4,2,1,110\nL4,4,6,60\n", [(1, None, 0), (1, None, 0)]),
        ("gpu,nodes,batch,img/s\nT4,2708,1,110\nT4,19717,2,60\n", [(1, None, 0), (1, None, 0)]),
        # vCPUs and memory are those of each, unless the header says that they are not.
        ("nodes,cores per node,img/s\n1,8,10\n4,8,35\n", [(1, 8, None), (4, 32, None)]),
        ("nodes,total cores,img/s\n1,8,10\n4,32,35\n", [(1, 8, None), (4, 32, None)]),
        ("nodes,cores,img/s\n1,8,10\n4,8,35\n", [(1, 8, None), (4, 32, None)]),
    ],
)
def test_a_row_has_what_all_of_its_machines_have(read: Read, table: str, right: Had) -> None:
    """By the header, else by what else the table or the catalogue says; and what is exported comes back the same."""
    assert had(table, read) == right


def test_where_nothing_says_whose_accelerators_are_counted_it_is_asked_for(read: Read) -> None:
    """With both names that would say it."""
    with pytest.raises(InputError) as caught:
        read("gpu,gpus,nodes,img/s\nV100,8,2,5600\nT4,4,1,430\n")
    assert "call it `gpus per node` or `total gpus`" in str(caught.value)
    with pytest.raises(InputError, match="line 3: gpu: how many V100 each of the 4 machines has is not said"):
        read("gpu,nodes,img/s\nV100,1,380\nV100,4,1400\n")
    with pytest.raises(InputError, match="line 2: gpu_count: 12, but 2 x 8"):
        read("gpu,gpus,gpus per node,nodes,img/s\nV100,12,8,2,5600\n")


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
        (H100, (), "aws p5en.48xlarge", 1, 32124, 0.547),
        (H100, ("--objective", "fastest"), "2 x aws p5.48xlarge", 2, 41672, 0.734),
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


RAY = """\
Cluster Setup,Data Size,Performance
1 g3.8xlarge node (1 worker),1 GB (1623 images),"79.76 s (2 epochs, 40.7 images/sec)"
1 g3.8xlarge node (1 worker),20 GB (32460 images),"1388.33 s (2 epochs, 46.76 images/sec)"
4 g3.16xlarge nodes (16 workers),100 GB (162300 images),"434.95 s (2 epochs, 746.29 images/sec)"
"""
"""Ray's page on training images (08fdb5e6), figures only: each cell holds several."""


def test_cells_with_several_figures_are_read_by_the_one_rate_in_them(read: Read) -> None:
    """And machines by their count, where no other column has rates."""
    found = read(RAY)
    assert [(run.nodes, run.throughput and run.throughput.value) for run in found.runs] == [
        (1, 40.7),
        (1, 46.76),
        (4, 746.29),
    ]
    assert {run.sample_unit for run in found.runs} == {"image"}
