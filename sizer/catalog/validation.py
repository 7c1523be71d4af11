"""One JSON object -> one catalogue record, or a sentence that names the field that is wrong."""

from __future__ import annotations

import math
import types
import typing
from typing import Any, TypeVar

from sizer.errors import InputError

Record = TypeVar("Record")


def checked(kind: type[Record], entry: object, where: str) -> Record:
    """The record that `entry` holds; InputError starts with `where` and names the field."""
    if not isinstance(entry, dict):
        raise InputError(f"{where}: {entry!r} is not an object")
    hints = _hints(kind)
    unknown = sorted(set(entry) - set(hints))
    if unknown:
        raise InputError(f"{where}: unknown field `{unknown[0]}`")
    missing = sorted(name for name in hints if name not in entry and not _optional(hints[name]))
    if missing:
        raise InputError(f"{where}: field `{missing[0]}` is missing")
    return kind(**{name: _field(hint, entry.get(name), f"{where}: field `{name}`") for name, hint in hints.items()})


def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _optional(hint: Any) -> bool:
    return typing.get_origin(hint) in (types.UnionType, typing.Union)


def _field(hint: Any, value: object, where: str) -> object:
    if _optional(hint):
        if value is None:
            return None
        hint = next(argument for argument in typing.get_args(hint) if argument is not type(None))
    if hint is str:
        if not isinstance(value, str) or not value:
            raise InputError(f"{where} is {value!r}, it must be a text")
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise InputError(f"{where} is {value!r}, it must be a number of 0 or more")
    if hint is int and value != int(value):
        raise InputError(f"{where} is {value!r}, it must be a whole number")
    return int(value) if hint is int else float(value)
