"""The published JSON Schema, and what a person reads when a study file does not keep to it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from sizer.records.frameworks import FRAMEWORKS, RUNNABLE
from sizer.records.kinds import KINDS, OPENCV
from sizer.records.messages import AnyOf, InputError, Message, advised_name, printable
from sizer.study.document import Document, Key, is_variable

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the study file, the one that study files are checked with."""
    text = resources.files(__package__).joinpath("study_schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    loaded["$defs"]["workload"]["properties"]["kind"]["enum"] = list(KINDS)
    loaded["$defs"]["framework"]["enum"] = [name for name in FRAMEWORKS if name != OPENCV]
    loaded["properties"]["frameworks"]["properties"] = {name: {"$ref": "#/$defs/interpreter"} for name in RUNNABLE}
    return loaded


def template() -> str:
    """A study file that is valid as it is and says in comments what else it may hold."""
    return resources.files(__package__).joinpath("template.yaml").read_text("utf-8")


def check(document: Document) -> None:
    """Raise InputError with one sentence, file, line and key, at the first place that breaks the schema."""
    errors = _leaves(_validator(document.resolved).iter_errors(document.data))
    complaints = [_complaint(document, error) for error in errors]
    if complaints:
        _, _, first = min(complaints, key=lambda complaint: complaint[:2])
        raise first


def expected(definition: str, value: object) -> Message | None:
    """What the schema's definition of that name says a value must be; None where this is one.

    For figures that a catalogue gives: they are in the resolved study file, which is held to the same schema.
    """
    rule: Any = _definition(definition)
    error = next(rule.iter_errors(value), None)
    return None if error is None else _expected(error.schema, value)


def networks_of(kind: str) -> frozenset[str] | None:
    """The networks that a study may name for a workload of that kind; None where it may name any."""
    named = "language_network" if kind in ("language_training", "lstm_training") else "image_network"
    images = kind in ("image_training", "image_inference")
    return frozenset(schema()["$defs"][named]["enum"]) if images or named == "language_network" else None


@cache
def _definition(name: str) -> Draft202012Validator:
    return _validator_of(schema()["$defs"][name])


@cache
def _validator(resolved: bool) -> Draft202012Validator:
    """A file that sizer wrote holds every default, and runs that were made with what changes nothing go on: it is not
    held to the rules of what makes sense."""
    rules = schema()
    if resolved:
        rules["$defs"] |= {name: True for name in rules["$defs"] if name.endswith("_rules")}
    return _validator_of(rules)


def _validator_of(rules: dict[str, Any]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # a folder is made of a table without it

    return Draft202012Validator(rules)


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
        message = Message(
            "`{name}` is not a key of {place}; {advice}",
            name=printable(name),
            place=_place(key[:-1]),
            advice=_its_place(name, key) or advised_name(name, rule["properties"]),
        )
    elif error.validator == "required":
        message = _missing(key, rule, instance)
    elif "propertyNames" in error.absolute_schema_path:
        key = (*key, instance)
        message = Message("`{name}` must be {expected}.", name=printable(instance), expected=_described(rule))
    elif error.validator == "not":
        field = next(part for part in reversed(key) if isinstance(part, str))
        name = f"{field}: {document.texts[key]}" if rule["not"] and key in document.texts else field
        message = Message("`{name}` {problem}.", name=name, problem=_described(rule))
    else:
        message = Message(
            "{subject} must be {expected}, not {found}.",
            subject=_subject(key),
            expected=_expected(rule, instance),
            found=_shown(document, key, instance),
        )
    return document.lines.get(key, 0), rank, document.input_error(key, message)


def _described(rule: Any) -> Message:
    """What the schema says of a value; `script/words` collects these descriptions from the schema itself."""
    text: str = rule["description"]
    return Message(text)


def _missing(key: Key, rule: Any, instance: dict[str, Any]) -> Message:
    name = next(name for name in rule["required"] if name not in instance)
    described = rule.get("properties", {}).get(name, {})
    if "$ref" in described:
        described = {**schema()["$defs"][described["$ref"].rpartition("/")[2]], **described}
    place = _place(key)
    meaning = _described(described)
    if "enum" not in described:
        return Message("{place} needs `{name}`, {meaning}.", place=place, name=name, meaning=meaning)
    return Message(
        "{place} needs `{name}`, {meaning}: {choices}.",
        place=place,
        name=name,
        meaning=meaning,
        choices=AnyOf(*described["enum"]),
    )


def _expected(rule: Any, instance: object) -> Message:
    """What should be there, as the schema's own descriptions and choices say it."""
    if "enum" not in rule:
        return _described(rule)
    close = difflib.get_close_matches(str(instance), rule["enum"], n=1)
    if len(rule["enum"]) == 1:
        return Message("`{choice}`", choice=rule["enum"][0])
    choices = AnyOf(*rule["enum"])
    if close:
        return Message("`{nearest}` (one of {choices})", nearest=close[0], choices=choices)
    return Message("one of {choices}", choices=choices)


def _its_place(name: str, key: Key) -> Message | None:
    """Where a key belongs that is an axis, or one of the file itself and was written further in."""
    if name in schema()["$defs"]["axes"]["properties"]:
        return Message("write `axes: {{{name}: ...}}`.", name=name)
    if len(key) == 1 or name == "workloads" or name not in schema()["properties"]:
        return None
    return Message("it belongs at the top of the file, beside `workloads`.")


def _subject(key: Key) -> Message:
    """The value in words: `memory` in axes, the study file itself at the top."""
    names = [part for part in key if isinstance(part, str)]
    if not names:
        return Message("the study file")
    if key[-1] != names[-1]:
        return Message("a workload") if names == ["workloads"] else Message("a value of `{name}`", name=names[-1])
    if len(key) == 1:
        return Message("`{name}`", name=names[-1])
    return Message("`{name}` in {place}", name=names[-1], place=_place(key[:-1]))


def _place(key: Key) -> Message:
    """The mapping that a key belongs to, in words."""
    if not key:
        return Message("the study file")
    if key[0] == "workloads" and len(key) == 2:
        return Message("a workload")
    if key[0] == "disks" and len(key) == 2:
        return Message("disk `{name}`", name=key[1])
    return Message("`{name}`", name=next(part for part in reversed(key) if isinstance(part, str)))


def _shown(document: Document, key: Key, value: object) -> str | Message:
    if isinstance(value, dict):
        return Message("a mapping") if value else Message("an empty mapping")
    if isinstance(value, list):
        return Message("a list") if value else Message("an empty list")
    text = document.texts.get(key, str(value))
    if value is None:
        return Message("nothing")
    if is_variable(key):
        return Message("what is there")
    text = printable(text)
    return f"`{text}`" if len(text) <= 60 else f"`{text[:57]}...`"
