"""Tables of cross-benchmarks, in which a column of devices names GPUs and CPUs."""

from __future__ import annotations

import pytest

from sizer.catalog.catalog import Catalog
from sizer.exchange.cpu_names import cpu_in
from sizer.exchange.imported import Imported
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.study import NoteKind, Objective
from sizer.words.notes import note_in_words
from sizer.words.page import column_named
from tests.tables import Read, kinds

CROSS_BENCHMARK = """framework,framework_version,network,device,devices,cpu_threads,batch_size,mode,seconds_per_batch,\
samples_per_second,precision,date,instance,vcpus,input
MXNet,1.2,resnet50,K80,1,,32,train,0.64,,fp32,2018,p2.xlarge,,224
MXNet,1.0,resnet50,CPU c4.8xlarge,1,,32,infer,,28.5,fp32,2017,c4.8xlarge,36,224
MXNet,1.0,resnet50,CPU c4.4xlarge,1,,32,infer,,15.5,fp32,2017,c4.4xlarge,16,224
PyTorch,2.4,resnet50,CPU Core i9-10940X,1,,1,infer,,67.2,fp32,2024,,,224
PyTorch,2.4,resnet50,CPU Core i7-12700H,1,,1,infer,,30.5,fp32,2024,,,224
Torch,7,resnet50,CPU 2x Xeon E5-2630 v3,1,,1,infer,0.2,,fp32,2016,,32,224
PaddlePaddle,0.11 MKLML,resnet50,CPU Core i9-10940X,1,,1,infer,,6.33,fp32,2018,,,224
PaddlePaddle,0.11 MKL-DNN,resnet50,CPU Core i9-10940X,1,,1,infer,,107.8,fp32,2018,,,224
"""


@pytest.fixture
def found(read: Read) -> Imported:
    return read(CROSS_BENCHMARK)


def test_cpus_are_machines_by_their_names(found: Imported) -> None:
    """Without an accelerator, whatever the count of devices; a machine that has a name keeps it."""
    machines = [(run.machine.instance_type, run.configuration.gpu_count) for run in found.runs if run.machine]
    assert machines == [
        ("p2.xlarge", 1),
        ("c4.8xlarge", 0),
        ("c4.4xlarge", 0),
        ("Core i9-10940X", 0),
        ("Core i7-12700H", 0),
        ("2x Xeon E5-2630 v3", 0),
        ("Core i9-10940X", 0),
        ("Core i9-10940X", 0),
    ]
    assert {run.spec.repeat for run in found.runs} == {0}, "no two rows are repeats of one another"
    assert [run.spec.workload.computes_on.kind for run in found.runs[:2]] == ["cuda", "cpu"]
    (note,) = (note_in_words(note) for note in found.notes if note.kind is NoteKind.CPUS_NAMED)
    assert "`CPU c4.8xlarge` as c4.8xlarge" in note
    assert "`CPU 2x Xeon E5-2630 v3` as 2x Xeon E5-2630 v3" in note


def test_versions_that_were_compared_are_frameworks(found: Imported) -> None:
    """Where nothing else differs; elsewhere the framework keeps its name."""
    frameworks = [run.spec.workload.framework for run in found.runs]
    assert frameworks[:2] == ["MXNet", "MXNet"]
    assert frameworks[-2:] == ["PaddlePaddle 0.11 MKLML", "PaddlePaddle 0.11 MKL-DNN"]
    assert NoteKind.VERSIONS_NAMED in kinds(found)
    assert NoteKind.REPEATS_DIFFER not in kinds(found)


def test_its_answer_has_the_table_of_devices(found: Imported) -> None:
    """A CPU stands in it by its name, never as another one's repeat."""
    recommendation = recommend(fit(found.runs), found.runs, Objective(), Catalog.load())
    table = recommendation.cross_table
    assert table is not None
    assert [column_named(each) for each in table.columns] == [
        "MXNet · c4.8xlarge",
        "MXNet · c4.4xlarge",
        "PyTorch · Core i9-10940X",
        "PyTorch · Core i7-12700H",
        "Torch · 2x Xeon E5-2630 v3",
        "PaddlePaddle 0.11 MKLML · Core i9-10940X",
        "PaddlePaddle 0.11 MKL-DNN · Core i9-10940X",
    ]
    cells = [cell for row in table.rows for cell in row.cells if cell.runs]
    assert {cell.runs for cell in cells} == {1}
    assert [sum(cell.runs for cell in row.cells) for row in table.rows] == [5, 2]


@pytest.mark.parametrize(
    ("cell", "name"),
    [
        ("cpu", ""),
        ("CPU only", ""),
        ("cpu:0", ""),
        ("CPU c4.8xlarge", "c4.8xlarge"),
        ("CPU (Skylake, 16 cores)", "Skylake, 16 cores"),
        ("Intel CPU: i7-12700H", "i7-12700H"),
        ("Xeon Gold 6148", "Xeon Gold 6148"),
        ("2x AMD EPYC 7763", "2x AMD EPYC 7763"),
        ("Xeon Phi 7120P", None),
        ("V100", None),
        ("GTX 1080 + Xeon E5", None),
        ("cuda:0", None),
        ("emulated:P100", None),
    ],
)
def test_which_cells_say_a_cpu(cell: str, name: str | None) -> None:
    assert cpu_in(cell) == name


def test_a_table_of_cpus_alone(read: Read) -> None:
    """In a column of accelerators, too; several of one kind are so many."""
    found = read("network,device,devices,img/s\nvgg16,CPU Ryzen 9 7950X,1,8\nvgg16,CPU EPYC 7763,2,19\n")
    assert [run.machine.instance_type for run in found.runs if run.machine] == ["Ryzen 9 7950X", "2 x EPYC 7763"]
    found = read("network,gpu,img/s\nvgg16,T4,80\nvgg16,EPYC 7763,19\nvgg16,CPU Ryzen 9 7950X,8\n")
    assert [run.configuration.gpu for run in found.runs] == ["T4", None, None]
    assert [run.machine and run.machine.instance_type for run in found.runs] == [None, "EPYC 7763", "Ryzen 9 7950X"]


def test_two_cpus_of_one_instance_type_are_two_machines(read: Read) -> None:
    found = read(
        "network,device,instance,img/s\nvgg16,CPU Xeon 8175M,m5.large,8\nvgg16,CPU Xeon 8259CL,m5.large,9\n"
        "vgg16,CPU Xeon 8275CL,c5.large,10\n"
    )
    assert [run.machine.instance_type for run in found.runs if run.machine] == [
        "m5.large (Xeon 8175M)",
        "m5.large (Xeon 8259CL)",
        "c5.large",
    ]


def test_a_word_that_is_no_mode_is_named(read: Read) -> None:
    """With its line and the modes that there are; such jobs are two, and no repeats."""
    found = read("network,batch_size,mode,throughput\nvgg16,8,train,10\nvgg16,8,trian,11\nvgg16,8,trian,12\n")
    assert [run.spec.workload.name for run in found.runs] == ["vgg16 (train)", "vgg16 (trian)", "vgg16 (trian)"]
    (note,) = (note_in_words(note) for note in found.notes if note.kind is NoteKind.MODES_UNKNOWN)
    assert note == (
        "`mode` says `trian` (line 3), which is no mode that sizer knows, so jobs are told apart by the word alone. "
        "Write forward, forward_backward or train, if it is one of these."
    )


def test_a_word_that_is_no_precision_is_named(read: Read) -> None:
    """As an unknown mode is."""
    found = read(
        "network,batch_size,precision,throughput\nvgg16,8,Mixed precision,10\nvgg16,8,fp99,11\nvgg16,8,TF32,12\n"
    )
    (note,) = (note_in_words(note) for note in found.notes if note.kind is NoteKind.PRECISIONS_UNKNOWN)
    assert note == (
        "`precision` says `fp99` (line 3), which is no precision that sizer knows, so jobs are told apart by the word "
        "alone. Write fp64, fp32, tf32, fp16, bf16, mixed, fp8, fp4, int8 or int4, if it is one of these."
    )


def test_without_an_unknown_word_nothing_is_said_of_modes(read: Read) -> None:
    assert NoteKind.MODES_UNKNOWN not in kinds(read("network,gpu,mode,img/s\na,T4,eval,10\na,V100,,20\n"))
    assert NoteKind.MODES_UNKNOWN not in kinds(read("network,gpu,phase,img/s\na,T4,1,10\na,V100,2,20\n"))


BATCHES = """framework,network,device,devices,batch_size,seconds_per_batch
a,vgg16,K40m,1,64,0.30
a,vgg16,K40m,4,64,{}
a,vgg16,K40m,1,128,0.58
a,vgg16,K40m,4,128,{}
"""


def test_a_batch_that_looks_like_that_of_one_accelerator_is_named(read: Read) -> None:
    """Four are hardly slower than one; where they are faster nothing is said, nor where the column says whose it is."""
    found = read(BATCHES.format(0.33, 0.60))
    (note,) = (note_in_words(note) for note in found.notes if note.kind is NoteKind.BATCH_LIKE_OF_ONE)
    assert "would be no faster than one in line 3 and line 5" in note
    assert kinds(found)[0] is NoteKind.BATCH_LIKE_OF_ONE, "it stands where a reader sees it"
    assert NoteKind.BATCH_LIKE_OF_ONE not in kinds(read(BATCHES.format(0.09, 0.16)))
    of_one = BATCHES.replace("batch_size", "batch_size_per_gpu").format(0.33, 0.60)
    assert NoteKind.BATCH_LIKE_OF_ONE not in kinds(read(of_one))
    assert [round(run.throughput.value) for run in read(of_one).runs if run.throughput] == [213, 776, 221, 853]
    (told,) = (note_in_words(note) for note in read(of_one).notes if note.kind is NoteKind.RATE_FROM_BATCHES)
    assert "call it `batch_size_per_gpu`" not in told


def test_a_whole_batch_that_was_split_is_compared_with_one_that_is_no_smaller(read: Read) -> None:
    """One accelerator had the batch of all, so none has the batch of one of several."""
    table = "framework,network,device,devices,batch_size,seconds_per_batch\na,fcn5,K40m,1,8192,0.22\n"
    split = "a,fcn5,K40m,2,4096,0.13\na,fcn5,K40m,4,2048,0.09\n"
    assert kinds(read(table + split))[0] is NoteKind.BATCH_LIKE_OF_ONE
    whole = "a,fcn5,K40m,2,8192,0.13\na,fcn5,K40m,4,8192,0.09\n"
    assert NoteKind.BATCH_LIKE_OF_ONE not in kinds(read(table + whole))
