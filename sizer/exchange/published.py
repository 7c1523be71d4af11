"""The form in which conclusions leave sizer: recommendation.json and the JSON of predict, for other programs to read.

The form is fixed: sizes are GiB, the objective is a word with its target beside it. Records may change behind it.
"""

from __future__ import annotations

from typing import Any

from sizer.files.codec import to_json
from sizer.model.comparison import Comparison
from sizer.model.model import Model, WorkloadModel
from sizer.records.answer import Answer, InstanceOffer, Recommendation
from sizer.records.domains import SCHEMA_VERSION
from sizer.records.family import Family
from sizer.records.prediction import Configuration, Prediction, ReasonCode
from sizer.records.units import GIB
from sizer.words.family import family_lines
from sizer.words.language import ENGLISH, in_language, paragraph
from sizer.words.names import Terms, terms_of
from sizer.words.reasons import reason_sentences
from sizer.words.reasons.suggestions import refusal_sentences, suggestion_sentences

DEADLINE = "deadline"
"""The `objective` where a job has a deadline; which job, and when, under `deadline`."""


def recommendation_form(recommendation: Recommendation, model: Model) -> dict[str, Any]:
    """What recommendation.json holds. `emulated` says whether the answer rests on an emulated disk or accelerator;
    `family` is empty of fewer than two workloads, `cross_table` null where nothing is compared."""
    with in_language(ENGLISH):
        answers = []
        for answer in recommendation.workloads:
            workload = model.workload(answer.workload)
            disk = answer.spec.disk if answer.spec else None
            beyond = prediction_form(answer.beyond, workload) if answer.beyond else None
            own = {"beyond": beyond, "emulated": is_emulated(workload, disk)}
            answers.append(_answer_form(answer, workload) | own)
    objective, table = recommendation.objective, recommendation.cross_table
    return {
        "schema_version": SCHEMA_VERSION,
        "objective": DEADLINE if objective.deadline is not None else objective.prefer,
        "target": objective.target,
        "deadline": None if objective.deadline is None else to_json(objective.deadline),
        "at_least": objective.at_least,
        "latency_p99": objective.latency_p99,
        "spot": objective.spot,
        "baseline": objective.baseline,
        "samples": objective.job_samples,
        "interruptions": None if objective.interruptions is None else to_json(objective.interruptions),
        "workloads": answers,
        "family": family_form(recommendation.family) if recommendation.family.shapes else {},
        "cross_table": None if table is None else _in_gibibytes(to_json(table)),
    }


def family_form(family: Family) -> dict[str, Any]:
    """What `sizer family --json` prints, its sentences in English."""
    with in_language(ENGLISH):
        lines = [line.strip() for line in family_lines(family)]
    return {"schema_version": SCHEMA_VERSION, **_in_gibibytes(to_json(family)), "sentences": lines}


def prediction_form(prediction: Prediction, workload: WorkloadModel) -> dict[str, Any]:
    """One entry of `predict --json`."""
    rate, form = prediction.throughput, _form_of_place(prediction.configuration, workload)
    figures = {"throughput": rate.value, "low": rate.low, "high": rate.high, "bottleneck": prediction.bottleneck.value}
    stated = {name: getattr(prediction, name) for name in ("shares", "extrapolated", "out_of_memory", "headroom")}
    return form | figures | stated


def no_prediction_form(
    configuration: Configuration, workload: WorkloadModel, error: str, error_code: ReasonCode | None
) -> dict[str, Any]:
    """The entry of `predict --json` for a configuration without an answer: the same keys, and why, in English."""
    why = {"error": error, "error_code": error_code.value if error_code is not None else None}
    return _form_of_place(configuration, workload) | why


def _form_of_place(configuration: Configuration, workload: WorkloadModel) -> dict[str, Any]:
    return {
        "workload": workload.name,
        **configuration_form(configuration),
        **dict.fromkeys(("throughput", "low", "high", "bottleneck")),
        "shares": {},
        **dict.fromkeys(("extrapolated", "out_of_memory", "headroom")),
        "sample_unit": workload.sample_unit,
        "emulated": is_emulated(workload, configuration.disk),
    }


def configuration_form(configuration: Configuration) -> dict[str, Any]:
    """A run's configuration, with the columns of measurements.csv as keys; null is what an import lacks."""
    return {
        "vcpus": configuration.vcpus,
        "memory_gib": None if configuration.memory_bytes is None else configuration.memory_bytes / GIB,
        "disk": configuration.disk,
        "batch_size": configuration.batch_size,
        "gpu": configuration.gpu,
        "gpu_count": configuration.gpu_count,
    }


def is_emulated(workload: WorkloadModel, disk: str | None) -> bool:
    """Whether the accelerator is emulated, or this disk: without a name, any that the workload was measured on."""
    disks = workload.measured.disks
    any_disk = any(disk.emulated for disk in disks) if disk is None else disk_is_emulated(workload, disk)
    return workload.facts.device.kind == "emulated" or any_disk


def disk_is_emulated(workload: WorkloadModel, disk: str | None) -> bool:
    """Whether the runs on a disk of that name were on an emulated tier."""
    measured = workload.measured.disk(disk) if disk is not None else None
    return measured is not None and measured.emulated


def _answer_form(answer: Answer, workload: WorkloadModel) -> dict[str, Any]:
    """An answer with its reasons as English sentences, and their codes beside them."""
    terms = terms_of(workload)
    suggestion = answer.next_run
    form = {
        **to_json(answer),
        "reasons": reason_sentences(answer.reasons, terms),
        "reason_codes": [reason.code.value for reason in answer.reasons],
        "rejected": [
            {
                "spec": to_json(rejection.spec),
                "why": paragraph(reason_sentences(rejection.why, terms)),
                "codes": [reason.code.value for reason in rejection.why],
                "throughput": to_json(rejection.throughput) if rejection.throughput is not None else None,
                "share": rejection.share,
                "usd_saved_per_hour": rejection.usd_saved_per_hour,
                "saving": rejection.saving,
            }
            for rejection in answer.rejected
        ],
        "next_run": None if suggestion is None else suggestion_sentences(suggestion, terms),
        "next_run_suggestion": None if suggestion is None else to_json(suggestion),
        "instances": [_offer_form(offer, terms) for offer in answer.instances],
        "accelerator_counts_missing": [
            to_json(refusal) | {"why": refusal_sentences(refusal, terms)}
            for refusal in answer.accelerator_counts_missing
        ],
        "emulated_rate": next(
            (
                dict(reason.figures)
                for reason in answer.reasons
                if reason.code is ReasonCode.EMULATED and not reason.has("disk")
            ),
            None,
        ),
    }
    return {key: _in_gibibytes(value) if key != "beyond" else value for key, value in form.items()}


def _offer_form(offer: InstanceOffer, terms: Terms) -> dict[str, Any]:
    form = to_json(offer)
    del form["notes"], form["own"]
    notes = {
        "note": " ".join(reason_sentences(offer.notes, terms)),
        "note_codes": [note.code.value for note in offer.notes],
    }
    return form | notes


def _in_gibibytes(value: Any) -> Any:
    """Every `memory_bytes` as `memory_gib`: exact, since dividing by a power of two loses no digit; `nodes` only where
    there are several."""
    if isinstance(value, list):
        return [_in_gibibytes(item) for item in value]
    if not isinstance(value, dict):
        return value
    return dict(_item_in_gibibytes(key, item) for key, item in value.items() if (key, item) != ("nodes", 1))


def _item_in_gibibytes(key: str, item: Any) -> tuple[str, Any]:
    if key != "memory_bytes":
        return key, _in_gibibytes(item)
    return "memory_gib", item / GIB if item is not None else None


def comparison_form(comparison: Comparison) -> dict[str, Any]:
    """What `compare --json` prints: of A and of B in this order, where a figure has two; `unlike` is how the studies
    differ."""
    form = _in_gibibytes(to_json(comparison))
    return {"schema_version": SCHEMA_VERSION, "unlike": form.pop("study_differences"), **form}
