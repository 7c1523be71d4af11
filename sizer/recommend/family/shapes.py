"""What can be built, and what an hour of it costs: as it is sold, else by its parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
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
from sizer.records.units import GIB

FEWEST_TYPES = 20
"""Of a provider with fewer instance types a price of each part says little."""
MORE_MEMORY = 1.1
"""What has up to so many times the memory is sold as that shape."""
TABLE = "the table"
"""The source of a machine whose price a table gives itself."""
AS_FAST = 0.9
"""Of another disk's figures: checks of one tier differ by so much."""


# Disk tiers.


@dataclass(frozen=True)
class Tier:
    """A disk that a shape may have; what of its figures is None is not known."""

    name: str
    rates: DiskRates
    usd_per_hour: float

    def serves(self, disk: MeasuredDisk | None, reads: tuple[float, float] | None) -> bool:
        """Whether what was measured on that disk is as fast on this one: it is the same, or gives as much; of a disk
        that nobody named, as many bytes and IOs a second as the job `reads`, where that is known, else any."""
        needed: tuple[float | None, float | None] = reads or (0.0, 0.0)
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
    the one with the larger figures. Where there is one alone whose price nobody gave, it costs nothing: it is the same
    for all. InputError for a name that is neither."""
    own = {tier_name(disk): disk for disk in sorted(measured, key=lambda disk: disk.rates.read_bytes_per_second or 0.0)}
    disks = {} if asked else own
    for name in asked:
        offer = catalog.tier(name)
        if name in own:
            disks[name] = own[name]
        elif offer is not None:
            sold = MeasuredDisk(offer.name, offer.rates(VOLUME_GIB * GIB), offer.disk_class, offer.name)
            disks[offer.name] = own.get(offer.name, sold)
        else:
            own_ones = Message("one of {own}, or ", own=AnyOf(*own)) if own else ""
            raise InputError(
                "--disks: there is no disk tier `{name}`; give {own_ones}one of the catalogue, such as aws/gp3.",
                name=name,
                own_ones=own_ones,
            )
    usd = disk_prices(list(disks.values()), catalog) if len(disks) > 1 else {}
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
    known = read_gpu_name(name)
    return f"{known.key}-{known.memory_gb:g}" if known.memory_gb else known.key


def fitted_prices(types: Sequence[InstanceType], provider: str) -> PartPrices:
    """What the instance types of a provider cost by vCPU, GiB and accelerator: non-negative least squares (Lawson and
    Hanson 1974) of relative differences, so that a large machine does not outweigh small ones. A part that seems to
    cost nothing has no price."""
    from scipy.optimize import nnls

    kinds = sorted({gpu_key(instance.gpu) for instance in types if instance.gpu})
    usd = np.array([instance.usd_per_hour for instance in types])
    parts = np.array(
        [
            (
                *(i.vcpus, i.memory_bytes / GIB, (i.local_nvme_bytes or 0) / GIB),
                *(i.gpu_count * (i.gpu is not None and gpu_key(i.gpu) == kind) for kind in kinds),
            )
            for i in types
        ]
    )
    by_part, _ = nnls(parts / usd[:, None], np.ones(len(types)))
    apart = np.abs(parts @ by_part / usd - 1)
    gpus = {kind: float(value) for kind, value in zip(kinds, by_part[3:], strict=True) if value > 0}
    residuals = float(np.median(apart)), float(np.quantile(apart, 0.9))
    return PartPrices(float(by_part[0]), float(by_part[1]), gpus, {}, provider, len(types), *residuals)


def _priced(catalog: Catalog) -> list[InstanceType]:
    """Those whose price says what their parts cost; no ARM cores, on which nothing was measured."""
    offered = (i for i in catalog.instances() if i.usd_per_hour is not None and not i.is_arm)
    return [instance for instance in offered if instance.memory_bytes]


def price_of(
    size: Shape, like: Iterable[InstanceType], parts: PartPrices
) -> tuple[float, str | None, tuple[str, ...]] | None:
    """Of a shape without its disk: USD an hour, the instance type whose price that is, and one of each provider that
    sells it; None where its accelerator has no price. `like` are types of its kind, with machines of a TABLE.

    It is that of the cheapest of the provider's types, or of the table's machines, that holds it: nobody pays more for
    less. By its parts it is where that is less, and where none of these is just so.
    """
    holding = [i for i in like if i.memory_bytes >= size.memory_bytes and i.vcpus >= size.vcpus]
    holding = [i for i in holding if i.gpu_count >= size.gpu_count]
    small = [i for i in holding if i.memory_bytes <= MORE_MEMORY * size.memory_bytes]
    same = [i for i in small if (i.vcpus, i.gpu_count) == (size.vcpus, size.gpu_count)]
    own = [i for i in holding if i.usd_per_hour is not None and (i.provider == parts.provider or i.source == TABLE)]
    offers: list[tuple[float, str | None]] = [(i.usd_per_hour or 0.0, i.name.strip()) for i in own]
    gpu = 0.0 if size.gpu is None else parts.gpus.get(gpu_key(size.gpu))
    if gpu is not None and not any(i in same for i in own):
        offers.append((parts.vcpu * size.vcpus + parts.gib * size.memory_bytes / GIB + gpu * size.gpu_count, None))
    sold_by = {instance.provider: instance.name.strip() for instance in reversed(same)}
    return (*min(offers, key=lambda offer: offer[0]), tuple(sold_by.values())) if offers else None


def part_prices(catalog: Catalog, gpus: Iterable[str], provider: str | None, near: Collection[str]) -> PartPrices:
    """Those of this provider, or, among those that sell most of these kinds of accelerator, of one that is `near`, and
    whose prices follow best from the parts. NoAnswer where no provider has enough types, InputError where this one has
    not."""
    types: dict[str, list[InstanceType]] = defaultdict(list)
    for instance in _priced(catalog):
        types[instance.provider].append(instance)
    names = sorted(name for name, own in types.items() if len(own) >= FEWEST_TYPES)
    if provider is not None and provider not in names:
        raise InputError(
            "--provider: the prices of `{name}` are too few to say what a vCPU costs; give one of {names}.",
            name=provider,
            names=AnyOf(*names),
        )
    if not names:
        raise NoAnswer(
            "No provider of the catalogue has {count} instance types with a price in US dollars, from which that of a "
            "vCPU would follow; type --prices FILE.",
            count=FEWEST_TYPES,
        )
    kinds = set(map(gpu_key, gpus))
    fits = [fitted_prices(types[name], name) for name in ([provider] if provider is not None else names)]
    return max(fits, key=lambda fit: (len(kinds & fit.gpus.keys()), fit.provider in near, -fit.residual))
