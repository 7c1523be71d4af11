"""Charts: what a picture shows, as plain data, and its drawing as SVG. Knows nothing of runs, models or studies."""

from __future__ import annotations

from . import legend
from .cells import Cell, Cells
from .figure import Figure
from .hatching import hatchings
from .legend import Key
from .plot import Ceiling, CurvePoint, FailureMark, Line, Part, Pile, PlaceMark, Plot, Point, Stop
from .rows import Bar, Row, RowGroup, Rows
from .scales import is_wide
from .small_bar import Candidate, SmallBar
from .svg import harmless, readable
from .times import Break, Moment, Stretch, Times

__all__ = [
    "Bar",
    "Break",
    "Candidate",
    "Ceiling",
    "Cell",
    "Cells",
    "CurvePoint",
    "FailureMark",
    "Figure",
    "Key",
    "Line",
    "Moment",
    "Part",
    "Pile",
    "PlaceMark",
    "Plot",
    "Point",
    "Row",
    "RowGroup",
    "Rows",
    "SmallBar",
    "Stop",
    "Stretch",
    "Times",
    "harmless",
    "hatchings",
    "is_wide",
    "legend",
    "readable",
]
