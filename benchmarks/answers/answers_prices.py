"""What a measured machine costs an hour, looked up in the catalogue's file by code that is not sizer's."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers_jobs import Machine

CATALOG = Path(__file__).parents[2] / "sizer" / "catalog" / "catalog.json"
SAME_MEMORY = 0.1
"""A provider's GiB of a GPU may be so much less than the GB in its name."""


@dataclass(frozen=True)
class Sold:
    """An instance type; a price of None is unknown, and so is a GPU's memory."""

    provider: str
    instance_type: str
    region: str | None
    vcpus: float
    memory_gib: float
    gpu: str | None
    gpu_count: int
    gpu_memory_gib: float | None
    usd_per_hour: float | None


def retired_machines(path: Path = CATALOG) -> frozenset[str]:
    """The names of those of the catalogue that nobody can rent any more: no answer may be one of them."""
    return frozenset(each["instance_type"] for each in _entries(path) if each["retired"] is not None)


def sold_machines(path: Path = CATALOG) -> tuple[Sold, ...]:
    """Every instance type of the catalogue that can be rented."""
    return tuple(
        Sold(
            each["provider"],
            each["instance_type"],
            each["region"],
            each["vcpus"],
            each["memory_bytes"] / 2**30,
            each["gpu"],
            each["gpu_count"],
            each["gpu_memory_bytes"] / 2**30 if each["gpu_memory_bytes"] else None,
            each["usd_per_hour"],
        )
        for each in _entries(path)
        if each["retired"] is None
    )


def _entries(path: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["instances"]
    return entries


def usd_per_hour(machine: Machine, sold: Sequence[Sold]) -> float | None:
    """Of the row itself where its source has one; else of the instance type that it names, where the catalogue has its
    price; else of the cheapest with exactly this GPU and at least as many of it, all of them paid for. A machine
    without a GPU has only the price of its name. None is unknown.
    """
    if machine.usd_per_hour is not None:
        return machine.usd_per_hour
    named = [each for each in sold if each.instance_type == machine.instance_type and _has_gpu(each, machine)]
    holding = named if any(each.usd_per_hour is not None for each in named) else []
    if not holding and machine.gpu is not None:
        holding = [each for each in sold if _has_gpu(each, machine)]
    return min((each.usd_per_hour for each in holding if each.usd_per_hour is not None), default=None)


def _has_gpu(sold: Sold, machine: Machine) -> bool:
    if machine.gpu is None or sold.gpu is None:
        return machine.gpu is None and sold.gpu is None
    name = re.fullmatch(r"(.*?)(?:-(\d+)GB)?", machine.gpu)
    assert name is not None, "any text matches"
    model, memory = name.group(1), name.group(2)
    if model != sold.gpu or sold.gpu_count < machine.gpu_count:
        return False
    return memory is None or abs((sold.gpu_memory_gib or 0.0) / float(memory) - 1) <= SAME_MEMORY
