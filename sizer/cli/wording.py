"""Records in the few words of a terminal line. What was emulated is never named without saying so."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from sizer.model import ISOLATED
from sizer.recommend import Accelerators, named
from sizer.records import (
    HOST_DISK,
    Answer,
    Bottleneck,
    Device,
    Estimate,
    Outcome,
    Run,
    RunSpec,
    Spec,
    Study,
    format_bytes,
    format_number,
    format_rate,
    format_share,
    format_vcpus,
    printable,
    typed_path,
)

LONGEST_CAUSE = 160
"""Characters of why a run failed that a line shows; its log has the rest."""

WIDEST_SHARE = 0.5
"""Half of an interval over its value up to which `±` says something; beyond it, the interval itself is shown."""

BOUND = {
    Bottleneck.CPU: "bound by the CPU",
    Bottleneck.SERIAL: "bound by its serial part",
    Bottleneck.DISK_BANDWIDTH: "bound by disk bandwidth",
    Bottleneck.DISK_IOPS: "bound by disk IOPS",
    Bottleneck.DISK_WRITE: "bound by disk writes",
    Bottleneck.MEMORY: "bound by memory",
    Bottleneck.AMBIGUOUS: "with no clear bottleneck",
}


def bound_in_words(bottleneck: Bottleneck, device: Device) -> str:
    """`bound by the CPU`, `bound by the emulated accelerator (P100)`."""
    if bottleneck is not Bottleneck.ACCELERATOR:
        return BOUND[bottleneck]
    if device.kind != "emulated":
        return "bound by the accelerator"
    return f"bound by the emulated accelerator ({device.label.removeprefix('emulated:')})"


def disk_in_words(name: str, emulated: bool) -> str:
    """`disk nvme`, `disk cloud_ssd (emulated)`, or `the host's own disk` where none was asked for."""
    if name == HOST_DISK:
        return "the host's own disk"
    return f"disk {name} (emulated)" if emulated else f"disk {name}"


def emulated_disks(study: Study) -> frozenset[str]:
    """The names of the disks of a study that are emulated."""
    return frozenset(tier.name for tier in study.disks if tier.emulated is not None)


def spec_in_words(spec: Spec, emulated: bool, device: Device | None = None) -> str:
    """`2 vCPUs, 8 GiB, disk nvme`, with only what the spec fixes; `emulated` is said of its disk."""
    parts = [format_vcpus(spec.vcpus)] if spec.vcpus is not None else []
    parts += [named(Accelerators(spec.gpu, spec.gpu_count), device)] if spec.gpu or spec.gpu_count else []
    parts += [format_bytes(spec.memory_bytes)] if spec.memory_bytes is not None else []
    parts += [disk_in_words(spec.disk, emulated)] if spec.disk is not None else []
    parts += [f"batch {spec.batch_size}"] if spec.batch_size is not None else []
    return ", ".join(parts)


def verdict_in_words(answer: Answer, spec: str) -> str:
    """`recommended 4 vCPUs`; what is a lower bound, not settled, or rests on doubtful runs does not sound as sure."""
    if answer.edge == "unsettled":
        return f"not settled, {spec} so far"
    words = "at least" if answer.status == "at_least" else answer.status
    return f"{'provisionally ' if answer.provisional else ''}{words} {spec}"


def run_in_words(spec: RunSpec, emulated: Collection[str] = ()) -> str:
    """`train 2 vCPUs, 8 GiB, disk nvme, batch 32`, with only what is limited; `emulated` names such disks."""
    limits = spec.limits
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, limits.disk in emulated)] if limits.disk is not None else []
    alone = [f"isolating {ISOLATED[spec.isolates]}"] if spec.isolates is not None else []
    return f"{spec.workload.name} {', '.join([*parts, f'batch {spec.batch_size}', *alone])}"


def imported_run_in_words(run: Run) -> str:
    """The same of a run that was measured elsewhere, with its accelerators, and without what is not known."""
    limits, stand = run.spec.limits, run.configuration
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [f"{max(1, stand.gpu_count or 0)} × {stand.gpu or 'GPU'}"] if stand.gpu or stand.gpu_count else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [disk_in_words(limits.disk, _is_emulated(run))] if limits.disk is not None else []
    parts += [f"batch {stand.batch_size}"] if stand.batch_size is not None else []
    return " ".join([run.spec.workload.name, ", ".join(parts)]).strip()


def _is_emulated(run: Run) -> bool:
    return run.disk is not None and run.disk.tier.emulated is not None


def result_in_words(run: Run, log: Path | None = None) -> str:
    """The outcome of a run and, if it has one, its rate; `log` is named where a cause is too long to be shown."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return f"{run.outcome.words} ({_cause(run, log)})"
    bound = f", {bound_in_words(run.evidence.bottleneck, run.spec.workload.computes_on)}" if run.evidence else ""
    rate = format_rate(run.throughput.value, printable(run.sample_unit))
    interval = f" {_interval(run.throughput)}" if run.throughput.has_interval else ""
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
