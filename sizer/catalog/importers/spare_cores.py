"""Spare Cores' data base: its SQLite file, or servers as JSON."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from sizer.catalog.importers.given import Given, least, number
from sizer.catalog.machines import Entry
from sizer.records.messages import InputError, Message

NAMED = "Spare Cores"
PROVIDERS = {"hcloud": "hetzner", "alicloud": "alibaba"}
"""By the name that it has for a provider that has another one here."""
_JOINED = """
select server.*, price.region_id, price.price, price.currency, price.allocation, price.observed_at
from server join server_price as price using (vendor_id, server_id)
where price.operating_system = 'Linux' and price.unit = 'hour' and price.status = 'ACTIVE'
"""


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
        cursor = database.execute(_JOINED)
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
    memory, gpus = number(where, "memory_amount", server.get("memory_amount")), server.get("gpu_count")
    spot = str(server.get("allocation", "")).upper() == "SPOT"
    cells = {
        "provider": provider,
        "instance_type": server.get("api_reference"),
        "region": server.get("region_id"),
        "vcpus": number(where, "vcpus", server.get("vcpus")),
        "memory_gib": None if memory is None else memory / 1024,
        "cpu_arch": "arm64" if "ARM" in str(server.get("cpu_architecture")) else "x86_64",
        "cpu_model": server.get("cpu_model"),
        "shared_cpu": None if server.get("cpu_allocation") in (None, "DEDICATED") else 1,
        "gpu": server.get("gpu_model") if gpus else None,
        "gpu_count": number(where, "gpu_count", gpus) or 0,
        "spot_per_hour" if spot else "price_per_hour": number(where, "price", server.get("price")),
        "currency": server.get("currency") if server.get("price") else None,
        "status": "active" if server.get("status", "ACTIVE") == "ACTIVE" else "unlisted",
        "as_of": given.as_of or str(server.get("observed_at") or "")[:10],
    }
    return given.entry(where, NAMED, cells)
