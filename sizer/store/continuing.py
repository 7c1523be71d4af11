"""Whether a study may go on in a folder that holds runs: nothing may be mixed that is not of one study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sizer.host.stored_host import installed_of
from sizer.records.frameworks import FRAMEWORKS, RUNNABLE
from sizer.records.messages import InputError, Message
from sizer.records.run import Run
from sizer.records.run_kinds import FINDINGS
from sizer.records.study import Study

SAME_MACHINE = {"cpu_model": Message("processor"), "cpus": Message("vCPUs")}
"""Facts of a host that must not change inside a study, in words."""


def measured(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that a model learns from."""
    return tuple(run for run in runs if run.outcome in FINDINGS)


def refuse_other_study(where: str, before: Study, now: Study) -> None:
    """Raise InputError when the two have different names."""
    if before.name != now.name:
        raise InputError(
            "{where} contains the study `{before}`, not `{now}`; choose another folder with --out.",
            where=where,
            before=before.name,
            now=now.name,
        )
    if before.embedded_images != now.embedded_images:
        raise InputError(
            "{where} was measured with `embedded_images: {before}` and the study says {now}; choose another folder "
            "with --out.",
            where=where,
            before=before.embedded_images,
            now=now.embedded_images,
        )


def refuse_other_machine(where: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise InputError when the facts of the two hosts are those of different machines."""
    for fact, name in SAME_MACHINE.items():
        if fact in before and fact in now and before[fact] != now[fact]:
            raise InputError(
                "{where} was measured on another machine (its {fact}: {before}, here: {now}); choose another folder "
                "with --out.",
                where=where,
                fact=name,
                before=before[fact],
                now=now[fact],
            )


def refuse_other_versions(where: str, runs: Iterable[Run], before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise InputError when these runs were measured with another version of a framework than is there now."""
    used = {run.spec.workload.framework for run in runs}
    here = {installed.framework: installed for installed in installed_of(now)}
    for installed in installed_of(before):
        package = FRAMEWORKS[installed.framework].package if installed.framework in RUNNABLE else ""
        then = installed.packages.get(package)
        present = here.get(installed.framework, installed)
        version = present.packages.get(package)
        if installed.framework in used and then and version and version != then:
            raise InputError(
                "{where} was measured with {package} {before}, and {python} has {now}; name the interpreter of before "
                "in `frameworks`, or choose another folder with --out.",
                where=where,
                package=package,
                before=then,
                python=present.path,
                now=version,
            )


def refuse_other_meaning(where: str, runs: Iterable[Run], study: Study) -> None:
    """Raise InputError when a workload or disk of the study was something else as these runs were measured."""
    plans = {plan.workload.name: plan for plan in study.workloads}
    disks = {tier.name: tier for tier in study.disks}
    for run in runs:
        workload = run.spec.workload
        plan = plans.get(workload.name)
        now = workload if plan is None else plan.workload
        if plan is not None and workload.device in plan.devices:
            now = replace(now, device=workload.device)
        if run.spec.stage is not None:
            now = replace(now, input=workload.input, cache=workload.cache)
        if now != workload:
            raise InputError(
                "{where} contains runs of another workload named `{name}`; give it a new name in the study, or choose "
                "another folder with --out.",
                where=where,
                name=workload.name,
            )
        if run.disk is not None and disks.get(run.disk.tier.name, run.disk.tier) != run.disk.tier:
            raise InputError(
                "{where} contains runs on another disk named `{name}`; give it a new name in the study, or choose "
                "another folder with --out.",
                where=where,
                name=run.disk.tier.name,
            )
