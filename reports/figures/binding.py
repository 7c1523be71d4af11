"""What binds where: the time of a sample along an axis, and a map over vCPUs and disks or memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from sizer.model.prediction import predict_several
from sizer.records.prediction import Bottleneck, Configuration, Estimate, Prediction, Spec
from sizer.records.run import Run
from sizer.records.units import format_bytes, format_number
from sizer.words.language import _, clauses, paragraph, rates_axis, vcpus_in_words
from sizer.words.language import row as row_text
from sizer.words.names import disk_name, resource_name
from sizer.words.page import axis_name, bound_by, map_cell, map_read, place_named, stage_of_time, time_part

from ..charts.cells import Cell, Cells
from ..charts.legend import Figure, key
from ..charts.plot import Part, Pile
from ..subject import Subject
from .disks import disks_alike, rates_of
from .series import held_fixed, moved

Value = TypeVar("Value", float, str, int)

HUES = {
    Bottleneck.CPU: 0,
    Bottleneck.ACCELERATOR: 1,
    Bottleneck.DISK_BANDWIDTH: 2,
    Bottleneck.DISK_IOPS: 2,
    Bottleneck.DISK_WRITE: 2,
    Bottleneck.MEMORY: 3,
    Bottleneck.SERIAL: 4,
    Bottleneck.AMBIGUOUS: 5,
}
"""The colour and hatching of each resource, in the order in which they are piled up."""
LEAST = 0.005
"""Of a sample's time; less is not to be seen."""
MOST_PILES = 10
MOST_COLUMNS, MOST_ROWS = 6, 4
"""Of the map; of more values the smallest, the largest, the answer's and some between."""
FEWEST = 4
"""Places below which a map shows no more than a chart does."""


def piles(axis: str, places: Sequence[float], base: Configuration, subject: Subject) -> tuple[Pile, ...]:
    """Where the model says that the time of a sample goes, at these places of the axis."""
    if subject.model is None:
        return ()
    some = thinned(sorted(set(places)), MOST_PILES, None)
    configurations = [moved(base, axis, place) for place in some]
    predictions = predict_several(subject.model, configurations)
    drawn = [
        (place, place_named(axis, configuration, subject.study), prediction)
        for place, configuration, prediction in zip(some, configurations, predictions, strict=True)
        if isinstance(prediction, Prediction) and not prediction.out_of_memory and prediction.shares
    ]
    return tuple(_pile(place, name, prediction, subject) for place, name, prediction in drawn)


def _pile(place: float, name: str, prediction: Prediction, subject: Subject) -> Pile:
    whole = 1 / prediction.throughput.value
    shares = {Bottleneck(key): share for key, share in prediction.shares.items()}
    parts = [
        Part(called, share * whole, hue, time_part(called, name, share * whole, whole, subject.unit, share))
        for called, share, hue in _stages(shares, subject)
        if share >= LEAST
    ]
    return Pile(place, tuple(parts))


def _stages(shares: Mapping[Bottleneck, float], subject: Subject) -> Iterator[tuple[str, float, int]]:
    """Name, share and colour of each stage, the lowest first; the CPU's apart where runs show what the step costs."""

    def called(bottleneck: Bottleneck, part: str) -> str:
        return stage_of_time(bottleneck, subject.device, kind, part)

    kind = subject.model.facts.kind if subject.model is not None else ""
    for bottleneck in HUES:
        share = shares.get(bottleneck, 0.0)
        step = _step_share(subject) if bottleneck is Bottleneck.CPU else 0.0
        if step:
            yield called(bottleneck, "input"), share * (1 - step), HUES[bottleneck]
            compute = HUES[Bottleneck.ACCELERATOR]  # of the same colour as where an accelerator does it
            yield called(bottleneck, "step"), share * step, compute
        else:
            part = "input" if subject.device.kind != "cpu" else ""
            yield called(bottleneck, part), share, HUES[bottleneck]


def _step_share(subject: Subject) -> float:
    """Which part of the CPU's time is the step's own, where the CPU computes it and synthetic input showed it."""
    facts = subject.model.facts if subject.model is not None else None
    if facts is None or subject.device.kind != "cpu" or not facts.core_seconds or not facts.step_core_seconds:
        return 0.0
    return min(facts.step_core_seconds / facts.core_seconds, 1.0)


def binding_map(subject: Subject) -> Figure | None:
    """Throughput and what binds, over vCPUs and disks, or memory where one disk was measured; None where there is no
    such plane or no model of it."""
    measured = subject.of_the_job
    plane = _plane(measured, subject)
    if plane is None or subject.model is None:
        return None
    title = _("What binds, by vCPUs and {axis}", axis=axis_name(plane.axis))
    predictions = predict_several(subject.model, [configuration for _place, configuration in plane.places])
    predicted = {
        place: (prediction, subject.measured_at(configuration))
        for (place, configuration), prediction in zip(plane.places, predictions, strict=True)
        if isinstance(prediction, Prediction)
    }
    cells = {place: _cell(prediction, rate, plane, subject) for place, (prediction, rate) in predicted.items()}
    if len(cells) < FEWEST:
        return None
    drawn = Cells(
        label=f"{title}, {rates_axis(subject.unit)}",
        x_label=axis_name("vcpus"),
        columns=tuple(f"{vcpus:g}" for vcpus in plane.columns),
        rows=tuple(_row_named(plane.axis, row) for row in plane.rows),
        cells=cells,
        notes=tuple(_("emulated") if row.disk in subject.study.emulated_disks else "" for row in plane.rows)
        if plane.axis == "disk"
        else (),
        description=clauses(row_text(cell.title.split("\n")) for cell in cells.values()),
    )
    bound = {prediction.bottleneck for prediction, _rate in predicted.values()}
    keys = [key("part", resource_name(one, subject.device), f"hue-{hue}") for one, hue in HUES.items() if one in bound]
    keys += [key("measured cell", _("measured"))] if any(cell.measured for cell in cells.values()) else []
    keys += [key("modelled cell", _("by the model alone"))] if not all(cell.measured for cell in cells.values()) else []
    fixed = held_fixed(_without(plane.axis, plane.rows[0]), subject.study)
    read = map_read(rates_axis(subject.unit), fixed)
    return Figure(title, drawn.draw(), tuple(keys), paragraph([read, _alike(plane, subject)]))


def _alike(plane: Plane, subject: Subject) -> str:
    """The disks of the map that the runs do not tell apart."""
    if plane.axis != "disk":
        return ""
    names = [row.disk for row in plane.rows if row.disk is not None]
    places = {vcpus_in_words(vcpus): replace(plane.rows[0], vcpus=vcpus) for vcpus in plane.columns}
    return disks_alike(places, dict.fromkeys(places, names), subject)


@dataclass(frozen=True)
class Plane:
    """What a map spans: vCPUs from left to right, from top to bottom configurations that differ along another axis."""

    axis: str
    columns: tuple[float, ...]
    rows: tuple[Configuration, ...]
    answer: tuple[float | None, object] | None

    @property
    def places(self) -> list[tuple[tuple[int, int], Configuration]]:
        return [
            ((row, column), replace(configuration, vcpus=vcpus))
            for row, configuration in enumerate(self.rows)
            for column, vcpus in enumerate(self.columns)
        ]


def _plane(measured: Sequence[Run], subject: Subject) -> Plane | None:
    """Over disks, or memory where one disk was measured; of several such planes the one with most measured places, of
    equal ones that of the answer."""
    configurations = [run.configuration for run in measured if run.configuration.vcpus is not None]
    values = {axis: {getattr(place, axis) for place in configurations} - {None} for axis in ("disk", "memory_bytes")}
    axis = next((axis for axis, several in values.items() if len(several) > 1), None)
    if axis is None:
        return None
    spec = subject.spec
    planes = Counter(_without(axis, place) for place in dict.fromkeys(configurations))
    base = max(planes, key=lambda plane: (planes[plane], _agreeing(plane, spec)))
    if not _varied_apart(axis, [place for place in configurations if _without(axis, place) == base]):
        return None
    vcpus = sorted({place.vcpus for place in configurations if place.vcpus is not None})
    columns = thinned(vcpus, MOST_COLUMNS, spec.vcpus if spec is not None else None)
    ordered = sorted(
        values[axis], key=lambda value: (-value,) if axis == "memory_bytes" else (_slow(value, subject), value)
    )
    rows = [replace(base, **{axis: value}) for value in thinned(ordered, MOST_ROWS, getattr(spec, axis, None))]
    answer = (spec.vcpus, getattr(spec, axis)) if spec is not None else None
    return Plane(axis, tuple(columns), tuple(rows), answer) if len(columns) > 1 else None


def _varied_apart(axis: str, places: Sequence[Configuration]) -> bool:
    """Whether each of the two was varied while the other stayed; machines that grow in both show no plane."""
    along = Counter(getattr(place, axis) for place in set(places))
    across = Counter(place.vcpus for place in set(places))
    return max(along.values(), default=0) > 1 and max(across.values(), default=0) > 1


def _without(axis: str, place: Configuration) -> Configuration:
    """What all places of a plane have."""
    bare: dict[str, Any] = {"vcpus": None, axis: None}
    return replace(place, **bare)


def _agreeing(plane: Configuration, spec: Spec | None) -> int:
    """In how many things a plane has what the answer has."""
    names = ("memory_bytes", "disk", "batch_size", "gpu")
    return sum(spec is not None and getattr(plane, name) == getattr(spec, name) is not None for name in names)


def _slow(name: str, subject: Subject) -> float:
    """So that the fastest disk comes first, after those that nothing is known of."""
    rate = rates_of(name, subject).read_bytes_per_second
    return -rate if rate is not None else -math.inf


def _cell(prediction: Prediction, measured: Estimate | None, plane: Plane, subject: Subject) -> Cell:
    place, lost = prediction.configuration, prediction.out_of_memory
    return Cell(
        rate="–" if lost else format_number(prediction.throughput.value),
        measured=format_number(measured.value) if measured is not None else "",
        word=bound_by(prediction.bottleneck, subject.device),
        hue=HUES[prediction.bottleneck],
        title=map_cell(prediction, measured, subject.study, subject.device, subject.unit),
        is_answer=plane.answer == (place.vcpus, getattr(place, plane.axis)),
    )


def _row_named(axis: str, configuration: Configuration) -> str:
    if axis == "disk":
        return disk_name(configuration.disk or "")
    return format_bytes(configuration.memory_bytes or 0)


def thinned(values: Sequence[Value], most: int, kept: Value | None) -> list[Value]:
    """At most so many of the values, in their order: the first, the last, the one to be kept, and some between."""
    if len(values) <= most:
        return list(values)
    chosen = {round(index * (len(values) - 1) / (most - 1)) for index in range(most)}
    if kept in values and (place := values.index(kept)) not in chosen:
        nearest = min(chosen - {0, len(values) - 1}, key=lambda index: abs(index - place))
        chosen = chosen - {nearest} | {place}
    return [values[index] for index in sorted(chosen)]
