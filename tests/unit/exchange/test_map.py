"""`sizer import --map`: a person says what a column of a table is, and each refusal that this would solve names it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sizer import api
from sizer.cli import main
from sizer.exchange.imported import read_measurements
from sizer.records.messages import InputError

FOREIGN = "Rechner,Fäden,Speicher,Dauer,Rate = Bilder\nm1,1,8,250,12\nm1,2,16,130,23\nm1,4,32,90,38\n"


def imported(folder: Path, table: str, *options: str) -> tuple[int, Path]:
    (folder / "job.csv").write_text(table, encoding="utf-8")
    return main(["import", str(folder / "job.csv"), "--out", str(folder / "study"), *options]), folder / "study"


def test_a_column_is_what_a_person_says_it_is(tmp_path: Path) -> None:
    """A column of sizer, or any other header that it reads, with its unit; nothing leaves it unread."""
    options = ["Rechner=instance_type", "FÄDEN=vcpus", "Speicher=memory (MB)", "Dauer=latency (ms)"]
    options += ["Rate = Bilder=images/min"]
    code, folder = imported(tmp_path, FOREIGN, *(word for option in options for word in ("--map", option)))
    assert code == 0
    run = api.open_study(folder).runs()[1]
    assert (run.configuration.vcpus, run.configuration.memory_bytes, run.rate.latency_p50) == (2, 16e6, 0.13)
    assert run.throughput is not None
    assert (run.throughput.value, run.sample_unit) == (pytest.approx(23 / 60), "image")
    assert run.declared.machine is not None
    assert run.declared.machine.instance_type == "m1"


def test_the_api_has_the_same(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("threads,cores,img/s\n1,8,10\n2,8,19\n")
    columns = {"threads": "vcpus", "cores": ""}
    study = api.import_table(tmp_path / "job.csv", tmp_path / "study", columns=columns)
    assert [run.configuration.vcpus for run in study.table.runs] == [1, 2]
    assert study.table.unknown == ("cores (not read)",)


def test_rates_beside_each_other_may_be_named(tmp_path: Path) -> None:
    table = "卡数,FP32(BS=96),AMP(BS=128)\n1,377.21,1342.56\n8,2906.887,8690.84\n"
    names = ("--map", "FP32(BS=96)=FP32 batch 96 images/s", "--map", "AMP(BS=128)=AMP batch 128 images/s")
    code, folder = imported(tmp_path, table, *names)
    assert code == 0
    found = [(run.precision, run.configuration.batch_size) for run in api.open_study(folder).runs()]
    assert found == [("FP32", 96), ("AMP", 128), ("FP32", 96), ("AMP", 128)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("threads=vcpus",), "has no column `threads` for --map, only `Rechner`, `Fäden`, `Speicher`, `Dauer` and"),
        (
            ("Fäden=floops",),
            "sizer reads no column `floops`; `sizer import --help` lists them. The table has `Rechner`, `Fäden`",
        ),
        (("Fäden=vcpsu",), "sizer reads no column `vcpsu`; did you mean `vcpus`? The table has `Rechner`, `Fäden`"),
        (("Fäden=vcpus", "Fäden=gpu_count"), "--map names `Fäden` twice; leave one out."),
        (("Fäden=vcpus", "Dauer=vcpus"), "the columns `Fäden` and `Dauer` both mean vcpus; leave one"),
        (("Fäden=Dauer",), "sizer reads no column `Dauer`"),
        (("Fäden",), "write a header, `=` and a column, such as threads=vcpus."),
        (("=vcpus",), "write a header, `=` and a column, such as threads=vcpus."),
    ],
)
def test_a_bad_map_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], sentence: str
) -> None:
    """With the headers of the table; nothing is written."""
    code, folder = imported(tmp_path, FOREIGN, *(word for option in options for word in ("--map", option)))
    error = capsys.readouterr().err
    assert (code, error.count("\n"), folder.exists()) == (2, 1, False)
    assert sentence in error


def test_a_unit_that_a_map_leaves_out_is_asked_for_by_the_own_header(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("gpu,batch,Dauer\nT4,32,250\nL4,32,140\n")
    with pytest.raises(InputError, match=r"type --map 'Dauer=step time \(ms\)' or --map 'Dauer=step time \(s\)'"):
        read_measurements(tmp_path / "t.csv", None, names={"Dauer": "step time"})


def test_a_column_that_is_there_already_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("threads,vcpus,img/s\n1,8,10\n2,8,19\n")
    with pytest.raises(
        InputError, match="`threads` and `vcpus` both mean vcpus; leave one of them unread with --map vcpus="
    ):
        read_measurements(tmp_path / "t.csv", None, names={"threads": "vcpus"})
    read = read_measurements(tmp_path / "t.csv", None, names={"threads": "vcpus", "vcpus": ""})
    assert [run.configuration.vcpus for run in read.runs] == [1, 2]


@pytest.mark.parametrize(
    "table",
    [
        "threads,img/s\n1,10\n2,19\n",
        "vcpus,Bilder je Sekunde\n1,10\n2,19\n",
        "gpu,Stapel,ms/step\nT4,32,250\nL4,32,140\n",
        "gpu,batch,step time\nT4,32,250\nL4,32,140\n",
        "gpu,gpus,nodes,img/s\nV100,8,2,5600\nT4,4,1,430\n",
        "gpu,Karten,nodes,img/s\nV100,8,1,2900\nV100,8,2,5600\n",
        "cpus,cores,img/s\n1,2,10\n2,4,19\n",
        "vcpus,host,img/s\n2,x,5\n2,y,9\n",
        "cores,batch,img/s\nmany,8,10\nfew,16,19\n",
    ],
)
def test_a_refusal_that_a_map_solves_says_what_to_type(tmp_path: Path, table: str) -> None:
    """With the table's own header; typed as it is said, the table is read."""
    (tmp_path / "t.csv").write_text(table)
    with pytest.raises(InputError, match="--map") as refused:
        read_measurements(tmp_path / "t.csv", None)
    option = re.findall(r"--map (?:'[^']*'|\S+)", str(refused.value))[0].rstrip(",.;")
    header, _, column = shlex.split(option)[1].rpartition("=")
    assert read_measurements(tmp_path / "t.csv", None, names={header: column}).runs
