"""What is asked for: workloads, limits, disks, and the runs that they make. Frozen records, plain enough to be JSON.

Units are bytes, seconds and samples per second throughout. The type hint of a field
names its domain: what a file may hold there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property

from sizer.records.adaptive import Adaptive
from sizer.records.device import Device, DiskRates
from sizer.records.domains import (
    SCHEMA_VERSION,
    Amount,
    Batch,
    Bytes,
    Cache,
    Count,
    Input,
    Kind,
    Label,
    MeterChoice,
    Mode,
    Name,
    Preference,
    Probability,
    Rate,
    SafeName,
    Stage,
    Vcpus,
)
from sizer.records.framework_options import FrameworkOptions
from sizer.records.kinds import COMMAND, KINDS, PYTORCH
from sizer.records.own_programs import Variable
from sizer.records.run_kinds import ISOLATED_STAGES, Purpose

FP32 = "fp32"


@dataclass(frozen=True)
class Workload:
    """The program being measured. `data` None means the embedded data set.

    `framework`, `input`, `cache` and `device` are None where an imported table does not say them. `precision` is that
    of the numbers that are computed with, such as `fp16`, where the study file or an imported table says it.

    Then come those of a command: what counts its steps, what is set in its environment and what is passed on of
    sizer's (a `*` stands for any letters), the folder that it starts in, None for an empty one, and the commands that
    are run once before the study and before each run. `options` are those of sizer's own networks, and `mode` is what
    is computed of a batch, None for what its kind says. `samples_per_step` is how many samples each step of a command
    has; None where what counts the steps sees that.
    """

    name: Name
    kind: Kind
    framework: Label | None = "mxnet"
    network: Label | None = None
    data: str | None = None
    format: str | None = None
    input: Input | None = "disk"
    cache: Cache | None = "cold"
    device: Device | None = Device()
    command: tuple[str, ...] = ()
    pattern: str | None = None
    sample_unit: Label | None = None
    precision: Label | None = None
    meter: MeterChoice = "auto"
    env: tuple[Variable, ...] = ()
    pass_env: tuple[str, ...] = ()
    cwd: str | None = None
    setup: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    options: FrameworkOptions = FrameworkOptions()
    mode: Mode | None = None
    samples_per_step: Batch | None = None

    @property
    def shuffles(self) -> bool:
        """Whether its data is read in a new order each epoch, or perhaps is."""
        in_order_of_keys = self.format == "lmdb" and self.framework != PYTORCH
        return KINDS[self.kind].shuffles and not in_order_of_keys

    @property
    def reads_folder(self) -> bool:
        """Whether the files of a folder are read one by one, and not packed first."""
        return self.format == "folder" and self.framework == PYTORCH

    @property
    def run_words(self) -> tuple[str, ...]:
        """All words of a command in which a run fills in placeholders."""
        return (*self.command, *self.before, *(each.value or each.kept or "" for each in self.env))

    def search_path(self, ours: Mapping[str, str]) -> str | None:
        """The PATH that its programs are looked for in, with `ours` as the environment of sizer."""
        own = next((each.value_in(ours) for each in self.env if each.name == "PATH"), None)
        return ours.get("PATH") if own is None else own

    @property
    def computes_on(self) -> Device:
        """The device; the CPU where the table does not say it."""
        return self.device or Device()

    @property
    def assumed_input(self) -> Input:
        """The input; the disk where the table does not say it."""
        return self.input or "disk"

    @property
    def assumed_cache(self) -> Cache:
        """The state of the page cache; empty at the start where the table does not say it."""
        return self.cache or "cold"

    @property
    def computed_mode(self) -> str | None:
        """What is computed of a batch: its own mode, or its kind's; None where nothing says it."""
        return self.mode or KINDS[self.kind].mode

    @property
    def rate_precision(self) -> str | None:
        """That its rate is looked up; sizer's own networks compute in fp32 unless it says otherwise."""
        return self.precision or (FP32 if self.computed_mode is not None else None)

    @property
    def may_be_hooked(self) -> bool:
        """Whether sizer's hook may count its steps: those of a command that is not measured by an expression."""
        return self.kind == COMMAND and (self.meter == "hook" or (self.meter == "auto" and self.pattern is None))


@dataclass(frozen=True)
class Limits:
    """What a run may use. None is not limited; `disk` is a tier's name in the study."""

    vcpus: Vcpus | None = None
    memory_bytes: Bytes | None = None
    disk: Name | None = None


@dataclass(frozen=True)
class DiskTier:
    """A kind of volume: a real mount (`path`) or one emulated by throttling (`emulated`)."""

    name: Name
    path: str | None = None
    emulated: DiskRates | None = None
    disk_class: str | None = None
    catalog_name: str | None = None
    size_bytes: Bytes | None = None


@dataclass(frozen=True)
class Measure:
    """How each configuration is measured: fresh processes, seconds after warm-up, relative half-width.

    `steps` are the fewest that a run is measured over, however long they take; 0 is as many as its interval needs.
    """

    repeats: Count = 3
    seconds: Rate = 30.0
    precision: Rate = 0.02
    seed: Count = 1
    timeout: Rate | None = None
    steps: Count = 0


@dataclass(frozen=True)
class Deadline:
    """A job of so many samples to be finished within so many seconds."""

    samples: Rate
    seconds: Rate

    @property
    def rate(self) -> float:
        """The samples per second that it takes."""
        return self.samples / self.seconds


@dataclass(frozen=True)
class Objective:
    """What the answer should prefer, and which share of the best throughput it must reach.

    With a deadline, or a rate in samples per second that is to be reached at the least, neither counts: then it is the
    spec that costs least for the work of those that are fast enough. `latency_p99` is how many seconds 99 of 100
    batches may take at the most, beside what else is asked. `spot`: by the prices of spare capacity. `gpus`: what these
    would do for the job is asked, too.
    """

    prefer: Preference = "cheapest"
    target: Probability = 0.95
    deadline: Deadline | None = None
    at_least: Rate | None = None
    latency_p99: Rate | None = None
    spot: bool = False
    gpus: tuple[Label, ...] = ()

    @property
    def rate(self) -> float | None:
        """The samples per second that are asked for; None where a share of the best is."""
        return self.at_least if self.deadline is None else self.deadline.rate

    @property
    def counts(self) -> Preference:
        """What is preferred among those that give what is asked for: with a rate, the least cost of the work."""
        return self.prefer if self.rate is None else "cheapest"


@dataclass(frozen=True)
class RunSpec:
    """One planned configuration of a workload and one repeat of it.

    `batch_size` is that of one accelerator, of which there are `gpu_count`; 0 is as many as the device says.
    `line` is that of an imported run in its file; 0 for one that is measured here.
    """

    workload: Workload
    batch_size: Batch
    limits: Limits
    measure: Measure
    repeat: Count = 0
    line: Count = 0
    purpose: Purpose = Purpose.ASKED
    gpu_count: Count = 0

    @property
    def device(self) -> Device:
        """Where its step is computed, with the rate that is emulated for its batch size."""
        return self.workload.computes_on.at_batch(self.batch_size)

    @property
    def samples_a_step(self) -> int:
        """A batch for each accelerator."""
        return self.batch_size * max(1, self.gpu_count)

    @property
    def stage(self) -> Stage | None:
        """The stage that the run is to show by itself; None is a run of the whole workload."""
        return ISOLATED_STAGES.get(self.purpose)

    @cached_property
    def id(self) -> str:
        """Twelve hex digits of everything that makes this run this run; the name of its file.

        Of its purpose only the stage counts, under the name that it had when the first folders were written.
        """
        identity = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "purpose"}
        identity["workload"] = _identity(self.workload, self.device, several=self.gpu_count > 1)
        measure = {name: value for name, value in vars(self.measure).items() if name != "repeats"}
        if not self.measure.steps:
            del measure["steps"]
        identity["measure"] = measure
        if not self.line:
            del identity["line"]
        if self.gpu_count <= 1:  # one is what every device says
            del identity["gpu_count"]
        if self.stage is not None:
            identity["isolates"] = self.stage
        text = json.dumps(identity, sort_keys=True, default=vars)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


_LATER_FIELDS = (
    "precision",
    "meter",
    "env",
    "pass_env",
    "cwd",
    "setup",
    "before",
    "options",
    "mode",
    "samples_per_step",
)
"""Fields that the first workloads did not have: at their default they are no part of what a run is known by."""


def _identity(workload: Workload, device: Device, several: bool) -> dict[str, object]:
    """What makes a workload this one on its device, in the form of schema 1, so that the ids of runs stay the same."""
    filled = replace(
        workload,
        framework=workload.framework or "other",
        input=workload.assumed_input,
        cache=workload.assumed_cache,
        device=None,
    )
    identity = {each.name: getattr(filled, each.name) for each in fields(filled)}
    identity["device"] = _device_identity(device, several)
    # Of a variable that is not stored only the name is known when the study goes on.
    identity["env"] = {each.name: each.value for each in workload.env}
    defaults = {each.name: each.default for each in fields(workload)}
    defaults["mode"] = workload.mode and KINDS[workload.kind].mode
    for name in _LATER_FIELDS:
        if getattr(workload, name) == defaults[name]:
            del identity[name]
    return identity


def _device_identity(device: Device, several: bool) -> dict[str, object]:
    """What several of it lose to each other counts where there are `several`; who says so never does."""
    identity = vars(replace(device, index=device.index or 0)).copy()
    if device.scaling_loss is None or not several:
        del identity["scaling_loss"]
    for name in ("scaling_source", "batch_rates", "rate_low", "rate_high", "rate_basis"):
        del identity[name]
    return identity


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
    HOSTS_OF_GPUS = "hosts_of_gpus"
    """To the machines in `names` GPUs may be added, and the table names none; `rows` of these have no price."""
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
    MACHINES_PARTLY_KNOWN = "machines_partly_known"
    """It does not know the instance types in `names`, so what their rows leave empty stays empty."""
    MEMORY_IN_GIB = "memory_in_gib"
    """The table says as many GB of the instance types in `names` as they have GiB."""
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
    TAKEN_AS_REPEATS = "taken_as_repeats"
    """Two repeats of one configuration in `lines` have `rates` more than threefold apart; `rows` more are like that."""
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


@dataclass(frozen=True)
class FrameworkPython:
    """The interpreter that the programs of a framework run on, by its path or by a name in PATH, and where the study
    file says so; `line` 0 in a study that was read from none."""

    framework: Label
    python: str
    file: str = field(default="", compare=False)
    line: Count = field(default=0, compare=False)


@dataclass(frozen=True)
class Study:
    """All runs asked for, with every default filled in. `frameworks`: those whose interpreter the file names.

    `adaptive`: they are chosen one after another, and only as many are made as the answers need; None makes all.
    `run_as`: the user by whom runs are made; `me` is who started sizer, under sudo who typed it. `max_processes`: of a
    run, with threads.
    """

    name: SafeName
    workloads: tuple[WorkloadPlan, ...]
    disks: tuple[DiskTier, ...] = ()
    around: Limits | None = None
    measure: Measure = Measure()
    objective: Objective = Objective()
    embedded_images: Count = 4000
    frameworks: tuple[FrameworkPython, ...] = ()
    adaptive: Adaptive | None = None
    run_as: SafeName = "me"
    max_processes: Count = 4096
    schema_version: int = SCHEMA_VERSION

    @property
    def imported(self) -> bool:
        """Whether it was measured elsewhere, so that nothing of it can be run and nothing was set by sizer."""
        return all(plan.workload.kind == "imported" for plan in self.workloads)

    @property
    def emulated_disks(self) -> tuple[str, ...]:
        """The names of its disks that are emulated."""
        return tuple(tier.name for tier in self.disks if tier.emulated is not None)

    def python(self, framework: str | None) -> FrameworkPython | None:
        """The interpreter that the file names for a framework; None where it names none."""
        return next((each for each in self.frameworks if each.framework == framework), None)

    def disk(self, name: str) -> DiskTier:
        """The tier of that name; KeyError if the study has none."""
        for tier in self.disks:
            if tier.name == name:
                return tier
        raise KeyError(name)


@dataclass(frozen=True)
class WorkloadPlan:
    """A workload with the values of each axis; an empty axis is not limited. `batch_size` is that of one accelerator.

    `memory_floor`: after its runs, the smallest memory cap that completes is searched for. `isolate`: runs that show
    one stage of it each are made, too. `largest_batch`: after its runs, the largest batch that fits is searched for, up
    to this one; 0 where it is not.
    """

    workload: Workload
    batch_size: tuple[Batch, ...]
    vcpus: tuple[Vcpus, ...] = ()
    memory_bytes: tuple[Bytes, ...] = ()
    disk: tuple[Name, ...] = ()
    memory_floor: bool = False
    isolate: bool = False
    gpu_count: tuple[Count, ...] = ()
    largest_batch: Count = 0

    @property
    def most_batch(self) -> int:
        """The largest batch that the search tries: no less than was asked for; 0 where nothing is searched for."""
        return max(self.largest_batch, *self.batch_size) if self.largest_batch else 0
