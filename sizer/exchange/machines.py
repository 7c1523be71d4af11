"""What the machines of a row had: those that ran it together, what the catalogue knows of them, the class of a disk."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import is_alike, read_gpu_name, same_gpu
from sizer.catalog.machines import InstanceType
from sizer.exchange.columns import Columns
from sizer.exchange.headers import BATCH_PER_GPU, GPUS_PER_NODE, OF_NODES, OF_ONE_GPU, map_option, names
from sizer.exchange.measurements import DISK_FIGURES, NODES
from sizer.exchange.rows import PER_GPU, ParsedRow
from sizer.records.domains import LARGEST_VCPUS
from sizer.records.messages import InputError
from sizer.records.notes import Note, NoteKind
from sizer.records.units import GIB

TOLERANCE = 0.03
"""By how much a figure that is the same, or grows with the machines, may be off."""
FASTER_APART = 1.3
"""An accelerator that is faster than one of a single machine by more, in a row of several, is not one of so few."""
MOST_AT_ODDS = 5
FILLED = ("vcpus", "memory_gib", "gpu", "gpu_count")
_SAME_JOB = ("workload", "network", "framework", "precision", "mode", "kind", "input", "gpu")
_SAME_MACHINE = ("provider", "instance_type", "gpu")

Rows = list[ParsedRow]
Notes = tuple[Note, ...]


def together(rows: Sequence[ParsedRow], columns: Columns, catalog: Catalog | None) -> tuple[Rows, Notes]:
    """The rows with the vCPUs, memory and accelerators of all machines that ran them together, and the price of one.

    Whose a figure is, its header says, or what other rows of such machines say; else a price, vCPUs and memory are
    those of each. Raises InputError where nothing says whose accelerators are counted.
    """
    if columns.names.get(columns.header(NODES), columns.header(NODES)) == NODES and NODES in columns:
        return list(rows), ()
    of = {means.column: means.of for means in columns.read.values() if means.of}
    if GPUS_PER_NODE in columns:
        rows = [_spread(row) for row in rows]
        of["gpu_count"] = "node"
    several = [row for row in rows if (row[NODES] or 1) > 1]
    for row in several:
        if row["gpu"] and row["gpu_count"] is None and row["instance_type"] is None:
            raise row.input_error(
                columns.header("gpu"),
                "how many {gpu} each of the {nodes} machines has is not said; add a column `gpus per node`.{hint}",
                gpu=row["gpu"],
                nodes=row[NODES],
                hint=columns.hint("gpus per node", "total gpus"),
            )
    for column in OF_NODES:
        counted = [row for row in several if row[column] and (column != "gpu_count" or row[GPUS_PER_NODE] is None)]
        if counted and column not in of:
            whose = _by_catalog(column, counted, catalog) or _by_other_rows(column, rows)
            of[column] = whose or (_by_rates(rows) if column == "gpu_count" else "node")
        if counted and not of[column]:
            raise InputError(
                "{path}: `{column}` may be how many each of several machines has, or how many they have together; type "
                "{each} or {total}.",
                path=columns.path,
                column=(header := columns.header(column)),
                each=map_option(header, "gpus per node"),
                total=map_option(header, "total gpus"),
            )
    had = [column for column in OF_NODES if any(row[column] for row in several)]
    of_each, of_all = (
        tuple(columns.header(column) for column in had if of.get(column) == whose) for whose in ("node", "all")
    )
    notes = (Note(NoteKind.NODES_READ, columns=of_each, names=of_all),) if several else ()
    return [_of_all(row, of) for row in rows], notes


def _spread(row: ParsedRow) -> ParsedRow:
    """With the accelerators of each machine where two columns have them and those of all, and so the machines, too."""
    of_one, count, nodes = row[GPUS_PER_NODE], row["gpu_count"], row[NODES]
    if not of_one or not count:
        return row
    nodes = nodes or max(1, count // of_one)
    if count not in (of_one, of_one * nodes):
        raise row.input_error(
            "gpu_count",
            "{count}, but {nodes} x {each} by other columns; correct one.",
            count=count,
            nodes=nodes,
            each=of_one,
        )
    return row.having(gpu_count=of_one, nodes_together=nodes)


def _of_all(row: ParsedRow, of: Mapping[str, str]) -> ParsedRow:
    nodes, changed = row[NODES] or 1, {}
    for column in OF_NODES if nodes > 1 else ():
        whose = "all" if column == "gpu_count" and row[GPUS_PER_NODE] and column not in of else of.get(column)
        if row[column] is not None and (whose == "all") == column.startswith("usd"):
            changed[column] = row[column] / nodes if whose == "all" else row[column] * nodes
    return row.having(**changed)


def _by_catalog(column: str, several: Sequence[ParsedRow], catalog: Catalog | None) -> str:
    """By what the catalogue knows of the machines that rows name."""
    whose = set()
    for row in several:
        has = getattr(_offer(row, catalog), "memory_bytes" if column == "memory_gib" else column, None)
        times = (("node", row[NODES]), ("all", 1)) if has else ()
        whose |= {name for name, count in times if abs(row[column] * count / has - 1) < TOLERANCE}
    return whose.pop() if len(whose) == 1 else ""


def _by_other_rows(column: str, rows: Sequence[ParsedRow]) -> str:
    """By rows of the same machine in other numbers: the figure stays, or grows with them."""
    machines: dict[tuple[Any, ...], set[tuple[int, float]]] = defaultdict(set)
    for row in rows:
        if row[column]:
            machines[tuple(row[name] for name in _SAME_MACHINE)].add((row[NODES] or 1, row[column]))
    pairs = [(one, other) for pairs in machines.values() for one in pairs for other in pairs if one[0] < other[0]]
    stays = any(one[1] == other[1] for one, other in pairs)
    grows = any(abs(one[1] / one[0] * other[0] / other[1] - 1) < TOLERANCE for one, other in pairs)
    return "" if stays == grows else "node" if stays else "all"


def _by_rates(rows: Sequence[ParsedRow]) -> str:
    """`node` where so few accelerators, spread over machines, would each be faster than those of a single one."""
    rates: dict[tuple[Any, ...], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        fastest = rates[tuple(row[name] for name in _SAME_JOB)]
        several, rate = (row[NODES] or 1) > 1, (row["throughput"] or 0.0) / max(1, row["gpu_count"] or 0)
        fastest[several] = max(fastest[several], rate)
    return "node" if any(0 < alone * FASTER_APART < together for alone, together in rates.values()) else ""


def with_machines(rows: Sequence[ParsedRow], columns: Columns, catalog: Catalog | None) -> tuple[Rows, Notes]:
    """The rows with what the catalogue knows of their machines and disks, and figures of whole machines; and notes of
    what was filled in, multiplied and guessed."""
    filled_in, of_machines = _catalogued(rows, catalog) if catalog is not None else (rows, ())
    whole, of_one = _whole(filled_in, columns)
    filled, of_disks = _with_disk_classes(whole, catalog)
    return filled, (*of_machines, *of_one, *of_disks)


def _catalogued(rows: Sequence[ParsedRow], catalog: Catalog) -> tuple[Rows, Notes]:
    """The rows with the catalogue's figures in cells that they leave empty, what was filled in, and what is at odds."""
    filled: Rows = []
    columns: set[str] = set()
    machines: dict[str, None] = {}
    at_odds: list[Note] = []
    for row in rows:
        offer = _offer(row, catalog)
        if offer is None:
            filled.append(row)
            continue
        values = _filled(row, offer)
        new = (set(values) - set(row.values)) & set(FILLED)
        columns |= new
        machines |= {offer.instance_type: None} if new else {}
        filled.append(row.having(**values))
        at_odds += _at_odds(filled[-1], offer)
    if more := len(at_odds[MOST_AT_ODDS:]):
        at_odds[MOST_AT_ODDS - 1 :] = [replace(at_odds[MOST_AT_ODDS - 1], rows=more)]
    given = tuple(name for name in FILLED if name in columns)
    notes = [Note(NoteKind.MACHINES_KNOWN, columns=given, names=tuple(machines))] if machines else []
    return filled, (*notes, *at_odds)


def _offer(row: ParsedRow, catalog: Catalog | None) -> InstanceType | None:
    """The catalogue's instance type that the row names, as many of it as ran together: `g4dn.xlarge`, `aws/g4dn.xlarge`
    or `aws g4dn.xlarge`."""
    name, provider, nodes = row["instance_type"], row["provider"], row[NODES] or 1
    alike = [
        offer
        for offer in (catalog.called(name) if catalog is not None and name is not None else ())
        if provider is None or provider.lower() == offer.provider.lower()
    ]
    if row["gpu"] is not None and any(offer.chooses_gpu for offer in alike):
        alike.sort(key=lambda offer: (not same_gpu(row["gpu"], offer.gpu or ""), offer.gpu_count != row["gpu_count"]))
    offer = next((offer for offer in alike if offer.region == row["region"]), alike[0] if alike else None)
    if offer is None or nodes == 1:
        return offer
    gpus, memory = nodes * offer.gpu_count, nodes * offer.memory_bytes
    return replace(offer, vcpus=nodes * offer.vcpus, memory_bytes=memory, gpu_count=gpus)


def _filled(row: ParsedRow, offer: InstanceType) -> dict[str, Any]:
    """What the catalogue knows and the row does not say, with the names of the machine as the catalogue has them."""
    cells: dict[str, Any] = {"memory_gib": offer.memory_bytes} if offer.memory_bytes else {}
    if offer.vcpus <= LARGEST_VCPUS:
        cells["vcpus"] = offer.vcpus
    if row["gpu"] is not None or "gpu" not in row.values:  # A cell that says `none` is not empty.
        cells |= _its_accelerators(row, offer)
    values = {column: value for column, value in cells.items() if column not in row.values}
    return values | {"provider": offer.provider, "instance_type": offer.host}


def _its_accelerators(row: ParsedRow, offer: InstanceType) -> dict[str, Any]:
    """Those of the machine, where the row does not say that the job used others, or none."""
    device, gpu = row["device"], row["gpu"]
    if offer.gpu and not offer.chooses_gpu:
        on_gpus = (device is None or device.kind == "cuda") and row["gpu_count"] != 0
        alike = not gpu or same_gpu(gpu, offer.gpu)
        return {"gpu": offer.gpu, "gpu_count": offer.gpu_count} if on_gpus and alike else {}
    without = device is None and gpu is None and (offer.chooses_gpu or not offer.gpu_count)
    return {"gpu_count": 0} if without else {}


def _at_odds(row: ParsedRow, offer: InstanceType) -> list[Note]:
    """A note where the row has what the machine that it names has not; part of a machine may have been used."""
    gpu, count, vcpus = row["gpu"], row["gpu_count"], row["vcpus"]
    differing = None
    if vcpus is not None and vcpus > offer.vcpus:
        differing = "vcpus", f"{vcpus:g}", f"{offer.vcpus:g}"
    if gpu is not None and not offer.chooses_gpu:
        memory, size = read_gpu_name(gpu).memory_gb, offer.gpu_memory_bytes
        if not same_gpu(gpu, offer.gpu or "") or (memory is not None and size and not is_alike(size / GIB, memory)):
            differing = "gpu", gpu, offer.gpu or ""
        elif count is not None and count > offer.gpu_count:
            differing = "gpu_count", str(count), str(offer.gpu_count)
    if differing is None:
        return []
    column, text, has = differing
    lines, names = (row.row.line,), (offer.instance_type,)
    return [Note(NoteKind.MACHINE_AT_ODDS, columns=(column,), lines=lines, text=text, read_as=(has,), names=names)]


def _whole(rows: Sequence[ParsedRow], columns: Columns) -> tuple[Rows, Notes]:
    """The rows with rates and prices times their accelerators, where the table has those of one.

    Where neither a count nor a machine is named there is one. Raises InputError where a named machine's are not known.
    """
    whole, rates = [], ("throughput", "throughput_low", "throughput_high")
    for row in rows:
        one = {of: row[price] / (row[NODES] or 1) for price, of in OF_ONE_GPU.items() if row[price] and not row[of]}
        one |= {column: row[column] for column in rates if row[PER_GPU] and row[column] is not None}
        if one and row["gpu_count"] is None and row["instance_type"] is not None:
            raise row.input_error(
                "gpu_count",
                "the table has figures of one accelerator; write how many `{machine}` has.",
                machine=row["instance_type"],
            )
        whole.append(row.having(**{column: value * max(1, row["gpu_count"] or 1) for column, value in one.items()}))
    of_rates = ("throughput",) if any(row[PER_GPU] for row in rows) else ()
    of_prices = tuple(price for price in OF_ONE_GPU if any(row[price] is not None for row in rows))
    kinds = {NoteKind.RATE_OF_ONE_GPU: of_rates, NoteKind.PRICE_OF_ONE_GPU: of_prices}
    return whole, tuple(Note(kind, columns=tuple(map(columns.header, of))) for kind, of in kinds.items() if of)


def with_whole_batches(rows: Sequence[ParsedRow], columns: Columns) -> tuple[Rows, Notes]:
    """The rows with the batch over all GPUs where the table has that of one.

    Without a count of GPUs there is one, but where an instance type is named, which may have several.
    """
    batches = []
    for row in rows:
        count = row["gpu_count"] if row["gpu_count"] is not None or row["instance_type"] is not None else 1
        whole = row[BATCH_PER_GPU] and row["batch_size"] is None and count is not None
        batches.append(row.having(batch_size=row[BATCH_PER_GPU] * max(1, count)) if whole else row)
    if batches == rows:
        return batches, ()
    return batches, (Note(NoteKind.BATCH_OF_ONE_GPU, columns=(columns.header(BATCH_PER_GPU),)),)


def disk_class(name: str, catalog: Catalog | None) -> str | None:
    """The class of the catalogue's tier of this name, else what the words of the name say; None where they do not."""
    tier, plain = catalog.tier(name) if catalog is not None else None, _plain(name)
    if tier is not None and tier.disk_class != "file":
        return tier.disk_class
    # In the order of the list: a local SSD is NVMe in each cloud that rents one, and `Premium SSD` is no `Standard`.
    words = names("disk class").items()
    return next((means[0][0] for word, means in words if re.search(rf"(?<![a-z\d]){word}(?![a-z])", plain)), None)


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[_\-/.:()]", " ", name.lower()).split())


def _with_disk_classes(rows: Sequence[ParsedRow], catalog: Catalog | None) -> tuple[Rows, Notes]:
    """The rows with the class of their disk where a workload has several and the name says it, and what is not known.

    A row's own class is never changed, and where the figures of a disk are given nobody needs its class.
    """
    disks: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        disks[row["workload"]] |= {row["disk"]: None} if row["disk"] is not None else {}
    classes = {row["disk"]: row["disk_class"] for row in rows if row["disk_class"] is not None}
    lacking = {
        name: disk_class(name, catalog)
        for names in disks.values()
        for name in names
        if len(names) > 1 and name not in classes
    }
    inferred = {name: kind for name, kind in lacking.items() if kind is not None}
    classes |= inferred
    filled = [row.having(disk_class=classes[row["disk"]]) if row["disk"] in classes else row for row in rows]
    measured = {row["disk"] for row in rows if any(row[column] is not None for column in DISK_FIGURES)}
    asked = tuple(name for name in lacking if name not in inferred and name not in measured)
    notes = (
        Note(NoteKind.DISK_CLASS_INFERRED, names=tuple(inferred), read_as=tuple(inferred.values())),
        Note(NoteKind.NO_DISK_CLASS, names=asked),
    )
    return filled, tuple(note for note in notes if note.names)
