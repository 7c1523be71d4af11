"""CSV files of instance types, disk tiers or accelerator rates -> the catalogue's own file."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.catalog import CATALOG_SCHEMA_VERSION, Catalog, DiskOffer, InstanceType, checked
from sizer.files.tables import Table, read_table
from sizer.records.errors import InputError
from sizer.records.messages import AllOf, Message
from sizer.records.plain_text import quoted
from sizer.records.units import GIB

Cells = dict[str, str]
KINDS = ("instance_type", "disk_tier", "samples_per_second")
"""One of these columns says what a table holds."""
_LIMITS = tuple(f"{limit}_{part}" for limit in ("read_iops", "read_mbps") for part in ("base", "per_gib", "max"))
NEEDED = {
    "instance_type": ("provider", "instance_type", "vcpus", "memory_gib", "as_of", "source"),
    "disk_tier": ("provider", "disk_tier", "class", *_LIMITS, "as_of", "source"),
    "samples_per_second": ("mode", "network", "gpu", "precision", "samples_per_second", "framework", "as_of", "source"),
}
"""The columns without which a table of that kind cannot be read."""
OPTIONAL = {
    "instance_type": (
        "region",
        "gpu",
        "gpu_count",
        "gpu_memory_gib",
        "local_nvme_gib",
        "disk_cap_mbps",
        "usd_per_hour",
        "usd_per_hour_spot",
        "retired",
        "confidence",
    ),
    "disk_tier": ("min_gib", "max_gib", "latency_ms", "usd_per_gib_month", "confidence"),
    "samples_per_second": ("batch_size",),
}
"""What may be left out, where it is not known or there is no such thing."""
COLUMNS = tuple(dict.fromkeys(name for known in (NEEDED, OPTIONAL) for names in known.values() for name in names))
"""By these a header is known, whatever its delimiter and the case of its names."""


class _WrongCell(Exception):
    """A cell that cannot be read, and what is wrong with it."""

    def __init__(self, column: str, problem: Message) -> None:
        super().__init__(str(problem))
        self.column = column
        self.problem = problem


def import_csv(paths: Sequence[str | Path]) -> Catalog:
    """The catalogue that these CSV files hold together; which kind each is, its header says.

    InputError names the file, the line and the field. MB/s in the files are 10^6 bytes/s, sizes are GiB.
    """
    found: dict[str, list[Any]] = {"instances": [], "disks": [], "accelerators": []}
    for path in paths:
        table = read_table(Path(path), Message("a table of offers"), COLUMNS, KINDS)
        part, kind, convert = _kind(table, path)
        if not table.rows:
            raise InputError("{path} has a header but no rows; write one entry per row.", path=path)
        _check_columns(table, path)
        for row in table.rows:
            where = row.where
            try:
                entry = convert(row.cells)
            except _WrongCell as error:
                raise row.input_error(error.column, error.problem) from error
            found[part].append(checked(kind, entry, where))
    return Catalog(tuple(found["instances"]), tuple(found["disks"]), tuple(found["accelerators"]))


def catalog_text(catalog: Catalog) -> str:
    """The catalogue as JSON with one entry a line, so that a change of one price is a change of one line."""
    parts = {"instances": catalog.instance_types, "disks": catalog.disks, "accelerators": catalog.accelerators}
    lists = ",\n".join(f'"{name}": [\n{_lines(entries)}\n]' for name, entries in parts.items())
    return f'{{\n"schema_version": {CATALOG_SCHEMA_VERSION},\n{lists}\n}}\n'


def _lines(entries: Sequence[Any]) -> str:
    return ",\n".join(json.dumps(asdict(entry), ensure_ascii=False) for entry in entries)


def _kind(table: Table, path: str | Path) -> tuple[str, type[Any], Callable[[Cells], dict[str, Any]]]:
    if "instance_type" in table.columns:
        return "instances", InstanceType, _instance
    if "disk_tier" in table.columns:
        return "disks", DiskOffer, _disk
    if "samples_per_second" in table.columns:
        return "accelerators", AcceleratorRate, _accelerator
    raise InputError("{path}: the header needs a column instance_type, disk_tier or samples_per_second.", path=path)


def _check_columns(table: Table, path: str | Path) -> None:
    """Raise InputError with all columns that are missing."""
    kind = next(kind for kind in KINDS if kind in table.columns)
    missing = [column for column in NEEDED[kind] if column not in table.columns]
    if missing:
        raise InputError(
            "{path}: the header has no column {missing}; a table of this kind needs {needed}, and may have {optional}.",
            path=path,
            missing=AllOf(*missing),
            needed=AllOf(*NEEDED[kind]),
            optional=AllOf(*OPTIONAL[kind]),
        )


def _number(row: Cells, column: str, unit: float = 1.0) -> float | None:
    """The number in a cell times its unit; None for an empty cell, _WrongCell for what is no number."""
    text = row.get(column, "")
    try:
        value = float(text) if text else None
    except ValueError:
        value = math.nan
    if value is None:
        return None
    if not math.isfinite(value):
        raise _WrongCell(column, Message("{text} is not a number; correct it.", text=quoted(text)))
    return float(f"{value * unit:.12g}")


def _bytes(row: Cells, column: str) -> int | None:
    gibibytes = _number(row, column)
    return None if gibibytes is None else round(gibibytes * GIB)


def _count(row: Cells, column: str) -> int | None:
    value = _number(row, column)
    if value is not None and not value.is_integer():
        raise _WrongCell(column, Message("{text} is not a whole number; correct it.", text=quoted(row[column])))
    return None if value is None else int(value)


def _instance(row: Cells) -> dict[str, Any]:
    return {
        "provider": row["provider"],
        "region": row.get("region") or None,
        "instance_type": row["instance_type"],
        "vcpus": _number(row, "vcpus"),
        "memory_bytes": _bytes(row, "memory_gib"),
        "gpu": row.get("gpu") or None,
        "gpu_count": _count(row, "gpu_count") or 0,
        "gpu_memory_bytes": _bytes(row, "gpu_memory_gib"),
        "local_nvme_bytes": _bytes(row, "local_nvme_gib"),
        "disk_bytes_per_second": _number(row, "disk_cap_mbps", 1e6),
        "usd_per_hour": _number(row, "usd_per_hour"),
        "usd_per_hour_spot": _number(row, "usd_per_hour_spot"),
        "retired": _count(row, "retired"),
        "confidence": row.get("confidence") or None,
        "as_of": row["as_of"],
        "source": row["source"],
    }


def _disk(row: Cells) -> dict[str, Any]:
    return {
        "provider": row["provider"],
        "disk_tier": row["disk_tier"],
        "disk_class": row["class"],
        **_limit(row, "read_iops", "read_iops", 1.0),
        **_limit(row, "read_bytes_per_second", "read_mbps", 1e6),
        "min_bytes": _bytes(row, "min_gib"),
        "max_bytes": _bytes(row, "max_gib"),
        "latency_seconds": _number(row, "latency_ms", 1e-3),
        "usd_per_gib_month": _number(row, "usd_per_gib_month"),
        "confidence": row.get("confidence") or None,
        "as_of": row["as_of"],
        "source": row["source"],
    }


def _limit(row: Cells, name: str, column: str, unit: float) -> dict[str, float | None]:
    """A limit that neither starts anywhere nor grows is its maximum at every size (AWS st1: 500 IOPS)."""
    start, slope, top = (_number(row, f"{column}_{part}", unit) for part in ("base", "per_gib", "max"))
    return {f"{name}_base": start if start or slope else top, f"{name}_per_gib": slope, f"{name}_max": top}


def _accelerator(row: Cells) -> dict[str, Any]:
    return {
        "mode": row["mode"],
        "network": row["network"],
        "gpu": row["gpu"],
        "precision": row["precision"],
        "batch_size": _count(row, "batch_size"),
        "samples_per_second": _number(row, "samples_per_second"),
        "framework": row["framework"],
        "as_of": row["as_of"],
        "source": row["source"],
    }
