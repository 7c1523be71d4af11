"""What `sizer family` prints for the workloads of several studies, and the section of a page that says the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer import api
from sizer.bundled.reports.family import contents
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from sizer.cli import main
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.words.language import CHINESE, in_language
from tests.tables import stored_catalog

SLOW = "train,1,4,100\ntrain,2,8,198\ntrain,4,16,390\ntrain,8,32,398\nlstm,1,4,50\nlstm,2,8,50\nlstm,4,16,51\n"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two studies, each with a workload `train` of which the second is faster."""
    paths, tmp_path = [], tmp_path_factory.mktemp("studies")
    for name, table in (("one", SLOW), ("two", SLOW.replace("train,4,16,390", "train,4,16,200"))):
        path = tmp_path / f"{name}.csv"
        path.write_text(f"workload,vcpus,memory_gib,throughput\n{table}")
        paths.append(str(tmp_path / name))
        assert main(["import", str(path), "--out", paths[-1]]) == 0
    return paths


def test_several_studies_are_one_fleet(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Workloads of one name are told apart by their folder; text and JSON say the same; a single study is one, too."""
    capsys.readouterr()
    assert main(["family", *folders, "--shapes", "2", "--max-penalty", "900%"]) == 0
    text = capsys.readouterr().out
    assert main(["family", *folders, "--shapes", "2", "--max-penalty", "900%", "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert {one["workload"] for one in form["served"]} == {"one/train", "two/train", "one/lstm", "two/lstm"}
    assert [line.strip() for line in text.splitlines()] == form["sentences"]
    assert form["sentences"][0].startswith("2 shapes serve 4 workloads and cost ")
    assert all(set(one["shape"]) == {"vcpus", "memory_gib", "disk", "gpu", "gpu_count"} for one in form["shapes"])
    family = api.family([api.open_study(folders[0])], 1, max_penalty=9.0)
    assert {one.workload for one in family.served} == {"train", "lstm"}


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--shapes", "1"], 5, "type --shapes "),
        (["--shapes", "0"], 2, "is not a number of shapes; give a whole number from 1 to 1000"),
        (["--max-penalty", "10"], 2, "`10` is not a share; give one such as 10% or 0.1."),
        (["--disks", "nix"], 2, "there is no disk tier `nix`; give one of the catalogue, such as aws/gp3."),
        (["--max-penalty", "lots"], 2, "`lots` is not a share; give one such as 10% or 0.1."),
        (["--ratios", "2,,4"], 2, "is not a factor"),
        (["--disks", "a,"], 2, "A name is missing in `a,`"),
        (["--provider", "nobody"], 2, "--provider: the prices of `nobody` in US dollars are too few"),
        (
            ["--provider", "Alibaba"],
            2,
            "give one of aws, azure, gcp or oci, or --rate CNY=0.14 with what one is worth.",
        ),
        (["--prices", "disks.csv"], 2, "--prices: no study and no catalogue has a disk `gp33`; remove its line."),
        (["--weights", "gone.csv"], 2, "gone.csv"),
    ],
)
def test_what_cannot_be_answered_says_what_to_type(
    folders: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    complaint: str,
) -> None:
    """One sentence, and the exit code of its kind."""
    monkeypatch.chdir(tmp_path)
    Path("disks.csv").write_text("resource,name,usd_per_hour\nvcpu,,0.04\ngib,,0.005\ndisk,gp33,0.1\n")
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        sys.exit(main(["family", *folders, *options]))
    assert left.value.code == code
    stated = capsys.readouterr()
    assert complaint in stated.err
    assert stated.out == ""


PRICED = """workload,instance_type,vcpus,memory_gib,gpu,gpu_count,throughput,usd_per_hour
a,my small one,4,,none,0,100,0.05
a,mine + T4,2,,T4,1,300,0.40
b,my large one,16,64,none,0,800,0.20
"""
DISKS = "workload,vcpus,memory_gib,disk,throughput\na,2,4,gp3,100\na,4,8,gp3,190\nb,2,4,io2,300\nb,4,8,io2,590\n"


def test_a_table_has_its_own_prices_and_disks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What its machines cost is the price of such shapes, also where nobody sells them; a disk called like a tier is
    that tier, and then prices are of its provider."""
    for name, table in (("priced", PRICED), ("disks", DISKS)):
        (tmp_path / f"{name}.csv").write_text(table)
        assert main(["import", str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name)]) == 0
    capsys.readouterr()
    assert main(["family", str(tmp_path / "priced"), "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert [(one["sold"], one["usd_per_hour"]) for one in form["shapes"]] == [
        ("my small one", 0.05),
        ("my large one", 0.2),
    ]
    (tmp_path / "parts.csv").write_text("resource,usd_per_hour\nvcpu,0.04\ngib,0.005\n")
    assert main(["family", str(tmp_path / "priced"), "--prices", str(tmp_path / "parts.csv"), "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert (form["unpriced"], form["grid"]["gpus"]) == (["T4"], [[None, 0]])
    for options in ((), ("--disks", "aws/gp3,aws/io2"), ("--disks", "gp3,io2")):
        assert main(["family", str(tmp_path / "disks"), "--json", *options]) == 0
        form = json.loads(capsys.readouterr().out)
        assert {one["shape"]["disk"] for one in form["shapes"]} == {"aws/gp3", "aws/io2"}
        assert form["prices"]["provider"] == "aws"


GPUS = """workload,instance_type,throughput
llm,p5.48xlarge,8000
llm,g6.xlarge,60
vit,p5.48xlarge,16000
vit,g6.xlarge,700
"""
NO_VCPUS = "workload,gpu,gpu_count,throughput\na,T4,1,130\na,A100-80GB,1,100\nb,T4,1,15\nb,A100-80GB,1,12\n"
SPREAD = "workload,vcpus,memory_gib,throughput\na,2,4,100\na,4,8,100\nb,2,4,50\nb,4,8,99\n"
ALIKE = "workload,vcpus,memory_gib,gpu,throughput\na,2,8,,100\na,4,8,,100\na,2,8,T4,120\nb,2,8,,100\nb,4,8,,100\n"


SAID = [
    (
        GPUS,
        (),
        "192 vCPUs, 2 TiB, 8 x H100: $55.04 an hour (aws p5.48xlarge, 2026-07-20), for llm.",
        "4 vCPUs, 16 GiB, 1 x L4: $0.805 an hour (aws g6.xlarge, 2026-07-20), for vit.",
    ),
    (GPUS, ("--ratios", "4,8"), "256 vCPUs, 2 TiB, 8 x H100: "),
    (
        NO_VCPUS,
        (),
        "How many vCPUs are needed is not known of `a` and `b`: those of the cheapest machine with as many",
        "$0.372 one T4 and $3.91 one A100-80GB an hour, fitted to 432 types (oldest price: 2025-03-07, ",
    ),
    (ALIKE, ("--shapes", "3"), "One machine for all: 2 vCPUs, 8 GiB"),
    (SPREAD, ("--max-penalty", "0"), "1 shape: 50 % more; one workload 100 % more, over the 0.0 % allowed."),
    (SPREAD, ("--provider", "alibaba", "--rate", "CNY=0.14"), "an instance type of Alibaba Cloud where it sells"),
    (
        SPREAD,
        ("--disks", "gp3"),
        "2026-07-20, and the disk), for ",
        "On top of that: $0.0164 for disk aws/gp3 an hour.",
    ),
]


@pytest.mark.parametrize(("table", "options", "words"), [(table, options, words) for table, options, *words in SAID])
def test_what_is_said_of_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], table: str, options: tuple[str, ...], words: list[str]
) -> None:
    """Of machines as they are sold, needs that are not known, prices and penalties; what would be worth offering is not
    so at its price, or it were in the family."""
    (tmp_path / "table.csv").write_text(table)
    study = str(tmp_path / "study")
    assert main(["import", str(tmp_path / "table.csv"), "--out", study]) == 0
    capsys.readouterr()
    assert main(["family", study, *options, "--json"]) == 0
    form = json.loads(capsys.readouterr().out)
    assert all(some in "\n".join(form["sentences"]) for some in words)
    assert form["offer"] is None or form["offer"]["break_even"] < form["offer"]["usd_per_hour"]


def test_the_page_has_it(material: Material, make_run: Callable[..., Run], study: Study) -> None:
    """A table, two pictures and the sentences; nothing of a single workload."""
    curves = {"a": (100, 198, 390), "b": (50, 50, 51), "c": (10, 20, 39)}
    runs = tuple(
        make_run(rate, vcpus, name=name)
        for name, rates in curves.items()
        for vcpus, rate in zip((1, 2, 4), rates, strict=True)
    )

    def page(some: tuple[Run, ...]) -> Material:
        model = fit(some)
        recommendation = recommend(model, some, study.objective, stored_catalog())
        return replace(material, model=model, recommendation=recommendation, runs=())

    values = contents(page(runs), [])
    assert values is not None
    assert len(values["figures"]) == 2
    assert "<svg" in str(values["figures"][0].svg)
    assert {name for row in values["shapes"] for name in row["workloads"].split(" and ")} >= {"b"}
    assert 'id="family"' in render(page(runs))
    with in_language(CHINESE):
        assert contents(page(runs), []) is not None
    assert contents(page(runs[:3]), []) is None
