"""Records as JSON and back: the type hints of a frozen dataclass are its format."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sizer.files.own_folder import Place, read_file
from sizer.files.writing import write_text
from sizer.records.domains import Domain
from sizer.records.messages import AnyOf, HostError, InputError, Message

Record = TypeVar("Record")

Origin = str | Message
"""What a value was read from, for errors: a file's name, or a line of it."""

Way = tuple[Any, Any]
"""The way to a value in a file: that to what holds it, and its name or place there; the first is None and the origin.
Only a complaint spells it."""

Reader = Callable[[Any, Way], Any]
"""A value of a file and the way to it -> what a record holds; raises FormatError."""

_PLAIN_ALREADY = frozenset({str, int, bool})
"""Types whose values JSON has as they are; a member of an enumeration has a type of its own."""

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""JSON has no such numbers; they are written as these words and only a float may be one of them."""

LONGEST_SHOWN = 60
"""Characters of a value that a sentence shows."""


class FormatError(InputError):
    """A file is not in the form that it should have."""


def to_json(record: Any) -> dict[str, Any]:
    """The record as plain JSON values: enumerations as their values, tuples as lists, non-finite floats as words.

    The fields of a record in a field marked `FLATTENED` stand beside the others.
    """
    kind: Any = type(record)
    plain: dict[str, Any] = {}
    for name, flattened in _names(kind):
        value = _plain(getattr(record, name))
        plain |= value if flattened else {name: value}
    return plain


def from_json(cls: type[Record], data: object, where: Origin) -> Record:
    """The record that `to_json` wrote; keys that this version does not know are left out.

    Raises FormatError, which names `where` and the key, when a value is missing (also one that the record itself says
    is `lacking`), of another type or outside its domain, or when the file's `schema_version` is newer than this sizer.
    """
    newest, version = getattr(cls, "schema_version", None), data.get("schema_version") if isinstance(data, dict) else 0
    if isinstance(newest, int) and isinstance(version, int) and version > newest:
        raise FormatError(
            "{where} was written by a newer sizer (schema_version {found}, this one reads up to {known}). "
            "Upgrade sizer to read it.",
            where=where,
            found=version,
            known=newest,
        )
    record: Record = _read_record(cls, data, (None, where))
    return record


def write_json(path: Path, record: Any, place: Place | None = None) -> None:
    """Write a record, or a plain dict, whole or not at all, as `write_text` does. Raises HostError."""
    plain = to_json(record) if is_dataclass(record) else _plain(record)
    write_text(path, json.dumps(plain, indent=1, allow_nan=False) + "\n", place)


def load_json(path: Path) -> object:
    """The plain JSON value in `path`; FormatError when it is none, InputError when it cannot be read."""
    try:
        return json.loads(read_file(path), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise InputError("{path}: there is no such file.", path=path) from None
    except OSError as error:
        raise HostError("{path} cannot be read ({reason}).", path=path, reason=error.strerror or error) from error
    except RecursionError:
        raise FormatError("{path} is nested too deeply to be one of sizer's files.", path=path) from None
    except ValueError as error:
        raise FormatError(
            "{path} is not JSON ({error}); it may have been cut short or edited.", path=path, error=error
        ) from None


def _refuse_constant(word: str) -> object:
    raise ValueError(f"{word} is not a JSON number")


@cache
def _names(cls: type) -> tuple[tuple[str, bool], ...]:
    """Of each field of a record that files have its name, and whether its own fields stand beside the others."""
    return tuple(
        (field.name, bool(field.metadata.get("flattened")))
        for field in fields(cls)
        if field.metadata.get("stored", True)
    )


def _plain(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in _PLAIN_ALREADY or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        return to_json(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _read_record(cls: Any, data: object, way: Way) -> Any:
    if not isinstance(data, dict):
        raise _mismatch(way, Message("an object ({name})", name=cls.__name__), data)
    values = {}
    for name, read, flattened, needed in _readers(cls):
        if flattened:
            values[name] = read(data, way)
        elif name in data:
            values[name] = read(data[name], (way, name))
        elif needed:
            raise _missing((way, name))
    record = cls(**values)
    lacking = getattr(record, "lacking", None)
    if lacking is not None:
        raise _missing((way, lacking))
    return record


@cache
def _readers(cls: Any) -> tuple[tuple[str, Reader, bool, bool], ...]:
    """As `_names`, with how each is read, and whether a file must have it."""
    hints = get_type_hints(cls, include_extras=True)
    needed = {field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING}
    return tuple((name, _reader(hints[name]), flattened, name in needed) for name, flattened in _names(cls))


@cache
def _reader(hint: Any) -> Reader:
    """What reads a value as its type hint says; the hints are the few that records use."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return partial(_in_domain, _reader(arguments[0]), arguments[1])
    if origin in (Union, types.UnionType):
        return partial(_read_one_of, [_reader(choice) for choice in arguments if choice is not type(None)])
    if origin is tuple:
        return partial(
            _read_tuple, [_reader(argument) for argument in arguments if argument is not ...], arguments[-1] is ...
        )
    if origin in (dict, Mapping):
        return partial(_read_mapping, _reader(arguments[1]))
    if is_dataclass(hint):
        return partial(_read_record, hint)
    if hint is Any:
        return lambda value, _way: value
    if issubclass(hint, Enum):
        return partial(_read_member, {member.value: member for member in hint})
    return partial(_read_scalar, hint, *_SCALARS[hint])


def _in_domain(read: Reader, domain: Domain, value: object, way: Way) -> Any:
    inner = read(value, way)
    if not domain.holds(inner):
        raise _mismatch(way, domain.wanted, value)
    return inner


def _read_one_of(choices: Sequence[Reader], value: object, way: Way) -> Any:
    """None, or the first of a union that reads the value; the complaint is that of the last."""
    if value is None:
        return None
    for read in choices[:-1]:
        with suppress(FormatError):
            return read(value, way)
    return choices[-1](value, way)


def _read_mapping(read: Reader, value: object, way: Way) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _mismatch(way, Message("an object"), value)
    return {name: read(item, (way, name)) for name, item in value.items()}


def _read_tuple(readers: Sequence[Reader], any_length: bool, value: object, way: Way) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise _mismatch(way, Message("a list"), value)
    if any_length:
        read = readers[0]
        return tuple([read(item, (way, index)) for index, item in enumerate(value)])
    if len(readers) != len(value):
        raise _mismatch(way, Message("a list of {count}", count=len(readers)), value)
    return tuple(read(item, (way, index)) for index, (read, item) in enumerate(zip(readers, value, strict=True)))


def _read_member(members: Mapping[str, Enum], value: object, way: Way) -> Enum:
    if not isinstance(value, str) or value not in members:
        raise _mismatch(way, Message("one of {choices}", choices=AnyOf(*members)), value)
    return members[value]


_SCALARS: dict[type, tuple[tuple[type, ...], Message]] = {
    str: ((str,), Message("text")),
    bool: ((bool,), Message("true or false")),
    int: ((int,), Message("a whole number")),
    float: ((int, float), Message("a number")),
}
"""The types that a value may have in a file where a record has this one, and what it must be in words."""


def _read_scalar(kind: type, types_taken: tuple[type, ...], wanted: Message, value: Any, way: Way) -> Any:
    if type(value) is kind:
        return value
    if kind is float and isinstance(value, str):
        value = NOT_FINITE.get(value, value)
    if not isinstance(value, types_taken) or isinstance(value, bool):
        raise _mismatch(way, wanted, value)
    try:
        return kind(value)
    except OverflowError:
        raise _mismatch(way, Message("a number that fits a float"), value) from None


def _missing(way: Way) -> FormatError:
    where, key = _spelt(way)
    return FormatError("{where}: {key} is missing.", where=where, key=key)


def _mismatch(way: Way, expected: Message, value: object) -> FormatError:
    where, key = _spelt(way)
    shown = _shown(value)
    if not key:
        return FormatError("{where}: expected {expected}, found {found}.", where=where, expected=expected, found=shown)
    return FormatError(
        "{where}: {key}: expected {expected}, found {found}.", where=where, key=key, expected=expected, found=shown
    )


def _shown(value: object) -> str | Message:
    if isinstance(value, dict):
        return Message("an object")
    if isinstance(value, list):
        return Message("a list")
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def _spelt(way: Way) -> tuple[Origin, str]:
    """Where a value was read, and the way to it: `members[2].weight`."""
    before, name = way
    if before is None:
        return name, ""
    where, key = _spelt(before)
    return where, f"{key}[{name}]" if isinstance(name, int) else f"{key}.{name}" if key else name
