"""Rows of a table of measurements -> Runs: repeats distinguished, epochs of one run joined."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

from scipy.special import stdtrit

from sizer.exchange.headers import NODES
from sizer.exchange.imported_columns import EPOCH, ParsedRow
from sizer.exchange.measurements import (
    DEMAND_COLUMNS,
    DISK_COLUMNS,
    EMBEDDED,
    GPU_COLUMNS,
    MACHINE_COLUMNS,
)
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import GIVEN_IN_TABLE, HOST_DISK, BatchRate, Device, DiskRates
from sizer.records.gpu import GpuUse
from sizer.records.kinds import IMPORTED
from sizer.records.run import (
    Cause,
    CauseKind,
    DataSet,
    Demand,
    DiskCheck,
    Evidence,
    EvidenceKind,
    Failure,
    LimitedBy,
    LimitedByKind,
    RentedMachine,
    Run,
    RunWarning,
    WarningKind,
)
from sizer.records.run_kinds import ISOLATED_STAGES, SEARCHES, Outcome, Purpose
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

SAME_RUN = (
    "framework",
    "network",
    "batch_size",
    "vcpus",
    "memory_gib",
    "disk",
    "input",
    "cache",
    "gpu",
    "gpu_count",
    "isolates",
    "provider",
    "instance_type",
    "region",
    NODES,
)
FEWEST_EPOCHS = 3
"""Two rates say almost nothing about how far a third would lie from them."""

RunKey = tuple[Any, ...]


@dataclass(frozen=True)
class EpochRows:
    """The rows of one run: the one that counts, or each later epoch of it; `first` is the rate of its epoch 0."""

    rows: tuple[ParsedRow, ...]
    first: float | None = None

    @property
    def lead(self) -> ParsedRow:
        """The row that gives all but the rate."""
        return self.rows[0]


def runs_of(
    parsed: Sequence[ParsedRow], source: str, devices: Mapping[str, Device], doubts: Mapping[int, RunWarning]
) -> tuple[Run, ...]:
    """The runs that rows describe, in the order of the rows.

    `source` names the file in what a person reads, `devices` holds a rate for each emulated GPU by workload and label,
    `doubts` what the table itself says against a row, by line.
    """
    groups: dict[RunKey, list[ParsedRow]] = defaultdict(list)
    for each in parsed:
        groups[run_key(each)].append(each)
    varied, rates = _varied(parsed), _batch_rates(parsed)
    numbered = [
        (epochs, repeat) for group in groups.values() for epochs, repeat in _with_repeats(_joined_epochs(group))
    ]
    most = 1 + max(repeat for _, repeat in numbered)
    numbered.sort(key=lambda each: each[0].lead.row.line)
    runs = (
        _run(
            epochs,
            repeat,
            Measure(repeats=most),
            varied[epochs.lead["workload"]],
            source,
            _workload(epochs, devices, rates.get(_emulated(epochs.lead), ())),
        )
        for epochs, repeat in numbered
    )
    lacking = ((run, doubts.get(run.spec.line)) for run in runs)
    return tuple(run if doubt is None else replace(run, warnings=(*run.warnings, doubt)) for run, doubt in lacking)


def axis_value(parsed: ParsedRow, column: str) -> Any:
    """A run's value on an axis; of `gpu` the name, else the device's."""
    value = parsed[column]
    if column == "gpu" and value is None and parsed["device"] is not None and parsed["device"].kind != "cpu":
        return parsed["device"].label
    return value


def run_key(parsed: ParsedRow) -> RunKey:
    """What the rows of one configuration have alike: they are its repeats, or epochs of one run."""
    device = parsed["device"]
    return (parsed["workload"], device.label if device else None, *(parsed[column] for column in SAME_RUN))


def _varied(parsed: Iterable[ParsedRow]) -> dict[str, frozenset[str]]:
    """By workload the axes that have more than one value: what its runs were limited to, and not what they had."""
    values: dict[str, dict[str, set[Any]]] = defaultdict(lambda: defaultdict(set))
    for each in parsed:
        for column in ("vcpus", "memory_gib", "disk", "gpu_count"):
            values[each["workload"]][column].add(each[column])
    return {
        name: frozenset(column for column, found in columns.items() if len(found) > 1)
        for name, columns in values.items()
    }


def _joined_epochs(group: Sequence[ParsedRow]) -> list[EpochRows]:
    """The runs of one configuration. The n-th row of an epoch belongs to the n-th run, where no `repeat` is given.

    An epoch 0 without later epochs is a run of one pass; where others of the configuration have later ones it is left
    out as a rate, since it is not theirs, and serves as the first epoch of a run that lacks one.
    """
    plain = [each for each in group if each[EPOCH] is None or each.outcome is not Outcome.COMPLETED]
    epochs: dict[tuple[Any, int], dict[int, ParsedRow]] = defaultdict(dict)
    for each in group:
        if each[EPOCH] is not None and each.outcome is Outcome.COMPLETED:
            turn = 0
            while each[EPOCH] in epochs[each["repeat"], turn]:
                turn += 1
            epochs[each["repeat"], turn][each[EPOCH]] = each
    joined = [_one_run(rows) for rows in epochs.values() if rows]
    with_later = [each for each in joined if each.lead[EPOCH] > 0]
    return [EpochRows((each,)) for each in plain] + (with_later or joined)


def _one_run(rows: Mapping[int, ParsedRow]) -> EpochRows:
    later = tuple(rows[number] for number in sorted(rows) if number > 0)
    cold = rows.get(0)
    if not later:
        assert cold is not None, "a run has at least one epoch"
        return EpochRows((cold,))
    return EpochRows(later, cold["throughput"] if cold is not None else None)


def _with_repeats(runs: Sequence[EpochRows]) -> list[tuple[EpochRows, int]]:
    """Each run with its repeat, from 0: as given, and where that is taken or not given the next that is free."""
    taken: set[int] = set()
    numbers: dict[int, int] = {}
    for index, each in enumerate(runs):
        repeat = each.lead["repeat"]
        if repeat is not None and repeat not in taken:
            taken.add(repeat)
            numbers[index] = repeat
    free = 0
    for index in range(len(runs)):
        if index not in numbers:
            while free in taken:
                free += 1
            taken.add(free)
            numbers[index] = free
    return [(each, numbers[index]) for index, each in enumerate(runs)]


def _run(
    epochs: EpochRows,
    repeat: int,
    measure: Measure,
    varied: frozenset[str],
    source: str,
    workload: Workload,
) -> Run:
    parsed = epochs.lead
    limits = Limits(
        parsed["vcpus"] if "vcpus" in varied else None,
        parsed["memory_gib"] if "memory_gib" in varied else None,
        parsed["disk"] if "disk" in varied and parsed["disk"] != HOST_DISK else None,
    )
    failed = parsed.outcome is not Outcome.COMPLETED
    bottleneck, first = parsed["bottleneck"], parsed["first_epoch_throughput"]
    return Run(
        spec=RunSpec(
            workload, parsed["batch_size"] or 1, limits, measure, repeat, parsed.row.line, _purpose(epochs, repeat)
        ),
        outcome=parsed.outcome,
        configuration=_configuration(parsed, workload.computes_on, "gpu_count" in varied),
        started_at=parsed["started_at"],
        wall_seconds=0.0,
        error=Failure(Cause(CauseKind.IMPORTED, {"line": parsed.row.line}, source)) if failed else None,
        sample_unit=parsed["sample_unit"] or "sample",
        data_set=_data_set(parsed, source),
        throughput=_throughput(epochs),
        first_epoch_throughput=first if first is not None else epochs.first,
        demand=_demand(epochs.rows),
        latency_p50=_mean(epochs.rows, "latency_p50_ms"),
        latency_p99=_mean(epochs.rows, "latency_p99_ms"),
        peak_anonymous_bytes=parsed["peak_anonymous_gib"],
        hit_rate=_mean(epochs.rows, "hit_rate"),
        evidence=Evidence(bottleneck, {}, EvidenceKind.IMPORTED, text=source) if bottleneck else None,
        gpus=_gpus(epochs, workload.computes_on),
        disk=_disk(parsed),
        limited_by=LimitedBy(LimitedByKind.IMPORTED, text=source),
        machine=_machine(parsed),
        other=_other(epochs.rows),
        warnings=_warnings(epochs),
    )


def _gpus(epochs: EpochRows, device: Device) -> tuple[GpuUse, ...]:
    """What the table says of its GPU; of several it has the highest."""
    found = {name: _mean(epochs.rows, column) for column, name in GPU_COLUMNS.items()}
    figures: dict[str, Any] = {name: value for name, value in found.items() if value is not None}
    if not figures:
        return ()
    if "peak_memory_bytes" in figures:
        figures["peak_memory_bytes"] = round(figures["peak_memory_bytes"])
    return (replace(GpuUse(device.index or 0, epochs.lead["gpu"] or "GPU"), **figures),)


def _purpose(epochs: EpochRows, repeat: int) -> Purpose:
    marks = (mark for row in epochs.rows for mark in row["warnings"] or () if isinstance(mark, Purpose))
    searched = next((mark for mark in marks if mark in SEARCHES), None)
    if searched is not None:
        return searched
    stages = {stage: purpose for purpose, stage in ISOLATED_STAGES.items()}
    return stages.get(epochs.lead["isolates"], Purpose.REPEAT if repeat else Purpose.ASKED)


def _warnings(epochs: EpochRows) -> tuple[RunWarning, ...]:
    """Those of all epochs, each once."""
    found: list[RunWarning] = []
    for row in epochs.rows:
        found += [mark for mark in row["warnings"] or () if isinstance(mark, RunWarning) and mark not in found]
    # What the rows of a table say of one another is found anew.
    return tuple(mark for mark in found if mark.kind is not WarningKind.MAY_BE_ANOTHER_JOB)


def _workload(epochs: EpochRows, devices: Mapping[str, Device], rates: tuple[BatchRate, ...]) -> Workload:
    parsed = epochs.lead
    return Workload(
        name=parsed["workload"],
        kind=parsed["kind"] or IMPORTED,
        framework=parsed["framework"],
        network=parsed["network"],
        precision=parsed["precision"],
        mode=parsed["mode"],
        format=parsed["format"],
        input=parsed["input"],
        cache=parsed["cache"] or ("natural" if parsed[EPOCH] else None),
        device=_device(parsed, devices, rates),
    )


def _emulated(parsed: ParsedRow) -> tuple[str, str]:
    """The workload of a row and its emulated device; the latter empty where it is none."""
    device = parsed["device"]
    return parsed["workload"], device.label if device is not None and device.kind == "emulated" else ""


def _batch_rates(parsed: Sequence[ParsedRow]) -> dict[tuple[str, str], tuple[BatchRate, ...]]:
    """By workload and emulated device the rates of its batch sizes, where each has one and they differ."""
    found: dict[tuple[str, str], dict[int, set[BatchRate]]] = defaultdict(lambda: defaultdict(set))
    for each in parsed:
        rate, size = each["accelerator_samples_per_second"], each["batch_size"]
        if _emulated(each)[1] and rate and size:
            found[_emulated(each)][size].add(_rate(each, size, rate))
    return {
        key: tuple(rates.pop() for _, rates in sorted(sizes.items()))
        for key, sizes in found.items()
        if all(len(rates) == 1 for rates in sizes.values())
        and len({rate.samples_per_second for rates in sizes.values() for rate in rates}) > 1
    }


def _rate(parsed: ParsedRow, batch_size: int, rate: float) -> BatchRate:
    """With its interval, if that holds it."""
    low, high = parsed["accelerator_rate_low"], parsed["accelerator_rate_high"]
    if low is None or high is None or not low <= rate <= high:
        low = high = None
    return BatchRate(batch_size, rate, GIVEN_IN_TABLE, low, high, parsed["accelerator_rate_basis"])


def _device(parsed: ParsedRow, devices: Mapping[str, Device], rates: tuple[BatchRate, ...]) -> Device | None:
    """With its rate, and those of the other batch sizes, where that is known; None where the row says nothing of a
    device."""
    device: Device | None = parsed["device"]
    if device is None and (parsed["gpu"] is not None or parsed["gpu_count"]):
        device = Device("cuda", index=None)
    if device is None:
        return None
    ceiling = parsed["accelerator_samples_per_second"]
    if device.kind != "cpu" and (ceiling or device.samples_per_second):
        rate = float(ceiling or device.samples_per_second or 0)
        device = Device(device.kind, device.index, device.gpu, rate, GIVEN_IN_TABLE)
        if device.kind == "emulated":
            middle = rates[len(rates) // 2] if rates else _rate(parsed, parsed["batch_size"] or 1, rate)
            device = replace(device.with_rate(middle), batch_rates=rates)
    elif device.kind == "emulated" and device.samples_per_second is None:
        device = devices.get(f"{parsed['workload']}/{device.gpu}", device)
    loss = parsed["accelerator_scaling_loss"]
    if device.kind == "emulated" and loss is not None:
        return replace(device, scaling_loss=loss, scaling_source=GIVEN_IN_TABLE)
    return device


def _configuration(parsed: ParsedRow, device: Device, several: bool) -> Configuration:
    """The GPU that a device names by itself is not named again, nor counted unless there are `several` numbers, as in
    the runs that sizer measures."""
    gpu = parsed["gpu"] if parsed["gpu"] != device.gpu else None
    count = parsed["gpu_count"]
    if count is None and (parsed["device"] is not None or parsed["gpu"] is not None):
        count = 0
    usual = device.kind == "emulated" and count == 1 and not several
    return Configuration(
        parsed["vcpus"], parsed["memory_gib"], parsed["disk"], parsed["batch_size"], gpu, 0 if usual else count
    )


def _throughput(epochs: EpochRows) -> Estimate | None:
    """Of several epochs the rate over all of them, all as long; from three on the interval of their mean."""
    rates = [row["throughput"] for row in epochs.rows]
    parsed = epochs.lead
    if rates[0] is None:
        return None
    if len(rates) == 1:
        low, high = parsed["throughput_low"], parsed["throughput_high"]
        return Estimate(rates[0], rates[0] if low is None else low, rates[0] if high is None else high)
    mean = len(rates) / math.fsum(1 / rate for rate in rates)
    if len(rates) < FEWEST_EPOCHS:
        return Estimate(mean, mean, mean)
    # Sizer 0.2 had three digits of this quantile (0.2 % off at most) and 2 from eleven epochs on (10 % off).
    half = float(stdtrit(len(rates) - 1, 0.975)) * stdev(rates) / math.sqrt(len(rates))
    return Estimate(mean, mean - half, mean + half)


def _demand(rows: Sequence[ParsedRow]) -> Demand | None:
    parsed = {name: column for name, column in DEMAND_COLUMNS.items() if any(column in row.values for row in rows)}
    return Demand(**{name: _mean(rows, column) for name, column in parsed.items()}) if parsed else None


def _mean(rows: Sequence[ParsedRow], column: str) -> float | None:
    known = [row[column] for row in rows if column in row.values]
    if len(known) < 2:
        return known[0] if known else None
    return math.fsum(known) / len(known)


def _data_set(parsed: ParsedRow, source: str) -> DataSet | None:
    name, size, samples = parsed["dataset"], parsed["dataset_gib"], parsed["dataset_samples"]
    if name is None and size is None and samples is None:
        return None
    return DataSet(
        name or f"given by {source}", parsed["format"] or "unknown", size or 0, samples or 0, name == EMBEDDED
    )


def _disk(parsed: ParsedRow) -> DiskCheck | None:
    """A disk with what it gives; of an emulated one that is what was set."""
    figures = {field: parsed[column] for column, field in DISK_COLUMNS.items()}
    known = any(figure is not None for figure in figures.values())
    if not known and parsed["disk_class"] is None and not parsed["disk_emulated"]:
        return None
    rates = DiskRates(**figures)
    tier = DiskTier(
        parsed["disk"] or HOST_DISK,
        emulated=rates if parsed["disk_emulated"] else None,
        disk_class=parsed["disk_class"],
    )
    return DiskCheck(tier, DiskRates() if parsed["disk_emulated"] else rates)


def _machine(parsed: ParsedRow) -> RentedMachine | None:
    """What was rented; None where the row says nothing of it."""
    said = {column: parsed[column] for column in MACHINE_COLUMNS}
    nodes = parsed[NODES] or 1
    known = nodes > 1 or any(value is not None for value in said.values())
    return RentedMachine(**said, nodes=nodes) if known else None


def _other(rows: Sequence[ParsedRow]) -> dict[str, str]:
    """The cells of unknown columns; of several epochs each different one."""
    names = dict.fromkeys(name for row in rows for name in row.other)
    return {name: "; ".join(dict.fromkeys(row.other[name] for row in rows if name in row.other)) for name in names}
