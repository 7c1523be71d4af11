"""The record of a run that took place: outcome, throughput, demand, evidence and warnings. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer import accounting
from sizer.evidence import busy_shares, name_bottleneck
from sizer.observation import Observation
from sizer.records import Configuration, DataSet, Demand, DiskCheck, Outcome, Run, Sample, Step
from sizer.steady_state import SteadyState, steady_state
from sizer.stopping import Ending, Stop, measured_from_epoch, outcome

CONTENDED_CORES = 0.05
"""Cores used by something else on the host from which a run is marked."""

RESIDENT_SHARE = 0.02
"""Share of the data set still in the page cache before a run from which it is marked."""

THROTTLED_SHARE = 0.05
"""Share of throttled periods from which a run with whole vCPUs is marked: its limit should be the cpuset alone."""

REREAD_SHARE = 0.02
"""Bytes read a sample, over the data set's bytes a sample, from which a later epoch reads what it could not keep."""


@dataclass(frozen=True)
class Measured:
    """All that came out of a child."""

    seen: Observation
    exit_status: int | None
    samples: tuple[Sample, ...]
    accounted: frozenset[str]
    limited_by: str
    last_lines: str
    resident_bytes: int | None


def run_record(
    measured: Measured,
    configuration: Configuration,
    data_set: DataSet | None,
    disk: DiskCheck | None,
    started_at: str,
    wall_seconds: float,
) -> Run:
    """The Run of a child that is gone."""
    seen = measured.seen
    steady, first_epoch = _steady_state(seen)
    oom_kills = max((sample.oom_kills for sample in measured.samples), default=0)
    ending = Ending(seen.stop or Stop.ENDED, measured.exit_status, oom_kills, steady is not None, seen.detail)
    how, error = outcome(ending)
    if error and measured.last_lines and how is not Outcome.INTERRUPTED:
        error = f"{error}; its last words:\n{measured.last_lines}"
    run = Run(
        spec=seen.spec,
        outcome=how,
        configuration=configuration,
        started_at=started_at,
        wall_seconds=wall_seconds,
        error=error,
        sample_unit=seen.unit,
        data_set=_data_set(data_set, seen),
        stopped=ending.stop.value,
        peak_memory_bytes=_peak(measured, "memory_bytes"),
        peak_anonymous_bytes=_peak(measured, "anonymous_bytes"),
        resident_bytes=measured.resident_bytes,
        disk=disk,
        limited_by=measured.limited_by,
        steps=tuple(seen.steps),
        samples=measured.samples,
    )
    if how is not Outcome.COMPLETED or steady is None:
        return run
    return _with_result(run, steady, first_epoch, measured.accounted)


def _steady_state(seen: Observation) -> tuple[SteadyState | None, int]:
    """The steady state and the epoch it starts from; the first epoch serves where the later ones were not reached."""
    wanted = measured_from_epoch(seen.spec.workload)
    steady = steady_state(seen.steps, wanted)
    return (steady, wanted) if steady or not wanted else (steady_state(seen.steps), 0)


def _with_result(run: Run, steady: SteadyState, first_epoch: int, accounted: frozenset[str]) -> Run:
    device = run.spec.workload.device
    used = _only_accounted(accounting.demand(steady, run.steps, run.samples, device), accounted)
    rates = run.disk.rates if run.disk else None
    busy = busy_shares(steady.throughput.value, used, run.configuration, rates, device)
    starved = measured_from_epoch(run.spec.workload) == 1 and _reread(run, used)
    latencies = [step.latency for step in run.steps if step.latency is not None and step.time > steady.start]
    return replace(
        run,
        throughput=steady.throughput,
        first_epoch_throughput=_first_epoch(run.steps),
        warm_up_seconds=steady.warm_up_seconds,
        measured_seconds=steady.measured_seconds,
        demand=used,
        latency_p50=float(np.percentile(latencies, 50)) if latencies else None,
        latency_p99=float(np.percentile(latencies, 99)) if latencies else None,
        evidence=name_bottleneck(busy, run.configuration.vcpus, starved),
        warnings=tuple(_warnings(run, steady, first_epoch)),
    )


def _only_accounted(used: Demand, accounted: frozenset[str]) -> Demand:
    """A counter that this host does not keep is unknown, not zero."""
    counters = {"core_seconds", "read_bytes", "read_ios", "written_bytes", "write_ios"}
    return replace(used, **dict.fromkeys(counters - accounted))


def _reread(run: Run, used: Demand) -> bool:
    data = run.data_set
    if data is None or not data.samples or used.read_bytes is None:
        return False
    return used.read_bytes > REREAD_SHARE * data.bytes / data.samples


def _first_epoch(steps: Sequence[Step]) -> float | None:
    """Samples/s of the first epoch, where there was a later one."""
    if not steps or steps[-1].epoch == 0:
        return None
    first = steady_state([step for step in steps if step.epoch == 0])
    return first.throughput.value if first else None


def _warnings(run: Run, steady: SteadyState, first_epoch: int) -> list[str]:
    """What a reader must know of this figure; each is one sentence."""
    found = []
    others = accounting.other_cores(run.samples, steady.start, steady.end)
    if others > CONTENDED_CORES:
        found.append(f"contended: something else on this host used {others:.2f} cores meanwhile")
    if run.data_set and run.resident_bytes and run.resident_bytes > RESIDENT_SHARE * run.data_set.bytes:
        found.append(f"page cache warm: {run.resident_bytes / run.data_set.bytes:.0%} of the data was resident before")
    if first_epoch != measured_from_epoch(run.spec.workload):
        found.append("first epoch only: no later epoch began before the time was up, so the cache was not in use yet")
    periods = accounting.grown(run.samples, "periods", steady.start, steady.end)
    throttled = accounting.grown(run.samples, "throttled_periods", steady.start, steady.end)
    if periods and run.configuration.vcpus.is_integer() and throttled > THROTTLED_SHARE * periods:
        found.append(f"throttled: {throttled / periods:.0%} of CPU periods hit a quota that was not asked for")
    if steady.relative_half_width > run.spec.measure.precision:
        found.append(
            f"imprecise: ±{steady.relative_half_width:.1%} after {steady.measured_seconds:.0f} s, "
            f"where ±{run.spec.measure.precision:.1%} was asked for"
        )
    if run.stopped == Stop.DEADLINE.value:
        found.append(f"short: stopped at the deadline after {steady.measured_seconds:.0f} s of steady state")
    return found


def _data_set(data_set: DataSet | None, seen: Observation) -> DataSet | None:
    """The data set with the size that the workload itself found."""
    if data_set is None or seen.start is None or not seen.start.dataset_samples:
        return data_set
    return replace(data_set, bytes=seen.start.dataset_bytes or data_set.bytes, samples=seen.start.dataset_samples)


def _peak(measured: Measured, counter: str) -> int | None:
    if counter not in measured.accounted:
        return None
    return max((getattr(sample, counter) for sample in measured.samples), default=None)
