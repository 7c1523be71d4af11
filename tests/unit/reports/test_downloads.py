"""The files that the page carries."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace

from sizer.bundled.reports.measurement import downloads
from sizer.bundled.reports.subject import Material
from sizer.exchange.measurements import write_tables
from sizer.records.units import GIB
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml


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
