"""What if: the model as data, so that the page computes what `sizer predict` says of other configurations.

The equation stands in `templates/model.js`; sentences are made here, with placeholders for what is computed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

from sizer.bundled.reports.plain_data import CONSTANTS, PLACE, as_data
from sizer.catalog.catalog import Catalog
from sizer.model.model import CPU_LABEL, WorkloadModel, name_of_disk
from sizer.model.prediction import filled, predict_several
from sizer.model.refusals import memory_matters
from sizer.recommend.candidates import SOLD_VCPUS
from sizer.recommend.case import rate_contradicted
from sizer.recommend.prices import is_computed_by_cpu, rentable
from sizer.recommend.sizes import memory_varied
from sizer.records.device import Device, DiskRates
from sizer.records.messages import InputError
from sizer.records.prediction import Configuration, Refusal
from sizer.records.units import GIB, format_bytes
from sizer.words import model as words
from sizer.words.answers import machine_rented
from sizer.words.language import vcpus_in_words
from sizer.words.names import gpu_name
from sizer.words.verdict import Badge

from . import results
from .figures.binding import HUES
from .markup import embedded
from .subject import Material, Subject

MEMORY = 1 << 20
"""Bytes in which the sizes of instance types are written."""


def contents(material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """The data of all workloads that have a model; None where none has."""
    asked = [subject for subject in subjects if subject.model is not None and subject.model.posterior is not None]
    if not asked:
        return None
    objective = material.recommendation.objective if material.recommendation else material.study.objective
    catalog = Catalog.load().at_spot_prices() if objective.spot else Catalog.load()
    machines: dict[str, Any] = {}
    workloads = [
        _workload(subject, subject.model, catalog, machines, objective.spot) for subject in asked if subject.model
    ]
    data = {
        "constants": CONSTANTS,
        "place": PLACE,
        "labels": words.what_if_labels(),
        "unfit": words.what_if_unfit(),
        "hues": {bottleneck.value: hue for bottleneck, hue in HUES.items()},
        "tiers": {name: astuple(rates) for name, rates in tier_rates(catalog).items()},
        "machines": machines,
        "workloads": workloads,
    }
    badges = (Badge.FITTED, Badge.PREDICTED, Badge.EXTRAPOLATED)
    return {"data": embedded("what-if-data", data), "names": [subject.name for subject in asked], "badges": badges}


def _workload(
    subject: Subject, model: WorkloadModel, catalog: Catalog, machines: dict[str, Any], spot: bool
) -> dict[str, Any]:
    start, answer = _start(subject, model), subject.answer
    (begin,) = predict_several(model, [start])
    # What all draws say where the sliders begin: the answer beside them is the same figure.
    first = (
        None
        if isinstance(begin, Refusal)
        else {"throughput": asdict(begin.throughput), "bottleneck": begin.bottleneck.value, "shares": begin.shares}
    )
    return {
        "name": subject.name,
        "model": as_data(model),
        "start": asdict(start),
        "begin": first,
        "is_answer": answer is not None and answer.spec is not None,
        "rate": answer.throughput.value if answer is not None and answer.throughput is not None else None,
        "controls": [asdict(control) for control in controls(model, start, catalog)],
        "sentences": words.what_if_sentences(subject.unit),
        "bottlenecks": words.what_if_bottlenecks(subject.device),
        "refusals": words.what_if_refusals(model.measured.memory_bytes, model.refused, subject.terms),
        "memory_varied": memory_varied(model.measured),
        "kinds": _kinds(model, catalog, machines),
        "own_prices": _own_prices(subject, spot),
        "doubt": words.what_if_doubt(rate_contradicted(subject.runs), subject.terms),
    }


def _start(subject: Subject, model: WorkloadModel) -> Configuration:
    """The answer where there is one, else the largest that was measured.

    A size that is sold is not always one that was measured; where two of an axis were, only these have an answer.
    """
    spec, measured = subject.spec, model.measured
    given = {} if spec is None else {name: value for name, value in asdict(spec).items() if value and name != "nodes"}
    if not any(gpus.count for gpus in measured.gpus):
        given.pop("gpu_count", None)  # a table may name a kind of accelerator and not how many
    start = filled(model, given)
    if measured.gpus and not start.gpu_count:
        start = replace(start, gpu_count=measured.gpus[0].count)
    axes = {"vcpus": measured.vcpus, "memory_bytes": measured.memory_bytes, "batch_size": measured.batch_size}
    for axis, values in axes.items():
        value = getattr(start, axis)
        if values and len(values) < ENOUGH and value is not None and value not in values:
            nearest: dict[str, Any] = {
                axis: max((smaller for smaller in values if smaller <= value), default=values[0])
            }
            start = replace(start, **nearest)
    return start


def _kinds(model: WorkloadModel, catalog: Catalog, machines: dict[str, Any]) -> list[list[Any]]:
    """For each kind of accelerator of the runs: its label, the key of the machines that have it, whether it needs one.

    The key is None where no catalogue can know the kind.
    """
    device, kinds = model.facts.device, []
    for gpu, count in dict.fromkeys((gpus.gpu, gpus.count) for gpus in model.measured.gpus) or [(None, 0)]:
        cpu = is_computed_by_cpu(gpu, count, device)
        kinds.append(
            [gpu, _machines(None if cpu else gpu, Device("cpu") if cpu else device, catalog, machines), not cpu]
        )
    return kinds


def _machines(gpu: str | None, device: Device, catalog: Catalog, machines: dict[str, Any]) -> str | None:
    """The key of the machines with this kind, which are written once for all workloads that use it."""
    key = gpu or device.gpu or device.kind
    if key in machines:
        return key
    offers = rentable(gpu, device, catalog)
    if offers is None:
        return None
    priced, unpriced = offers
    machines[key] = {
        "priced": [[i.vcpus, i.memory_bytes / MEMORY, i.gpu_count, i.usd_per_hour, i.name] for i in priced],
        "unpriced": [[i.vcpus, i.memory_bytes / MEMORY, i.gpu_count] for i in unpriced],
    }
    return key


def _own_prices(subject: Subject, spot: bool) -> list[list[Any]]:
    """Where a table says what its machines cost: the configuration, the price of an hour, the machine's name."""
    prices: dict[Configuration, tuple[float, str]] = {}
    for result in results.by_configuration(subject.runs):
        machine = result.machine
        usd = None if machine is None else machine.usd_per_hour_spot if spot else machine.usd_per_hour
        if machine is not None and usd is not None:
            cheapest = prices.get(result.configuration)
            if cheapest is None or usd * machine.nodes < cheapest[0]:
                prices[result.configuration] = usd * machine.nodes, machine_rented(machine)
    return [[list(astuple(place)), usd, name] for place, (usd, name) in prices.items()]


ENOUGH = 3
"""Measured values of an axis from which on there is an answer between and beyond them."""
BELOW, BEYOND = 2.0, 4.0
"""How far a slider goes below the least and beyond the most measured, as factors."""
FACTORS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
DATA_FACTORS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0, 32.0)
MBPS = (5, 10, 20, 40, 60, 80, 100, 125, 150, 200, 250, 350, 500, 750, 1000, 1500, 2000, 3000, 5000, 8000)
IOPS = (100, 200, 300, 500, 1000, 1500, 2000, 3000, 5000, 8000, 12_000, 20_000, 40_000, 80_000, 160_000, 500_000)
SUPPOSED = "supposed"
"""How a disk is called that is given by its rates alone, as on the command line."""
USUAL_MBPS, USUAL_IOPS = 200, 5000
"""Of a disk that is supposed, before anybody moves it."""
TIER_BYTES = 500 * GIB


@dataclass(frozen=True)
class Control:
    """A slider over `stops`, or a list of them: the value of each and its label; `measured` are their places.

    `name` stands in the page's address, where a value is divided by `scale`; `sets` is what it sets: a field of the
    configuration or of the what-if. It starts at the stop `start`.
    """

    name: str
    sets: str
    stops: Sequence[Any]
    labels: Sequence[str]
    measured: Sequence[int]
    start: int
    scale: float = 1
    groups: Sequence[str] = field(default=())
    """Of a list the heading over each."""


def controls(model: WorkloadModel, start: Configuration, catalog: Catalog) -> list[Control]:
    """In the order in which they are shown; `start` is where they begin, mostly the answer."""
    measured, facts = model.measured, model.facts
    sold: tuple[float, ...] = (*SOLD_VCPUS, 3, 6)
    sold = sold if measured.vcpus and measured.vcpus[0] >= 1 else (0.25, 0.5, 0.75, *sold)
    computed_elsewhere = facts.accelerator not in (None, CPU_LABEL)
    # A decoder is told from the step of a job on an accelerator, and of one whose step was isolated.
    decodes = facts.step_apart or computed_elsewhere
    batches = [2**n for n in range(14)]
    shown = [
        _numbers("vcpus", measured.vcpus, sold, start.vcpus, vcpus_in_words),
        _memory(model, start),
        *_accelerators(model, start),
        _factors("gpu_speedup", "gpu_speedup", FACTORS, words.times_as_fast) if computed_elsewhere else None,
        *_disks(model, start, catalog),
        _numbers("batch_size", measured.batch_size, batches, start.batch_size, str),
        _factors("decode_speedup", "decode_speedup", FACTORS, words.times_as_fast) if decodes else None,
        _data(model),
    ]
    return [control for control in shown if control is not None]


def _memory(model: WorkloadModel, start: Configuration) -> Control | None:
    """With every cap that was tried, where a run in it says something of other sizes."""
    measured = model.measured
    if not memory_varied(measured):
        return None
    only_measured = memory_matters(model) and len(measured.memory_bytes) < ENOUGH
    tried = [trial.memory_bytes for trial in measured.trials if not (only_measured and trial.completed)]
    grid = [size << power for power in range(20, 44) for size in (2, 3)]
    control = _numbers("memory_bytes", measured.memory_bytes, grid, start.memory_bytes, format_bytes, tried)
    return replace(control, name="memory_gib", scale=GIB) if control is not None else None


def _numbers(
    name: str,
    observed: Sequence[float],
    grid: Iterable[float],
    start: float | None,
    say: Any,
    tried: Sequence[float] = (),
) -> Control | None:
    """A slider over measured values, and from three of them on over the grid, a little below and beyond them."""
    if start is None or len({*observed, *tried}) < 2:
        return None
    values = {*observed, *tried, start}
    if len(observed) >= ENOUGH:
        low, high = observed[0] / BELOW, BEYOND * observed[-1]
        values |= {type(start)(value) for value in grid if low <= value <= high}
    stops = sorted(values)
    measured = [index for index, stop in enumerate(stops) if stop in observed]
    return Control(name, name, stops, [say(stop) for stop in stops], measured, stops.index(start))


def _accelerators(model: WorkloadModel, start: Configuration) -> Iterator[Control | None]:
    measured = model.measured
    kinds = list(dict.fromkeys(gpus.gpu for gpus in measured.gpus if gpus.gpu is not None))
    if len(kinds) > 1:
        first = kinds.index(start.gpu) if start.gpu in kinds else 0
        yield Control("gpu", "gpu", kinds, [gpu_name(kind) for kind in kinds], list(range(len(kinds))), first)
    counts = sorted({gpus.count for gpus in measured.gpus if gpus.count})
    grid = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
    yield _numbers("gpu_count", counts, grid, start.gpu_count or None, str)


def _factors(name: str, sets: str, factors: Sequence[float], say: Callable[[float], str]) -> Control:
    one = factors.index(1)
    return Control(name, sets, factors, [say(factor) for factor in factors], [one], one)


def _data(model: WorkloadModel) -> Control | None:
    """Where the page cache keeps what it can: else no size of the data counts."""
    size = model.facts.data_bytes
    if not model.facts.natural or not size:
        return None
    return _factors("data_factor", "data_bytes_factor", DATA_FACTORS, lambda x: words.data_set_of(size * x, x))


def _disks(model: WorkloadModel, start: Configuration, catalog: Catalog) -> Iterator[Control]:
    """The disks that were measured, tiers of the catalogue, and any other one by its rates.

    The latter two where the runs say what a sample reads.
    """
    measured, facts = model.measured, model.facts
    options = [
        (one.name, words.measured_disk(one.name, one.emulated), words.measured_disks_called()) for one in measured.disks
    ]
    reads = facts.feed.input != "synthetic"
    by_bytes, by_requests = reads and facts.read_bytes is not None, reads and facts.read_ios is not None
    if by_bytes or by_requests:
        called = words.tiers_called()
        tiers = [
            (f"{name}:{TIER_BYTES // GIB}GiB", words.tier_of_size(name, TIER_BYTES, r), called)
            for name, r in _tiers(catalog)
        ]
        options += [*tiers, (SUPPOSED, words.another_disk(), called)]
    if len(options) < 2:
        return
    names = [name_of_disk(disk.name) for disk in measured.disks]
    own = name_of_disk(start.disk)
    stops, labels, groups = zip(*options, strict=True)
    first = names.index(own) if own in names else 0
    yield Control("disk", "disk", stops, labels, list(range(len(names))), first, groups=groups)
    if by_bytes:
        yield _disk_rate("disk_mbps", "read_bytes_per_second", MBPS, USUAL_MBPS, 1e6)
    if by_requests:
        yield _disk_rate("disk_iops", "read_iops", IOPS, USUAL_IOPS, 1)


def _disk_rate(name: str, sets: str, values: Sequence[int], usual: int, scale: float) -> Control:
    labels = [words.disk_stop(value, name) for value in values]
    return Control(name, sets, [value * scale for value in values], labels, [], values.index(usual), scale)


def _tiers(catalog: Catalog) -> Iterable[tuple[str, DiskRates]]:
    """Disks, no file systems, whose figures are known, as far as they are sold with this size."""
    for offer in catalog.disks:
        with suppress(InputError):
            rates = offer.rates(TIER_BYTES)
            if offer.disk_class != "file" and None not in (rates.read_iops, rates.read_bytes_per_second):
                yield offer.name, rates


def tier_rates(catalog: Catalog) -> dict[str, DiskRates]:
    """What each tier of the list gives, by its name there."""
    return {f"{name}:{TIER_BYTES // GIB}GiB": rates for name, rates in _tiers(catalog)}
