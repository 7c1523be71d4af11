"""Whether the host drifted while the study was measured, as a picture over time with all its runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property

from sizer.model.runs import as_asked
from sizer.plan.reference_runs import DRIFT_SHARE, usual_band
from sizer.records.configuration import Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Study
from sizer.words.language import _, percent, rate_interval, row, small_share
from sizer.words.page import configuration_line, ending, runs_over_time, time_later, time_of_measuring
from sizer.words.warnings import drift_of_reference, drift_of_repeats

from .. import results
from ..charts import legend
from ..charts.legend import Figure, Key
from ..charts.svg import readable
from ..charts.times import Break, Moment, Stretch, Times
from ..subject import Subject

REST = 600.0
"""Seconds without a run from which on it is said that the study stood still; the picture leaves such a time out."""
MOST_WORKLOADS = 4
"""Workloads that have a colour each, as there are so many; of more, all are neutral."""
LONGEST_NAME = 60
"""Characters of a name under the picture."""
HALF_BAND = 100 * DRIFT_SHARE / 2
"""Half of the width, in percent, within which a host has not drifted."""


@dataclass(frozen=True)
class Drift:
    """The picture, and what it shows in a sentence or two."""

    figure: Figure
    sentence: str
    found: bool
    """Whether the host drifted by more than the share that marks runs."""


@dataclass(frozen=True)
class Placed:
    """A run and where it lies on the axis: seconds of measuring, without the times at which the study stood still."""

    run: Run
    series: int | None
    began: datetime
    start: float
    end: float


@dataclass(frozen=True)
class History:
    """The runs whose time is known, as they followed each other, and where time was left out: place and seconds."""

    runs: tuple[Placed, ...]
    rests: tuple[tuple[float, float], ...]
    study: Study

    @cached_property
    def on_one_day(self) -> bool:
        return len({each.began.date() for each in self.runs}) == 1

    def clock(self, placed: Placed) -> str:
        """`09:12 UTC`, with the date where there are several."""
        return placed.began.strftime("%H:%M UTC" if self.on_one_day else "%Y-%m-%d %H:%M UTC")

    def title(self, placed: Placed) -> str:
        """`09:12 UTC, train, 2 vCPUs · 4 GiB: 219 images/s, run 0a1b2c3d4e5f`."""
        run = placed.run
        where = configuration_line(run.configuration, self.study)
        rate = run.throughput
        came_out = rate_interval(rate, run.sample_unit) if rate and results.measured(run) else ending(run.outcome)
        return _(
            "{time}, {workload}, {configuration}: {result}, run {id}",
            time=self.clock(placed),
            workload=run.spec.workload.name,
            configuration=where,
            result=came_out,
            id=run.id,
        )


def drift(found: Sequence[Subject], study: Study) -> Drift | None:
    """By the configuration that was measured again through the study; else by repeats; None where neither is known."""
    history = _history(found, study)
    groups = _alike(history.runs)
    references = [group for group in groups if any(each.run.spec.purpose is Purpose.REFERENCE for each in group)]
    if references:
        return _of_reference(max(references, key=len), history, found)
    return _of_repeats(groups, history, found) if groups else None


def _history(found: Sequence[Subject], study: Study) -> History:
    """Their runs in the order of their start."""
    subjects = [subject for subject in found if subject.runs]
    known = [
        (began, number if len(subjects) <= MOST_WORKLOADS else None, run)
        for number, subject in enumerate(subjects)
        for run in subject.runs
        if (began := _began(run.started_at)) is not None
    ]
    known.sort(key=lambda each: each[0])
    placed, rests = list[Placed](), list[tuple[float, float]]()
    left_out, last = 0.0, 0.0
    for began, series, run in known:
        since = (began - known[0][0]).total_seconds()
        if since - last > REST:
            rests.append((last - left_out, since - last))
            left_out += since - last
        placed.append(Placed(run, series, began, since - left_out, since - left_out + run.wall_seconds))
        last = max(last, since + run.wall_seconds)
    return History(tuple(placed), tuple(rests), study)


def _began(text: str | None) -> datetime | None:
    """None for a time that no calendar has, which a table may hold; one that names no zone is taken for UTC."""
    try:
        found = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)


def _alike(runs: Sequence[Placed]) -> list[list[Placed]]:
    """Runs at the same place, measured in the same way, that gave a rate; only where there are several."""
    asked = set(map(id, as_asked([each.run for each in runs])))
    groups: dict[object, list[Placed]] = {}
    for each in runs:
        run = each.run
        if id(run) in asked and results.measured(run) and run.throughput is not None and run.throughput.value > 0:
            groups.setdefault((run.spec.workload, run.configuration, run.machine), []).append(each)
    return [group for group in groups.values() if len(group) > 1]


def _of_reference(reference: Sequence[Placed], history: History, found: Sequence[Subject]) -> Drift:
    rates = _rates(reference)
    middle = statistics.median(rates)
    low, high = (100 * end / middle for end in usual_band(rates))
    run, spread = reference[0].run, max(rates) / min(rates) - 1
    where = row([run.spec.workload.name, configuration_line(run.configuration, history.study)])
    again = _("measured again: {configuration}", configuration=readable(where, 2 * LONGEST_NAME))
    key = legend.series(reference[0].series or 0, again, alone=False)
    figure = _figure([(each, middle) for each in reference], (low, high), key, history, found)
    drifted = spread > DRIFT_SHARE
    return Drift(figure, drift_of_reference(drifted, len(rates), min(rates), max(rates), run.sample_unit), drifted)


def _of_repeats(groups: Sequence[Sequence[Placed]], history: History, found: Sequence[Subject]) -> Drift:
    points = [(each, statistics.median(_rates(group))) for group in groups for each in group]
    apart = [max(_rates(group)) / min(_rates(group)) - 1 for group in groups]
    key = legend.series(0, _("repeats, each against the median of its configuration"), alone=False)
    points.sort(key=lambda point: point[0].start)
    figure = _figure(points, (100 - HALF_BAND, 100 + HALF_BAND), key, history, found)
    return Drift(figure, drift_of_repeats(len(groups), statistics.median(apart), max(apart)), found=False)


def _rates(runs: Sequence[Placed]) -> list[float]:
    return [each.run.throughput.value for each in runs if each.run.throughput is not None]


def _figure(
    points: Sequence[tuple[Placed, float]],
    band: tuple[float, float],
    key: Key,
    history: History,
    found: Sequence[Subject],
) -> Figure:
    """Points with the rate that each is compared with, over the strip of all runs."""
    title = _("Drift of the host")
    unit, x_label = time_of_measuring(max(each.end for each in history.runs))
    drawn = {id(placed) for placed, _middle in points}
    plot = Times(
        label=title,
        x_label=x_label,
        y_label=_("% of the median"),
        unit=unit,
        moments=tuple(_moment(placed, middle, history) for placed, middle in points),
        stretches=tuple(_stretch(each, history, id(each) in drawn) for each in history.runs),
        band=band,
        breaks=tuple(Break(place, time_later(seconds)) for place, seconds in history.rests),
        description=runs_over_time(len(history.runs), len(points), len(history.rests)),
    )
    return Figure(title, plot.draw(), (key, *_keys(history, found)))


def _moment(placed: Placed, middle: float, history: History) -> Moment:
    rate = placed.run.throughput
    assert rate is not None
    value = Estimate(100 * rate.value / middle, 100 * rate.low / middle, 100 * rate.high / middle)
    title = _("{run}; {share} of the median", run=history.title(placed), share=small_share(rate.value / middle))
    return Moment((placed.start + placed.end) / 2, value, title, placed.series or 0)


def _stretch(placed: Placed, history: History, is_point: bool) -> Stretch:
    """A run that is drawn as a point says there what it is."""
    title = "" if is_point else history.title(placed)
    return Stretch(placed.start, placed.end, title, placed.series, failed=placed.run.outcome is not Outcome.COMPLETED)


def _keys(history: History, found: Sequence[Subject]) -> list[Key]:
    """The band, the runs of each workload, and what failed."""
    keys = [legend.usual(_("within {share} of each other", share=percent(DRIFT_SHARE)))]
    names = [subject.name for subject in found if subject.runs]
    if len(names) <= MOST_WORKLOADS:
        shown = [_("runs of {workload}", workload=readable(name, LONGEST_NAME)) for name in names]
        keys += [legend.stretch(index, text) for index, text in enumerate(shown)]
    else:
        keys.append(legend.stretch(None, _("runs")))
    failed = any(each.run.outcome is not Outcome.COMPLETED for each in history.runs)
    return [*keys, legend.failed()] if failed else keys
