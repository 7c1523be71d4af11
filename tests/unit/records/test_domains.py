"""What a field of a record may hold."""

from __future__ import annotations

import math
from dataclasses import make_dataclass
from typing import Any, get_args, get_type_hints

import pytest

from sizer.files.codec import from_json
from sizer.records.device import Device, DiskRates
from sizer.records.domains import (
    LARGEST,
    SMALLEST,
    Amount,
    Batch,
    Between,
    Bound,
    Cache,
    Count,
    DeviceKind,
    Domain,
    Input,
    Kind,
    Label,
    Moment,
    Name,
    Preference,
    Probability,
    Rate,
    SafeName,
    Vcpus,
)
from sizer.records.kinds import KINDS
from sizer.records.study import Measure, Objective, RunSpec, Study
from sizer.study.json_schema import schema


def domain(annotated: Any) -> Domain:
    own: Domain = get_args(annotated)[1]
    return own


@pytest.mark.parametrize(
    ("annotated", "inside", "outside"),
    [
        (Amount, [0, 0.0, 5, SMALLEST, LARGEST], [-1, -1e-9, 5e-324, 1e308, math.inf, math.nan, 10**400]),
        (Rate, [SMALLEST, 219.0], [0, 0.0, -1, math.nan]),
        (Bound, [-1.0, 0, math.inf, -math.inf], [math.nan, 1e308]),
        (Probability, [0, 0.95, 1], [1.01, -0.1, math.nan]),
        (Vcpus, [0.25, 1, 4096], [0, -1, 5000, math.nan]),
        (Count, [0, 10**18], [-1, 10**30]),
        (Batch, [1, 2**20], [0, -1, 2**20 + 1, 10**30]),
        (
            SafeName,
            ["a", "resnet50-p100", "x" * 100, "é", "训练"],
            ["", ".", "..", "-rf", "a/b", "a b", "=1", "@x", "+1", "<b>", "a\n"],
        ),
        (
            Name,
            ["a", "ResNet 50 / fp16", "图像训练", "AWS gp3", "=1", "<b>", "x" * 100],
            ["", " a", "a ", "a\n", "a\tb", "a\u202eb", "\x1b[2J", "x" * 101],
        ),
        (Label, ["mxnet", "aws/gp3", "Tesla V100 (SXM2)"], ["", " a", "a\n", "x" * 101]),
        (Moment, ["2026-11-21T10:00:00+00:00", "2026-11-21T10:00:00.123Z"], ["", "now", "=now()", "2026-11-21"]),
        (Kind, ["command"], ["", "Command", "image"]),
    ],
)
def test_values_inside_and_outside(annotated: Any, inside: list[Any], outside: list[Any]) -> None:
    """Each domain holds what a machine and a job can have, and no more."""
    holds = domain(annotated).holds
    assert [value for value in inside if not holds(value)] == []
    assert [value for value in outside if holds(value)] == []


def test_a_domain_says_what_it_is() -> None:
    """In words that fit after `expected`."""
    assert str(Between(1, 2**20).wanted) == "a number from 1 to 1048576"
    assert str(Between(0.25, 8).wanted) == "a number from 0.25 to 8"
    assert str(domain(Amount).wanted) == "0 or a number from 1e-60 to 1e+60"
    assert str(domain(Rate).wanted) == "a number above 0, up to 1e+60"
    assert str(domain(DeviceKind).wanted) == "one of cpu, cuda or emulated"


def test_records_and_study_file_know_the_same_words() -> None:
    """What a study file may say can be read again from its runs, and nothing else can."""
    defined = schema()["$defs"]
    workload = defined["workload"]["properties"]
    for annotated, entry in ((Kind, workload["kind"]), (Cache, workload["cache"])):
        assert domain(annotated).choices == tuple(entry["enum"])  # type: ignore[attr-defined]
    # A replay is a part of a workload, which sizer plans and nobody asks for.
    assert domain(Input).choices == (*workload["input"]["enum"], "replay")  # type: ignore[attr-defined]
    assert set(domain(Kind).choices) == set(KINDS)  # type: ignore[attr-defined]
    prefer = schema()["properties"]["objective"]["properties"]["prefer"]["enum"]
    assert domain(Preference).choices == tuple(prefer)  # type: ignore[attr-defined]
    for name in ("name", "disk_name"):
        assert defined[name]["pattern"] == f"^{domain(SafeName).pattern}$(?!\\n)"  # type: ignore[attr-defined]
    assert all(defined[name]["maxLength"] == 100 for name in ("name", "disk_name", "label", "printed"))
    assert defined["printed"]["description"] == str(domain(Label).wanted)


def test_no_number_of_a_study_file_is_one_that_its_runs_could_not_hold() -> None:
    """The schema's bounds lie within those of the record's fields, which are what reads a run again."""
    defined, measure = schema()["$defs"], schema()["properties"]["measure"]["properties"]
    fields = [
        *((Measure, name, measure[name], 1) for name in ("repeats", "seconds", "precision", "seed", "timeout")),
        (Objective, "target", schema()["properties"]["objective"]["properties"]["target"], 1),
        (Study, "embedded_images", schema()["properties"]["embedded_images"], 1),
        (Device, "samples_per_second", defined["rate"], 1),
        (RunSpec, "batch_size", defined["batch"], 1),
        (DiskRates, "read_iops", defined["iops"], 1),
        (DiskRates, "read_bytes_per_second", defined["mbps"], 10**6),
    ]
    for record, name, rule, unit in fields:
        for bound in ("minimum", "maximum") if "maximum" in rule else ("minimum", "exclusiveMaximum"):
            plain = {name: rule[bound] * unit}
            value = from_json(_only(record, name), plain, "bounds")
            assert getattr(value, name) == plain[name]


def _only(record: type, name: str) -> type:
    """A record of this one field."""
    return make_dataclass(record.__name__, [(name, get_type_hints(record, include_extras=True)[name])], frozen=True)
