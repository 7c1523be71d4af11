"""Rows that name an instance type of the catalogue: what they leave empty of the machine is filled in from there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog import Catalog, InstanceType, same_gpu
from sizer.exchange.imported_columns import ParsedRow
from sizer.records import GIB, Note, NoteKind

GB = 10**9
ALIKE = 0.005
"""Sizes of machines are rounded to whole GiB by who writes of them; GB and GiB differ by 7 %."""
FILLED = ("vcpus", "memory_gib", "gpu", "gpu_count")


def with_known_machines(parsed: Sequence[ParsedRow], catalog: Catalog) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows with the catalogue's figures in cells that they leave empty, and what was filled in."""
    offers = [_offer(row, catalog) for row in parsed]
    filled: list[ParsedRow] = []
    found: dict[str, set[str]] = defaultdict(set)
    unknown: dict[str, None] = {}
    in_gib: dict[str, None] = {}
    for row, offer in zip(parsed, offers, strict=True):
        values = _filled(row, offer) if offer is not None else {}
        if offer is not None and _means_gib(row, offer):
            values["memory_gib"] = offer.memory_bytes
            in_gib[offer.instance_type] = None
        filled.append(replace(row, values=row.values | values))
        if offer is not None and (set(values) - set(row.values)) & set(FILLED):
            found[offer.instance_type] |= set(values) - set(row.values)
        if offer is None and row["instance_type"] is not None and row["vcpus"] is None:
            unknown[row["instance_type"]] = None
    notes = []
    if found:
        columns = tuple(column for column in FILLED if any(column in each for each in found.values()))
        notes.append(Note(NoteKind.MACHINES_KNOWN, columns=columns, names=tuple(found)))
    if in_gib:
        notes.append(Note(NoteKind.MEMORY_IN_GIB, names=tuple(in_gib)))
    if unknown and any(offers):
        notes.append(Note(NoteKind.MACHINES_PARTLY_KNOWN, names=tuple(unknown)))
    return filled, tuple(notes)


def _means_gib(row: ParsedRow, offer: InstanceType) -> bool:
    """Whether a row says `61 GB` of a machine that has 61 GiB, as many providers write it."""
    said: int | None = row["memory_gib"]
    return said is not None and abs(said / GB * GIB / offer.memory_bytes - 1) < ALIKE


def _offer(row: ParsedRow, catalog: Catalog) -> InstanceType | None:
    """The catalogue's instance type that the row names: `g4dn.xlarge`, `aws/g4dn.xlarge` or `aws g4dn.xlarge`."""
    name, provider, region = (row[column] for column in ("instance_type", "provider", "region"))
    if name is None:
        return None
    plain = name.lower().replace("/", " ", 1)
    alike = [
        offer
        for offer in catalog.instance_types
        if plain in (offer.instance_type.lower(), f"{offer.provider} {offer.instance_type}".lower())
        and (provider is None or provider.lower() == offer.provider.lower())
    ]
    return next((offer for offer in alike if offer.region == region), alike[0] if alike else None)


def _filled(row: ParsedRow, offer: InstanceType) -> dict[str, object]:
    """What the catalogue knows and the row does not say, with the names of the machine as the catalogue has them."""
    known: dict[str, object] = {"vcpus": offer.vcpus, "memory_gib": offer.memory_bytes}
    device = row["device"]
    if offer.gpu and (device is None or device.kind == "cuda") and row["gpu_count"] != 0:
        if row["gpu"] is None or same_gpu(row["gpu"], offer.gpu):
            known |= {"gpu": offer.gpu, "gpu_count": offer.gpu_count}
    elif not offer.gpu_count and device is None and row["gpu"] is None:
        known["gpu_count"] = 0
    values = {
        column: value
        for column, value in known.items()
        # A cell that says `none` is not empty.
        if column not in row.values
    }
    if "gpu" in row.values and row["gpu"] is None:
        values.pop("gpu_count", None)
    return values | {"provider": offer.provider, "instance_type": offer.instance_type}
