"""Rows of a table that leave empty what other rows of their workload say: what a curve over it can use of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer.records.device import HOST_DISK
from sizer.records.run import Run

AXES = ("vcpus", "memory_bytes", "disk", "batch_size")


def without_gaps(runs: Sequence[Run]) -> list[Run]:
    """The runs that can be fitted together: each says all of the axes that differ between those that say them.

    An axis that has one value, where it is known at all, needs no curve: there it is known of none, and no run is left
    out for it. Where every run lacks some axis that differs, the one that is known least is known of none, too.
    """
    known = {axis: {_value(run, axis) for run in runs} for axis in AXES}
    partly = [axis for axis in AXES if None in known[axis] and len(known[axis]) > 1]
    if not partly:
        return list(runs)
    unused = [axis for axis in partly if len(known[axis]) == 2]
    needed = sorted(set(partly) - set(unused), key=lambda axis: (sum(_says(run, axis) for run in runs), axis))
    while not (whole := [run for run in runs if all(_says(run, axis) for axis in needed)]):
        unused.append(needed.pop(0))
    unknown: dict[str, Any] = dict.fromkeys(unused)
    return [replace(run, configuration=replace(run.configuration, **unknown)) for run in whole]


def _value(run: Run, axis: str) -> object:
    if axis == "disk" and run.configuration.disk is None and run.spec.workload.input in ("cached", "synthetic"):
        return HOST_DISK  # nothing is read from any
    return getattr(run.configuration, axis)


def _says(run: Run, axis: str) -> bool:
    return _value(run, axis) is not None
