"""Whether the host drifted while the study was measured, as a picture over time with all its runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property

from sizer.model.runs import as_asked
from sizer.plan.run_order import DRIFT_SHARE, usual_band
from sizer.records.prediction import Estimate
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome, Purpose
from sizer.records.study import Study
from sizer.words.language import _, percent, rate_interval, row, small_share
from sizer.words.page import configuration_line, ending, runs_over_time, time_later, time_of_measuring
from sizer.words.warnings import drift_of_reference, drift_of_repeats

from .. import results
from ..charts.legend import Figure
from ..charts.plot import Line, PlaceMark, Plot, Point, Stretch
from ..charts.svg import readable
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
    has_drifted: bool
    """Whether the host drifted by more than the share that marks runs."""


@dataclass(frozen=True)
class Placed:
    """A run and where it lies on the axis: seconds of measuring, without the times at which the study stood still."""

    run: Run
    series: int | None
    began: datetime
    start: float
    end: float

    @property
    def rate(self) -> float:
        return self.run.throughput.value if self.run.throughput is not None else 0.0


@dataclass(frozen=True)
class History:
    """The runs whose time is known, as they followed each other, and where time was left out: place and seconds."""

    runs: tuple[Placed, ...]
    rests: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    study: Study

    @cached_property
    def clock(self) -> str:
        """How a time is written: with the date where there are several."""
        return "%H:%M UTC" if len({run.began.date() for run in self.runs}) == 1 else "%Y-%m-%d %H:%M UTC"

    def title(self, placed: Placed) -> str:
        """`09:12 UTC, train, 2 vCPUs · 4 GiB: 219 images/s, run 0a1b2c3d4e5f`."""
        run, rate = placed.run, placed.run.throughput
        return _(
            "{time}, {workload}, {configuration}: {result}, run {id}",
            time=placed.began.strftime(self.clock),
            workload=run.spec.workload.name,
            configuration=configuration_line(run.configuration, self.study),
            result=rate_interval(rate, run.sample_unit) if rate and results.measured(run) else ending(run),
            id=run.id,
        )


def drift(subjects: Sequence[Subject], study: Study) -> Drift | None:
    """By the configuration that was measured again through the study; else by repeats; None where neither is known."""
    history = _history(subjects, study)
    groups = _alike(history.runs)
    references = [group for group in groups if any(one.run.spec.purpose is Purpose.REFERENCE for one in group)]
    if references:
        return _of_reference(max(references, key=len), history)
    return _of_repeats(groups, history) if groups else None


def _history(subjects: Sequence[Subject], study: Study) -> History:
    """Their runs in the order of their start."""
    subjects = [subject for subject in subjects if subject.runs]
    dated = [
        (began, number if len(subjects) <= MOST_WORKLOADS else None, run)
        for number, subject in enumerate(subjects)
        for run in subject.runs
        if (began := _began(run.started_at)) is not None
    ]
    dated.sort(key=lambda entry: entry[0])
    placed, rests = list[Placed](), list[tuple[float, float]]()
    left_out, last = 0.0, 0.0
    for began, series, run in dated:
        since = (began - dated[0][0]).total_seconds()
        if since - last > REST:
            rests.append((last - left_out, since - last))
            left_out += since - last
        placed.append(Placed(run, series, began, since - left_out, since - left_out + run.wall_seconds))
        last = max(last, since + run.wall_seconds)
    names = tuple(subject.name for subject in subjects)
    return History(tuple(placed), tuple(rests), names, study)


def _began(text: str | None) -> datetime | None:
    """None for a time that no calendar has, which a table may hold; one that names no zone is taken for UTC."""
    try:
        moment = datetime.fromisoformat((text or "").replace("Z", "+00:00"))
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)


def _alike(runs: Sequence[Placed]) -> list[list[Placed]]:
    """Runs at the same place, measured in the same way, that gave a rate; only where there are several."""
    asked = set(map(id, as_asked([one.run for one in runs])))
    groups: dict[object, list[Placed]] = {}
    for one in runs:
        run = one.run
        if id(run) in asked and results.measured(run) and one.rate > 0:
            groups.setdefault((run.spec.workload, run.configuration, run.declared.machine), []).append(one)
    return [group for group in groups.values() if len(group) > 1]


def _of_reference(reference: Sequence[Placed], history: History) -> Drift:
    rates = [one.rate for one in reference]
    middle = statistics.median(rates)
    low, high = (100 * end / middle for end in usual_band(rates))
    run, spread = reference[0].run, max(rates) / min(rates) - 1
    where = row([run.spec.workload.name, configuration_line(run.configuration, history.study)])
    again = _("measured again: {configuration}", configuration=readable(where, 2 * LONGEST_NAME))
    figure = _figure([(one, middle) for one in reference], (low, high), again, history)
    drifted = spread > DRIFT_SHARE
    return Drift(figure, drift_of_reference(drifted, len(rates), min(rates), max(rates), run.sample_unit), drifted)


def _of_repeats(groups: Sequence[Sequence[Placed]], history: History) -> Drift:
    points = [(one, statistics.median(other.rate for other in group)) for group in groups for one in group]
    apart = [max(one.rate for one in group) / min(one.rate for one in group) - 1 for group in groups]
    name = _("repeats, each against the median of its configuration")
    figure = _figure(points, (100 - HALF_BAND, 100 + HALF_BAND), name, history)
    return Drift(figure, drift_of_repeats(len(groups), statistics.median(apart), max(apart)), has_drifted=False)


def _figure(points: Sequence[tuple[Placed, float]], band: tuple[float, float], name: str, history: History) -> Figure:
    """Points with the rate that each is compared with, over the strip of all runs; `name` is that of the first series
    in the legend."""
    unit, x_label = time_of_measuring(max(one.end for one in history.runs))
    drawn = {id(placed) for placed, _middle in points}
    series: dict[int, list[Point]] = {}
    for placed, middle in points:
        series.setdefault(placed.series or 0, []).append(_point(placed, middle, history))
    first = min(series)
    coloured = len(history.names) <= MOST_WORKLOADS
    named = [_("runs of {workload}", workload=readable(own, LONGEST_NAME)) for own in history.names]
    return Plot(
        title=_("Drift of the host"),
        x_label=x_label,
        y_label=_("% of the median"),
        unit=unit,
        lines=tuple(
            Line(tuple(series[index]), name=name if index == first else "", series=index) for index in sorted(series)
        ),
        marks=tuple(PlaceMark(place, time_later(seconds)) for place, seconds in history.rests),
        band=band,
        usual=_("within {share} of each other", share=percent(DRIFT_SHARE)),
        strip=tuple(_stretch(one, history, id(one) in drawn) for one in history.runs),
        strips=tuple(enumerate(named)) if coloured else ((None, _("runs")),),
        description=runs_over_time(len(history.runs), len(points), len(history.rests)),
    ).figure()


def _point(placed: Placed, middle: float, history: History) -> Point:
    rate = placed.run.throughput
    assert rate is not None, "only runs with a rate are compared"
    value = Estimate(100 * rate.value / middle, 100 * rate.low / middle, 100 * rate.high / middle)
    title = _("{run}; {share} of the median", run=history.title(placed), share=small_share(rate.value / middle))
    return Point((placed.start + placed.end) / 2, value, title)


def _stretch(placed: Placed, history: History, is_point: bool) -> Stretch:
    """A run that is drawn as a point says there what it is."""
    title = "" if is_point else history.title(placed)
    return Stretch(placed.start, placed.end, title, placed.series, failed=placed.run.outcome is not Outcome.COMPLETED)
