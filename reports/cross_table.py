"""Frameworks beside each other: seconds a mini-batch of each, network by network and batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sizer import words
from sizer.records import CrossCell, CrossRow

from .material import Material
from .subject import Subject

SHADES = (0.6, 0.8, 0.9, 0.97)
"""Of the least seconds of the row over a cell's own: from each on the cell is a shade darker."""


def contents(material: Material, _found: Sequence[Subject]) -> dict[str, Any] | None:
    """The table of the recommendation; None where nothing is compared."""
    table = material.recommendation.cross_table if material.recommendation is not None else None
    if table is None:
        return None
    alike, apart = words.conditions_apart(table, material.study)
    return {
        "columns": [words.column_named(column) for column in table.columns],
        "rows": [
            {"network": each.network, "under": words.row(parts), "cells": [_cell(cell, each) for cell in each.cells]}
            for each, parts in zip(table.rows, apart, strict=True)
        ],
        "shades": words.cross_shades() if any(cell.ratio for each in table.rows for cell in each.cells) else "",
        "notes": words.cross_notes(table, alike),
    }


def _cell(cell: CrossCell, row: CrossRow) -> dict[str, Any]:
    share = 1 / cell.ratio if cell.ratio else 0.0
    several = sum(each.seconds is not None for each in row.cells) > 1
    return {
        "seconds": words.seconds_a_batch(cell) if cell.runs else "",
        "under": words.cell_ranked(cell, row),
        "heat": 1 + sum(share >= each for each in SHADES) if cell.ratio and several else 0,
        "first": cell.rank == 1 and several,
    }
