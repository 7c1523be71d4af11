"""The answers, first on the page: one card for each workload, as plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sizer import words
from sizer.model import as_asked, vcpus_of
from sizer.recommend import SURE
from sizer.records import Answer, InstanceOffer, Prediction, ReasonCode, Recommendation, Study
from sizer.words import Terms, _

from . import failures, preprocessing, results
from .material import Material
from .subject import Subject

MOST_OFFERS = 4
"""Instance types shown at once; the others are folded away."""


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What is answered first of all, and what must be known of the whole study."""
    recommendation = material.recommendation
    runs = [run for subject in found for run in subject.runs]  # workloads in the study's order, wherever they are named
    return {
        "objective": _objective(material),
        "tally": failures.tally(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        "notes": _notes(material),
        "has_recommendation": recommendation is not None,
        "cards": [card(subject) for subject in found],
        "family": family(recommendation, material.study) if recommendation else [],
    }


def _notes(material: Material) -> list[str]:
    """What must be known of the whole study."""
    drift = [words.drift_in_words(material.drift)] if material.drift is not None else []
    return [*map(words.note_in_words, material.notes), *drift]


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return words.objective_in_words(material.study.objective)
    compared = [bool(answer.alternatives) for answer in recommendation.workloads]
    return words.objective_in_words(recommendation.objective, bool(compared) and all(compared))


def card(subject: Subject) -> dict[str, Any]:
    """What the card of one workload says, and its line in the overview; every value is text."""
    answer = subject.answer or Answer(subject.name, "refused")
    word, symbol = words.status_in_words(answer)
    reasons, more_reasons = words.other_reasons(answer, subject.terms)
    offers = [offer(each, subject.unit, subject.terms) for each in answer.instances]
    return {
        "name": subject.name,
        "what": described(subject),
        "status": status(subject.answer),
        "status_word": word,
        "symbol": symbol,
        "spec": _spec(answer, subject),
        "throughput": _throughput(answer, subject),
        "bottleneck": words.resource_name(answer.bottleneck, subject.device) if answer.bottleneck else "",
        "probability": _probability(answer),
        "sentence": sentence(subject),
        "facts": _facts(subject, answer),
        "reasons": reasons,
        "more_reasons": more_reasons,
        "next_run": words.next_run_sentences(answer, subject.terms),
        "next_run_title": words.next_run_title(answer),
        "failed_log": _failed_log(subject, answer),
        "offers": offers[:MOST_OFFERS],
        "more_offers": offers[MOST_OFFERS:],
    }


def status(answer: Answer | None) -> str:
    """The classes that colour what is shown of an answer."""
    if answer is None:
        return "refused"
    return f"{answer.status}{' provisional' if answer.provisional else ''}"


def family(recommendation: Recommendation, study: Study) -> list[tuple[str, str, str]]:
    """What one instance family must offer for all workloads, with readable labels, and what of it is emulated."""
    return words.family_facts(recommendation, study.emulated_disks)


def described(subject: Subject) -> str:
    """The workload in a few words, its data set and its device with it: what is emulated says so."""
    plan = subject.plan.workload if subject.plan is not None else None
    workload = plan or subject.runs[0].spec.workload
    parts = [words.workload_in_words(workload)]
    if any(run.data_set is not None and run.data_set.embedded for run in subject.runs):
        parts.append(words.embedded_data())
    if subject.device.kind != "cpu":
        parts.append(words.device_in_words(subject.device, subject.unit))
    return " · ".join(parts)


def sentence(subject: Subject) -> str:
    """The answer in plain words, with what leaves it open."""
    measured = any(
        preprocessing.is_answer(run.configuration, subject) for run in as_asked(subject.runs) if results.measured(run)
    )
    return words.answer_sentences(subject.answer, subject.objective, subject.terms, measured)


def _failed_log(subject: Subject, answer: Answer) -> str:
    """The log of one run that failed, where there is no answer: it shows what to mend first."""
    runs = failures.failed(subject) if answer.status == "refused" else []
    return failures.log(runs[0]) if runs else ""


def offer(value: InstanceOffer, unit: str, terms: Terms) -> dict[str, str]:
    """An instance type on offer, with its price or the words that it is unknown."""
    source, as_of = words.offer_source(value)
    priced = replace(value, notes=tuple(note for note in value.notes if note.code is not ReasonCode.PRICE_UNKNOWN))
    return {
        "name": words.offer_name(value),
        "shape": words.offer_shape(value),
        "price": words.offer_price(value),
        "million": words.price_of_samples(value, unit),
        "source": source,
        "as_of": as_of,
        "note": words.paragraph(words.offer_notes(priced, terms)),
    }


def _spec(answer: Answer, subject: Subject) -> str:
    if answer.spec is None:
        return ""
    return words.bounded_spec(answer, words.spec_line(answer.spec, subject.study, subject.device))


def _probability(answer: Answer) -> str:
    """Of reaching the target; a lower bound has none, because the best is not known.

    Nor has an answer whose runs something disturbed: it would be as sure as they are.
    """
    if answer.provisional and (answer.probability or 0) >= SURE:
        return ""
    if answer.probability is None or answer.status == "refused" or (answer.status != "recommended" and not answer.job):
        return ""
    return words.chance(answer.probability)


def _beyond(prediction: Prediction, subject: Subject) -> tuple[str, str, str]:
    rate = words.rate_interval(prediction.throughput, subject.unit)
    vcpus = words.vcpus_in_words(vcpus_of(prediction.configuration))
    return _("Extrapolated to {vcpus}", vcpus=vcpus), rate, _("not measured")


def _throughput(answer: Answer, subject: Subject) -> str:
    """Empty where its runs told rates that are known to be wrong."""
    if answer.throughput is None or answer.rate_in_doubt:
        return ""
    return words.rate_interval(answer.throughput, subject.unit)


def _facts(subject: Subject, answer: Answer) -> list[tuple[str, str, str]]:
    """Label, value and what must be known of it, for all that the answer says."""
    found: list[tuple[str, str, str]] = []
    if answer.throughput is not None and not answer.rate_in_doubt:
        rate = words.rate_interval(answer.throughput, subject.unit)
        found.append((_("Throughput"), rate, _("90 % interval for a new run")))
        if preprocessing.applies(subject):
            seconds, human = preprocessing.time_for(preprocessing.IMAGENET_IMAGES, answer.throughput)
            found.append((_("ImageNet's 1,281,167 images"), seconds, human))
    if answer.bottleneck is not None:
        found.append((_("Bound by"), words.resource_name(answer.bottleneck, subject.device), ""))
    if answer.next_bottleneck is not None:
        found.append((_("Next in line"), words.resource_name(answer.next_bottleneck, subject.device), ""))
    if answer.job is not None:
        found.append(words.job_fact(answer.job, subject.unit))
    if _probability(answer) and answer.job is None:
        share = words.percent(subject.objective.target)
        what = _("of {share} of the best or more", share=share)
        if answer.alternatives:
            what = _("that this is the right one of the machines measured")
        found.append((_("Probability"), _probability(answer), what))
    if answer.beyond is not None:
        found.append(_beyond(answer.beyond, subject))
    if answer.runner_up is not None:
        found.append((_("Runner-up"), words.spec_line(answer.runner_up, subject.study, subject.device), ""))
    if answer.baseline is not None and answer.spec is not None:
        against = words.spec_line(answer.baseline.spec, subject.study, subject.device)
        fact = words.baseline_fact(answer.baseline, against, fastest=bool(answer.alternatives))
        found += [fact] if fact is not None else []
    return found
