"""Which accelerators the rows of a table had: one name for each kind, its memory from a column beside it, its count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sizer.catalog import GPU_MEMORY_GB, gpu_names, read_gpu_name
from sizer.exchange.headers import GPU_MEMORY, NODES, Meaning, is_of_the_machine
from sizer.files import Row, Table
from sizer.records import Note, NoteKind

MOST_LIKELY_COUNT = 1024
"""More accelerators in one row are hardly those of a machine."""
_COUNTED = (
    re.compile(r"(?P<count>\d{1,5})\s*(?:x\s*|[×*]\s*)(?P<name>[A-Za-z].*)", re.ASCII),
    re.compile(r"(?P<name>[A-Za-z].*?)(?<=\S)(?:\s+x\s*|\s*[×*]\s*|\s*\([x×]\s*)(?P<count>\d{1,5})\)?", re.ASCII),
)
_GIGABYTES = re.compile(r"(\d{1,3})(?:\.0+)?\s*(?:gi?b?)?", re.IGNORECASE)


def counted(text: str) -> tuple[str, str] | None:
    """The name and the count of GPUs: of `8x V100`, `4×A100-80GB`, `V100 x8`; None where a cell has no count."""
    found = next((match for form in _COUNTED if (match := form.fullmatch(text))), None)
    return (found["name"].strip(), found["count"]) if found else None


def memory_is_of_gpus(table: Table, meanings: Mapping[str, Meaning], header: str) -> bool:
    """Whether a column of memory has what each row's GPU has, of two sizes or more: then it is not the machine's.

    Where the machines are named, or the header says whose memory it is, that is what it is.
    """
    gpus = next((name for name, means in meanings.items() if means.column == "gpu"), None)
    named = any(means.column == "instance_type" for means in meanings.values())
    if gpus is None or named or is_of_the_machine(header):
        return False
    pairs = [(row.cells[gpus], row.cells[header]) for row in table.rows if row.cells[gpus] and row.cells[header]]
    sizes = [_own_memory(gpu, memory) for gpu, memory in pairs]
    return None not in sizes and len(set(sizes)) > 1


def tells_gpus_apart(table: Table, meanings: Mapping[str, Meaning], header: str) -> bool:
    """Whether a column of the GPUs' memory says which of two one is, where its name does not."""
    gpus = next((name for name, means in meanings.items() if means.column == "gpu"), None)
    return gpus is not None and any(
        _own_memory(row.cells[gpus], row.cells[header]) is not None and not _is_one(row.cells[gpus])
        for row in table.rows
    )


def _is_one(gpu: str) -> bool:
    name, _ = counted(gpu) or (gpu, "")
    read = read_gpu_name(name)
    return read.memory_gb is not None or len(GPU_MEMORY_GB.get(read.model, ())) < 2


def _own_memory(gpu: str, memory: str) -> int | None:
    """The GB in a cell of memory, where they are those of one such GPU."""
    found, (name, _) = _GIGABYTES.fullmatch(memory.strip()), counted(gpu) or (gpu, "")
    size = int(found[1]) if found else 0
    return size if size in GPU_MEMORY_GB.get(read_gpu_name(name).model, ()) else None


def with_gpu_names(rows: Sequence[Row]) -> tuple[list[Row], tuple[Note, ...]]:
    """The rows with the names of price lists for GPUs that are known by another one, and which were read so."""
    written = [_with_memory(row) for row in rows]
    names = gpu_names(text for text in written if text)
    named = [
        replace(row, cells=row.cells | {"gpu": names[text]}) if text else row
        for row, text in zip(rows, written, strict=True)
    ]
    read = dict.fromkeys((row.cells["gpu"], names[text]) for row, text in zip(rows, written, strict=True) if text)
    differing = [pair for pair in read if pair[0] != pair[1]]
    if not differing:
        return named, ()
    before, after = zip(*differing, strict=True)
    return named, (Note(NoteKind.GPU_NAMES_READ, names=before, read_as=after),)


def _with_memory(row: Row) -> str:
    gpu, memory = row.cells.get("gpu", ""), row.cells.get(GPU_MEMORY, "")
    size = _own_memory(gpu, memory)
    return gpu if size is None or read_gpu_name(gpu).memory_gb is not None else f"{gpu} {size}GB"


def of_all_nodes(cells: dict[str, str]) -> dict[str, str]:
    """With the accelerators of all machines of the row, where they are told for one."""
    nodes, count = cells.get(NODES, ""), cells.get("gpu_count", "")
    if not (nodes.isdecimal() and count.isdecimal() and int(nodes) > 1):
        return cells
    machine = cells.get("instance_type")
    several = {"instance_type": f"{int(nodes)} x {machine}"} if machine else {}
    return cells | {"gpu_count": str(int(nodes) * int(count))} | several
