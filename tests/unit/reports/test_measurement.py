"""How it was measured."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace

from sizer.bundled.reports import measurement
from sizer.bundled.reports.measurement import downloads
from sizer.bundled.reports.subject import Material
from sizer.exchange.measurements import write_tables
from sizer.records.study import DiskTier
from sizer.records.units import GIB
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml


def test_declared_and_measured_disk_figures_stand_side_by_side(material: Material) -> None:
    """A tier that misses what it declares is marked."""
    slow, _, fast = measurement.disks(material.study, material.disk_checks, material.runs)
    assert slow["declared"] == "read and write 20 MB/s, 300 IOPS"
    assert slow["measured"] == "read 20.1 MB/s, 301 IOPS; write 19.9 MB/s, 300 IOPS"
    assert (slow["kind"][0], slow["deviates"][0]) == ("emulated", "no")
    assert "by more than 10 %" in fast["deviates"][0]


def test_a_real_mount_is_told_from_an_emulated_one(material: Material) -> None:
    """A real disk declares nothing and says where it is mounted."""
    study = replace(material.study, disks=(DiskTier("nvme", path="/mnt/nvme"),))
    (row,) = measurement.disks(study, (), ())
    assert (row["kind"], row["measured"]) == (("real", "/mnt/nvme"), "not measured")


def test_the_embedded_data_set_is_never_taken_for_imagenet(material: Material) -> None:
    """Every data set of this study is embedded and says what it is not."""
    found = measurement.data_sets(material.runs)
    assert len(found) == 3
    assert all("not ImageNet, not PennTreeBank" in each["what"] for each in found)
    assert {each["samples"] for each in found} == {"400 images", "929,000 words"}


def test_a_run_that_was_killed_tells_nothing_of_its_data(material: Material) -> None:
    """A data set of which no sample was counted is no data set."""
    data = material.runs[0].data_set
    assert data is not None
    killed = replace(material.runs[0], data_set=replace(data, samples=0, bytes=0))
    assert measurement.data_sets([material.runs[0], killed]) == measurement.data_sets([material.runs[0]])


def test_a_users_own_data_is_named_by_its_path(material: Material) -> None:
    """Data of the user's own is not called embedded."""
    data = material.runs[0].data_set
    assert data is not None
    run = replace(material.runs[0], data_set=replace(data, embedded=False, path="/data/imagenet"))
    assert measurement.data_sets([run])[0]["what"] == "/data/imagenet"


def test_host_facts_may_be_sparse() -> None:
    """What host.json does not hold is left out; sizes are read as sizes."""
    assert measurement.host_facts({"schema_version": 1, "memory_bytes": 2**34, "fio": None, "swap_bytes": 0}) == [
        ("Memory", "16 GiB"),
        ("Swap", "none"),
    ]


def test_frameworks_in_two_interpreters_are_told_apart() -> None:
    """In one, the host's Python and packages say it all; a form that nobody knows is left out."""
    own = {"framework": "mxnet", "path": "/own/python", "python": "3.11.7", "packages": {"mxnet": "1.9.1"}}
    other = {
        "framework": "pytorch",
        "path": "/t/python",
        "python": "3.12.1",
        "packages": {"torch": "2.13.0", "numpy": "2.4"},
    }
    host = {"python": "3.11.7", "packages": {"mxnet": "1.9.1", "torch": "2.13.0"}}
    assert measurement.host_facts({**host, "frameworks": [own, other]}) == [
        ("MXNet", "Python 3.11.7 in /own/python: mxnet 1.9.1"),
        ("PyTorch", "Python 3.12.1 in /t/python: torch 2.13.0, numpy 2.4"),
    ]
    together = [("Python", "3.11.7"), ("Packages", "mxnet 1.9.1, torch 2.13.0")]
    for found in ([own, {**other, "path": "/own/python"}], [own], [{"framework": 1}], "strange", None):
        assert measurement.host_facts({**host, "frameworks": found}) == together
    bare = {**other, "packages": {}}
    assert measurement.host_facts({"frameworks": [own, bare]})[1] == ("PyTorch", "Python 3.12.1 in /t/python")


def unpacked(file: dict[str, str]) -> str:
    """What a browser saves."""
    return gzip.decompress(base64.b64decode(file["address"].partition(",")[2])).decode()


def test_both_tables_come_out_as_they_went_in(material: Material) -> None:
    """And the same study has the same page, byte for byte."""
    as_csv, as_json = write_tables(material.runs)
    made = replace(material, measurements_csv=as_csv, measurements_json=as_json)
    table, rows = downloads(made)
    assert (unpacked(table), unpacked(rows)) == (as_csv, as_json)
    assert len(json.loads(unpacked(rows))) == len(material.runs)
    assert downloads(made) == [table, rows]


def test_the_name_of_a_file_is_one_that_any_system_takes(material: Material) -> None:
    """Whatever the study is called."""
    named = replace(material, study=replace(material.study, name="../<b>\u202e a/b"))
    assert [file["plain"] for file in downloads(named)] == ["b-a-b.csv", "b-a-b.json"]
    nameless = replace(material, study=replace(material.study, name="研究"))
    assert downloads(nameless)[0]["plain"] == "study.csv"


def test_a_study_without_runs_has_none(material: Material) -> None:
    """There is nothing to save."""
    assert downloads(replace(material, runs=())) == []


def test_the_study_file_measures_the_same(material: Material) -> None:
    """Read again it is the study."""
    again = parse_study(to_yaml(material.study), "study.yaml", None, HostSize(8, 32 * GIB), None)
    assert [plan.workload.name for plan in again.workloads] == [plan.workload.name for plan in material.study.workloads]
