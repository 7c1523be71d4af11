"""Whether a study may go on in a folder that holds runs: nothing may be mixed that is not of one study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sizer.records import FINDINGS, InputError, Run, Study

SAME_MACHINE = {"cpu_model": "the processor", "cpus": "vCPUs:"}
"""Facts of a host that must not change inside a study, and what a person calls them."""
ADVICE = "choose another folder with --out"


def measured(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that a model learns from."""
    return tuple(run for run in runs if run.outcome in FINDINGS)


def refuse_other_study(where: str, before: Study, now: Study) -> None:
    """Raise InputError when the two have different names."""
    if before.name != now.name:
        raise InputError(f"{where}: holds the study `{before.name}`, not `{now.name}`; {ADVICE}")
    if before.embedded_images != now.embedded_images:
        images = f"{before.embedded_images} embedded images, not {now.embedded_images}"
        raise InputError(f"{where}: was measured with {images}; {ADVICE}")


def refuse_other_machine(where: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise InputError when the facts of the two hosts are those of different machines."""
    for fact, name in SAME_MACHINE.items():
        if fact in before and fact in now and before[fact] != now[fact]:
            raise InputError(
                f"{where}: was measured on a machine with {name} {before[fact]}, this one has {now[fact]}; {ADVICE}"
            )


def refuse_other_meaning(where: str, runs: Iterable[Run], study: Study) -> None:
    """Raise InputError when a workload or disk of the study was something else as these runs were measured."""
    workloads = {each.workload.name: each.workload for each in study.workloads}
    disks = {tier.name: tier for tier in study.disks}
    for run in runs:
        workload = run.spec.workload
        now = workloads.get(workload.name, workload)
        if run.spec.stage is not None:
            now = replace(now, input=workload.input, cache=workload.cache)
        if now != workload:
            raise _other(where, f"workload named `{workload.name}`")
        if run.disk is not None and disks.get(run.disk.tier.name, run.disk.tier) != run.disk.tier:
            raise _other(where, f"disk named `{run.disk.tier.name}`")


def _other(where: str, what: str) -> InputError:
    return InputError(f"{where}: holds runs of another {what}; give it a new name in the study, or {ADVICE}")
