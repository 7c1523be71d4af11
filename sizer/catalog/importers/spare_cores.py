"""Spare Cores' data base: its SQLite file, or servers as JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from sizer.catalog.importers.given import Given, cpu_arch, gpus, least, number
from sizer.catalog.machines import Entry
from sizer.records.messages import InputError, Message

NAMED = "Spare Cores"
PROVIDERS = {"hcloud": "hetzner", "alicloud": "alibaba"}
"""By the name that it has for a provider that has another one here."""
_JOINED = """
select server.*, {region} as region_id, price.price, price.currency, price.allocation, price.observed_at
from server join server_price as price using (vendor_id, server_id) {regions}
where lower(price.operating_system) = 'linux' and lower(price.unit) = 'hour' and lower(price.status) = 'active'
    and lower(price.allocation) in ('ondemand', 'spot')
"""
"""Words are in lower case in some versions and in upper case in others."""
_REGION = {
    "region": "coalesce(region.api_reference, price.region_id)",
    "regions": "left join region using (vendor_id, region_id)",
}
"""Google's regions are numbers; what they are called stands in a table of their own."""


def reads(given: Given) -> bool:
    """By the table of servers, or the keys of the first one."""
    if given.is_sqlite:
        return True
    servers = given.json if isinstance(given.json, list) else [given.json]
    return bool(servers) and isinstance(servers[0], dict) and {"vendor_id", "api_reference"} <= set(servers[0])


def entries(given: Given) -> Iterator[Entry]:
    """Of each server and region what it costs on demand and as spare capacity; one without a price is one, too."""
    return least(_entry(given, where, server) for where, server in given.items(_servers(given)))


def _servers(given: Given) -> Iterator[Mapping[str, Any]]:
    if not given.is_sqlite:
        yield from given.json if isinstance(given.json, list) else [given.json]
        return
    database = sqlite3.connect(f"{given.path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        named = database.execute("select 1 from sqlite_master where name = 'region'").fetchone()
        cursor = database.execute(_JOINED.format_map(_REGION if named else {"region": "region_id", "regions": ""}))
        names = [name for name, *_ in cursor.description]
        yield from (dict(zip(names, row, strict=True)) for row in cursor)
    except sqlite3.Error as error:
        raise InputError(
            "{path} is no data base of Spare Cores ({error}); give one with the tables server and server_price.",
            path=given.path,
            error=error,
        ) from None
    finally:
        database.close()


def _entry(given: Given, where: Message, server: Mapping[str, Any]) -> Entry:
    provider = PROVIDERS.get(str(server.get("vendor_id")), server.get("vendor_id"))
    memory, count, of_gpu = (
        number(where, name, server.get(name)) for name in ("memory_amount", "gpu_count", "gpu_memory_min")
    )
    shared, status = (str(server.get(name) or "").lower() for name in ("cpu_allocation", "status"))
    cells = {
        "provider": provider,
        "instance_type": server.get("api_reference"),
        "region": server.get("region_id"),
        "vcpus": number(where, "vcpus", server.get("vcpus")),
        "memory_gib": None if memory is None else memory / 1024,
        "cpu_arch": cpu_arch(server.get("cpu_architecture")),
        "cpu_model": server.get("cpu_model"),
        "shared_cpu": {"shared": 1, "burstable": 1, "dedicated": 0}.get(shared),
        **_prices(where, server),
        "status": "active" if status in ("", "active") else "unlisted",
        "as_of": given.as_of or str(server.get("observed_at") or "")[:10],
        **gpus(server.get("gpu_model"), count, of_gpu and of_gpu / 1024),
    }
    return given.entry(where, NAMED, cells)


def _prices(where: Message, server: Mapping[str, Any]) -> dict[str, object]:
    """Of a region by its allocation; of a server as the web service gives it the least of all regions, in USD."""
    if "min_price_ondemand" in server:
        named = {"price_per_hour": "min_price_ondemand", "spot_per_hour": "min_price_spot"}
        return {cell: number(where, name, server.get(name)) for cell, name in named.items()}
    spot = str(server.get("allocation") or "").lower() == "spot"
    price = number(where, "price", server.get("price"))
    return {"spot_per_hour" if spot else "price_per_hour": price, "currency": server.get("currency") if price else None}
