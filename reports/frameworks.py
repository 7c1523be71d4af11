"""Frameworks beside networks: what each framework makes of each network, under the same conditions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sizer import words
from sizer.model import as_asked, label_of
from sizer.records import DIFFERENCES, IMPORTED, Configuration, Estimate, Run, Study

from . import results
from .figures.series import held_fixed
from .material import Material
from .subject import Subject

FEWEST = 3
"""Cells below which a table shows no more than the list of workloads does."""
SHADES = (0.6, 0.8, 0.9, 0.97)
"""Of the rate of the fastest framework for its network: from each on a cell is a shade darker."""
Pair = tuple[str, str]
"""Network and framework."""


@dataclass(frozen=True)
class Conditions:
    """All that two runs must share for their programs to be compared; the batch is each network's own."""

    kind: str
    input: str
    cache: str
    unit: str
    accelerator: str | None
    machine: str
    configuration: Configuration


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """The table under the conditions that most programs were measured under; None where that is no table."""
    groups: dict[Conditions, dict[Pair, dict[int | None, list[Run]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for subject in found:
        for run in as_asked(subject.runs):
            program = words.program_named(run.spec.workload)
            if results.measured(run) and program is not None:
                groups[_conditions(run, subject)][program][run.configuration.batch_size].append(run)
    if not groups:
        return None
    conditions = max(groups, key=lambda each: len(groups[each]))
    cells = {pair: _fastest(batches) for pair, batches in groups[conditions].items()}
    networks, frameworks = (list(dict.fromkeys(pair[axis] for pair in cells)) for axis in (0, 1))
    if len(cells) < FEWEST or max(len(networks), len(frameworks)) < 2:
        return None
    batches = {batch for _rate, batch in cells.values()}
    return {
        "frameworks": frameworks,
        "rows": [
            {"network": network, "cells": [_cell(cells, (network, each), frameworks, batches) for each in frameworks]}
            for network in networks
        ],
        "differences": [
            words.sentence(words.definitions_differ(each))
            for each in networks
            if each in DIFFERENCES and conditions.kind != IMPORTED and sum(pair[0] == each for pair in cells) > 1
        ],
        "note": words.programs_compared(conditions.unit, _fixed(conditions, batches, material.study)),
    }


def _conditions(run: Run, subject: Subject) -> Conditions:
    workload = run.spec.workload
    return Conditions(
        workload.kind,
        workload.assumed_input,
        workload.assumed_cache,
        subject.unit,
        label_of(run),
        words.machine_rented(run.machine),
        replace(run.configuration, batch_size=None),
    )


def _fastest(batches: Mapping[int | None, Sequence[Run]]) -> tuple[Estimate, int | None]:
    """The highest rate over the batch sizes, with its batch."""
    return max(((results.pooled(runs), batch) for batch, runs in batches.items()), key=lambda each: each[0].value)


def _cell(
    cells: Mapping[Pair, tuple[Estimate, int | None]], pair: Pair, frameworks: Sequence[str], batches: set[int | None]
) -> dict[str, Any]:
    if pair not in cells:
        return {"rate": "", "under": "", "heat": 0, "best": False}
    rate, batch = cells[pair]
    best = max(cells[pair[0], each][0].value for each in frameworks if (pair[0], each) in cells)
    share = rate.value / best
    under = [words.of_the_fastest(share)] if share < 1 else []
    under += [words.batch_named(batch)] if batch is not None and len(batches) > 1 else []
    return {
        "rate": words.figure_interval(rate),
        "under": words.row(under),
        "heat": 1 + sum(share >= each for each in SHADES),
        "best": share == 1 and len(frameworks) > 1,
    }


def _fixed(conditions: Conditions, batches: set[int | None], study: Study) -> str:
    (batch,) = batches if len(batches) == 1 else (None,)
    return words.row(
        each
        for each in (
            conditions.machine,
            held_fixed(replace(conditions.configuration, batch_size=batch), study),
            words.input_named(conditions.input) if conditions.input != "disk" else "",
        )
        if each
    )
