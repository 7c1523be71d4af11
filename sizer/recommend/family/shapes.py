"""What can be built, and what an hour of it costs: as it is sold, else by its parts."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sizer.catalog.catalog import Catalog
from sizer.catalog.gpus import read_gpu_name
from sizer.catalog.machines import InstanceType
from sizer.model.model import MeasuredDisk, name_of_disk
from sizer.recommend.prices import CLASS_PRICE, HOURS_A_MONTH, VOLUME_GIB
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.family import PartPrices, Shape
from sizer.records.messages import AnyOf, InputError, NoAnswer
from sizer.records.units import GIB

FEWEST_TYPES = 20
"""Of a provider with fewer instance types a price of each part says little."""
MORE_MEMORY = 1.1
"""What has up to so many times the memory is sold as that shape."""
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
        own = self.rates.read_bytes_per_second, self.rates.read_iops
        if is_unnamed(disk):
            return self.name == HOST_DISK or reads is None or reads == (0.0, 0.0) or _gives(own, reads, False)
        assert disk is not None, "a disk with a name"
        measured = disk.rates.read_bytes_per_second, disk.rates.read_iops
        return _gives(own, measured, self.name == tier_name(disk))


def _gives(own: Sequence[float | None], needed: Sequence[float | None], unknown: bool) -> bool:
    """Whether each figure is enough; `unknown` is what is believed of one that is not known."""
    pairs = zip(own, needed, strict=True)
    return all(unknown if has is None or need is None else has >= AS_FAST * need for has, need in pairs)


def is_unnamed(disk: MeasuredDisk | None) -> bool:
    """Whether it is wherever the data lay, which is no tier that one can ask for."""
    return disk is None or name_of_disk(disk.name) == HOST_DISK


def tier_name(disk: MeasuredDisk) -> str:
    """The tier of the catalogue, else what the study calls it."""
    return disk.catalog_name or name_of_disk(disk.name)


def tiers_of(disks: Iterable[MeasuredDisk], catalog: Catalog, prices: Mapping[str, float]) -> tuple[Tier, ...]:
    """One for each disk measured; of two of one name, the one with the larger figures. Where there is one alone whose
    price nobody gave, it costs nothing: it is the same for all."""
    fastest: dict[str, MeasuredDisk] = {}
    for disk in sorted(disks, key=lambda disk: -(disk.rates.read_bytes_per_second or 0.0)):
        fastest.setdefault(tier_name(disk), disk)
    several = len(fastest) > 1
    return tuple(
        Tier(name, disk.rates, prices.get(name, _usd_per_hour(disk, catalog) if several else 0.0))
        for name, disk in fastest.items()
    )


def asked_tiers(
    names: Sequence[str], measured: Sequence[Tier], catalog: Catalog, prices: Mapping[str, float]
) -> tuple[Tier, ...]:
    """Those of these names, measured or of the catalogue. InputError for one that is neither."""
    by_name, asked = {tier.name: tier for tier in measured}, []
    for name in names:
        offer = catalog.tier(name)
        if name not in by_name and offer is None:
            raise InputError(
                "--disks: there is no disk tier `{name}`; give one of {own}, or one of the catalogue, such as aws/gp3.",
                name=name,
                own=AnyOf(*by_name),
            )
        if offer is not None and name not in by_name:
            rates = offer.rates(VOLUME_GIB * GIB)
            disk = MeasuredDisk(offer.name, rates, offer.disk_class, offer.name)
            by_name[name] = Tier(offer.name, rates, prices.get(offer.name, _usd_per_hour(disk, catalog)))
        asked.append(by_name[name])
    return tuple(dict.fromkeys(asked))


def _usd_per_hour(disk: MeasuredDisk, catalog: Catalog) -> float:
    tier = catalog.tier(tier_name(disk))
    usd = None if tier is None else tier.usd_per_month(VOLUME_GIB * GIB, disk.rates)
    if usd is None:
        usd = VOLUME_GIB * CLASS_PRICE.get(disk.disk_class or "", CLASS_PRICE["ssd"])
    return usd / HOURS_A_MONTH


# Prices.


def gpu_key(name: str) -> str:
    """One for all names of a kind of accelerator, whatever its memory: prices tell no more apart."""
    return read_gpu_name(name).key


def gpu_kind(name: str) -> str:
    """The same with the memory that the name says: a V100-16GB runs what was measured on one, and no V100-32GB."""
    known = read_gpu_name(name)
    return f"{known.key}-{known.memory_gb:g}" if known.memory_gb else known.key


def fitted_prices(catalog: Catalog, provider: str) -> PartPrices:
    """What its instance types cost by vCPU, GiB and accelerator: non-negative least squares (Lawson and Hanson 1974) of
    relative differences, so that a large machine does not outweigh small ones. A part that seems to cost nothing has no
    price."""
    from scipy.optimize import nnls

    types = [instance for instance in _priced(catalog) if instance.provider == provider]
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


def providers(catalog: Catalog) -> tuple[str, ...]:
    """Those with enough priced instance types."""
    counts = Counter(instance.provider for instance in _priced(catalog))
    return tuple(sorted(name for name, count in counts.items() if count >= FEWEST_TYPES))


def _priced(catalog: Catalog) -> list[InstanceType]:
    """Those whose price says what their parts cost; no ARM cores, on which nothing was measured."""
    offered = (i for i in catalog.instances() if i.usd_per_hour is not None and not i.is_arm)
    return [instance for instance in offered if instance.memory_bytes]


@dataclass(frozen=True)
class PriceList:
    """What an hour of a shape costs. Where `parts` were fitted to a provider, its own instance types come first."""

    parts: PartPrices
    catalog: Catalog

    def usd_per_hour(self, shape: Shape, tier: Tier) -> tuple[float, str | None] | None:
        """With its disk, and the instance type whose price it is; None where its accelerator has no price.

        Nobody pays more for less: where a larger type costs less, that is its price.
        """
        size = replace(shape, disk=None)
        if size not in self._by_shape:
            self._by_shape[size] = self._of_size(size)
        priced = self._by_shape[size]
        return None if priced is None else (priced[0] + tier.usd_per_hour, priced[1])

    def sold(self, shape: Shape) -> list[InstanceType]:
        """The instance types that are such machines, those with a price first."""
        alike = self._by_size.get((shape.vcpus, shape.gpu and gpu_key(shape.gpu), shape.gpu_count), ())
        return [i for i in alike if shape.memory_bytes <= i.memory_bytes <= MORE_MEMORY * shape.memory_bytes]

    def _of_size(self, size: Shape) -> tuple[float, str | None] | None:
        """Without a disk: the cheapest of the provider's types that holds it; by its parts where that is less, and
        where it sells none just so."""
        usd, name = math.inf, ""
        for instance in self._own.get(size.gpu and gpu_key(size.gpu), ()):
            enough = instance.vcpus >= size.vcpus and instance.memory_bytes >= size.memory_bytes
            if enough and instance.gpu_count >= size.gpu_count and (instance.usd_per_hour or 0.0) < usd:
                usd, name = instance.usd_per_hour or 0.0, instance.name
        gpu = 0.0 if size.gpu is None else self.parts.gpus.get(gpu_key(size.gpu))
        is_sold = any(i.provider == self.parts.provider and i.usd_per_hour is not None for i in self.sold(size))
        if gpu is not None and not is_sold:
            parts = self.parts.vcpu * size.vcpus + self.parts.gib * size.memory_bytes / GIB + gpu * size.gpu_count
            usd, name = (usd, name) if usd <= parts else (parts, "")
        return None if math.isinf(usd) else (usd, name or None)

    @cached_property
    def _by_shape(self) -> dict[Shape, tuple[float, str | None] | None]:
        return {}

    @cached_property
    def _own(self) -> Mapping[str | None, Sequence[InstanceType]]:
        """The priced types of the provider by their kind of accelerator."""
        kinds: dict[str | None, list[InstanceType]] = defaultdict(list)
        for instance in _priced(self.catalog):
            if instance.provider == self.parts.provider:
                kinds[instance.gpu and gpu_key(instance.gpu)].append(instance)
        return kinds

    @cached_property
    def _by_size(self) -> Mapping[tuple[float, str | None, int], Sequence[InstanceType]]:
        sizes: dict[tuple[float, str | None, int], list[InstanceType]] = defaultdict(list)
        for instance in self.catalog.instances():
            if not instance.is_arm:
                sizes[instance.vcpus, instance.gpu and gpu_key(instance.gpu), instance.gpu_count].append(instance)
        return sizes


def price_list(
    catalog: Catalog, gpus: Sequence[str], provider: str | None = None, given: PartPrices | None = None
) -> PriceList:
    """By the prices given; else by those of this provider, or, among those that sell most of these kinds of
    accelerator, of the one whose prices follow best from the parts. NoAnswer where no provider has enough types."""
    if given is not None:
        return PriceList(given, catalog)
    names = providers(catalog)
    if provider is not None and provider not in names:
        raise InputError(
            "--provider: the prices of `{name}` are too few to say what a vCPU costs; give one of {names}.",
            name=provider,
            names=AnyOf(*names),
        )
    kinds = set(map(gpu_key, gpus))
    fits = [fitted_prices(catalog, name) for name in ([provider] if provider is not None else names)]
    if not fits:
        raise NoAnswer(
            "No provider of the catalogue has {count} instance types with a price in US dollars, from which that of a "
            "vCPU would follow; type --prices FILE.",
            count=FEWEST_TYPES,
        )
    return PriceList(max(fits, key=lambda fit: (len(kinds & fit.gpus.keys()), -fit.residual)), catalog)
