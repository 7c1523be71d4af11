"""The published JSON Schema, and what a person reads when a study file does not keep to it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from sizer.records import InputError
from sizer.study.document import Document, Key


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the study file, the one that study files are checked with."""
    text = resources.files(__package__).joinpath("study_schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def check(document: Document) -> None:
    """Raise InputError with one sentence, file, line and key, at the first place that breaks the schema."""
    complaints = [_complaint(document, error) for error in _leaves(_validator().iter_errors(document.data))]
    if complaints:
        _, _, first = min(complaints, key=lambda complaint: complaint[:2])
        raise first


def expected(definition: str, value: object) -> str | None:
    """What the schema's definition of that name says a value must be; None where this is one.

    For figures that a catalogue gives: they are in the resolved study file, which is held to the same schema.
    """
    rule: Any = _definition(definition)
    error = next(rule.iter_errors(value), None)
    return None if error is None else _expected(error.schema, value)


@cache
def _definition(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema()["$defs"][name])


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(schema())


def _leaves(errors: Iterable[ValidationError]) -> Iterable[ValidationError]:
    """Of a value with several forms, only the errors of the form that was meant: the one whose type it has."""
    for error in errors:
        branches: dict[Any, list[ValidationError]] = {}
        if error.validator == "anyOf":
            for inner in error.context or ():
                branches.setdefault(inner.relative_schema_path[0], []).append(inner)
        meant = [
            branch
            for branch in branches.values()
            if not any(inner.validator == "type" and not inner.relative_path for inner in branch)
        ]
        if len(meant) == 1:
            yield from _leaves(meant[0])
        else:
            yield error


def _complaint(document: Document, error: ValidationError) -> tuple[int, int, InputError]:
    """Line and rank, to choose the first by, and the error: on one line an unknown key explains the others."""
    key: Key = tuple(error.absolute_path)
    rule: Any = error.schema
    instance: Any = error.instance
    rank = 1
    if error.validator == "additionalProperties":
        name = next(name for name in instance if name not in rule["properties"])
        key, rank = (*key, name), 0
        advice = _its_place(name, key) or _nearest(name, rule["properties"])
        message = f"`{name}` is not a key of {_place(key[:-1])}; {advice}"
    elif error.validator == "required":
        message = _missing(key, rule, instance)
    elif "propertyNames" in error.absolute_schema_path:
        key = (*key, instance)
        message = f"`{instance}` must be {rule['description']}"
    elif error.validator == "not":
        message = f"`{key[-1]}` {rule['description']}"
    else:
        message = f"{_subject(key)} must be {_expected(rule, instance)}, not {_shown(document, key, instance)}"
    return document.lines.get(key, 0), rank, document.error(key, message)


def _missing(key: Key, rule: Any, instance: dict[str, Any]) -> str:
    name = next(name for name in rule["required"] if name not in instance)
    described = rule.get("properties", {}).get(name, {})
    if "$ref" in described:
        described = {**schema()["$defs"][described["$ref"].rpartition("/")[2]], **described}
    choices = f": {_choices(described['enum'])}" if "enum" in described else ""
    meaning = f", {described['description']}" if "description" in described else ""
    return f"{_place(key)} needs `{name}`{meaning}{choices}"


def _expected(rule: Any, instance: object) -> str:
    """What should be there, as the schema's own descriptions and choices say it."""
    if "enum" not in rule:
        return str(rule["description"])
    close = difflib.get_close_matches(str(instance), rule["enum"], n=1)
    choices = f"one of {_choices(rule['enum'])}" if len(rule["enum"]) > 1 else f"`{rule['enum'][0]}`"
    return f"`{close[0]}` ({choices})" if close else choices


def _choices(values: Iterable[str]) -> str:
    return ", ".join(values)


def _its_place(name: str, key: Key) -> str | None:
    """Where a key belongs that is one of the file itself and was written further in."""
    if len(key) == 1 or name == "workloads" or name not in schema()["properties"]:
        return None
    return "it belongs at the top of the file, beside `workloads`"


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean `{close[0]}`?" if close else f"its keys are {_choices(known)}"


def _subject(key: Key) -> str:
    """The value in words: `memory` in axes, the study file itself at the top."""
    names = [part for part in key if isinstance(part, str)]
    if not names:
        return "the study file"
    if key[-1] == names[-1]:
        parent = _place(key[:-1])
        return f"`{names[-1]}`" if parent == "the study file" else f"`{names[-1]}` in {parent}"
    return "a workload" if names == ["workloads"] else f"a value of `{names[-1]}`"


def _place(key: Key) -> str:
    """The mapping that a key belongs to, in words."""
    if not key:
        return "the study file"
    if key[0] == "workloads" and len(key) == 2:
        return "a workload"
    if key[0] == "disks" and len(key) == 2:
        return f"disk `{key[1]}`"
    return str(next(part for part in reversed(key) if isinstance(part, str)))


def _shown(document: Document, key: Key, value: object) -> str:
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    text = document.texts.get(key, str(value))
    if value is None:
        return "nothing"
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"
