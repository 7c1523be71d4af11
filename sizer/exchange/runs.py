"""Rows of a table of measurements -> Runs: repeats distinguished, epochs of one run joined."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import stdev
from typing import Any

from sizer.exchange.jobs import configuration_of
from sizer.exchange.measurements import DEMANDS, DISK_FIGURES, EMBEDDED, EPOCH, GPU_FIGURES, MACHINE, NODES
from sizer.exchange.rows import ParsedRow
from sizer.records import run as records
from sizer.records.device import GIVEN_IN_TABLE, HOST_DISK, BatchRate, Device, DiskRates, GpuUse
from sizer.records.kinds import IMPORTED
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run_kinds import ISOLATED_STAGES, Outcome, Purpose
from sizer.records.study import DiskTier, Limits, Measure, RunSpec, Workload

FEWEST_EPOCHS = 3
"""Two rates say almost nothing about how far a third would lie from them."""
Rows = Sequence[ParsedRow]


@dataclass(frozen=True)
class EpochRows:
    """The rows of one run: the one that counts, or each later epoch of it; `first` is the rate of its epoch 0."""

    rows: tuple[ParsedRow, ...]
    first: float | None = None

    @property
    def lead(self) -> ParsedRow:
        """The row that gives all but the rate."""
        return self.rows[0]

    def mean(self, column: str) -> float | None:
        """Over the epochs that have it."""
        values = [row[column] for row in self.rows if row[column] is not None]
        return math.fsum(values) / len(values) if len(values) > 1 else values[0] if values else None


def runs_of(rows: Rows, source: str, doubts: Mapping[int, records.RunWarning]) -> tuple[records.Run, ...]:
    """The runs that rows describe, in the order of the rows.

    `source` names the file in what a person reads, `doubts` what the table itself says against a row, by line.
    """
    groups: dict[tuple[Any, ...], list[ParsedRow]] = defaultdict(list)
    axes: dict[tuple[str, str], set[Any]] = defaultdict(set)
    for row in rows:
        groups[configuration_of(row)].append(row)
        for column in ("vcpus", "memory_gib", "disk", "gpu_count"):
            axes[row["workload"], column].add(row[column])
    varied = {place for place, values in axes.items() if len(values) > 1}
    rates = _batch_rates(rows)
    numbered = [(epochs, repeat) for group in groups.values() for epochs, repeat in _with_repeats(_joined(group))]
    measure = Measure(repeats=1 + max(repeat for _, repeat in numbered))
    numbered.sort(key=lambda pair: pair[0].lead.row.line)
    runs = []
    for epochs, repeat in numbered:
        workload = _workload(epochs.lead, rates.get(_emulated(epochs.lead), ()))
        run = _run(epochs, repeat, measure, varied, source, workload)
        doubt = doubts.get(run.spec.line)
        runs.append(run if doubt is None else replace(run, warnings=(*run.warnings, doubt)))
    return tuple(runs)


def _joined(group: Rows) -> list[EpochRows]:
    """The runs of one configuration. The n-th row of an epoch belongs to the n-th run, where no `repeat` is given.

    An epoch 0 without later epochs is a run of one pass; where others of the configuration have later ones it is left
    out as a rate, since it is not theirs, and serves as the first epoch of a run that lacks one.
    """
    plain: list[EpochRows] = []
    epochs: dict[tuple[Any, int], dict[int, ParsedRow]] = defaultdict(dict)
    for row in group:
        if row[EPOCH] is None or row.outcome is not Outcome.COMPLETED:
            plain.append(EpochRows((row,)))
            continue
        turn = 0
        while row[EPOCH] in epochs[row["repeat"], turn]:
            turn += 1
        epochs[row["repeat"], turn][row[EPOCH]] = row
    whole, alone = [], []
    for by_epoch in epochs.values():
        cold = by_epoch.get(0)
        later = tuple(by_epoch[number] for number in sorted(by_epoch) if number > 0)
        if later:
            whole.append(EpochRows(later, cold["throughput"] if cold is not None else None))
        elif cold is not None:
            alone.append(EpochRows((cold,)))
    return plain + (whole or alone)


def _with_repeats(runs: Sequence[EpochRows]) -> list[tuple[EpochRows, int]]:
    """Each run with its repeat, from 0: as given, and where that is taken or not given the next that is free."""
    numbers: dict[int, int] = {}
    for index, epochs in enumerate(runs):
        repeat = epochs.lead["repeat"]
        if repeat is not None and repeat not in numbers:
            numbers[repeat] = index
    taken = {index: repeat for repeat, index in numbers.items()}
    free = iter(sorted(set(range(len(runs) + len(numbers))) - set(numbers)))
    return [(epochs, taken[index] if index in taken else next(free)) for index, epochs in enumerate(runs)]


def _run(
    epochs: EpochRows, repeat: int, measure: Measure, varied: set[tuple[str, str]], source: str, workload: Workload
) -> records.Run:
    row, name = epochs.lead, epochs.lead["workload"]
    limits = Limits(
        row["vcpus"] if (name, "vcpus") in varied else None,
        row["memory_gib"] if (name, "memory_gib") in varied else None,
        row["disk"] if (name, "disk") in varied and row["disk"] != HOST_DISK else None,
    )
    failed, bottleneck, first = row.outcome is not Outcome.COMPLETED, row["bottleneck"], row["first_epoch_throughput"]
    purpose = _purpose(epochs, repeat)
    return records.Run(
        spec=RunSpec(workload, row["batch_size"] or 1, limits, measure, repeat, row.row.line, purpose),
        outcome=row.outcome,
        configuration=_configuration(row, workload.computes_on, (name, "gpu_count") in varied),
        started_at=row["started_at"],
        wall_seconds=0.0,
        error=records.Failure(records.Cause(records.CauseKind.IMPORTED, {"line": row.row.line}, source))
        if failed
        else None,
        sample_unit=row["sample_unit"] or "sample",
        data_set=_data_set(row, source),
        throughput=_throughput(epochs),
        rate=records.RateDetails(
            first_epoch_throughput=first if first is not None else epochs.first,
            latency_p50=epochs.mean("latency_p50_ms"),
            latency_p99=epochs.mean("latency_p99_ms"),
        ),
        demand=_demand(epochs),
        memory=records.MemoryUse(peak_anonymous_bytes=row["peak_anonymous_gib"]),
        conditions=records.Conditions(hit_rate=epochs.mean("hit_rate"), gpus=_gpus(epochs, workload.computes_on)),
        evidence=records.Evidence(bottleneck, {}, records.EvidenceKind.IMPORTED, text=source) if bottleneck else None,
        disk=_disk(row),
        limited_by=records.LimitedBy(records.LimitedByKind.IMPORTED, text=source),
        declared=records.Declared(machine=_machine(row), other=_other(epochs.rows)),
        warnings=_warnings(epochs),
    )


def _purpose(epochs: EpochRows, repeat: int) -> Purpose:
    marks = [mark for row in epochs.rows for mark in row["warnings"] or () if isinstance(mark, Purpose)]
    stages = {stage: purpose for purpose, stage in ISOLATED_STAGES.items()}
    return marks[0] if marks else stages.get(epochs.lead["isolates"], Purpose.REPEAT if repeat else Purpose.ASKED)


def _warnings(epochs: EpochRows) -> tuple[records.RunWarning, ...]:
    """Those of all epochs, each once; what the rows of a table say of one another is found anew."""
    warnings: list[records.RunWarning] = []
    for mark in (mark for row in epochs.rows for mark in row["warnings"] or ()):
        if (
            isinstance(mark, records.RunWarning)
            and mark.kind is not records.WarningKind.MAY_BE_ANOTHER_JOB
            and mark not in warnings
        ):
            warnings.append(mark)
    return tuple(warnings)


def _workload(row: ParsedRow, rates: tuple[BatchRate, ...]) -> Workload:
    return Workload(
        name=row["workload"],
        kind=row["kind"] or IMPORTED,
        cache=row["cache"] or ("natural" if row[EPOCH] else None),
        device=_device(row, rates),
        **{column: row[column] for column in ("framework", "network", "precision", "mode", "format", "input")},
    )


def _emulated(row: ParsedRow) -> tuple[str, str]:
    """The workload of a row and its emulated device; the latter empty where it is none."""
    device = row["device"]
    return row["workload"], device.label if device is not None and device.kind == "emulated" else ""


def _batch_rates(rows: Rows) -> dict[tuple[str, str], tuple[BatchRate, ...]]:
    """By workload and emulated device the rates of its batch sizes, where each has one and they differ."""
    by_device: dict[tuple[str, str], dict[int, set[BatchRate]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        rate, size = row["accelerator_samples_per_second"], row["batch_size"]
        if _emulated(row)[1] and rate and size:
            by_device[_emulated(row)][size].add(_rate(row, size, rate))
    return {
        key: tuple(rates.pop() for _, rates in sorted(sizes.items()))
        for key, sizes in by_device.items()
        if all(len(rates) == 1 for rates in sizes.values())
        and len({rate.samples_per_second for rates in sizes.values() for rate in rates}) > 1
    }


def _rate(row: ParsedRow, batch_size: int, rate: float) -> BatchRate:
    """With its interval, if that holds it."""
    low, high = row["accelerator_rate_low"], row["accelerator_rate_high"]
    if low is None or high is None or not low <= rate <= high:
        low = high = None
    return BatchRate(batch_size, rate, GIVEN_IN_TABLE, low, high, row["accelerator_rate_basis"])


def _device(row: ParsedRow, rates: tuple[BatchRate, ...]) -> Device | None:
    """With its rate, and those of the other batch sizes, where that is known; None where the row says nothing of a
    device."""
    device: Device | None = row["device"]
    if device is None and (row["gpu"] is not None or row["gpu_count"]):
        device = Device("cuda", index=None)
    if device is None:
        return None
    ceiling, emulated = row["accelerator_samples_per_second"], device.kind == "emulated"
    if device.kind != "cpu" and (ceiling or device.samples_per_second):
        rate = float(ceiling or device.samples_per_second or 0)
        device = Device(device.kind, device.index, device.gpu, rate, GIVEN_IN_TABLE)
        if emulated:
            middle = rates[len(rates) // 2] if rates else _rate(row, row["batch_size"] or 1, rate)
            device = replace(device.with_rate(middle), batch_rates=rates)
    loss = row["accelerator_scaling_loss"]
    return (
        replace(device, scaling_loss=loss, scaling_source=GIVEN_IN_TABLE) if emulated and loss is not None else device
    )


def _configuration(row: ParsedRow, device: Device, several: bool) -> Configuration:
    """The GPU that a device names by itself is not named again, nor counted unless there are `several` numbers, as in
    the runs that sizer measures."""
    gpu = row["gpu"] if row["gpu"] != device.gpu else None
    count = row["gpu_count"]
    if count is None and (row["device"] is not None or row["gpu"] is not None):
        count = 0
    usual = device.kind == "emulated" and count == 1 and not several
    return Configuration(row["vcpus"], row["memory_gib"], row["disk"], row["batch_size"], gpu, 0 if usual else count)


def _throughput(epochs: EpochRows) -> Estimate | None:
    """Of several epochs the rate over all of them, all as long; from three on the interval of their mean."""
    rates = [row["throughput"] for row in epochs.rows]
    if rates[0] is None:
        return None
    if len(rates) == 1:
        low, high = epochs.lead["throughput_low"], epochs.lead["throughput_high"]
        return Estimate(rates[0], rates[0] if low is None else low, rates[0] if high is None else high)
    mean, half = len(rates) / math.fsum(1 / rate for rate in rates), 0.0
    if len(rates) >= FEWEST_EPOCHS:
        from scipy.special import stdtrit

        # Sizer 0.2 had three digits of this quantile (0.2 % off at most) and 2 from eleven epochs on (10 % off).
        half = float(stdtrit(len(rates) - 1, 0.975)) * stdev(rates) / math.sqrt(len(rates))
    return Estimate(mean, mean - half, mean + half)


def _demand(epochs: EpochRows) -> records.Demand | None:
    figures = {name: epochs.mean(column) for column, name in DEMANDS.items()}
    return records.Demand(**figures) if any(figure is not None for figure in figures.values()) else None


def _gpus(epochs: EpochRows, device: Device) -> tuple[GpuUse, ...]:
    """What the table says of its GPU; of several it has the highest."""
    figures: dict[str, Any] = {
        name: value for column, name in GPU_FIGURES.items() if (value := epochs.mean(column)) is not None
    }
    if not figures:
        return ()
    figures |= {name: round(figures[name]) for name in ("peak_memory_bytes",) if name in figures}
    return (replace(GpuUse(device.index or 0, epochs.lead["gpu"] or "GPU"), **figures),)


def _data_set(row: ParsedRow, source: str) -> records.DataSet | None:
    name, size, samples = row["dataset"], row["dataset_gib"], row["dataset_samples"]
    if name is None and size is None and samples is None:
        return None
    return records.DataSet(
        name or f"given by {source}", row["format"] or "unknown", size or 0, samples or 0, name == EMBEDDED
    )


def _disk(row: ParsedRow) -> records.DiskCheck | None:
    """A disk with what it gives; of an emulated one that is what was set."""
    rates, emulated = DiskRates(**{name: row[column] for column, name in DISK_FIGURES.items()}), row["disk_emulated"]
    if rates == DiskRates() and row["disk_class"] is None and not emulated:
        return None
    tier = DiskTier(row["disk"] or HOST_DISK, emulated=rates if emulated else None, disk_class=row["disk_class"])
    return records.DiskCheck(tier, DiskRates() if emulated else rates)


def _machine(row: ParsedRow) -> records.RentedMachine | None:
    """What was rented; None where the row says nothing of it."""
    rented = records.RentedMachine(**{column: row[column] for column in MACHINE}, nodes=row[NODES] or 1)
    return rented if rented != records.RentedMachine() else None


def _other(rows: Rows) -> dict[str, str]:
    """The cells of unknown columns; of several epochs each different one."""
    names = dict.fromkeys(name for row in rows for name in row.other)
    return {name: "; ".join(dict.fromkeys(row.other[name] for row in rows if name in row.other)) for name in names}
