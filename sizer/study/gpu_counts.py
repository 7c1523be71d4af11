"""How many accelerators a workload of a study file is measured with, and which workloads cannot have several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer.records.device import Device
from sizer.records.kinds import KINDS
from sizer.records.study import Workload, WorkloadPlan
from sizer.study.axes import Axes
from sizer.study.document import Document, Key

TRAINS_TOGETHER = "pytorch"
"""The framework whose programs train on several GPUs."""


def read_gpu_counts(
    document: Document, key: Key, entry: dict[str, Any], axes: Axes, workload: Workload, device: Device
) -> tuple[int, ...]:
    """How many accelerators; an axis of the whole study is none of a workload that the CPU computes.

    Raises InputError for a workload's own axis without an accelerator, and for several GPUs that cannot work together.
    """
    own = "gpu_count" in entry.get("axes", {})
    if device.kind == "cpu":
        if own and axes.gpu_count:
            raise document.input_error(
                (*key, "axes", "gpu_count"),
                "`gpu_count` counts accelerators, and this workload computes on the CPU; write a `device` such as "
                "{example}, or remove this line.",
                example="{emulate: {gpu: V100}}",
            )
        return ()
    counts = axes.gpu_count or ()
    if device.kind == "cuda" and max(counts, default=1) > 1 and not document.resolved:
        _check_together(document, (*key, "axes", "gpu_count") if own else ("axes", "gpu_count"), workload)
    return counts


def check_used(document: Document, plans: Sequence[WorkloadPlan]) -> None:
    """Raise InputError for an axis of the whole study where every workload computes on the CPU."""
    if document.data.get("axes", {}).get("gpu_count") and all(
        plan.workload.computes_on.kind == "cpu" for plan in plans
    ):
        raise document.input_error(
            ("axes", "gpu_count"),
            "`gpu_count` counts accelerators, and every workload computes on the CPU; give one a `device` such as "
            "{example}, or remove this line.",
            example="{emulate: {gpu: V100}}",
        )


def _check_together(document: Document, key: Key, workload: Workload) -> None:
    """Raise InputError for GPUs that only infer, and for a framework without training on several GPUs."""
    if workload.input == "replay" or not KINDS[workload.kind].has_step:
        return
    alone = "`axes: {gpu_count: 1}`"
    if KINDS[workload.kind].rate_mode == "infer":
        raise document.input_error(
            key,
            "GPUs that only infer do not work together; give workload `{workload}` {alone} of its own, and measure "
            "one of them.",
            workload=workload.name,
            alone=alone,
        )
    if workload.framework != TRAINS_TOGETHER:
        raise document.input_error(
            key,
            "{framework} does not train on several GPUs here; write `framework: {other}`, or give workload "
            "`{workload}` {alone} of its own.",
            workload=workload.name,
            alone=alone,
            framework=workload.framework,
            other=TRAINS_TOGETHER,
        )
