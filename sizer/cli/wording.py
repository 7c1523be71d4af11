"""Records in the few words of a terminal line. What was emulated is never named without saying so."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sizer.model import ISOLATED
from sizer.records import (
    Estimate,
    Outcome,
    Run,
    RunSpec,
    Study,
    format_bytes,
    format_number,
    format_rate,
    format_share,
    format_vcpus,
    printable,
    typed_path,
)
from sizer.words import bound_by, disk_name

LONGEST_CAUSE = 160
"""Characters of why a run failed that a line shows; its log has the rest."""

WIDEST_SHARE = 0.5
"""Half of an interval over its value up to which `±` says something; beyond it, the interval itself is shown."""


def emulated_disks(study: Study) -> frozenset[str]:
    """The names of the disks of a study that are emulated."""
    return frozenset(tier.name for tier in study.disks if tier.emulated is not None)


def run_in_words(spec: RunSpec, emulated: Collection[str] = ()) -> str:
    """`train 2 vCPUs, 8 GiB, disk nvme, batch 32`, with only what is limited; `emulated` names such disks."""
    limits = spec.limits
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_name(limits.disk, limits.disk in emulated)] if limits.disk is not None else []
    alone = [f"isolating {ISOLATED[spec.isolates]}"] if spec.isolates is not None else []
    return f"{spec.workload.name} {', '.join([*parts, f'batch {spec.batch_size}', *alone])}"


def imported_run_in_words(run: Run) -> str:
    """The same of a run that was measured elsewhere, with its accelerators, and without what nobody told."""
    limits, stand = run.spec.limits, run.configuration
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [f"{max(1, stand.gpu_count)} × {stand.gpu or 'GPU'}"] if stand.gpu or stand.gpu_count else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_name(limits.disk, _is_emulated(run))] if limits.disk is not None else []
    parts += [f"batch {stand.batch_size}"] if "batch_size" not in run.untold else []
    return " ".join([run.spec.workload.name, ", ".join(parts)]).strip()


def _is_emulated(run: Run) -> bool:
    return run.disk is not None and run.disk.tier.emulated is not None


def result_in_words(run: Run, log: Path | None = None) -> str:
    """The outcome of a run and, if it has one, its rate; `log` is named where a cause is too long to be shown."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return f"{run.outcome.words} ({_cause(run, log)})"
    bound = f", {bound_by(run.evidence.bottleneck, run.spec.workload.device)}" if run.evidence else ""
    rate = format_rate(run.throughput.value, printable(run.sample_unit))
    interval = f" {_interval(run.throughput)}" if "throughput_low" not in run.untold else ""
    return f"{rate}{interval}{bound}"


def _interval(rate: Estimate) -> str:
    """`±1.9 %`, or `(0 to 103)` where the rate is hardly known."""
    if not rate.value:
        return "±unknown"
    if rate.relative_half_width > WIDEST_SHARE:
        return f"({format_number(max(0.0, rate.low))} to {format_number(rate.high)})"
    return f"±{format_share(rate.relative_half_width, 1)}"


def _cause(run: Run, log: Path | None) -> str:
    """What happened and, if the log says more, its last line."""
    first, *more = (run.error or "no reason given").splitlines() or [""]
    cause = printable(f"{first} {more[-1].strip()}" if more else first)
    if len(cause) <= LONGEST_CAUSE:
        return cause
    return f"{cause[:LONGEST_CAUSE]}..." + (f"; log: {typed_path(log)}" if log is not None else "")
