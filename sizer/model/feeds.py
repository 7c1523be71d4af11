"""What distinguishes the runs of one workload beside their limits: their feed and their accelerator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sizer.model.coordinates import gpus_of
from sizer.model.model import Feed, MeasuredRange, WorkloadFacts
from sizer.records.configuration import Configuration

if TYPE_CHECKING:
    from sizer.records.run import Run

REPLAY = "replay"
"""The input of runs that read the files as the loader does, and do nothing with them."""
HOST_ALONE = ("cpu", "emulated")
"""Devices that have no memory of their own."""
CPU_LABEL = "cpu"
"""The name given to the accelerator of runs without one, where others of the same workload had one."""


def feed_of(run: Run) -> Feed:
    """What the run was fed with."""
    return Feed(run.spec.workload.assumed_input, run.spec.workload.assumed_cache)


def made_alike(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs of each workload, feed and configuration together, in the order of the first of each."""
    alike: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        alike[run.spec.workload.name, feed_of(run), run.configuration].append(run)
    return list(alike.values())


def label_of(run: Run) -> str | None:
    """How the accelerator of a run is named: its name, else its device; None where the CPU computes."""
    if run.configuration.gpu is not None:
        return run.configuration.gpu
    device = run.spec.workload.computes_on
    if device.kind == "cpu":
        return "accelerator" if gpus_of(run.configuration) else None
    return device.label


def label_at(facts: WorkloadFacts, configuration: Configuration) -> str:
    """How the accelerator of a configuration is called where none, too, has a label."""
    return configuration.gpu or facts.accelerator or CPU_LABEL


def labelled(runs: Sequence[Run]) -> list[Run]:
    """The runs with their accelerator in the configuration where they used several kinds of it.

    Where some rows of a table say how many accelerators there were, the others had as many as their device says; where
    some runs of a study had several, the others had one.
    """
    if any(run.configuration.gpu_count is not None for run in runs):
        runs = [
            replace(run, configuration=replace(run.configuration, gpu_count=gpus_of(run.configuration))) for run in runs
        ]
    if any(run.spec.gpu_count > 1 for run in runs):
        runs = [
            replace(run, configuration=replace(run.configuration, gpu_count=max(1, gpus_of(run.configuration))))
            for run in runs
        ]
    labels = {label_of(run) for run in runs}
    if len(labels) < 2:
        return list(runs)
    return [replace(run, configuration=replace(run.configuration, gpu=label_of(run) or CPU_LABEL)) for run in runs]


def with_usual_accelerator(measured: MeasuredRange, configuration: Configuration) -> Configuration:
    """The same with the usual accelerator, and the usual number of it, where the question names none."""
    if not measured.gpus:
        return configuration
    usual = measured.gpus[0]
    named = any(gpus.gpu is not None for gpus in measured.gpus)
    label = configuration.gpu if configuration.gpu is not None and named else usual.gpu
    count = gpus_of(configuration) or next((gpus.count for gpus in measured.gpus if gpus.gpu == label), usual.count)
    if label == configuration.gpu and count == configuration.gpu_count:
        return configuration
    return replace(configuration, gpu=label, gpu_count=count)
