"""The machines that were measured, as they are: what each gives, and what an hour of it costs."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from sizer.catalog import Catalog, InstanceType
from sizer.model import CPU_LABEL, NORMAL_90, Noise, completed, end_to_end, gpus_of, label_of, noise_of
from sizer.recommend.accelerators import Accelerators
from sizer.records import (
    GIB,
    Bottleneck,
    Configuration,
    Device,
    Estimate,
    InputError,
    LimitedByKind,
    RentedMachine,
    Run,
    Spec,
)

GPU_MEMORY_ALIKE = 0.1
"""A GPU of 40 GB in its name has 40 GiB in one list and 37.25 GiB in another."""
DRIFT = 0.01
"""Standard deviation of ln rate that repeats of one configuration do not show: what lies between configurations."""


@dataclass(frozen=True)
class Machine:
    """One configuration that was measured, with what it made: samples per second over its repeats.

    `deviation` is the standard deviation of the mean of ln rate, `noise` that of a new run about it. `rented` is what
    the table says of the machine; `offer` the instance type whose price is `usd_per_hour`, None where it is the
    table's own or unknown. `latency_p99` is in seconds, None where no run tells it.
    """

    spec: Spec
    configuration: Configuration
    accelerators: Accelerators
    rate: float
    deviation: float
    noise: float
    runs: int
    evidence: Bottleneck | None = None
    rented: RentedMachine | None = None
    usd_per_hour: float | None = None
    offer: InstanceType | None = None
    latency_p99: float | None = None

    @property
    def throughput(self) -> Estimate:
        """With the 90 % interval of a new run."""
        half = NORMAL_90 * math.hypot(self.deviation, self.noise)
        return Estimate(self.rate, self.rate * math.exp(-half), self.rate * math.exp(half))

    @property
    def usd_a_sample(self) -> float:
        """What the work costs; infinite where the price is not known."""
        return math.inf if self.usd_per_hour is None else self.usd_per_hour / 3600 / self.rate

    @property
    def name(self) -> str | None:
        """`aws g4dn.xlarge`, by the table or by the catalogue."""
        if self.rented is not None and self.rented.instance_type is not None:
            return " ".join(filter(None, (self.rented.provider, self.rented.instance_type)))
        return f"{self.offer.provider} {self.offer.instance_type}" if self.offer is not None else None

    @property
    def usd_per_hour_spot(self) -> float | None:
        """The spot price that the table gives, or of the instance type whose price it has."""
        if self.rented is not None and self.rented.usd_per_hour_spot is not None:
            return self.rented.usd_per_hour_spot
        return self.offer.usd_per_hour_spot if self.offer is not None else None


def measured_machines(runs: Sequence[Run], catalog: Catalog, spot: bool = False) -> list[Machine]:
    """Every configuration of the whole job that was measured; of runs with other input, nothing.

    `spot`: with the spot prices of the table; `catalog` has its own then.
    """
    usable = completed(end_to_end(runs))
    groups: dict[tuple[Configuration, str | None, RentedMachine | None], list[Run]] = defaultdict(list)
    for run in usable:
        groups[run.configuration, _kind(run), run.machine].append(run)
    noise = noise_of(list(groups.values()))
    varied = _varied([configuration for configuration, _, _ in groups])
    return [
        _machine(group, configuration, label, rented, varied, noise, catalog, spot)
        for (configuration, label, rented), group in groups.items()
    ]


def _machine(
    group: Sequence[Run],
    configuration: Configuration,
    label: str | None,
    rented: RentedMachine | None,
    varied: frozenset[str],
    noise: Noise,
    catalog: Catalog,
    spot: bool,
) -> Machine:
    device = group[0].spec.workload.computes_on
    accelerators = Accelerators(CPU_LABEL, 0) if label is None else Accelerators(label, max(1, gpus_of(configuration)))
    logs = [math.log(run.throughput.value) for run in group if run.throughput is not None]
    centre = median(logs) if len(logs) > 2 else mean(logs)
    named = {run.evidence.bottleneck for run in group if run.evidence is not None} - {Bottleneck.AMBIGUOUS}
    spec = Spec(
        configuration.vcpus,
        configuration.memory_bytes if is_imported(group[0]) or "memory" in varied else None,
        configuration.disk if "disk" in varied else None,
        configuration.batch_size if "batch" in varied else None,
        _gpu_of(accelerators, device),
        0 if label is None else max(1, gpus_of(configuration)),
    )
    usd, offer = _price(spec, accelerators, device, rented, catalog, spot)
    latencies = [run.latency_p99 for run in group if run.latency_p99 is not None]
    return Machine(
        spec,
        configuration,
        accelerators,
        math.exp(centre),
        math.hypot(noise.run / math.sqrt(len(logs)), DRIFT),
        noise.run,
        len(logs),
        named.pop() if len(named) == 1 else None,
        rented,
        usd,
        offer,
        median(latencies) if latencies else None,
    )


def _kind(run: Run) -> str | None:
    """The kind of accelerator, by its name where the run or its device has one; None where the CPU computes."""
    device = run.spec.workload.computes_on
    if run.configuration.gpu is None and device.kind == "cuda" and device.gpu is not None:
        return device.gpu
    return label_of(run)


def is_imported(run: Run) -> bool:
    """Whether the run is a row of somebody's table: then what it says of a machine is the machine's, and no limit."""
    return run.limited_by is not None and run.limited_by.kind is LimitedByKind.IMPORTED


def _varied(configurations: Sequence[Configuration]) -> frozenset[str]:
    counts = {
        "memory": len({each.memory_bytes for each in configurations}),
        "disk": len({each.disk for each in configurations}),
        "batch": len({each.batch_size for each in configurations}),
    }
    return frozenset(name for name, count in counts.items() if count > 1)


def _gpu_of(accelerators: Accelerators, device: Device) -> str | None:
    """The kind by its name; None where there is none, or only the device's number is known."""
    return None if accelerators.catalog_name(device) is None else accelerators.gpu


def _price(
    spec: Spec, accelerators: Accelerators, device: Device, rented: RentedMachine | None, catalog: Catalog, spot: bool
) -> tuple[float | None, InstanceType | None]:
    """USD an hour: the table's own, else of the instance type that it names, else of the cheapest that holds it."""
    own = None if rented is None else rented.usd_per_hour_spot if spot else rented.usd_per_hour
    if own is not None:
        return own, None
    if rented is not None and rented.instance_type is not None:
        named = _named(rented, catalog)
        return (None, None) if named is None else (named.usd_per_hour, named)
    holding = cheapest_holding(spec, accelerators, device, catalog)
    return (None, None) if holding is None else (holding.usd_per_hour, holding)


def _named(rented: RentedMachine, catalog: Catalog) -> InstanceType | None:
    name = "/".join(filter(None, (rented.provider, rented.instance_type)))
    try:
        return catalog.instance(name)
    except InputError:
        return None


def cheapest_holding(spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog) -> InstanceType | None:
    """The cheapest instance type with a price that has this kind of accelerator and at least as much of all else.

    What is not known of a spec is no bound. None where no accelerator and no vCPUs are known: any machine would do.
    """
    priced = [
        each
        for each in instances_like(spec, accelerators, device, catalog)
        if each.usd_per_hour is not None and not is_arm(each)
    ]
    return min(priced, key=lambda each: each.usd_per_hour or math.inf, default=None)


def instances_like(
    spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog
) -> tuple[InstanceType, ...]:
    """Those that hold it and are such machines: with this kind of accelerator, or without any where it needs none."""
    needs_one = accelerators.number(device) > 0
    if needs_one and accelerators.catalog_name(device) is None:
        return ()
    holding = instances_holding(spec, accelerators, device, catalog)
    return tuple(each for each in holding if needs_one or each.gpu is None)


def instances_holding(
    spec: Spec, accelerators: Accelerators, device: Device, catalog: Catalog
) -> tuple[InstanceType, ...]:
    """All that hold it, with a price or without; none where neither its vCPUs nor its kind of accelerator are known."""
    gpu, count = accelerators.catalog_name(device), accelerators.number(device)
    if gpu is None and spec.vcpus is None:
        return ()
    return tuple(
        each
        for each in catalog.instances(gpu)
        if each.vcpus >= (spec.vcpus or 0)
        and each.memory_bytes >= (spec.memory_bytes or 0)
        and each.gpu_count >= count
        and _has_its_memory(each, gpu)
    )


def _has_its_memory(instance: InstanceType, gpu: str | None) -> bool:
    """Whether its GPUs have the memory that the name asks for: `V100-32GB` is none with 16. GB and GiB count alike."""
    asked = re.search(r"-(\d+)gb$", (gpu or "").lower())
    if asked is None or instance.gpu_memory_bytes is None:
        return True
    return abs(instance.gpu_memory_bytes / (int(asked.group(1)) * GIB) - 1) < GPU_MEMORY_ALIKE


def is_arm(instance: InstanceType) -> bool:
    """AWS names Graviton machines by a g after the generation: c7g, g5g."""
    return instance.provider == "aws" and re.match(r"[a-z]+\d+g[a-z]*\.", instance.instance_type) is not None
