"""Records as JSON and back: the type hints of a frozen dataclass are its format."""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

from sizer.files.own_folder import Place, read_file
from sizer.files.writing import write_text
from sizer.records.domains import Domain
from sizer.records.errors import HostError, InputError
from sizer.records.messages import AnyOf, Message

Record = TypeVar("Record")

Origin = str | Message
"""What a value was read from, for errors: a file's name, or a line of it."""

Way = tuple[Any, str | int] | None
"""The way to a value in a file: that to what holds it, and its name or place there. Only a complaint spells it."""

Reader = Callable[[object, Origin, Way], Any]
"""A value of a file, the file's name and the way to the value in it -> what a record holds; raises FormatError."""

_PLAIN_ALREADY = frozenset({str, int, bool})
"""Types whose values JSON has as they are; a member of an enumeration has a type of its own."""

NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""JSON has no such numbers; they are written as these words and only a float may be one of them."""


LONGEST_SHOWN = 60
"""Characters of a value that a sentence shows."""


class FormatError(InputError):
    """A file is not in the form that it should have."""


def to_json(record: Any) -> dict[str, Any]:
    """The record as plain JSON values: enumerations as their values, tuples as lists, non-finite floats as words."""
    kind: Any = type(record)
    return {name: _plain(getattr(record, name)) for name in _names(kind)}


def from_json(cls: type[Record], data: object, where: Origin) -> Record:
    """The record that `to_json` wrote; keys that this version does not know are left out.

    Raises FormatError, which names `where` and the key, when a value is missing (also one that the record itself says
    is `lacking`), of another type or outside its domain, or when the file's `schema_version` is newer than this sizer.
    """
    return _read_record(cls, data, where, None)


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
def _names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls) if _is_stored(field))


def _is_stored(field: Field[Any]) -> bool:
    """Whether a field of a record is written: secrets are not."""
    return bool(field.metadata.get("stored", True))


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


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls, include_extras=True)


@dataclass(frozen=True)
class _Field:
    """One field of a record: how its value is read, and its default where a file has none."""

    name: str
    read: Reader
    needed: bool
    default: Any


@cache
def _record_fields(cls: type) -> tuple[_Field, ...]:
    hints = _hints(cls)
    return tuple(
        _Field(
            field.name,
            _reader(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
            field.default,
        )
        for field in fields(cls)
        if _is_stored(field)
    )


def _read_record(cls: type[Record], data: object, where: Origin, key: Way) -> Record:
    if not isinstance(data, dict):
        raise _mismatch(where, key, Message("an object ({name})", name=cls.__name__), data)
    kind: Any = cls
    values: dict[str, Any] = {}
    for field in _record_fields(kind):
        name = field.name
        if name in data:
            values[name] = field.read(data[name], where, (key, name))
            if name == "schema_version":
                _check_version(values[name], field.default, where)
        elif field.needed:
            raise FormatError("{where}: {key} is missing.", where=where, key=_spelt((key, name)))
    record = cls(**values)
    lacking = getattr(record, "lacking", None)
    if lacking is not None:
        raise FormatError("{where}: {key} is missing.", where=where, key=_spelt((key, lacking)))
    return record


def _check_version(found: int, known: Any, where: Origin) -> None:
    if found > known:
        raise FormatError(
            "{where} was written by a newer sizer (schema_version {found}, this one reads up to {known}). "
            "Upgrade sizer to read it.",
            where=where,
            found=found,
            known=known,
        )


@cache
def _reader(hint: Any) -> Reader:
    """What reads a value as its type hint says; the hints are the few that records use."""
    origin = get_origin(hint)
    if origin is Annotated:
        inner, domain = get_args(hint)
        return _in_domain(_reader(inner), domain)
    if origin in (Union, types.UnionType):
        choices = [_reader(choice) for choice in get_args(hint) if choice is not type(None)]
        return _optional(choices[0] if len(choices) == 1 else _first_that_reads(choices))
    if origin is tuple:
        return _tuple(get_args(hint))
    if origin in (dict, Mapping):
        return _mapping(_reader(get_args(hint)[1]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return partial(_read_record, hint)
    if hint is Any:
        return lambda value, _where, _key: value
    return _SCALARS[hint]


def _in_domain(read: Reader, domain: Domain) -> Reader:
    def reader(value: object, where: Origin, key: Way) -> Any:
        found = read(value, where, key)
        if not domain.holds(found):
            raise _mismatch(where, key, domain.wanted, value)
        return found

    return reader


def _optional(read: Reader) -> Reader:
    return lambda value, where, key: None if value is None else read(value, where, key)


def _first_that_reads(choices: Sequence[Reader]) -> Reader:
    """Of a union, in its order."""

    def reader(value: object, where: Origin, key: Way) -> Any:
        for read in choices:
            try:
                return read(value, where, key)
            except FormatError as error:
                refused = error
        raise refused

    return reader


def _mapping(read: Reader) -> Reader:
    def reader(value: object, where: Origin, key: Way) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(where, key, Message("an object"), value)
        return {name: read(item, where, (key, name)) for name, item in value.items()}

    return reader


def _tuple(arguments: tuple[Any, ...]) -> Reader:
    any_length = arguments[-1] is Ellipsis
    readers = [_reader(argument) for argument in arguments if argument is not Ellipsis]

    def reader(value: object, where: Origin, key: Way) -> Any:
        if not isinstance(value, list):
            raise _mismatch(where, key, Message("a list"), value)
        if not any_length and len(readers) != len(value):
            raise _mismatch(where, key, Message("a list of {count}", count=len(readers)), value)
        if any_length:
            read = readers[0]
            return tuple([read(item, where, (key, index)) for index, item in enumerate(value)])
        pairs = zip(readers, value, strict=True)
        return tuple([read(item, where, (key, index)) for index, (read, item) in enumerate(pairs)])

    return reader


def _enum(hint: type[Enum]) -> Reader:
    members = {member.value: member for member in hint if isinstance(member.value, str)}

    def reader(value: object, where: Origin, key: Way) -> Enum:
        member = members.get(value) if isinstance(value, str) else None
        if member is None:
            raise _not_of(hint, value, where, key)
        return member

    return reader


def _not_of(hint: type[Enum], value: object, where: Origin, key: Way) -> FormatError:
    return _mismatch(where, key, Message("one of {choices}", choices=AnyOf(*(each.value for each in hint))), value)


def _read_text(value: object, where: Origin, key: Way) -> str:
    if not isinstance(value, str):
        raise _mismatch(where, key, Message("text"), value)
    return value


def _read_truth(value: object, where: Origin, key: Way) -> bool:
    if not isinstance(value, bool):
        raise _mismatch(where, key, Message("true or false"), value)
    return value


def _read_count(value: object, where: Origin, key: Way) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise _mismatch(where, key, Message("a whole number"), value)
    return value


def _read_number(value: object, where: Origin, key: Way) -> float:
    if isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise _mismatch(where, key, Message("a number"), value)
    try:
        return float(value)
    except OverflowError:
        raise _mismatch(where, key, Message("a number that fits a float"), value) from None


_SCALARS: dict[Any, Reader] = {
    str: _read_text,
    bool: _read_truth,
    int: _read_count,
    float: _read_number,
}


def _mismatch(where: Origin, key: Way, expected: Message, found: object) -> FormatError:
    shown = _shown(found)
    if key is None:
        return FormatError("{where}: expected {expected}, found {found}.", where=where, expected=expected, found=shown)
    return FormatError(
        "{where}: {key}: expected {expected}, found {found}.",
        where=where,
        key=_spelt(key),
        expected=expected,
        found=shown,
    )


def _shown(value: object) -> str | Message:
    if isinstance(value, dict):
        return Message("an object")
    if isinstance(value, list):
        return Message("a list")
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def _spelt(way: Way) -> str:
    """`members[2].weight`."""
    if way is None:
        return ""
    before, last = _spelt(way[0]), way[1]
    return f"{before}[{last}]" if isinstance(last, int) else f"{before}.{last}" if before else last
