"""What an hour of a shape costs: its disk, and the rest as it is sold, else by its parts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import read_gpu_name
from sizer.catalog.machines import InstanceType
from sizer.model.model import MeasuredDisk, name_of_disk
from sizer.recommend.prices import VOLUME_GIB, disk_prices
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.family import PartPrices, Shape
from sizer.records.messages import AnyOf, InputError, Message, NoAnswer
from sizer.records.units import GIB, parse_tier

FEWEST_TYPES = 20
"""Of a provider with fewer instance types a price of each part says little."""
MORE_MEMORY = 1.1
"""What has up to so many times the memory is sold as that shape."""
TABLE = "the table"
"""The source of a machine whose price a table gives itself."""
AS_FAST = 0.9
"""Of another disk's figures: checks of one tier differ by so much."""


# Disk tiers.

Reads = tuple[float | None, float | None]
"""Bytes and IOs a second; None is not known."""


@dataclass(frozen=True)
class Tier:
    """A disk that a shape may have; what of its figures is None is not known."""

    name: str
    rates: DiskRates
    usd_per_hour: float

    def serves(self, disk: MeasuredDisk | None, reads: Reads) -> bool:
        """Whether what was measured on that disk is as fast on this one: it is the same, or gives as much; of a disk
        that nobody named, as many bytes and IOs a second as the job `reads`, where that is known, else any."""
        needed: Reads = reads[0] or 0.0, reads[1] or 0.0
        unknown = self.name == HOST_DISK
        if disk is not None and not is_unnamed(disk):
            needed = disk.rates.read_bytes_per_second, disk.rates.read_iops
            unknown = self.name == tier_name(disk)
        pairs = zip((self.rates.read_bytes_per_second, self.rates.read_iops), needed, strict=True)
        return all(
            need == 0 or (unknown if rate is None or need is None else rate >= AS_FAST * need) for rate, need in pairs
        )


def is_unnamed(disk: MeasuredDisk | None) -> bool:
    """Whether it is wherever the data lay, which is no tier that one can ask for."""
    return disk is None or name_of_disk(disk.name) == HOST_DISK


def tier_name(disk: MeasuredDisk) -> str:
    """The tier of the catalogue, else what the study calls it."""
    return disk.catalog_name or name_of_disk(disk.name)


def tiers_of(
    measured: Iterable[MeasuredDisk], asked: Sequence[str], catalog: Catalog, prices: Mapping[str, float]
) -> tuple[Tier, ...]:
    """Those asked for, of the measured ones or the catalogue's, else one for each disk measured; of two of one name,
    the one with the larger figures. One alone that nobody asked for, and whose price nobody gave, costs nothing.
    InputError for a name, there or in `prices`, that is neither."""
    own = {tier_name(disk): disk for disk in sorted(measured, key=lambda disk: disk.rates.read_bytes_per_second or 0.0)}
    labels = {disk.name for disk in own.values()}
    offers = {name: catalog.tier(name) for name in prices}
    for name, offer in offers.items():
        if offer is None and name not in own and name not in labels:
            raise InputError("--prices: no study and no catalogue has a disk `{name}`; remove its line.", name=name)
    prices = {name if offer is None else offer.name: prices[name] for name, offer in offers.items()} | dict(prices)
    disks = {} if asked else own
    for name in asked:
        offer = catalog.tier(name)
        if name in own:
            disks[name] = own[name]
        elif offer is not None:
            tier, called = parse_tier(name), name if ":" in name else offer.name
            rates = offer.rates(tier.size_bytes or VOLUME_GIB * GIB, tier.iops, tier.bytes_per_second)
            sold = MeasuredDisk(called, rates, offer.disk_class, offer.name, size_bytes=tier.size_bytes)
            disks[called] = own.get(called, sold)
        else:
            own_ones = Message("one of {own}, or ", own=AnyOf(*own)) if own else ""
            raise InputError(
                "--disks: there is no disk tier `{name}`; give {own_ones}one of the catalogue, such as aws/gp3.",
                name=name,
                own_ones=own_ones,
            )
    usd = disk_prices(list(disks.values()), catalog) if len(disks) > 1 or asked else {}
    return tuple(
        Tier(name, disk.rates, prices.get(name, prices.get(disk.name or "", usd.get(name_of_disk(disk.name), 0.0))))
        for name, disk in disks.items()
    )


# Prices.


def gpu_key(name: str) -> str:
    """One for all names of a kind of accelerator, whatever its memory: prices tell no more apart."""
    return read_gpu_name(name).key


def gpu_kind(name: str) -> str:
    """The same with the memory that the name says: a V100-16GB runs what was measured on one, and no V100-32GB."""
    read = read_gpu_name(name)
    return f"{read.key}-{read.memory_gb:g}" if read.memory_gb else read.key


def gpu_usd(prices: Mapping[str, float], gpu: str) -> float | None:
    """USD an hour of one, by prices of kinds: those of its memory, else the least where either name says none."""
    kind = gpu_kind(gpu)
    alike = [name for name in prices if gpu_key(gpu) == name.partition("-")[0] and ("-" in kind) + ("-" in name) < 2]
    return prices.get(kind, min((prices[name] for name in alike), default=None))


def fitted_prices(types: Sequence[InstanceType], provider: str) -> PartPrices:
    """What the instance types of a provider cost by vCPU, GiB and accelerator: non-negative least squares (Lawson and
    Hanson 1974) of relative differences, so that a large machine does not outweigh small ones. A part that seems to
    cost nothing has no price."""
    from scipy.optimize import nnls

    kinds = sorted({gpu_kind(instance.gpu) for instance in types if instance.gpu})
    usd = np.array([instance.usd_per_hour for instance in types])
    parts = np.array(
        [
            (
                *(i.vcpus, i.memory_bytes / GIB, (i.local_nvme_bytes or 0) / GIB),
                *(i.gpu_count * (i.gpu is not None and gpu_kind(i.gpu) == kind) for kind in kinds),
            )
            for i in types
        ]
    )
    by_part, _ = nnls(parts / usd[:, None], np.ones(len(types)))
    apart = np.abs(parts @ by_part / usd - 1)
    gpus = {kind: float(value) for kind, value in zip(kinds, by_part[3:], strict=True) if value > 0}
    residuals = float(np.median(apart)), float(np.quantile(apart, 0.9))
    oldest = min(instance.as_of for instance in types)
    return PartPrices(float(by_part[0]), float(by_part[1]), gpus, {}, provider, len(types), *residuals, oldest)


def is_just(instance: InstanceType, memory_bytes: int) -> bool:
    """Whether it is sold as a shape with that memory: it has so much, and little more."""
    return memory_bytes <= instance.memory_bytes <= MORE_MEMORY * memory_bytes


@dataclass(frozen=True)
class Priced:
    """A shape without its disk: USD an hour, the instance type whose price that is, and one of each provider that sells
    such a shape."""

    shape: Shape
    usd: float
    sold: InstanceType | None
    sold_by: tuple[str, ...]


def priced_shapes(shapes: Iterable[Shape], like: Sequence[InstanceType], parts: PartPrices) -> Iterator[Priced]:
    """Those of these whose price is known. `like` are types of their kind, with machines of a TABLE.

    It is that of the cheapest of the provider's types, or of the table's machines, that holds it. By its parts it is
    where that is less, and where none of these is just so; but no less than any that it holds: nobody pays more for
    less.
    """
    own = [i for i in like if i.usd_per_hour is not None and (i.provider == parts.provider or i.source == TABLE)]
    usd = np.array([i.usd_per_hour for i in own])
    had = np.array([(i.vcpus, i.memory_bytes, i.gpu_count) for i in own]).reshape(-1, 3)
    of_what_holds = np.where((had[:, None] >= had).all(axis=2), usd[:, None], np.inf).min(axis=0, initial=np.inf)
    for shape in shapes:
        asked = shape.vcpus, shape.memory_bytes, shape.gpu_count
        same = [i for i in like if (i.vcpus, i.gpu_count) == (shape.vcpus, shape.gpu_count)]
        same = [i for i in same if is_just(i, shape.memory_bytes)]
        holding = np.flatnonzero((had >= asked).all(axis=1)).tolist()
        best = min(holding, key=usd.__getitem__, default=None)
        price, sold = (math.inf, None) if best is None else (float(usd[best]), own[best])
        gpu = 0.0 if shape.gpu is None else parts.gpus.get(shape.gpu)
        if gpu is not None and not any(i in same for i in own):
            by_parts = parts.vcpu * shape.vcpus + parts.gib * shape.memory_bytes / GIB + gpu * shape.gpu_count
            by_parts = max(by_parts, float(of_what_holds[(had <= asked).all(axis=1)].max(initial=0.0)))
            price, sold = (by_parts, None) if by_parts < price else (price, sold)
        if price < math.inf:
            sold_by = {instance.provider: instance.name.strip() for instance in reversed(same)}
            yield Priced(shape, price, sold, tuple(sold_by.values()))


def part_prices(catalog: Catalog, gpus: Collection[str], provider: str | None, near: Collection[str]) -> PartPrices:
    """Those of this provider, or, among those that sell most of these kinds of accelerator, of one that is `near`, and
    whose prices follow best from the parts. NoAnswer where no provider has enough types, InputError where this one has
    not."""
    types: dict[str, list[InstanceType]] = defaultdict(list)
    for instance in catalog.instances():
        # No ARM cores, on which nothing was measured.
        if instance.usd_per_hour is not None and not instance.is_arm and instance.memory_bytes:
            types[instance.provider].append(instance)
    names = sorted(name for name, own in types.items() if len(own) >= FEWEST_TYPES)
    if provider is not None and provider not in names:
        raise InputError(
            "--provider: the prices of `{name}` in US dollars are too few to say what a vCPU costs; give one of "
            "{names}[[, or --rate {currency}=0.14 with what one is worth]].",
            name=provider,
            names=AnyOf(*names),
            currency=next((i.currency for i in catalog.instances() if i.provider == provider and not i.usd), None),
        )
    if not names:
        raise NoAnswer(
            "No provider of the catalogue has {count} instance types with a price in US dollars, from which that of a "
            "vCPU would follow; type --prices FILE.",
            count=FEWEST_TYPES,
        )
    fits = [fitted_prices(types[name], name) for name in ([provider] if provider is not None else names)]

    def order(fit: PartPrices) -> tuple[float, ...]:
        return sum(gpu_usd(fit.gpus, gpu) is not None for gpu in gpus), fit.provider in near, -fit.residual

    return max(fits, key=order)
