"""Two study folders beside each other: in what the studies are unlike, and how what both measured differs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sizer import __version__
from sizer.api.fitted_model import measured_runs
from sizer.files.codec import to_json
from sizer.files.writing import write_text
from sizer.model.comparison import Comparison, Unlike, compare
from sizer.model.observations import beside_others
from sizer.records.device import DiskRates
from sizer.records.run import DiskCheck, Run
from sizer.words.comparison import Described

if TYPE_CHECKING:
    from sizer.store.study_folder import StudyFolder

NO_FACT = ("schema_version", "notes", "packages", "frameworks", "python", "runs", "imported")
"""What host.json has beside facts of the host, or under another name here."""
OF_WORKLOAD = ("kind", "framework", "network", "format", "input", "cache", "precision", "mode", "device", "command")
SAME_SIZE, SAME_DISK = 0.02, 0.10
"""Memory of a host differs by its kernel, and what fio measures from time to time, by less than this."""


@dataclass(frozen=True)
class ComparedStudies:
    """A and B, in what they are unlike, and what they measured."""

    studies: tuple[Described, Described]
    unlike: tuple[Unlike, ...]
    comparison: Comparison


def compare_studies(before: StudyFolder, after: StudyFolder) -> ComparedStudies:
    """Raises NoAnswer for a folder without runs."""
    runs = measured_runs(before), measured_runs(after)
    shared = {run.spec.workload.name for run in runs[0]} & {run.spec.workload.name for run in runs[1]}
    stated = [_facts(folder, its, shared) for folder, its in zip((before, after), runs, strict=True)]
    unlike = [
        Unlike(*key, *values)
        for key in dict.fromkeys((*stated[0], *stated[1]))
        if not _alike(*(values := (stated[0].get(key), stated[1].get(key))))
    ]
    compared = compare(*runs)
    described = _described(before, runs[0]), _described(after, runs[1])
    return ComparedStudies(described, tuple(unlike), compared)


def write_comparison(compared: ComparedStudies, path: str | Path) -> Path:
    """Write it as a page of its own, in the language that `sizer.words` speaks. Raises HostError."""
    from sizer.bundled.reports import comparison

    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    page = comparison.render(compared.studies, compared.unlike, compared.comparison, now, __version__)
    write_text(Path(path), page)
    return Path(path)


def _described(folder: StudyFolder, runs: Sequence[Run]) -> Described:
    days = sorted(run.started_at[:10] for run in runs if run.started_at)
    first, last = (days[0], days[-1]) if days else (None, None)
    host = (folder.host.get("cpu_model"), folder.host.get("sizer"))
    return Described(str(folder.path), folder.study.name, len(runs), first, last, *host, sum(map(beside_others, runs)))


def _facts(folder: StudyFolder, runs: Sequence[Run], workloads: Collection[str]) -> dict[tuple[str, str], Any]:
    """By kind and name what a study says of its host, programs, disks and of these workloads."""
    host, facts = folder.host, dict[tuple[str, str], Any]()
    facts |= {("host", key): value for key, value in host.items() if key not in NO_FACT}
    facts |= {("package", name): value for name, value in dict(host.get("packages") or {}).items()}
    facts |= {("package", "python"): host.get("python")}
    facts |= {("disk", tier.name): DiskCheck(tier, DiskRates()) for tier in folder.study.disks}
    facts |= {("disk", run.disk.tier.name): run.disk for run in runs if run.disk is not None}
    for run in runs:
        if run.spec.stage is None and run.spec.workload.name in workloads:
            workload = {**to_json(run.spec.workload), "device": run.spec.workload.computes_on.label}
            own = {name: workload[name] for name in OF_WORKLOAD if workload.get(name)}
            own |= {} if run.data_set is None else {"data_bytes": run.data_set.bytes}
            facts |= {("workload", f"{run.spec.workload.name}: {name}"): value for name, value in own.items()}
    measure = {} if folder.study.imported else to_json(folder.study.measure)
    return facts | {("measure", name): measure.get(name) for name in ("repeats", "seconds")}


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, DiskCheck) and isinstance(other, DiskCheck):
        natures = [(its.tier.emulated is not None, its.tier.catalog_name) for its in (one, other)]
        rates = zip(vars(one.rates).values(), vars(other.rates).values(), strict=True)
        return natures[0] == natures[1] and all(_near(a, b, SAME_DISK) for a, b in rates)
    if isinstance(one, int) and isinstance(other, int) and max(one, other) > 2**20:
        return _near(one, other, SAME_SIZE)
    return bool(one == other)


def _near(one: float | None, other: float | None, share: float) -> bool:
    """A figure that only one of them has says nothing."""
    return one is None or other is None or abs(one - other) <= share * max(one, other)
