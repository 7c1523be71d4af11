"""The published schema, and what a person reads when a file does not keep to it."""

from __future__ import annotations

import contextlib
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from sizer.records.messages import InputError
from sizer.study.json_schema import schema
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize


def test_the_schema_is_a_valid_one() -> None:
    """What `sizer schema` prints is JSON Schema of draft 2020-12."""
    assert schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema())


def test_every_value_of_the_schema_is_described() -> None:
    """Messages are made of descriptions, so each part that can complain has one."""
    assert [where for where, part in _parts(schema(), "") if "type" in part and "description" not in part] == []


def _parts(part: Any, where: str) -> list[tuple[str, dict[str, Any]]]:
    """Every subschema with its place, but conditions, which never complain."""
    if isinstance(part, list):
        return [found for index, item in enumerate(part) for found in _parts(item, f"{where}/{index}")]
    if not isinstance(part, dict):
        return []
    found = [(where, part)] if isinstance(part.get("type"), (str, list)) else []
    return found + [each for name, value in part.items() if name != "if" for each in _parts(value, f"{where}/{name}")]


WORDS = st.sampled_from(
    [
        *schema()["properties"],
        *schema()["$defs"]["workload"]["properties"],
        "emulate",
        "gpu",
        "vcpus",
        "memory",
        "command",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["image_training", "command", "resnet50", "1GiB", "cpu", "cuda:1", "disk"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(WORDS, VALUES, max_size=5), st.lists(st.dictionaries(WORDS, VALUES, max_size=5), max_size=2))
def test_any_yaml_is_a_study_or_one_sentence(data: dict[str, Any], workloads: list[dict[str, Any]]) -> None:
    """Whatever the file says, nothing but InputError is raised."""
    workloads = [{"kind": "image_training", **workload} for workload in workloads]
    text = yaml.safe_dump({**data, "workloads": workloads}, allow_unicode=True)
    with contextlib.suppress(InputError):
        parse_study(text, "study.yaml", "quick", HostSize(2, 2**30), None)
