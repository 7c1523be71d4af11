"""One spec family for all jobs of a study, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model import disk
from sizer.recommend.words import GIB
from sizer.records import Answer, format_bytes, format_vcpus

RATIOS = (2, 4, 8)


def family(answers: Sequence[Answer]) -> dict[str, str]:
    """What a family must offer so that every job with an answer has its size; empty without an answer."""
    specs = [(answer, answer.spec) for answer in answers if answer.spec is not None]
    if not specs:
        return {}
    found = _vcpus(answers)
    found |= _memory(specs_with_memory(answers))
    disks = {answer.workload: disk(spec.disk) for answer, spec in specs if spec.disk}
    if disks:
        same = set(disks.values())
        each = ", ".join(f"{name} {disk}" for name, disk in disks.items())
        found["disk"] = f"{same.pop()} is enough for all" if len(same) == 1 else each
    refused = [answer.workload for answer in answers if answer.spec is None]
    if refused:
        found["not_covered"] = ", ".join(refused)
    return found


def _vcpus(answers: Sequence[Answer]) -> dict[str, str]:
    known = [(answer, answer.spec.vcpus) for answer in answers if answer.spec and answer.spec.vcpus is not None]
    if not known:
        return {}
    least, most = (pick(vcpus for _, vcpus in known) for pick in (min, max))
    top = f"{'at least ' if any(answer.edge == 'rising' for answer, _ in known) else ''}{most:g}"
    each = ", ".join(f"{answer.workload} {_told(answer, vcpus)}" for answer, vcpus in known)
    return {"vcpus": f"{top if least == most else f'{least:g} to {top}'} ({each})"}


def specs_with_memory(answers: Sequence[Answer]) -> list[tuple[str, float, int]]:
    """(workload, vCPUs, memory in bytes) of the answers that say how much memory."""
    return [
        (answer.workload, answer.spec.vcpus, answer.spec.memory_bytes)
        for answer in answers
        if answer.spec is not None and answer.spec.memory_bytes and answer.spec.vcpus is not None
    ]


def _memory(needs: Sequence[tuple[str, float, int]]) -> dict[str, str]:
    if not needs:
        return {}
    name, vcpus, size = max(needs, key=lambda need: need[2] / need[1])
    ratio = size / GIB / vcpus
    sold = next((offer for offer in RATIOS if offer >= ratio), None)
    words = f"{sold}" if sold else f"{ratio:g}, more than the 8 that families offer"
    return {"gib_per_vcpu": f"{words} (most is needed by {name}: {format_bytes(size)} for {format_vcpus(vcpus)})"}


def _told(answer: Answer, vcpus: float) -> str:
    if answer.edge == "unsettled":
        return f"{vcpus:g} so far"
    return f"{'at least ' if answer.status == 'at_least' else ''}{vcpus:g}"
