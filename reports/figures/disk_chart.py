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
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.prediction import Configuration, Estimate
from sizer.records.run import Run
from sizer.words.answers import disk_question
from sizer.words.language import _, clauses, paragraph, rate_in_words, rates_axis
from sizer.words.page import answer_word, axis_name, disk_ceiling, disks_not_told_apart, reading_in_words, study_disk

from .. import results
from ..charts.legend import Figure, Key, key, series_class, series_key
from ..charts.rows import Bar, Row, Rows
from ..subject import Subject
from .disks import disk_allows, rates_of
from .series import (
    Series,
    described,
    failure_marks,
    has_intervals,
    held,
    is_modelled,
    labels,
    named,
    predicted_points,
    run_points,
)

PredictedRates = Mapping[Configuration, Estimate]
"""What the model says, where it has an answer."""


def disk_figure(series: Sequence[Series], answer: str, subject: Subject) -> Figure:
    """The picture for the disk axis of a workload, with whether a faster disk would help, '' where nothing says it."""
    title, rows = _("Throughput against {axis}", axis=axis_name("disk")), disk_chart(series, subject)
    caption = [*held("disk", series, subject.study), alike(series, labels("disk", series, subject.study), subject)]
    keys = tuple(_keys(rows, series, named("disk", series, subject.study)))
    return Figure(title, rows.draw(), keys, paragraph(caption), disk_question() if answer else "", answer)


def disk_chart(series: Sequence[Series], subject: Subject) -> Rows:
    """The picture alone, the slowest tier first."""
    ordered = _slowest_first({disk_of(run.configuration) for one in series for run in one.runs}, subject)
    unit, predicted = rates_axis(subject.unit), _predicted(ordered, series, subject)
    rows = tuple(_row(name, series, predicted, subject) for name in ordered)
    label = _("Throughput against {axis}", axis=axis_name("disk"))
    return Rows(f"{label}, {unit}", unit, rows, described(series, subject))


def _keys(rows: Rows, series: Sequence[Series], names: Sequence[str]) -> Iterator[Key]:
    """What each mark of the picture means; `names` are those of the series."""
    alone = sum(not one.is_light for one in series) == 1
    for index, (one, name) in enumerate(zip(series, names, strict=True)):
        if any(map(results.measured, one.runs)):
            yield series_key(index, name, series_class(index, alone, one.is_light), has_intervals([one]))
    if _shows_first_epochs(series):
        yield key("bar", _("first epoch, from the disk"), series_class(1))
    if any(bar.predicted is not None for bar in rows.bars):
        yield key("model of a bar", _("model, 90 % for a new run"), series_class(0, alone) if alone else "neutral")
    if any(bar.failures for bar in rows.bars):
        yield key("failed", _("failed run"))
    if rows.shows_ceilings:
        yield key("ceiling", _("what the disk is enough for"))


def _row(name: str, series: Sequence[Series], predicted: PredictedRates, subject: Subject) -> Row:
    is_answer = subject.spec is not None and subject.spec.disk == name
    word = answer_word(subject.answer, "disk") if subject.answer is not None and is_answer else ""
    title = study_disk(name, subject.study) + (f" – {word}" if word else "")
    allowed = disk_allows(name, subject)
    enough = disk_ceiling(allowed, subject.unit) if allowed is not None else ""
    return Row(
        name=title,
        bars=(*(_bar(name, one, predicted, subject) for one in series), *_first_epochs(name, series, subject)),
        figures=_figures(name, enough, subject),
        is_answer=is_answer,
        ceiling=allowed,
        ceiling_title=_("{disk}: {enough}", disk=title, enough=enough) if enough else "",
    )


def alike(series: Sequence[Series], names: Sequence[str], subject: Subject) -> str:
    """The disks that the runs of a series do not tell apart; `names` are those of the series, '' of one alone."""
    places, disks = dict[str, Configuration](), dict[str, Sequence[str]]()
    for one, name in zip(series, names, strict=True):
        if one.base is not None and is_modelled(one, subject):
            places[name] = one.base
            disks[name] = _slowest_first({disk_of(r.configuration) for r in one.runs if results.measured(r)}, subject)
    return disks_alike(places, disks, subject)


def _slowest_first(names: set[str], subject: Subject) -> list[str]:
    def order(name: str) -> tuple[float, str]:
        rate = rates_of(name, subject).read_bytes_per_second
        return (rate if rate is not None else math.inf), name

    return sorted(names, key=order)


def _shows_first_epochs(series: Sequence[Series]) -> bool:
    """Whether runs leave the page cache to itself: their first epoch is cold, and their rate that of later ones."""
    return len(series) == 1 and any(_first_epoch(run) is not None for run in series[0].runs)


def _first_epochs(name: str, series: Sequence[Series], subject: Subject) -> Iterator[Bar]:
    if _shows_first_epochs(series):
        rate = results.middle(_first_epoch(run) for run in series[0].runs if run.configuration.disk == name)
        yield Bar(rate, rate_in_words(rate, subject.unit) if rate is not None else "")


def _first_epoch(run: Run) -> float | None:
    natural = run.spec.workload.assumed_cache == "natural" and results.measured(run)
    return run.rate.first_epoch_throughput if natural else None


def _bar(name: str, series: Series, predicted: PredictedRates, subject: Subject) -> Bar:
    runs = [run for run in series.runs if run.configuration.disk == name]
    points = run_points(runs, "disk", subject)
    rate = measured_rate([point.value for point in points]).value if points else None
    modelled = runs and is_modelled(series, subject)
    return Bar(
        throughput=rate,
        rate=rate_in_words(rate, subject.unit) if rate is not None else "",
        points=points,
        failures=failure_marks(runs, "disk", subject),
        predicted=predicted.get(replace(series.base, disk=name)) if modelled and series.base is not None else None,
    )


def _predicted(names: Sequence[str], series: Sequence[Series], subject: Subject) -> PredictedRates:
    """Of each disk with what each series that the model speaks of has else."""
    bases = [one.base for one in series if one.base is not None and is_modelled(one, subject)]
    if subject.model is None:
        return {}
    places = [replace(base, disk=name) for base in bases for name in names]
    points = zip(places, predicted_points(subject.model, places), strict=True)
    return {place: point.value for place, point in points if point is not None}


def _figures(name: str, enough: str, subject: Subject) -> tuple[str, ...]:
    """What the tier declares, what fio measured on it, and what that is enough for."""
    check, tier = subject.check(name), subject.tier(name)
    declared, sources = "", []
    if tier is not None and tier.emulated is not None:
        declared = _("declared {rates}", rates=reading_in_words(tier.emulated))
    if check is not None and check.measured != DiskRates():
        sources.append(_("fio {rates}", rates=reading_in_words(check.measured)))
    sources += [enough] if enough else []
    lines = tuple(filter(None, (declared, clauses(sources))))
    if lines or subject.study.imported:  # nobody could have measured the disks of a table with fio
        return lines
    return (_("where the data already lay") if name == HOST_DISK else _("not measured by fio"),)


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
        if not (apart and _ran_apart(*(subject.measured_at(configuration) for configuration in both)))
    }
    by_group: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name in places:
        for group in _groups(disks[name], {pair for where, pair in alike if where == name}):
            by_group[group].append(name)
    return paragraph(
        disks_not_told_apart(
            [study_disk(disk, subject.study) for disk in group], where if len(where) < len(places) else []
        )
        for group, where in by_group.items()
    )


def _ran_apart(one: Estimate | None, other: Estimate | None) -> bool:
    """Whether the runs' own rates differ clearly; where one was not measured, nothing speaks against it."""
    return one is None or other is None or one.high < other.low or other.high < one.low


def _groups(disks: Sequence[str], alike: set[tuple[str, str]]) -> list[tuple[str, ...]]:
    """Neighbours of which no two are told apart, the longest such rows of them."""
    groups: list[tuple[str, ...]] = []
    for first in range(len(disks)):
        group = [disks[first]]
        for disk in disks[first + 1 :]:
            if not all((member, disk) in alike for member in group):
                break
            group.append(disk)
        if len(group) > 1 and not any(set(group) <= set(larger) for larger in groups):
            groups.append(tuple(group))
    return groups
