"""A price list as it was given: its text, its table or its JSON, and what sizer's own catalogue knows of its types."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name
from sizer.catalog.machines import Entry, columns, plain_name, shipped
from sizer.files.given_files import read_given
from sizer.files.tables import header_of, table_in
from sizer.records.messages import InputError, Message, quoted

SQLITE = b"SQLite format 3\0"
_PRICE = ("price_per_hour", "spot_per_hour", "spot_saving_pct", "currency", "as_of", "source", "region", "confidence")
"""Columns that are no part of what a machine is."""
_UNKNOWN = ("", "-", "n/a", "na", "none", "null", "unknown")
"""What stands where there is no figure."""
_WHOLE_GPU = 0.85
"""Of the memory of a GPU, what a whole one has at the least, counted in GiB or GB."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(,\d{3})+(\.\d*)?")


@dataclass(frozen=True)
class Given:
    """A file; `provider` and `as_of` are what its reader was told beside it, empty where nothing was said."""

    path: Path
    provider: str = ""
    as_of: str = ""

    @cached_property
    def is_sqlite(self) -> bool:
        """Whether it is a database; a pipe is none."""
        if not self.path.is_file():
            return False
        with self.path.open("rb") as file:
            return file.read(len(SQLITE)) == SQLITE

    @cached_property
    def text(self) -> str:
        return read_given(self.path, Message("a price list"))

    @cached_property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of a table; empty for anything else."""
        if self.is_sqlite:
            return ()
        return () if self.text.lstrip()[:1] in "{[/" else header_of(self.text)

    def rows(self) -> Iterator[tuple[Message, dict[str, str]]]:
        """Where each row stands, and its cells by column. InputError names one with more cells or fewer."""
        for row in table_in(self.text, self.path, (), (), sys.maxsize).rows:
            yield row.where, row.cells

    def line(self, number: int) -> Message:
        return Message("{path} line {line}", path=self.path, line=number)

    def item(self, number: int) -> Message:
        """Of a list that has no lines."""
        return Message("{path} item {item}", path=self.path, item=number)

    def items(self, content: Any) -> Iterator[tuple[Message, Mapping[str, Any]]]:
        """Where each object of a list stands, counted from 1. InputError names one that is none."""
        for place, item in enumerate(content, start=1):
            where = self.item(place)
            yield where, as_object(where, item)

    @cached_property
    def json(self) -> Any:
        """None where it is no JSON; of several values one after another a list of them. InputError names the line where
        it begins as JSON and is none."""
        text, values, at = self.text, [], 0
        decoder = json.JSONDecoder()
        try:
            while at < len(text.rstrip()):
                at += len(text[at:]) - len(text[at:].lstrip())
                value, at = decoder.raw_decode(text, at)
                values.append(value)
        except (ValueError, RecursionError) as error:
            if text.lstrip()[:1] not in ("{", "["):
                return None
            where = self.line(getattr(error, "lineno", 1))
            raise InputError("{where}: this is no JSON; correct it.", where=where) from None
        return values if len(values) > 1 else next(iter(values), None)

    def entry(self, where: Message, source: str, cells: Mapping[str, object]) -> Entry:
        """A row with the figures that it lacks filled in from sizer's own catalogue, where that has the type.

        InputError for a cell of JSON that is neither a text nor a number.
        """
        provider = str(cells.get("provider") or self.provider)
        figures = shape(str(cells.get("instance_type") or ""), provider)
        given = {name: value for name, value in cells.items() if value not in (None, "")}
        for name, value in given.items():
            if not isinstance(value, (str, int, float)):
                raise InputError("{where}: {name} is neither a text nor a number; correct it.", where=where, name=name)
        merged: dict[str, object] = {"source": source, **figures, "as_of": self.as_of, **given}
        return Entry(where, {**merged, "provider": figures.get("provider") or provider or "unknown"})


def as_object(where: Message, value: Any) -> Mapping[str, Any]:
    """A value of JSON that has names. InputError where it has none."""
    if not isinstance(value, Mapping):
        raise InputError("{where} is no object with names and values; correct it.", where=where)
    return value


def part(where: Message, whole: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object of that name, empty where there is none. InputError where it is something else."""
    value = whole.get(name)
    return {} if value is None else as_object(Message("{where}: {name}", where=where, name=name), value)


def number(where: Message, column: str, text: object) -> float | None:
    """The number in a cell, None for one that says that there is none; InputError names its line for anything else."""
    plain = "" if text is None else str(text).strip().removeprefix("$")
    if plain.lower() in _UNKNOWN:
        return None
    try:
        value = float(plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain)
    except ValueError:
        raise InputError(
            "{where}: {column}: {text} is not a number; correct it.", where=where, column=column, text=quoted(str(text))
        ) from None
    return None if value != value else value


def gpus(name: object, count: float | None, memory_gib: float | None) -> dict[str, object]:
    """The cells of a machine's GPUs. A part of a GPU is no GPU; some lists' memory is that of all of a machine."""
    if not name or not count:
        return {"gpu": name, "gpu_count": count}
    sizes = GPU_MEMORY_GB.get(read_gpu_name(str(name)).model, ())
    if memory_gib and sizes and memory_gib < _WHOLE_GPU * min(sizes):
        count = 0
    elif memory_gib and count > 1 and memory_gib > max(sizes, default=memory_gib):
        memory_gib /= count
    return {"gpu": name, "gpu_count": count, "gpu_memory_gib": memory_gib or None}


def cpu_arch(said: object) -> str | None:
    """Of what a list says of it, `ARM64` or `arm64_mac`; None where it says nothing."""
    name = str(said or "").lower()
    return "arm64" if "arm" in name or "graviton" in name else "x86_64" if name else None


@cache
def _names() -> Mapping[str, sqlite3.Row]:
    """What sizer's own catalogue knows of each type, by its name and by that with its provider."""
    cursor = shipped().execute(f"select {', '.join(columns('instances'))} from instances")
    cursor.row_factory = sqlite3.Row
    named: dict[str, sqlite3.Row] = {}
    for row in cursor:
        for name in (row["instance_type"], f"{row['provider']} {row['instance_type']}"):
            named[plain_name(name)] = row
    return named


def shape(name: str, provider: str = "") -> dict[str, object]:
    """What sizer's own catalogue knows of a type but its price; empty for one that it does not know."""
    row = _names().get(plain_name(f"{provider} {name}" if provider else name))
    if row is None:
        return {}
    cells = zip(columns("instances"), row, strict=True)
    return {column: value for column, value in cells if column not in _PRICE and value is not None}


def least(entries: Iterator[Entry]) -> Iterator[Entry]:
    """Of each type and region the entry with the least price, with the least spot price of all its zones."""
    cheapest: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        key = tuple(entry.cells.get(name) for name in ("provider", "instance_type", "region"))
        before = cheapest.get(key)
        if before is not None:
            cells = {**before.cells, **entry.cells}
            for price in ("price_per_hour", "spot_per_hour"):
                both = [one.cells[price] for one in (before, entry) if one.cells.get(price) is not None]
                cells[price] = min(both, default=None)  # type: ignore[type-var]
            entry = Entry(before.where, cells)
        cheapest[key] = entry
    return iter(cheapest.values())
