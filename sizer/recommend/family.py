"""One spec family for all jobs of a study, in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.recommend.words import GIB, memory
from sizer.records import Answer

RATIOS = (2, 4, 8)


def family(answers: Sequence[Answer]) -> dict[str, str]:
    """What a family must offer so that every job with an answer has its size; empty without an answer."""
    specs = [(answer, answer.spec) for answer in answers if answer.spec is not None]
    if not specs:
        return {}
    most = max(specs, key=lambda pair: pair[1].vcpus)
    least = min(spec.vcpus for _, spec in specs)
    at_least = "at least " if any(answer.status == "at_least" for answer, _ in specs) else ""
    each = ", ".join(f"{answer.workload} {_at_least(answer)}{spec.vcpus:g}" for answer, spec in specs)
    reach = f"{least:g}" if least == most[1].vcpus else f"{least:g} to {most[1].vcpus:g}"
    found = {"vcpus": f"{at_least}{reach} ({each})"}
    found |= _memory(specs_with_memory(answers))
    disks = {answer.workload: answer.spec.disk for answer in answers if answer.spec is not None and answer.spec.disk}
    if disks:
        same = set(disks.values())
        each = ", ".join(f"{name} {disk}" for name, disk in disks.items())
        found["disk"] = f"{same.pop()} is enough for all" if len(same) == 1 else each
    refused = [answer.workload for answer in answers if answer.spec is None]
    if refused:
        found["not_covered"] = ", ".join(refused)
    return found


def specs_with_memory(answers: Sequence[Answer]) -> list[tuple[str, float, int]]:
    """(workload, vCPUs, memory in bytes) of the answers that say how much memory."""
    return [
        (answer.workload, answer.spec.vcpus, answer.spec.memory_bytes)
        for answer in answers
        if answer.spec is not None and answer.spec.memory_bytes
    ]


def _memory(needs: Sequence[tuple[str, float, int]]) -> dict[str, str]:
    if not needs:
        return {}
    name, vcpus, size = max(needs, key=lambda need: need[2] / need[1])
    ratio = size / GIB / vcpus
    sold = next((offer for offer in RATIOS if offer >= ratio), None)
    words = f"{sold}" if sold else f"{ratio:g}, more than the 8 that families offer"
    return {"gib_per_vcpu": f"{words} (most is needed by {name}: {memory(size)} for {vcpus:g} vCPU)"}


def _at_least(answer: Answer) -> str:
    return "at least " if answer.status == "at_least" else ""
