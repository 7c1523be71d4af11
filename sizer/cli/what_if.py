"""What a prediction supposes that no run has seen: a faster GPU, another disk, more data, a faster decoder."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

from sizer.catalog import Catalog
from sizer.model import WhatIf, WorkloadModel
from sizer.records import DiskRates, InputError, NoAnswer, format_bytes, format_number, parse_bytes

SUPPOSED_DISK = "supposed"
"""How a disk is called that is given by its figures alone."""


@dataclass(frozen=True)
class Supposed:
    """What was asked for; `data_bytes` is the size of a data set, which is a factor of each workload's own."""

    what_if: WhatIf = WhatIf()
    data_bytes: int | None = None

    @property
    def anything(self) -> bool:
        return self.data_bytes is not None or self.what_if != WhatIf()

    def of(self, workload: WorkloadModel) -> WhatIf:
        """For one workload. Raises NoAnswer where the size of its data set is needed and not known."""
        own = workload.facts.data_bytes
        if self.data_bytes is None:
            if self.what_if.data_bytes_factor != 1 and workload.facts.natural and not own:
                raise NoAnswer(
                    f"how large the data set of `{workload.name}` is was not recorded, so what the page cache would "
                    "keep of more cannot be said: measure it with its data, or import it with `dataset_gib`"
                )
            return self.what_if
        if not own:
            raise NoAnswer(
                f"how large the data set of `{workload.name}` is was not recorded, so {format_bytes(self.data_bytes)} "
                "cannot be compared with it: say how many times as large with --data-factor"
            )
        return replace(self.what_if, data_bytes_factor=self.data_bytes / own)

    def on(self, disk: DiskRates | None) -> Supposed:
        """The same on a disk of these rates, where there are any."""
        return self if disk is None else replace(self, what_if=replace(self.what_if, disk_rates=disk))


def supposed(arguments: argparse.Namespace) -> Supposed:
    """What the options ask for. Raises InputError where a disk is given in two ways."""
    disk = None
    if arguments.disk_iops is not None or arguments.disk_mbps is not None:
        if arguments.disk is not None:
            raise InputError("--disk names a disk, and --disk-iops and --disk-mbps describe another; give one of both")
        disk = DiskRates(read_iops=arguments.disk_iops, read_bytes_per_second=arguments.disk_mbps)
    what_if = WhatIf(
        gpu_speedup=arguments.gpu_speedup,
        disk_rates=disk,
        data_bytes_factor=1.0 if arguments.data_factor is None else arguments.data_factor,
        decode_factor=arguments.decode_factor,
    )
    return Supposed(what_if, arguments.data_size)


def is_tier(disk: str) -> bool:
    """Whether this means a tier of the catalogue: no disk of a study has such a name."""
    return "/" in disk or ":" in disk


def tier_rates(disk: str) -> DiskRates:
    """What a tier of the catalogue, `NAME:SIZE`, gives. Raises InputError for one that is not on offer."""
    name, _, size = disk.partition(":")
    offer = Catalog.load().disk(name)
    if not size:
        raise InputError(f"{name}: what it gives depends on its size; write --disk {name}:500GiB")
    rates = offer.rates(parse_bytes(size))
    return DiskRates(rates.read_iops, rates.read_bytes_per_second, rates.write_iops, rates.write_bytes_per_second)


def in_words(what_if: WhatIf, workload: WorkloadModel) -> str:
    """What is assumed: `an accelerator 2 times as fast; a disk of 5,000 IOPS and 300 MB/s`; empty for nothing."""
    parts = [f"an accelerator {_times(what_if.gpu_speedup, 'fast')}"] if what_if.gpu_speedup != 1 else []
    parts += [_disk(what_if.disk_rates)] if what_if.disk_rates is not None else []
    parts += [_data(what_if.data_bytes_factor, workload)] if what_if.data_bytes_factor != 1 else []
    parts += [f"a decoder that takes {format_number(what_if.decode_factor)} times the CPU"] * (
        what_if.decode_factor != 1
    )
    return "; ".join(parts)


def form(what_if: WhatIf) -> dict[str, object]:
    """The same for other programs: only what differs from what was measured."""
    rates = what_if.disk_rates or DiskRates()
    factors = {
        "gpu_speedup": what_if.gpu_speedup,
        "data_factor": what_if.data_bytes_factor,
        "decode_factor": what_if.decode_factor,
    }
    disk = {"disk_iops": rates.read_iops, "disk_mbps": _megabytes(rates)}
    told: dict[str, object] = {key: factor for key, factor in factors.items() if factor != 1}
    return told | {key: figure for key, figure in disk.items() if figure is not None}


def _megabytes(rates: DiskRates) -> float | None:
    return None if rates.read_bytes_per_second is None else rates.read_bytes_per_second / 1e6


def _times(factor: float, what: str) -> str:
    return f"{format_number(factor)} times as {what}"


def _disk(rates: DiskRates) -> str:
    figures = [f"{format_number(rates.read_iops)} IOPS"] if rates.read_iops is not None else []
    if rates.read_bytes_per_second is not None:
        figures.append(f"{format_number(rates.read_bytes_per_second / 1e6)} MB/s")
    lacking = " (its MB/s as if unlimited)" if rates.read_bytes_per_second is None else ""
    lacking = " (its IOPS as if unlimited)" if rates.read_iops is None else lacking
    written = "" if rates.write_iops is not None else ", read and written alike"
    return f"a disk of {' and '.join(figures)}{lacking}{written}"


def _data(factor: float, workload: WorkloadModel) -> str:
    own = workload.facts.data_bytes
    size = f" ({format_bytes(own * factor)})" if own else ""
    kept = (
        ""
        if workload.facts.natural
        else ", of which the page cache holds nothing as in the runs, so its size is no matter"
    )
    return f"a data set {_times(factor, 'large')}{size}{kept}"
