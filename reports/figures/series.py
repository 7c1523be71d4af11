"""Which runs share a line in a chart: those that differ along one axis only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sizer.model.model import WorkloadModel, batch_of, disk_of, memory_of, vcpus_of
from sizer.model.prediction import outside, throughputs_or_none
from sizer.model.runs import label_of
from sizer.records.prediction import Configuration
from sizer.records.run import Run
from sizer.records.study import Study
from sizer.records.units import format_bytes
from sizer.words.answers import machine_rented
from sizer.words.language import _, rate_interval, row, vcpus_in_words
from sizer.words.names import accelerators_in_words, batch_named
from sizer.words.page import cache_named, chart_described, ending, input_named, study_disk

from .. import results
from ..charts.plot import CurvePoint, FailureMark, Point
from ..subject import Subject

AXES = ("vcpus", "memory_bytes", "disk", "batch_size")
_CONDITIONS = (*AXES, "accelerators", "machine", "input", "cache")


@dataclass(frozen=True)
class Series:
    """Runs along one axis. `base` is the configuration that the axis is varied around; None where there is none.

    `reach` are places on the axis that other runs had, over which the model speaks of this series too; `is_light` one
    that stands beside what a picture is about.
    """

    runs: tuple[Run, ...]
    base: Configuration | None
    input: str = "disk"
    cache: str = "cold"
    reach: tuple[float, ...] = ()
    is_light: bool = False


def varied_axes(runs: Sequence[Run]) -> tuple[str, ...]:
    """The axes along which the runs have two or more values; a row of a table may not say one."""
    return tuple(axis for axis in AXES if len({getattr(run.configuration, axis) for run in runs} - {None}) > 1)


def along(axis: str, runs: Sequence[Run]) -> tuple[Series, ...]:
    """One series for each set of runs that differ along `axis` alone, longest first, then what is alone everywhere.

    Every run that says an axis that was varied is in a series of one, so that no measurement is left off the page.
    """
    own = [run for run in runs if getattr(run.configuration, axis) is not None]
    conditions = [tuple(_condition(run, name) for name in _CONDITIONS) for run in own]
    slices = sorted(_slices(axis, own, conditions), key=lambda group: -_distinct(axis, group))
    joined = {id(run) for other in AXES for group in _slices(other, own, conditions) for run in group}
    alone = tuple(run for run in own if id(run) not in joined)
    return (*map(_series, slices), *([Series(alone, None)] if alone else []))


def at_answer(axis: str, series: Series, runs: Sequence[Run], here: Configuration) -> Series | None:
    """What differs from that series in having the other demands of the answer, which is `here`; None where no run has
    them or it has them itself. Its memory is often between or below what was measured, so without it if need be."""
    if series.base is None:
        return None
    stated = {name: getattr(here, name) for name in AXES if name != axis and getattr(here, name) is not None}
    without_memory = {name: value for name, value in stated.items() if name != "memory_bytes"}
    for demands in (stated, without_memory):
        wanted = {name: demands.get(name, _condition(series.runs[0], name)) for name in _others(axis)}
        own = tuple(
            run
            for run in runs
            if getattr(run.configuration, axis) is not None
            and all(_condition(run, name) == value for name, value in wanted.items())
        )
        base = replace(series.base, **demands)
        if own:
            return Series(own, base, series.input, series.cache) if base != series.base else None
    return None


def labels(axis: str, series: Sequence[Series], study: Study) -> tuple[str, ...]:
    """What distinguishes series in one picture: the conditions in which they differ; '' for one that is alone."""
    with_base = [one for one in series if one.base is not None]
    differing = [name for name in _others(axis) if len({_condition(one.runs[0], name) for one in with_base}) > 1]
    return tuple(
        row(_words(name, one.runs[0], study) for name in differing)
        if one.base is not None
        else _("other configurations")
        for one in series
    )


def named(axis: str, series: Sequence[Series], study: Study) -> list[str]:
    """What each is called in the legend: by what distinguishes it, else by what its points are."""
    sure = has_intervals(series)
    return [
        label or (_("measured run, 95 % interval") if sure else _("measured run"))
        for label in labels(axis, series, study)
    ]


def held(axis: str, series: Sequence[Series], study: Study) -> list[str]:
    """What holds for every run of these series, as a sentence: 'At 4 GiB memory, ssd (emulated), batch 32.'; none where
    nothing does."""
    runs = [run for one in series for run in one.runs]
    fixed = [name for name in AXES if name != axis and len({_condition(run, name) for run in runs}) == 1]
    words = row(_words(name, runs[0], study) for name in fixed if getattr(runs[0].configuration, name) is not None)
    return [_("At {fixed}.", fixed=words)] if words else []


def held_fixed(place: Configuration, study: Study) -> str:
    """What a configuration says, in words: '4 GiB memory, batch 32'."""
    conditions = [_place_words(name, place, study) for name in AXES if getattr(place, name) is not None]
    conditions += [accelerators_in_words(place)] if accelerators_in_words(place) else []
    return row(conditions)


def _slices(axis: str, runs: Sequence[Run], conditions: Sequence[tuple[object, ...]]) -> list[list[Run]]:
    """Those that differ along the axis, and in no other of their conditions."""
    place = _CONDITIONS.index(axis)
    groups: dict[tuple[object, ...], list[Run]] = defaultdict(list)
    for run, values in zip(runs, conditions, strict=True):
        groups[values[:place] + values[place + 1 :]].append(run)
    return [group for group in groups.values() if _distinct(axis, group) > 1]


def _distinct(axis: str, runs: Sequence[Run]) -> int:
    return len({_condition(run, axis) for run in runs})


def _series(group: Sequence[Run]) -> Series:
    workload = group[0].spec.workload
    return Series(tuple(group), group[0].configuration, workload.assumed_input, workload.assumed_cache)


def _others(axis: str) -> tuple[str, ...]:
    return tuple(name for name in _CONDITIONS if name != axis)


def _condition(run: Run, name: str) -> object:
    if name in ("input", "cache"):
        return getattr(run.spec.workload, f"assumed_{name}")
    if name == "accelerators":
        return run.configuration.gpu, run.configuration.gpu_count
    if name == "machine":  # whose CPU computed, where a table has its name in the place of its vCPUs
        named = run.declared.machine is not None and run.configuration.vcpus is None and label_of(run) is None
        return run.declared.machine.name if named and run.declared.machine is not None else None
    return getattr(run.configuration, name)


def _words(name: str, run: Run, study: Study) -> str:
    workload = run.spec.workload
    if name == "input":
        return input_named(workload.assumed_input)
    if name == "cache":
        return cache_named(workload.assumed_cache)
    if name == "accelerators":
        return accelerators_in_words(run.configuration) or _("no accelerator")
    return machine_rented(run.declared.machine) if name == "machine" else _place_words(name, run.configuration, study)


def _place_words(name: str, place: Configuration, study: Study) -> str:
    return {
        "vcpus": vcpus_in_words(vcpus_of(place)),
        "memory_bytes": _("{size} memory", size=format_bytes(memory_of(place))),
        "disk": study_disk(disk_of(place), study),
        "batch_size": batch_named(batch_of(place)),
    }[name]


def run_points(runs: Iterable[Run], axis: str, subject: Subject) -> tuple[Point, ...]:
    """Runs that gave a rate; on the disk axis, which has no numbers, all are at 0."""
    return tuple(
        Point(place_on(run, axis), run.throughput, mark_title(run, subject))
        for run in runs
        if results.measured(run) and run.throughput is not None
    )


def failure_marks(runs: Iterable[Run], axis: str, subject: Subject) -> tuple[FailureMark, ...]:
    """Runs that gave none, with the word of their outcome."""
    return tuple(
        FailureMark(place_on(run, axis), ending(run), mark_title(run, subject))
        for run in runs
        if not results.measured(run)
    )


def measured_places(series: Series, axis: str) -> list[float]:
    """Where on the axis its runs gave a rate, one for each of them."""
    return [place_on(run, axis) for run in series.runs if results.measured(run)]


def place_on(run: Run, axis: str) -> float:
    return 0.0 if axis == "disk" else float(getattr(run.configuration, axis))


def mark_title(run: Run, subject: Subject) -> str:
    """What pointing at a mark shows."""
    where = subject.place_named(run.configuration)
    if run.throughput is not None and results.measured(run):
        came_out = rate_interval(run.throughput, subject.unit)
    else:
        came_out = ending(run)
    return _("{configuration}: {result}, run {id}", configuration=where, result=came_out, id=run.id)


def is_modelled(series: Series, subject: Subject) -> bool:
    """Whether the model speaks of these runs: of the workload as asked for, not of runs that isolate one stage."""
    if subject.model is None or series.base is None:
        return False
    asked = subject.plan.workload if subject.plan is not None else None
    return asked is None or (series.input, series.cache) == (asked.assumed_input, asked.assumed_cache)


POINTS = 30
"""Enough for a smooth line on 350 pixels, with the measured places between them."""


def grid(low: float, high: float, logarithmic: bool, also: Sequence[float] = ()) -> list[float]:
    """Evenly spread places from low to high, and those in `also` that lie between."""
    steps = [index / (POINTS - 1) for index in range(POINTS)]
    spread = [low * (high / low) ** step if logarithmic else low + (high - low) * step for step in steps]
    return sorted({*spread, *(value for value in also if low <= value <= high)})


def segments(
    model: WorkloadModel, base: Configuration, axis: str, places: Sequence[float]
) -> tuple[tuple[CurvePoint, ...], ...]:
    """Unbroken stretches of the model's line; it breaks where a run would not complete or the model has no answer.

    A stretch is either measured or extrapolated throughout; neighbours share the point where they meet. One point
    alone is where the model answers for a measured place but not for what lies around it.
    """
    stretches: list[list[CurvePoint]] = []
    last: CurvePoint | None = None
    points = predicted_points(model, [moved(base, axis, place) for place in places])
    for place, drawn in zip(places, points, strict=True):
        point = None if drawn is None else replace(drawn, x=place)
        if point is not None and last is None:
            stretches.append([point])
        elif point is not None and last is not None:
            if point.extrapolated and not last.extrapolated:
                stretches.append([replace(last, extrapolated=True)])
            stretches[-1].append(point)
            if last.extrapolated and not point.extrapolated:  # the step between the two is an extrapolated one
                stretches[-1][-1] = replace(point, extrapolated=True)
                stretches.append([point])
        last = point
    return tuple(map(tuple, stretches))


def predicted_points(model: WorkloadModel, configurations: Sequence[Configuration]) -> list[CurvePoint | None]:
    """The model at each, without their places on an axis; None where it has no answer or the run would not complete."""
    return [
        CurvePoint(0.0, throughput, outside(model, configuration) > 0) if throughput is not None else None
        for configuration, throughput in zip(configurations, throughputs_or_none(model, configurations), strict=True)
    ]


def moved(base: Configuration, axis: str, place: float) -> Configuration:
    """The configuration at another place of a continuous axis."""
    value: Any = place if axis == "vcpus" else round(place)
    return replace(base, **{axis: value})


def has_intervals(series: Sequence[Series]) -> bool:
    """Whether a run of them says how sure its rate is."""
    measured = [run.throughput for one in series for run in one.runs if results.measured(run)]
    return any(rate is not None and rate.has_interval for rate in measured)


def described(series: Sequence[Series], subject: Subject) -> str:
    """What was measured, for a reader who does not see the picture."""
    runs = [run for one in series for run in one.runs]
    rates = [run.throughput.value for run in runs if results.measured(run) and run.throughput is not None]
    failed = sum(not results.measured(run) for run in runs)
    if not rates:
        return ""
    return chart_described(len(rates), min(rates), subject.unit, max(rates), failed)
