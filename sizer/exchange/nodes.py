"""Machines that ran a job together, as many as a column or a cell says: what of a row is of each, and what of all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name, same_gpu
from sizer.exchange.accelerator_names import counted
from sizer.exchange.cpu_names import cpu_in
from sizer.exchange.headers import GPUS_PER_NODE, NODES, OF_NODES, Meaning
from sizer.files.tables import Row
from sizer.records.domains import LONGEST_NAME
from sizer.records.errors import InputError
from sizer.records.study import Note, NoteKind
from sizer.records.units import GIB

FASTER_APART = 1.3
"""An accelerator that is faster than one of a single machine by more, in a row of several, is not one of so few."""
ALIKE = 0.03
_SAME_JOB = ("workload", "network", "framework", "precision", "mode", "kind", "input")
_SAME_MACHINE = ("provider", "instance_type", "gpu")
_MACHINES = (
    re.compile(
        r"(?P<count>\d{1,4})(?:\s*[x×*]\s*(?P<any>\S.*?)|\s+(?P<name>(?=\S*\d)(?=\S*[._-])[A-Za-z]\S+))"
        r"(?:\s+(?:nodes?|instances?|machines?|vms?|hosts?))?(?:\s*\(.*\))?"
    ),
    re.compile(r"(?P<any>\S.*?)(?:\s+|\s*\()[x×*]\s*(?P<count>\d{1,4})\)?(?P<name>)"),
)


def counted_machines(text: str) -> tuple[str, str] | None:
    """The name and the count of machines: of `2x p4d.24xlarge`, `4 g3.16xlarge nodes`, `p4d.24xlarge (x2)`.

    None where it counts none: `8x V100` counts accelerators, and `2x Xeon Gold 6148` the CPUs of one machine.
    """
    forms = _MACHINES if len(text) <= LONGEST_NAME else ()
    found = next((match for form in forms if (match := form.fullmatch(text))), None)
    name = (found["any"] or found["name"]) if found else ""
    gpus = counted(text)
    if not found or cpu_in(text) is not None or (gpus and read_gpu_name(gpus[0]).model in GPU_MEMORY_GB):
        return None
    return name, found["count"]


def of_all_nodes(
    rows: Sequence[Row], meanings: Mapping[str, Meaning], whole: Collection[int], catalog: Catalog | None, path: Path
) -> tuple[list[Row], tuple[Note, ...]]:
    """The rows with the vCPUs, memory and accelerators of all of their machines, and the price of one of them.

    Whose a figure is, its header says, or what else the table says of such machines. A price, vCPUs and memory of which
    nothing does are those of each machine; `whole` are lines whose count of accelerators is that of all. Raises
    InputError where nothing says whose accelerators are counted.
    """
    headers = {means.column: header for header, means in meanings.items()}
    if headers.get(NODES) == NODES:
        return list(rows), ()
    counted_twice = any(GPUS_PER_NODE in row.cells for row in rows)
    rows = [_with_nodes(row) for row in rows]
    several = [row for row in rows if _nodes(row) > 1]
    of = {means.column: means.of for means in meanings.values() if means.of}
    if counted_twice:
        of["gpu_count"] = "node"
    for row in several:
        if row.cells.get("gpu") and not any(row.cells.get(each) for each in ("gpu_count", "instance_type")):
            raise row.input_error(
                headers.get("gpu", "gpu"),
                "how many {gpu} each of the {nodes} machines has is not said; add a column `gpus per node`.",
                gpu=row.cells["gpu"],
                nodes=_nodes(row),
            )
    for column in OF_NODES:
        told = [row for row in several if _number(row, column) and (column != "gpu_count" or row.line not in whole)]
        if told and column not in of:
            of[column] = _whose(column, told, rows, catalog) or ("" if column == "gpu_count" else "node")
        if told and not of[column]:
            raise InputError(
                "{path}: `{column}` may be how many each of several machines has, or how many they have together; call "
                "it `{column} per node` or `total {column}`.",
                path=path,
                column=headers.get(column, column),
            )
    known = [column for column in OF_NODES if any(row.cells.get(column) for row in several)]
    each, total = (
        tuple(headers.get(column, column) for column in known if of.get(column) == whose) for whose in ("node", "all")
    )
    notes = (Note(NoteKind.NODES_READ, columns=each, names=total),) if several else ()
    return [_of_all(row, of, row.line in whole) for row in rows], notes


def _nodes(row: Row) -> int:
    """1 where nothing is said, or what is no number, which its reader refuses."""
    text = row.cells.get(NODES, "")
    return int(float(text)) if re.fullmatch(r"[1-9]\d*(\.0*)?", text, re.ASCII) else 1


def _with_nodes(row: Row) -> Row:
    """With the accelerators of each machine where two columns have them and those of all, and then the machines, too.

    Raises InputError where the two do not go together.
    """
    cells = {column: text for column, text in row.cells.items() if column != GPUS_PER_NODE}
    each, count = row.cells.get(GPUS_PER_NODE, ""), cells.get("gpu_count", "")
    if not (each.isdecimal() and count.isdecimal() and int(each)):
        return replace(row, cells=cells)
    nodes = _nodes(row) if row.cells.get(NODES) else max(1, int(count) // int(each))
    if int(count) not in (int(each) * nodes, int(each)):
        raise row.input_error(
            "gpu_count",
            "{count}, but {nodes} x {each} by other columns; correct one.",
            count=count,
            nodes=nodes,
            each=each,
        )
    return replace(row, cells=cells | {"gpu_count": each, NODES: str(nodes)})


def _of_all(row: Row, of: Mapping[str, str], whole: bool) -> Row:
    nodes, cells = _nodes(row), dict(row.cells)
    if nodes == 1:
        return row
    for column in OF_NODES:
        text, priced = cells.get(column, ""), column.startswith("usd")
        counts_all = of.get(column) == "all" or (column == "gpu_count" and whole)
        if text and counts_all == priced:
            with suppress(ValueError):  # What is no number its reader refuses.
                cells[column] = f"{float(text) / nodes if priced else float(text) * nodes:.15g}"
    return replace(row, cells=cells)


def _whose(column: str, several: Sequence[Row], rows: Sequence[Row], catalog: Catalog | None) -> str:
    """`node` or `all` by what the table says elsewhere; empty where nothing says it."""
    found = _by_catalog(column, several, catalog) if catalog is not None else ""
    if not found and column == "gpu_count" and any(_number(row, column) % _nodes(row) for row in several):
        found = "node"
    return found or _by_other_rows(column, rows) or (_by_rates(several, rows) if column == "gpu_count" else "")


def _by_catalog(column: str, several: Sequence[Row], catalog: Catalog) -> str:
    """By what such a machine has, or the most accelerators that one has."""
    found = set()
    cells = ((row, row.cells.get("instance_type", ""), row.cells.get("gpu", "")) for row in several)
    places = {(machine, gpu, _number(row, column), _nodes(row)) for row, machine, gpu in cells}
    for machine, gpu, said, nodes in places:
        name = machine.lower()
        for offer in catalog.instance_types:
            if name in (offer.instance_type.lower(), f"{offer.provider} {offer.instance_type}".lower()):
                has = {"gpu_count": offer.gpu_count, "vcpus": offer.vcpus, "memory_gib": offer.memory_bytes / GIB}
                found |= {
                    whose
                    for whose, times in (("node", 1), ("all", nodes))
                    if has.get(column) and abs(said / times / has[column] - 1) < ALIKE
                }
        if not name and column == "gpu_count" and gpu:
            sold = [each.gpu_count for each in catalog.instances() if same_gpu(each.gpu or "", gpu)]
            found |= {"all"} if sold and said > max(sold) else set()
    return found.pop() if len(found) == 1 else ""


def _by_other_rows(column: str, rows: Sequence[Row]) -> str:
    """By rows of the same machine in other numbers: the figure stays, or grows with them."""
    machines: dict[tuple[str, ...], set[tuple[int, float]]] = defaultdict(set)
    for row in rows:
        if row.cells.get(column):
            machines[tuple(row.cells.get(each, "") for each in _SAME_MACHINE)].add((_nodes(row), _number(row, column)))
    pairs = [(one, other) for found in machines.values() for one in found for other in found if one[0] < other[0]]
    stays = any(one[1] == other[1] for one, other in pairs)
    grows = any(abs(one[1] / one[0] * other[0] / (other[1] or 1) - 1) < ALIKE for one, other in pairs)
    return "" if stays == grows else "node" if stays else "all"


def _by_rates(several: Sequence[Row], rows: Sequence[Row]) -> str:
    """`node` where so few accelerators, spread over machines, would each be faster than those of a single one."""
    alone: dict[tuple[str, ...], float] = defaultdict(float)
    for row in rows:
        if _nodes(row) == 1:
            alone[_job_on(row)] = max(alone[_job_on(row)], _rate_of_one(row))
    return "node" if any(0 < alone[_job_on(row)] * FASTER_APART < _rate_of_one(row) for row in several) else ""


def _job_on(row: Row) -> tuple[str, ...]:
    return tuple(row.cells.get(each, "") for each in (*_SAME_JOB, "gpu"))


def _rate_of_one(row: Row) -> float:
    return _number(row, "throughput") / max(1.0, _number(row, "gpu_count"))


def _number(row: Row, column: str) -> float:
    """0 for what is no number."""
    try:
        return float(row.cells.get(column, "") or 0)
    except ValueError:
        return 0.0
