"""What is on offer: instance types, disk tiers and published accelerator rates, each with its date and its source."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate, shipped_rates
from sizer.catalog.data_sheets import data_sheets
from sizer.catalog.gpu_scaling import ScalingLoss, scaling_loss
from sizer.catalog.gpus import GPU_MEMORY_GB, read_gpu_name, same_gpu
from sizer.catalog.rate_estimate import RateEstimate, RateQuestion, estimate, known_beside, published_batch_sizes
from sizer.files.codec import from_json
from sizer.files.given_files import read_given
from sizer.records.device import DiskRates
from sizer.records.domains import Amount, Bytes, Count, Text, Vcpus, Year
from sizer.records.errors import InputError
from sizer.records.messages import AllOf, Message, advised_name
from sizer.records.plain_text import quoted
from sizer.records.units import GIB

CATALOG_SCHEMA_VERSION = 1
MODES = ("train", "infer", "forward", "forward_backward")
"""What a rate may be of."""


@dataclass(frozen=True, kw_only=True)
class InstanceType:
    """A machine on offer. Bytes are the whole machine's, `gpu_memory_bytes` one GPU's; a price of None is unknown.

    `usd_per_hour` is the price on demand, `usd_per_hour_spot` that of spare capacity. `retired` is the year since which
    nobody can rent it, at the latest; None where it is sold. What is measured on one that is retired stays true.
    """

    provider: Text
    region: Text | None = None
    instance_type: Text
    vcpus: Vcpus
    memory_bytes: Bytes
    gpu: Text | None = None
    gpu_count: Count
    gpu_memory_bytes: Count | None = None
    local_nvme_bytes: Count | None = None
    disk_bytes_per_second: Amount | None = None
    usd_per_hour: Amount | None = None
    usd_per_hour_spot: Amount | None = None
    retired: Year | None = None
    confidence: Text | None = None
    as_of: Text
    source: Text

    @property
    def name(self) -> str:
        """`aws g4dn.xlarge`."""
        return f"{self.provider} {self.instance_type}"

    def is_called(self, name: str) -> bool:
        """Whether that is its name: `aws g4dn.xlarge`, `aws/g4dn.xlarge` or `g4dn.xlarge`."""
        return name.replace("/", " ", 1).lower() in (self.name.lower(), self.instance_type.lower())

    @property
    def chooses_gpu(self) -> bool:
        """Whether the name is that of a host to which GPUs are added, or none: Google's N1. The entry is one choice."""
        return self.provider == "gcp" and self.instance_type.startswith("n1-")


@dataclass(frozen=True, kw_only=True)
class DiskOffer:
    """A disk tier on offer. The limit of a disk of S GiB is min(base + per_gib * S, max)."""

    provider: Text
    disk_tier: Text
    disk_class: Text
    read_iops_base: Amount
    read_iops_per_gib: Amount
    read_iops_max: Amount
    read_bytes_per_second_base: Amount
    read_bytes_per_second_per_gib: Amount
    read_bytes_per_second_max: Amount
    min_bytes: Count | None = None
    max_bytes: Count | None = None
    latency_seconds: Amount | None = None
    usd_per_gib_month: Amount | None = None
    confidence: Text | None = None
    as_of: Text
    source: Text

    @property
    def name(self) -> str:
        """As a study names it: `alibaba/cloud_ssd`."""
        return f"{self.provider}/{self.disk_tier}"

    def rates(self, size_bytes: int) -> DiskRates:
        """What a disk of this size gives; written like read. InputError outside the sizes on offer."""
        size = size_bytes / GIB
        if (self.min_bytes and size_bytes < self.min_bytes) or (self.max_bytes and size_bytes > self.max_bytes):
            low = f"{(self.min_bytes or 0) / GIB:g}"
            if not self.max_bytes:
                raise InputError(
                    "{disk} is not sold with {size} GiB; give a size of {low} GiB or more.",
                    disk=self.name,
                    size=f"{size:g}",
                    low=low,
                )
            raise InputError(
                "{disk} is not sold with {size} GiB; give a size from {low} GiB to {high} GiB.",
                disk=self.name,
                size=f"{size:g}",
                low=low,
                high=f"{self.max_bytes / GIB:g}",
            )
        iops = min(self.read_iops_base + self.read_iops_per_gib * size, self.read_iops_max)
        rate = self.read_bytes_per_second_base + self.read_bytes_per_second_per_gib * size
        rate = min(rate, self.read_bytes_per_second_max)
        return DiskRates(read_iops=iops, read_bytes_per_second=rate, write_iops=iops, write_bytes_per_second=rate)


Offer = TypeVar("Offer", InstanceType, DiskOffer, AcceleratorRate)


@dataclass(frozen=True)
class Catalog:
    """All that is on offer."""

    instance_types: tuple[InstanceType, ...]
    disks: tuple[DiskOffer, ...]
    accelerators: tuple[AcceleratorRate, ...]

    @staticmethod
    def load(path: str | Path | None = None) -> Catalog:
        """The catalogue in `path`, by default the one that comes with sizer.

        InputError names the file, the entry and the field that is wrong.
        """
        if path is None:
            return _shipped()
        return _read(read_given(Path(path), Message("a catalogue")), str(path))

    def instances(self, gpu: str | None = None) -> tuple[InstanceType, ...]:
        """What can be rented: all of it, or with this GPU (its memory size may be part of the name: V100-16GB)."""
        return tuple(each for each in self.instance_types if each.retired is None and _has_gpu(each, gpu))

    def retired(self, gpu: str) -> tuple[InstanceType, ...]:
        """Those with this GPU that nobody can rent any more."""
        return tuple(each for each in self.instance_types if each.retired is not None and _has_gpu(each, gpu))

    def at_spot_prices(self) -> Catalog:
        """The same with the spot price of each instance type as its price; unknown where it has none."""
        spot = (replace(each, usd_per_hour=each.usd_per_hour_spot) for each in self.instance_types)
        return replace(self, instance_types=tuple(spot))

    def instance(self, name: str) -> InstanceType:
        """The instance type `aws/c6i.large`, or `c6i.large`, that can be rented.

        InputError with the nearest name if there is none, and where it was retired.
        """
        called = [each for each in self.instance_types if each.is_called(name)]
        for instance in called:
            if instance.retired is None:
                return instance
        if called:
            raise InputError(
                "`{name}` cannot be rented any more (retired {year}), so nothing can be compared with its price; give "
                "an instance type that `sizer catalog list` shows without `retired`.",
                name=name,
                year=called[0].retired,
            )
        nearest = advised_name(name.replace("/", " ", 1).lower(), [each.name for each in self.instances()])
        raise InputError("The catalogue has no instance type `{name}`; {advice}", name=name, advice=nearest)

    def gpu(self, name: str) -> str:
        """The name that price lists and published rates have for this GPU; InputError with the nearest if none has."""
        published = (each.gpu for each in self.rates if not each.gpu.startswith(PROCESSOR))
        known = {*GPU_MEMORY_GB, *(each.gpu for each in data_sheets()), *published}
        meant = read_gpu_name(name)
        for each in sorted(known):
            if read_gpu_name(each).key == meant.key:
                form = f" {meant.form}" if meant.form else ""
                memory = f"-{meant.memory_gb:g}GB" if meant.memory_gb else ""
                return f"{each}{memory}{form}"
        raise InputError(
            "The catalogue knows no GPU `{name}`; {advice}", name=name, advice=advised_name(name, sorted(known))
        )

    def disk(self, name: str) -> DiskOffer:
        """The disk tier of that name; InputError with the nearest name if there is none."""
        for offer in self.disks:
            if offer.name == name:
                return offer
        nearest = advised_name(name, [offer.name for offer in self.disks])
        raise InputError("The catalogue has no disk tier `{name}`; {advice}", name=name, advice=nearest)

    def disk_rates(self, name: str, size_bytes: int) -> DiskRates:
        """What a disk `name` of this size gives, for example `alibaba/cloud_ssd`."""
        return self.disk(name).rates(size_bytes)

    def scaling_loss(self, mode: str, network: str, gpu: str, counts: Sequence[int]) -> ScalingLoss:
        """What so many of a GPU in one machine lose to each other; `mode` and `network` as of `accelerator_rate`."""
        return scaling_loss(network, gpu, counts, mode)

    @cached_property
    def rates(self) -> tuple[AcceleratorRate, ...]:
        """Its own published rates and those that come with sizer, which another file adds to."""
        shipped = shipped_rates()
        return self.accelerators if self.accelerators is shipped else (*self.accelerators, *shipped)

    def estimated_rate(self, asked: RateQuestion) -> RateEstimate | None:
        """What one accelerator does for a job, by published rates; None where they do not say."""
        return estimate(self.rates, asked)

    def accelerator_rate(
        self,
        mode: str,
        network: str,
        gpu: str,
        *,
        precision: str | None = None,
        batch_size: int | None = None,
        framework: str | None = None,
        batch_sizes: tuple[int, ...] = (),
    ) -> RateEstimate:
        """The same for a GPU that is to be emulated; InputError names the nearest that is published."""
        name = read_gpu_name(gpu).name or gpu
        asked = RateQuestion(network, mode, name, precision, batch_size, framework, batch_sizes)
        if mode not in MODES:
            raise InputError(
                "The catalogue has accelerator rates for `train` and `infer`, not for `{mode}`; give "
                "samples_per_second.",
                mode=mode,
            )
        found = self.estimated_rate(asked)
        if found is not None:
            return found
        same, other, precisions = known_beside(self.rates, asked)
        known: list[object] = [Message("for {name}: {others}", name=gpu, others=AllOf(*same))] if same else []
        known += [Message("for {name}: {others}", name=network, others=AllOf(*other))] if other else []
        known += [Message("for both in {precisions}", precisions=AllOf(*precisions))] if precisions else []
        sizes = published_batch_sizes(self.rates, asked)
        known += [Message("for both at a batch of {sizes}", sizes=AllOf(*map(str, sizes)))] if sizes else []
        known += [] if known else sorted({rate.gpu for rate in self.rates if not rate.gpu.startswith(PROCESSOR)})
        if precision is not None:
            gpu = f"{gpu} ({precision})"
        if sizes and batch_size is not None:
            gpu = f"{gpu} (`batch_size: {batch_size}`)"
        raise InputError(
            "The catalogue has no rate to {mode} {network} on {gpu} (it has rates {known}); give `samples_per_second` "
            "instead of `gpu`.",
            mode=mode,
            network=network,
            gpu=gpu,
            known=AllOf(*known),
        )


def _has_gpu(instance: InstanceType, gpu: str | None) -> bool:
    return gpu is None or (instance.gpu is not None and same_gpu(instance.gpu, gpu))


@cache
def _shipped() -> Catalog:
    """The one that comes with sizer, which is read once."""
    found = _read((files("sizer.catalog") / "catalog.json").read_text(encoding="utf-8"), "catalog.json")
    return replace(found, accelerators=shipped_rates())


def _read(text: str, where: str) -> Catalog:
    try:
        data = json.loads(text)
    except RecursionError:
        raise InputError("{where} is nested too deeply for a catalogue.", where=where) from None
    except ValueError as error:
        raise InputError("{where} is not JSON ({error}); correct it.", where=where, error=error) from error
    return _from_json(data, where)


def _from_json(data: object, file: str) -> Catalog:
    if not isinstance(data, dict) or data.get("schema_version") != CATALOG_SCHEMA_VERSION:
        version = data.get("schema_version") if isinstance(data, dict) else None
        raise InputError(
            "{file}: schema_version is {version}, and this sizer reads {known}.",
            file=file,
            version=repr(version),
            known=CATALOG_SCHEMA_VERSION,
        )
    unknown = sorted(set(data) - {"schema_version", "instances", "disks", "accelerators"})
    if unknown:
        raise InputError(
            "{file}: unknown key `{name}`; use instances, disks and accelerators.", file=file, name=unknown[0]
        )
    return Catalog(
        tuple(checked(InstanceType, entry, where) for where, entry in _entries(data, "instances", file)),
        tuple(checked(DiskOffer, entry, where) for where, entry in _entries(data, "disks", file)),
        tuple(checked(AcceleratorRate, entry, where) for where, entry in _entries(data, "accelerators", file)),
    )


def checked(kind: type[Offer], entry: object, where: str | Message) -> Offer:
    """The record that `entry` holds; InputError starts with `where` and names the field."""
    known = {field.name for field in fields(kind)}
    unknown = sorted(set(entry) - known) if isinstance(entry, dict) else []
    if unknown:
        raise InputError("{where}: unknown field {name}; remove it.", where=where, name=quoted(unknown[0]))
    return from_json(kind, entry, where)


def _entries(data: dict[str, object], part: str, file: str) -> Iterable[tuple[Message, object]]:
    entries = data.get(part, [])
    if not isinstance(entries, list):
        raise InputError("{file}: {part} is not a list; make it one.", file=file, part=part)
    return [
        (Message("{file}: {part} entry {number}", file=file, part=part, number=number), entry)
        for number, entry in enumerate(entries, start=1)
    ]
