"""import, and predictions of what nobody measured, as a person types them."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
from pathlib import Path

import pytest

from sizer.exchange.measurements import COLUMNS
from tests import ROOT
from tests.end_to_end.conftest import TABLE, Typed

PAGE = (ROOT / "docs" / "import.md").read_text("utf-8")


@pytest.fixture
def table(folder: Path) -> Path:
    """A table of one job on two disks, with what the disks give and what a sample reads."""
    path = folder / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def study(sizer: Typed, table: Path) -> Path:
    """That table, imported."""
    done = sizer("import", "table.csv", "--out", "s")
    assert done.returncode == 0, done.stderr
    return table.parent / "s"


def test_an_imported_table_is_a_study(sizer: Typed, study: Path) -> None:
    """With model, recommendation, table and page, and nothing of this machine."""
    names = {"study.yaml", "host.json", "model.json", "recommendation.json", "measurements.csv", "report.html"}
    assert names <= {path.name for path in study.iterdir()}
    host = json.loads((study / "host.json").read_text())
    assert set(host) == {"schema_version", "imported", "runs", "notes"}
    page = (study / "report.html").read_text()
    assert "To measure it again" not in page
    assert "Order of the runs" not in page
    assert "already lay" not in page
    assert "log lies" not in page
    for words in (["status", "s"], ["fit", "s"], ["recommend", "s"], ["report", "s"], ["predict", "s"]):
        done = sizer(*words)
        assert (done.returncode, done.stderr) == (0, ""), words
    output = json.loads(sizer("status", "s", "--json").stdout)
    assert (output["planned"], output["finished"], output["problems"]) == (8, 8, [])


@pytest.mark.usefixtures("table")
def test_nothing_is_half_imported(sizer: Typed, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad last row leaves no folder, and a folder that holds something is left alone. Of a disk that is full the runs
    that were written already are taken away again, and an empty folder stays one."""
    (folder / "bad.csv").write_text(TABLE + TABLE.splitlines()[1].replace("98", "-98") + "\n")
    done = sizer("import", "bad.csv", "--out", "bad")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"sizer: bad\.csv line 10: throughput: `-98` .*\n", done.stderr)
    assert not (folder / "bad").exists()
    (folder / "mine").mkdir()
    (folder / "mine" / "letter.txt").write_text("dear")
    for out in ("mine", "table.csv"):
        done = sizer("import", "table.csv", "--out", out)
        assert (done.returncode, "--out" in done.stderr) == (2, True)
    assert [path.name for path in (folder / "mine").iterdir()] == ["letter.txt"]
    (folder / "mine" / "letter.txt").unlink()
    assert sizer("import", "table.csv", "--out", "mine").returncode == 0
    done = sizer("import", "table.csv", "--out", "mine")
    assert (done.returncode, "is not empty" in done.stderr) == (2, True)
    (folder / "empty").mkdir()
    monkeypatch.setattr(os, "sync", _no_space)
    for out in ("new", "empty"):
        done = sizer("import", "table.csv", "--out", out)
        assert (done.returncode, "cannot be written (No space left on device)" in done.stderr) == (3, True)
    assert not (folder / "new").exists()
    assert list((folder / "empty").iterdir()) == []


def _no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("words", "key", "figure"),
    [
        ("--vcpus 8 --disk-iops 90000 --disk-mbps 900", "disk_mbps", 900.0),
        ("--vcpus 8 --disk alibaba/cloud_ssd:500GiB", "disk_iops", 16800.0),
        ("--data-size 4GiB", "data_factor", 4.0),
        ("--gpu-speedup 2", "gpu_speedup", 2.0),
    ],
)
def test_what_is_assumed_is_said(sizer: Typed, imported: Path, words: str, key: str, figure: float) -> None:
    """In words and for other programs."""
    (prediction,) = json.loads(sizer("predict", str(imported), *words.split(), "--json").stdout)["predictions"]
    assert prediction["what_if"][key] == pytest.approx(figure)
    assert "; assumed: " in sizer("predict", str(imported), *words.split()).stdout


@pytest.mark.usefixtures("study")
def test_a_table_of_places_may_have_more_columns(sizer: Typed, folder: Path) -> None:
    """Those of measurements.csv are passed over, others named in one warning; a tier of the catalogue is a what-if."""
    (folder / "at.csv").write_text("disk;vcpus;colour;throughput\nfast;4;red;1\nalibaba/cloud_ssd:500GiB;4;;\n")
    done = sizer("predict", "s", "--at", "at.csv")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "warning: at.csv: unknown and ignored: `colour`\n"
    assert ["assumed: a disk of 16,800 IOPS" in line for line in done.stdout.splitlines()] == [False, True]


def test_the_example_of_the_page_can_be_typed(sizer: Typed, folder: Path) -> None:
    """docs/import.md: the table and each command under it."""
    (text,) = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)
    (commands,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    (folder / "published.csv").write_text(text)
    for line in commands.splitlines():
        done = sizer(*shlex.split(line.partition(">")[0])[1:])
        assert done.returncode == 0, (line, done.stderr)


def test_the_page_names_every_column(sizer: Typed) -> None:
    """And so does the help, but for the demands of which it shows one."""
    output = " ".join(sizer("import", "--help").stdout.split())
    few = {name for name in COLUMNS if name.endswith("_per_sample")}
    for text in (PAGE, output):
        assert [name for name in sorted(set(COLUMNS) - few) if not re.search(rf"\b{name}\b", text)] == []


ODD = """workload,disk,cpus,accelerator,img/s
ResNet 50 / fp16,AWS gp3,1,Tesla <V100>,"1,100"
ResNet 50 / fp16,AWS gp3,2,Tesla <V100>,"2,000"
ResNet 50 / fp16,AWS gp3,4,Tesla <V100>,"3,400"
图像训练,x:y/z,1,A&B,10
图像训练,x:y/z,2,A&B,19
图像训练,x:y/z,4,A&B,36
"""


def test_a_table_of_odd_names_goes_all_the_way(sizer: Typed, folder: Path) -> None:
    """Import, status, predict, recommend, report, export, and import again."""
    (folder / "odd.csv").write_text(ODD, encoding="utf-8")
    done = sizer("import", "odd.csv", "--out", "s")
    assert done.returncode == 0, done.stderr
    assert "`cpus` as vcpus, `accelerator` as gpu and `img/s` as throughput" in done.stderr
    assert all("/" not in path.name and path.name.isascii() for path in (folder / "s").rglob("*"))
    assert "图像训练" in sizer("status", "s").stdout
    assert "ResNet 50 / fp16: " in sizer("recommend", "s").stdout
    for workload, disk in (("ResNet 50 / fp16", "AWS gp3"), ("图像训练", "x:y/z")):
        words = ("predict", "s", "--workload", workload, "--disk", disk, "--vcpus", "3", "--json")
        (prediction,) = json.loads(sizer(*words).stdout)["predictions"]
        assert (prediction["workload"], prediction["disk"]) == (workload, disk)
        assert prediction["throughput"] > 20
    assert sizer("report", "s").returncode == 0
    page = (folder / "s" / "report.html").read_text(encoding="utf-8")
    assert "Tesla &lt;V100&gt;" in page
    assert "Tesla <V100>" not in page
    exported = sizer("export", "s").stdout
    (folder / "again.csv").write_text(exported, encoding="utf-8")
    assert sizer("import", "again.csv", "--out", "t").returncode == 0
    assert sizer("export", "t").stdout == exported
