"""The reference configuration: which one it is, and where a study measures it again to see the host drift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from sizer.configurations import MOST_RUNS, configurations, fewest_vcpus, size, standing
from sizer.duration import start_up_seconds
from sizer.isolating_runs import isolating_runs
from sizer.records import RunSpec, Study
from sizer.study import Facts

MOST_BETWEEN = 8
"""Runs between two measurements of the reference: a few minutes, and one run in eight at the most for a long study."""
FEWEST_RUNS = 4
"""A study of fewer runs is over before the host drifts."""
HIDES_DRIFT = ("cpu", "cuda", "emulated")
"""Devices by how little of a slower host their rate shows: an emulated accelerator waits the same on any."""


def reference(study: Study, host: Facts) -> RunSpec | None:
    """The configuration that is measured again through the study, its first repeat; None for a study of a few runs.

    A workload whose rate shows a slower host, and that starts quickly: its point, or else its most vCPUs and memory.
    Where every accelerator is emulated, the fewest vCPUs, which are the likeliest to be what binds.
    """
    if sum(size(each, study.around) for each in study.workloads) > MOST_RUNS:
        return None
    measured = [configurations(each, study, host) for each in study.workloads]
    isolated = sum(len(isolating_runs(each, study, host)) for each in study.workloads)
    if sum(map(len, measured)) * study.measure.repeats + isolated < FEWEST_RUNS:
        return None
    specs = min(measured, key=lambda specs: _rank(standing(specs, study, host)))
    emulated = specs[0].workload.device.kind == "emulated"
    return fewest_vcpus(specs, host) if emulated else standing(specs, study, host)


def is_extra(spec: RunSpec) -> bool:
    """Whether a run is the reference measured beyond the repeats of every configuration."""
    return spec.repeat >= spec.measure.repeats


def is_measurement(spec: RunSpec, of: RunSpec) -> bool:
    """Whether a run is a repeat of that configuration, measured in the same way."""
    return replace(spec, repeat=0).id == replace(of, repeat=0).id


def woven(blocks: Sequence[Sequence[RunSpec]], of: RunSpec) -> tuple[RunSpec, ...]:
    """The blocks, one for each repeat, with the reference first in each, at even places inside it, and at the end.

    Its own repeat begins a block; the measurements beside these are further repeats of the same configuration.
    """
    specs: list[RunSpec] = []
    number = len(blocks)
    for repeat, block in enumerate(blocks):
        own = replace(of, repeat=repeat)
        others = [spec for spec in block if spec != own]
        for part, stretch in enumerate(_stretches(others)):
            specs += [own if part == 0 else replace(of, repeat=number), *stretch]
            number += part > 0
    return (*specs, replace(of, repeat=number))


def _rank(spec: RunSpec) -> tuple[int, float]:
    return HIDES_DRIFT.index(spec.workload.device.kind), start_up_seconds(spec)


def _stretches(specs: Sequence[RunSpec]) -> list[Sequence[RunSpec]]:
    """The runs in even parts of MOST_BETWEEN at most; one empty part of none."""
    count = max(1, math.ceil(len(specs) / MOST_BETWEEN))
    return [specs[len(specs) * part // count : len(specs) * (part + 1) // count] for part in range(count)]
