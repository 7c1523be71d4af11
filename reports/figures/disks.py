"""Throughput by disk tier, what disk and accelerator would allow alone, and whether a faster disk would help."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from statistics import median

from sizer.model.edge import gain, tells_apart
from sizer.model.equation import as_good
from sizer.model.model import disk_of, gpus_of, memory_of, name_of_disk, vcpus_of
from sizer.model.observations import measured_rate
from sizer.model.prediction import predict
from sizer.recommend.job_changes import disk_gain
from sizer.recommend.reasons import most_by_disk
from sizer.records.device import HOST_DISK, DiskRates
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Bottleneck, Configuration, Estimate
from sizer.records.run import Run
from sizer.records.units import RELATIVE
from sizer.words.answers import disk_answer as disk_answer_text
from sizer.words.answers import disk_question, disk_reading, disk_reads_nothing
from sizer.words.language import _, clauses, paragraph, rate_in_words, rates_axis
from sizer.words.names import resource_name
from sizer.words.page import (
    answer_word,
    axis_name,
    ceiling_named,
    disk_ceiling,
    disks_not_told_apart,
    reading_in_words,
    study_disk,
)

from .. import results
from ..charts.legend import Figure, Key, key, series_class, series_key
from ..charts.plot import Ceiling
from ..charts.rows import Bar, Row, Rows
from ..offers import place_of_answer
from ..subject import Subject
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


def ceilings(axis: str, runs: Iterable[Run], subject: Subject) -> tuple[Ceiling, ...]:
    """Those that are the same for all of these runs along the axis, the accelerator's first.

    What a disk allows changes with what the page cache serves, so a memory axis has no line of it, and what an
    accelerator allows changes with the batch.
    """
    runs = list(runs)
    limits = [_accelerator(runs, subject)] if axis in ("vcpus", "memory_bytes") else []
    limits += [_disk(runs, subject)] if axis == "vcpus" else []
    return tuple(limit for limit in limits if limit is not None)


def disk_allows(name: str, subject: Subject, memory_bytes: int | None = None) -> float | None:
    """Samples per second that a tier gives at what the runs, or those with so much memory, need of it; None
    where that is not known, or where the page cache serves another share of them with each of several memory sizes.

    By what fio measured, or by what the tier declares where that was not measured.
    """
    sizes = {memory_of(run.configuration) for run in _on_disk(name, subject)}
    if memory_bytes is None and len(sizes) > 1 and all(map(_feeds_from_cache, _on_disk(name, subject))):
        return None
    needed, rates = needs(name, memory_bytes, subject), rates_of(name, subject)
    most = {
        "read_bytes": rates.read_bytes_per_second,
        "read_ios": rates.read_iops,
        "written_bytes": rates.write_bytes_per_second,
        "write_ios": rates.write_iops,
    }
    return min((rate / needed[key] for key, rate in most.items() if rate and key in needed), default=None)


def needs(name: str, memory_bytes: int | None, subject: Subject) -> dict[str, float]:
    """What a sample cost the runs of the whole job on that disk in the median, by the fields of a demand that were
    accounted; with a memory size, those that had it."""
    runs = [run for run in _on_disk(name, subject) if memory_bytes in (None, memory_of(run.configuration))]
    costs: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for field, value in vars(run.demand).items() if run.demand is not None else ():
            if value:
                costs[field].append(value)
    return {field: median(values) for field, values in costs.items()}


def _feeds_from_cache(run: Run) -> bool:
    """Whether the page cache serves what it can of a run's data."""
    return run.spec.workload.assumed_cache == "natural"


def _on_disk(name: str, subject: Subject) -> list[Run]:
    return [run for run in subject.of_the_job if disk_of(run.configuration) == name]


def rates_of(name: str, subject: Subject) -> DiskRates:
    """What a tier gives: as measured, else as declared; nothing where neither is known."""
    check, tier = subject.check(name), subject.tier(name)
    if check is not None:
        return check.rates
    return (tier.emulated if tier is not None else None) or DiskRates()


def _accelerator(runs: list[Run], subject: Subject) -> Ceiling | None:
    """Of a single one of one kind: how several work together is fitted, and no ceiling."""
    if len({(run.configuration.gpu, run.configuration.gpu_count) for run in runs}) > 1:
        return None
    devices = {run.spec.device for run in runs}
    if len(devices) > 1 and subject.device.batch_rates:
        return None
    rate = (devices.pop() if subject.device.batch_rates and devices else subject.device).samples_per_second
    if rate is None and subject.model is not None:
        rate = subject.model.facts.accelerator_rate
    if rate is None or any(gpus_of(run.configuration) > 1 for run in runs):
        return None
    name = resource_name(Bottleneck.ACCELERATOR, subject.device)
    return Ceiling(rate, ceiling_named(name, rate, subject.unit))


def _disk(runs: list[Run], subject: Subject) -> Ceiling | None:
    names = {disk_of(run.configuration) for run in runs}
    sizes = {memory_of(run.configuration) for run in runs} if all(map(_feeds_from_cache, runs)) else {None}
    if len(names) != 1 or len(sizes) > 1:
        return None
    name = names.pop()
    rate = disk_allows(name, subject, sizes.pop())
    if rate is None:
        return None
    disk = _("disk {name}", name=study_disk(name, subject.study))
    return Ceiling(rate, ceiling_named(disk, rate, subject.unit))


def disk_answer(subject: Subject) -> str:
    """What a faster disk would gain at the answer, and what the disk is asked for there; '' where nothing says it."""
    here = place_of_answer(subject)
    if here is None or subject.model is None:
        return ""
    try:
        gained = disk_gain(subject.model, here)
    except NoAnswer:
        return _by_other_disks(subject, here)
    if gained is None:
        return ""
    setting = subject.model.facts.feed
    if setting.input != "disk" or setting.cache == "warm":
        return disk_reads_nothing()
    most = most_by_disk(subject.model, here, predict(subject.model, here).throughput.high)
    most = min(most, max(gained.high, _left_open_by_runs(subject, here)))
    return paragraph([disk_answer_text(replace(gained, high=most)), _reading(subject, here)])


def _left_open_by_runs(subject: Subject, here: Configuration) -> float:
    """The most that runs on a better disk may have gained over those on this one, nearest to the answer; 0.0 of none.

    A model that knows what binds is surer than two runs that a busy host disturbed; a reader sees both.
    """
    assert subject.model is not None, "a place has a model"
    name, facts = disk_of(here), subject.model.facts
    own = rates_of(name, subject)
    others = [disk for disk in subject.model.measured.disks if name_of_disk(disk.name) != name]
    better = [disk.name for disk in others if as_good(facts, disk.rates, own)]
    gained: dict[float, float] = {}
    for configuration in {run.configuration for run in subject.of_the_job}:
        slow = subject.measured_at(configuration)
        if disk_of(configuration) != name or slow is None or slow.low <= 0:
            continue
        apart = abs(math.log(vcpus_of(configuration) / vcpus_of(here)))
        for disk in better:
            fast = subject.measured_at(replace(configuration, disk=disk))
            if fast is not None:
                gained[apart] = max(gained.get(apart, -math.inf), fast.high / slow.low - 1)
    return gained[min(gained)] if gained else 0.0


def _reading(subject: Subject, here: Configuration) -> str:
    """The scarcer of bytes and requests, as the runs on that disk needed them, at the rate of the answer.

    Those with its memory, where what the page cache serves changes with that.
    """
    assert subject.model is not None, "a place has a model"
    name, rates = disk_of(here), rates_of(disk_of(here), subject)
    needed = needs(name, here.memory_bytes if subject.model.facts.natural else None, subject)
    rate = _rate(subject, here)
    pairs = ((False, "read_bytes", rates.read_bytes_per_second), (True, "read_ios", rates.read_iops))
    asked = [
        (rate.value * needed[field] / given, rate.value * needed[field], given, by_requests)
        for by_requests, field, given in pairs
        if given and rate is not None and field in needed
    ]
    return disk_reading(*max(asked), subject.check(name) is not None) if asked else ""


def _rate(subject: Subject, here: Configuration) -> Estimate | None:
    """Measured there, else by the model; a relative one says nothing of bytes."""
    if subject.model is None or subject.unit == RELATIVE:
        return None
    return subject.measured_at(here) or predict(subject.model, here).throughput


def _by_other_disks(subject: Subject, here: Configuration) -> str:
    """Where no figures of disks are known: what the best of the others gives."""
    assert subject.model is not None, "a place has a model"
    gained: list[tuple[float, str, Estimate]] = []
    for disk in subject.model.measured.disks:
        name = name_of_disk(disk.name)
        with suppress(NoAnswer):
            other = gain(subject.model, here, replace(here, disk=disk.name)) if name != disk_of(here) else None
            gained += [(other.value, name, other)] if other is not None else []
    if not gained:
        return ""
    _value, name, most = max(gained, key=lambda one: one[0])
    return disk_answer_text(most, study_disk(name, subject.study))


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
