"""Which accelerators the rows of a table had: one name for each kind, its memory from a column beside it, its count."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sizer.catalog.gpus import GPU_MEMORY_GB, gpu_names, read_gpu_name
from sizer.exchange.headers import GPU_MEMORY, Meaning, is_of_the_machine, spelt_alike
from sizer.files.tables import Row, Table
from sizer.records.domains import LONGEST_NAME
from sizer.records.study import Note, NoteKind

MOST_LIKELY_COUNT = 1024
"""More accelerators in one row are hardly those of a machine."""
_COUNTED = (
    re.compile(r"(?P<count>\d{1,5})\s*(?:x\s*|[×*]\s*)(?P<name>[A-Za-z].*)", re.ASCII),
    re.compile(r"(?P<name>[A-Za-z].*?)(?<=\S)(?:\s+x\s*|\s*[×*]\s*|\s*\([x×]\s*)(?P<count>\d{1,5})\)?", re.ASCII),
)
_IN_NODES = (
    re.compile(r"(?P<name>[A-Za-z][\w -]*?)\s*(?P<nodes>[单双两一二三四]|\d+)(?:机|节点)\s*(?P<each>[单双]|\d+)卡.*"),
    re.compile(
        r"(?P<nodes>\d+)(?:\s*(?:nodes?|machines?|servers?))?\s*[x×*]\s*\(?(?P<each>\d+)(?:\s*[x×*]\s*|\s+)(?!GB)"
        r"(?P<name>[A-Za-z].*?)\)?"
    ),
)
_NUMERALS = {"单": 1, "一": 1, "双": 2, "两": 2, "二": 2, "三": 3, "四": 4}
_OF_ALL = re.compile(r"[\d.]+ ?[a-zA-Z]* ?/ ?[\d.]+ ?[a-zA-Z]*", re.ASCII)
_GIGABYTES = re.compile(r"(\d{1,3})(?:\.0+)?\s*(?:gi?b?)?", re.IGNORECASE)


def counted(text: str) -> tuple[str, str] | None:
    """The name and the count of GPUs: of `8x V100`, `4×A100-80GB`, `V100 x8`; None where a cell has no count.

    Of several machines, `2x8 A100` and `A100两机8卡`, that is the count of all.
    """
    spread = _in_nodes(text)
    if spread is not None:
        return spread["name"].strip(), str(_whole(spread["nodes"]) * _whole(spread["each"]))
    found = next((match for form in _COUNTED if (match := form.fullmatch(text))), None)
    return (found["name"].strip(), found["count"]) if found else None


def nodes_in(text: str) -> str:
    """How many machines a cell of GPUs counts; empty where it counts none."""
    spread = _in_nodes(text)
    return str(_whole(spread["nodes"])) if spread is not None else ""


def _in_nodes(text: str) -> re.Match[str] | None:
    forms = _IN_NODES if len(text) <= LONGEST_NAME else ()
    return next((match for form in forms if (match := form.fullmatch(text))), None)


def _whole(text: str) -> int:
    return _NUMERALS.get(text) or int(text)


def memory_is_of_gpus(table: Table, meanings: Mapping[str, Meaning], header: str) -> bool:
    """Whether a column of memory has what each row's GPU has, of two sizes or more: then it is not the machine's.

    Where the machines are named, or the header says whose memory it is, that is what it is.
    """
    gpus = next((name for name, means in meanings.items() if means.column == "gpu"), None)
    if gpus is None or _names_machines(table, meanings) or is_of_the_machine(header):
        return False
    pairs = [(row.cells[gpus], row.cells[header]) for row in table.rows if row.cells[gpus] and row.cells[header]]
    sizes = [_own_memory(gpu, memory) for gpu, memory in pairs]
    return None not in sizes and len(set(sizes)) > 1


def memory_was_used(table: Table, meanings: Mapping[str, Meaning], header: str) -> bool:
    """Whether a column of memory says how much of an accelerator's was used: `5.8/40.0`, or beside accelerators what is
    no size of a machine, all of which are whole quarters."""
    cells = [row.cells[header] for row in table.rows]
    gpus = any(means.column == "gpu" for means in meanings.values())
    machines = spelt_alike(header, "memory_gib") or is_of_the_machine(header) or _names_machines(table, meanings)
    numbers = [float(found[0]) for cell in cells if (found := re.match(r"\d+(?:\.\d+)?", cell, re.ASCII))]
    return any(_OF_ALL.fullmatch(cell) for cell in cells) or (
        gpus and not machines and any(number * 4 % 1 for number in numbers)
    )


def _names_machines(table: Table, meanings: Mapping[str, Meaning]) -> bool:
    named = [header for header, means in meanings.items() if means.column == "instance_type"]
    return any(row.cells[header] for header in named for row in table.rows)


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
