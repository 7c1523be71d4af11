"""One spec family for all jobs of a study."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.records.answer import Answer, Family
from sizer.records.units import GIB

RATIOS = (2, 4, 8)
"""GiB of memory a vCPU that families offer."""


def family(answers: Sequence[Answer]) -> Family:
    """What a family must offer so that every job with an answer has its size; empty without an answer."""
    specs = {answer.workload: answer.spec for answer in answers if answer.spec and answer.spec.nodes == 1}
    if not specs:
        return Family()
    vcpus = [spec.vcpus for spec in specs.values() if spec.vcpus is not None]
    rising = any(answer.edge == "rising" and answer.spec and answer.spec.vcpus is not None for answer in answers)
    ratios = {
        name: spec.memory_bytes / GIB / spec.vcpus
        for name, spec in specs.items()
        if spec.memory_bytes and spec.vcpus is not None
    }
    greediest = max(ratios, key=lambda name: ratios[name], default=None)
    needed = ratios[greediest] if greediest is not None else None
    sold = next((offer for offer in RATIOS if needed is not None and offer >= needed), None)
    return Family(
        least_vcpus=min(vcpus, default=None),
        most_vcpus=max(vcpus, default=None),
        rising=rising,
        gib_per_vcpu=needed if sold is None else float(sold),
        sold=needed is None or sold is not None,
        memory_workload=greediest,
        disks={name: spec.disk for name, spec in specs.items() if spec.disk},
        not_covered=tuple(answer.workload for answer in answers if answer.spec is None),
    )
