"""gpuhunt's catalogue: a CSV a provider, `aws.csv`, with a row for each price."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name
from sizer.catalog.importers.given import Given, least, number
from sizer.catalog.machines import Entry
from sizer.records.messages import Message

NAMED = "gpuhunt's catalogue"
SLICE = 0.85
"""Of the memory of a GPU, what a whole one has at the least, counted in GiB or GB."""


def reads(given: Given) -> bool:
    """By its columns."""
    return {"instance_name", "location", "price", "cpu", "memory", "spot"} <= set(given.header)


def entries(given: Given) -> Iterator[Entry]:
    """Prices of spare capacity have rows of their own."""
    return least(
        given.entry(where, NAMED, {**_machine(given, where, row), **_gpus(where, row)}) for where, row in given.rows()
    )


def _machine(given: Given, where: Message, row: Mapping[str, str]) -> dict[str, object]:
    return {
        "provider": given.provider or given.path.stem,
        "region": row["location"],
        "instance_type": row["instance_name"],
        "vcpus": number(where, "cpu", row["cpu"]),
        "memory_gib": number(where, "memory", row["memory"]),
        "cpu_arch": "arm64" if row.get("cpu_arch", "").startswith("arm") else None,
        "spot_per_hour" if row["spot"] == "True" else "price_per_hour": number(where, "price", row["price"]),
        "currency": "USD",
    }


def _gpus(where: Message, row: Mapping[str, str]) -> dict[str, object]:
    """A part of a GPU is no GPU; some providers' memory is that of all GPUs of the machine."""
    count = number(where, "gpu_count", row.get("gpu_count")) or 0
    memory = number(where, "gpu_memory", row.get("gpu_memory"))
    sizes = GPU_MEMORY_GB.get(read_gpu_name(row.get("gpu_name") or "").model, ())
    if memory and sizes and memory < SLICE * min(sizes):
        count = 0
    elif memory and count > 1 and memory > max(sizes, default=memory):
        memory /= count
    return {"gpu": row.get("gpu_name"), "gpu_count": count, "gpu_memory_gib": memory}
