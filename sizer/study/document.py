"""A YAML text as plain values that still know the line they came from."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

from sizer.records.messages import InputError, Message, SizerError, printable

Parsed = TypeVar("Parsed")
Key = tuple[str | int, ...]
"""The way to a value: `("workloads", 0, "kind")`."""

MAX_CHARACTERS = 1_000_000
MAX_VALUES = 20_000
"""Aliases count each time they are used, so a file that unfolds into billions of values ends here."""
MAX_DEPTH = 16
LARGEST = 1e30
"""Larger numbers mean nothing in a study: bytes and counts end far below. Python neither turns whole numbers of more
than 308 digits into floats nor writes those of more than 4,300."""
TAG = "tag:yaml.org,2002:"
RESOLVED = "# The study with every default filled in, as sizer measures it.\n"
"""The first line of a study file that sizer wrote."""


@dataclass(frozen=True)
class Document:
    """The values of a file. `lines` and `texts` hold the line of each value and, of single ones, the spelling.

    `resolved` says that sizer wrote it, with every default filled in.
    """

    where: str
    data: Any = None
    lines: dict[Key, int] = field(default_factory=dict)
    texts: dict[Key, str] = field(default_factory=dict)
    resolved: bool = False

    def input_error(self, key: Key, message: str | Message | SizerError, /, **values: object) -> InputError:
        """An error at the value of that key, or at the nearest value around it that the file holds.

        `message` is a sentence with named placeholders, whose values follow, or a message or error made already.
        """
        while key and key not in self.lines:
            key = key[:-1]
        seen = {name: printable(value) if isinstance(value, str) else value for name, value in values.items()}
        problem = Message(message, **seen) if isinstance(message, str) else message
        line = self.lines.get(key, 1)
        return InputError("{where} line {line}: {problem}", where=self.where, line=line, problem=problem)

    @contextmanager
    def errors_at(self, key: Key) -> Iterator[None]:
        """What an InputError says, at the value of that key."""
        try:
            yield
        except InputError as error:
            raise self.input_error(key, error) from None

    def entry(self, *key: str | int) -> Entry:
        """The mapping at a key; an empty one where the file has none."""
        data = self.data
        for part in key:
            data = data.get(part, {}) if isinstance(data, dict) else data[part]
        return Entry(self, key, data)

    def locate(self, path: str) -> str:
        """The absolute path that a path in the file means: it is taken from the folder that the file lies in.

        Raises InputError where that folder's own name could not be in a study file.
        """
        located = os.path.abspath(os.path.join(os.path.dirname(self.where), os.path.expanduser(path)))
        if not located.isprintable():
            raise InputError(
                "{where} is in a folder whose name cannot be printed; move it, or write absolute paths.",
                where=self.where,
            )
        return located


@dataclass(frozen=True)
class Entry:
    """One mapping of a file, by whose keys its values, their spelling and complaints about them are found."""

    document: Document
    key: Key
    data: dict[str, Any]

    def __contains__(self, name: str) -> bool:
        return name in self.data

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self.data.get(name, default)

    def at(self, *names: str | int) -> Entry:
        """A mapping in this one; an empty one where there is none."""
        return self.document.entry(*self.key, *names)

    def text(self, *names: str | int) -> str:
        """A single value as it is spelled in the file."""
        return self.document.texts[self.key + names]

    def input_error(self, name: str, message: str, /, **values: object) -> InputError:
        """An error at the value of that key; of the whole mapping for ''."""
        return self.document.input_error((*self.key, name), message, **values)

    def errors_at(self, *names: str | int) -> AbstractContextManager[None]:
        """What an InputError says, at the value of that key."""
        return self.document.errors_at((*self.key, *names))

    def parsed(self, name: str, parse: Callable[[str], Parsed]) -> Parsed:
        """What is read from the text as it stands, as from one that is typed at the command line."""
        with self.errors_at(name):
            return parse(self.text(name))


def read_document(text: str, where: str) -> Document:
    """Read one YAML document; raises InputError with its line for all that is not plain YAML.

    Keys are text as written. Duplicate keys, tags, and numbers that are not finite are refused.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            "{where} is longer than {most} characters, the limit for a study file; shorten it.",
            where=where,
            most=f"{MAX_CHARACTERS:,}",
        )
    _refuse_unseen(text, where)
    root = _compose(text, where)
    if root is None:
        raise InputError("{where} is empty; `sizer init` writes a commented study file to start from.", where=where)
    reader = _Reader(Document(where))
    data = reader.read(root, ())
    return Document(where, data, reader.document.lines, reader.document.texts, text.startswith(RESOLVED))


def _compose(text: str, where: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _unprintable(where, line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise InputError(
            "{where} line {line} is not YAML: {reason}.", where=where, line=line, reason=_reason(error)
        ) from None
    except RecursionError:
        raise InputError("{where} is nested too deeply for a study file.", where=where) from None
    except (ValueError, OverflowError, yaml.YAMLError) as error:
        raise InputError("{where} is not YAML: {error}", where=where, error=error) from None


def _refuse_unseen(text: str, where: str) -> None:
    """Raise InputError for what steers a terminal, turns the order of a line round, or ends one unseen.

    In a comment, too: a person who reads the file must see what is run (Boucher and Anderson 2021, "Trojan Source").
    """
    plain = printable(text, keep="\n\t\r")
    if plain == text:
        return
    position = next(i for i, (old, new) in enumerate(zip(text, plain, strict=False)) if old != new)
    raise _unprintable(where, text.count("\n", 0, position) + 1)


def _unprintable(where: str, line: int) -> InputError:
    return InputError("{where} line {line}: a character that cannot be printed; remove it.", where=where, line=line)


def _reason(error: yaml.MarkedYAMLError) -> str | Message:
    problem = error.problem or ""
    if r"'\t'" in problem:
        return Message("a tab is used for indentation; indent with spaces")
    if "single document" in (error.context or "") or "another document" in problem:
        return Message("a second document begins; a study file is one document")
    return " ".join(part for part in (error.context, problem) if part)


class _Reader:
    """Walks the nodes once, filling the document's lines and texts."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._values = 0
        self._scalars = yaml.constructor.SafeConstructor()

    def read(self, node: yaml.Node, key: Key, line: int | None = None) -> Any:
        self._values += 1
        self.document.lines[key] = line or node.start_mark.line + 1
        if self._values > MAX_VALUES or len(key) > MAX_DEPTH:
            raise self.document.input_error(
                key, "the aliases here expand to more values than a study file may have; write it without aliases."
            )
        if isinstance(node, yaml.MappingNode):
            self._check_tag(node, key, ("map",))
            return self._mapping(node, key)
        if isinstance(node, yaml.SequenceNode):
            self._check_tag(node, key, ("seq",))
            return [self.read(item, (*key, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, key)

    def _mapping(self, node: yaml.MappingNode, key: Key) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name_node, value_node in node.value:
            line = name_node.start_mark.line + 1
            if not isinstance(name_node, yaml.ScalarNode):
                self.document.lines[key] = line
                raise self.document.input_error(key, "a key must be a single word.")
            place = (*key, name_node.value)
            name = self._text(name_node.value, place, line)
            if name in values:
                first = self.document.lines[place]
                self.document.lines[place] = line
                raise self.document.input_error(
                    place, "`{name}` is already on line {first}; remove one of them.", name=name, first=first
                )
            values[name] = self.read(value_node, place, line)
        return values

    def _scalar(self, node: yaml.Node, key: Key) -> Any:
        self._check_tag(node, key, ("null", "bool", "int", "float", "str", "timestamp", "value", "merge"))
        text = self._text(node.value, key, self.document.lines[key])
        self.document.texts[key] = text
        kind = node.tag.removeprefix(TAG)
        # YAML 1.1 reads 1:30 as ninety and 2024-01-01 as a date; a study has neither.
        if kind in ("str", "timestamp", "value", "merge") or (kind in ("int", "float") and ":" in text):
            return text
        try:
            value = self._scalars.construct_object(node)
        except (ValueError, KeyError, OverflowError, yaml.YAMLError):
            raise self.document.input_error(
                key, "{text} cannot be read as a YAML {kind}; write another value.", text=_short(text, key), kind=kind
            ) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.document.input_error(
                key, "{text} is not a finite number; write another value.", text=_short(text, key)
            )
        if isinstance(value, (int, float)) and abs(value) > LARGEST:
            if is_variable(key):
                return text
            raise self.document.input_error(
                key,
                "{text} is too large for `{field}`; write a smaller number, or quotes around a text.",
                text=_short(text, key),
                field=next((part for part in reversed(key) if isinstance(part, str)), ""),
            )
        return value

    def _check_tag(self, node: yaml.Node, key: Key, allowed: tuple[str, ...]) -> None:
        if node.tag not in (TAG + name for name in allowed):
            raise self.document.input_error(
                key, "the tag {tag} has no meaning in a study file; remove it.", tag=_short(node.tag)
            )

    def _text(self, text: str, key: Key, line: int) -> str:
        # By an escape such as "\u202e", what no text may hold comes into a value unseen.
        if not all(character.isprintable() or character in "\n\t" for character in text):
            self.document.lines[key] = line
            raise self.document.input_error(key, "a character that cannot be printed; remove it.")
        return text


def is_variable(key: Key) -> bool:
    """Whether a value is one of `env`: it may be a secret, so no sentence shows it."""
    return len(key) > 1 and key[-2] == "env"


def _short(text: str, key: Key = ()) -> str | Message:
    if is_variable(key):
        return Message("the value")
    return repr(text if len(text) <= 40 else text[:37] + "...")
