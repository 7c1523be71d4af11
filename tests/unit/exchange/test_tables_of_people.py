"""Headers, labels and units as people write them, machines by their names, jobs kept apart."""

from __future__ import annotations

import csv
import io

import pytest

from sizer.exchange.imported import Imported
from sizer.records.errors import InputError
from sizer.records.run import RentedMachine
from sizer.records.study import NoteKind
from sizer.records.units import RELATIVE
from sizer.words.notes import note_in_words
from tests.tables import Read, kinds


def said(found: Imported, kind: NoteKind) -> list[str]:
    """The sentences of the notes of one kind."""
    return [note_in_words(note) for note in found.notes if note.kind is kind]


def rates(found: Imported) -> list[float]:
    return [run.throughput.value for run in found.runs if run.throughput]


@pytest.mark.parametrize(
    "name", ["ResNet 50 / fp16", "图像训练", "AWS gp3", "-x", "=1+1", "a:b", 'say "x", <b>&', "{0}"]
)
def test_names_are_any_printable_text(read: Read, name: str) -> None:
    """Of workloads, disks, frameworks, networks and GPUs; runs are named by ids, and no path by any of these."""
    text = io.StringIO()
    columns = ["workload", "disk", "disk_class", "framework", "network", "gpu", "vcpus", "throughput"]
    csv.writer(text).writerows(
        [columns, [name, name, "ssd", *[name] * 3, 1, 10], [name, "b", "ssd", *[name] * 3, 2, 19]]
    )
    first, second = read(text.getvalue()).runs
    workload = first.spec.workload
    assert (workload.name, workload.framework, workload.network) == (name, name, name)
    assert (first.configuration.disk, first.configuration.gpu, second.configuration.disk) == (name, name, "b")
    assert first.id.isalnum()


@pytest.mark.parametrize(
    ("header", "column", "unit"),
    [
        ("images/sec", "throughput", "image"),
        ("images_per_second", "throughput", "image"),
        ("img/s", "throughput", "image"),
        ("samples/s", "throughput", "sample"),
        ("tokens/s", "throughput", "token"),
        ("Throughput (images/s)", "throughput", "image"),
        ("ips", "throughput", "sample"),
        ("qps", "throughput", "query"),
    ],
)
def test_a_header_says_what_a_rate_counts(read: Read, header: str, column: str, unit: str) -> None:
    """And the note echoes what it was read as."""
    found = read(f"workload,vcpus,{header}\na,1,100\na,2,190\n")
    assert rates(found) == [100, 190]
    assert {run.sample_unit for run in found.runs} == {unit}
    assert said(found, NoteKind.COLUMNS_READ) == [
        f"Columns of the table are read by their meaning: `{header}` as {column}."
    ]


def test_common_headers_and_units_are_understood(read: Read) -> None:
    """A spreadsheet of semicolons, with a unit in most cells."""
    found = read(
        "model;Cores;RAM;#gpus;Accelerator;BatchSize;img/s;$/h;VM;storage\n"
        "resnet50;8 vCPU;16GiB;1;V100;32;1,077.5;$3.06;x1;AWS gp3\n"
        "resnet50;16 vCPUs;16 GB;2;V100;64;2,100,000;6.12 USD/h;x2;AWS gp3\n"
    )
    one, two = found.runs
    assert (one.spec.workload.name, one.spec.workload.network, one.sample_unit) == ("resnet50", "resnet50", "image")
    assert one.configuration.vcpus == 8
    assert (one.configuration.memory_bytes, two.configuration.memory_bytes) == (16 * 2**30, 16 * 10**9)
    assert (two.configuration.gpu, two.configuration.gpu_count, two.configuration.batch_size) == ("V100", 2, 64)
    assert rates(found) == [1077.5, 2_100_000]
    assert one.machine == RentedMachine(instance_type="x1", usd_per_hour=3.06)
    assert two.machine == RentedMachine(instance_type="x2", usd_per_hour=6.12)
    assert NoteKind.NAMED_BY_COLUMN in kinds(found)
    assert "`1,077.5` as 1077.5" in said(found, NoteKind.THOUSANDS)[0]


@pytest.mark.parametrize(
    ("header", "size"), [("memory_gb", 16e9), ("RAM (GB)", 16e9), ("mem", 2**34), ("memory MiB", 2**24)]
)
def test_the_header_says_the_unit_of_memory(read: Read, header: str, size: float) -> None:
    """GB are 10^9 bytes; without a unit it is GiB, as in memory_gib."""
    found = read(f"workload,{header},throughput\na,16,10\na,32,20\n")
    assert [run.configuration.memory_bytes for run in found.runs] == [size, 2 * size]


def test_a_comma_that_may_be_decimal_is_not_guessed(read: Read) -> None:
    """Where semicolons separate cells, 1,077 may be little more than 1."""
    with pytest.raises(InputError, match="with a point, or 1077 without the comma"):
        read("workload;vcpus;throughput\na;1;1,077\na;2;2000\n")
    assert rates(read('workload,vcpus,throughput\na,1,"1,077"\na,2,2000\n')) == [1077, 2000]


@pytest.mark.parametrize(
    ("headers", "names"),
    [
        ("images/sec,throughput", ("images/sec", "throughput")),
        ("cpus,cores", ("cpus", "cores")),
        ("Batch,bs", ("Batch", "bs")),
    ],
)
def test_two_headers_of_one_meaning_are_refused(read: Read, headers: str, names: tuple[str, str]) -> None:
    """With both names."""
    with pytest.raises(InputError) as caught:
        read(f"workload,gpu,{headers}\na,b,1,2\na,c,1,2\n")
    assert "the columns `{}` and `{}` both mean".format(*names) in str(caught.value)


@pytest.mark.parametrize(
    ("header", "cells", "kind"),
    [
        ("seconds_per_epoch", "100;50", NoteKind.RATE_FROM_EPOCHS),
        ("epoch_time", "100 s;50 s", NoteKind.RATE_FROM_EPOCHS),
        ("Epoch time [min]", "1.6666666666666667;50 s", NoteKind.RATE_FROM_EPOCHS),
        ("seconds_per_batch", "3.2;1.6", NoteKind.RATE_FROM_BATCHES),
        ("ms_per_batch", "3200;1600", NoteKind.RATE_FROM_BATCHES),
        ("step_time(ms)", "3200;1600", NoteKind.RATE_FROM_BATCHES),
        ("seconds_per_step", "3.2;1600 ms", NoteKind.RATE_FROM_BATCHES),
        ("latency_ms", "3200;1600", NoteKind.RATE_FROM_BATCHES),
        ("ms/image", "100;50", NoteKind.RATE_FROM_SAMPLES),
    ],
)
def test_times_become_rates(read: Read, header: str, cells: str, kind: NoteKind) -> None:
    """By the size of the data set or the batch; the note says how."""
    first, second = cells.split(";")
    found = read(f"workload,vcpus,batch_size,dataset_samples,{header}\na,1,32,1000,{first}\na,2,32,1000,{second}\n")
    assert rates(found) == pytest.approx([10, 20])
    assert kind in kinds(found)
    if header == "latency_ms":
        assert [run.latency_p50 for run in found.runs] == [3.2, 1.6]


@pytest.mark.parametrize(
    ("header", "counted"),
    [("epoch_time", "dataset_samples"), ("ms_per_batch", "batch_size"), ("latency_ms", "batch_size")],
)
def test_a_time_without_a_size_says_what_to_add(read: Read, header: str, counted: str) -> None:
    with pytest.raises(InputError, match=f"only with `{counted}`; add that column"):
        read(f"workload,vcpus,{header}\na,1,10\na,2,5\n")


def test_a_time_beside_a_rate_changes_nothing(read: Read) -> None:
    """It is kept unread, and a latency is a fact of its own."""
    found = read("workload,vcpus,throughput,epoch_time,latency_p99_ms,speedup\na,1,10,3,250,1\na,2,19,2,130,1.9\n")
    assert rates(found) == [10, 19]
    assert [run.latency_p99 for run in found.runs] == [0.25, 0.13]
    assert found.unknown == ("epoch_time", "speedup")


@pytest.mark.parametrize("header", ["speedup", "relative", "relative_throughput"])
def test_relative_rates_stay_relative(read: Read, header: str) -> None:
    """Nothing is known of samples a second."""
    found = read(f"workload,gpu,{header}\na,V100,1.0x\na,A100,2.2x\n")
    assert rates(found) == [1.0, 2.2]
    assert {run.sample_unit for run in found.runs} == {RELATIVE}
    assert "are relative" in said(found, NoteKind.RELATIVE_RATES)[0]


MACHINES = "workload,provider,instance_type,region,usd_per_hour,usd_per_hour_spot,throughput\n"


def test_a_row_has_its_machine(read: Read) -> None:
    """Rows that differ in the instance type alone are no repeats of one another."""
    found = read(MACHINES + "a,own,big,here,2.5,1,100\na,own,big,here,2.5,1,101\na,own,small,,0.5,,40\n")
    assert [run.machine for run in found.runs] == [
        RentedMachine("own", "big", "here", 2.5, 1),
        RentedMachine("own", "big", "here", 2.5, 1),
        RentedMachine("own", "small", None, 0.5, None),
    ]
    assert [run.spec.repeat for run in found.runs] == [0, 1, 0]
    assert len({run.id for run in found.runs}) == 3


def test_a_price_of_nothing_is_refused(read: Read) -> None:
    with pytest.raises(InputError, match="line 2: usd_per_hour: `0` is not a price; write a number above 0"):
        read(MACHINES + "a,own,big,here,0,1,100\n")


@pytest.mark.parametrize("name", ["g4dn.xlarge", "aws/g4dn.xlarge", "AWS g4dn.xlarge"])
def test_the_catalogue_fills_in_what_it_knows_of_a_machine(read: Read, name: str) -> None:
    """What the row says itself stays."""
    found = read(f"workload,instance_type,vcpus,throughput\na,{name},,100\na,g4dn.2xlarge,6,150\n")
    one, two = found.runs
    assert (one.configuration.vcpus, one.configuration.gpu, one.configuration.gpu_count) == (4, "T4", 1)
    assert one.configuration.memory_bytes == 16 * 2**30
    assert two.configuration.vcpus == 6
    assert one.machine == RentedMachine("aws", "g4dn.xlarge")
    assert said(found, NoteKind.MACHINES_KNOWN) == [
        "Empty cells of `vcpus`, `memory_gib`, `gpu` and `gpu_count` are filled in from the catalogue, which knows "
        "`g4dn.xlarge` and `g4dn.2xlarge`."
    ]


def test_a_machine_that_nobody_knows_leaves_its_own_cells_empty(read: Read) -> None:
    """Those of the others are filled in."""
    found = read("workload,instance_type,throughput\na,g4dn.xlarge,100\na,own box,150\n")
    assert [run.configuration.vcpus for run in found.runs] == [4, None]
    assert "does not know `own box`, so what such rows leave" in said(found, NoteKind.MACHINES_PARTLY_KNOWN)[0]


def test_gaps_are_named_and_kept(read: Read) -> None:
    """Each axis with its lines; of a disk nobody asks where nothing is read."""
    found = read(
        "workload,gpu,vcpus,disk,input,throughput\n"
        "a,T4,4,ssd,disk,100\na,T4,,ssd,disk,150\na,V100,8,,synthetic,300\na,V100,8,,disk,280\n"
    )
    assert [run.configuration.vcpus for run in found.runs] == [4, None, 8, 8]
    assert said(found, NoteKind.GAPS) == [
        "`vcpus` is empty in line 3, though other rows of the same workload have it. Such a row is compared as it is, "
        "and left out where a curve over `vcpus` is needed.",
        "`disk` is empty in line 5, though other rows of the same workload have it. Such a row is compared as it is, "
        "and left out where a curve over `disk` is needed.",
    ]


def test_of_many_gaps_the_first_are_named(read: Read) -> None:
    found = read("workload,vcpus,throughput\na,1,10\n" + "".join(f"a,,{rate}\n" for rate in range(11, 20)))
    assert "empty in line 3, line 4, line 5, line 6, line 7 and 4 more, though" in said(found, NoteKind.GAPS)[0]


def test_vcpus_are_asked_for_only_where_they_matter(read: Read) -> None:
    """Of a GPU, or of a machine with a name or a price, they decide nothing."""
    tables = {
        "workload,gpu,throughput\na,T4,1\na,V100,3\n": False,
        "workload,instance_type,usd_per_hour,throughput\na,x,1,1\na,y,2,3\n": False,
        "workload,memory_gib,throughput\na,4,1\na,8,3\n": True,
    }
    assert {table: NoteKind.NO_VCPUS in kinds(read(table)) for table in tables} == tables


def test_a_machine_without_gpu_is_known_to_have_none(read: Read) -> None:
    found = read("workload,instance_type,throughput\na,c6i.xlarge,100\na,c6i.2xlarge,190\n")
    assert [run.configuration.gpu_count for run in found.runs] == [0, 0]
    assert NoteKind.NO_DEVICE not in kinds(found)


def test_jobs_are_named_apart_by_what_differs(read: Read) -> None:
    """By framework and precision here; the network is the same."""
    found = read(
        "workload,framework,network,precision,vcpus,throughput\n"
        "train,mxnet,resnet50,fp32,1,10\ntrain,mxnet,resnet50,fp16,1,18\ntrain,torch,resnet50,fp16,2,20\nb,x,,,1,1\n"
    )
    names = [run.spec.workload.name for run in found.runs]
    assert names == ["train (mxnet, fp32)", "train (mxnet, fp16)", "train (torch, fp16)", "b"]
    assert [run.spec.workload.precision for run in found.runs] == ["fp32", "fp16", "fp16", None]
    assert "differ in `framework` and `precision`" in said(found, NoteKind.JOBS_NAMED_APART)[0]


def test_other_input_is_the_same_workload(read: Read) -> None:
    found = read("workload,input,gpu_count,throughput\na,disk,1,10\na,synthetic,1,12\na,synthetic,2,24\n")
    assert {run.spec.workload.name for run in found.runs} == {"a"}


def test_repeats_far_apart_are_named_and_kept(read: Read) -> None:
    """A slip of a digit passes, with both lines."""
    found = read("workload,vcpus,throughput\na,1,100\na,1,101\na,2,190\na,2,19\n")
    assert rates(found) == [100, 101, 190, 19]
    assert said(found, NoteKind.REPEATS_DIFFER) == [
        "Repeats of one configuration differ more than threefold, line 4 and line 5: 190 and 19. Look whether one is a "
        "slip."
    ]


def test_the_first_epoch_is_no_repeat(read: Read) -> None:
    found = read("workload,vcpus,epoch,throughput\na,1,0,10\na,1,1,100\na,2,0,10\na,2,1,190\n")
    assert NoteKind.REPEATS_DIFFER not in kinds(found)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nvme0n1", "nvme"),
        ("local NVMe", "nvme"),
        ("Local SSD", "nvme"),
        ("AWS gp3", "ssd"),
        ("gp2", "ssd"),
        ("io2", "ssd"),
        ("cloud_ssd", "ssd"),
        ("alibaba/cloud_essd_pl1", "ssd"),
        ("ESSD", "ssd"),
        ("Premium SSD", "ssd"),
        ("pd-balanced", "ssd"),
        ("HDD", "standard"),
        ("st1", "standard"),
        ("pd-standard", "standard"),
        ("cloud", "standard"),
        ("cloud_efficiency", "standard"),
        ("big one", None),
        ("assdf", None),
    ],
)
def test_the_class_of_a_disk_follows_from_its_name(read: Read, name: str, expected: str | None) -> None:
    """Where disks vary; what was inferred is said, and what is not known is asked for."""
    found = read(f"workload,disk,disk_class,throughput\na,{name},,10\na,other,nvme,20\n")
    disk = found.runs[0].disk
    assert (disk.tier.disk_class if disk else None) == expected
    if expected:
        assert f"`{name}` is {expected}" in said(found, NoteKind.DISK_CLASS_INFERRED)[0]
    else:
        assert f"what kind of disk `{name}` is; add a column `disk_class`" in said(found, NoteKind.NO_DISK_CLASS)[0]


def test_of_one_disk_no_class_is_asked(read: Read) -> None:
    found = read("workload,disk,vcpus,throughput\na,fast,1,10\na,fast,2,20\n")
    assert {NoteKind.DISK_CLASS_INFERRED, NoteKind.NO_DISK_CLASS}.isdisjoint(kinds(found))


def test_a_device_by_its_name_is_a_gpu(read: Read) -> None:
    """And the CPU beside it is the CPU."""
    found = read("workload,device,devices,throughput\na,K80,1,10\na,K80,2,19\na,cpu,,2\n")
    assert [run.configuration.gpu for run in found.runs] == ["K80", "K80", None]
    assert [run.configuration.gpu_count for run in found.runs] == [1, 2, 0]
    assert [run.spec.workload.computes_on.kind for run in found.runs] == ["cuda", "cuda", "cpu"]


@pytest.mark.parametrize("name", ["cpu", "CPU", "none"])
def test_a_cpu_among_gpus_is_no_accelerator(read: Read, name: str) -> None:
    """However many of it there were."""
    found = read(f"workload,gpu,gpu_count,throughput\na,{name},1,9\na,V100,1,1077\na,V100,4,4000\n")
    assert [(run.configuration.gpu, run.configuration.gpu_count) for run in found.runs] == [
        (None, 0),
        ("V100", 1),
        ("V100", 4),
    ]


def test_the_size_of_an_input_is_no_place(read: Read) -> None:
    found = read("workload,gpu,input,throughput\na,K80,224,10\na,T4,seq 128,19\n")
    assert {run.spec.workload.input for run in found.runs} == {None}
    assert found.unknown == ("input_size",)


def test_training_and_inference_are_two_jobs(read: Read) -> None:
    """Also where a column that sizer does not read says it."""
    found = read("network,mode,gpu,throughput\nvgg16,train,K80,10\nvgg16,inference,K80,30\nvgg16,train,T4,20\n")
    names = ["vgg16 (train)", "vgg16 (inference)", "vgg16 (train)"]
    assert [run.spec.workload.name for run in found.runs] == names


def test_a_time_fills_in_for_a_rate_that_is_not_there(read: Read) -> None:
    """In its own row alone."""
    found = read("workload,gpu,batch_size,img/s,seconds_per_batch\na,K80,32,10,9\na,T4,32,,1.6\n")
    assert rates(found) == [10, 20]
    assert NoteKind.RATE_FROM_BATCHES in kinds(found)


def test_many_jobs_are_said_in_few_lines(read: Read) -> None:
    rows = "".join(f"w{n},fp{bits},{bits},{n}{bits}\n" for n in range(1, 8) for bits in (16, 32))
    found = read("workload,precision,vcpus,throughput\n" + rows)
    sentences = said(found, NoteKind.JOBS_NAMED_APART)
    assert len(sentences) == 4
    assert sentences[-1].endswith("`w4 (fp16)` and `w4 (fp32)`. And 3 more.")


def test_modes_are_read_in_the_words_of_tables(read: Read) -> None:
    """A cell that says something else than what is computed of a batch is kept unread."""
    cells = ("forward", "FWD+BWD", "forward_backward", "fine-tuning", "Inference", "async")
    table = "workload,mode,batch_size,throughput\n" + "".join(f"w{each},{each},8,10\n" for each in cells)
    found = [run.spec.workload.mode for run in read(table).runs]
    assert found == ["forward", "forward_backward", "forward_backward", "train", "forward", None]
    assert read(table).runs[-1].other == {"mode": "async"}
