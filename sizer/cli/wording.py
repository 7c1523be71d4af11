"""Records in the few words of a terminal line. What was emulated is never named without saying so."""

from __future__ import annotations

from sizer.recommend import Accelerators, named
from sizer.records import Answer, Device, Spec, Study, format_bytes, format_vcpus
from sizer.words import disk_in_words


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
