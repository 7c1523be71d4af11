"""SkyPilot's catalogue: `catalogs/v5/aws/vms.csv` and its like, versions 5 to 9."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sizer.catalog.importers.given import Given, cpu_arch, gpus, least, number, shape
from sizer.catalog.machines import Entry
from sizer.records.messages import Message

NAMED = "SkyPilot's catalogue"
_HAS_GPUS = re.compile(r"(a[2-9]x?|g[2-9]|ct\d\w*)-")
"""What Google's machines with accelerators of their own are called."""
_MEMORY = re.compile(r"'SizeInMiB': (\d+)")


def reads(given: Given) -> bool:
    """By the columns that all versions have."""
    return {"InstanceType", "vCPUs", "MemoryGiB", "Price", "Region"} <= set(given.header)


def entries(given: Given) -> Iterator[Entry]:
    """A row of a GPU alone, which GCP adds to a host, is no machine; and what such a host costs without its GPUs, which
    is all that its row says, is no price of the machine."""
    folder = given.path.parent.name if given.path.stem == "vms" else given.path.stem
    provider = given.provider or folder
    return least(_entry(given, where, provider, row) for where, row in given.rows() if row["InstanceType"])


def _entry(given: Given, where: Message, provider: str, row: Mapping[str, str]) -> Entry:
    gpu, name = row.get("AcceleratorName"), row["InstanceType"]
    whole = gpu or provider != "gcp" or not (_HAS_GPUS.match(name) or shape(name, provider).get("gpu"))
    memory = _MEMORY.search(row.get("GpuInfo", ""))
    cells: dict[str, object] = {
        "provider": provider,
        "region": row["Region"],
        "instance_type": name,
        "vcpus": number(where, "vCPUs", row["vCPUs"]),
        "memory_gib": number(where, "MemoryGiB", row["MemoryGiB"]),
        "cpu_arch": cpu_arch(row.get("Arch")),
        "price_per_hour": number(where, "Price", row["Price"]) if whole else None,
        "spot_per_hour": number(where, "SpotPrice", row.get("SpotPrice")) if whole else None,
        "currency": "USD",
    }
    if gpu:
        count = number(where, "AcceleratorCount", row.get("AcceleratorCount"))
        cells |= gpus(gpu, count, _gib(float(memory[1])) if memory else None)
    return given.entry(where, NAMED, cells)


def _gib(size: float) -> float:
    """Some providers' files have GiB in a field of MiB."""
    return size if size < 1024 else size / 1024
