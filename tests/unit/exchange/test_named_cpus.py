"""Tables of cross-benchmarks, in which a column of devices names GPUs and CPUs."""

from __future__ import annotations

import pytest

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import Imported
from sizer.exchange.machine_names import cpu_in
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.study import NoteKind, Objective
from sizer.words.cross_table import column_named
from sizer.words.notes import note_in_words
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


def test_versions_that_were_compared_are_jobs(found: Imported) -> None:
    """Where nothing else differs."""
    names = [run.spec.workload.name for run in found.runs]
    assert names[:2] == ["resnet50 (train, MXNet)", "resnet50 (infer, MXNet)"]
    assert names[-2:] == ["resnet50 (infer, PaddlePaddle, 0.11 MKLML)", "resnet50 (infer, PaddlePaddle, 0.11 MKL-DNN)"]
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
        "PaddlePaddle · Core i9-10940X",
    ]
    cells = [cell for row in table.rows for cell in row.cells if cell.runs]
    assert {cell.runs for cell in cells} == {1}


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
    assert [run.machine.instance_type for run in found.runs if run.machine] == ["Ryzen 9 7950X", "EPYC 7763"]
    found = read("network,gpu,img/s\nvgg16,T4,80\nvgg16,EPYC 7763,19\nvgg16,CPU Ryzen 9 7950X,8\n")
    assert [run.configuration.gpu for run in found.runs] == ["T4", None, None]
    assert [run.machine and run.machine.instance_type for run in found.runs] == [None, "EPYC 7763", "Ryzen 9 7950X"]


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
