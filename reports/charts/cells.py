"""A map over two axes: what binds at each place by colour, hatching and word, and the throughput by number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from . import svg
from .svg import BOLD, cut, width

WIDTH, RIGHT, TOP = 420.0, 412.0, 6.0
MOST_NAME = 118.0
"""Pixels at most for the names at the left."""
WIDE = 1.15
"""How much wider than the mean the letters of such a name may be: at the edge there is nothing to flow into."""
HEIGHT, GAP, STRIP = 56.0, 3.0, 9.0
"""Pixels: of a cell, between two, and of the hatched strip that says by its pattern what binds."""


POINT = 12.0
"""Pixels of a point and of what lies between it and its number."""


@dataclass(frozen=True)
class Cell:
    """One place: its rate by the model, what binds in a word, the number of that colour and hatching; `measured` is
    what its runs gave, '' where none was made."""

    rate: str
    word: str
    hue: int
    title: str
    measured: str = ""
    is_answer: bool = False


@dataclass(frozen=True)
class Cells:
    """A map; `cells` are by (row, column), and a place without one is left empty. `notes` stand under names of rows."""

    label: str
    x_label: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[int, int], Cell]
    notes: tuple[str, ...] = ()
    description: str = ""

    def draw(self) -> Markup:
        left = min(max(width(name, WIDE) for name in (*self.rows, *self.notes)), MOST_NAME) + 18
        step = (RIGHT - left) / len(self.columns)
        bottom = TOP + (HEIGHT + GAP) * len(self.rows)
        names = [self._name(index, left) for index in range(len(self.rows))]
        ticks = [
            svg.text(cut(name, step - 2), left + step * (index + 0.5), bottom + 16, "tick")
            for index, name in enumerate(self.columns)
        ]
        cells = [
            _cell(cell, left + step * column, self._top(row), step - GAP)
            for (row, column), cell in sorted(self.cells.items(), key=lambda item: item[1].is_answer)
        ]
        axis = svg.text(self.x_label, (left + RIGHT) / 2, bottom + 37, "label")
        return svg.drawing(WIDTH, bottom + 48, self.label, *names, *ticks, axis, *cells, description=self.description)

    def _name(self, row: int, left: float) -> Markup:
        note = self.notes[row] if self.notes else ""
        height = self._top(row) + HEIGHT / 2 + (-3 if note else 4)
        parts = [svg.text(cut(self.rows[row], left - 18, WIDE), left - 10, height, "map-name", "end")]
        parts += [svg.text(cut(note, left - 18, WIDE), left - 10, height + 15, "tick", "end")] if note else []
        return svg.element("g", *parts)

    def _top(self, row: int) -> float:
        return TOP + (HEIGHT + GAP) * row


def _cell(cell: Cell, left: float, top: float, across: float) -> Markup:
    kind = "measured" if cell.measured else "modelled"
    middle, room = left + (across + STRIP) / 2, across - STRIP - 4
    return svg.element(
        "g",
        svg.tooltip(cell.title),
        svg.rectangle(left, top, across, HEIGHT, f"cell {kind}" + (" answer-cell" if cell.is_answer else "")),
        svg.rectangle(left, top, STRIP, HEIGHT, "part"),
        svg.rectangle(left, top, STRIP, HEIGHT, "hatched"),
        svg.text(cut(cell.rate, room, BOLD), middle, top + 18, "cell-rate"),
        svg.text(cut(cell.word, room), middle, top + 33, "cell-word"),
        *_ran(cell, middle, top + 49, room),
        class_=f"hue-{cell.hue}",
    )


def _ran(cell: Cell, middle: float, height: float, room: float) -> Iterator[Markup]:
    """What the runs gave, beside a point as charts have it of a measured run."""
    text = cut(cell.measured, room - POINT, BOLD)
    if text:
        left = middle - (width(text) + POINT) / 2
        yield svg.marker(0, left + 4, height - 4, "point", "")
        yield svg.text(text, left + POINT, height, "cell-ran", "start")
