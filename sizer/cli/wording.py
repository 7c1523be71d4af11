"""Records in the few words of a terminal line."""

from __future__ import annotations

from sizer.records import Outcome, Run, RunSpec, Spec
from sizer.units import format_bytes, format_rate, format_vcpus


def spec_in_words(spec: Spec) -> str:
    """`2 vCPU, 8 GiB, disk nvme`, with only what the spec fixes."""
    parts = [format_vcpus(spec.vcpus)]
    parts += [format_bytes(spec.memory_bytes)] if spec.memory_bytes is not None else []
    parts += [f"disk {spec.disk}"] if spec.disk is not None else []
    parts += [f"batch {spec.batch_size}"] if spec.batch_size is not None else []
    return ", ".join(parts)


def run_in_words(spec: RunSpec) -> str:
    """`train 2 vCPU, 8 GiB, disk nvme, batch 32`, with only what is limited."""
    limits = spec.limits
    parts = [format_vcpus(limits.vcpus)] if limits.vcpus is not None else []
    parts += [format_bytes(limits.memory_bytes)] if limits.memory_bytes is not None else []
    parts += [f"disk {limits.disk}"] if limits.disk is not None else []
    return f"{spec.workload.name} {', '.join([*parts, f'batch {spec.batch_size}'])}"


def result_in_words(run: Run) -> str:
    """The outcome of a run and, if it has one, its rate."""
    if run.outcome is not Outcome.COMPLETED or run.throughput is None:
        return f"{run.outcome.value} ({run.error.splitlines()[0] if run.error else 'no reason given'})"
    half = (run.throughput.high - run.throughput.low) / 2 / run.throughput.value
    bound = f", bound by {run.evidence.bottleneck.value.replace('_', ' ')}" if run.evidence else ""
    return f"{format_rate(run.throughput.value, run.sample_unit)} ±{half:.1%}{bound}"
