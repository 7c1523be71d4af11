"""Frameworks beside each other, network by network and batch by batch: the table of cross-benchmarks. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sizer.model.model import CPU_LABEL
from sizer.model.observations import measured_rate
from sizer.model.runs import as_asked, label_of
from sizer.recommend.case import DOUBTS
from sizer.records.answer import CrossCell, CrossColumn, CrossRow, CrossTable
from sizer.records.domains import LONGEST_NAME
from sizer.records.frameworks import plain_precision
from sizer.records.kinds import DIFFERENCES, KINDS, MODES, OTHER
from sizer.records.prediction import Estimate
from sizer.records.run import Run, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.units import RELATIVE

CPU_OF = f"{CPU_LABEL}:"
"""Before the name of a machine whose CPU computed: of an imported table such machines are what is compared."""

MOST_COLUMNS = 8
"""Frameworks times accelerators that stand side by side; with more, each accelerator has rows of its own."""

FEWEST_PROGRAMS = 3
"""Networks and modes of one framework below which a table shows no more than the list of workloads does."""

SUPPOSED = 0.04
"""Relative half-width of the rate of a cell without repeats, at the least, when cells are ranked: its interval has what
moved within one process, and twice 2 % is what is supposed to move between them (UNKNOWN_NOISE of the model). Where
other cells have repeats, half of what lies between theirs counts, if that is more: a host that drifts ranks nothing."""

IMPORTED_UNITS = frozenset({"word", "token"})
"""Of a row that counts these nobody knows how many a sample of its batch has."""


@dataclass(frozen=True)
class _Key:
    """All that two cells must share to be compared."""

    network: str
    mode: str | None
    batch_size: int
    precision: str | None
    accelerator: str | None
    accelerators: int
    vcpus: float | None
    memory_bytes: int | None
    disk: str | None
    input: str
    cache: str
    sample_unit: str


_Place = tuple[_Key, CrossColumn]
_Places = Mapping[_Place, Sequence[Run]]


def cross_table(runs: Iterable[Run]) -> CrossTable | None:
    """The table of these runs, whoever made them; None where there are not two of anything to compare.

    Of a published table the machine around an accelerator is not compared, unless the table has several for it.
    """
    comparable = [run for run in as_asked(runs) if _has_program(run) and _samples(run) is not None]
    ours = not any(run.imported for run in comparable)
    places = _placed(comparable, whole_machine=not all(run.imported for run in comparable))
    if any(len({(run.configuration, run.declared.machine) for run in group}) > 1 for group in places.values()):
        places = _placed(comparable, whole_machine=True)
    keys, columns = _compared(places)
    if len({column.accelerator for column in columns}) == 1 or len(columns) > MOST_COLUMNS:
        # Each accelerator has rows of its own.
        places = {(replace(k, accelerator=c.accelerator), CrossColumn(c.framework)): g for (k, c), g in places.items()}
        keys, columns = _compared(places)
    if not keys:
        return None
    supposed = max(SUPPOSED, (_between_runs(places.values()) if ours else None) or 0.0)
    rows = tuple(_row(key, columns, places, supposed) for key in keys)
    single = any(cell.seconds is not None and cell.runs < 2 for row in rows for cell in row.cells)
    unlike = _not_the_same(columns, [key.network for key in keys]) if ours else ()
    return CrossTable(columns, rows, unlike, supposed if single else None)


def samples_a_step(run: Run) -> int | None:
    """Samples of a mini-batch as the run itself told them, such as 35 words of each of 20 sequences; None if it did
    not."""
    if not run.steps:
        return None
    joined = [warning.figures["steps"] for warning in run.warnings if warning.kind is WarningKind.STEPS_JOINED]
    return round(run.steps[0].samples / (joined[0] if joined else 1)) or None


def _samples(run: Run) -> int | None:
    if run.imported:
        return None if run.sample_unit in IMPORTED_UNITS else run.configuration.batch_size
    own = KINDS[run.spec.workload.kind].mode is not None
    return (samples_a_step(run) if own else None) or run.configuration.batch_size


def _has_program(run: Run) -> bool:
    """Whether framework and network are known, and the rate is one of mini-batches."""
    workload = run.spec.workload
    is_named = workload.framework not in (None, OTHER) and workload.network is not None and workload.input != "replay"
    return is_named and run.sample_unit != RELATIVE and run.configuration.batch_size is not None


def _placed(runs: Sequence[Run], whole_machine: bool) -> _Places:
    """The runs by their row and column; without the `whole_machine` only a CPU without a name has vCPUs and memory."""
    places: dict[_Place, list[Run]] = defaultdict(list)
    for run in runs:
        workload, here, label = run.spec.workload, run.configuration, label_of(run)
        accelerator = label or _cpu(run)
        host = whole_machine or accelerator == CPU_LABEL
        reads = workload.assumed_input == "disk"
        key = _Key(
            network=workload.network or "",
            mode=workload.computed_mode,
            batch_size=here.batch_size or 0,
            precision=None if run.precision is None else plain_precision(run.precision),
            accelerator=None,
            accelerators=0 if label is None else here.gpu_count or 1,
            vcpus=here.vcpus if host else None,
            memory_bytes=here.memory_bytes if host else None,
            disk=here.disk if host and reads else None,
            input=workload.assumed_input,
            cache=workload.assumed_cache if reads else "warm",
            sample_unit=run.sample_unit,
        )
        places[key, CrossColumn(workload.framework or "", accelerator)].append(run)
    return _same_unit_where_failed(places)


def _cpu(run: Run) -> str:
    """`cpu`, or `cpu:c4.8xlarge` where a table names the machine."""
    name = run.declared.machine.name if run.declared.machine is not None else None
    return CPU_LABEL if name is None else f"{CPU_OF}{name}"[:LONGEST_NAME]


def _same_unit_where_failed(places: _Places) -> _Places:
    """A run that ended before its first step has no sample unit of its own: it belongs where others of its row are."""
    units: dict[_Key, str] = {}
    for (key, _), group in places.items():
        if _completed(group):
            units.setdefault(replace(key, sample_unit=""), key.sample_unit)
    merged: dict[_Place, list[Run]] = defaultdict(list)
    for (key, column), group in places.items():
        unit = key.sample_unit if _completed(group) else units.get(replace(key, sample_unit=""), key.sample_unit)
        merged[replace(key, sample_unit=unit), column] += group
    return merged


def _completed(runs: Sequence[Run]) -> list[Run]:
    return [run for run in runs if run.outcome is Outcome.COMPLETED]


def _compared(places: Iterable[_Place]) -> tuple[list[_Key], tuple[CrossColumn, ...]]:
    """The rows in their order, those with two columns or of a single one those with enough programs alike; and the
    columns that any of them has."""
    places = list(places)
    in_row: dict[_Key, int] = defaultdict(int)
    for key, _ in places:
        in_row[key] += 1
    keys = [key for key, count in in_row.items() if count > 1]
    if not keys:
        programs: dict[_Key, set[tuple[str, str | None]]] = defaultdict(set)
        for key in in_row:
            programs[_conditions(key)].add((key.network, key.mode))
        keys = [key for key in in_row if len(programs[_conditions(key)]) >= FEWEST_PROGRAMS]
    networks, modes = list(dict.fromkeys(key.network for key in keys)), (None, *MODES)

    def order(key: _Key) -> tuple[object, ...]:
        program = networks.index(key.network), modes.index(key.mode), key.precision or ""
        machine = key.accelerator or "", key.accelerators, key.vcpus or 0.0, key.memory_bytes or 0, key.disk or ""
        return *program, *machine, key.input, key.batch_size

    rows = set(keys)
    return sorted(keys, key=order), tuple(dict.fromkeys(column for key, column in places if key in rows))


def _conditions(key: _Key) -> _Key:
    return replace(key, network="", mode=None, batch_size=0)


def _between_runs(groups: Iterable[Sequence[Run]]) -> float | None:
    """Half of what lies between the rates of repeats, relative to their median, as usual; None without repeats."""
    halves = []
    for group in groups:
        rates = [run.throughput.value for run in _completed(group) if run.throughput]
        if len(rates) > 1:
            halves.append((max(rates) - min(rates)) / 2 / median(rates))
    return median(halves) if halves else None


def _row(key: _Key, columns: Sequence[CrossColumn], places: _Places, supposed: float) -> CrossRow:
    cells = [_cell(places.get((key, column), [])) for column in columns]
    spans = {number: _span(cell.seconds, cell.runs, supposed) for number, cell in enumerate(cells) if cell.seconds}
    least = min((cell.seconds.value for cell in cells if cell.seconds), default=0.0)
    for number, (low, _) in spans.items():
        faster = sum(high < low for _, high in spans.values())
        seconds = cells[number].seconds
        cells[number] = replace(cells[number], rank=1 + faster, ratio=seconds.value / least if seconds else None)
    return CrossRow(**vars(key), cells=tuple(cells))


def _span(seconds: Estimate, runs: int, supposed: float) -> tuple[float, float]:
    """From how few seconds to how many a new run would probably take."""
    half = supposed if runs < 2 else 0.0
    return min(seconds.low, seconds.value / (1 + half)), max(seconds.high, seconds.value * (1 + half))


def _cell(runs: Sequence[Run]) -> CrossCell:
    measured = [run for run in _completed(runs) if run.throughput is not None]
    rates = [rate for run in measured if (rate := run.throughput) and all(map(math.isfinite, vars(rate).values()))]
    if not rates:
        return CrossCell(outcome=runs[-1].outcome if runs else None, runs=len(runs))
    rate, samples = measured_rate(rates), _samples(measured[0]) or 1
    seconds = Estimate(samples / rate.value, samples / rate.high, samples / rate.low if rate.low > 0 else math.inf)
    doubtful = sum(any(warning.kind in DOUBTS for warning in run.warnings) for run in measured)
    return CrossCell(seconds, rate, runs=len(rates), doubtful=doubtful)


def _not_the_same(columns: Iterable[CrossColumn], networks: Iterable[str]) -> tuple[str, ...]:
    """The networks that two frameworks of the table define differently."""
    frameworks = {column.framework for column in columns}

    def differ(network: str) -> bool:
        return network in DIFFERENCES and len(frameworks & set(DIFFERENCES[network].parameters)) > 1

    return tuple(filter(differ, dict.fromkeys(networks)))
