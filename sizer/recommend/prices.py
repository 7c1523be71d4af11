"""What a spec costs relative to another: prices of a vCPU and of a GiB, read off the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizer.catalog.catalog import Catalog, InstanceType
from sizer.model.coordinates import name_of_disk
from sizer.model.model import MeasuredDisk
from sizer.records.units import GIB, RELATIVE

CLASS_PRICE = {"standard": 0.045, "ssd": 0.08, "nvme": 0.125}
"""USD a GiB and month where the catalogue has no price: AWS st1, gp3 and io2 of 2023-06, for ordering only."""
VOLUME_GIB = 150
"""The volume whose price counts beside vCPUs and memory: it holds ImageNet's 138 GiB of training images."""
HOURS_A_MONTH = 730
LAST_RESORT = (0.039, 0.003)
"""USD an hour for a vCPU and for a GiB where the catalogue has no priced CPU instances: c7i, m7i, r7i of 2026-07."""


@dataclass(frozen=True)
class Prices:
    """USD an hour of one vCPU and of one GiB."""

    vcpu: float
    gib: float

    def usd_per_hour(self, vcpus: float | None, memory_bytes: int | None) -> float:
        """Of a machine of this size; without a memory size, of its vCPUs alone.

        Unknown vCPUs count as one: they are the same for all that is compared.
        """
        return self.vcpu * (1.0 if vcpus is None else vcpus) + self.gib * (memory_bytes or 0) / GIB


def usd_per_million(usd_per_hour: float | None, rate: float, unit: str) -> float | None:
    """USD of a million samples at a rate; None where the price or, of relative rates, the samples are not known."""
    if usd_per_hour is None or rate <= 0 or unit == RELATIVE:
        return None
    return usd_per_hour / 3600 / rate * 1e6


def prices(catalog: Catalog) -> Prices:
    """Least squares of price on vCPUs and GiB over the instance types without a GPU.

    Only the order of specs rests on these: what an instance type costs is taken from its own entry.
    """
    plain = [i for i in catalog.instances() if i.gpu is None and i.usd_per_hour is not None]
    return Prices(*_regression(plain))


def _regression(plain: Sequence[InstanceType]) -> tuple[float, float]:
    cc = cm = mm = cp = mp = 0.0
    for instance in plain:
        c, m, price = instance.vcpus, instance.memory_bytes / GIB, instance.usd_per_hour or 0.0
        weight = 1 / c**2  # a large machine must not outweigh the small ones
        cc, cm, mm = cc + weight * c * c, cm + weight * c * m, mm + weight * m * m
        cp, mp = cp + weight * c * price, mp + weight * m * price
    determinant = cc * mm - cm * cm
    if determinant <= 1e-9 * cc * mm:
        return LAST_RESORT
    vcpu, gib = (cp * mm - mp * cm) / determinant, (mp * cc - cp * cm) / determinant
    return (vcpu, gib) if vcpu > 0 and gib > 0 else LAST_RESORT


def disk_prices(disks: Sequence[MeasuredDisk], catalog: Catalog) -> dict[str, float]:
    """USD an hour of a volume of VOLUME_GIB on each disk.

    By the catalogue's price of the tier where all disks have one, so that like is compared with like, else by class.
    """
    known = {offer.name: offer.usd_per_gib_month for offer in catalog.disks}
    listed = [known.get(disk.catalog_name or "") for disk in disks]
    return {
        name_of_disk(disk.name): VOLUME_GIB
        / HOURS_A_MONTH
        * (price if price is not None and None not in listed else _by_class(disk))
        for disk, price in zip(disks, listed, strict=True)
    }


def disks_by_price(disks: Sequence[MeasuredDisk], catalog: Catalog) -> list[str | None]:
    """The names of the disks, cheapest first; of equally priced ones, first the one that gives less."""
    price, infinite = disk_prices(disks, catalog), float("inf")

    def order(disk: MeasuredDisk) -> tuple[float, float, float]:
        return (
            price[name_of_disk(disk.name)],
            disk.rates.read_bytes_per_second or infinite,
            disk.rates.read_iops or infinite,
        )

    return [disk.name for disk in sorted(disks, key=order)]


def _by_class(disk: MeasuredDisk) -> float:
    return CLASS_PRICE.get(disk.disk_class or "", CLASS_PRICE["ssd"])
