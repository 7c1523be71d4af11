"""What is asked for: workloads, limits, disks, and the runs that they make. Frozen records, plain enough to be JSON.

Units are bytes, seconds and samples per second throughout. The type hint of a field
names its domain: what a file may hold there.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property

from sizer.records.device import Device, DiskRates
from sizer.records.domains import (
    SCHEMA_VERSION,
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
    Signed,
    Stage,
    Vcpus,
)
from sizer.records.frameworks import FrameworkOptions, Variable
from sizer.records.kinds import COMMAND, KINDS, PYTORCH
from sizer.records.run_kinds import ISOLATED_STAGES, Purpose


@dataclass(frozen=True)
class Adaptive:
    """Runs are chosen one after another until every answer is settled, or `budget` seconds of runs or so many `runs`
    are spent; None is no such end. Those that were stored before count."""

    budget: Rate | None = None
    runs: Count | None = None

    @property
    def bounded(self) -> bool:
        return self.budget is not None or self.runs is not None


class RunReasonKind(str, Enum):
    """Why the adaptive plan made a run."""

    START = "start"
    """One of the first three, which show the least, the middle and the most of each axis."""
    ONLY_ONE = "only_one"
    """The workload has no other configuration."""
    NOT_SEEN = "not_seen"
    """No run had the `names[1]` of the axis `names[0]` yet."""
    BETWEEN_VCPUS = "between_vcpus"
    """Between `low` and `high` vCPUs the answer is open."""
    BETWEEN_MEMORY = "between_memory"
    """The same between `low` and `high` bytes of memory."""
    BETWEEN_DISKS = "between_disks"
    """The same between the disks `names`."""
    OWN_RUN = "own_run"
    """The answer itself was not measured yet."""
    NOT_SURE = "not_sure"
    """The answer, of `vcpus`, reaches what is asked for with a `probability` that is too low."""
    NOT_COMPARED = "not_compared"
    """The answer is the best of what was measured, as of several numbers of accelerators, and this was not yet."""
    NOT_FITTED = "not_fitted"
    """The runs do not carry an answer yet."""
    HOST_AGAIN = "host_again"
    """The host was last looked at `runs` runs ago."""
    HOST_OPEN = "host_open"
    """How slow the host was leaves the answer of the workload `names[0]` open."""


STUDY_AXES = ("vcpus", "memory", "disk", "batch_size", "gpu_count", "device")
"""What a run may show that no other did."""

FIGURES: dict[RunReasonKind, tuple[str, ...]] = {
    RunReasonKind.BETWEEN_VCPUS: ("low", "high"),
    RunReasonKind.BETWEEN_MEMORY: ("low", "high"),
    RunReasonKind.NOT_SURE: ("probability",),
    RunReasonKind.HOST_AGAIN: ("runs",),
}
NAMED = frozenset({RunReasonKind.NOT_SEEN, RunReasonKind.BETWEEN_DISKS, RunReasonKind.HOST_OPEN})


@dataclass(frozen=True)
class RunReason:
    """One reason, with its figures by name; `again` if its configuration was measured before. `sizer.words` says it."""

    kind: RunReasonKind
    figures: dict[str, Signed] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    again: bool = False

    @property
    def lacking(self) -> str | None:
        """The first field that a reason of its kind needs and that it has not, as in a damaged file."""
        missing = next((name for name in FIGURES.get(self.kind, ()) if name not in self.figures), None)
        if missing is not None:
            return f"figures.{missing}"
        of_axis = self.kind is RunReasonKind.NOT_SEEN
        named = bool(self.names) and (not of_axis or self.names[0] in STUDY_AXES)
        return "names" if self.kind in NAMED and not named else None


class PlanEndKind(str, Enum):
    """Why the adaptive plan makes no further run."""

    SETTLED = "settled"
    """Every workload's answer has its probability, and no run that is left would do much for it."""
    BUDGET = "budget"
    """No run that is left fits into what remains of the budget."""
    RUNS = "runs"
    """As many runs are made as were allowed."""
    NOTHING_LEFT = "nothing_left"
    """Every run of the study is made, or none that is left would tell more of what is open."""


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
        return (*self.command, *self.before, *(variable.value or variable.kept or "" for variable in self.env))

    def search_path(self, ours: Mapping[str, str]) -> str | None:
        """The PATH that its programs are looked for in, with `ours` as the environment of sizer."""
        own = next((variable.value_in(ours) for variable in self.env if variable.name == "PATH"), None)
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
    def rate_mode(self) -> str | None:
        """The mode in which its rate is looked up: that of its kind, or its own where it computes something else."""
        kind = KINDS[self.kind]
        return kind.rate_mode if self.mode in (None, kind.mode) else self.mode

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
class Interruptions:
    """How often an hour a spot machine is taken back, and every how many seconds the job saves its state."""

    per_hour: Rate
    checkpoint_seconds: Rate

    @property
    def time_factor(self) -> float:
        """Expected time of the work over that without interruptions: (e^(T/M) - 1) / (T/M) for a checkpoint every T and
        a mean time M between interruptions, where saving and starting again take no time (J. T. Daly 2006, "A higher
        order estimate of the optimum checkpoint interval for restart dumps", with R = delta = 0)."""
        share = self.per_hour * self.checkpoint_seconds / 3600
        return math.expm1(share) / share if share > 0 else 1.0


@dataclass(frozen=True)
class Objective:
    """What the answer should prefer, and which share of the best throughput it must reach.

    With a deadline, or a rate in samples per second that is to be reached at the least, neither counts: then it is the
    spec that costs least for the work of those that are fast enough. `latency_p99` is how many seconds 99 of 100
    batches may take at the most, beside what else is asked. `spot`: by the prices of spare capacity. `gpus`: what these
    would do for the job is asked, too. `baseline` is the machine to compare with: an instance type, or what a row is
    called. `samples` are those of the whole job where it has no deadline. `interruptions` are those of spare capacity.
    """

    prefer: Preference = "cheapest"
    target: Probability = 0.95
    deadline: Deadline | None = None
    at_least: Rate | None = None
    latency_p99: Rate | None = None
    spot: bool = False
    gpus: tuple[Label, ...] = ()
    baseline: Label | None = None
    samples: Rate | None = None
    interruptions: Interruptions | None = None

    @property
    def job_samples(self) -> float | None:
        """How many samples the whole job has, where that is known."""
        return self.samples if self.deadline is None else self.deadline.samples

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
        identity = {field_.name: getattr(self, field_.name) for field_ in fields(self) if field_.name != "purpose"}
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
    identity = {field_.name: getattr(filled, field_.name) for field_ in fields(filled)}
    identity["device"] = _device_identity(device, several)
    # Of a variable that is not stored only the name is known when the study goes on.
    identity["env"] = {variable.name: variable.value for variable in workload.env}
    defaults = {field_.name: field_.default for field_ in fields(workload)}
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
        return next((python for python in self.frameworks if python.framework == framework), None)

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
    to this one; 0 where it is not. `devices` are those that are compared, that of the workload the first of them; empty
    where it has one.
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
    devices: tuple[Device, ...] = ()

    @property
    def on_devices(self) -> tuple[Workload, ...]:
        """The workload on each of its devices."""
        return tuple(replace(self.workload, device=device) for device in self.devices) or (self.workload,)

    @property
    def most_batch(self) -> int:
        """The largest batch that the search tries: no less than was asked for; 0 where nothing is searched for."""
        return max(self.largest_batch, *self.batch_size) if self.largest_batch else 0
