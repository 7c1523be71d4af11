"""What a prediction assumes that no run has seen: a faster GPU, another disk, more data, a faster decoder."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from sizer.model.model import WhatIf, WorkloadModel
from sizer.records.device import DiskRates
from sizer.records.errors import InputError
from sizer.records.prediction import ReasonCode, Refusal, Refused, reason
from sizer.records.units import parse_bytes

WHAT_IF_DISK = "supposed"
"""How a disk is called that is given by its figures alone."""


@dataclass(frozen=True)
class AskedWhatIf:
    """What was asked for; `data_bytes` is the size of a data set, which is a factor of each workload's own."""

    what_if: WhatIf = WhatIf()
    data_bytes: int | None = None

    @property
    def anything(self) -> bool:
        return self.data_bytes is not None or self.what_if != WhatIf()

    def of(self, workload: WorkloadModel) -> WhatIf:
        """For one workload. Raises Refused where the size of its data set is needed and not known."""
        own = workload.facts.data_bytes
        if self.data_bytes is None:
            if self.what_if.data_bytes_factor != 1 and workload.facts.natural and not own:
                raise Refused(Refusal(reason(ReasonCode.NOT_RECORDED, column="dataset_gib")))
            return self.what_if
        if not own:
            unknown = reason(ReasonCode.NOT_RECORDED, column="dataset_gib", data=float(self.data_bytes))
            raise Refused(Refusal(unknown))
        return replace(self.what_if, data_bytes_factor=self.data_bytes / own)

    def on(self, disk: DiskRates | None) -> AskedWhatIf:
        """The same on a disk of these rates, where there are any."""
        return self if disk is None else replace(self, what_if=replace(self.what_if, disk_rates=disk))


def asked_what_if(arguments: argparse.Namespace) -> AskedWhatIf:
    """What the options ask for. Raises InputError where a disk is given in two ways."""
    disk = None
    if arguments.disk_iops is not None or arguments.disk_mbps is not None:
        if arguments.disk is not None:
            raise InputError(
                "--disk names one disk, and --disk-iops and --disk-mbps describe another; use one or the other."
            )
        disk = DiskRates(read_iops=arguments.disk_iops, read_bytes_per_second=arguments.disk_mbps)
    what_if = WhatIf(
        gpu_speedup=arguments.gpu_speedup,
        disk_rates=disk,
        data_bytes_factor=1.0 if arguments.data_factor is None else arguments.data_factor,
        decode_factor=arguments.decode_factor,
    )
    return AskedWhatIf(what_if, arguments.data_size)


def is_tier(disk: str) -> bool:
    """Whether this means a tier of the catalogue: no disk of a study has such a name."""
    return "/" in disk or ":" in disk


def tier_rates(disk: str) -> DiskRates:
    """What a tier of the catalogue, `NAME:SIZE`, gives. Raises InputError for one that is not on offer."""
    from sizer.catalog.catalog import Catalog

    name, _, size = disk.partition(":")
    offer = Catalog.load().disk(name)
    if not size:
        raise InputError("The rates of {name} depend on its size; write --disk {name}:500GiB.", name=name)
    rates = offer.rates(parse_bytes(size))
    return DiskRates(rates.read_iops, rates.read_bytes_per_second, rates.write_iops, rates.write_bytes_per_second)


def form(what_if: WhatIf) -> dict[str, object]:
    """The same for other programs: only what differs from what was measured."""
    rates = what_if.disk_rates or DiskRates()
    factors = {
        "gpu_speedup": what_if.gpu_speedup,
        "data_factor": what_if.data_bytes_factor,
        "decode_factor": what_if.decode_factor,
    }
    disk = {"disk_iops": rates.read_iops, "disk_mbps": _megabytes(rates)}
    found: dict[str, object] = {key: factor for key, factor in factors.items() if factor != 1}
    return found | {key: figure for key, figure in disk.items() if figure is not None}


def _megabytes(rates: DiskRates) -> float | None:
    return None if rates.read_bytes_per_second is None else rates.read_bytes_per_second / 1e6
