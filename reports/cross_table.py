"""Frameworks beside each other: seconds a mini-batch of each, network by network and batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sizer.recommend.cross_table import MOST_COLUMNS
from sizer.records.answer import CrossCell, CrossRow, CrossTable
from sizer.words import page as words

from .subject import Material, Subject

SHADES = (0.6, 0.8, 0.9, 0.97)
"""Of the least seconds of the row over a cell's own: from each on the cell is a shade darker."""


def contents(material: Material, _subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """The table of the recommendation; None where nothing is compared.

    Of more columns than stand side by side, those that were measured against each other with a network and mode have a
    table of their own.
    """
    table = material.recommendation.cross_table if material.recommendation is not None else None
    if table is None:
        return None
    alike, groups = words.cross_groups(table, material.study)
    return {
        "tables": [_table(group, table) for group in _side_by_side(groups, table)],
        "shades": words.cross_shades() if any(cell.ratio for row in table.rows for cell in row.cells) else "",
        "notes": words.cross_notes(table, alike),
    }


def _side_by_side(groups: Sequence[words.CrossGroup], table: CrossTable) -> list[list[words.CrossGroup]]:
    """The groups of each table."""
    if len(table.columns) <= MOST_COLUMNS:
        return [list(groups)]
    parts = (part for group in groups for part in _rivals(group))
    return [list(alike) for _columns, alike in groupby(parts, key=lambda part: part.columns)]


def _rivals(group: words.CrossGroup) -> list[words.CrossGroup]:
    """The group in parts none of whose columns is in a row of another."""
    parts: list[tuple[set[int], list[int]]] = []
    for at, row in enumerate(group.rows):
        columns, rows = {place for place in group.columns if row.cells[place].runs}, [at]
        apart = []
        for part in parts:
            if part[0] & columns:
                columns, rows = columns | part[0], part[1] + rows
            else:
                apart.append(part)
        parts = [*apart, (columns, rows)]
    return [
        replace(
            group,
            rows=tuple(group.rows[at] for at in sorted(rows)),
            apart=tuple(group.apart[at] for at in sorted(rows)),
            columns=tuple(sorted(columns)),
        )
        for columns, rows in sorted(parts, key=lambda part: min(part[1]))
    ]


def _table(groups: Sequence[words.CrossGroup], table: CrossTable) -> dict[str, Any]:
    columns = sorted({at for group in groups for at in group.columns})
    return {
        "columns": [words.column_named(table.columns[at]) for at in columns],
        "groups": [_group(group, columns) for group in groups],
    }


def _group(group: words.CrossGroup, columns: Sequence[int]) -> dict[str, Any]:
    """Of several rows the title stands above them, of one in it."""
    single = len(group.rows) == 1
    return {
        "title": "" if single else group.title,
        "rows": [
            {
                "name": group.title if single or not parts else parts,
                "under": parts if single else "",
                "cells": [_cell(row.cells[at], row) for at in columns],
            }
            for row, parts in zip(group.rows, group.apart, strict=True)
        ],
    }


def _cell(cell: CrossCell, row: CrossRow) -> dict[str, Any]:
    share = 1 / cell.ratio if cell.ratio else 0.0
    several = sum(cell.seconds is not None for cell in row.cells) > 1
    return {
        "seconds": words.seconds_a_batch(cell) if cell.runs else "",
        "under": words.cell_ranked(cell, row),
        "heat": 1 + sum(share >= shade for shade in SHADES) if cell.ratio and several else 0,
        "first": cell.rank == 1 and several,
    }
