"""SkyPilot's catalogue: `catalogs/v5/aws/vms.csv` and its like, versions 5 to 9."""

from __future__ import annotations

from collections.abc import Iterator

from sizer.catalog.importers.given import Given, least, number
from sizer.catalog.machines import Entry

NAMED = "SkyPilot's catalogue"


def reads(given: Given) -> bool:
    """By the columns that all versions have."""
    return {"InstanceType", "vCPUs", "MemoryGiB", "Price", "Region"} <= set(given.header)


def entries(given: Given) -> Iterator[Entry]:
    """A row of a GPU alone, which GCP adds to a host, is no machine."""
    folder = given.path.parent.name if given.path.stem == "vms" else given.path.stem
    provider = given.provider or folder
    return least(
        given.entry(
            where,
            NAMED,
            {
                "provider": provider,
                "region": row["Region"],
                "instance_type": row["InstanceType"],
                "vcpus": number(where, "vCPUs", row["vCPUs"]),
                "memory_gib": number(where, "MemoryGiB", row["MemoryGiB"]),
                "gpu": row.get("AcceleratorName"),
                "gpu_count": number(where, "AcceleratorCount", row.get("AcceleratorCount")) or 0,
                "price_per_hour": number(where, "Price", row["Price"]),
                "spot_per_hour": number(where, "SpotPrice", row.get("SpotPrice")),
                "currency": "USD",
            },
        )
        for where, row in given.rows()
        if row["InstanceType"]
    )
