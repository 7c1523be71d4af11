"""The disks of a study file, with the figures that a catalogue gives them, and what a study needs of a catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol

from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.errors import InputError
from sizer.records.study import DiskTier
from sizer.records.units import MB
from sizer.study.axes import read_size
from sizer.study.document import Document, Key
from sizer.study.json_schema import expected


class AcceleratorFigure(Protocol):
    """A rate of a GPU with its 90 %, how it follows from published ones, and where they were published."""

    @property
    def gpu(self) -> str: ...
    @property
    def samples_per_second(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def basis(self) -> Enum: ...
    @property
    def source(self) -> str: ...


class ScalingFigure(Protocol):
    """What several of a GPU lose to each other, and where that was published."""

    @property
    def loss(self) -> float: ...
    @property
    def source(self) -> str: ...


class DiskFigure(Protocol):
    """A kind of volume on offer."""

    @property
    def disk_class(self) -> str: ...
    def rates(self, size_bytes: int) -> DiskRates: ...


class Figures(Protocol):
    """What a study needs of a catalogue; each raises InputError for what it does not have."""

    def scaling_loss(self, mode: str, network: str, gpu: str, counts: Sequence[int]) -> ScalingFigure: ...
    def accelerator_rate(
        self,
        mode: str,
        network: str,
        gpu: str,
        *,
        precision: str | None,
        batch_size: int | None,
        framework: str | None,
        batch_sizes: tuple[int, ...],
    ) -> AcceleratorFigure: ...
    def disk(self, name: str) -> DiskFigure: ...
    def gpu(self, name: str) -> str: ...


def read_disks(document: Document, figures: Figures | None) -> tuple[DiskTier, ...]:
    """The disk tiers of the file; raises InputError for a tier that the catalogue does not have."""
    tiers = []
    for name, entry in document.data.get("disks", {}).items():
        key: Key = ("disks", name)
        if name == HOST_DISK:
            raise document.input_error(
                key,
                "`{host_disk}` means the host's own disk; give the tier another name.",
                host_disk=HOST_DISK,
            )
        if isinstance(entry, str):
            tiers.append(DiskTier(name, path=document.locate(entry)))
        else:
            tiers.append(_emulated_tier(document, key, name, entry, figures))
    return tuple(tiers)


def _emulated_tier(document: Document, key: Key, name: str, entry: dict[str, Any], figures: Figures | None) -> DiskTier:
    size = read_size(document, (*key, "size"), entry["size"]) if "size" in entry else None
    emulate = entry["emulate"]
    if isinstance(emulate, str):
        assert size is not None, "the schema asks for a size beside a name"
        if figures is None:
            raise document.input_error(
                key, "the catalogue has no figures for {emulate}; write its read_mbps.", emulate=emulate
            )
        try:
            offer = figures.disk(emulate)
            rates = _in_whole_bytes(offer.rates(size))
            check_figures(emulate, [*_figures(rates), ("label", emulate), ("disk_class", offer.disk_class)])
        except InputError as error:
            raise document.input_error(key, error) from None
        return DiskTier(name, None, rates, offer.disk_class, emulate, size)
    return DiskTier(name, None, _rates(emulate), emulate.get("class"), emulate.get("name"), size)


def _figures(rates: DiskRates) -> list[tuple[str, object]]:
    """Each rate with the definition of the schema that it has to keep to."""
    figures = [
        ("iops", rates.read_iops, 1),
        ("iops", rates.write_iops, 1),
        ("mbps", rates.read_bytes_per_second, MB),
        ("mbps", rates.write_bytes_per_second, MB),
    ]
    return [(rule, count / unit) for rule, count, unit in figures if count is not None]


def check_figures(offer: str, figures: list[tuple[str, object]]) -> None:
    """Raise InputError where a catalogue's figure is none that a study file may hold: it is written into one."""
    for rule, value in figures:
        must = expected(rule, value)
        if must is not None:
            raise InputError(
                "in the catalogue, {offer} has {value}, but a study file accepts only {must}; use another catalogue.",
                offer=offer,
                value=repr(value),
                must=must,
            )


def _rates(emulate: dict[str, Any]) -> DiskRates:
    """A tier's write limits equal its read limits unless given."""
    read_iops, read_mbps = emulate.get("read_iops"), emulate["read_mbps"]
    write_iops, write_mbps = emulate.get("write_iops", read_iops), emulate.get("write_mbps", read_mbps)
    return _in_whole_bytes(DiskRates(read_iops, read_mbps * MB, write_iops, write_mbps * MB))


def _in_whole_bytes(rates: DiskRates) -> DiskRates:
    """A file holds MB/s; only whole bytes come back from there as they were."""

    def whole(count: float | None) -> float | None:
        return None if count is None else float(round(count))

    def real(count: float | None) -> float | None:
        return None if count is None else float(count)

    return DiskRates(
        real(rates.read_iops),
        whole(rates.read_bytes_per_second),
        real(rates.write_iops),
        whole(rates.write_bytes_per_second),
    )
