"""gpuhunt's catalogue: a CSV a provider, `aws.csv`, with a row for each price."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from sizer.catalog.importers.given import Given, cpu_arch, gpus, least, number
from sizer.catalog.machines import Entry
from sizer.records.messages import Message

NAMED = "gpuhunt's catalogue"


def reads(given: Given) -> bool:
    """By its columns."""
    return {"instance_name", "location", "price", "cpu", "memory", "spot"} <= set(given.header)


def entries(given: Given) -> Iterator[Entry]:
    """Prices of spare capacity have rows of their own; a machine to which GPUs are added has one a choice of them."""
    rows = [(where, row, _gpus(where, row)) for where, row in given.rows()]
    choices: dict[str, set[object]] = defaultdict(set)
    for _, row, cells in rows:
        choices[row["instance_name"]].add((cells["gpu"], cells["gpu_count"]))
    return least(
        given.entry(where, NAMED, {**_machine(given, where, row, len(choices[row["instance_name"]]) > 1), **cells})
        for where, row, cells in rows
    )


def _machine(given: Given, where: Message, row: Mapping[str, str], chosen: bool) -> dict[str, object]:
    count = number(where, "gpu_count", row.get("gpu_count"))
    gpu = f"+{count:g}x{row.get('gpu_name')}" if chosen and count else ""
    return {
        "provider": given.provider or given.path.stem,
        "region": row["location"],
        "instance_type": f"{row['instance_name']}{gpu}",
        "vcpus": number(where, "cpu", row["cpu"]),
        "memory_gib": number(where, "memory", row["memory"]),
        "cpu_arch": cpu_arch(row.get("cpu_arch")),
        "spot_per_hour" if row["spot"].lower() == "true" else "price_per_hour": number(where, "price", row["price"]),
        "currency": "USD",
    }


def _gpus(where: Message, row: Mapping[str, str]) -> dict[str, object]:
    count, memory = (number(where, column, row.get(column)) for column in ("gpu_count", "gpu_memory"))
    return gpus(row.get("gpu_name"), count, memory)
