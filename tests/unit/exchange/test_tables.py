"""Tables as people keep them: headers, which rows are one job, several machines, and what a person says of a column."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sizer import api
from sizer.cli import main
from sizer.exchange.imported import read_measurements
from sizer.exchange.measurements import write_csv
from sizer.records.messages import InputError
from sizer.records.notes import NoteKind
from sizer.words.studies.notes import note_in_words
from tests.tables import STORED, Read, kinds

# Tables as people make them, in `tables.txt`: what each becomes, what is noted, and how one is refused.


USUAL = {NoteKind.COLUMNS_READ, NoteKind.NAMED_BY_TABLE, NoteKind.NAMED_BY_COLUMN, NoteKind.NO_VCPUS}
"""Notes of most tables."""
ALMOST = 1e-5
"""Figures are written with six digits."""


class Case(NamedTuple):
    table: str
    cells: str
    refused: str
    notes: str
    unread: str
    says: str


def cases() -> Iterator[tuple[str, Case]]:
    text = Path(__file__).with_name("tables.txt").read_text(encoding="utf-8")
    for block in re.split(r"(?m)^# ", text)[1:]:
        title, _, rest = block.partition("\n")
        table, _, wanted = rest.partition("=>\n")
        lines = wanted.strip("\n").split("\n")
        parts = {key: line[len(key) + 2 :] for line in lines for key in Case._fields if line.startswith(f"{key}: ")}
        cells = "\n".join(line for line in lines if line.partition(": ")[0] not in Case._fields)
        yield title, Case(table, cells, *(parts.get(key, "") for key in ("refused", "notes", "unread", "says")))


CASES = list(cases())


@pytest.mark.parametrize("case", [case for _, case in CASES], ids=[title for title, _ in CASES])
def test_what_a_table_becomes(read: Read, case: Case) -> None:
    if case.refused:
        with pytest.raises(InputError) as refused:
            read(case.table)
        assert case.refused in str(refused.value)
        return
    imported = read(case.table)
    sentences = " ".join(map(note_in_words, imported.notes))
    if case.says:
        assert [sentence for sentence in case.says.split(" || ") if sentence not in sentences] == []
        return
    wanted = list(csv.DictReader(io.StringIO(case.cells)))
    rows = list(csv.DictReader(io.StringIO(write_csv(imported.runs))))
    assert len(rows) == len(wanted)
    for row, cells in zip(rows, wanted, strict=True):
        assert {column: _figure(row.get(column, "")) for column in cells} == {
            column: _figure(cell) for column, cell in cells.items()
        }
    noted = [kind.value for kind in kinds(imported) if kind not in USUAL | {NoteKind.NO_DEVICE}]
    assert (noted, ", ".join(imported.unknown)) == (case.notes.split(", ") if case.notes else [], case.unread)


def _figure(cell: str) -> object:
    try:
        return pytest.approx(float(cell), rel=ALMOST)
    except ValueError:
        return cell


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


# `sizer import --map`: a person says what a column of a table is, and each refusal that this would solve names it.


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
    assert (run.throughput.value, run.sample_unit) == (pytest.approx(23 / 60), "image")
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
    batches = [(run.precision, run.configuration.batch_size) for run in api.open_study(folder).runs()]
    assert batches == [("FP32", 96), ("AMP", 128), ("FP32", 96), ("AMP", 128)]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("threads=vcpus",), "has no column `threads` for --map, only `Rechner`, `Fäden`, `Speicher`, `Dauer` and"),
        (("Fäden=vcpsu",), "sizer reads no column `vcpsu`; did you mean `vcpus`? The table has `Rechner`, `Fäden`"),
        (("Fäden=vcpus", "Fäden=gpu_count"), "--map names `Fäden` twice; leave one out."),
        (("Fäden=vcpus", "Dauer=vcpus"), "the columns `Fäden` and `Dauer` both mean vcpus; leave one"),
        (("Fäden=Dauer",), "sizer reads no column `Dauer`"),
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


# Rows that look like repeats and are different jobs, by a column that sizer does not read.


LLAMA = """\
model,backend,vcpus,test,tokens/s
llama,CPU,4,pp 64,23.18
llama,CPU,4,tg 16,12.22
llama,CPU,8,pp 64,32.29
llama,CPU,8,tg 16,16.71
llama,CPU,16,pp 64,33.52
llama,CPU,16,tg 16,15.32
llama,CPU,32,pp 64,59.00
llama,CPU,32,tg 16,16.41
"""
"""llama-bench by threads, of llama.cpp's own page on it (08d0baac), figures only: a prompt and its answer."""
FLAGPERF = """\
model,gpu,precision,fix_hp,e2e_time,images/s,p_train
resnet50,8x A100,fp32,/,28661,4475,4586
resnet50,8x A100,fp32,"bs=256,lr=0.8",22653,5663,5866
resnet50,1x A100,fp32,"bs=256,lr=0.8",/,782,795
resnet50,16x A100,fp32,"bs=256,lr=0.8",/,10576,11085
resnet50,8x A100,amp,"bs=512,lr=0.2",15312,7544,7901
"""
"""FlagPerf's ResNet-50 in PyTorch (0078403c), figures only: of whole numbers some are settings, and some measured."""
SERVED = "gpu,concurrency,tokens/s\nT4,1,10\nT4,8,60\nL4,1,21\nL4,8,130\n"
SERVERS = "gpu,server,img/s\nT4,alpha,110\nT4,beta,150\nL4,gamma,210\n"
TWO_WAYS = "gpu,host,rack,img/s\nT4,a,x,100\nT4,b,y,150\nL4,a,y,200\nL4,b,x,300\n"
NOISY = "gpu,slot,lab,img/s\nT4,1,x,100\nT4,2,x,140\nT4,1,y,135\nT4,2,y,104\nL4,1,x,200\nL4,2,y,260\n"


def answers(
    folder: Path, table: str, capsys: pytest.CaptureFixture[str], *options: str, asked: Sequence[str] = ()
) -> dict[str, Any]:
    """The answer for each job of a table, by the two commands that people type."""
    assert imported(folder, table, *options)[0] == 0
    capsys.readouterr()
    assert main(["recommend", str(folder / "study"), "--json", *asked]) == 0
    return {workload["workload"]: workload for workload in json.loads(capsys.readouterr().out)["workloads"]}


@pytest.mark.parametrize(
    ("table", "options", "right"),
    [
        # The rate of a prompt still rises at 32; an answer is at its best with 8 (16.71), and 4 give 73 % of that.
        (LLAMA, (), {"llama (pp 64)": ("at_least", 32, 59.0), "llama (tg 16)": ("recommended", 8, 16.71)}),
        (
            FLAGPERF,
            (),
            {
                "resnet50 (fp32)": ("provisional", 8, 4475),
                "resnet50 (fp32, bs=256,lr=0.8)": ("recommended", 1, 782),
                "resnet50 (amp)": ("provisional", 8, 7544),
            },
        ),
        # An empty cell is a setting, too: that of the usual one.
        (
            "gpu,compiled,img/s\nT4,,100\nT4,yes,150\nL4,,200\nL4,yes,290\n",
            (),
            {"job": ("recommended", 1, 200), "job (yes)": ("recommended", 1, 290)},
        ),
        (SERVED, (), {"job (concurrency 1)": ("recommended", 1, 21), "job (concurrency 8)": ("recommended", 1, 130)}),
        (
            SERVERS,
            ("--job-by", "Server"),
            {
                "job (alpha)": ("provisional", 1, 110),
                "job (beta)": ("provisional", 1, 150),
                "job (gamma)": ("provisional", 1, 210),
            },
        ),
    ],
)
def test_a_setting_by_which_repeats_differ_tells_jobs_apart(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    table: str,
    options: tuple[str, ...],
    right: dict[str, tuple[str, float, float]],
) -> None:
    """By itself where its values come again and part the rates, else where it is asked for."""
    devices = {
        name: (
            "provisional" if answer["provisional"] else answer["status"],
            answer["spec"]["gpu_count"] or answer["spec"]["vcpus"] or 1,
            answer["throughput"]["value"],
        )
        for name, answer in answers(tmp_path, table, capsys, *options).items()
    }
    assert devices == {
        name: (status, size, pytest.approx(rate, rel=0.02)) for name, (status, size, rate) in right.items()
    }


@pytest.mark.parametrize(
    ("table", "column", "factor"),
    [
        (SERVERS, "server", "1.36"),  # Names that come once may be those of machines.
        (TWO_WAYS, "host", "1.50"),
        (NOISY, "slot", "1.40"),  # No column parts them.
        ("gpu,images,img/s\nM60,1623,40.70\nM60,32460,46.76\nV100,162300,186\n", "dataset_samples", "1.15"),
    ],
)
def test_until_it_is_known_which_rows_are_one_job_the_answer_is_provisional(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, column: str, factor: str
) -> None:
    """With the column named, and what to type; the warning is exported and found anew when it is imported again."""
    (answer,) = answers(tmp_path, table, capsys).values()
    assert answer["provisional"]
    assert answer["reason_codes"][0] == "jobs_mixed"
    assert f"differ by a factor of up to {factor}" in answer["reasons"][0]
    assert f"`{column}`" in answer["reasons"][0]
    assert f"Import the table again with `--job-by {column}`." in answer["next_run"]
    exported = (tmp_path / "study" / "measurements.csv").read_text(encoding="utf-8")
    assert exported.count("may_be_another_job") >= 2
    (tmp_path / "again").mkdir()
    (again,) = answers(tmp_path / "again", exported, capsys).values()
    assert again["reasons"][0] == answer["reasons"][0]


@pytest.mark.parametrize(
    "table",
    [
        "gpu,vendor,img/s\nT4,A,110\nT4,B,113\nL4,A,210\n",
        "gpu,run,img/s\nT4,1,110\nT4,2,150\nL4,1,210\n",
        "gpu,epoch,lab,img/s\nT4,0,x,60\nT4,1,y,110\nL4,1,x,210\n",
    ],
)
def test_repeats_stay_repeats(read: Read, table: str) -> None:
    """Where they agree, where the column is that of runs, and where rows are epochs of one run."""
    imported = read(table)
    assert not any(run.warnings for run in imported.runs)
    assert len({run.spec.workload.name for run in imported.runs}) == 1


def test_a_column_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With those that are."""
    (tmp_path / "job.csv").write_text(SERVERS, encoding="utf-8")
    assert main(["import", str(tmp_path / "job.csv"), "--out", str(tmp_path / "study"), "--job-by", "racks"]) == 2
    assert "has no column `racks` to tell jobs apart by, only" in capsys.readouterr().err


# Tables in which several machines ran one job together: what the row has, what it costs, and what is asked for.


PRICES = ("--catalog", str(STORED / "instances.csv"))


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
    (answer,) = answers(tmp_path, table, capsys, asked=options).values()
    chosen = next(alternative for alternative in answer["alternatives"] if alternative["spec"] == answer["spec"])
    assert (chosen["instance_type"], answer["spec"].get("nodes", 1)) == (machine, nodes)
    assert answer["throughput"]["value"] == pytest.approx(rate)
    assert chosen["usd_per_million_samples"] == pytest.approx(usd_a_million, abs=0.001)
    assert len(answer["alternatives"]) == len(table.splitlines()) - 1
