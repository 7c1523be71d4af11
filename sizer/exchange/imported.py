"""A table of measurements made elsewhere -> a study with its runs, checked as a whole before anything is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sizer.catalog.catalog import Catalog
from sizer.catalog.rate_estimate import Basis
from sizer.exchange.disk_classes import with_disk_classes
from sizer.exchange.headers import (
    BATCH_PER_GPU,
    GPU_MEMORY,
    LATENCY,
    SECONDS_PER_BATCH,
    SECONDS_PER_EPOCH,
    SECONDS_PER_SAMPLE,
)
from sizer.exchange.imported_columns import (
    AXES,
    COMPARED,
    MODES,
    NEEDED,
    OF_ONE_GPU,
    RATED_BY,
    READERS,
    ParsedRow,
    parse_row,
)
from sizer.exchange.imported_runs import axis_value, runs_of
from sizer.exchange.jobs import named_apart, unknown_words, with_versions
from sizer.exchange.measurements import MACHINE_COLUMNS
from sizer.exchange.rented_machines import with_known_machines
from sizer.exchange.repeats import mixed, not_only_repeats, repeats_that_differ
from sizer.exchange.shares_of_machines import of_whole_machines
from sizer.exchange.understanding import MOST_LINES, understood, with_workloads
from sizer.exchange.units_left_out import offered_units
from sizer.exchange.whole_batches import batches_like_those_of_one
from sizer.files.tables import Table, named, read_table
from sizer.records.device import HOST_DISK, BatchRate, Device, DiskRates
from sizer.records.errors import InputError
from sizer.records.kinds import IMPORTED, KINDS
from sizer.records.messages import AllOf, AnyOf, Message
from sizer.records.run import Run
from sizer.records.study import DiskTier, Measure, Note, NoteKind, Study, Workload, WorkloadPlan

CURVED = ("vcpus", "memory_gib", "disk", "batch_size")
"""Axes over which curves are fitted: of a row without one nobody knows where on the curve it belongs."""
MOST_WORKLOADS = 500
MOST_REPEATS = 1000
"""In a study file; runs may have more."""
RATED_BY_NOTES = {
    SECONDS_PER_EPOCH: NoteKind.RATE_FROM_EPOCHS,
    SECONDS_PER_BATCH: NoteKind.RATE_FROM_BATCHES,
    SECONDS_PER_SAMPLE: NoteKind.RATE_FROM_SAMPLES,
    LATENCY: NoteKind.RATE_FROM_BATCHES,
}
TOLERANCE = 1.05
"""A rate of a GPU that a run exceeds by more is not that run's ceiling."""


@dataclass(frozen=True)
class Imported:
    """The study of a table and its runs; `unknown` are columns that are kept unread, `notes` what to know of it."""

    study: Study
    runs: tuple[Run, ...]
    unknown: tuple[str, ...]
    notes: tuple[Note, ...]


def read_measurements(path: Path, catalog: Catalog | None, job_by: Sequence[str] = ()) -> Imported:
    """What the table at `path` says; the catalogue knows machines, disks, and the rates of GPUs that were emulated.

    `job_by` are columns whose values are different jobs.
    Raises InputError with file, line, column and what to type at the first thing that cannot be.
    """
    read = understood(read_table(path, Message("a table of measurements"), READERS, NEEDED), path, READERS, catalog)
    rated_by = read.rated_by
    _check_columns(read.table, rated_by, path)
    if read.without_unit:
        header = read.headers[read.without_unit]
        raise InputError(
            "{path}: rates follow from `{header}`, and nothing says its unit; call it {names}.",
            path=path,
            header=header,
            names=AnyOf(*(f"{header} ({unit})" for unit in offered_units(read.without_unit))),
        )
    table, found = with_workloads(read.table, path)
    notes = [*read.notes, *found]
    parsed = [parse_row(row, rated_by) for row in table.rows]
    if rated_by is not None and any(row[rated_by] is not None for row in parsed):
        whose = (BATCH_PER_GPU,) if BATCH_PER_GPU in table.columns else ()
        notes.append(Note(RATED_BY_NOTES[rated_by], columns=(rated_by,), names=whose))
    notes += unknown_words(parsed)
    parsed, found = with_versions(parsed)
    notes += found
    parsed, found = named_apart(parsed, [_own_column(name, table, read.headers, path) for name in job_by])
    notes += found
    if catalog is not None:
        parsed, found = with_known_machines(parsed, catalog, read.headers)
        notes += found
    parsed, found = of_whole_machines(parsed, read.per_gpu, read.headers)
    notes += found
    parsed, found = with_disk_classes(parsed, catalog)
    notes += found
    workloads: dict[str, list[ParsedRow]] = defaultdict(list)
    for each in parsed:
        workloads[each["workload"]].append(each)
    if len(workloads) > MOST_WORKLOADS:
        raise InputError(
            "{path} has {workloads} workloads, and a study has at most {most}; split the table.",
            path=path,
            workloads=f"{len(workloads):,}",
            most=MOST_WORKLOADS,
        )
    _check_varied(parsed, path)
    emulated, assumed = _emulated_devices(workloads, catalog)
    runs = runs_of(parsed, path.name, emulated, mixed(parsed))
    understood_too = {BATCH_PER_GPU, GPU_MEMORY, *OF_ONE_GPU, *(set(MODES) & set(read.headers)), rated_by or ""}
    unknown = table.unknown({*READERS, *understood_too})
    if any(note.kind is NoteKind.CPU_NOT_VCPUS for note in notes):
        notes = [_without_column(note, "vcpus") for note in notes]
    first = Note(NoteKind.IMPORTED, table=path.name, rows=len(parsed))
    notes = [
        first,
        *batches_like_those_of_one(parsed),
        *notes,
        *repeats_that_differ(runs),
        *not_only_repeats(parsed),
        *_gaps(workloads),
        *_lacking(workloads),
        *assumed,
    ]
    notes = [note for note in notes if note.kind is not NoteKind.COLUMNS_READ or note.columns]
    return Imported(_study(path, runs), runs, unknown, tuple(notes))


def _own_column(name: str, table: Table, headers: Mapping[str, str], path: Path) -> str:
    """The column of the table of that name, by what sizer calls it. Raises InputError where there is none."""
    called = {headers.get(column, column).lower(): column for column in table.columns}
    found = called.get(name.lower(), name if name in table.columns else None)
    if found is None:
        raise InputError(
            "{path} has no column `{name}` to tell jobs apart by, only {found}.",
            path=path,
            name=name,
            found=named([headers.get(column, column) for column in table.columns]),
        )
    return found


def _without_column(note: Note, column: str) -> Note:
    """The note of the columns read without the one that was read as `column`, which it turned out not to be."""
    if note.kind is not NoteKind.COLUMNS_READ:
        return note
    kept = [pair for pair in zip(note.columns, note.read_as, strict=True) if pair[1] != column]
    return replace(note, columns=tuple(header for header, _ in kept), read_as=tuple(read for _, read in kept))


def _check_columns(table: Table, rated_by: str | None, path: Path) -> None:
    counted = RATED_BY[rated_by] if rated_by is not None else None
    if counted is not None and counted not in table.columns:
        raise InputError(
            "{path}: rates follow from `{time}` only with `{counted}`; add that column, or one `throughput`.",
            path=path,
            time=rated_by,
            counted=counted,
        )
    missing = "throughput" not in table.columns and not rated_by
    if missing:
        raise InputError(
            "{path} has no column `throughput`, only {found}. Name the columns as in measurements.csv; `sizer import "
            "--help` lists them.",
            path=path,
            found=named(table.columns),
        )
    if not set(COMPARED) & set(table.columns):
        raise InputError("{path} has no column that varies; add {axes}.", path=path, axes=AnyOf(*AXES))
    if not table.rows:
        raise InputError("{path} has a header but no rows; write one run per row.", path=path)


def _check_varied(parsed: Sequence[ParsedRow], path: Path) -> None:
    """Raise InputError where rows of one configuration differ in what sizer does not read, so that nothing is compared.

    One row is an answer, and so are its repeats.
    """
    if any(len({axis_value(row, column) for row in parsed}) > 1 for column in COMPARED):
        return
    if any(len({row[column] for row in parsed}) > 1 for column in MACHINE_COLUMNS):
        return
    for note in not_only_repeats(parsed):
        raise InputError(
            "{path}: none of {axes} has two values, and rows differ only in {columns}; name what was compared in one "
            "of these columns, or type `--job-by COLUMN` where one of them tells jobs apart.",
            path=path,
            axes=AllOf(*AXES),
            columns=named(note.columns),
        )


def _emulated_devices(
    workloads: dict[str, list[ParsedRow]], catalog: Catalog | None
) -> tuple[dict[str, Device], tuple[Note, ...]]:
    """The catalogue's rate of each emulated GPU that the table gives none for, and a note for each that is used."""
    found: dict[str, Device] = {}
    notes = []
    for name, rows in workloads.items():
        for device in dict.fromkeys(row["device"] for row in rows):
            if catalog is None or device is None or device.kind != "emulated" or device.gpu is None:
                continue
            alike = [row for row in rows if row["device"] == device]
            known = _published(alike, device.gpu, catalog)
            if known is not None:
                found[f"{name}/{device.gpu}"] = known
                rate, source = known.samples_per_second, known.source or ""
                notes.append(
                    Note(NoteKind.PUBLISHED_RATE, (name,), gpu=device.gpu, samples_per_second=rate, source=source)
                )
    return found, tuple(notes)


def _published(rows: Sequence[ParsedRow], gpu: str, catalog: Catalog) -> Device | None:
    """The published rate for this network; None where there is none, or where a run was faster."""
    if any(row["accelerator_samples_per_second"] is not None for row in rows):
        return None
    networks = {row["network"] for row in rows}
    modes = {KINDS[row["kind"] or "image_training"].rate_mode for row in rows}
    fastest = max((row["throughput"] or 0.0 for row in rows), default=0.0)
    if len(networks) == len(modes) == 1:
        network, mode = networks.pop(), modes.pop()
        with suppress(InputError):
            figure = catalog.accelerator_rate(mode or "", network or "", gpu, **_of_all(rows))
            if figure.basis is not Basis.TRANSFERRED and fastest <= TOLERANCE * figure.samples_per_second:
                rate = float(figure.samples_per_second)
                known = BatchRate(1, rate, figure.source, figure.low, figure.high, figure.basis.value)
                return Device("emulated", 0, gpu).with_rate(known)
    return None


def _of_all(rows: Sequence[ParsedRow]) -> dict[str, Any]:
    """What else these rows say of the rate that they had, where all say the same."""
    names = ("precision", "batch_size", "framework")
    found = {name: {row[name] for row in rows} for name in names}
    return {name: values.pop() if len(values) == 1 else None for name, values in found.items()}


def _study(path: Path, runs: Sequence[Run]) -> Study:
    """The workloads without axes: what was measured is in the runs, and nothing of it can be run here."""
    firsts: dict[str, Workload] = {}
    for run in runs:
        firsts.setdefault(run.spec.workload.name, run.spec.workload)
    batches = {run.spec.workload.name: run.spec.batch_size for run in reversed(runs)}
    plans = tuple(WorkloadPlan(_planned(workload), (batches[name],)) for name, workload in firsts.items())
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem, flags=re.ASCII).lstrip("._-")
    repeats = min(MOST_REPEATS, runs[0].spec.measure.repeats)
    return Study(name[:100] or "imported", plans, _emulated_disks(runs), measure=Measure(repeats=repeats))


def _emulated_disks(runs: Sequence[Run]) -> tuple[DiskTier, ...]:
    """The disks that were emulated, as far as a study file can say with which figures; real ones have no place here."""
    found: dict[str, DiskTier] = {}
    for run in runs:
        rates = run.disk.tier.emulated if run.disk is not None else None
        if run.disk is None or rates is None or rates.read_bytes_per_second is None:
            continue
        name, read = run.disk.tier.name, rates.read_bytes_per_second
        sayable = DiskRates(
            rates.read_iops,
            float(round(read)),
            rates.write_iops if rates.write_iops is not None else rates.read_iops,
            float(round(rates.write_bytes_per_second or read)),
        )
        if _is_key(name) and _can_be_said(sayable):
            found.setdefault(name, DiskTier(name, emulated=sayable, disk_class=run.disk.tier.disk_class))
    return tuple(found.values())


def _is_key(name: str) -> bool:
    """Whether a study file can name a disk so; one that it cannot is in the runs all the same."""
    return name != HOST_DISK and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name, re.ASCII) is not None


def _can_be_said(rates: DiskRates) -> bool:
    """Whether a study file's bounds hold these figures."""
    iops = (rates.read_iops, rates.write_iops)
    megabytes = (rates.read_bytes_per_second, rates.write_bytes_per_second)
    return all(value is None or 1 <= value <= 1e9 for value in iops) and all(
        value is None or 1e3 <= value <= 1e15 for value in megabytes
    )


def _planned(workload: Workload) -> Workload:
    """As the study file can say it: with its defaults for what the table does not have, and of a real GPU no rate."""
    device = workload.computes_on
    if device.kind == "cuda":
        device = Device("cuda", device.index or 0)
    return replace(
        workload,
        kind=IMPORTED,
        framework=workload.framework or "other",
        device=device,
        input=workload.input if workload.input not in (None, "replay") else "disk",
        cache=workload.cache or "cold",
        precision=None,
        mode=None,
    )


def _gaps(workloads: dict[str, list[ParsedRow]]) -> Iterable[Note]:
    """A note for each axis that some rows of a workload leave empty."""
    for column in CURVED:
        lines = []
        for rows in workloads.values():
            empty = [row.row.line for row in rows if row[column] is None and not _needless(row, column)]
            lines += empty if any(row[column] is not None for row in rows) else []
        if lines:
            lines.sort()
            more = max(0, len(lines) - MOST_LINES)
            yield Note(NoteKind.GAPS, columns=(column,), lines=tuple(lines[:MOST_LINES]), rows=more)


def _needless(parsed: ParsedRow, column: str) -> bool:
    """Nothing is read from a disk where the input is none."""
    return column == "disk" and parsed["input"] in ("cached", "synthetic")


def _lacking(workloads: dict[str, list[ParsedRow]]) -> Iterable[Note]:
    without = tuple(name for name, rows in workloads.items() if all(_no_device(row) for row in rows))
    if without:
        yield Note(NoteKind.NO_DEVICE, without)
    lacking = tuple(name for name, rows in workloads.items() if not any(_has_size(row) for row in rows))
    if lacking:
        yield Note(NoteKind.NO_VCPUS, lacking)


def _has_size(parsed: ParsedRow) -> bool:
    """Whether a row says what machine it was made on: by its vCPUs, or by what matters more there."""
    named = parsed["instance_type"] is not None or parsed["usd_per_hour"] is not None
    return named or parsed["vcpus"] is not None or _has_accelerator(parsed)


def _has_accelerator(parsed: ParsedRow) -> bool:
    device = parsed["device"]
    return bool(parsed["gpu"] or parsed["gpu_count"] or (device is not None and device.kind != "cpu"))


def _no_device(parsed: ParsedRow) -> bool:
    return parsed["device"] is None and parsed["gpu"] is None and parsed["gpu_count"] is None
