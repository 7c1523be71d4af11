"""A table of measurements made elsewhere -> a study with its runs, checked as a whole before anything is written."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.exchange.columns import Columns, read_columns
from sizer.exchange.headers import BATCH_PER_GPU, GPU_MEMORY, LATENCY, RATE_UNIT, RATED_BY, map_option
from sizer.exchange.jobs import mixed, named_apart, repeats_that_differ, taken_as_repeats, unknown_words
from sizer.exchange.machines import together, with_machines, with_whole_batches
from sizer.exchange.measurements import COLUMNS, MACHINE, NODES
from sizer.exchange.rows import READERS, ParsedRow, check, lines_note, read_rows
from sizer.exchange.runs import runs_of
from sizer.exchange.values import FASTEST, SLOWEST
from sizer.files.tables import named, read_table
from sizer.records.device import Device
from sizer.records.domains import LONGEST_NAME
from sizer.records.kinds import IMPORTED
from sizer.records.messages import AllOf, AnyOf, InputError, Message, printable
from sizer.records.notes import Note, NoteKind
from sizer.records.run import Run
from sizer.records.study import Measure, Study, Workload, WorkloadPlan

NEEDED = ("workload", "throughput")
AXES = ("vcpus", "memory_gib", "disk", "batch_size", "gpu", "gpu_count", "instance_type")
"""At least one of these has two values, or the table says nothing of which machine to take."""
COMPARED = (*AXES, NODES)
"""With the number of machines, which a table has in many ways."""
CURVED = ("vcpus", "memory_gib", "disk", "batch_size")
"""Axes over which curves are fitted: of a row without one nobody knows where on the curve it belongs."""
MOST_WORKLOADS = 500
MOST_REPEATS = 1000
"""In a study file; runs may have more."""


@dataclass(frozen=True)
class Imported:
    """The study of a table and its runs; `unknown` are columns that are kept unread, `notes` what to know of it."""

    study: Study
    runs: tuple[Run, ...]
    unknown: tuple[str, ...]
    notes: tuple[Note, ...]


def read_measurements(
    path: Path, catalog: Catalog | None, job_by: Sequence[str] = (), names: Mapping[str, str] | None = None
) -> Imported:
    """What the table at `path` says; the catalogue knows machines, disks, and the rates of GPUs that were emulated.

    `job_by` are columns whose values are different jobs, `names` by header of the table what it is to be read as:
    a column of sizer, another header that sizer reads (`step time (ms)`), or nothing.
    Raises InputError with file, line, column and what to type at the first thing that cannot be.
    """
    table = read_table(path, Message("a table of measurements"), COLUMNS, NEEDED)
    columns = read_columns(table, path, names or {})
    rows, notes_of_cells = read_rows(columns)
    _check_columns(columns, rows)
    rows, of_nodes = together(rows, columns, catalog)
    rows, of_batches = with_whole_batches(rows, columns)
    rows, named_by = _with_workloads([_rated(row, columns) for row in rows], columns)
    for row in rows:
        check(row)
    title = [Note(NoteKind.TITLE_LEFT_OUT, text=table.title)] if table.title else []
    notes = [*of_batches, *title, *columns.notes, *notes_of_cells, *of_nodes, *named_by]
    if (time := columns.rated_by) is not None and any(row[time] is not None for row in rows):
        whose = (BATCH_PER_GPU,) if BATCH_PER_GPU in columns else ()
        notes.append(Note(RATED_BY[time][1], columns=(time,), names=whose))
    notes += unknown_words(rows)
    rows, of_jobs = named_apart(rows, [_own_column(name, columns) for name in job_by])
    rows, of_machines = with_machines(rows, columns, catalog)
    workloads: dict[str, list[ParsedRow]] = defaultdict(list)
    for row in rows:
        workloads[row["workload"]].append(row)
    if len(workloads) > MOST_WORKLOADS:
        raise InputError(
            "{path} has {workloads} workloads, and a study has at most {most}; split the table.",
            path=path,
            workloads=f"{len(workloads):,}",
            most=MOST_WORKLOADS,
        )
    repeats = taken_as_repeats(rows)
    if repeats is not None and not _is_varied(rows):
        raise InputError(
            "{path}: none of {axes} has two values, and rows differ only in {columns}; say what was compared, such as "
            "{option}, or type `--job-by COLUMN` where one of them tells jobs apart.",
            path=path,
            axes=AllOf(*AXES),
            columns=named(repeats.columns),
            option=map_option(repeats.columns[0], "instance_type"),
        )
    runs = runs_of(rows, path.name, mixed(rows))
    imported = Note(NoteKind.IMPORTED, table=path.name, rows=len(rows))
    notes = [imported, *notes, *of_jobs, *of_machines, *repeats_that_differ(runs)]
    notes += [*((repeats,) if repeats else ()), *_gaps(workloads), *_lacking(workloads)]
    return Imported(_study(path, runs), runs, columns.unknown({*READERS, GPU_MEMORY, RATE_UNIT}), tuple(notes))


def _own_column(name: str, columns: Columns) -> str:
    """The column of the table of that name, by what sizer calls it. Raises InputError where there is none."""
    names = {header: means.column for header, means in columns.read.items()}
    names |= {header: columns.name(header) for header in columns.unread}
    for header, column in names.items():
        if name.lower() == header.lower() or name == column:
            return column
    raise InputError(
        "{path} has no column `{name}` to tell jobs apart by, only {found}.",
        path=columns.path,
        name=name,
        found=named(columns.table.columns),
    )


def _check_columns(columns: Columns, rows: Sequence[ParsedRow]) -> None:
    path, time = columns.path, columns.rated_by
    counted = RATED_BY[time][0] if time is not None else None
    if counted and counted not in columns and not (counted == "batch_size" and BATCH_PER_GPU in columns):
        raise InputError(
            "{path}: rates follow from `{time}` only with `{counted}`; add that column, or one `throughput`.{hint}",
            path=path,
            time=time,
            counted=counted,
            hint=columns.hint(counted),
        )
    if "throughput" not in columns and time is None:
        raise InputError(
            "{path} has no column `throughput`, only {found}. Name the columns as in measurements.csv; `sizer import "
            "--help` lists them.{hint}",
            path=path,
            found=named(columns.table.columns),
            hint=columns.hint("throughput"),
        )
    if not any(column in columns or any(column in row.values for row in rows) for column in COMPARED):
        raise InputError(
            "{path} has no column that varies; add {axes}.{hint}",
            path=path,
            axes=AnyOf(*AXES),
            hint=columns.hint("vcpus"),
        )
    if not columns.table.rows:
        raise InputError("{path} has a header but no rows; write one run per row.", path=path)


def _with_workloads(rows: Sequence[ParsedRow], columns: Columns) -> tuple[list[ParsedRow], list[Note]]:
    """The rows with each network as a workload where no column has these, and as one where neither is there."""
    if "workload" in columns:
        return list(rows), []
    if "network" in columns:
        named_by = Note(NoteKind.NAMED_BY_COLUMN, columns=("network",))
        return [row.having(workload=row["network"]) for row in rows], [named_by]
    name = printable(columns.path.stem).strip()[:LONGEST_NAME] or "job"
    return [row.having(workload=name) for row in rows], [Note(NoteKind.NAMED_BY_TABLE, text=name if rows else "")]


def _rated(row: ParsedRow, columns: Columns) -> ParsedRow:
    """The row with the rate that follows from the time of a batch, of an epoch or of one sample, if it has none."""
    time = next((column for column in RATED_BY if row[column] is not None and column != LATENCY), None)
    if time is None and row[LATENCY] is not None and "throughput" not in columns:
        time = LATENCY
    if time is None or row["throughput"] is not None:
        return row
    counted, _ = RATED_BY[time]
    samples = 1 if counted is None else row[counted]
    if not samples:
        raise row.input_error(
            counted or "", "the cell is empty, and `{time}` becomes a rate by it; write how many samples.", time=time
        )
    rate: float = samples / row[time]
    if not SLOWEST <= rate <= FASTEST:
        raise row.input_error(time, "the rate that follows, {rate} samples a second, cannot be.", rate=rate)
    return row.having(throughput=rate)


def _is_varied(rows: Sequence[ParsedRow]) -> bool:
    """Whether machines or jobs are compared; one row is an answer, and so are its repeats."""
    kinds = {row["device"].label for row in rows if row["device"] is not None and row["device"].kind != "cpu"}
    return len(kinds) > 1 or any(len({row[column] for row in rows}) > 1 for column in (*COMPARED, *MACHINE))


def _study(path: Path, runs: Sequence[Run]) -> Study:
    """The workloads without axes: what was measured is in the runs, and nothing of it can be run here."""
    firsts: dict[str, WorkloadPlan] = {}
    for run in runs:
        firsts.setdefault(run.spec.workload.name, WorkloadPlan(_planned(run.spec.workload), (run.spec.batch_size,)))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem, flags=re.ASCII).lstrip("._-")
    repeats = min(MOST_REPEATS, runs[0].spec.measure.repeats)
    return Study(name[:100] or "imported", tuple(firsts.values()), measure=Measure(repeats=repeats))


def _planned(workload: Workload) -> Workload:
    """As the study file can say it: with its defaults for what the table does not have, and of a real GPU no rate."""
    device = workload.computes_on
    return replace(
        workload,
        kind=IMPORTED,
        framework=workload.framework or "other",
        device=Device("cuda", device.index or 0) if device.kind == "cuda" else device,
        input=workload.input if workload.input not in (None, "replay") else "disk",
        cache=workload.cache or "cold",
        precision=None,
        mode=None,
    )


def _gaps(workloads: Mapping[str, Sequence[ParsedRow]]) -> Iterator[Note]:
    """A note for each axis that some rows of a workload leave empty; nothing is read from a disk where the input is
    none."""
    for column in CURVED:
        lines = [
            row.row.line
            for rows in workloads.values()
            if any(row[column] is not None for row in rows)
            for row in rows
            if row[column] is None and not (column == "disk" and row["input"] in ("cached", "synthetic"))
        ]
        if lines:
            yield lines_note(NoteKind.GAPS, lines, column)


def _lacking(workloads: Mapping[str, Sequence[ParsedRow]]) -> Iterator[Note]:
    """What no row of a workload says of the machine: what computed, and how large it was."""

    def sized(row: ParsedRow) -> bool:
        device = row["device"]
        named = any(row[column] is not None for column in ("vcpus", "instance_type", "usd_per_hour", "gpu"))
        return bool(named or row["gpu_count"] or (device is not None and device.kind != "cpu"))

    def computed(row: ParsedRow) -> bool:
        return any(row[column] is not None for column in ("device", "gpu", "gpu_count"))

    for kind, says in ((NoteKind.NO_DEVICE, computed), (NoteKind.NO_VCPUS, sized)):
        if names := tuple(name for name, rows in workloads.items() if not any(map(says, rows))):
            yield Note(kind, names)
