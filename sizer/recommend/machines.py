"""Machines that were measured, as they are, as candidates: what each gives, and what an hour of it costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sizer.catalog.catalog import Catalog
from sizer.model.coordinates import gpus_of, name_of_disk
from sizer.model.feeds import CPU_LABEL, label_of, labelled
from sizer.model.isolation import end_to_end
from sizer.model.model import WorkloadModel, deviation_of, of_new_run
from sizer.model.observations import Noise, apart, completed, measured_rate, noise_at, noise_of
from sizer.recommend.accelerators import Accelerators
from sizer.recommend.candidates import Candidate
from sizer.recommend.machine_prices import knows, price_of, retired_since
from sizer.recommend.prices import disk_prices
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.prediction import Spec
from sizer.records.run import RentedMachine, Run
from sizer.records.study import Objective

Key = tuple[Configuration, Accelerators, RentedMachine | None]


def machines_to_compare(
    model: WorkloadModel, runs: Sequence[Run], objective: Objective, catalog: Catalog
) -> tuple[Candidate, ...]:
    """The machines that were measured, where the answer is one of them; empty where a curve says which size to take.

    A table that others measured is compared as it is, and so are runs on several kinds or counts of accelerators. A
    curve is for what sizer measured itself, where accounting shows what a size between two measured ones gives. A
    latency is asked of machines that it was measured on: no curve says what it is between them.
    """
    measured = _measured_machines(model, runs, catalog, objective.spot)
    several = len({each.kind for each in measured}) > 1
    machines = tuple(each for each in measured if _rentable(each))
    if several and not machines:
        machines = measured
    if objective.latency_p99 is not None:
        machines = machines or measured
        return machines if any(each.latency_p99 is not None for each in machines) else ()
    of_a_table = runs[0].imported and model.facts.core_seconds is None
    named = len(machines) > 1 and any(each.rented is not None for each in machines)
    return machines if of_a_table or several or named else ()


def _rentable(machine: Candidate) -> bool:
    """Fractions of a vCPU are limits of a run, and no machine."""
    vcpus = machine.place.vcpus
    return vcpus is None or (vcpus >= 1 and float(vcpus).is_integer())


def _measured_machines(
    model: WorkloadModel, runs: Sequence[Run], catalog: Catalog, spot: bool
) -> tuple[Candidate, ...]:
    """Every configuration of the whole job that was measured; of runs with other input, nothing."""
    groups: dict[Key, list[Run]] = defaultdict(list)
    for run in completed(end_to_end(runs)):
        groups[run.configuration, accelerators_of_run(run), run.machine].append(run)
    groups = _at_one_price(groups)
    disks = model.measured.disks
    common = _Common(
        _varied([configuration for configuration, _, _ in groups]),
        noise_of(list(groups.values())),
        catalog,
        spot,
        disk_prices(disks, catalog) if len({place.disk for place, _, _ in groups}) > 1 else {},
    )
    labels = {id(run): alike.configuration for run, alike in zip(runs, labelled(runs), strict=True)}
    found = [
        _on_usual_host(_machine(key, group, common), model, labels[id(group[0])], group[0].imported)
        for key, group in groups.items()
    ]
    regions: dict[str | None, set[str | None]] = defaultdict(set)
    for each in found:
        regions[each.name].add(each.rented.region if each.rented is not None else None)
    return tuple(replace(each, in_several_regions=len(regions[each.name]) > 1) for each in found)


@dataclass(frozen=True)
class _Common:
    """What all machines of a workload share."""

    varied: frozenset[str]
    noise: Noise
    catalog: Catalog
    spot: bool
    of_disks: Mapping[str, float]


def _at_one_price(groups: dict[Key, list[Run]]) -> dict[Key, list[Run]]:
    """A machine with a name that the table has at several prices is one machine, at the least of them."""
    alike: dict[Key, list[RentedMachine]] = defaultdict(list)
    for configuration, accelerators, rented in groups:
        if rented is not None and rented.name is not None:
            alike[configuration, accelerators, rented.at_any_price].append(rented)
    found: dict[Key, list[Run]] = defaultdict(list)
    for (configuration, accelerators, rented), group in groups.items():
        if rented is not None and rented.name is not None:
            bare = rented.at_any_price
            rented = _at_least(bare, alike[configuration, accelerators, bare])
        found[configuration, accelerators, rented] += group
    return dict(found)


def _at_least(bare: RentedMachine, alike: Sequence[RentedMachine]) -> RentedMachine:
    usual = [each.usd_per_hour for each in alike if each.usd_per_hour is not None]
    spot = [each.usd_per_hour_spot for each in alike if each.usd_per_hour_spot is not None]
    return replace(bare, usd_per_hour=min(usual, default=None), usd_per_hour_spot=min(spot, default=None))


def _machine(key: Key, group: Sequence[Run], common: _Common) -> Candidate:
    place, accelerators, rented = key
    device = group[0].spec.workload.computes_on
    rates = [run.throughput for run in group if run.throughput is not None]
    named = {run.evidence.bottleneck for run in group if run.evidence is not None} - {Bottleneck.AMBIGUOUS}
    spec = Spec(
        place.vcpus,
        place.memory_bytes if group[0].imported or "memory_bytes" in common.varied else None,
        place.disk if "disk" in common.varied else None,
        place.batch_size if "batch_size" in common.varied else None,
        None if accelerators.catalog_name(device) is None else accelerators.gpu,
        accelerators.count or 0,
        group[0].nodes,
    )
    retired = retired_since(rented, common.catalog)
    sold = price_of(spec, accelerators, device, rented, common.catalog, common.spot)
    usd, offer = (None, None) if retired else sold
    latencies = [run.latency_p99 for run in group if run.latency_p99 is not None]
    own_price = usd is not None and offer is None
    noise = noise_at(group, common.noise)
    deviation = deviation_of(noise, len(rates))
    return Candidate(
        spec,
        place,
        of_new_run(measured_rate(rates).value, deviation, noise),
        usd,
        0.0 if own_price else common.of_disks.get(name_of_disk(place.disk), 0.0),
        accelerators=accelerators,
        deviation=deviation,
        noise=noise,
        evidence=named.pop() if len(named) == 1 else None,
        rented=rented,
        retired=retired,
        offer=offer,
        latency_p99=median(latencies) if latencies else None,
        apart=apart(group),
        only_named=rented is not None and rented.name is not None and _nothing_known(place, rented, common.catalog),
    )


def _on_usual_host(machine: Candidate, model: WorkloadModel, place: Configuration, of_a_table: bool) -> Candidate:
    """With its rate on the host as it usually was; what a table says counts as it is."""
    known = None if of_a_table else model.measured.rate_at(place)
    if known is None or known.log_usual is None or known.deviation is None:
        return machine
    rate = of_new_run(known.usual, known.deviation, machine.noise)
    return replace(machine, throughput=rate, deviation=known.deviation)


def _nothing_known(place: Configuration, rented: RentedMachine, catalog: Catalog) -> bool:
    return (place.vcpus, place.gpu, place.gpu_count) == (None, None, None) and not knows(catalog, rented)


def accelerators_of_run(run: Run) -> Accelerators:
    """Their kind, by its name where the run or its device has one, and how many; none where the CPU computes."""
    device = run.spec.workload.computes_on
    named = run.configuration.gpu is None and device.kind == "cuda" and device.gpu is not None
    label = device.gpu if named else label_of(run)
    return Accelerators(CPU_LABEL, 0) if label is None else Accelerators(label, max(1, gpus_of(run.configuration)))


def _varied(places: Sequence[Configuration]) -> frozenset[str]:
    axes = ("memory_bytes", "disk", "batch_size")
    return frozenset(axis for axis in axes if len({getattr(each, axis) for each in places}) > 1)
