"""The table of frameworks beside each other, for the terminal and the page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from sizer.model.feeds import CPU_LABEL
from sizer.recommend.cross_table import CPU_OF
from sizer.records.answer import Recommendation
from sizer.records.cross_table import CrossCell, CrossColumn, CrossRow, CrossTable
from sizer.records.kinds import TRAIN
from sizer.records.run_kinds import Outcome
from sizer.records.study import Study
from sizer.records.units import format_bytes, format_seconds
from sizer.words.figures import around, paragraph, with_interval
from sizer.words.language import _, _n
from sizer.words.names import clauses, disk_name, gpu_name, listed, outcome_in_words, row
from sizer.words.networks import definitions_differ
from sizer.words.page import batch_named, framework_name, input_named, mode_in_words
from sizer.words.units import percent, rate_in_words, vcpus_in_words

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


def row_conditions(each: CrossRow, study: Study) -> tuple[str, ...]:
    """What a row has beside its network, each part in words, in the order of the records; '' where it is not known."""
    return (
        mode_in_words(each.mode) if each.mode is not None else "",
        batch_named(each.batch_size),
        each.precision or "",
        _device(each.accelerator) if each.accelerator is not None else "",
        _n("{count} accelerator", "{count} accelerators", each.accelerators) if each.accelerators > 1 else "",
        vcpus_in_words(each.vcpus) if each.vcpus is not None else "",
        _("{size} memory", size=format_bytes(each.memory_bytes)) if each.memory_bytes is not None else "",
        disk_name(each.disk, each.disk in study.emulated_disks) if each.disk is not None else "",
        input_named(each.input) if each.input != "disk" else "",
    )


def seconds_a_batch(cell: CrossCell) -> str:
    """`412 ms ±1.5 %`; of a cell that is missing why: `out of memory`."""
    if cell.seconds is None:
        if cell.outcome is None or cell.outcome is Outcome.COMPLETED:
            return _("no rate")
        return outcome_in_words(cell.outcome)
    seconds, found = format_seconds(cell.seconds.value), cell.seconds
    if not found.has_interval:
        return seconds
    if found.high < WIDEST * found.value and found.low > found.value / 2:
        return f"{seconds} {around(found)}"
    low = format_seconds(found.low)
    if not math.isfinite(found.high):
        return _("{seconds} ({low} or more)", seconds=seconds, low=low)
    return with_interval(seconds, low, format_seconds(found.high))


def cell_ranked(cell: CrossCell, each: CrossRow) -> list[str]:
    """`rank 2, 1.35×`, `78 images/s`, and `doubtful` where its runs have such warnings; empty for a missing cell."""
    rank = _rank(cell, each)
    if not rank or cell.throughput is None:
        return []
    doubt = [_("doubtful")] if cell.doubtful else []
    return [rank, rate_in_words(cell.throughput.value, each.sample_unit), *doubt]


def _rank(cell: CrossCell, each: CrossRow) -> str:
    if cell.rank is None or cell.ratio is None:
        return ""
    shared = sum(other.rank == cell.rank for other in each.cells) > 1
    rank = _("shares rank {rank}", rank=cell.rank) if shared else _("rank {rank}", rank=cell.rank)
    ratio = f"{cell.ratio:.{RATIO_DIGITS if cell.ratio < MANY_TIMES else 0}f}"
    return row([rank, f"{ratio}×"]) if float(ratio) > 1 else rank


def cross_answer(table: CrossTable) -> str:
    """Which column is the fastest in how many rows, surely where no figure is doubtful; empty where none compares."""
    compared = [each for each in table.rows if sum(cell.seconds is not None for cell in each.cells) > 1]
    if not compared:
        return ""
    alone = [cells[0] for each in compared if len(cells := _first(each)) == 1]
    ahead = Counter(alone).most_common()
    named = ahead if len(ahead) <= MOST_AHEAD + 1 else ahead[:MOST_AHEAD]
    columns = [_("{column} in {count}", column=column_named(table.columns[at]), count=count) for at, count in named]
    others = sum(count for _at, count in ahead[len(named) :])
    columns += [_("others in {count}", count=others)] if others else []
    doubtful = sum(any(cell.doubtful for cell in each.cells) for each in compared)
    return paragraph(
        [
            _fastest(len(compared), len(alone), listed(columns), sure=not doubtful),
            _("Figures of {count} of them are doubtful.", count=doubtful) if doubtful else "",
        ]
    )


def _fastest(compared: int, told: int, columns: str, sure: bool) -> str:
    if not told:
        return _n(
            "Which is the fastest cannot be told in the one comparison.",
            "Which is the fastest cannot be told in any of {count} comparisons.",
            compared,
        )
    if told == compared and not sure:
        return _n(
            "The fastest by their intervals, of {count} comparison: {columns}.",
            "The fastest by their intervals, of {count} comparisons: {columns}.",
            compared,
            columns=columns,
        )
    if told == compared:
        return _n(
            "Surely the fastest, of {count} comparison: {columns}.",
            "Surely the fastest, of {count} comparisons: {columns}.",
            compared,
            columns=columns,
        )
    figures = {"count": compared, "columns": columns, "open": compared - told}
    if not sure:
        return _(
            "The fastest by their intervals, of {count} comparisons: {columns}; in {open} it cannot be told.", **figures
        )
    return _("Surely the fastest, of {count} comparisons: {columns}; in {open} it cannot be told.", **figures)


def _first(each: CrossRow) -> list[int]:
    return [at for at, cell in enumerate(each.cells) if cell.rank == 1]


def cross_shades() -> str:
    """What the colours of the table mean, on the page."""
    return _("The darker, the nearer to the best time of the row; bold: rank 1.")


def cross_notes(table: CrossTable, alike: Sequence[str]) -> list[str]:
    """Under the table: what its figures are, what rows share, how sure ranks are, which networks differ."""
    doubtful = sum(bool(cell.doubtful) for each in table.rows for cell in each.cells)
    modes = {each.mode for each in table.rows}
    said = paragraph(
        [
            _(
                "Figures are seconds a mini-batch with the 95 % interval of their runs, all with {alike}.",
                alike=row(alike),
            )
            if alike
            else _("Figures are seconds a mini-batch with the 95 % interval of their runs."),
            _("A rank counts those in the row that are surely faster, so two that cannot be told apart share one."),
            _("2× is twice the best time of the row.") if _compares(table) else "",
            _("Training is forward, backward and update.") if TRAIN in modes and len(modes) > 1 else "",
            _(
                "Where a cell has a single run, ranks allow for another one that differs by {share} or more.",
                share=percent(table.supposed),
            )
            if table.supposed is not None
            else "",
            _n(
                "{count} figure is doubtful: its runs have warnings, most often of a busy host.",
                "{count} figures are doubtful: their runs have warnings, most often of a busy host.",
                doubtful,
            )
            if doubtful
            else "",
        ]
    )
    return [said, *(_("{clause}.", clause=definitions_differ(each)) for each in table.not_the_same)]


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
        for each, parts in zip(group.rows, group.apart, strict=True):
            name = row(filter(None, [group.title, parts])) if single else f"  {parts or group.title}"
            cells = clauses(_cell_line(column, cell, each) for column, cell in _tried(table, each))
            yield f"  {_('{name}: {text}', name=name, text=cells)}"
    for note in cross_notes(table, alike):
        yield f"  {note}"


def answers_in_short(command: str) -> str:
    """Behind the answers of many workloads, a line each, with the `command` that shows one whole."""
    return _("Why an answer is so: `{command}`, or the page.", command=command)


def _cell_line(column: CrossColumn, cell: CrossCell, each: CrossRow) -> str:
    doubt = _("doubtful") if cell.doubtful else ""
    said = row(filter(None, [seconds_a_batch(cell), _rank(cell, each), doubt]))
    return _("{column} {text}", column=column_named(column), text=said)


def _tried(table: CrossTable, each: CrossRow) -> Iterator[tuple[CrossColumn, CrossCell]]:
    return ((column, cell) for column, cell in zip(table.columns, each.cells, strict=True) if cell.runs)


def _compares(table: CrossTable) -> bool:
    return any(cell.ratio is not None and cell.ratio > 1 for each in table.rows for cell in each.cells)


def cross_groups(table: CrossTable, study: Study) -> tuple[list[str], list[CrossGroup]]:
    """What all rows have alike, in words, and the rows by network and mode with what each has of its own."""
    known = [row_conditions(each, study) for each in table.rows]
    same = [len(set(values)) == 1 for values in zip(*known, strict=True)]
    alike = [part for part, is_same in zip(known[0], same, strict=True) if is_same and part]
    apart = [
        row(part for part, is_same in zip(parts[1:], same[1:], strict=True) if part and not is_same) for parts in known
    ]
    groups = []
    for (network, mode), found in groupby(
        zip(table.rows, apart, strict=True), key=lambda each: (each[0].network, each[0].mode)
    ):
        rows, own = zip(*found, strict=True)
        title = network if same[0] or mode is None else row([network, _mode(mode)])
        tried = [at for at in range(len(table.columns)) if any(each.cells[at].runs for each in rows)]
        groups.append(CrossGroup(title, rows, own, tuple(tried)))
    return alike, groups


def _mode(mode: str) -> str:
    return _("training") if mode == TRAIN else mode_in_words(mode)


def _device(label: str) -> str:
    """A machine that a table names says by its name what computed."""
    if label.startswith(CPU_OF):
        return label.removeprefix(CPU_OF)
    return _("CPU") if label == CPU_LABEL else gpu_name(label)
