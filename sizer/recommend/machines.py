"""The machines that were measured, as they are: what each gives, and what an hour of it costs."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sizer.catalog import Catalog, InstanceType
from sizer.model import (
    CPU_LABEL,
    MeasuredDisk,
    MeasuredRate,
    Noise,
    apart,
    completed,
    deviation_of,
    end_to_end,
    gpus_of,
    label_of,
    measured_rate,
    name_of_disk,
    noise_at,
    noise_of,
    of_new_run,
)
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.machine_prices import knows, price_of, retired_since
from sizer.recommend.prices import disk_prices
from sizer.records import SLIP, Bottleneck, Configuration, Estimate, RentedMachine, Run, Spec

Key = tuple[Configuration, Accelerators, RentedMachine | None]


@dataclass(frozen=True)
class MemoryLevel:
    """Machines that differ in memory alone, and in rate by no more than chance: what they give together.

    `deviation` is the standard deviation of its ln. The `sizes` are in bytes, rising, each with its own of the `rates`.
    """

    rate: float
    deviation: float
    sizes: tuple[float, ...]
    rates: tuple[float, ...]


@dataclass(frozen=True)
class Machine:
    """One configuration that was measured, with what it made: samples per second over its repeats.

    `deviation` is the standard deviation of the mean of ln rate, `noise` that of a new run about it; `apart` how many
    times its fastest run is as fast as its slowest. `rented` is what the table says of the machine; `offer` the
    instance type whose price is `usd_per_hour`, None where it is the table's own or unknown. `retired` is the year
    since which nobody can rent it: then no price counts. `disk_usd_per_hour` is that of a volume, for comparing disks.
    `latency_p99` is in seconds, None where no run tells it. `only_named`: neither the table nor the catalogue says what
    the named machine is, so it may have any accelerator. `level` is what other sizes of memory say of its rate, None
    where none are alike.
    """

    spec: Spec
    configuration: Configuration
    accelerators: Accelerators
    rate: float
    deviation: float
    noise: float
    evidence: Bottleneck | None = None
    rented: RentedMachine | None = None
    usd_per_hour: float | None = None
    retired: int | None = None
    offer: InstanceType | None = None
    latency_p99: float | None = None
    disk_usd_per_hour: float = 0.0
    apart: float = 1.0
    in_several_regions: bool = False
    only_named: bool = False
    level: MemoryLevel | None = None

    @property
    def level_rate(self) -> float:
        """For comparing machines: the highest of many sizes that are alike is so by chance."""
        return self.rate if self.level is None else self.level.rate

    @property
    def level_deviation(self) -> float:
        """That of the `level_rate`."""
        return self.deviation if self.level is None else self.level.deviation

    @property
    def throughput(self) -> Estimate:
        """With the 90 % interval of a new run."""
        return of_new_run(self.rate, self.deviation, self.noise)

    @property
    def usd_a_sample(self) -> float:
        """What the work costs, without a disk; infinite where the price is not known."""
        return math.inf if self.usd_per_hour is None else self.usd_per_hour / 3600 / self.rate

    @property
    def cost(self) -> float:
        """USD of a sample with the disk, for comparing machines; no figure that is told."""
        return self.usd_a_sample * self.rate / self.level_rate + self.disk_usd_per_hour / 3600 / self.level_rate

    @property
    def size(self) -> tuple[float, int, float]:
        """vCPUs, memory and disk, in an order in which no larger one is cheaper."""
        return self.configuration.vcpus or 0.0, self.configuration.memory_bytes or 0, self.disk_usd_per_hour

    @property
    def slipped(self) -> bool:
        """Whether its runs are so far apart that one of them is a slip."""
        return self.apart > SLIP

    @property
    def name(self) -> str | None:
        """`aws g4dn.xlarge`, by the table or by the catalogue; with its region where the table has it in several, and
        with how many of it ran the job together."""
        name = self.offer.name if self.offer is not None else None
        if self.rented is not None and self.rented.instance_type is not None:
            region = self.rented.region if self.in_several_regions else None
            name = " ".join(filter(None, (self.rented.name, region)))
        return name if name is None or self.spec.nodes == 1 else f"{self.spec.nodes} x {name}"

    @property
    def usd_per_hour_spot(self) -> float | None:
        """The spot price that the table gives, or of the instance type whose price it has."""
        if self.rented is not None and self.rented.usd_per_hour_spot is not None:
            return self.rented.usd_per_hour_spot * self.spec.nodes
        spot = self.offer.usd_per_hour_spot if self.offer is not None else None
        return None if spot is None else spot * self.spec.nodes


def measured_machines(
    runs: Sequence[Run],
    disks: Sequence[MeasuredDisk],
    catalog: Catalog,
    spot: bool = False,
    usual: Mapping[int, MeasuredRate] | None = None,
) -> list[Machine]:
    """Every configuration of the whole job that was measured; of runs with other input, nothing.

    `spot`: with the spot prices of the table; `catalog` has its own then. `usual`: by `id(run)` the rate of its
    configuration on the host as it usually was, where that is known; else the median of its runs counts.
    """
    groups: dict[Key, list[Run]] = defaultdict(list)
    for run in completed(end_to_end(runs)):
        groups[run.configuration, accelerators_of_run(run), run.machine].append(run)
    groups = _at_one_price(groups)
    noise = noise_of(list(groups.values()))
    varied = _varied([configuration for configuration, _, _ in groups])
    of_disks = disk_prices(disks, catalog) if "disk" in varied else {}
    found = [
        _on_usual_host(_machine(key, group, varied, noise, catalog, spot, of_disks), (usual or {}).get(id(group[0])))
        for key, group in groups.items()
    ]
    regions: dict[str | None, set[str | None]] = defaultdict(set)
    for each in found:
        regions[each.name].add(each.rented.region if each.rented is not None else None)
    return [replace(each, in_several_regions=len(regions[each.name]) > 1) for each in found]


def _at_one_price(groups: dict[Key, list[Run]]) -> dict[Key, list[Run]]:
    """A machine with a name that the table has at several prices is one machine, at the least of them."""
    alike: dict[Key, list[RentedMachine]] = defaultdict(list)
    for configuration, accelerators, rented in groups:
        if rented is not None and rented.name is not None:
            bare = rented.at_any_price
            alike[configuration, accelerators, bare].append(rented)
    found: dict[Key, list[Run]] = defaultdict(list)
    for (configuration, accelerators, rented), runs in groups.items():
        if rented is not None and rented.name is not None:
            bare = rented.at_any_price
            rented = _cheapest(bare, alike[configuration, accelerators, bare])
        found[configuration, accelerators, rented] += runs
    return found


def _cheapest(bare: RentedMachine, alike: Sequence[RentedMachine]) -> RentedMachine:
    usual = [each.usd_per_hour for each in alike if each.usd_per_hour is not None]
    spot = [each.usd_per_hour_spot for each in alike if each.usd_per_hour_spot is not None]
    return replace(bare, usd_per_hour=min(usual, default=None), usd_per_hour_spot=min(spot, default=None))


def _machine(
    key: Key,
    group: Sequence[Run],
    varied: frozenset[str],
    noise: Noise,
    catalog: Catalog,
    spot: bool,
    of_disks: dict[str, float],
) -> Machine:
    configuration, accelerators, rented = key
    device = group[0].spec.workload.computes_on
    rates = [run.throughput for run in group if run.throughput is not None]
    named = {run.evidence.bottleneck for run in group if run.evidence is not None} - {Bottleneck.AMBIGUOUS}
    spec = Spec(
        configuration.vcpus,
        configuration.memory_bytes if group[0].imported or "memory" in varied else None,
        configuration.disk if "disk" in varied else None,
        configuration.batch_size if "batch" in varied else None,
        None if accelerators.catalog_name(device) is None else accelerators.gpu,
        accelerators.count or 0,
        group[0].nodes,
    )
    retired = retired_since(rented, catalog)
    usd, offer = (None, None) if retired else price_of(spec, accelerators, device, rented, catalog, spot)
    latencies = [run.latency_p99 for run in group if run.latency_p99 is not None]
    own_price = usd is not None and offer is None
    of_run = noise_at(group, noise)
    return Machine(
        spec,
        configuration,
        accelerators,
        rate=measured_rate(rates).value,
        deviation=deviation_of(of_run, len(rates)),
        noise=of_run,
        evidence=named.pop() if len(named) == 1 else None,
        rented=rented,
        usd_per_hour=usd,
        retired=retired,
        offer=offer,
        latency_p99=median(latencies) if latencies else None,
        disk_usd_per_hour=0.0 if own_price else of_disks.get(name_of_disk(configuration.disk), 0.0),
        apart=apart(group),
        only_named=rented is not None and rented.name is not None and _nothing_known(configuration, rented, catalog),
    )


def _on_usual_host(machine: Machine, known: MeasuredRate | None) -> Machine:
    if known is None or known.log_usual is None or known.deviation is None:
        return machine
    return replace(machine, rate=known.usual, deviation=known.deviation)


def _nothing_known(configuration: Configuration, rented: RentedMachine, catalog: Catalog) -> bool:
    known = (configuration.vcpus, configuration.gpu, configuration.gpu_count)
    return known == (None, None, None) and not knows(catalog, rented)


def accelerators_of_run(run: Run) -> Accelerators:
    """Their kind, by its name where the run or its device has one, and how many; none where the CPU computes."""
    device = run.spec.workload.computes_on
    named = run.configuration.gpu is None and device.kind == "cuda" and device.gpu is not None
    label = device.gpu if named else label_of(run)
    return Accelerators(CPU_LABEL, 0) if label is None else Accelerators(label, max(1, gpus_of(run.configuration)))


def _varied(configurations: Sequence[Configuration]) -> frozenset[str]:
    counts = {
        "memory": len({each.memory_bytes for each in configurations}),
        "disk": len({each.disk for each in configurations}),
        "batch": len({each.batch_size for each in configurations}),
    }
    return frozenset(name for name, count in counts.items() if count > 1)
