"""The CPU of an instance type: its family's measured rates, else those of the same CPU in other families."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from statistics import fmean, median, pstdev
from typing import Any

from sizer.catalog.machines import InstanceType, shipped
from sizer.records.device import REFERENCE, Processor
from sizer.records.prediction import NORMAL_90

ELSEWHERE = 0.06
"""Standard deviation of ln rate of one CPU model between families: 16 models of three families or more, 0.00-0.09."""
UNKNOWN = 0.4
"""The same of a CPU that nobody measured: of 154 families 95 % lie within a factor of 1.5 of AWS c6i."""
SECOND_THREAD = {"GenuineIntel": 0.25, "AuthenticAMD": 0.38}
"""What it adds to decoding JPEGs on CPUs of a maker: medians of 49 and 22 families."""
CPU_INSTRUCTIONS = (
    ("amx", r"GenuineIntel/6/(143|207|173)/"),
    ("avx512", r"GenuineIntel/6/(85|106)/|AuthenticAMD/(25/17|26/\d+)/"),
    ("avx2", r"GenuineIntel/6/(63|79)/|AuthenticAMD/(23|25)/"),
    ("sve", r"ARM/(d40|d49|d4f|d84)"),
    ("neon", r"ARM/"),
)
"""The widest that a CPU computes matrices with, by its vendor, family and model; as the flags of a host call them."""


Row = Mapping[str, Any]


@cache
def _families() -> tuple[Row, ...]:
    """The rows of `cpus.csv`, one for each CPU model of an instance family."""
    rows = shipped().execute('select * from cpus where "index" is not null')
    columns = [column for column, *_ in rows.description]
    return tuple(dict(zip(columns, row, strict=True)) for row in rows)


def processor_of(instance: InstanceType) -> Processor | None:
    """The CPU of an instance type; None where nobody measured one like it."""
    family = _family(instance.provider, instance.host)
    own = [row for row in _families() if (row["provider"], row["family"]) == (instance.provider, family)]
    return _processor(own, instance) or _processor(_of_model(instance.cpu_model or "", instance.provider), instance)


def with_cpu_of(own: InstanceType, instances: Iterable[InstanceType]) -> tuple[InstanceType, ...]:
    """Those of its provider that have its CPU; of its family where nobody says which that is."""

    def cpu(instance: InstanceType) -> str:
        return instance.cpu_model or _family(instance.provider, instance.host)

    return tuple(one for one in instances if one.provider == own.provider and cpu(one) == cpu(own))


def supposed_processor(instance: InstanceType) -> Processor:
    """Of a type whose CPU nobody measured: as fast as AWS c6i or twice as slow, so that a run there tells it."""
    cores = instance.vcpus / (instance.threads_per_core or (1 if instance.is_arm else 2))
    cpu = instance.cpu_model or _family(instance.provider, instance.host) or instance.name
    return Processor(instance.name, cpu, REFERENCE, UNKNOWN, instance.vcpus, max(1.0, cores), "")


def processor_called(cpu_model: str, vcpus: float) -> Processor | None:
    """A machine of which a table says no more than its CPU and vCPUs; None where nobody measured that CPU."""
    rows = _of_model(cpu_model)
    return _processor(rows, InstanceType("", cpu_model, vcpus, 0))


def index_by_name(cpu_model: str, cpu_id: str) -> float | None:
    """What an instance whose CPU is so called usually has, by its number where the name is hidden."""
    rows = _of_model(cpu_model) or [row for row in _families() if row["cpu_id"] == cpu_id]
    return median(row["index"] for row in rows) if rows else None


def _of_model(cpu_model: str, provider: str = "") -> list[Row]:
    """Its rows, by the whole name or by the numbers that makers give it (`8375C`, `E5-2686 v4`); of that provider if it
    has some."""
    numbers = _numbers(cpu_model)
    rows = [row for row in _families() if row["cpu_model"].lower() == cpu_model.lower()]
    rows = rows or [row for row in _families() if numbers and numbers <= _numbers(row["cpu_model"])]
    return [row for row in rows if row["provider"] == provider] or rows


def _numbers(cpu_model: str) -> set[str]:
    return {word for word in cpu_model.lower().split() if re.search(r"\d", word) and not word.endswith("ghz")}


def _processor(rows: Sequence[Row], instance: InstanceType) -> Processor | None:
    if not rows:
        return None
    own = rows[0]["family"] == _family(instance.provider, instance.host) and rows[0]["basis"] == "measured"
    logs = [math.log(row["index"]) for row in rows]
    sizes = fmean(math.log(row["index_high"] / row["index_low"]) for row in rows) / 2 / NORMAL_90
    threads = instance.threads_per_core or (2 if rows[0]["vcpu_is"] == "hyperthread" else 1)
    rates = {name: math.exp(fmean(math.log(row[f"{name}_mbps"]) for row in rows)) for name in REFERENCE}
    added = [row["jpeg_smt_yield"] for row in rows if row["jpeg_smt_yield"] is not None]
    usual = next((usual for maker, usual in SECOND_THREAD.items() if rows[0]["cpu_id"].startswith(maker)), None)
    return Processor(
        name=instance.name.strip(),
        cpu=" or ".join(dict.fromkeys(row["cpu_model"] for row in rows)),
        rates=rates,
        deviation=math.hypot(sizes, pstdev(logs) if own or len(rows) > 1 else ELSEWHERE),
        vcpus=instance.vcpus,
        cores=max(1.0, instance.vcpus / threads),
        instructions=next((name for name, ids in CPU_INSTRUCTIONS if re.match(ids, rows[0]["cpu_id"])), ""),
        second_thread=fmean(added) if added else usual,
    )


def _family(provider: str, name: str) -> str:
    """As `cpus.csv` calls it: `c7i`, `c3d`, `a2-highgpu`, `Dsv5`, `ecs.c7`."""
    if provider == "azure":
        parts = re.fullmatch(r"(?:Standard_)?([A-Z]+)\d+(?:-\d+)?([a-z]*)(.*)", name)
        return "".join(parts.groups()).replace("_", "") if parts else name
    if provider == "gcp":
        series, _, kind = name.partition("-")
        return f"{series}-{kind.partition('-')[0]}" if series in ("a2", "a3") else series
    return name.rpartition(".")[0]
