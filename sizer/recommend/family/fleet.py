"""What can be built for the workloads of a fleet, and what each pays on each shape, by the draws of its rates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.catalog import Catalog
from sizer.catalog.machines import InstanceType
from sizer.model.memory import floor_at, needed_bytes, undroppable_bytes
from sizer.model.model import CPU_LABEL, MARGIN, Gpus, MeasuredDisk, WorkloadModel
from sizer.recommend.candidates import GIB_PER_VCPU, SOLD_VCPUS, Candidate, family_memory
from sizer.recommend.case import Case
from sizer.recommend.family.parts import (
    TABLE,
    Priced,
    Reads,
    Tier,
    gpu_kind,
    gpu_usd,
    is_just,
    is_unnamed,
    part_prices,
    priced_shapes,
    tier_name,
    tiers_of,
)
from sizer.recommend.prices import instances_like
from sizer.recommend.rule import SEED, Array, Table
from sizer.records.answer import Answer
from sizer.records.device import Device, DiskRates
from sizer.records.family import Grid, Idle, PartPrices, Shape
from sizer.records.messages import AllOf, Message, NoAnswer
from sizer.records.prediction import Spec
from sizer.records.units import GIB, format_bytes

DRAWS = 256
"""Of a table's draws so many are looked at."""
RATIOS = tuple(map(float, GIB_PER_VCPU))
"""GiB for each vCPU that can be built where nobody says otherwise."""


@dataclass(frozen=True)
class Need:
    """What a workload needs of a machine for the rate of the row `number` of its table; 0 bytes where its memory is
    not known. `vcpus_known`: the runs had so many; else the cheapest machine with its accelerators has them."""

    number: int
    vcpus: float
    memory_bytes: int
    gpu: str | None
    gpu_count: int
    disk: MeasuredDisk | None
    rate: float
    reads: Reads
    vcpus_known: bool


@dataclass(frozen=True)
class Work:
    """One workload: its name in the fleet, its model, and the case that its answer is made from, or a refusal."""

    name: str
    model: WorkloadModel
    case: Case | Answer

    @property
    def table(self) -> Table:
        """The candidates of one that has an answer."""
        assert isinstance(self.case, Case), "only what has an answer is served"
        return self.case.table

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """Of every candidate of one machine that gives what is asked for as surely as the answer does."""
        if not isinstance(self.case, Case) or self.case.choice.chosen is None:
            return ()
        rates, least = np.exp(self.table.middle), self.case.choice.chosen.chance
        sure = [row for row in self.table.rows if row.candidate.spec.nodes == 1 and (row.sure or row.chance >= least)]
        needs = (self._need(row.number, row.candidate, float(rates[row.number])) for row in sure)
        return tuple(need for need in needs if need is not None)

    def _need(self, number: int, candidate: Candidate, rate: float) -> Need | None:
        model, vcpus, kind = self.model, candidate.spec.vcpus, candidate.accelerators
        if vcpus is None and candidate.offer is not None:
            vcpus = candidate.offer.vcpus
        count = kind.number(model.facts.device)
        gpu = kind.catalog_name(model.facts.device) if count else None
        if vcpus is None or (count and gpu is None):
            return None
        disk = self._as_sold(model.measured.disk(candidate.place.disk))
        memory, known = memory_needed(model, candidate), candidate.spec.vcpus is not None
        return Need(number, vcpus, memory, gpu, count, disk, rate, _reads(model, rate), known)

    def _as_sold(self, disk: MeasuredDisk | None) -> MeasuredDisk | None:
        """With the name of the catalogue's tier where it is called like that."""
        if disk is None or disk.catalog_name is not None or not isinstance(self.case, Case):
            return disk
        tier = self.case.catalog.tier(disk.name or "")
        return disk if tier is None else replace(disk, catalog_name=tier.name)

    @property
    def memory_known(self) -> bool:
        """Whether a run tells how much of it could not be dropped."""
        return undroppable_bytes(self.model.measured, None, None) is not None

    @property
    def ratios(self) -> Iterator[float]:
        """The GiB for each vCPU of machines measured that have a name or are sold, where nothing else says how much
        memory is needed."""
        if not isinstance(self.case, Case) or self.memory_known:
            return
        for need in self.needs:
            one = self.table.rows[need.number].candidate
            like = instances_like(one.spec, one.accelerators, self.model.facts.device, self.case.catalog)
            if one.rented is not None or any(i.vcpus == need.vcpus and is_just(i, need.memory_bytes) for i in like):
                yield need.memory_bytes / GIB / need.vcpus

    def machines(self, ratios: Sequence[float]) -> Iterator[InstanceType]:
        """Those whose price the table itself gives; of unknown memory as much as the job needs there."""
        device = self.model.facts.device
        for one in (row.candidate for row in (self.table.rows if self.needs else ())):
            rented, usd, vcpus, kind = one.rented, one.usd_per_hour, one.spec.vcpus, one.accelerators
            if rented is not None and usd is not None and one.offer is None and vcpus and one.spec.nodes == 1:
                count, needed = kind.number(device), memory_needed(self.model, one)
                gpu = kind.catalog_name(device) if count else None
                names = rented.provider or "", rented.instance_type or TABLE
                built = (memory for memory in family_memory(vcpus, ratios) if memory >= needed)
                size = vcpus, one.spec.memory_bytes or next(built, needed)
                yield InstanceType(*names, *size, gpu=gpu, gpu_count=count, price_per_hour=usd, source=TABLE)


def memory_needed(model: WorkloadModel, candidate: Candidate) -> int:
    """Bytes with which it keeps its rate, as far as the runs show; 0 where none tells.

    What could not be dropped, with a margin, and above what was too small; what a run had only where that is not known,
    or where the rate follows the memory that runs were limited to: other machines have other memory, and other rates.
    """
    measured, place = model.measured, candidate.place
    peak = undroppable_bytes(measured, place.vcpus, place.batch_size)
    if model.memory_counts and (peak is None or any(trial.asked for trial in measured.trials)):
        return place.memory_bytes or 0
    shown = needed_bytes(measured, place.vcpus, place.batch_size)
    if peak is None:
        return shown or place.memory_bytes or 0
    killed = floor_at(measured, place.vcpus, place.batch_size).too_small or 0
    least = max(math.ceil(MARGIN * peak), killed + 1)
    return least if shown is None else min(least, shown)


def _reads(model: WorkloadModel, rate: float) -> Reads:
    facts = model.facts
    if facts.feed.input != "disk":
        return 0.0, 0.0
    size, ios = (None if demand is None else rate * demand for demand in (facts.read_bytes, facts.read_ios))
    return size, ios


@dataclass(frozen=True)
class Fleet:
    """W workloads and S shapes: `usd` (S,) an hour of each, `sold` the instance type whose price that is, else None,
    `sold_by` one of each provider that sells it, `rows` (W, S) the row of each workload's table that is best on it, -1
    where it does not serve, `hours` (W, S) of a sample there, infinite then. `unpriced` accelerators are in none;
    `prices` are of those that are in one, and of all disks."""

    works: tuple[Work, ...]
    shapes: tuple[Shape, ...]
    tiers: tuple[Tier, ...]
    prices: PartPrices
    grid: Grid
    usd: Array
    sold: tuple[InstanceType | None, ...]
    sold_by: tuple[tuple[str, ...], ...]
    rows: NDArray[np.intp]
    hours: Array
    not_served: tuple[Work, ...]
    unpriced: tuple[str, ...]

    @cached_property
    def costs(self) -> Array:
        """USD a sample (W, S), in the median draw."""
        return np.asarray(self.usd * self.hours)

    def drawn(self) -> Iterator[Array]:
        """The same in each of some draws, which of one workload have nothing to do with those of another."""
        tables = [work.table.log_rates for work in self.works]
        orders = [np.random.default_rng([SEED, place]).permutation(len(rates)) for place, rates in enumerate(tables)]
        for draws in zip(*(order[:DRAWS] for order in orders), strict=True):
            parts = zip(tables, draws, self.rows, strict=True)
            log_rates = np.array([rates[draw][rows] for rates, draw, rows in parts])
            yield np.where(self.rows < 0, np.inf, self.usd * np.exp(-log_rates) / 3600)

    def need(self, work: int, shape: int) -> Need:
        """What a workload needs for the rate that it has on a shape, within what its answer may lack: the fewest vCPUs
        and the least memory with them."""
        one = self.works[work]
        best = next(need for need in one.needs if need.number == self.rows[work, shape])
        enough = one.table.objective.target * best.rate
        alike = (need for need in one.needs if (need.gpu, need.gpu_count) == (best.gpu, best.gpu_count))
        fast = [need for need in alike if need.rate >= enough and need.vcpus <= best.vcpus]
        return min(fast, key=lambda need: (need.vcpus, need.memory_bytes))

    def idle(self, work: int, shape: int) -> Idle:
        """What a workload leaves of a shape, None where nobody knows what it needs."""
        need, had = self.need(work, shape), self.shapes[shape]
        disk = self.tier(had).rates.read_bytes_per_second
        return Idle(
            had.vcpus - need.vcpus if need.vcpus_known else None,
            had.memory_bytes - need.memory_bytes if self.works[work].memory_known else None,
            None if disk is None or need.reads[0] is None else max(0.0, disk - need.reads[0]),
            had.gpu_count - need.gpu_count,
        )

    def tier(self, shape: Shape) -> Tier:
        return next(tier for tier in self.tiers if shape.disk in (None, tier.name))


def fleet_of(
    works: Sequence[Work],
    catalog: Catalog,
    ratios: Sequence[float] | None = None,
    disks: Sequence[str] = (),
    prices: PartPrices | str | None = None,
) -> Fleet:
    """All that can be built for these workloads, by these prices, or those of this provider; without `ratios` with
    RATIOS, and those of machines of a table that have more.

    NoAnswer where none of them has an answer with a known number of vCPUs, or the catalogue has too few prices;
    InputError for a disk or a provider that is not there.
    """
    needs = [need for work in works for need in work.needs]
    if not needs:
        raise NoAnswer(
            "No workload of these studies has an answer with a known number of vCPUs; `sizer recommend` with each of "
            "them says why."
        )
    gpus = {gpu_kind(need.gpu): need.gpu for need in needs if need.gpu is not None}
    named = [catalog.tier(name) for name in disks]
    near = {tier.provider for tier in named if tier is not None} or _providers(works)
    given = prices if isinstance(prices, PartPrices) else part_prices(catalog, gpus.values(), prices, near)
    measured = [need.disk for need in needs if need.disk is not None and not is_unnamed(need.disk)]
    tiers = tiers_of(measured, disks, catalog, given.disks)
    if not disks and not all(any(tier.serves(need.disk, need.reads) for tier in tiers) for need in needs):
        tiers = tiers_of([*measured, UNNAMED], (), catalog, given.disks)
    if ratios is None:
        ratios = [*RATIOS, *{ratio for work in works for ratio in work.ratios if ratio > max(RATIOS)}]
    most = max(max(need.vcpus, need.memory_bytes / GIB / max(ratios)) for need in needs)
    above = next((size for size in SOLD_VCPUS if size >= most), SOLD_VCPUS[-1])
    kinds = {(gpus[gpu_kind(need.gpu)], need.gpu_count) if need.gpu else (None, 0) for need in needs}
    grid = Grid(
        tuple(float(size) for size in SOLD_VCPUS if size <= above),
        tuple(sorted(ratios)),
        tuple(tier.name if len(tiers) > 1 or disks else None for tier in tiers),
        tuple(sorted(kinds, key=lambda kind: (kind[0] or "", kind[1]))),
    )
    usd = {gpu: gpu_usd(given.gpus, gpu) for gpu in gpus.values()}
    priced = {gpu: price for gpu, price in usd.items() if price is not None}
    disks_usd = {tier.name: tier.usd_per_hour for tier in tiers if tier.usd_per_hour}
    spot = any(isinstance(work.case, Case) and work.case.objective.spot for work in works)
    return _priced(works, tiers, replace(given, gpus=priced, disks=disks_usd, spot=spot), grid, catalog)


def _providers(works: Sequence[Work]) -> set[str]:
    """Whose disks and machines were measured."""
    disks = {need.disk.catalog_name or "" for work in works for need in work.needs if need.disk is not None}
    machines = [row.candidate for work in works if work.needs for row in work.table.rows]
    rented = {one.rented.provider or (one.offer.provider if one.offer else "") for one in machines if one.rented}
    return {name.partition("/")[0] for name in disks if "/" in name} | rented


UNNAMED = MeasuredDisk(None, DiskRates())


def _priced(works: Sequence[Work], tiers: Sequence[Tier], prices: PartPrices, grid: Grid, catalog: Catalog) -> Fleet:
    """Every shape of the grid that has a price, and of every workload that one of them serves its rows."""
    priced: list[Priced] = []
    own = [machine for work in works if prices.provider is not None for machine in work.machines(grid.ratios)]
    names = {machine.name for machine in own}
    for gpu, count in grid.gpus:
        kind = Gpus(gpu or CPU_LABEL, count)
        like = [i for i in instances_like(Spec(0.0), kind, Device("cpu"), catalog) if not i.is_arm]
        mine = [i for i in own if (i.gpu and gpu_kind(i.gpu)) == (gpu and gpu_kind(gpu))]
        like = [*mine, *(i for i in like if i.name not in names)]
        sizes = [Shape(v, round(ratio * v * GIB), None, gpu, count) for v in grid.vcpus for ratio in grid.ratios]
        priced += priced_shapes(sizes, like, prices)
    kinds_priced = {(one.shape.gpu, one.shape.gpu_count) for one in priced}
    unpriced = tuple(dict.fromkeys(gpu for gpu, count in grid.gpus if gpu and (gpu, count) not in kinds_priced))
    grid = replace(grid, gpus=tuple(kind for kind in grid.gpus if kind in kinds_priced))
    shapes = [replace(one.shape, disk=disk) for disk in grid.disks for one in priced]
    usd = np.add.outer([tier.usd_per_hour for tier in tiers], [one.usd for one in priced]).ravel()
    amounts = np.array([(shape.vcpus, shape.memory_bytes, shape.gpu_count) for shape in shapes]).reshape(-1, 3)
    kinds = np.array([shape.gpu and gpu_kind(shape.gpu) for shape in shapes], dtype=object)
    rows, hours, served, left_out = [], [], [], []
    for work in works:
        best = np.full(len(shapes), -1)
        rate = np.zeros(len(shapes))
        for need in sorted(work.needs, key=lambda need: need.rate):
            fits = (amounts >= (need.vcpus, need.memory_bytes, need.gpu_count)).all(axis=1)
            fits &= np.repeat([tier.serves(need.disk, need.reads) for tier in tiers], len(priced))
            fits &= True if need.gpu is None else kinds == gpu_kind(need.gpu)
            best[fits], rate[fits] = need.number, need.rate
        if (best < 0).all():
            left_out.append(work)
            continue
        with np.errstate(divide="ignore"):
            hours.append(1 / rate / 3600)
        rows.append(best)
        served.append(work)
    return Fleet(
        tuple(served),
        tuple(shapes),
        tuple(tiers),
        prices,
        grid,
        usd,
        tuple(one.sold for one in priced) * len(tiers),
        tuple(one.sold_by for one in priced) * len(tiers),
        np.array(rows, dtype=int).reshape(len(served), len(shapes)),
        np.array(hours).reshape(len(served), len(shapes)),
        tuple(left_out),
        unpriced,
    )


def refuse_unserved(fleet: Fleet) -> None:
    """Raise NoAnswer where a workload that has an answer is served by no shape that can be built: what to type."""
    work = next((work for work in fleet.not_served if work.needs), None)
    if work is None:
        return
    least = min(work.needs, key=lambda need: (need.gpu_count, need.vcpus, need.memory_bytes))
    needs: list[object] = [f"{least.vcpus:g} vCPUs", format_bytes(least.memory_bytes)]
    advice = Message("--ratios with more than {most}", most=f"{fleet.grid.ratios[-1]:g}")
    if least.disk is not None and not any(tier.serves(least.disk, least.reads) for tier in fleet.tiers):
        disk = tier_name(least.disk)
        needs.append(Message("disk {disk}", disk=disk))
        advice = Message("--disks {disks}", disks=",".join([*(tier.name for tier in fleet.tiers), disk]))
    if least.gpu is not None:
        needs.append(f"{least.gpu_count} x {least.gpu}")
        if gpu_usd(fleet.prices.gpus, least.gpu) is None:
            advice = Message("--prices FILE with a line gpu,{gpu},1.50, its price", gpu=least.gpu)
    raise NoAnswer(
        "No shape that can be built and has a price serves `{workload}`: it needs {needs}; type {advice}.",
        workload=work.name,
        needs=AllOf(*needs),
        advice=advice,
    )
