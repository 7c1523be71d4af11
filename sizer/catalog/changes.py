"""What changed between two catalogues, and one catalogue with the entries of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizer.catalog.catalog import Catalog
from sizer.catalog.importing import Offers
from sizer.catalog.machines import Entry, InstanceType
from sizer.records.messages import InputError

KEYS = {
    "instance_type": ("provider", "instance_type", "region"),
    "disk_tier": ("provider", "disk_tier"),
    "samples_per_second": ("mode", "network", "gpu", "precision", "batch_size", "framework", "source"),
}
"""By these an entry is the same as another."""


@dataclass(frozen=True)
class Change:
    """An instance type before and after; None where it was not there."""

    before: InstanceType | None
    after: InstanceType | None


def changes(old: Catalog, new: Catalog) -> list[Change]:
    """Types that came, went, cost another price or have another status, in the order of their names."""
    before, after = _by_name(old), _by_name(new)
    pairs = []
    for key in sorted({*before, *after}):
        one, other = before.get(key), after.get(key)
        if one is None or other is None or _state(one) != _state(other):
            pairs.append(Change(one, other))
    return pairs


def _by_name(catalog: Catalog) -> Mapping[tuple[str, str, str], InstanceType]:
    return {(one.provider, one.instance_type, one.region or ""): one for one in catalog.instance_types}


def _state(one: InstanceType) -> tuple[object, ...]:
    return one.price_per_hour, one.spot_per_hour, one.currency, one.status, one.retired


def with_added(catalog: Offers, added: Sequence[Offers]) -> Offers:
    """The entries of the first, those that are in the others in their place, and then what else these have."""
    entries: dict[tuple[object, ...], Entry] = {}
    for offers in (catalog, *added):
        if offers.kind != catalog.kind:
            raise InputError("Entries of two kinds make no catalogue; keep instance types, disks and rates apart.")
        for entry in offers.entries:
            entries[tuple(entry.cells.get(name) for name in KEYS[offers.kind])] = entry
    return Offers(catalog.kind, tuple(entries.values()))
