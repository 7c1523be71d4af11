"""A table becomes a study: its rows, what it leaves out, and what a table of before became."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.catalog.catalog import Catalog
from sizer.cli import main
from sizer.exchange import imported
from sizer.exchange.imported import Imported, read_measurements
from sizer.exchange.measurements import write_csv
from sizer.files.codec import from_json, to_json
from sizer.model.fitting import fit
from sizer.recommend.recommendation import recommend
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.store.study_folder import StudyFolder
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml
from sizer.words.page import column_named
from tests.tables import Read, stored_catalog

# A table of measurements made elsewhere becomes a study, as a whole or not at all.


ReadText = Callable[..., Imported]
HEADER = "workload,vcpus,throughput\n"


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    """Import a table given as text or bytes."""

    def imported(table: str | bytes, figures: Catalog | None = None) -> Imported:
        path = tmp_path / "table.csv"
        path.write_bytes(table if isinstance(table, bytes) else table.encode())
        return read_measurements(path, figures)

    return imported


def rates(table: Imported) -> list[tuple[float, float]]:
    """vCPUs and samples/s of each run."""
    return [(run.configuration.vcpus, run.throughput.value) for run in table.runs if run.throughput]


def table_of(*rows: dict[str, object]) -> str:
    """Rows by column as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


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
def test_spreadsheets_write_tables_in_their_own_ways(read_text: ReadText, table: str | bytes) -> None:
    """A mark of the byte order, ends of lines, semicolons, tabs, spaces, quotes and empty columns."""
    assert rates(read_text(table)) == [(1.0, 100.0), (2.0, 190.0)]


REFUSED: list[tuple[str | bytes, str]] = [
    (b"", "table.csv is empty"),
    ("\n \n", "is empty"),
    ((HEADER + "a,1,2\n").encode("utf-16"), "is not UTF-8; save the file as UTF-8"),
    ((HEADER + "a,1,2\n").encode("utf-16-le"), "line 1 has a character that cannot be printed"),
    (bytes(range(128)), "cannot be printed"),
    (HEADER + '"a,1,2\na,2,3\na,4,5\n', "line 2 cannot be read as a row"),
    (HEADER + "a,1,2\n" + "a" * 200_000 + ",2,3\n", "line 3: a cell is too long"),
]


@pytest.mark.parametrize(("table", "sentence"), REFUSED)
def test_what_cannot_be_is_refused_by_its_place(read_text: ReadText, table: str | bytes, sentence: str) -> None:
    """File, line and column, and what to type."""
    with pytest.raises(InputError, match=r"table\.csv") as caught:
        read_text(table)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_table(tmp_path: Path) -> None:
    """One sentence."""
    with pytest.raises(InputError, match="cannot be read"):
        read_measurements(tmp_path, None)


def test_a_formula_is_read_back_as_text(read_text: ReadText) -> None:
    """Export put an apostrophe before it."""
    table = read_text(
        "workload,vcpus,throughput,note,'=x\na,1,10,'=1+1,1\na,2,20,it's,2\na,4,40,';'=1+1,3\na,8,50,＝1,4\n"
    )
    notes = ["=1+1", "it's", ";=1+1", "＝1"]
    assert [run.declared.other["note"] for run in table.runs] == notes
    assert table.unknown == ("note", "=x")
    assert "'=1+1" in write_csv(table.runs)
    assert [run.declared.other["note"] for run in read_text(write_csv(table.runs)).runs] == notes


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
        "gpu": st.sampled_from(["V100", "A100-80GB", ""]),
        "sample_unit": st.sampled_from(["image", "word", ""]),
        "core_seconds_per_sample": MAGNITUDE,
        "hit_rate": st.just(0.0) | st.floats(1e-6, 1),
        "warnings": TEXT,
        "started_at": st.sampled_from(["2026-11-21T10:00:00+00:00", "2026-11-21T10:00:01+00:00", ""]),
        "repeat": st.sampled_from(["", 1, 2, 7]),
        "kind": st.sampled_from(["image_training", "command", ""]),
        "dataset": st.sampled_from(["embedded", "ImageNet", ""]),
        "dataset_gib": st.just(0.0) | st.floats(1e-6, 1e6),
        "peak_anonymous_gib": st.just(0.0) | st.floats(1e-6, 1e3),
        "accelerator_samples_per_second": st.floats(0.01, 1e6),
        "disk_read_mbps": MAGNITUDE,
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
    table = read_measurements(path, None)
    runs = table.runs
    assert parse_study(to_yaml(table.study), "study.yaml", None, HostSize(1, 1), None) == table.study
    exported = write_csv(runs)
    for run in runs:
        assert from_json(Run, to_json(run), "run") == run
    cells = list(csv.DictReader(io.StringIO(exported)))
    assert [float(row["throughput"]) for row in cells] == [row["throughput"] for row in rows]
    assert [float(row["vcpus"]) for row in cells] == [row["vcpus"] for row in rows]
    path.write_text(exported, encoding="utf-8")
    assert write_csv(read_measurements(path, None).runs) == exported


# A study that the first version imported, with stand-ins for what its table does not say, gives the same figures.


FORMS = ("shares", "bottleneck", "headroom")
"""What follows from the equation of the model, which is another now."""


def figures(value: Any) -> Any:
    """With numbers that need not agree in their last bit on another machine."""
    if isinstance(value, dict):
        return {name: figures(item) for name, item in value.items()}
    if isinstance(value, list):
        return [figures(item) for item in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


def test_what_the_table_does_not_say_is_none(first_version_imported: Path) -> None:
    """And nothing else is; each run keeps its id, which is the name of its file."""
    folder = StudyFolder.open(first_version_imported)
    assert folder.problems() == ()
    runs = folder.runs()
    assert {run.id for run in runs} == {path.stem for path in (first_version_imported / "runs").iterdir()}
    train = next(run for run in runs if run.spec.workload.name == "train")
    read = next(run for run in runs if run.spec.workload.name == "read")
    assert (train.configuration.vcpus, train.configuration.gpu, train.configuration.gpu_count) == (1.0, "V100", 1)
    assert (train.configuration.memory_bytes, train.configuration.disk, train.started_at) == (None, None, None)
    assert (train.spec.workload.device.kind, train.spec.workload.device.index) == ("cuda", None)
    assert (read.configuration.vcpus, read.configuration.gpu_count, read.configuration.memory_bytes) == (
        None,
        None,
        4 * 2**30,
    )
    assert (read.spec.workload.device, read.spec.workload.framework, read.spec.workload.input) == (None, None, None)


def test_its_model_and_answers_are_as_before(first_version_imported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fitted again, since the stored model holds the stand-ins; what is not known is null in every form."""
    answers = json.loads((first_version_imported / "recommendation.json").read_text())
    predictions = json.loads((first_version_imported / "predictions.json").read_text())["predictions"]
    for before in predictions:
        assert main(["predict", str(first_version_imported), "--workload", before["workload"], "--json"]) == 0
        (now,) = json.loads(capsys.readouterr().out)["predictions"]
        # Without vCPUs nothing shows what of them binds, and more memory may relieve a disk; a measured row is taken at
        # its word.
        rate = {"train": 400.0, "read": 120.0}[before["workload"]]
        asked = {name: now[name] for name in ("throughput", "low", "high")}
        assert before["low"] < now["low"] < rate < now["high"]
        assert now["high"] / now["low"] < 1.3
        assert now["throughput"] == pytest.approx(rate, rel=0.02)
        assert before["vcpus"] is not None or now["bottleneck"] in ("ambiguous", "disk_bandwidth")
        assert now == figures(before | {name: now[name] for name in FORMS} | asked)
    refitted = json.loads((first_version_imported / "model.json").read_text())
    assert refitted["schema_version"] == 2
    assert main(["recommend", str(first_version_imported)]) == 0
    concluded = json.loads((first_version_imported / "recommendation.json").read_text())
    before, now = answers["workloads"][0], concluded["workloads"][0]
    # A job that was measured on one kind of accelerator runs on that kind, and at the rate that was measured there.
    gpu = {"gpu": "V100", "gpu_count": 1}
    assert now["status"] == before["status"]
    assert now["spec"] == before["spec"] | gpu
    assert now["throughput"]["value"] == pytest.approx(400.0)
    # Its last doubling gained 18 %, onto the second half of each core or as the accelerator binds: that the rate still
    # rises is not said any more, nor what binds.
    assert (now["edge"], now["beyond"], now["bottleneck"]) == ("unsettled", None, None)
    # A table that only says memory is compared as it is: 32 GiB are half as fast again as 16, which no curve showed.
    assert (concluded["workloads"][1]["status"], concluded["workloads"][1]["spec"]["memory_gib"]) == ("at_least", 32.0)


# Tables that few people write: many workloads, two epochs, GPUs that were none, rates that nobody published.


def test_a_table_of_too_many_workloads_is_to_be_split(read_text: ReadText, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study has a bound of them."""
    monkeypatch.setattr(imported, "MOST_WORKLOADS", 2)
    with pytest.raises(InputError, match="has 3 workloads, and a study has at most 2; split the table"):
        read_text("workload,vcpus,throughput\na,1,10\nb,1,10\nc,1,10\n")


# Tables of cross-benchmarks, in which a column of devices names GPUs and CPUs.


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
def devices_table(read: Read) -> Imported:
    return read(CROSS_BENCHMARK)


def test_its_answer_has_the_table_of_devices(devices_table: Imported) -> None:
    """A CPU stands in it by its name, never as another one's repeat."""
    recommendation = recommend(fit(devices_table.runs), devices_table.runs, Objective(), stored_catalog())
    table = recommendation.cross_table
    assert [column_named(column) for column in table.columns] == [
        "MXNet · c4.8xlarge",
        "MXNet · c4.4xlarge",
        "PyTorch · Core i9-10940X",
        "PyTorch · Core i7-12700H",
        "Torch · 2x Xeon E5-2630 v3",
        "PaddlePaddle · Core i9-10940X",
    ]
