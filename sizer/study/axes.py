"""The axes of a study file: which values of vCPUs, memory, disk, batch size and accelerators are measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sizer.records.device import Device
from sizer.records.kinds import KINDS
from sizer.records.messages import AnyOf
from sizer.records.study import Limits, Workload, WorkloadPlan
from sizer.records.units import SMALLEST_MEMORY, format_bytes, parse_bytes, spell_bytes
from sizer.study.document import Document, Key

Value = TypeVar("Value")

LARGEST_SIZE = 2**60


@dataclass(frozen=True)
class Axes:
    """The values of each axis; None is left out of the file, an empty axis is not limited on purpose."""

    vcpus: tuple[float, ...] | None = None
    memory_bytes: tuple[int, ...] | None = None
    disk: tuple[str, ...] | None = None
    batch_size: tuple[int, ...] | None = None
    gpu_count: tuple[int, ...] | None = None

    @property
    def empty(self) -> bool:
        """Whether the file names no axis at all."""
        return not any(values is not None for values in vars(self).values())

    def over(self, other: Axes) -> Axes:
        """These axes, and of the other those that these leave out."""
        return Axes(**{**vars(other), **{name: values for name, values in vars(self).items() if values is not None}})


def read_axes(document: Document, key: Key, data: dict[str, Any] | None, disks: Iterable[str]) -> Axes:
    """The axes in `data`, which is at `key`; raises InputError for a size that is none or an unknown disk."""
    data = data or {}
    return Axes(
        _values(data, key, "vcpus", lambda _, value: float(value)),
        _values(data, key, "memory", lambda place, value: read_memory(document, place, value)),
        _values(data, key, "disk", lambda place, value: _disk(document, place, value, disks)),
        read_batch_sizes(data, key),
        _values(data, key, "gpu_count", lambda _, value: int(value)),
    )


def read_batch_sizes(data: dict[str, Any], key: Key) -> tuple[int, ...] | None:
    """The batch sizes in `data`, None where it has none."""
    return _values(data, key, "batch_size", lambda _, value: int(value))


def read_around(document: Document, disks: Iterable[str]) -> Limits | None:
    """The point that axes are varied around, None where the file has none."""
    data = document.data.get("around")
    if data is None:
        return None
    return Limits(
        vcpus=float(data["vcpus"]) if "vcpus" in data else None,
        memory_bytes=read_memory(document, ("around", "memory"), data["memory"]) if "memory" in data else None,
        disk=_disk(document, ("around", "disk"), data["disk"], disks) if "disk" in data else None,
    )


def read_size(document: Document, key: Key, size: str) -> int:
    """Bytes of a size in the file; raises InputError with its line."""
    with document.errors_at(key):
        count = parse_bytes(size)
    if not 0 < count <= LARGEST_SIZE:
        raise document.input_error(
            key,
            "{size} is not a size that a machine has; write one of up to {largest}.",
            size=size,
            largest=spell_bytes(LARGEST_SIZE),
        )
    return count


def read_memory(document: Document, key: Key, size: str) -> int:
    """Bytes of a memory limit in the file; raises InputError where no program could start in it."""
    count = read_size(document, key, size)
    if count < SMALLEST_MEMORY:
        raise document.input_error(
            key,
            "no program runs in {size} of memory; write {smallest} or more.",
            size=size,
            smallest=format_bytes(SMALLEST_MEMORY),
        )
    return count


def distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """The values in their order, each once."""
    return tuple(dict.fromkeys(values))


def _values(data: dict[str, Any], key: Key, axis: str, read: Callable[[Key, Any], Value]) -> tuple[Value, ...] | None:
    """The values of an axis, each read by its key; a single one is a list of one, and None one that is not there."""
    if axis not in data:
        return None
    value, place = data[axis], (*key, axis)
    if not isinstance(value, list):
        return (read(place, value),)
    return distinct(read((*place, index), item) for index, item in enumerate(value))


def _disk(document: Document, key: Key, name: str, disks: Iterable[str]) -> str:
    known = list(disks)
    if name not in known:
        if known:
            raise document.input_error(
                key, "the disk `{name}` is not in `disks`; name {known}.", name=name, known=AnyOf(*known)
            )
        example = f"disks: {{{name}: /a/folder/on/it}}"
        raise document.input_error(
            key, "the study file has no disk `{name}`; add `{example}`.", name=name, example=example
        )
    return name


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
