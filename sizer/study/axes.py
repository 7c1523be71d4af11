"""The axes of a study file: which values of vCPUs, memory, disk, batch size and accelerators are measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from sizer.records.errors import InputError
from sizer.records.messages import AnyOf
from sizer.records.study import Limits
from sizer.records.typed_values import SMALLEST_MEMORY
from sizer.records.units import format_bytes, parse_bytes, spell_bytes
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
        return all(getattr(self, field.name) is None for field in fields(self))

    def over(self, other: Axes) -> Axes:
        """These axes, and of the other those that these leave out."""
        chosen = {
            field.name: getattr(other, field.name) if getattr(self, field.name) is None else getattr(self, field.name)
            for field in fields(self)
        }
        return Axes(**chosen)


def read_axes(document: Document, key: Key, data: dict[str, Any] | None, disks: Iterable[str]) -> Axes:
    """The axes in `data`, which is at `key`; raises InputError for a size that is none or an unknown disk."""
    data = data or {}
    return Axes(
        vcpus=distinct(float(value) for _, value in _values(data, key, "vcpus")) if "vcpus" in data else None,
        memory_bytes=(
            distinct(read_memory(document, place, value) for place, value in _values(data, key, "memory"))
            if "memory" in data
            else None
        ),
        disk=(
            distinct(_disk(document, place, value, disks) for place, value in _values(data, key, "disk"))
            if "disk" in data
            else None
        ),
        batch_size=read_batch_sizes(document, key, data),
        gpu_count=distinct(int(value) for _, value in _values(data, key, "gpu_count")) if "gpu_count" in data else None,
    )


def read_batch_sizes(document: Document, key: Key, data: dict[str, Any]) -> tuple[int, ...] | None:
    """The batch sizes in `data`, None where it has none; raises InputError for an empty list."""
    if "batch_size" not in data:
        return None
    sizes = distinct(int(value) for _, value in _values(data, key, "batch_size"))
    if not sizes:
        raise document.input_error((*key, "batch_size"), "`batch_size` has no value; write at least one.")
    return sizes


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
    try:
        count = parse_bytes(size)
    except InputError as error:
        raise document.input_error(key, error) from None
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


def _values(data: dict[str, Any], key: Key, axis: str) -> list[tuple[Key, Any]]:
    """A list's values with the key of each; a single value is a list of one."""
    value = data[axis]
    if isinstance(value, list):
        return [((*key, axis, index), item) for index, item in enumerate(value)]
    return [((*key, axis), value)]


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
