"""How it was measured: host, limits, disks, data, cache and steady state, as plain dicts."""

from __future__ import annotations

import base64
import gzip
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from markupsafe import Markup

from sizer.host.stored_host import installed_of
from sizer.model.model import Parameter, WorkloadModel
from sizer.model.prediction import LeftOut, left_out
from sizer.model.runs import as_asked
from sizer.records.device import DiskRates
from sizer.records.run import DiskCheck, Run
from sizer.records.study import DiskTier, Study
from sizer.records.units import format_seconds
from sizer.study.resolved import to_yaml
from sizer.words import model as model_words
from sizer.words import page as page_words
from sizer.words.language import _, _n, from_to, percent, row, several_of, span, volume, whole
from sizer.words.names import rates_in_words
from sizer.words.runs import limits_in_words
from sizer.words.terminal import deviations_in_words, host_fact, host_label

from .subject import Material, Subject

NOT_OF_THE_HOST = ("schema_version", "notes")
"""What host.json holds beside facts; the notes are at the head of the page."""


def contents(material: Material, subjects: Sequence[Subject]) -> dict[str, Any]:
    """All that someone needs who would measure it again."""
    study = material.study
    runs = [run for subject in subjects for run in subject.runs]
    return {
        "host": host_facts(material.host),
        "methods": methods(runs),
        "disks": disks(study, material.disk_checks, runs),
        "states": states(runs),
        "data_sets": data_sets(runs),
        "emulated_devices": emulated_devices(subjects),
        "imported": study.imported,
        "steady_state": steady_state(as_asked(runs), study),
        "models": [model_of(subject) for subject in subjects],
        "downloads": downloads(material),
        "study_file": "" if study.imported else to_yaml(study),
    }


def host_facts(host: Mapping[str, Any]) -> list[tuple[str, str]]:
    """host.json as label and value; what is empty is left out."""
    apart = _frameworks_apart(host)
    left_out = (*NOT_OF_THE_HOST, "frameworks", *(("python", "packages") if apart else ()))
    own = {key: value for key, value in host.items() if key not in left_out and value not in (None, "", [], (), {})}
    return [*((host_label(key), host_fact(key, value)) for key, value in own.items()), *apart]


def _frameworks_apart(host: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What each framework ran on, where they had interpreters of their own."""
    installed = installed_of(host)
    if len({framework.path for framework in installed}) < 2:
        return []
    return [
        (page_words.framework_name(framework.framework), page_words.installed_in_words(framework))
        for framework in installed
    ]


def disks(study: Study, checks: Sequence[DiskCheck], runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Each tier with what it declares beside what fio measured."""
    all_checks = [*checks, *(run.disk for run in runs if run.disk is not None)]
    tiers = dict.fromkeys([*study.disks, *(check.tier for check in all_checks)])
    return [_disk(tier, next((check for check in all_checks if check.tier.name == tier.name), None)) for tier in tiers]


def methods(runs: Sequence[Run]) -> list[tuple[str, int]]:
    """Each way in which the limits of a run were set, with the number of runs under it."""
    return list(Counter(limits_in_words(run.limited_by) for run in runs if run.limited_by is not None).items())


def states(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """Each input and cache state that was used, with the workloads that ran under it."""
    users: dict[tuple[str, str], dict[str, None]] = {}
    for run in runs:
        workload = run.spec.workload
        if workload.input is None and workload.cache is None:
            continue
        users.setdefault((workload.assumed_input, workload.assumed_cache), {})[workload.name] = None
    return [(row(names), page_words.state_in_words(input_, cache)) for (input_, cache), names in users.items()]


def data_sets(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Each data set once; an embedded one is said to be that, and that it is no ImageNet or PennTreeBank.

    A run that was killed before it had read its data knows of no samples: the others show what it read.
    """
    users: dict[Any, dict[str, None]] = {}
    for run in runs:
        if run.data_set is not None and run.data_set.samples > 0:
            users.setdefault((run.data_set, run.sample_unit), {})[run.spec.workload.name] = None
    return [
        {
            "workloads": row(names),
            "what": _("embedded data set (made by sizer; not ImageNet, not PennTreeBank)")
            if data.embedded
            else data.path,
            "format": data.format,
            "size": volume(data.bytes),
            "samples": f"{whole(data.samples)} {several_of(unit)}",
        }
        for (data, unit), names in users.items()
    ]


def emulated_devices(subjects: Sequence[Subject]) -> list[tuple[str, str]]:
    """Each workload whose accelerator was emulated, with the rate and its source."""
    return [
        (subject.name, page_words.device_in_words(device, subject.unit))
        for subject in subjects
        for device in subject.devices
        if device.kind == "emulated"
    ]


def steady_state(runs: Sequence[Run], study: Study) -> list[tuple[str, str]]:
    """How the rate of a run was taken."""
    measure = study.measure
    end = _(
        "half-width of the 95 % interval below {share} or {time} after warm-up",
        share=percent(measure.precision),
        time=format_seconds(measure.seconds),
    )
    repeats = _n(
        "{count} fresh process for each configuration",
        "{count} fresh processes for each configuration",
        measure.repeats,
    )
    ended = Counter(page_words.stopped_in_words(run.rate.stopped) for run in runs if run.rate.stopped)
    facts = [
        (_("Repeats"), repeats),
        (_("End of a run"), end),
        (_("Warm-up found"), _range([run.rate.warm_up_seconds for run in runs])),
        (_("Measured after warm-up"), _range([run.rate.measured_seconds for run in runs])),
        (_("Longest wall time"), format_seconds(max((run.wall_seconds for run in runs), default=0.0))),
        (_("Runs ended by"), row(f"{reason} ({count})" for reason, count in ended.items())),
    ]
    return [(label, value) for label, value in facts if value]


def _range(values: Sequence[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    return from_to(format_seconds(min(numbers)), format_seconds(max(numbers))) if numbers else ""


def _disk(tier: DiskTier, check: DiskCheck | None) -> dict[str, Any]:
    deviates = Markup('<span class="bad"><span aria-hidden="true">!</span> {}</span>').format(_("by more than 10 %"))
    return {
        "name": tier.name,
        "kind": (
            page_words.tier_nature(tier),
            row(part for part in (tier.disk_class, tier.catalog_name, tier.path) if part),
        ),
        "declared": page_words.declared_in_words(tier),
        "measured": rates_in_words(check.measured if check is not None else DiskRates()) or _("not measured"),
        "deviates": (
            deviates if check is not None and check.deviates else _("no"),
            deviations_in_words(check) if check is not None else "",
        ),
    }


def model_of(subject: Subject) -> dict[str, Any]:
    """What is said of its model; of one that cannot predict, why."""
    model = subject.model
    if model is None:
        return {"name": subject.name, "refusal": subject.model_refusal or ""}
    return {
        "name": subject.name,
        "refusal": "",
        "summary": model_words.model_summary(model),
        "equation": model_words.equation_sentence(),
        "quality": _quality(left_out(model), subject),
        "parameters": [_parameter(parameter, model) for parameter in model.parameters],
    }


def _quality(points: Sequence[LeftOut], subject: Subject) -> str:
    """How far predictions are off configurations that the fit did not know; empty where none was left out."""
    if not points:
        return ""
    errors = {point: abs(point.predicted / point.measured - 1) for point in points}
    worst = max(errors, key=lambda point: errors[point])
    where = page_words.configuration_line(worst.configuration, subject.study)
    return model_words.left_out_sentence(len(errors), median(errors.values()), errors[worst], where)


def _parameter(value: Parameter, model: WorkloadModel) -> dict[str, str]:
    return {
        "name": model_words.parameter_name(value, model),
        "value": model_words.parameter_value(value, model),
        "interval": span(value.low, value.high) if value.low < value.high else "–",
        "source": model_words.source_of(value),
    }


def downloads(material: Material) -> list[dict[str, str]]:
    """The raw table as CSV and JSON, each as the address from which a browser saves it; empty of a study without runs.

    The file is compressed, so its name ends in `.gz`; the script of the page saves it as it was, under `plain`.
    """
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", material.study.name).strip("-")[:60] or "study"
    tables = (("csv", "text/csv", material.measurements_csv), ("json", "application/json", material.measurements_json))
    files = []
    for form, kind, text in tables if material.runs else ():
        packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        files.append({"plain": f"{stem}.{form}", "kind": kind, "address": f"data:application/gzip;base64,{packed}"})
    return files
