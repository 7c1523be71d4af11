"""What a reader of a study must know of the whole of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.domains import (
    Amount,
    Count,
)


class NoteKind(str, Enum):
    """What a reader of a study must know of the whole of it."""

    NO_FRACTIONAL_VCPUS = "no_fractional_vcpus"
    """This host cannot limit a fraction of a vCPU; `fix` is the command that would change it."""
    NO_MEMORY_AXIS = "no_memory_axis"
    """The same of memory."""
    NO_DISK_AXIS = "no_disk_axis"
    """The same of disks."""
    IMPORTED = "imported"
    """So many `rows` of the `table` were measured elsewhere."""
    NO_DEVICE = "no_device"
    """The table has no device or GPU of these `workloads`, so the CPU is assumed."""
    NO_VCPUS = "no_vcpus"
    """It has no vCPUs of these `workloads`."""
    COLUMNS_READ = "columns_read"
    """The `columns` of the table are read as those of sizer: `read_as`, in the same order."""
    THOUSANDS = "thousands"
    """In these `columns` a comma separates thousands; `text` is one such cell, and `read_as` what it is read as."""
    DECIMAL_COMMAS = "decimal_commas"
    """In these `columns` a comma is the decimal one; `text` and `read_as` as above."""
    MARKS_IGNORED = "marks_ignored"
    """What stands around the figures of these `columns` is not read; `text` and `read_as` as above."""
    COUNTS_IN_NAMES = "counts_in_names"
    """The names of GPUs in these `columns` have their count; `text` and `read_as` as above."""
    INPUTS_READ = "inputs_read"
    """Cells of `input` are called otherwise; `text` and `read_as` as above."""
    FAILURES_READ = "failures_read"
    """Cells of these `columns` say how a run failed: `text` is read as the outcome `read_as`."""
    NOT_MEASURED = "not_measured"
    """The rows in `lines` and `rows` more say that nothing was measured, and are left out."""
    CELLS_MERGED = "cells_merged"
    """The first cells of `lines` and `rows` more are empty, and are those of the row above."""
    BATCH_OF_ONE_GPU = "batch_of_one_gpu"
    """`columns` is the batch of one GPU, so `batch_size` is that times `gpu_count`."""
    UNITS_READ = "units_read"
    """The rates of `columns` are not samples a second: `text` is one, and `read_as` what it is then."""
    GPU_NAMES_READ = "gpu_names_read"
    """GPUs called `names` are those that price lists call `read_as`, in the same order."""
    RATE_OF_ONE_GPU = "rate_of_one_gpu"
    """`columns` is the rate of one GPU, so `throughput` is that times `gpu_count`."""
    PRICE_OF_ONE_GPU = "price_of_one_gpu"
    """The same of prices and `usd_per_hour`."""
    COUNTS_DIFFER = "counts_differ"
    """In `lines` and `rows` more a name such as `8x V100` counts others than `gpu_count`."""
    NODES_READ = "nodes_read"
    """Rows are of several machines together: the figures of `columns` are those of each, those of `names` of all."""
    COLUMN_DOUBTFUL = "column_doubtful"
    """What `columns` is, or its unit, is not sure, so it is not read; `names` is what to type for each."""
    MACHINE_AT_ODDS = "machine_at_odds"
    """In the first of `lines`, and in `rows` more, the one of `columns` is `text`; the machine in `names` has
    `read_as`."""
    TITLE_LEFT_OUT = "title_left_out"
    """`text` is above the header, and no part of the table."""
    WIDE_COLUMNS = "wide_columns"
    """Each of `columns` is a row of its own, with its `read_as`."""
    NAMED_BY_TABLE = "named_by_table"
    """The table has no column of workloads, so its rows are one, called `text`."""
    RATE_FROM_EPOCHS = "rate_from_epochs"
    """Rates that the table does not have are `dataset_samples` over the seconds in `columns`."""
    RATE_FROM_BATCHES = "rate_from_batches"
    """They are `batch_size`, the whole batch over all accelerators, over the seconds in `columns`; `names` is the
    column of the batch of one, where the table has it."""
    RATE_FROM_SAMPLES = "rate_from_samples"
    """They are 1 over the seconds in `columns`."""
    RELATIVE_RATES = "relative_rates"
    """The rates of `columns` are relative to something that the table does not say in samples a second."""
    MACHINES_KNOWN = "machines_known"
    """The catalogue gave `columns` of the instance types in `names`, which the table leaves empty."""
    CPUS_NAMED = "cpus_named"
    """Cells `names` name CPUs, which are told apart as the machines `read_as`, in the same order."""
    MODES_UNKNOWN = "modes_unknown"
    """The words `names` in the one of `columns` mean no mode; each is first in one of `lines`, in the same order."""
    PRECISIONS_UNKNOWN = "precisions_unknown"
    """The same of words that mean no precision."""
    GAPS = "gaps"
    """The one of `columns` is empty in `lines` and `rows` more, though other rows of the workload have it."""
    JOBS_NAMED_APART = "jobs_named_apart"
    """The rows of the workload `text` are different jobs by their `columns`: now they are `workloads`; so are those of
    as many more workloads as `rows`."""
    NAMED_BY_COLUMN = "named_by_column"
    """The table has no `workload`, so each value of `columns` is one."""
    REPEATS_DIFFER = "repeats_differ"
    """Two repeats of one configuration in `lines` have `rates` more than threefold apart; `rows` more are like that."""
    TAKEN_AS_REPEATS = "taken_as_repeats"
    """Rows that differ in `columns` alone, two of them in `lines`, are taken as repeats of one configuration."""
    DISK_CLASS_INFERRED = "disk_class_inferred"
    """The classes of the disks `names` are `read_as`, by their names."""
    NO_DISK_CLASS = "no_disk_class"
    """It is not known what kind of disks `names` are."""
    OTHER = "other"
    """What a sizer before wrote: `text`."""


@dataclass(frozen=True)
class Note:
    """One thing that a reader of a study must know of the whole of it, with what its kind needs."""

    kind: NoteKind
    workloads: tuple[str, ...] = ()
    table: str = ""
    rows: int = 0
    fix: str = ""
    gpu: str = ""
    samples_per_second: float | None = None
    source: str = ""
    text: str = ""
    columns: tuple[str, ...] = ()
    read_as: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    lines: tuple[Count, ...] = ()
    rates: tuple[Amount, ...] = ()
