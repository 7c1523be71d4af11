"""One workload with all that is known about it: what its part of the page is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

from sizer.model.model import CPU_LABEL, Model, WorkloadModel
from sizer.model.runs import as_asked, labelled
from sizer.plan.chooser import NextRun, PlanEnd, Unfinished, next_of
from sizer.plan.run_order import Spread
from sizer.records.answer import Answer, Recommendation
from sizer.records.device import Device
from sizer.records.family import Family
from sizer.records.notes import Note
from sizer.records.prediction import Configuration, Estimate, Spec
from sizer.records.run import DiskCheck, Run
from sizer.records.study import DiskTier, Objective, Study, Workload, WorkloadPlan
from sizer.words import page as words
from sizer.words.language import _, row, without_marks
from sizer.words.names import Terms, terms_of
from sizer.words.reasons.phrasing import refusal_sentences

from . import results

LONGEST_UNIT = 16
"""Characters."""


@dataclass(frozen=True)
class Subject:
    """A workload's plan, runs, model and answer; `plan` is None for runs that the study does not name.

    `siblings` are runs of workloads that differ from it in nothing but the state of the page cache.
    """

    name: str
    study: Study
    objective: Objective
    runs: tuple[Run, ...]
    plan: WorkloadPlan | None = None
    model: WorkloadModel | None = None
    model_refusal: str | None = None
    answer: Answer | None = None
    checks: tuple[DiskCheck, ...] = ()
    siblings: tuple[Run, ...] = ()

    @cached_property
    def of_the_job(self) -> tuple[Run, ...]:
        """Its runs that gave a rate of the whole job."""
        return results.of_the_job(self.runs)

    def measured_at(self, configuration: Configuration) -> Estimate | None:
        """The measured rate of the whole job at just this configuration; None where no run shows it."""
        return self._rates.get(configuration)

    @cached_property
    def _rates(self) -> dict[Configuration, Estimate]:
        return results.rates_of_the_job(self.runs)

    @cached_property
    def unit(self) -> str:
        """What the workload counts, 'image' or 'word'; a long one is cut, as it stands behind the figures of charts."""
        measured = next((run.sample_unit for run in self.runs if results.measured(run)), None)
        if measured is None and self.answer is not None:
            measured = self.answer.sample_unit
        unit = measured or "sample"
        return unit if len(unit) <= LONGEST_UNIT else f"{unit[: LONGEST_UNIT - 1]}…"

    @cached_property
    def device(self) -> Device:
        """Where the step is computed, of several devices that of the answer."""
        label = None if self.spec is None else self.spec.gpu
        return next((device for device in self.devices if device.label == label), self.devices[0])

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """One of each name, as the runs say it, because they know the source of an emulated rate, else as the study
        does; those with a rate first."""
        planned = [] if self.plan is None else [workload.computes_on for workload in self.plan.on_devices]
        named: dict[str, Device] = {}
        devices = [*(run.spec.workload.computes_on for run in self.runs), *planned] or [Device()]
        for device in sorted(devices, key=lambda device: device.samples_per_second is None):
            named.setdefault(device.label, device)
        return tuple(named.values())

    @cached_property
    def workload(self) -> Workload:
        """What is measured, as the study asks for it, or as its runs say."""
        return self.plan.workload if self.plan is not None else self.runs[0].spec.workload

    @cached_property
    def embedded(self) -> bool:
        """Whether its runs read the data set that comes with sizer."""
        return any(run.data_set is not None and run.data_set.embedded for run in self.runs)

    @cached_property
    def place_named(self) -> Callable[[Configuration], str]:
        """What a run had, as one line, made once for each configuration: each chart says it of each of its marks."""
        return cache(lambda place: words.configuration_line(place, self.study))

    @property
    def spec(self) -> Spec | None:
        """Of the answer."""
        return self.answer.spec if self.answer is not None else None

    @property
    def status(self) -> str:
        """The classes that colour what is shown of its answer."""
        if self.answer is None:
            return "refused"
        return f"{self.answer.status}{' provisional' if self.answer.provisional else ''}"

    def is_answer(self, place: Configuration) -> bool:
        """Whether a measured configuration is the recommended spec, on the axes that the spec names.

        A spec without accelerators says nothing of them, unless machines were compared: then the CPU computes.
        """
        spec = self.spec
        if self.answer is None or spec is None:
            return False
        axes = ("vcpus", "memory_bytes", "disk", "batch_size")
        if any(getattr(spec, axis) not in (None, getattr(place, axis)) for axis in axes):
            return False
        if (spec.gpu, spec.gpu_count) == (None, 0):
            return not self.answer.alternatives or place.gpu in (None, CPU_LABEL)
        count = place.gpu_count if place.gpu is None else max(1, place.gpu_count or 0)
        return (spec.gpu, spec.gpu_count) == (place.gpu, count)

    def unusual(self, input_: str, cache: str) -> str:
        """How something was read, said only where it is not what the workload asks for."""
        asked = self.plan.workload if self.plan is not None else None
        parts = [words.input_named(input_)] if asked is None or input_ != asked.input else []
        parts += [words.cache_named(cache)] if asked is None or cache != asked.cache else []
        return row(parts)

    def tier(self, name: str) -> DiskTier | None:
        return next((tier for tier in self.study.disks if tier.name == name), None)

    @cached_property
    def terms(self) -> Terms:
        """How its things are called."""
        tiers = (run.disk.tier for run in self.runs if run.disk is not None)
        others = (tier.name for tier in tiers if tier.emulated is not None)
        return Terms(self.name, self.unit, self.device, frozenset((*self.study.emulated_disks, *others)))

    def check(self, name: str) -> DiskCheck | None:
        """What fio measured on that tier: in this study's check, else in the check that came with a run."""
        all_checks = [*self.checks, *(run.disk for run in self.runs if run.disk is not None)]
        return next((check for check in all_checks if check.tier.name == name), None)


def subjects(material: Material) -> tuple[Subject, ...]:
    """Every workload of the study in its order, then workloads that only runs know (imported ones)."""
    planned = [plan.workload.name for plan in material.study.workloads]
    measured = [run.spec.workload.name for run in material.runs]
    return tuple(_subject(name, material) for name in dict.fromkeys([*planned, *measured]))


def _subject(name: str, material: Material) -> Subject:
    plan = next((plan for plan in material.study.workloads if plan.workload.name == name), None)
    recommendation = material.recommendation or Recommendation(material.study.objective, ())
    model, refusal = _model(name, material)
    return Subject(
        name=name,
        study=material.study,
        objective=recommendation.objective,
        runs=tuple(labelled(results.of_workload(material.runs, name))),
        plan=plan,
        model=model,
        model_refusal=refusal,
        answer=next((answer for answer in recommendation.workloads if answer.workload == name), None),
        checks=material.disk_checks,
        siblings=_siblings(plan, material),
    )


def _siblings(plan: WorkloadPlan | None, material: Material) -> tuple[Run, ...]:
    if plan is None:
        return ()
    own = replace(plan.workload, name="", cache="")
    others = [workload.workload for workload in material.study.workloads if workload is not plan]
    names = {other.name for other in others if replace(other, name="", cache="") == own}
    return tuple(run for run in as_asked(material.runs) if run.spec.workload.name in names)


def _model(name: str, material: Material) -> tuple[WorkloadModel | None, str | None]:
    """The model that can predict, or None and the reason why there is none."""
    if material.model is None:
        return None, _("No model has been fitted.")
    try:
        model = material.model.workload(name)
    except KeyError:
        return None, _("The model does not know this workload.")
    if model.refused is None:
        return model, None
    with without_marks():
        return None, refusal_sentences(model.refused, terms_of(model))


def described(subject: Subject) -> str:
    """The workload in a few words, its data set and its device with it: what is emulated says so. Of runs that have an
    accelerator each, or none, there is no one device."""
    parts = [words.workload_in_words(subject.workload)]
    if subject.embedded:
        parts.append(words.embedded_data())
    if subject.device.kind != "cpu" and not any(run.configuration.gpu for run in subject.of_the_job):
        parts.append(words.device_in_words(subject.device, subject.unit))
    return " · ".join(parts)


@dataclass(frozen=True)
class Progress:
    """How far a study is: by workload, how many runs it asks for, how many of them are there, and how many others are
    stored, of an `older` form of the study file; `chosen` is what an adaptive plan does next, or how it ended, and
    `searching` are the searches that have a run left after all others."""

    planned: Mapping[str, int]
    finished: Mapping[str, int]
    older: Mapping[str, int] = field(default_factory=dict)
    chosen: NextRun | PlanEnd | None = None
    searching: tuple[Unfinished, ...] = ()

    @property
    def is_complete(self) -> bool:
        return next_of(self.chosen) is None and self._all_runs and not self.searching

    @property
    def _all_runs(self) -> bool:
        return sum(self.finished.values()) >= sum(self.planned.values())

    def is_missing(self, workload: str) -> bool:
        """Whether runs of that workload are still to be made."""
        return self.finished.get(workload, 0) < self.planned.get(workload, 0)


@dataclass(frozen=True)
class Material:
    """All that a page shows. `host` is host.json as stored, `notes` are about the whole study, `drift` is how far the
    host drifted meanwhile, None where it did not. `measurements_csv` and `measurements_json` are the table of all runs,
    which a reader can save. `folder` is the study's, as one types it; `progress` None is unknown, as of runs made
    elsewhere.
    """

    study: Study
    host: Mapping[str, Any]
    runs: tuple[Run, ...]
    model: Model | None
    recommendation: Recommendation | None
    disk_checks: tuple[DiskCheck, ...]
    notes: tuple[Note, ...]
    created_at: str
    version: str
    drift: Spread | None = None
    measurements_csv: str = ""
    measurements_json: str = ""
    folder: str = ""
    progress: Progress | None = None

    def of_workload(self, name: str) -> Material:
        """The same of one workload alone, but for the table of runs."""
        plans = tuple(plan for plan in self.study.workloads if plan.workload.name == name)
        recommendation = self.recommendation
        if recommendation is not None:
            answers = tuple(answer for answer in recommendation.workloads if answer.workload == name)
            recommendation = replace(recommendation, workloads=answers, family=Family(), cross_table=None)
        return replace(
            self,
            study=replace(self.study, name=f"{self.study.name}: {name}", workloads=plans),
            runs=tuple(run for run in self.runs if run.spec.workload.name == name),
            model=None if self.model is None else Model((self.model.workload(name),)),
            recommendation=recommendation,
        )
