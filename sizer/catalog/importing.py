"""Files of instance types, disk tiers or accelerator rates, in sizer's own columns or as others publish them."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sizer.catalog.importers import (
    aws_price_list,
    ec2instances,
    gpuhunt,
    karpenter,
    own,
    skypilot,
    spare_cores,
    three_columns,
)
from sizer.catalog.importers.given import Given
from sizer.catalog.machines import Entry, database_of
from sizer.records.messages import InputError, quoted

FORMS = (spare_cores, karpenter, skypilot, gpuhunt, ec2instances, aws_price_list, three_columns)
"""What others publish, in the order in which it is tried; all else is a table with sizer's own columns."""


@dataclass(frozen=True)
class Offers:
    """The rows of one kind, of `own.KINDS`, that files hold together, each checked."""

    kind: str
    entries: tuple[Entry, ...]

    def csv(self) -> str:
        """As a table with the columns of sizer's own files: those that are needed, and those that have a figure."""
        columns = dict.fromkeys((*own.COLUMNS[self.kind], *own.NEEDED[self.kind]))
        filled = {name for entry in self.entries for name, value in entry.cells.items() if value is not None}
        names = [name for name in columns if name in filled or name in own.NEEDED[self.kind]]
        text = io.StringIO()
        rows = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        rows.writerows(entry.cells for entry in self.entries)
        return text.getvalue()


def read(paths: Sequence[str | Path], provider: str = "", as_of: str = "") -> Offers:
    """What these files hold together; `provider` and `as_of` are theirs where they do not say it themselves.

    InputError names the file and the line of what is wrong, and files of two kinds.
    """
    collected: list[Entry] = []
    kinds: dict[str, str | Path] = {}
    for path in paths:
        kind, entries = read_file(Given(Path(path), provider, as_of))
        kinds.setdefault(kind, path)
        collected += entries
    if len(kinds) > 1:
        one, other, *_ = kinds.values()
        raise InputError(
            "{one} and {other} hold entries of two kinds; import one kind at a time.", one=one, other=other
        )
    return Offers(next(iter(kinds)), tuple(collected))


def read_file(given: Given) -> tuple[str, list[Entry]]:
    """The kind of one file and its rows, each checked."""
    form = next((form for form in FORMS if form.reads(given)), None)
    if form is None and not given.header and given.json is not None:
        raise InputError("{path} is JSON of a form that sizer does not read; give a table (CSV).", path=given.path)
    if form is None:
        kind, entries = own.read(given.text, given.path)
    else:
        kind, entries = "instance_type", list(form.entries(given))
        if not entries:
            raise InputError("{path} has no instance type that sizer can compare.", path=given.path)
    if kind == "samples_per_second":
        for entry in entries:
            own.rate(entry)
    else:
        database_of("instances" if kind == "instance_type" else "disks", entries).close()
        _check_once(kind, entries)
    return kind, entries


def _check_once(kind: str, entries: Sequence[Entry]) -> None:
    """That no type has two prices in a region, nor a disk tier two of all its figures."""
    places: dict[tuple[object, ...], Entry] = {}
    for entry in entries:
        before = places.setdefault(key_of(kind, entry), entry)
        if before is not entry:
            raise InputError(
                "{where} has {name} again, as {before}; leave one of them out, or give each its region.",
                where=entry.where,
                name=quoted(str(entry.cells[kind])),
                before=before.where,
            )


KEYS = {
    "instance_type": ("provider", "instance_type", "region"),
    "disk_tier": ("provider", "disk_tier"),
    "samples_per_second": ("mode", "network", "gpu", "precision", "batch_size", "framework", "source"),
}
"""By these an entry is the same as another."""


def key_of(kind: str, entry: Entry) -> tuple[object, ...]:
    return tuple(entry.cells.get(name) for name in KEYS[kind])
