"""The JSON of ec2instances.info: a list of AWS's instance types, each with its prices by region and system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sizer.catalog.importers.given import Given, cpu_arch, gpus, number, part
from sizer.catalog.machines import Entry

NAMED = "ec2instances.info"


def reads(given: Given) -> bool:
    """By the keys of its first entry."""
    types = _types(given)
    return bool(types) and isinstance(types[0], dict) and {"instance_type", "vCPU", "pricing"} <= set(types[0])


def _types(given: Given) -> list[Any]:
    return given.json if isinstance(given.json, list) else [given.json]


def entries(given: Given) -> Iterator[Entry]:
    """One for each type and region where Linux has a price."""
    for where, item in given.items(_types(given)):
        count, memory = (number(where, name, item.get(name)) for name in ("GPU", "GPU_memory"))
        for region, systems in part(where, item, "pricing").items():
            linux = part(where, systems, "linux") if isinstance(systems, dict) else {}
            if not linux:
                continue
            cells = {
                "provider": "aws",
                "instance_type": item.get("instance_type"),
                "region": region,
                "vcpus": number(where, "vCPU", item.get("vCPU")),
                "memory_gib": number(where, "memory", item.get("memory")),
                "cpu_model": item.get("physical_processor"),
                "cpu_arch": cpu_arch(item.get("arch")),
                **gpus(item.get("GPU_model"), count, memory / count if memory and count else None),
                "disk_base_mbps": number(where, "ebs_baseline_throughput", item.get("ebs_baseline_throughput")),
                "disk_base_iops": number(where, "ebs_baseline_iops", item.get("ebs_baseline_iops")),
                "price_per_hour": number(where, "ondemand", linux.get("ondemand")),
                "spot_per_hour": number(where, "spot_min", linux.get("spot_min")),
                "currency": "CNY" if region.startswith("cn-") else "USD",
            }
            yield given.entry(where, NAMED, cells)
