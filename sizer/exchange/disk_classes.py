"""The class of a disk that a table only names: nvme, ssd or standard, where the name says it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.exchange.imported_columns import ParsedRow
from sizer.exchange.measurements import DISK_COLUMNS
from sizer.records.study import Note, NoteKind

_TOLD_BY = {
    "nvme": re.compile(r"\bnvme|\blocal ssds?\b|本地ssd|本地盘"),
    "ssd": re.compile(r"\b(?:e?ssds?|gp2|gp3|io1|io2|premium|pd balanced)\b|ssd云盘|固态"),
    "standard": re.compile(r"\b(?:hdds?|st1|sc1|standard|efficiency|magnetic)\b|高效云盘|普通云盘|机械"),
}
"""By words, in this order: a local SSD is NVMe in each cloud that rents one, and `Premium SSD` is no `Standard`."""


def disk_class(name: str, catalog: Catalog | None) -> str | None:
    """The class of the catalogue's tier of this name, else what the words of the name say; None where they do not."""
    plain = _plain(name)
    for offer in catalog.disks if catalog is not None else ():
        if plain in (_plain(offer.name), _plain(offer.disk_tier)):
            return offer.disk_class
    if plain == "cloud":
        # What Alibaba Cloud called its first disks.
        return "standard"
    return next((kind for kind, words in _TOLD_BY.items() if words.search(plain)), None)


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[_\-/.:()]", " ", name.lower()).split())


def with_disk_classes(parsed: Sequence[ParsedRow], catalog: Catalog | None) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows with the class of their disk where a workload has several and the name says it, and what is not known.

    A row's own class is never changed, and where the figures of a disk are given nobody needs its class.
    """
    disks: dict[str, dict[str, None]] = defaultdict(dict)
    for row in parsed:
        if row["disk"] is not None:
            disks[row["workload"]][row["disk"]] = None
    varying = {name for found in disks.values() if len(found) > 1 for name in found}
    given = {row["disk"]: row["disk_class"] for row in parsed if row["disk_class"] is not None}
    measured = {row["disk"] for row in parsed if any(row[column] is not None for column in DISK_COLUMNS)}
    lacking = [name for name in dict.fromkeys(row["disk"] for row in parsed) if name in varying - set(given)]
    inferred = {name: found for name in lacking if (found := disk_class(name, catalog)) is not None}
    classes = given | inferred
    filled = [
        replace(row, values=row.values | {"disk_class": classes[row["disk"]]})
        if row["disk_class"] is None and row["disk"] in classes
        else row
        for row in parsed
    ]
    notes = []
    if inferred:
        notes.append(Note(NoteKind.DISK_CLASS_INFERRED, names=tuple(inferred), read_as=tuple(inferred.values())))
    asked = tuple(name for name in lacking if name not in inferred and name not in measured)
    if asked:
        notes.append(Note(NoteKind.NO_DISK_CLASS, names=asked))
    return filled, tuple(notes)
