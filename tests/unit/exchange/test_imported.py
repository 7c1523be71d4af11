"""A table of measurements made elsewhere becomes a study, as a whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported import Imported, read_measurements
from sizer.exchange.measurements import COLUMNS, WRITTEN, write_csv
from sizer.files.codec import from_json, to_json
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

Read = Callable[..., Imported]
HEADER = "workload,vcpus,throughput\n"


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Import a table given as text or bytes."""

    def imported(table: str | bytes, figures: Catalog | None = None) -> Imported:
        path = tmp_path / "table.csv"
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        return read_measurements(path, figures)

    return imported


def rates(found: Imported) -> list[tuple[float, float]]:
    """vCPUs and samples/s of each run."""
    return [(run.configuration.vcpus, run.throughput.value) for run in found.runs if run.throughput]


def table_of(*rows: dict[str, object]) -> str:
    """Rows by column as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def test_three_columns_are_enough(read: Read) -> None:
    """Rows in their order; memory, disk and batch size that no column has are None."""
    found = read(HEADER + "train,0.5,51\ntrain,4,340.5\ntrain,1,100\n")
    assert rates(found) == [(0.5, 51.0), (4.0, 340.5), (1.0, 100.0)]
    place = found.runs[0].configuration
    assert (place.memory_bytes, place.disk, place.batch_size, place.gpu_count) == (None, None, None, None)
    workload = found.runs[0].spec.workload
    assert (workload.framework, workload.device, workload.input, workload.cache) == (None, None, None, None)
    assert found.runs[0].started_at is None
    assert found.runs[0].spec.limits.memory_bytes is None
    assert [row["memory_gib"] for row in csv.DictReader(io.StringIO(write_csv(found.runs)))] == ["", "", ""]


@pytest.mark.parametrize(
    "table",
    [
        b"\xef\xbb\xbfworkload,vcpus,throughput\r\ntrain,1,100\r\ntrain,2,190\r\n",
        "workload;vcpus;throughput\ntrain;1;100\ntrain;2;190\n",
        "workload\tvcpus\tthroughput\ntrain\t1\t100\ntrain\t2\t190",
        ' Workload , VCPUS ,throughput\n "train" ,1 , 100\n\n,,\ntrain, 2.0 ,"190"\n',
        "throughput,vcpus,,workload,\n100,1,,train,\n190,2,,train,\n",
        "workload,vcpus,throughput\rtrain,1,1e2\rtrain,2,1.9E+2\r",
    ],
)
def test_spreadsheets_write_tables_in_their_own_ways(read: Read, table: str | bytes) -> None:
    """A mark of the byte order, ends of lines, semicolons, tabs, spaces, quotes and empty columns."""
    assert rates(read(table)) == [(1.0, 100.0), (2.0, 190.0)]


REFUSED: list[tuple[str | bytes, str]] = [
    (b"", "table.csv is empty"),
    ("\n \n", "is empty"),
    ((HEADER + "a,1,2\n").encode("utf-16"), "is not UTF-8; save the file as UTF-8"),
    ((HEADER + "a,1,2\n").encode("utf-16-le"), "line 1 has a character that cannot be printed"),
    (bytes(range(128)), "cannot be printed"),
    (HEADER + '"a,1,2\na,2,3\na,4,5\n', "line 2 cannot be read as a row"),
    (HEADER + "a,1,2\n" + "a" * 200_000 + ",2,3\n", "line 3: a cell is too long"),
]


@pytest.mark.parametrize(("table", "said"), REFUSED)
def test_what_cannot_be_is_refused_by_its_place(read: Read, table: str | bytes, said: str) -> None:
    """File, line and column, and what to type."""
    with pytest.raises(InputError, match=r"table\.csv") as caught:
        read(table)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    """One sentence."""
    with pytest.raises(InputError, match="cannot be read"):
        read_measurements(tmp_path, None)


def test_unknown_columns_are_kept(read: Read) -> None:
    """By run, and written again behind the known ones."""
    found = read("workload,vcpus,throughput,Loss,note\na,1,10,0.5,\"x, 'y'\"\na,2,20,,\n")
    assert found.unknown == ("Loss", "note")
    assert [run.declared.other for run in found.runs] == [{"Loss": "0.5", "note": "x, 'y'"}, {}]
    first = next(csv.DictReader(io.StringIO(write_csv(found.runs))))
    assert list(first)[-2:] == ["Loss", "note"]
    assert list(first)[:-2] == list(WRITTEN)


def test_a_formula_is_read_back_as_text(read: Read) -> None:
    """Export put an apostrophe before it."""
    found = read("workload,vcpus,throughput,note,'=x\na,1,10,'=1+1,1\na,2,20,it's,2\na,4,40,';'=1+1,3\na,8,50,＝1,4\n")
    notes = ["=1+1", "it's", ";=1+1", "＝1"]
    assert [run.declared.other["note"] for run in found.runs] == notes
    assert found.unknown == ("note", "=x")
    assert "'=1+1" in write_csv(found.runs)
    assert [run.declared.other["note"] for run in read(write_csv(found.runs)).runs] == notes


def test_the_study_parses_back(read: Read) -> None:
    """As the file in the folder has it, whatever its devices and rates."""
    found = read(
        "workload,vcpus,throughput,device,input,cache,network,framework\n"
        "a,0.3,10,emulated:A100,disk,natural,my net,torch 2.1\na,7.77,20,emulated:A100,disk,natural,my net,torch 2.1\n"
        "b,1,10,emulated:300/s,replay,,,\nb,2,10,emulated:300/s,replay,,,\nc,1,9,cuda:1,synthetic,,,\nc,2,9,cuda:1,,,,\n"
    )
    text = to_yaml(found.study)
    assert parse_study(text, "study.yaml", None, HostSize(1, 1), None) == found.study
    assert found.study.imported


@pytest.mark.slow
def test_many_rows_are_read_at_once(read: Read) -> None:
    """20,000 rows of 80 configurations, each its own run."""
    rows = "".join(f"w{n % 5},{1 + n % 80},{100 + n % 7}.25\n" for n in range(20_000))
    found = read(HEADER + rows)
    assert len({run.id for run in found.runs}) == 20_000
    assert max(run.spec.repeat for run in found.runs) == 249


NAMES = st.sampled_from(["train", "a.b-c_1"])
MAGNITUDE = st.floats(1e-6, 1e9)
TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("C",)), max_size=12).map(str.strip)


@st.composite
def told_rows(draw: st.DrawFn) -> list[dict[str, object]]:
    """Rows as anyone may have them: any columns, each filled in as its kind allows."""
    values: dict[str, st.SearchStrategy[Any]] = {
        "framework": st.sampled_from(["mxnet", "PyTorch 2.1"]),
        "device": st.sampled_from(["cuda:0", "emulated:P100", "emulated:300.5/s"]),
        "network": st.sampled_from(["resnet50", "my net", ""]),
        "batch_size": st.integers(1, 2**20),
        "memory_gib": st.floats(0.01, 1e6),
        "disk": st.sampled_from(["host", "nvme", "cloud_ssd"]),
        "input": st.sampled_from(["disk", "cached", "synthetic", ""]),
        "cache": st.sampled_from(["cold", "natural", "warm", ""]),
        "gpu": st.sampled_from(["V100", "A100-80GB", ""]),
        "gpu_count": st.sampled_from(["1", "8", ""]),
        "sample_unit": st.sampled_from(["image", "word", ""]),
        "core_seconds_per_sample": MAGNITUDE,
        "read_bytes_per_sample": MAGNITUDE,
        "bottleneck": st.sampled_from(["cpu", "disk_iops", ""]),
        "hit_rate": st.just(0.0) | st.floats(1e-6, 1),
        "warnings": TEXT,
        "started_at": st.sampled_from(["2026-11-21T10:00:00+00:00", "2026-11-21T10:00:01+00:00", ""]),
        "repeat": st.sampled_from(["", 1, 2, 7]),
        "kind": st.sampled_from(["image_training", "command", ""]),
        "format": st.sampled_from(["lmdb", ""]),
        "dataset": st.sampled_from(["embedded", "ImageNet", ""]),
        "dataset_gib": st.just(0.0) | st.floats(1e-6, 1e6),
        "dataset_samples": st.integers(0, 10**9),
        "first_epoch_throughput": MAGNITUDE,
        "peak_anonymous_gib": st.just(0.0) | st.floats(1e-6, 1e3),
        "accelerator_samples_per_second": st.floats(0.01, 1e6),
        "disk_read_iops": MAGNITUDE,
        "disk_read_mbps": MAGNITUDE,
        "disk_write_mbps": MAGNITUDE,
        "disk_class": st.sampled_from(["nvme", ""]),
        "isolates": st.sampled_from(["step", "disk", ""]),
        "disk_emulated": st.sampled_from(["yes", ""]),
        "my note": TEXT,
    }
    chosen = draw(st.lists(st.sampled_from(sorted(values)), unique=True))
    rows = []
    for vcpus in draw(st.lists(st.floats(0.1, 4096), min_size=2, max_size=6, unique=True)):
        rate = draw(MAGNITUDE)
        row: dict[str, object] = {"workload": "train", "vcpus": vcpus, "throughput": rate}
        row |= {column: draw(values[column]) for column in chosen}
        if draw(st.booleans()):
            row |= {"throughput_low": rate * 0.9, "throughput_high": rate * 1.1}
        rows.append(row)
    return rows


@settings(max_examples=60)
@given(rows=told_rows())
def test_export_import_export_loses_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    """What a table has comes back cell by cell, and every run is one that a study folder can hold."""
    path = tmp_path_factory.mktemp("again") / "table.csv"
    path.write_text(table_of(*rows), encoding="utf-8")
    found = read_measurements(path, None)
    runs = found.runs
    assert parse_study(to_yaml(found.study), "study.yaml", None, HostSize(1, 1), None) == found.study
    exported = write_csv(runs)
    for run in runs:
        assert from_json(Run, to_json(run), "run") == run
    cells = list(csv.DictReader(io.StringIO(exported)))
    assert [float(row["throughput"]) for row in cells] == [row["throughput"] for row in rows]
    assert [float(row["vcpus"]) for row in cells] == [row["vcpus"] for row in rows]
    path.write_text(exported, encoding="utf-8")
    assert write_csv(read_measurements(path, None).runs) == exported


ODD = st.sampled_from(["", " ", "1", "-1", "1e999", "nan", "=1", "'", '"', "a", "cuda:0", "\u202e", "\0", "é", "8 GiB"])
CELL = ODD | st.text(max_size=6)


@settings(max_examples=150)
@given(data=st.data())
def test_any_text_is_a_study_or_one_sentence(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Never a traceback, and never a run that cannot be read again."""
    columns = data.draw(st.lists(st.sampled_from(sorted(COLUMNS)) | CELL, max_size=6))
    header = ["workload", "throughput", "vcpus", *columns]
    rows = data.draw(
        st.lists(
            st.tuples(
                NAMES | CELL, MAGNITUDE.map(str) | CELL, st.integers(1, 64).map(str) | CELL, *[CELL] * len(columns)
            ),
            max_size=4,
        )
    )
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    content = data.draw(st.sampled_from([text.getvalue().encode("utf-8", "replace")]) | st.binary(max_size=80))
    path = tmp_path_factory.mktemp("any") / "table.csv"
    path.write_bytes(content)
    said = ""
    try:
        found = read_measurements(path, None)
    except InputError as error:
        said = str(error)
    if said:
        assert said.startswith(str(path))
        assert len(said) < 800
        return
    for run in found.runs:
        assert from_json(Run, to_json(run), "run") == run
    assert parse_study(to_yaml(found.study), "study.yaml", None, HostSize(1, 1), None) == found.study
