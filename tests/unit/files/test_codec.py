"""Records as JSON and back."""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.files.codec import FormatError, from_json, load_json, to_json, write_json
from sizer.records.answer import Recommendation
from sizer.records.device import Device, DiskRates
from sizer.records.domains import LONGEST_NAME, SCHEMA_VERSION, Matching, OneOf, Printed
from sizer.records.messages import InputError
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import Demand, DiskCheck, Evidence, EvidenceKind, Run, RunWarning, Sample, Step, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Study, Workload

FULL = Run(
    spec=RunSpec(
        Workload("train", "command", device=Device("emulated", 0, "P100", 219.0, "x"), command=("a", "b c")),
        32,
        Limits(0.5, 2**30, "ssd"),
        Measure(timeout=9.0),
    ),
    outcome=Outcome.COMPLETED,
    configuration=Configuration(0.5, 2**30, "ssd", 32),
    started_at="2026-11-21T10:00:00+00:00",
    wall_seconds=12.5,
    throughput=Estimate(10.0, 9.0, math.inf),
    demand=Demand(core_seconds=0.1),
    evidence=Evidence(Bottleneck.CPU, {"cpu": 0.9}, EvidenceKind.BUSIEST, {"cpu": 0.9}),
    disk=DiskCheck(DiskTier("ssd", emulated=DiskRates(1.0, 2.0)), DiskRates()),
    warnings=(RunWarning(WarningKind.SWAPPED, {"bytes": 4096.0}),),
    steps=(Step(1.0, 32, 0.1, 0),),
    samples=(Sample(1.0, 0.5),),
)


def records_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Any record of a class whose fields lie in their domains, and that lacks none that it needs."""
    hints = get_type_hints(cls, include_extras=True)
    built = st.builds(cls, **{field.name: values_of(hints[field.name]) for field in fields(cls)})
    return built.filter(lambda record: record.lacking is None) if hasattr(cls, "lacking") else built


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of one type hint of a record."""
    arguments = get_args(hint)
    if get_origin(hint) is Annotated:
        return in_domain(*arguments)
    if get_origin(hint) in (Union, types.UnionType):
        return st.one_of(st.none() if argument is types.NoneType else values_of(argument) for argument in arguments)
    if get_origin(hint) is tuple and Ellipsis not in arguments:
        return st.tuples(*map(values_of, arguments))
    if get_origin(hint) is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if get_origin(hint) in (dict, Mapping):
        return st.dictionaries(st.text(), values_of(arguments[1]), max_size=2)
    if hint is float:
        return st.floats(allow_nan=False)  # which equals nothing, itself neither
    return records_of(hint) if is_dataclass(hint) else st.from_type(hint)


def in_domain(hint: Any, domain: Any) -> st.SearchStrategy[Any]:
    if isinstance(domain, OneOf):
        return st.sampled_from(domain.choices)
    if isinstance(domain, Matching):
        fewer = domain.pattern.replace("\U0010ffff", "\u00ff")  # hypothesis lists every character of a class
        return st.from_regex(re.compile(fewer, re.ASCII), fullmatch=True).filter(domain.holds)
    if isinstance(domain, Printed):
        letters = st.characters(codec="utf-8", exclude_categories=("C", "Z"))
        return st.text(letters, min_size=1, max_size=LONGEST_NAME)
    if hint is int:
        return st.integers(int(domain.low), int(domain.high))
    within = st.floats(domain.low, domain.high).filter(domain.holds)
    return within | st.just(math.inf) if domain.open_ended else within


@pytest.mark.slow
@pytest.mark.parametrize("cls", [Run, Study, Recommendation, RunSpec, Workload, Device, DiskCheck, Sample])
@given(data=st.data())
@settings(max_examples=8, deadline=None)
def test_every_record_comes_back_equal(cls: type[Any], data: st.DataObject) -> None:
    """What is written as JSON text and read again is the same record, for any values its types and domains allow."""
    record = data.draw(records_of(cls))
    record = replace(record, schema_version=SCHEMA_VERSION) if hasattr(record, "schema_version") else record
    text = json.dumps(to_json(record), allow_nan=False)
    assert from_json(cls, json.loads(text), "x") == record


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(to_json(FULL))), inner, max_size=6)
        ),
        max_leaves=10,
    )
)
@settings(max_examples=200, deadline=None)
def test_garbage_is_a_format_error(data: object) -> None:
    """No value makes the reader fail in another way."""
    with pytest.raises(FormatError):
        from_json(Run, data, "x")


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_a_run_with_one_wrong_value_is_read_or_refused_in_words(data: st.DataObject) -> None:
    """Whatever replaces one value, the reader gives a Run or a FormatError that names the file."""
    plain = to_json(FULL)
    key = data.draw(st.sampled_from(sorted(plain)))
    plain[key] = data.draw(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers())
    )
    complaint = "runs/x.json"
    try:
        run = from_json(Run, plain, "runs/x.json")
    except FormatError as error:
        complaint = str(error)
    else:
        assert isinstance(run, Run)
    assert complaint.startswith("runs/x.json")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"outcome": "fine"}, "outcome: expected one of completed,"),
        ({"spec": None}, "spec: expected an object (RunSpec), found None"),
        ({"peak_memory_bytes": "NaN"}, "peak_memory_bytes: expected a whole number"),
        ({"peak_memory_bytes": 1.5}, "peak_memory_bytes: expected a whole number, found 1.5"),
        ({"wall_seconds": True}, "wall_seconds: expected a number, found True"),
        ({"wall_seconds": 10**400}, "wall_seconds: expected a number that fits"),
        ({"warnings": "none"}, "warnings: expected a list, found 'none'"),
        ({"steps": [{"time": 1.0}]}, "steps[0].samples is missing"),
        ({"error": 5}, "error: expected an object (Failure), found 5"),
        ({"disk": {"tier": {"name": "a"}, "measured": {}, "deviates": 1}}, "disk.deviates: expected true or false"),
        ({"schema_version": SCHEMA_VERSION + 1}, "Upgrade sizer"),
        ({"throughput": {"value": "NaN", "low": 1, "high": 2}}, "throughput.value: expected a number"),
        ({"throughput": {"value": "Infinity", "low": 1, "high": 2}}, "throughput.value: expected a number"),
        ({"throughput": {"value": 1, "low": 1, "high": "NaN"}}, "throughput.high: expected a number"),
        ({"wall_seconds": -1}, "wall_seconds: expected 0 or a number from 1e-60 to 1e+60, found -1"),
        ({"peak_memory_bytes": 10**30}, "peak_memory_bytes: expected a number from 0 to 9223372036854775808"),
        (
            {"configuration": {"vcpus": 1, "memory_bytes": 1, "disk": "a\n", "batch_size": 1}},
            "configuration.disk: expect",
        ),
        ({"samples": [{"time": -1}]}, "samples[0].time: expected 0 or a number from"),
        ({"started_at": "=now()"}, "started_at: expected a time such as 2026-11-21T10:00:00+00:00, found '=now()'"),
        ({"stopped": "x" * 5, "sample_unit": ["x"]}, "sample_unit: expected text, found a list"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(change: dict[str, object], sentence: str) -> None:
    """The sentence says which file, which key, what was expected and what was found."""
    with pytest.raises(FormatError) as caught:
        from_json(Run, {**to_json(FULL), **change}, "runs/ab12.json")
    assert str(caught.value).startswith("runs/ab12.json")
    assert sentence in str(caught.value)


def test_a_missing_value_is_named() -> None:
    """A key without a default must be there."""
    plain = to_json(FULL)
    del plain["outcome"]
    with pytest.raises(FormatError, match="x: outcome is missing"):
        from_json(Run, plain, "x")


@pytest.mark.parametrize(
    ("reason", "lacking"),
    [
        ({"kind": "between_memory", "figures": {"low": 1.0}}, "figures.high"),
        ({"kind": "host_again"}, "figures.runs"),
        ({"kind": "not_seen"}, "names"),
        ({"kind": "not_seen", "names": ["foo"]}, "names"),
    ],
)
def test_a_reason_that_lacks_what_it_says_is_named(reason: dict[str, object], lacking: str) -> None:
    """A damaged file is told of where it is read, and not where its sentence is written."""
    with pytest.raises(FormatError, match=f"x: reason.{lacking} is missing"):
        from_json(Run, {**to_json(FULL), "reason": reason}, "x")


def test_unknown_keys_of_the_same_version_are_left_out() -> None:
    """A newer minor version may add figures; an older one still reads the rest."""
    assert from_json(Run, {**to_json(FULL), "colour": "blue"}, "x") == FULL


def test_whole_numbers_become_floats_where_floats_belong() -> None:
    """`1` and `1.0` must not make two different runs."""
    limits = from_json(Limits, {"vcpus": 1}, "x")
    assert isinstance(limits.vcpus, float)


def test_a_pair_has_two_values() -> None:
    """A tuple of fixed length is read as one."""

    @dataclass(frozen=True)
    class Pair:
        ends: tuple[float, float]

    globals()["Pair"] = Pair
    assert from_json(Pair, {"ends": [1, 2]}, "x") == Pair((1.0, 2.0))
    with pytest.raises(FormatError, match="a list of 2"):
        from_json(Pair, {"ends": [1]}, "x")


def test_a_file_comes_back(tmp_path: Path) -> None:
    """What is written to a file is valid JSON and the same record."""
    path = tmp_path / "a.json"
    write_json(path, FULL)
    assert from_json(Run, load_json(path), str(path)) == FULL
    write_json(path, {"a": (1, Outcome.TIMEOUT)})
    assert load_json(path) == {"a": [1, "timeout"]}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b"1" * 10_000, b"\x00", b'{"spec"'],
)
def test_a_broken_file_is_a_sentence(tmp_path: Path, content: bytes) -> None:
    """Cut short, edited or binary: the file is named, nothing else is raised."""
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"a\.json is n"):
        from_json(Run, load_json(path), str(path))


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    """The path is in the message."""
    with pytest.raises(InputError, match="there is no such file"):
        load_json(tmp_path / "a.json")
