"""gpuhunt's catalogue: a CSV a provider, `aws.csv`, with a row for each price."""

from __future__ import annotations

from collections.abc import Iterator

from sizer.catalog.importers.given import Given, least, number
from sizer.catalog.machines import Entry

NAMED = "gpuhunt's catalogue"


def reads(given: Given) -> bool:
    """By its columns."""
    return {"instance_name", "location", "price", "cpu", "memory", "spot"} <= set(given.header)


def entries(given: Given) -> Iterator[Entry]:
    """Prices of spare capacity have rows of their own."""
    return least(
        given.entry(
            where,
            NAMED,
            {
                "provider": given.provider or given.path.stem,
                "region": row["location"],
                "instance_type": row["instance_name"],
                "vcpus": number(where, "cpu", row["cpu"]),
                "memory_gib": number(where, "memory", row["memory"]),
                "gpu": row.get("gpu_name"),
                "gpu_count": number(where, "gpu_count", row.get("gpu_count")) or 0,
                "gpu_memory_gib": number(where, "gpu_memory", row.get("gpu_memory")),
                "spot_per_hour" if row["spot"] == "True" else "price_per_hour": number(where, "price", row["price"]),
                "currency": "USD",
            },
        )
        for where, row in given.rows()
    )
