"""Throughput by disk tier, each tier with what it declares, what fio measured on it, and what that is enough for."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from sizer.model.edge import tells_apart
from sizer.model.model import disk_of
from sizer.model.observations import measured_rate
from sizer.records.configuration import Configuration, Estimate
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.run import Run
from sizer.words.language import _, clauses, paragraph, rate_in_words, rates_axis
from sizer.words.page import answer_word, disk_ceiling, disks_not_told_apart, reading_in_words, study_disk

from .. import results
from ..charts.rows import Bar, Row, RowGroup, Rows
from ..subject import Subject
from .disks import disk_allows, rates_of, reading_sizes
from .series import Series, described, failure_marks, is_modelled, predicted_points, run_points

PredictedRates = Mapping[Configuration, Estimate]
"""What the model says, where it has an answer."""

MOST_SIZES = 3
"""Memory sizes for each of which it is said what a disk is enough for: the smallest, which read most from it."""


def disk_chart(title: str, series: Sequence[Series], subject: Subject) -> Rows:
    """The picture for the disk axis of a workload, the slowest tier first."""
    names = {disk_of(run.configuration) for each in series for run in each.runs}
    ordered = _slowest_first(names, subject)
    unit, predicted = rates_axis(subject.unit), _predicted(ordered, series, subject)
    rows = (*(_row(name, series, predicted, subject) for name in ordered), *_in_memory(series, subject))
    return Rows(f"{title}, {unit}", unit, (RowGroup("", rows),), described(series, subject))


def _row(name: str, series: Sequence[Series], predicted: PredictedRates, subject: Subject) -> Row:
    word = _answer_word(name, subject)
    title = study_disk(name, subject.study) + (f" – {word}" if word else "")
    known = {size: disk_allows(name, size, subject) for size in reading_sizes(name, subject)[:MOST_SIZES]}
    by_size = tuple(
        disk_ceiling(found, subject.unit, size)
        for size, found in known.items()
        if size is not None and found is not None
    )
    allowed = known.get(None)
    enough = disk_ceiling(allowed, subject.unit) if allowed is not None else ""
    return Row(
        name=title,
        bars=(*(_bar(name, each, predicted, subject) for each in series), *_first_epochs(name, series, subject)),
        figures=(*_figures(name, enough, subject), *by_size),
        is_answer=bool(word),
        ceiling=allowed,
        ceiling_title=_("{disk}: {enough}", disk=title, enough=enough) if enough else "",
    )


def alike(series: Sequence[Series], names: Sequence[str], subject: Subject) -> str:
    """The disks that the runs of a series do not tell apart; `names` are those of the series, '' of one alone."""
    places = {
        name: each.base
        for each, name in zip(series, names, strict=True)
        if each.base is not None and is_modelled(each, subject)
    }
    disks = {
        name: _slowest_first({disk_of(run.configuration) for run in each.runs if results.measured(run)}, subject)
        for each, name in zip(series, names, strict=True)
        if name in places
    }
    return disks_alike(places, disks, subject)


def _slowest_first(names: set[str], subject: Subject) -> list[str]:
    return sorted(names, key=lambda name: (_read_rate(name, subject), name))


def shows_first_epochs(series: Sequence[Series]) -> bool:
    """Whether runs leave the page cache to itself: their first epoch is cold, and their rate that of later ones."""
    return len(series) == 1 and any(_first_epoch(run) is not None for run in series[0].runs)


def _first_epochs(name: str, series: Sequence[Series], subject: Subject) -> Iterator[Bar]:
    if not shows_first_epochs(series):
        return
    rates = [_first_epoch(run) for run in series[0].runs if run.configuration.disk == name]
    rate = results.middle(rates)
    yield Bar(rate, rate_in_words(rate, subject.unit) if rate is not None else "")


def _first_epoch(run: Run) -> float | None:
    natural = run.spec.workload.assumed_cache == "natural" and results.measured(run)
    return run.first_epoch_throughput if natural else None


def _in_memory(series: Sequence[Series], subject: Subject) -> Iterator[Row]:
    """What the runs gave that read nothing from a disk, at the vCPUs of the first series."""
    base = series[0].base
    runs = [run for run in subject.isolating if run.spec.stage == "pipeline" and results.measured(run)]
    runs = [run for run in runs if base is not None and _alike(run, base)]
    if runs:
        bar = _bar_of(runs, subject)
        yield Row(name=_("in memory (cache warm)"), bars=(bar,), figures=(_("nothing is read from a disk"),))


def _alike(run: Run, base: Configuration) -> bool:
    here = run.configuration
    return (here.vcpus, here.batch_size) == (base.vcpus, base.batch_size)


def _answer_word(name: str, subject: Subject) -> str:
    answer = subject.answer
    if answer is None or answer.spec is None or answer.spec.disk != name:
        return ""
    return answer_word(answer, "disk")


def _bar(name: str, series: Series, predicted: PredictedRates, subject: Subject) -> Bar:
    runs = [run for run in series.runs if run.configuration.disk == name]
    modelled = runs and series.base is not None and is_modelled(series, subject)
    there = replace(series.base, disk=name) if modelled and series.base is not None else None
    return replace(_bar_of(runs, subject), predicted=predicted.get(there) if there is not None else None)


def _bar_of(runs: Sequence[Run], subject: Subject) -> Bar:
    points = run_points(runs, "disk", subject)
    rate = measured_rate([point.throughput for point in points]).value if points else None
    return Bar(
        throughput=rate,
        rate=rate_in_words(rate, subject.unit) if rate is not None else "",
        points=points,
        failures=failure_marks(runs, "disk", subject),
    )


def _predicted(names: Sequence[str], series: Sequence[Series], subject: Subject) -> PredictedRates:
    """Of each disk with what each series that the model speaks of has else."""
    bases = [each.base for each in series if each.base is not None and is_modelled(each, subject)]
    if subject.model is None:
        return {}
    places = [replace(base, disk=name) for base in bases for name in names]
    points = zip(places, predicted_points(subject.model, places), strict=True)
    return {place: point.throughput for place, point in points if point is not None}


def _figures(name: str, enough: str, subject: Subject) -> tuple[str, ...]:
    """What the tier declares, what fio measured on it, and what that is enough for."""
    check, tier = subject.check(name), subject.tier(name)
    declared, found = "", []
    if tier is not None and tier.emulated is not None:
        declared = _("declared {rates}", rates=reading_in_words(tier.emulated))
    if check is not None and check.measured != DiskRates():
        found.append(_("fio {rates}", rates=reading_in_words(check.measured)))
    found += [enough] if enough else []
    lines = tuple(line for line in (declared, clauses(found)) if line)
    if lines or subject.study.imported:  # nobody could have measured the disks of a table with fio
        return lines
    return (_("where the data already lay") if name == HOST_DISK else _("not measured by fio"),)


def _read_rate(name: str, subject: Subject) -> float:
    rate = rates_of(name, subject).read_bytes_per_second
    return rate if rate is not None else math.inf


Places = Mapping[str, Configuration]
"""By what a place is called, '' where there is one alone, its configuration on any disk."""


def disks_alike(places: Places, disks: Mapping[str, Sequence[str]], subject: Subject) -> str:
    """Which of the disks at each place, in the order in which they are shown, the runs do not tell apart there."""
    if subject.model is None or subject.model.posterior is None:
        return ""
    pairs = [(name, pair) for name in places for pair in combinations(disks[name], 2)]
    asked = [(replace(places[name], disk=one), replace(places[name], disk=other)) for name, (one, other) in pairs]
    modelled = tells_apart(subject.model, asked)
    alike = {
        (name, pair)
        for (name, pair), both, apart in zip(pairs, asked, modelled, strict=True)
        if not (apart and _ran_apart(*(subject.measured_at(each) for each in both)))
    }
    found: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in places:
        for group in _groups(disks[name], {pair for where, pair in alike if where == name}):
            found[group].append(name)
    return paragraph(
        disks_not_told_apart(
            [study_disk(disk, subject.study) for disk in group], where if len(where) < len(places) else []
        )
        for group, where in found.items()
    )


def _ran_apart(one: Estimate | None, other: Estimate | None) -> bool:
    """Whether the runs' own rates differ clearly; where one was not measured, nothing speaks against it."""
    return one is None or other is None or one.high < other.low or other.high < one.low


def _groups(disks: Sequence[str], alike: set[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Neighbours of which no two are told apart, the longest such rows of them."""
    found: list[tuple[str, ...]] = []
    for first in range(len(disks)):
        group = [disks[first]]
        for disk in disks[first + 1 :]:
            if not all((each, disk) in alike for each in group):
                break
            group.append(disk)
        if len(group) > 1 and not any(set(group) <= set(known) for known in found):
            found.append(tuple(group))
    return found
