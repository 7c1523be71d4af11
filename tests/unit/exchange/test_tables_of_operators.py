"""Accelerators as drivers call them, figures of one GPU, units in a column, cells that cannot be what they seem."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sizer.exchange.imported import Imported
from sizer.records.errors import InputError
from sizer.records.run_kinds import Outcome
from sizer.records.study import NoteKind
from sizer.words.notes import note_in_words
from tests.tables import Read, kinds


def said(found: Imported, kind: NoteKind) -> str:
    """The sentence of the one note of a kind."""
    (sentence,) = [note_in_words(note) for note in found.notes if note.kind is kind]
    return sentence


def gpus(found: Imported) -> list[tuple[str | None, int | None]]:
    return [(run.configuration.gpu, run.configuration.gpu_count) for run in found.runs]


def rates(found: Imported) -> list[float | None]:
    return [round(run.throughput.value, 6) if run.throughput else None for run in found.runs]


def prices(found: Imported) -> list[float | None]:
    return [run.machine.usd_per_hour if run.machine else None for run in found.runs]


def test_all_names_of_a_gpu_are_one_kind(read: Read) -> None:
    """And which was read otherwise is said."""
    found = read("gpu,gpu_count,throughput\nV100,1,380\nv100,2,750\nTesla V100,4,1480\n")
    assert gpus(found) == [("V100", 1), ("V100", 2), ("V100", 4)]
    assert said(found, NoteKind.GPU_NAMES_READ) == (
        "Accelerators are called as in price lists: `v100` as V100 and `Tesla V100` as V100."
    )


def test_two_sizes_of_memory_are_two_gpus(read: Read) -> None:
    """Whether the name says it or a column beside it; what is no size of that GPU, as of what was used, is not read."""
    found = read("gpu,throughput\nV100 16GB,370\nTesla V100-SXM2-32GB,390\nNVIDIA H100 80GB HBM3,1700\n")
    assert gpus(found) == [("V100-16GB", 0), ("V100-32GB", 0), ("H100", 0)]
    found = read("gpu,vram,throughput\nA100,40,800\nA100,80GB,860\nT4,16,110\n")
    assert gpus(found) == [("A100-40GB", 0), ("A100-80GB", 0), ("T4", 0)]
    assert found.unknown == ()
    found = read("gpu,GPU memory (GB),batch_size,throughput\nA100,31.5,32,800\nA100,38.2,64,860\n")
    assert gpus(found) == [("A100", 0), ("A100", 0)]
    assert found.unknown == ("GPU memory (GB)",)


@pytest.mark.parametrize("header", ["gpus per node", "gpus_per_node", "GPUs per instance", "gpu/node"])
def test_gpus_of_each_node_are_the_count(read: Read, header: str) -> None:
    """Times the nodes of the row; where the table has those of all as well, the two say how many nodes there were."""
    found = read(f"gpu,{header},nodes,img/s\nV100,4,1,1390\nA100,8,1,6100\nA100,8,2,11800\n")
    assert gpus(found) == [("V100", 4), ("A100", 8), ("A100", 16)]
    assert found.unknown == ()
    found = read(f"gpu,gpu_count,{header},img/s\nV100,16,8,5000\nA100,8,8,6100\n")
    assert gpus(found) == [("V100", 16), ("A100", 8)]
    assert [run.nodes for run in found.runs] == [2, 1]
    assert found.unknown == ()


def test_hosts_to_which_gpus_are_added_have_those_of_the_table_alone(read: Read) -> None:
    """The catalogue has n1-highmem-8 with one V100 and with two P4."""
    found = read("instance_type,throughput\nn1-highmem-4,6.1\nn1-highmem-8,11.7\n")
    assert gpus(found) == [(None, 0), (None, 0)]
    assert [run.configuration.vcpus for run in found.runs] == [4, 8]
    assert "none are assumed" in said(found, NoteKind.HOSTS_OF_GPUS)
    assert "`usd_per_hour`" in said(found, NoteKind.HOSTS_OF_GPUS)
    found = read("instance_type,gpu,gpu_count,throughput\nn1-highmem-8,T4,1,110\nn1-highmem-8,P4,2,150\n")
    assert gpus(found) == [("T4", 1), ("P4", 2)]
    assert NoteKind.HOSTS_OF_GPUS not in kinds(found)
    priced = read("instance_type,usd_per_hour,throughput\nn1-highmem-4,0.24,6.1\nn1-highmem-8,0.47,11.7\n")
    assert "`usd_per_hour`" not in said(priced, NoteKind.HOSTS_OF_GPUS)


def test_a_column_of_units_is_applied(read: Read) -> None:
    """Each row has its own; a time becomes a rate by the batch or the samples of an epoch."""
    found = read(
        "gpu,throughput,unit,batch_size,dataset_samples\nV100,22800,images/min,,\nT4,108,images/s,,\n"
        "K80,500,ms/step,32,\nP100,100,s/epoch,,50000\nA100,2.5,it/s,64,\nL4,7.2k,samples/hour,,\n"
    )
    assert rates(found) == [380, 108, 64, 500, 160, 2]
    assert found.runs[0].sample_unit == "image"
    assert said(found, NoteKind.UNITS_READ) == (
        "Rates in `throughput` become rates a second: `22800 images/min` is read as 380."
    )


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (
            "V100,5,furlongs",
            "line 2: unit: `furlongs` is not a unit of rates that sizer knows; write one such as images/s",
        ),
        ("V100,5,EUR/h", "line 2: unit: `EUR/h` is not a unit of rates"),
        ("V100,5,ms/step", "line 2: unit: a rate follows from a time only with `batch_size`; add that column"),
    ],
)
def test_a_unit_that_is_not_understood_is_refused_by_name(read: Read, row: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read(f"gpu,throughput,unit\n{row}\nT4,4,images/s\n")


def test_a_unit_beside_a_rate_with_its_own_is_something_else(read: Read) -> None:
    found = read("gpu,img/s,unit\nV100,380,rack 7\nT4,108,rack 8\n")
    assert rates(found) == [380, 108]
    assert found.unknown == ("unit",)


@pytest.mark.parametrize(
    ("header", "cells", "wanted"),
    [
        ("throughput (images/min)", ("22800", "48000"), [380, 800]),
        ("samples/hour", ("3600", "7200"), [1, 2]),
        ("throughput", ("22800 images/min", "800 images/s"), [380, 800]),
    ],
)
def test_a_rate_a_minute_or_an_hour_is_one_a_second(
    read: Read, header: str, cells: tuple[str, str], wanted: list[float]
) -> None:
    assert rates(read(f"gpu,{header}\nV100,{cells[0]}\nA100,{cells[1]}\n")) == wanted


@pytest.mark.parametrize("header", ["images/sec/GPU", "img/s per GPU", "per-GPU images/s", "Throughput per GPU"])
def test_the_rate_of_one_gpu_counts_for_each(read: Read, header: str) -> None:
    """The count is the table's, or that of the machine it names."""
    found = read(f"gpu,gpu_count,{header}\nV100,1,380\nV100,8,310\n")
    assert rates(found) == [380, 2480]
    assert said(found, NoteKind.RATE_OF_ONE_GPU) == (
        f"`{header}` is the rate of one accelerator, so `throughput` is that times `gpu_count`."
    )
    assert rates(read(f"instance,{header}\np3.8xlarge,350\ng4dn.xlarge,110\n")) == [1400, 110]
    with pytest.raises(InputError, match="line 2: gpu_count: the table has figures of one accelerator; write how many"):
        read(f"instance,{header}\nour box,350\ng4dn.xlarge,110\n")


@pytest.mark.parametrize("header", ["it/s", "steps/sec", "iterations per second"])
def test_batches_a_second_are_a_rate_by_their_size(read: Read, header: str) -> None:
    """The batch of one GPU counts for each of them."""
    found = read(f"gpu,gpu_count,batch,{header}\nV100,1,16,3.1\nV100,2,32,3\n")
    assert rates(found) == [49.6, 96]
    found = read(f"gpu,gpu_count,per-device batch size,{header}\nV100,1,16,3.1\nV100,2,16,3\n")
    assert rates(found) == [49.6, 96]


def test_the_time_of_an_epoch_of_training_needs_its_samples(read: Read) -> None:
    """The column that is missing is named."""
    header = "Instance Type,Hourly Cost (USD),Spot Price,Training time per epoch (min)"
    found = read(
        f"{header},Dataset samples\np3.2xlarge,$3.06,$0.918,42,1281167\ng4dn.xlarge,$0.526,$0.158,131,1281167\n"
    )
    assert [round(rate or 0, 1) for rate in rates(found)] == [508.4, 163.0]
    with pytest.raises(InputError, match="only with `dataset_samples`; add that column"):
        read(f"{header}\np3.2xlarge,$3.06,$0.918,42\ng4dn.xlarge,$0.526,$0.158,131\n")


@pytest.mark.parametrize(
    ("word", "outcome"),
    [
        ("OOM", Outcome.OUT_OF_MEMORY),
        ("failed", Outcome.CRASHED),
        ("Error", Outcome.CRASHED),
        ("crashed", Outcome.CRASHED),
        ("time out", Outcome.TIMEOUT),
    ],
)
def test_people_call_an_outcome_otherwise(read: Read, word: str, outcome: Outcome) -> None:
    found = read(f"gpu,batch_size,throughput,outcome\nT4,32,410,ok\nT4,64,,{word}\nA10G,32,700,\n")
    assert [run.outcome for run in found.runs] == [Outcome.COMPLETED, outcome, Outcome.COMPLETED]
    with pytest.raises(InputError, match="`melted` is not an outcome"):
        read("gpu,batch_size,throughput,outcome\nT4,32,410,melted\nA10G,32,700,\n")


def test_a_kind_that_is_training_or_inference_distinguishes_jobs(read: Read) -> None:
    found = read("gpu,kind,throughput\nT4,infer,400\nV100,inference,900\n")
    assert {run.spec.workload.name for run in found.runs} == {"table (infer)", "table (inference)"}
    found = read("gpu,kind,throughput\nT4,infer,400\nV100,infer,900\n")
    assert {run.spec.workload.name for run in found.runs} == {"table"}
    assert found.unknown == ()
    with pytest.raises(InputError, match="kind: `frobnicate` must be one of"):
        read("gpu,kind,throughput\nT4,frobnicate,400\nV100,infer,900\n")


def test_disks_and_gpus_beside_each_other_are_rows(read: Read) -> None:
    found = read("instance,hdd img/s,ssd img/s\nc5.4xlarge,210,480\nc5.9xlarge,212,1010\n")
    assert [run.configuration.disk for run in found.runs] == ["hdd", "ssd", "hdd", "ssd"]
    assert rates(found) == [210, 480, 212, 1010]
    found = read("batch,V100 img/s,A100 80GB img/s\n32,380,800\n64,400,900\n")
    assert [gpu for gpu, _ in gpus(found)] == ["V100", "A100-80GB"] * 2


def test_a_column_cpu_that_is_not_the_vcpus_of_the_machines_is_their_load(read: Read) -> None:
    """It is kept as it is, and the catalogue's vCPUs hold; where it is theirs it is read."""
    found = read("instance_type,cpu,throughput\ng4dn.xlarge,98,100\ng4dn.2xlarge,71,135\n")
    assert [run.configuration.vcpus for run in found.runs] == [4, 8]
    assert [run.other["cpu"] for run in found.runs] == ["98", "71"]
    assert said(found, NoteKind.CPU_NOT_VCPUS) == (
        "`cpu` is not read as vCPUs: line 2 has 98, and `g4dn.xlarge` has 4 of them. If it is how many were used, call "
        "it `vcpus`."
    )
    assert NoteKind.COLUMNS_READ not in kinds(found)
    right = read("instance_type,cpu,throughput\ng4dn.xlarge,4,100\ng4dn.2xlarge,8,135\n")
    assert [run.configuration.vcpus for run in right.runs] == [4, 8]
    assert NoteKind.CPU_NOT_VCPUS not in kinds(right)
    busy = read("instance_type,cpu,throughput\ng4dn.xlarge,98 %,100\ng4dn.2xlarge,71 %,135\n")
    assert busy.unknown == ("cpu",)


def test_what_a_named_machine_has_not_is_said(read: Read) -> None:
    """A part of a machine may have been used: that is no contradiction."""
    found = read(
        "instance_type,gpu,gpu_count,vcpus,throughput\ng4dn.xlarge,V100,1,4,110\np3.2xlarge,V100,4,8,380\n"
        "c5.4xlarge,T4,1,16,90\ng4dn.2xlarge,T4,1,32,130\np3dn.24xlarge,V100 16GB,8,96,2000\n"
        "p3.8xlarge,V100,1,8,370\n"
    )
    sentences = [note_in_words(note) for note in found.notes if note.kind is NoteKind.MACHINE_AT_ODDS]
    assert sentences == [
        "`gpu` is V100 in line 2, and `g4dn.xlarge` has T4 in the catalogue; correct one of the two cells.",
        "`gpu_count` is 4 in line 3, and `p3.2xlarge` has 1 in the catalogue; correct one of the two cells.",
        "`gpu` is T4 in line 4, and `c5.4xlarge` has no GPU in the catalogue; correct one of the two cells.",
        "`vcpus` is 32 in line 5, and `g4dn.2xlarge` has 8 in the catalogue; correct one of the two cells.",
        "`gpu` is V100-16GB in line 6, and `p3dn.24xlarge` has V100 in the catalogue; correct one of the two cells.",
    ]


def test_more_than_a_machine_has_is_no_count_of_gpus(read: Read) -> None:
    """A column called `count` may count anything; one called `gpu_count` may be of a cluster, and is kept."""
    found = read("gpu,count,throughput\nV100,50000,380\nT4,50000,110\n")
    assert gpus(found) == [("V100", 0), ("T4", 0)]
    assert "call it `gpu_count`" in said(found, NoteKind.COUNT_NOT_OF_GPUS)
    assert found.unknown == ("count",)
    assert gpus(read("gpu,gpu_count,throughput\nH100,4096,380000\nH100,8192,700000\n")) == [
        ("H100", 4096),
        ("H100", 8192),
    ]


def test_memory_that_is_that_of_the_gpus_is_none_of_the_machines(read: Read) -> None:
    """In each row, of two sizes at least; the memory of a machine that is named, or called so, is its own."""
    found = read("gpu,memory,throughput\nV100,16GB,380\nA100,40GB,800\nA100,80GB,860\nT4,16GB,110\n")
    assert [run.configuration.memory_bytes for run in found.runs] == [None] * 4
    assert [gpu for gpu, _ in gpus(found)] == ["V100-16GB", "A100-40GB", "A100-80GB", "T4"]
    assert "`memory` has the memory of each row's own accelerator" in said(found, NoteKind.MEMORY_OF_GPUS)
    for table in (
        "gpu,RAM,throughput\nT4,16GB,380\nA100,80GB,800\n",
        "gpu,memory,throughput\nT4,16GB,380\nA100,220GB,800\n",
        "gpu,memory,throughput\nT4,16GB,380\nT4,16GB,390\nV100,16GB,390\n",
        "gpu,memory,instance_type,throughput\nT4,16GB,g4dn.xlarge,380\nA100,80GB,own box,800\n",
    ):
        assert None not in [run.configuration.memory_bytes for run in read(table).runs]


def test_the_price_of_a_gpu_hour_is_that_of_its_part_of_the_machine(read: Read) -> None:
    for header in ("$/GPU-hr", "price per GPU hour", "usd_per_gpu_hour"):
        found = read(f"gpu,gpu_count,{header},img/s\nV100,1,$0.55,380\nV100,8,0.55,2500\nA100,8,1.29,6100\n")
        assert prices(found) == [0.55, 4.4, 10.32]
        assert found.unknown == ()
        assert "is the price of one accelerator" in said(found, NoteKind.PRICE_OF_ONE_GPU)
    assert prices(read("instance,$/GPU-hr,img/s\np3.8xlarge,3,1390\ng4dn.xlarge,0.5,110\n")) == [12, 0.5]
    for header in ("GPU price", "price per GPU", "GPU $/h"):
        assert read(f"gpu,{header},img/s\nV100,9000,380\nA100,15000,800\n").unknown == (header,)


def test_a_count_of_one_counts_the_whole_of_a_name(read: Read) -> None:
    """Where both count, the column holds, and the lines are named."""
    found = read("gpu,gpu_count,throughput\n8xA100,1,6100\n4xA100,1,3200\n1xA100,1,820\n")
    assert gpus(found) == [("A100", 8), ("A100", 4), ("A100", 1)]
    assert "in line 2 and line 3" in said(found, NoteKind.COUNTS_DIFFER)
    assert gpus(read("gpu,gpu_count,throughput\n2xA100,4,6100\nA100,1,820\n")) == [("A100", 4), ("A100", 1)]


def test_a_point_beside_a_comma_of_thousands_is_not_guessed(read: Read, tmp_path: Path) -> None:
    """Unless other cells of the column show that points are decimal."""
    rows = [["gpu", "gpu_count", "throughput"], ["V100", "1", "1,077"], ["V100", "4", "4.120"], ["V100", "8", "7700"]]
    path = tmp_path / "points.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(InputError, match=r"line 3: throughput: `4\.120` may be 4120 or 4\.12, since `1,077` stands in"):
        read(path.read_text())
    assert rates(read(path.read_text().replace("7700", "7700.5"))) == [1077, 4.12, 7700.5]


@pytest.mark.parametrize(
    "table",
    [
        "instance_type,usd_per_hour,throughput\np4d.24xlarge,32.77,9000\n",
        "gpu,throughput\nT4,110\nT4,112\n",
        "workload,vcpus,throughput\na,1,5\nb,1,6\n",
    ],
)
def test_one_configuration_is_imported(read: Read, table: str) -> None:
    """A row alone, its repeats, or one of each job."""
    assert len(read(table).runs) == table.count("\n") - 1


def test_headers_of_rates_may_say_several_things(read: Read) -> None:
    """Precision and batch of PaddlePaddle's ResNet-50 (018d1b78), figures only; two dashes are no figure."""
    found = read(
        "卡数,FP32(BS=96) images/sec,AMP(BS=128) images/sec,AMP(BS=208) images/sec\n"
        "1,377.21,1342.56,1396.573\n8,2906.887,8690.84,——\n"
    )
    rated = [(run.precision, run.configuration.batch_size, run.configuration.gpu_count) for run in found.runs]
    assert rated == [("FP32", 96, 1), ("AMP", 128, 1), ("AMP", 208, 1), ("FP32", 96, 8), ("AMP", 128, 8)]
    assert rates(found) == [377.21, 1342.56, 1396.573, 2906.887, 8690.84]
