"""Why a run is made, as a record: what of the answer is open. Pure."""

from __future__ import annotations

from sizer.adaptive.open_answer import OpenAnswer
from sizer.records.adaptive import RunReason, RunReasonKind
from sizer.records.answer import Answer


def why(answer: Answer, opened: OpenAnswer, again: bool) -> RunReason:
    """What the specs that may be the answer differ in: vCPUs before memory before the disk."""
    specs = opened.possible
    vcpus = sorted({spec.vcpus for spec in specs if spec.vcpus is not None})
    memory = sorted({spec.memory_bytes for spec in specs if spec.memory_bytes is not None})
    disks = tuple(dict.fromkeys(spec.disk for spec in specs if spec.disk is not None))
    if len(vcpus) > 1:
        return RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": vcpus[0], "high": vcpus[-1]}, again=again)
    if len(memory) > 1:
        return RunReason(
            RunReasonKind.BETWEEN_MEMORY, {"low": float(memory[0]), "high": float(memory[-1])}, again=again
        )
    if len(disks) > 1:
        return RunReason(RunReasonKind.BETWEEN_DISKS, {}, disks, again=again)
    figures = {"probability": answer.probability or 0.0}
    if answer.spec is not None and answer.spec.vcpus is not None:
        figures["vcpus"] = answer.spec.vcpus
    return RunReason(RunReasonKind.NOT_SURE, figures, again=again)
