"""What the grid's rows do not say: the host, the tiers as declared and as fio found them, data sets, accelerators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from statistics import median
from typing import Any

from sizer.records.device import Device, DiskRates
from sizer.records.run import DiskCheck, Run
from sizer.records.study import Measure

HOST_FACTS = ("cpu_model", "cpus", "topology", "hyperthreads", "memory_bytes", "swap_bytes", "kernel", "distribution",
              "virtualization", "limits", "python", "fio", "packages")  # fmt: skip
"""The facts of host.json that decide rates."""


def conditions(runs: Sequence[Run], host: Mapping[str, Any]) -> dict[str, Any]:
    """Plain values for JSON; bytes, seconds and samples/s."""
    completed = [run for run in runs if run.throughput is not None]
    return {
        "schema_version": 1,
        "measured": {"first": runs[0].started_at, "last": runs[-1].started_at, "runs": len(runs)},
        "host": {name: host.get(name) for name in HOST_FACTS},
        "disks": _disks(completed),
        "workloads": _workloads(completed),
    }


def _disks(runs: Iterable[Run]) -> dict[str, Any]:
    """Each tier's declared figures, and the least, median and largest of each figure over fio's checks of it."""
    checks: dict[str, dict[DiskCheck, None]] = {}
    for run in runs:
        if run.disk is not None:
            checks.setdefault(run.disk.tier.name, {})[run.disk] = None
    return {name: _tier(list(found)) for name, found in sorted(checks.items())}


def _tier(found: Sequence[DiskCheck]) -> dict[str, Any]:
    tier = found[0].tier
    figures = {field.name: [getattr(check.measured, field.name) for check in found] for field in fields(DiskRates)}
    return {
        "class": tier.disk_class,
        "declared": asdict(tier.emulated) if tier.emulated else None,
        "fio_checks": len(found),
        "measured": {
            name: _range([value for value in values if value is not None]) for name, values in figures.items()
        },
    }


def _range(values: Sequence[float]) -> dict[str, float] | None:
    return {"least": min(values), "median": median(values), "largest": max(values)} if values else None


def _workloads(runs: Iterable[Run]) -> dict[str, Any]:
    first: dict[str, Run] = {}
    for run in runs:
        first.setdefault(run.spec.workload.name, run)
    return {name: _workload(run) for name, run in sorted(first.items())}


def _workload(run: Run) -> dict[str, Any]:
    workload, device = run.spec.workload, run.spec.workload.computes_on
    return {
        "kind": workload.kind,
        "network": workload.network,
        "batch_size": run.spec.batch_size,
        "cache": workload.cache,
        "sample_unit": run.sample_unit,
        "accelerator": _without_later_fields(device) if device.kind != "cpu" else None,
        "data_set": asdict(run.data_set) if run.data_set else None,
        "measure": _without_later_fields(run.spec.measure),
    }


LATER_FIELDS = {"batch_rates", "scaling_loss", "scaling_source", "steps"}
"""Which the sizer that measured the committed grid did not have."""


def _without_later_fields(record: Device | Measure) -> dict[str, Any]:
    return {name: value for name, value in asdict(record).items() if value or name not in LATER_FIELDS}
