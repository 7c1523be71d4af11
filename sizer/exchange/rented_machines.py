"""Rows that name an instance type of the catalogue: what they leave empty of the machine is filled in from there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.catalog.gpus import is_alike, read_gpu_name, same_gpu
from sizer.exchange.headers import NODES
from sizer.exchange.imported_columns import ParsedRow
from sizer.records.domains import LARGEST_VCPUS
from sizer.records.study import Note, NoteKind
from sizer.records.units import GIB

GB = 10**9
ALIKE = 0.005
"""Sizes of machines are rounded to whole GiB by who writes of them; GB and GiB differ by 7 %."""
MOST_AT_ODDS = 5
FILLED = ("vcpus", "memory_gib", "gpu", "gpu_count")


def with_known_machines(
    parsed: Sequence[ParsedRow], catalog: Catalog, headers: Mapping[str, str]
) -> tuple[list[ParsedRow], tuple[Note, ...]]:
    """The rows with the catalogue's figures in cells that they leave empty, what was filled in, and what is at odds.

    `headers` are those of the table by sizer's columns.
    """
    offers = [_all_nodes(_offer(row, catalog), row[NODES] or 1) for row in parsed]
    parsed, notes = _without_load(parsed, offers, headers)
    filled: list[ParsedRow] = []
    found: dict[str, set[str]] = defaultdict(set)
    unknown: dict[str, None] = {}
    in_gib: dict[str, None] = {}
    hosts: dict[str, None] = {}
    unpriced = 0
    for row, offer in zip(parsed, offers, strict=True):
        values = _filled(row, offer) if offer is not None else {}
        if offer is not None and _means_gib(row, offer):
            values["memory_gib"] = offer.memory_bytes
            in_gib[offer.instance_type] = None
        filled.append(replace(row, values=row.values | values))
        if offer is not None and (set(values) - set(row.values)) & set(FILLED):
            found[offer.instance_type] |= set(values) - set(row.values)
        if offer is not None and offer.chooses_gpu and "gpu" not in row.values and not row["gpu_count"]:
            hosts[offer.instance_type] = None
            unpriced += row["usd_per_hour"] is None
        if offer is None and row["instance_type"] is not None and row["vcpus"] is None:
            unknown[row["instance_type"]] = None
    if found:
        columns = tuple(column for column in FILLED if any(column in each for each in found.values()))
        notes.append(Note(NoteKind.MACHINES_KNOWN, columns=columns, names=tuple(found)))
    if hosts:
        notes.append(Note(NoteKind.HOSTS_OF_GPUS, names=tuple(hosts), rows=unpriced))
    if in_gib:
        notes.append(Note(NoteKind.MEMORY_IN_GIB, names=tuple(in_gib)))
    if unknown and any(offers):
        notes.append(Note(NoteKind.MACHINES_PARTLY_KNOWN, names=tuple(unknown)))
    return filled, (*notes, *_at_odds(filled, offers))


def _without_load(
    parsed: Sequence[ParsedRow], offers: Sequence[InstanceType | None], headers: Mapping[str, str]
) -> tuple[Sequence[ParsedRow], list[Note]]:
    """The rows without the vCPUs of a column `cpu` that the machines named do not have: it says how busy they were."""
    if headers.get("vcpus", "").lower() != "cpu":
        return parsed, []
    differing = [
        (row, offer)
        for row, offer in zip(parsed, offers, strict=True)
        if offer is not None and row["vcpus"] not in (None, offer.vcpus)
    ]
    if not differing:
        return parsed, []
    row, offer = differing[0]
    note = Note(
        NoteKind.CPU_NOT_VCPUS,
        columns=(headers["vcpus"],),
        lines=(row.row.line,),
        names=(offer.instance_type,),
        rates=(row["vcpus"], offer.vcpus),
    )
    return [_with_load(row, headers["vcpus"]) for row in parsed], [note]


def _with_load(row: ParsedRow, header: str) -> ParsedRow:
    """The row with the cell of its vCPUs under the name that it had, as one that sizer does not read."""
    values = {name: value for name, value in row.values.items() if name != "vcpus"}
    said = row.row.cells.get("vcpus", "")
    return replace(row, values=values, other=row.other | ({header: said} if said else {}))


def _at_odds(parsed: Sequence[ParsedRow], offers: Sequence[InstanceType | None]) -> list[Note]:
    """A note for each row that has what the machine that it names has not; the last one names how many more."""
    found = []
    for row, offer in zip(parsed, offers, strict=True):
        if offer is None or (differing := _more_than_it_has(row, offer)) is None:
            continue
        column, said, has = differing
        note = Note(NoteKind.MACHINE_AT_ODDS, columns=(column,), lines=(row.row.line,), text=said, read_as=(has,))
        found.append(replace(note, names=(offer.instance_type,)))
    more = len(found) - MOST_AT_ODDS
    return [*found[: MOST_AT_ODDS - 1], replace(found[MOST_AT_ODDS - 1], rows=more)] if more > 0 else found


def _more_than_it_has(row: ParsedRow, offer: InstanceType) -> tuple[str, str, str] | None:
    """The column that says so, its value, and what the machine has; part of a machine may have been used."""
    gpu, count, vcpus = row["gpu"], row["gpu_count"], row["vcpus"]
    if gpu is not None and not offer.chooses_gpu:
        if offer.gpu is None or not _has_such(offer, gpu):
            return "gpu", gpu, offer.gpu or ""
        if count is not None and count > offer.gpu_count:
            return "gpu_count", str(count), str(offer.gpu_count)
    if vcpus is not None and vcpus > offer.vcpus:
        return "vcpus", f"{vcpus:g}", f"{offer.vcpus:g}"
    return None


def _has_such(offer: InstanceType, gpu: str) -> bool:
    memory, size = read_gpu_name(gpu).memory_gb, offer.gpu_memory_bytes
    return same_gpu(gpu, offer.gpu or "") and (memory is None or not size or is_alike(size / GIB, memory))


def _means_gib(row: ParsedRow, offer: InstanceType) -> bool:
    """Whether a row says `61 GB` of a machine that has 61 GiB, as many providers write it."""
    said: int | None = row["memory_gib"]
    return said is not None and abs(said / GB * GIB / offer.memory_bytes - 1) < ALIKE


def _all_nodes(offer: InstanceType | None, nodes: int) -> InstanceType | None:
    """What so many such machines have together."""
    if offer is None or nodes == 1:
        return offer
    gpus, memory = nodes * offer.gpu_count, nodes * offer.memory_bytes
    return replace(offer, vcpus=nodes * offer.vcpus, memory_bytes=memory, gpu_count=gpus)


def _offer(row: ParsedRow, catalog: Catalog) -> InstanceType | None:
    """The catalogue's instance type that the row names: `g4dn.xlarge`, `aws/g4dn.xlarge` or `aws g4dn.xlarge`."""
    name, provider, region = (row[column] for column in ("instance_type", "provider", "region"))
    if name is None:
        return None
    alike = [
        offer
        for offer in catalog.instance_types
        if offer.is_called(name) and (provider is None or provider.lower() == offer.provider.lower())
    ]
    if row["gpu"] is not None and any(offer.chooses_gpu for offer in alike):
        alike.sort(key=lambda offer: (not same_gpu(row["gpu"], offer.gpu or ""), offer.gpu_count != row["gpu_count"]))
    return next((offer for offer in alike if offer.region == region), alike[0] if alike else None)


def _filled(row: ParsedRow, offer: InstanceType) -> dict[str, object]:
    """What the catalogue knows and the row does not say, with the names of the machine as the catalogue has them."""
    known: dict[str, object] = {"vcpus": offer.vcpus, "memory_gib": offer.memory_bytes}
    device = row["device"]
    if offer.chooses_gpu:
        if device is None and row["gpu"] is None:
            known["gpu_count"] = 0
    elif offer.gpu and (device is None or device.kind == "cuda") and row["gpu_count"] != 0:
        if row["gpu"] is None or same_gpu(row["gpu"], offer.gpu):
            known |= {"gpu": offer.gpu, "gpu_count": offer.gpu_count}
    elif not offer.gpu_count and device is None and row["gpu"] is None:
        known["gpu_count"] = 0
    values = {
        column: value
        for column, value in known.items()
        # A cell that says `none` is not empty.
        if column not in row.values and (column != "vcpus" or offer.vcpus <= LARGEST_VCPUS)
    }
    if "gpu" in row.values and row["gpu"] is None:
        values.pop("gpu_count", None)
    return values | {"provider": offer.provider, "instance_type": offer.instance_type}
