"""The axes of a study file: which values of vCPUs, memory, disk, batch size and accelerators are measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from sizer.records.kinds import KINDS
from sizer.records.messages import AnyOf
from sizer.records.study import Limits, Workload
from sizer.records.units import SMALLEST_MEMORY, format_bytes, parse_bytes, spell_bytes
from sizer.study.document import Document, Entry, Key

Value = TypeVar("Value")

LARGEST_SIZE = 2**60
TRAINS_TOGETHER = "pytorch"
"""The framework whose programs train on several GPUs."""

Axes = dict[str, tuple[Any, ...]]
"""The values of each axis by the name of its field; one that is left out of the file is not there, and an empty one is
not limited on purpose."""

FIELDS = {
    "vcpus": "vcpus",
    "memory": "memory_bytes",
    "disk": "disk",
    "batch_size": "batch_size",
    "gpu_count": "gpu_count",
}
"""The field of each axis of the file."""


def read_axes(entry: Entry, disks: Collection[str]) -> Axes:
    """The axes of a mapping; raises InputError for a size that is none or an unknown disk."""
    values = {}
    for axis, given in entry.data.items():
        if axis in FIELDS:
            key: Key = (*entry.key, axis)
            places = (
                [((*key, index), value) for index, value in enumerate(given)]
                if isinstance(given, list)
                else [(key, given)]
            )
            values[FIELDS[axis]] = distinct(_value(entry.document, *place, axis, disks) for place in places)
    return values


def read_around(document: Document, disks: Collection[str]) -> Limits | None:
    """The point that axes are varied around, None where the file has none."""
    if "around" not in document.data:
        return None
    return Limits(**{name: value for name, (value,) in read_axes(document.entry("around"), disks).items()})


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


def distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    """The values in their order, each once."""
    return tuple(dict.fromkeys(values))


def _value(document: Document, key: Key, value: Any, axis: str, disks: Collection[str]) -> Any:
    """One value of an axis. Raises InputError for a memory limit in which no program could start."""
    if axis == "disk":
        return _disk(document, key, value, disks)
    if axis != "memory":
        return float(value) if axis == "vcpus" else int(value)
    count = read_size(document, key, value)
    if count < SMALLEST_MEMORY:
        smallest = format_bytes(SMALLEST_MEMORY)
        raise document.input_error(
            key, "no program runs in {size} of memory; write {smallest} or more.", size=value, smallest=smallest
        )
    return count


def _disk(document: Document, key: Key, name: str, disks: Collection[str]) -> str:
    if name not in disks and disks:
        names = AnyOf(*disks)
        raise document.input_error(key, "the disk `{name}` is not in `disks`; name {known}.", name=name, known=names)
    if name not in disks:
        example = f"disks: {{{name}: /a/folder/on/it}}"
        raise document.input_error(
            key, "the study file has no disk `{name}`; add `{example}`.", name=name, example=example
        )
    return name


def check_together(entry: Entry, workload: Workload, gpu_counts: Collection[int]) -> None:
    """Raise InputError for GPUs that only infer, and for a framework without training on several GPUs."""
    kind = KINDS[workload.kind]
    several = workload.computes_on.kind == "cuda" and max(gpu_counts, default=1) > 1
    if not several or entry.document.resolved or workload.input == "replay" or not kind.has_step:
        return
    own = entry.at("axes") if "gpu_count" in entry.get("axes", {}) else entry.document.entry("axes")
    alone = "`axes: {gpu_count: 1}`"
    if kind.rate_mode == "infer":
        raise own.input_error(
            "gpu_count",
            "GPUs that only infer do not work together; give workload `{workload}` {alone} of its own, and measure "
            "one of them.",
            workload=workload.name,
            alone=alone,
        )
    if workload.framework != TRAINS_TOGETHER:
        raise own.input_error(
            "gpu_count",
            "{framework} does not train on several GPUs here; write `framework: {other}`, or give workload "
            "`{workload}` {alone} of its own.",
            workload=workload.name,
            alone=alone,
            framework=workload.framework,
            other=TRAINS_TOGETHER,
        )
