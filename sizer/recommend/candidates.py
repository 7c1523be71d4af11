"""The specs that could be the answer, and those that were measured: machines as they are, with what an hour costs."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import median

from sizer.catalog.catalog import Catalog, plain_name
from sizer.catalog.machines import InstanceType
from sizer.catalog.processors import with_cpu_of
from sizer.model.model import (
    CPU_LABEL,
    Gpus,
    MeasuredRate,
    WorkloadModel,
    deviation_of,
    gpus_of,
    name_of_disk,
    of_new_run,
)
from sizer.model.observations import apart, completed, measured_rate, noise_at, noise_of
from sizer.model.prediction import on_real_gpus
from sizer.model.runs import end_to_end, label_of, labelled
from sizer.recommend.prices import disk_prices, gpu_retired_since, price_of, retired_since
from sizer.records.answer import ForeignPrice
from sizer.records.device import EMULATED_LABEL, Device
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Spec
from sizer.records.run import RentedMachine, Run
from sizer.records.study import Objective
from sizer.records.units import GIB

SOLD_VCPUS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
GIB_PER_VCPU = (2, 4, 8)
"""Compute, general and memory families of every provider; fractions of a vCPU are not sold."""

Kind = tuple[str | None, int]


@dataclass(frozen=True)
class Candidate:
    """A spec, the measured configuration `place` that it is judged by (never more than was measured), and its facts.

    `throughput` is its rate in samples per second with the 90 % interval of a new run. `usd_per_hour` is without a
    disk, None unknown; `disk_usd_per_hour` is that of a volume where disks are compared. Of a machine of a table or of
    an instance type, `rented` is what the table calls it, `offer` the instance type whose price it has, `retired` the
    year since which nobody can rent it. `deviation` and `noise` are standard deviations of ln rate, of the mean over
    its runs and of one run about it; `apart` is its fastest run over its slowest; `latency_p99` is in seconds.
    `only_named`: neither the table nor the catalogue says what the named machine is, so it may have any accelerator.
    `labels` are what columns of the table that sizer does not use say of it.
    """

    spec: Spec
    place: Configuration
    throughput: Estimate
    usd_per_hour: float | None
    disk_usd_per_hour: float = 0.0
    disk_rank: int = 0
    accelerators: Gpus = field(default_factory=Gpus)
    deviation: float = 0.0
    noise: float = 0.0
    evidence: Bottleneck | None = None
    rented: RentedMachine | None = None
    retired: int | None = None
    offer: InstanceType | None = None
    latency_p99: float | None = None
    apart: float = 1.0
    in_several_regions: bool = False
    only_named: bool = False
    labels: frozenset[str] = frozenset()

    @property
    def rate(self) -> float:
        """Samples per second, as expected."""
        return self.throughput.value

    @property
    def hourly(self) -> float:
        """USD an hour with the disk; infinite where the price is not known, and never 0, so that it has a logarithm."""
        return math.inf if self.usd_per_hour is None else max(self.usd_per_hour + self.disk_usd_per_hour, 1e-9)

    @property
    def rent(self) -> float | None:
        """USD an hour of what is rented, without the disk: a machine, or the instance type that holds a size."""
        if self.deviation > 0:
            return self.usd_per_hour
        return None if self.offer is None else self.offer.usd_per_hour

    @property
    def cost(self) -> float:
        """USD of a sample with the disk, for comparing candidates."""
        return self.hourly / 3600 / self.rate if self.rate > 0 else math.inf

    @property
    def usd_a_sample(self) -> float:
        """What is told of that: without a disk."""
        return math.inf if self.usd_per_hour is None else self.usd_per_hour / 3600 / self.rate

    @property
    def size(self) -> tuple[float, int, tuple[float, int]]:
        """vCPUs, memory and disk, in an order in which no larger one is cheaper."""
        return self.spec.vcpus or 0.0, self.spec.memory_bytes or 0, self.disk_price

    @cached_property
    def kind(self) -> Kind:
        """Kind and count of accelerator; of a machine whose name is all that is known of it, that name. Machines
        without accelerators that ran a job together are a kind by their number."""
        if self.only_named or (self.spec.nodes > 1 and not self.accelerators.count):
            return self.name or f"{self.spec.nodes} x", 0
        return self.accelerators.gpu, self.accelerators.count or 0

    @property
    def but_for_disk(self) -> tuple[object, ...]:
        """What two have alike that differ in nothing but the disk."""
        return replace(self.spec, disk=None), self.place.batch_size, self.place.machine, self.rented, self.kind

    @property
    def disk_price(self) -> tuple[float, int]:
        """By which disks are called cheaper."""
        return self.disk_usd_per_hour, self.disk_rank

    @property
    def exists(self) -> bool:
        """Whether a family offers this much memory with these vCPUs; a machine that was measured does exist."""
        memory, vcpus = self.spec.memory_bytes, self.spec.vcpus
        return self.deviation > 0 or memory is None or vcpus is None or memory <= family_memory(vcpus)[-1]

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
    def is_named(self) -> bool:
        """Whether its rate is that of the machine of this name, and not of any that holds its size."""
        return self.rented is not None or self.place.machine is not None

    def is_called(self, text: str) -> bool:
        """Whether a person means it by this: a name of the machine, what a column of the table that sizer does not use
        calls it, or its size: `8 vCPUs`, `1 x K80`, `K80`."""
        rented = () if self.rented is None else (self.rented.name, self.rented.instance_type)
        vcpus = "" if self.spec.vcpus is None else f"{self.spec.vcpus:g} vcpus"
        gpu = (self.spec.gpu or "").removeprefix(EMULATED_LABEL)
        gpus = f"{self.spec.gpu_count} x {gpu}" if gpu else ""
        names = (self.name, *rented, vcpus, gpus, f"{vcpus}, {gpus}", gpu, *self.labels)
        return _plain(text) in {_plain(name) for name in names if name}

    @property
    def foreign(self) -> ForeignPrice | None:
        """The price of an instance type that has it in a currency that was not converted."""
        offer = self.offer if self.usd_per_hour is None else None
        price = None if offer is None else offer.price_per_hour
        return None if offer is None or price is None else ForeignPrice(price * self.spec.nodes, offer.currency)

    @property
    def foreign_cost(self) -> float:
        """Of a sample in that currency, to compare within it."""
        return math.inf if self.foreign is None or self.rate <= 0 else self.foreign.amount / 3600 / self.rate

    @property
    def usd_per_hour_spot(self) -> float | None:
        """The spot price that the table gives, or of the instance type whose price it has."""
        spot = self.offer.usd_per_hour_spot if self.offer is not None else None
        if self.rented is not None and self.rented.usd_per_hour_spot is not None:
            spot = self.rented.usd_per_hour_spot
        return None if spot is None else spot * self.spec.nodes


def one_currency(candidates: Iterable[Candidate]) -> str | None:
    """The currency that all of them have a price in, where nobody said what it is worth in US dollars."""
    currencies = {None if one.foreign is None else one.foreign.currency for one in candidates}
    return currencies.pop() if len(currencies) == 1 else None


def _plain(name: str) -> str:
    """As one compares names: `1 vCPU` is `1 vcpus`."""
    return re.sub(r"\bvcpus?\b", "vcpu", plain_name(" ".join(name.split())))


def next_sold(vcpus: float, catalog: Catalog, above: bool = False) -> float:
    """The smallest size sold with at least this many vCPUs (`above`: more than these)."""
    if not above and any(instance.vcpus == vcpus for instance in catalog.instances()):
        return vcpus
    return float(next((size for size in SOLD_VCPUS if (size > vcpus if above else size >= vcpus)), vcpus))


def family_memory(vcpus: float, ratios: Sequence[float] = GIB_PER_VCPU) -> list[int]:
    """The memory sizes in bytes that families offer with these vCPUs, rising, by their GiB for each."""
    return [round(ratio * vcpus * GIB) for ratio in ratios]


# Machines that were measured.

Key = tuple[Configuration, Gpus, RentedMachine | None]


def machines_to_compare(
    model: WorkloadModel, runs: Sequence[Run], objective: Objective, catalog: Catalog
) -> tuple[Candidate, ...]:
    """The machines that were measured, where the answer is one of them; empty where a curve says which size to take.

    A table that others measured is compared as it is, and so are runs on several kinds or counts of accelerators. A
    curve is for what sizer measured itself, where accounting shows what a size between two measured ones gives. A
    latency is asked of machines that it was measured on: no curve says what it is between them.
    """
    catalog = _where_measured(model, runs, catalog)
    measured = _on_real_gpus(model, _measured_machines(model, runs, catalog, objective.spot))
    measured = _with_gone_gpus(measured, model.facts.device, catalog)
    several = len({machine.kind for machine in measured}) > 1
    # Fractions of a vCPU are limits of a run, and no machine.
    whole = tuple(m for m in measured if m.place.vcpus is None or (m.place.vcpus >= 1 and m.place.vcpus % 1 == 0))
    machines = whole or (measured if several else ())
    if objective.latency_p99 is not None:
        machines = machines or measured
        return machines if any(machine.latency_p99 is not None for machine in machines) else ()
    of_a_table = runs[0].imported and model.facts.core_seconds is None
    named = len(machines) > 1 and any(machine.rented is not None for machine in machines)
    return machines if of_a_table or several or named else ()


def _where_measured(model: WorkloadModel, runs: Sequence[Run], catalog: Catalog) -> Catalog:
    """Of a table without names of machines that was measured on one instance type: the types with that CPU, as on no
    other the rates are as measured."""
    home = model.facts.measured_on
    if len(home) != 1 or not home[0].name or any(run.declared.machine is not None for run in runs):
        return catalog
    own = next(iter(catalog.called(home[0].name)), None)
    types = () if own is None else with_cpu_of(own, catalog.instance_types)
    return replace(catalog, instance_types=types) if types else catalog


def _on_real_gpus(model: WorkloadModel, machines: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those of several kinds with what is not known of the real accelerators that were emulated."""
    real = on_real_gpus(model, [one.place for one in machines]) if model.facts.devices else None
    if real is None:
        return machines
    return tuple(
        replace(one, throughput=of_new_run(one.rate, math.hypot(one.deviation, apart), one.noise))
        for one, apart in zip(machines, real.std(axis=0).tolist(), strict=True)
    )


def _with_gone_gpus(machines: Sequence[Candidate], device: Device, catalog: Catalog) -> tuple[Candidate, ...]:
    """With the year since which nobody can rent their GPU. Where nothing else was measured those of which no price and
    no type is known are somebody's own, and remain."""
    gpus = [one.accelerators.catalog_name(device) for one in machines]
    years = {gpu: gpu_retired_since(gpu, catalog) for gpu in gpus if gpu is not None}
    alone = all(gpu is not None and years[gpu] for gpu in gpus)
    return tuple(
        one if gpu is None or (alone and one.rented is None) else replace(one, retired=one.retired or years[gpu])
        for one, gpu in zip(machines, gpus, strict=True)
    )


def _measured_machines(
    model: WorkloadModel, runs: Sequence[Run], catalog: Catalog, spot: bool
) -> tuple[Candidate, ...]:
    """Every configuration of the whole job that was measured; of runs with other input, nothing."""
    groups: dict[Key, list[Run]] = defaultdict(list)
    for run in completed(end_to_end(runs)):
        groups[run.configuration, accelerators_of_run(run), run.declared.machine].append(run)
    groups = _at_one_price(groups)
    places = [place for place, _, _ in groups]
    varied = {axis for axis in ("memory_bytes", "disk", "batch_size") if len({getattr(p, axis) for p in places}) > 1}
    noise = noise_of(list(groups.values()))
    disks = disk_prices(model.measured.disks, catalog) if "disk" in varied else {}
    labels = {id(run): alike.configuration for run, alike in zip(runs, labelled(runs), strict=True)}
    machines = [
        _on_usual_host(
            _machine(key, group, varied, noise_at(group, noise), disks, catalog, spot),
            None if group[0].imported else model.measured.rate_at(labels[id(group[0])]),
        )
        for key, group in groups.items()
    ]
    regions: dict[str | None, set[str | None]] = defaultdict(set)
    for machine in machines:
        regions[machine.name].add(machine.rented.region if machine.rented is not None else None)
    return tuple(replace(machine, in_several_regions=len(regions[machine.name]) > 1) for machine in machines)


def _at_one_price(groups: Mapping[Key, list[Run]]) -> dict[Key, list[Run]]:
    """A machine with a name that the table has at several prices is one machine, at the least of them."""
    alike: dict[Key, list[RentedMachine]] = defaultdict(list)
    for place, accelerators, rented in groups:
        if rented is not None and rented.name is not None:
            alike[place, accelerators, rented.at_any_price].append(rented)
    merged: dict[Key, list[Run]] = defaultdict(list)
    for (place, accelerators, rented), group in groups.items():
        if rented is not None and rented.name is not None:
            same = alike[place, accelerators, rented.at_any_price]
            usual = [machine.usd_per_hour for machine in same if machine.usd_per_hour is not None]
            spot = [offer.usd_per_hour_spot for offer in same if offer.usd_per_hour_spot is not None]
            rented = replace(rented, usd_per_hour=min(usual, default=None), usd_per_hour_spot=min(spot, default=None))
        merged[place, accelerators, rented] += group
    return dict(merged)


def _machine(
    key: Key,
    group: Sequence[Run],
    varied: Collection[str],
    noise: float,
    disks: Mapping[str, float],
    catalog: Catalog,
    spot: bool,
) -> Candidate:
    place, accelerators, rented = key
    device = group[0].spec.workload.computes_on
    rates = [run.throughput for run in group if run.throughput is not None]
    named = {run.evidence.bottleneck for run in group if run.evidence is not None} - {Bottleneck.AMBIGUOUS}
    latencies = [run.rate.latency_p99 for run in group if run.rate.latency_p99 is not None]
    spec = Spec(
        place.vcpus,
        place.memory_bytes if group[0].imported or "memory_bytes" in varied else None,
        place.disk if "disk" in varied else None,
        place.batch_size if "batch_size" in varied else None,
        accelerators.gpu if accelerators.catalog_name(device) or place.gpu not in (None, CPU_LABEL) else None,
        accelerators.count or 0,
        group[0].nodes,
    )
    retired = retired_since(rented, catalog)
    usd, offer = (None, None) if retired else price_of(spec, accelerators, device, rented, catalog, spot)
    deviation = deviation_of(noise, len(rates))
    unknown = rented is not None and rented.name is not None and not catalog.called(rented.name)
    return Candidate(
        spec,
        place,
        of_new_run(measured_rate(rates).value, deviation, noise),
        usd,
        # What a table says that its machine costs is with all that it has.
        0.0 if usd is not None and offer is None else disks.get(name_of_disk(place.disk), 0.0),
        accelerators=accelerators,
        deviation=deviation,
        noise=noise,
        evidence=named.pop() if len(named) == 1 else None,
        rented=rented,
        retired=retired,
        offer=offer,
        latency_p99=median(latencies) if latencies else None,
        apart=apart(group),
        labels=frozenset(value for run in group for value in run.declared.other.values()),
        only_named=unknown and (place.vcpus, place.gpu, place.gpu_count) == (None, None, None),
    )


def _on_usual_host(machine: Candidate, there: MeasuredRate | None) -> Candidate:
    """With its rate on the host as it usually was; what a table says counts as it is."""
    if there is None or there.log_usual is None or there.deviation is None:
        return machine
    rate = of_new_run(there.usual, there.deviation, machine.noise)
    return replace(machine, throughput=rate, deviation=there.deviation)


def accelerators_of_run(run: Run) -> Gpus:
    """Their kind, by its name where the run or its device has one, and how many; none where the CPU computes."""
    device = run.spec.workload.computes_on
    named = run.configuration.gpu is None and device.kind == "cuda" and device.gpu is not None
    label = device.gpu if named else label_of(run)
    return Gpus(CPU_LABEL, 0) if label in (None, CPU_LABEL) else Gpus(label, max(1, gpus_of(run.configuration)))


def synthetic_rates(runs: Sequence[Run]) -> dict[Gpus, float]:
    """By kind and count of accelerator the highest rate with synthetic input, in samples per second.

    Rates with other input than the job's answer for no job, and show whether its input holds it back.
    """
    whole = {id(run) for run in end_to_end(runs)}
    groups: dict[Key, list[Estimate]] = defaultdict(list)
    for run in completed(runs):
        if id(run) not in whole and run.spec.workload.assumed_input == "synthetic" and run.throughput is not None:
            groups[run.configuration, accelerators_of_run(run), run.declared.machine].append(run.throughput)
    return highest_rates((accelerators, measured_rate(rates).value) for (_, accelerators, _), rates in groups.items())


def highest_rates(rates: Iterable[tuple[Gpus, float]]) -> dict[Gpus, float]:
    """The highest of each kind and count of accelerator."""
    highest: dict[Gpus, float] = {}
    for accelerators, rate in rates:
        highest[accelerators] = max(highest.get(accelerators, 0.0), rate)
    return highest
