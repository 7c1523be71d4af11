"""CPU or GPU: what the work takes and costs on each machine, on demand and at spot prices, beside a baseline."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sizer.catalog.catalog import Catalog
from sizer.model.model import WorkloadModel
from sizer.recommend.answer import Question
from sizer.recommend.candidates import Candidate, machines_to_compare
from sizer.recommend.prices import usd_per_million
from sizer.recommend.rule import TIE
from sizer.recommend.sizes import sizes_on_curve
from sizer.records.answer import Answer, Cost, CostRow, CostTable
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.study import Objective
from sizer.records.units import RELATIVE

Prices = tuple[float | None, float | None]
"""USD an hour on demand and at spot prices; None is unknown."""
Priced = tuple[CostRow, Prices]


def cost_table(
    model: WorkloadModel,
    runs: Sequence[Run],
    given: Answer,
    question: Question,
    catalog: Catalog,
    types: Sequence[Candidate] = (),
) -> CostTable | None:
    """All machines that were measured, or of a curve a size for each number of vCPUs, and the GPUs that were asked
    about; None without any. `catalog` has prices on demand, whichever the answer counts with; `types` are instance
    types by their own rates, where these are known."""
    objective = question.objective
    own = [] if types else _machines(model, runs, objective, catalog)
    own = own or _sizes(model, given, question.catalog, catalog, types)
    rows = [*own, *_gpus(given, catalog)]
    if not any(row.is_baseline for row, _prices in rows):
        rows = _with_baseline(rows, given, question.machine is not None, catalog)
    rows.sort(key=lambda one: _order(one[0]))
    if all(row.retired for row, _prices in rows):
        return None
    # Of relative rates, and of rates that are known to be wrong, nobody knows what a sample takes.
    unit = RELATIVE if given.rate_in_doubt else model.sample_unit
    interrupted = None if objective.interruptions is None else objective.interruptions.time_factor
    table = CostTable((), None if unit == RELATIVE else objective.job_samples, interrupted)
    base = next((one for one in rows if one[0].is_baseline), None)
    return replace(table, rows=tuple(_compared(row, prices, base, unit, table) for row, prices in rows))


def _order(row: CostRow) -> tuple[object, ...]:
    return row.has_accelerator, row.published, row.spec.gpu or "", row.spec.gpu_count, row.spec.vcpus or 0.0


def _machines(model: WorkloadModel, runs: Sequence[Run], objective: Objective, catalog: Catalog) -> list[Priced]:
    """Those that were measured, the fastest that is called like the baseline marked. Of one that nobody can rent the
    time alone is told, but of the baseline."""
    machines = machines_to_compare(model, runs, replace(objective, spot=False), catalog)
    called = [one for one in machines if objective.baseline is not None and one.is_called(objective.baseline)]
    base = max(called, key=lambda one: one.rate, default=None)
    return [
        (
            CostRow(
                one.spec,
                one.throughput,
                one.name,
                is_baseline=one is base,
                foreign=one.foreign,
                retired=one.retired,
            ),
            (one.usd_per_hour, one.usd_per_hour_spot) if one.retired is None or one is base else (None, None),
        )
        for one in machines
    ]


def _sizes(
    model: WorkloadModel, given: Answer, offers: Catalog, catalog: Catalog, types: Sequence[Candidate]
) -> list[Priced]:
    """For each number of vCPUs the least memory that costs it next to nothing, on the answer's disk, and the cheapest
    of the `offers` that holds it; of instance types by their own rates the answer, or where the work costs least."""
    spec = given.spec
    if spec is None or model.posterior is None or model.refused is not None:
        return []
    of_vcpus: dict[float | None, list[Candidate]] = defaultdict(list)
    for size in types or sizes_on_curve(model, offers, spec.batch_size, rented=True):
        if size.spec.disk == spec.disk and size.exists and size.rate > 0:
            of_vcpus[size.spec.vcpus].append(size)
    rows = []
    for sizes in of_vcpus.values():
        top = max(size.rate for size in sizes)
        one = next(size for size in sizes if size.rate >= TIE * top)
        if types:
            one = min(sizes, key=lambda size: (size.throughput != given.throughput, size.cost))
        # The accelerator that all runs had is not part of a size.
        spec = replace(one.spec, gpu_count=max(one.spec.gpu_count, one.accelerators.number(model.facts.device)))
        rows.append((CostRow(spec, one.throughput, one.name), _prices(one.name, catalog)))
    return rows


def _gpus(given: Answer, catalog: Catalog) -> list[Priced]:
    """What was asked about by published rates."""
    rows = []
    for option in given.gpus:
        if option.throughput is not None and option.retired is None:
            name = None if option.instance_type is None else f"{option.provider} {option.instance_type}"
            spec = Spec(option.vcpus, gpu=option.gpu, gpu_count=option.gpu_count)
            rows.append((CostRow(spec, option.throughput, name, published=True), _prices(name, catalog)))
    return rows


def _prices(name: str | None, catalog: Catalog) -> Prices:
    """Of the instance type of that name."""
    called = () if name is None else catalog.called(name)
    instance = next((one for one in called if one.name == name), None)
    return (None, None) if instance is None else (instance.usd_per_hour, instance.usd_per_hour_spot)


def _with_baseline(rows: list[Priced], given: Answer, is_type: bool, catalog: Catalog) -> list[Priced]:
    """The rows with that of the baseline marked, which is one more where it is none of them; `is_type`: an instance
    type was named."""
    base = given.baseline
    if base is None:
        return rows
    for at, (row, prices) in enumerate(rows):
        measured = (row.spec, row.throughput, row.instance_type) == (base.spec, base.throughput, base.instance_type)
        of_curve = not (given.alternatives or is_type or row.published) and row.spec.vcpus == base.spec.vcpus
        if measured or of_curve:
            return [*rows[:at], (replace(row, is_baseline=True), prices), *rows[at + 1 :]]
    count = 0 if given.alternatives else min((row.spec.gpu_count for row, _ in rows if not row.published), default=0)
    spec = replace(base.spec, gpu_count=max(base.spec.gpu_count, count))
    row = CostRow(spec, base.throughput, base.instance_type, is_baseline=True, extrapolated=base.extrapolated)
    return [*rows, (row, _prices(base.instance_type, catalog))]


def _compared(row: CostRow, prices: Prices, base: Priced | None, unit: str, table: CostTable) -> CostRow:
    """With its ratios to the baseline, and what the work costs there."""
    rate, (on_demand, spot) = row.throughput.value, prices
    usd_of_base = None if base is None else next((usd for usd in base[1] if usd is not None), None)
    against = None if base is None or not usd_of_base else usd_of_base / base[0].throughput.value

    def cost(usd: float | None, time: float | None = 1.0) -> Cost | None:
        if usd is None or time is None:
            return None
        million, job = usd_per_million(usd * time, rate, unit), table.samples
        of_job = None if million is None or job is None else million * job / 1e6
        return Cost(usd, million, of_job, None if against is None else usd * time / rate / against)

    return replace(
        row,
        seconds=None if table.samples is None else table.samples / rate,
        time_ratio=None if base is None else base[0].throughput.value / rate,
        on_demand=cost(on_demand),
        spot=cost(spot),
        spot_expected=cost(spot, table.spot_time),
    )
