"""One JSON object -> one catalogue record, or a sentence that names the field that is wrong."""

from __future__ import annotations

import types
import typing
from functools import cache
from typing import Any, TypeVar

from sizer.records import LARGEST, InputError

Record = TypeVar("Record")


def checked(kind: type[Record], entry: object, where: str) -> Record:
    """The record that `entry` holds; InputError starts with `where` and names the field."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: {_short(entry)} is not an object")
    hints = _hints(typing.cast(Any, kind))
    unknown = sorted(set(entry) - set(hints))
    if unknown:
        raise InputError(f"{where}: unknown field `{unknown[0][:60]}`")
    missing = sorted(name for name in hints if name not in entry and not _optional(hints[name]))
    if missing:
        raise InputError(f"{where}: field `{missing[0]}` is missing")
    return kind(**{name: _field(hint, entry.get(name), f"{where}: field `{name}`") for name, hint in hints.items()})


@cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)


def _optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union)


def _field(hint: Any, value: object, where: str) -> object:
    """The value of a field by its type hint: text, or a number in a domain, each perhaps optional."""
    if _optional(hint):
        if value is None:
            return None
        hint = next(argument for argument in typing.get_args(hint) if argument is not type(None))
    if hint is str:
        if not isinstance(value, str) or not value:
            raise InputError(f"{where} is {_short(value)}, it must be a text")
        return value
    kind, domain = typing.get_args(hint)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not domain.holds(value):
        raise InputError(f"{where} is {_short(value)}, it must be {domain.words}")
    if kind is int and value != int(value):
        raise InputError(f"{where} is {_short(value)}, it must be a whole number")
    return kind(value)


def _short(value: object) -> str:
    """A value as Python writes it, cut where it is long; a number may have more digits than Python writes."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a number too large"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
