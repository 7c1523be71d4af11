"""What the page calls what it shows: workloads, devices, disks and runs, its charts, and the table of frameworks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sizer.host.stored_host import Installed
from sizer.model.model import CPU_LABEL
from sizer.recommend.cross_table import CPU_OF
from sizer.records import kinds
from sizer.records.answer import Answer, CrossCell, CrossColumn, CrossRow, CrossTable, Recommendation
from sizer.records.device import Device, DiskRates
from sizer.records.frameworks import FRAMEWORKS
from sizer.records.kinds import KINDS
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Prediction, Spec
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import DiskTier, Study, Workload
from sizer.records.units import format_bytes
from sizer.words import language, names
from sizer.words.language import N_, Sentence, Templates, _, clauses, in_words, paragraph, row
from sizer.words.names import Terms, accelerators_name, batch_named, disk_name, outcome_in_words, resource_name

# Workloads, and what computes them.
UNKNOWN_FRAMEWORK = "other"
"""Of a command, or of an imported table, that names none."""
_MODES: Templates[str, str] = {
    kinds.FORWARD: "forward",
    kinds.FORWARD_BACKWARD: "forward and backward",
    kinds.TRAIN: "forward, backward and update",
}
_STATES: Templates[str, str] = {
    "disk": "Input read from disk.",
    "cached": "Input cached: the encoded bytes are in the page cache already, decoding still happens.",
    "synthetic": "Input synthetic: nothing is read or decoded.",
    "replay": "Input read from disk as the loader reads it, and not used.",
    "cold": "Cache cold: evicted before the run and at each epoch boundary, as for data much larger than memory.",
    "natural": "Cache natural: evicted before the run only; the rate is that of the later epochs.",
    "warm": "Cache warm: the data set was read once before the run.",
}
"""Of inputs and of caches."""
embedded_data = Sentence("embedded data set")
input_named = Sentence("input {value}")
cache_named = Sentence("cache {value}")
"""`input cached`, `cache warm`, the value as a study spells it."""


def framework_name(framework: str | None) -> str:
    """`PyTorch`: as its makers write it, or as it is given."""
    return FRAMEWORKS[framework].title if framework in FRAMEWORKS else framework or ""


def _name_of(names: Mapping[str, str], value: str) -> str:
    """The name of a value, or the value itself."""
    return _(names[value]) if value in names else value


def kind_in_words(kind: str) -> str:
    """What sort of work a workload does."""
    return in_words(KINDS[kind].label) if kind in KINDS else kind


def mode_in_words(mode: str) -> str:
    """What is computed of a batch."""
    return _name_of(_MODES, mode)


def workload_in_words(workload: Workload) -> str:
    """What is measured in a few words: `image training · resnet50 · MXNet`."""
    if workload.kind == "command":
        return kind_in_words(workload.kind)
    # Folders of older studies call it mxnet.
    framework = kinds.OPENCV if workload.kind == kinds.PREPROCESSING else workload.framework
    mode = "" if workload.mode == KINDS[workload.kind].mode else mode_in_words(workload.mode or "")
    parts = [kind_in_words(workload.kind), workload.network, framework_name(framework), mode]
    return " · ".join(part for part in parts if part and part != UNKNOWN_FRAMEWORK)


def state_in_words(input_: str, cache: str) -> str:
    """From where the input came, and what was in the page cache."""
    return paragraph([_name_of(_STATES, input_), _name_of(_STATES, cache)])


def installed_in_words(installed: Installed) -> str:
    """`Python 3.12.1 in /opt/torch/bin/python: torch 2.13.0, numpy 2.4.1`."""
    packages = row(map(" ".join, installed.packages.items()))
    return _("Python {found.python} in {found.path}[[: {packages}]]", found=installed, packages=packages)


def device_in_words(device: Device, unit: str) -> str:
    """Where the step is computed: `CPU`, `cuda:0`, `emulated P100, 219 images/s from <source>`."""
    if device.kind == "cpu":
        return resource_name(Bottleneck.CPU, device)
    if device.kind != "emulated":
        return device.label
    rates = (
        _("{rate.samples_per_second:rate/unit} with a batch of {rate.batch_size}", rate=rate, unit=unit)
        for rate in device.batch_rates
    )
    sources = "; ".join(dict.fromkeys(rate.source for rate in device.batch_rates)) or device.source
    return _(
        "{name}[[, {device.samples_per_second:rate/unit}]][[; {rates}]][[ {source}]]",
        name=names.accelerator_name(device),
        device=device,
        unit=unit,
        rates="" if device.samples_per_second is not None and not device.batch_rates else clauses(rates),
        source=names.rate_source(sources) if sources else "",
    )


# Runs, and how they ended.
runs_counted = Sentence("{count:runs}")
_STOPPED: Templates[str, str] = {
    "precision": "precise enough",
    "time": "time was up",
    "ended": "end of the workload",
    "deadline": "deadline",
    "interrupted": "interrupted",
    "broken_events": "broken events",
    "wrong_unit": "times of another unit",
    "stood_still": "sizer stood still",
}


def runs_by_outcome(counts: dict[Outcome, int]) -> str:
    """`17 runs: 15 completed, 2 crashed.`, in the order of these counts."""
    outcomes = names.outcomes_counted([outcome.value for outcome in counts], list(counts.values()))
    number = sum(counts.values())
    return _("{runs:runs}: {outcomes}.", runs=number, outcomes=outcomes) if number else _("No run has been made.")


def runs_and_warned(number: int, warned: int) -> str:
    """`3 runs, 1 with a warning`"""
    return _("{runs:runs}[[, {warned} with a warning]]", runs=number, warned=warned)


def ending(run: Run | CrossCell) -> str:
    """How a run, or those of a cell, that gave no rate ended; one that completed without says just that."""
    outcome = run.outcome or Outcome.COMPLETED
    return _("no rate") if outcome is Outcome.COMPLETED else outcome_in_words(outcome)


def stopped_in_words(reason: str) -> str:
    """Why the measurement of a run ended then."""
    return _name_of(_STOPPED, reason)


def answer_word(answer: Answer, axis: str) -> str:
    """What a chart calls the place of the answer: only along vCPUs can it be a lower bound."""
    if answer.status != "at_least":
        return _("provisional") if answer.provisional else _("recommended")
    if answer.edge == "unsettled":
        return _("so far")
    return _("at least") if axis == "vcpus" else _("answer")


# Configurations and their resources.
_AXES: Templates[str, str] = {
    "vcpus": "vCPUs",
    "memory_bytes": "memory",
    "disk": "disk tier",
    "batch_size": "batch size",
}


def axis_name(axis: str) -> str:
    """What varies along an axis."""
    return _(_AXES[axis])


def resources_agreed(bottlenecks: list[Bottleneck], device: Device) -> str:
    """What repeats agree on; where they differ, all that they name."""
    return language.either(list(dict.fromkeys(resource_name(bottleneck, device) for bottleneck in bottlenecks))) or _(
        "unknown"
    )


def busy_name(name: str) -> str:
    """A resource by the key of its busy share."""
    members = {member.value: member for member in Bottleneck}
    return resource_name(members[name], Device()) if name in members else name.replace("_", " ")


def reading_in_words(rates: DiskRates) -> str:
    """`100 MB/s, 2,000 IOPS` of a tier's reads; its writes where only those are known."""
    read = names.rate_pair(rates.read_bytes_per_second, rates.read_iops)
    return read or names.rates_in_words(rates) or _("nothing")


def declared_in_words(tier: DiskTier) -> str:
    """What a tier declares; one that is not emulated and has no place was imported."""
    if tier.emulated is not None:
        return names.rates_in_words(tier.emulated)
    return _("nothing, it is a real mount") if tier.path is not None else _("nothing is known")


def tier_nature(tier: DiskTier) -> str:
    """Whether a tier is emulated or real."""
    return _("emulated") if tier.emulated is not None else _("real")


def study_disk(name: str, study: Study) -> str:
    """A disk tier of a study in a column of disks: `ssd (emulated)`."""
    return disk_name(name, name in study.emulated_disks)


def spec_line(spec: Spec, study: Study, device: Device | None = None) -> str:
    """`2 vCPUs · 4 GiB · disk ssd (emulated) · batch 32`, with only what the spec fixes."""
    return " · ".join(names.spec_parts(spec, Terms("", "", device or Device(), frozenset(study.emulated_disks))))


def configuration_line(configuration: Configuration, study: Study) -> str:
    """What a run had, as one line, without what an imported table does not say."""
    return spec_line(names.spec_of(configuration), study)


def memory_size(configuration: Configuration) -> str:
    """`8 GiB`; empty where it is not known."""
    return format_bytes(configuration.memory_bytes) if configuration.memory_bytes is not None else ""


def place_named(axis: str, configuration: Configuration, study: Study) -> str:
    """Where on an axis of a chart a configuration lies: `2 vCPUs`, `4 GiB`, `batch 32`; '' where it does not say."""
    value = getattr(configuration, axis)
    written: Mapping[str, Callable[[Any], str]] = {
        "vcpus": language.vcpus_in_words,
        "memory_bytes": format_bytes,
        "batch_size": batch_named,
        "disk": lambda disk: study_disk(disk, study),
    }
    return "" if value is None else written[axis](value)


# What charts say: their ceilings, where the time of a sample goes, and what pointing at a place tells.
knee_named = Sentence("{share:share} of the highest, from {place}")
"""From where on more pays little."""
floor_named = Sentence("memory floor: {low:bytes} to {high:bytes}")
"""Between a cap at which runs were killed and one at which they completed."""
cache_fit_named = Sentence("data fit into memory: {size:bytes}")
time_later = Sentence("{time:time} later")
"""Where a study went on after it stood still for so long."""


ceiling_named = Sentence("{name} alone: {throughput:rate/unit}")
"""A line of what one resource would allow: `emulated P100 alone: 219 images/s`."""


def ceilings_above(ceilings: Sequence[str]) -> str:
    """What lies too high to be drawn."""
    return _("Above this picture: {ceilings}.", ceilings=clauses(ceilings))


disk_ceiling = Sentence("enough for {throughput:rate/unit}[[ with {memory:bytes} of memory]]")
"""Beside what a tier gives: how many samples a second that is, at what a sample was seen to need of it; with a memory
size where the page cache serves another share of the data with each."""
time_axis = Sentence("where the time goes, {scale:each/unit} (model)")
"""What the axis of a sample's time is called: `where the time goes, ms an image (model)`."""
time_part = Sentence("{resource} at {place}: {seconds:brief} of {whole:each/unit} ({share:share}), by the model")
"""`CPU at 0.5 vCPU: 4.48 ms of 5.45 ms an image (82 %), by the model`."""
_WAITS: Templates[Bottleneck, str] = {
    Bottleneck.DISK_BANDWIDTH: "disk wait (bandwidth)",
    Bottleneck.DISK_IOPS: "disk wait (IOPS)",
    Bottleneck.DISK_WRITE: "disk writing",
    Bottleneck.SERIAL: "serial part, which no vCPU shortens",
}
_CPU_WORK: Templates[str, str] = {
    kinds.PREPROCESSING: "decode, resize and encode (CPU)",
    "image_training": "decode[[part? and augment]][[!part?, augment and compute]] (CPU)",
    "image_inference": "decode[[!part? and compute]] (CPU)",
}


def stage_of_time(bottleneck: Bottleneck, device: Device, kind: str, part: str) -> str:
    """What takes the time of a sample, by its work; `part` of the CPU's is the `input`, the `step`, or '' for both."""
    if bottleneck is Bottleneck.CPU:
        if part == "step" or kind in kinds.LANGUAGE:
            return _("compute (CPU)")
        return _(_CPU_WORK[kind], part=part) if kind in _CPU_WORK else _("CPU")
    if bottleneck is Bottleneck.ACCELERATOR:
        return _("compute ({accelerator})", accelerator=resource_name(bottleneck, device))
    return _(_WAITS[bottleneck]) if bottleneck in _WAITS else resource_name(bottleneck, device)


def stop_line(
    label: str, measured: Estimate | None, runs: int, modelled: Estimate | None, extrapolated: bool, unit: str
) -> str:
    """What is known of one series at one place: what was measured, what the model says."""
    values = {"measured": measured, "runs": runs, "modelled": modelled, "unit": unit, "beyond": extrapolated}
    text = clauses(
        [
            _("[[measured {measured:rate/unit}, {runs:runs}]]", **values),
            _("[[beyond?extrapolated {modelled:rate/unit}]][[!beyond?model {modelled:rate/unit}]]", **values),
        ]
    )
    return _("{series}: {text}", series=label, text=text) if label and text else text


def accelerators_scaled(label: str, count: int, rate: Estimate, fewest: int, efficiency: float, unit: str) -> str:
    """`4 x V100: 1,420 images/s (1,400–1,440), 91 % of perfect scaling from 1`."""
    return _(
        "{accelerators}: {rate:rate/unit}[[, {efficiency:share} of perfect scaling from {fewest}]]",
        accelerators=accelerators_name(label, count),
        rate=rate,
        unit=unit,
        efficiency=None if count == fewest else efficiency,
        fewest=fewest,
    )


_BOUND_BY: Templates[Bottleneck, str] = {
    Bottleneck.CPU: "CPU",
    Bottleneck.SERIAL: "serial",
    Bottleneck.DISK_BANDWIDTH: "disk",
    Bottleneck.DISK_IOPS: "IOPS",
    Bottleneck.DISK_WRITE: "writes",
    Bottleneck.ACCELERATOR: "GPU",
    Bottleneck.MEMORY: "memory",
    Bottleneck.AMBIGUOUS: "unclear",
}


def bound_by(bottleneck: Bottleneck, device: Device) -> str:
    """What binds in a word that a cell of a map has room for; the legend beside it says more.

    What was emulated is not called by its name, for which the word emulated would have to stand there, too.
    """
    named = bottleneck is Bottleneck.ACCELERATOR and device.gpu is not None and device.kind != "emulated"
    return device.gpu or "" if named else _(_BOUND_BY[bottleneck])


def map_cell(prediction: Prediction, measured: Estimate | None, study: Study, device: Device, unit: str) -> str:
    """What pointing at a place of the map tells: the configuration, its rate by the model and as measured, what binds
    and how strongly."""
    where = configuration_line(prediction.configuration, study)
    if prediction.out_of_memory:
        return _("{configuration}: out of memory", configuration=where)
    rates = _(
        "model {modelled:rate/unit}[[; measured {measured:rate/unit}]]",
        modelled=prediction.throughput,
        measured=measured,
        unit=unit,
    )
    binding = [
        _("{resource} {share:share}", resource=resource_name(Bottleneck(name), device), share=share)
        for name, share in sorted(prediction.shares.items(), key=lambda item: -item[1])
        if share >= 0.05
    ]
    return "\n".join(filter(None, (where, rates, _("[[binds: {resources:and}]]", resources=binding))))


map_read = Sentence(
    "The first number is {unit} by the model, the one beside a point the median of the runs there.[[ At {fixed}.]]"
)
"""What the numbers of the map are, and what holds for all of its places: '' where nothing is said of that."""


def disks_not_told_apart(disks: Sequence[str], places: Sequence[str]) -> str:
    """Disks whose rates differ by chance alone; at these places, or wherever they were compared where none is named."""
    where = clauses(places) if any(", " in place for place in places) else language.listed(places)
    return _("[[At {places} the]][[!places?The]] runs do not tell {disks:and} apart.", places=where, disks=disks)


chart_described = Sentence("{runs:runs} measured, from {low:rate/unit} to {high:rate/unit}.[[ Failed: {failed}.]]")
"""What a chart shows, for a reader who does not see it."""
_TIMES: Sequence[tuple[float, float, str]] = (
    (180.0, 1.0, N_("seconds of measuring")),
    (3 * 3600.0, 60.0, N_("minutes of measuring")),
    (72 * 3600.0, 3600.0, N_("hours of measuring")),
    (math.inf, 86400.0, N_("days of measuring")),
)
"""Up to which time an axis counts in what, in seconds."""


def time_of_measuring(longest: float) -> tuple[float, str]:
    """The unit of an axis of time that is so many seconds long, in seconds, and what the axis is called."""
    _most, unit, name = next(entry for entry in _TIMES if longest <= entry[0])
    return unit, _(name)


runs_over_time = Sentence("{runs:runs}, {points} with a rate.[[ The study stood still: {rests} ×.]]")
"""What a picture over time shows, for a reader who does not see it."""


# The table of frameworks beside each other, for the terminal and the page.
RATIO_DIGITS, MANY_TIMES = 2, 10.0
"""Of a ratio below so many; a larger one is said without."""
WIDEST = 1.5
"""Times a figure that the end of its interval may be, and its begin half of it, to be said as a share of the figure."""
MOST_AHEAD = 5
"""Columns that are named as the fastest; of more it is said in how many rows they are."""
MOST_ANSWERS = 4
"""Workloads whose answers stand before the table, as many as two screens of a phone hold. A study of more that has such
a table was made for it: its reader looks for the table first."""


@dataclass(frozen=True)
class CrossGroup:
    """The rows of one network and mode, each with what it has of its own, and their `title`: `resnet50, training`.

    `columns` are the places of those columns that any of the rows has tried.
    """

    title: str
    rows: tuple[CrossRow, ...]
    apart: tuple[str, ...]
    columns: tuple[int, ...]


def table_comes_first(recommendation: Recommendation, study: Study) -> bool:
    """Whether what the study is about is the table, and not the answer for each of its many workloads.

    An adaptive plan chooses its runs for the answers.
    """
    table = recommendation.cross_table
    if study.adaptive is not None:
        return False
    return table is not None and len(recommendation.workloads) > MOST_ANSWERS and bool(cross_answer(table))


def column_named(column: CrossColumn) -> str:
    """`PyTorch`, `PyTorch · V100`."""
    name = framework_name(column.framework)
    return name if column.accelerator is None else f"{name} · {_device(column.accelerator)}"


def _conditions(cross_row: CrossRow, study: Study) -> tuple[str, ...]:
    """What a row has beside its network, each part in words, in the order of the records; '' where it is not known."""
    return (
        mode_in_words(cross_row.mode) if cross_row.mode is not None else "",
        batch_named(cross_row.batch_size),
        cross_row.precision or "",
        _device(cross_row.accelerator) if cross_row.accelerator is not None else "",
        accelerators_name(None, cross_row.accelerators) if cross_row.accelerators > 1 else "",
        _("[[{vcpus:vcpus}]]", vcpus=cross_row.vcpus),
        _("[[{size:bytes} memory]]", size=cross_row.memory_bytes),
        study_disk(cross_row.disk, study) if cross_row.disk is not None else "",
        input_named(cross_row.input) if cross_row.input != "disk" else "",
    )


def seconds_a_batch(cell: CrossCell) -> str:
    """`412 ms ±1.5 %`; of a cell that is missing why: `out of memory`."""
    estimate = cell.seconds
    if estimate is None:
        return ending(cell)
    seconds, low, high = (language.QUANTITIES["time"](value) for value in (estimate.value, estimate.low, estimate.high))
    if not estimate.has_interval:
        return seconds
    if estimate.high < WIDEST * estimate.value and estimate.low > estimate.value / 2:
        return f"{seconds} {language.around(estimate)}"
    if not math.isfinite(estimate.high):
        return _("{seconds} ({low} or more)", seconds=seconds, low=low)
    return language.with_interval(seconds, low, high)


def cell_ranked(cell: CrossCell, cross_row: CrossRow) -> list[str]:
    """`rank 2, 1.35×`, `78 images/s`, and `doubtful` where its runs have such warnings; empty for a missing cell."""
    if cell.rank is None or cell.ratio is None or cell.throughput is None:
        return []
    ratio = f"{cell.ratio:.{RATIO_DIGITS if cell.ratio < MANY_TIMES else 0}f}"
    rank = _(
        "[[shared?shares ]]rank {rank}[[, {ratio}×]]",
        shared=sum(other.rank == cell.rank for other in cross_row.cells) > 1,
        rank=cell.rank,
        ratio=ratio if float(ratio) > 1 else "",
    )
    rate = language.rate_in_words(cell.throughput.value, cross_row.sample_unit)
    return [rank, rate, *([_("doubtful")] if cell.doubtful else [])]


def cross_answer(table: CrossTable) -> str:
    """Which column is the fastest in how many rows, surely where no figure is doubtful; empty where none compares."""
    compared = [row for row in table.rows if sum(cell.seconds is not None for cell in row.cells) > 1]
    if not compared:
        return ""
    first = [[at for at, cell in enumerate(cross_row.cells) if cell.rank == 1] for cross_row in compared]
    ahead = Counter(places[0] for places in first if len(places) == 1).most_common()
    shown = ahead if len(ahead) <= MOST_AHEAD + 1 else ahead[:MOST_AHEAD]
    others = sum(count for _at, count in ahead[len(shown) :])
    columns = [_("{column} in {count}", column=column_named(table.columns[at]), count=count) for at, count in shown]
    columns += [_("others in {count}", count=others)] if others else []
    return (_AHEAD if columns else _OPEN)(
        count=len(compared),
        columns=columns,
        open=len(compared) - sum(count for _at, count in ahead),
        doubtful=sum(any(cell.doubtful for cell in cross_row.cells) for cross_row in compared),
    )


_OPEN = Sentence(
    "Which is the fastest cannot be told, of {count:comparisons}.[[ Figures of {doubtful} of them are doubtful.]]"
)
_AHEAD = Sentence(
    "[[!doubtful?Surely the fastest]][[doubtful?The fastest by their intervals]], of {count:comparisons}: "
    "{columns:and}[[; in {open} it cannot be told]].[[ Figures of {doubtful} of them are doubtful.]]"
)


cross_shades = Sentence("The darker, the nearer to the best time of the row; bold: rank 1.")
"""What the colours of the table mean, on the page."""
answers_in_short = Sentence("Why an answer is so: `{command}`, or the page.")
"""Behind the answers of many workloads, a line each, with the `command` that shows one whole."""
_NETWORKS: Templates[kinds.DifferenceKind, str] = {
    kinds.DifferenceKind.BATCH_NORMALISATION: "{network} is not the same network in both: MXNet's has "
    "{mxnet:,} parameters and no batch normalisation, PyTorch's has {pytorch:,}, with batch "
    "normalisation and with 3x3 in the place of 5x5.",
    kinds.DifferenceKind.BIASES: "{network} has {mxnet:,} parameters in MXNet and {pytorch:,} in "
    "PyTorch: biases in front of batch normalisation, which cost next to nothing.",
}
"""How two frameworks define a network otherwise."""


def cross_notes(table: CrossTable, alike: Sequence[str]) -> list[str]:
    """Under the table: what its figures are, what rows share, how sure ranks are, which networks differ."""
    modes = {row.mode for row in table.rows}
    note = _(
        "Figures are seconds a mini-batch with the 95 % interval of their runs[[, all with {alike}]]. A "
        "rank counts those in the row that are surely faster, so two that cannot be told apart share "
        "one.[[compares? 2× is twice the best time of the row.]][[modes? Training is forward, backward "
        "and update.]][[ Where a cell has a single run, ranks allow for another one that differs by "
        "{table.supposed:share} or more.]][[ Doubtful figures, whose runs have warnings, most often of a "
        "busy host: {doubtful}.]]",
        table=table,
        alike=row(alike),
        compares=any(cell.ratio is not None and cell.ratio > 1 for row in table.rows for cell in row.cells),
        modes=kinds.TRAIN in modes and len(modes) > 1,
        doubtful=sum(bool(cell.doubtful) for row in table.rows for cell in row.cells),
    )
    different = [(network, kinds.DIFFERENCES[network]) for network in table.not_the_same]
    return [
        note,
        *(_(_NETWORKS[difference.kind], network=name, **difference.parameters) for name, difference in different),
    ]


def cross_lines(table: CrossTable, study: Study) -> Iterator[str]:
    """The table for a terminal: a line for each row with its cells, under the network where it has several."""
    alike, groups = cross_groups(table, study)
    yield _("Seconds a mini-batch:")
    if answered := cross_answer(table):
        yield f"  {answered}"
    for group in groups:
        single = len(group.rows) == 1
        if not single:
            yield f"  {group.title}"
        for cross_row, parts in zip(group.rows, group.apart, strict=True):
            name = row([group.title, parts]) if single else f"  {parts or group.title}"
            pairs = zip(table.columns, cross_row.cells, strict=True)
            cells = clauses(
                f"{column_named(column)} {row([seconds_a_batch(cell), *cell_ranked(cell, cross_row)])}"
                for column, cell in pairs
                if cell.runs
            )
            yield f"  {_('{name}: {text}', name=name, text=cells)}"
    for note in cross_notes(table, alike):
        yield f"  {note}"


def cross_groups(table: CrossTable, study: Study) -> tuple[list[str], list[CrossGroup]]:
    """What all rows have alike, in words, and the rows by network and mode with what each has of its own."""
    conditions = [_conditions(row, study) for row in table.rows]
    same = [len(set(values)) == 1 for values in zip(*conditions, strict=True)]
    alike = [part for part, is_same in zip(conditions[0], same, strict=True) if is_same and part]
    apart = [
        row(part for part, is_same in zip(parts[1:], same[1:], strict=True) if not is_same) for parts in conditions
    ]
    groups = []
    pairs = zip(table.rows, apart, strict=True)
    for (network, mode), alike_rows in groupby(pairs, key=lambda pair: (pair[0].network, pair[0].mode)):
        rows, own = zip(*alike_rows, strict=True)
        training = mode == kinds.TRAIN
        title = (
            network if same[0] or mode is None else row([network, _("training") if training else mode_in_words(mode)])
        )
        tried = [at for at in range(len(table.columns)) if any(row.cells[at].runs for row in rows)]
        groups.append(CrossGroup(title, rows, own, tuple(tried)))
    return alike, groups


def _device(label: str) -> str:
    """A machine that a table names says by its name what computed."""
    if label.startswith(CPU_OF):
        return label.removeprefix(CPU_OF)
    return _("CPU") if label == CPU_LABEL else names.gpu_name(label)
