"""What a table of frameworks, networks and batch sizes says: seconds a mini-batch, ranks, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.records.configuration import Estimate
from sizer.records.domains import Amount, Batch, Bytes, Cache, Count, Input, Label, Mode, Name, Vcpus
from sizer.records.run_kinds import Outcome


@dataclass(frozen=True)
class CrossColumn:
    """What is compared: a framework, and an accelerator where the columns differ in it. `cpu` is none, and
    `cpu:c4.8xlarge` the CPU of a machine that an imported table names so."""

    framework: Label
    accelerator: Label | None = None


@dataclass(frozen=True)
class CrossCell:
    """One column's seconds a mini-batch in a row, with the 95 % interval of its runs; None is missing.

    `outcome` is how its runs ended where none gave a rate; without one nothing was tried. `rank` counts those that are
    surely faster, from 1, so that two that cannot be told apart share one; `ratio` is the seconds over the least of the
    row. `doubtful` are those of its `runs` with a warning that makes a rate doubtful.
    """

    seconds: Estimate | None = None
    throughput: Estimate | None = None
    rank: Count | None = None
    ratio: Amount | None = None
    outcome: Outcome | None = None
    runs: Count = 0
    doubtful: Count = 0


@dataclass(frozen=True)
class CrossRow:
    """What all cells of a row have alike, a cell for each column; None where it is not known, or differs by machine."""

    network: Label
    batch_size: Batch
    mode: Mode | None
    precision: Label | None
    accelerator: Label | None
    accelerators: Count
    vcpus: Vcpus | None
    memory_bytes: Bytes | None
    disk: Name | None
    input: Input
    cache: Cache
    sample_unit: str
    cells: tuple[CrossCell, ...]


@dataclass(frozen=True)
class CrossTable:
    """Seconds a mini-batch of every column at every row. `not_the_same` are the networks that its frameworks define
    differently (`DIFFERENCES`); `supposed` is the relative half-width that ranks suppose of cells without repeats."""

    columns: tuple[CrossColumn, ...]
    rows: tuple[CrossRow, ...]
    not_the_same: tuple[Label, ...] = ()
    supposed: Amount | None = None
