"""Two study folders beside each other: how the studies differ, and the rates of what both measured."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from sizer import __version__
from sizer.api.fitted_model import measured_runs
from sizer.files.codec import to_json
from sizer.files.writing import write_text
from sizer.model.comparison import Comparison, StudyDifference, StudySummary, compare
from sizer.records.device import DiskRates, HostSpeed
from sizer.records.run import DiskCheck, Run
from sizer.store.study_folder import SPEED, StudyFolder

NO_FACT = ("schema_version", "notes", "packages", "frameworks", "python", "runs", "imported", "gpus", SPEED)
"""What host.json has beside facts of the host, or under another name here."""
OF_WORKLOAD = ("kind", "framework", "network", "format", "input", "cache", "precision", "mode", "device", "command")
SAME_SIZE, SAME_DISK, SAME_SPEED = 0.02, 0.10, 0.15
"""Memory of a host differs by its kernel, and what fio and the probe of its CPU measure from time to time, by less."""


def compare_studies(before: StudyFolder, after: StudyFolder) -> Comparison:
    """Raises NoAnswer for a folder without runs."""
    runs = measured_runs(before), measured_runs(after)
    shared = set.intersection(*({run.spec.workload.name for run in own} for own in runs))
    one, other = _facts(before, runs[0], shared), _facts(after, runs[1], shared)
    pairs = {key: (one.get(key), other.get(key)) for key in (*one, *other)}
    comparison = compare(*runs)
    facts = [StudyDifference(*key, *pair) for key, pair in pairs.items() if not _alike(*pair)]
    return replace(
        comparison,
        studies=(_summary(before, runs[0]), _summary(after, runs[1])),
        study_differences=(*facts, *comparison.study_differences),
    )


def write_comparison(comparison: Comparison, path: str | Path) -> Path:
    """Write it as a page of its own, in the language that `sizer.words` speaks. Raises HostError."""
    from sizer.bundled.reports import comparison as page

    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    write_text(Path(path), page.render(comparison, now, __version__))
    return Path(path)


def _summary(folder: StudyFolder, runs: Sequence[Run]) -> StudySummary:
    days = tuple(sorted({run.started_at[:10] for run in runs if run.started_at}))
    host = (folder.host.get("cpu_model"), folder.host.get("sizer"))
    return StudySummary(str(folder.path), folder.study.name, len(runs), days, *host)


def _facts(folder: StudyFolder, runs: Sequence[Run], workloads: Collection[str]) -> dict[tuple[str, str], Any]:
    """By kind and name what a study says of its host, programs, disks and of these workloads."""
    host, facts = folder.host, dict[tuple[str, str], Any]()
    facts |= {("host", key): value for key, value in host.items() if key not in NO_FACT}
    kinds = [{"name": gpu.get("name"), "memory_bytes": gpu.get("memory_bytes")} for gpu in host.get("gpus") or ()]
    facts |= {("host", "gpus"): kinds, ("host", SPEED): folder.speed}
    versions = {**dict(host.get("packages") or {}), "python": host.get("python")}
    facts |= {("package", name): version for name, version in versions.items()}
    facts |= {("disk", tier.name): DiskCheck(tier, DiskRates()) for tier in folder.study.disks}
    facts |= {("disk", run.disk.tier.name): run.disk for run in runs if run.disk is not None}
    devices = {(run.spec.workload.name, run.spec.workload.computes_on.label) for run in runs}
    for run in runs:
        name = run.spec.workload.name
        if run.spec.stage is None and name in workloads:
            labels = [label for workload, label in sorted(devices) if workload == name]
            fields = {**to_json(run.spec.workload), "device": ", ".join(labels)}
            facts |= {("workload", f"{name}: {key}"): fields[key] for key in OF_WORKLOAD if fields.get(key)}
            facts |= {("workload", f"{name}: data_bytes"): run.data_set.bytes} if run.data_set else {}
    return facts


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, DiskCheck) and isinstance(other, DiskCheck):
        natures = [(its.tier.emulated is not None, its.tier.catalog_name) for its in (one, other)]
        pairs = zip(vars(one.rates).values(), vars(other.rates).values(), strict=True)
        measured = [pair for pair in pairs if None not in pair]
        return natures[0] == natures[1] and all(math.isclose(*pair, rel_tol=SAME_DISK) for pair in measured)
    if isinstance(one, HostSpeed) and isinstance(other, HostSpeed):
        return math.isclose(one.processor.index, other.processor.index, rel_tol=SAME_SPEED)
    if isinstance(one, int) and isinstance(other, int) and max(one, other) > 2**20:
        return math.isclose(one, other, rel_tol=SAME_SIZE)
    return bool(one == other)
