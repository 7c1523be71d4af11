"""The first screen: for each workload what to rent, what it gives, what binds it, what it costs, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from sizer import words
from sizer.model import as_asked
from sizer.records import Answer, InstanceOffer, Run, format_rate
from sizer.words import Badge, BadgeKind, _, badge

from . import failures, preprocessing, results
from .binding import HUES
from .charts import Candidate, SmallBar, legend
from .material import Material
from .subject import Subject

MOST_TICKS = 24
"""Under a bar; of more candidates only the best are marked."""


@dataclass(frozen=True)
class AnswerRow:
    """What the first screen says of one workload; empty where nothing is known."""

    name: str
    what: str
    data_badge: Badge | None
    kind: str
    status: Badge
    how_sure: str
    spec: tuple[str, ...]
    spec_badges: tuple[Badge, ...]
    machine: str
    shape: str
    machine_badge: Badge | None
    rate: str
    interval: str
    rate_badge: Badge | None
    bar: Markup | None
    bound_by: legend.Key | None
    hour: str
    million: str
    price_day: str
    sentence: str
    sentence_badge: Badge | None
    doubt: str
    settle: str
    command: str


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What is answered first of all, and what must be known of the whole study."""
    from . import card

    recommendation = material.recommendation
    embedded = [_data_badge(subject) for subject in found]
    runs = [run for subject in found for run in subject.runs]  # workloads in the study's order, wherever they are named
    return {
        "objective": _objective(material),
        "measured": words.measured_on([run.started_at for run in runs]),
        "tally": failures.tally(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        **_progress(material),
        "notes": _notes(material),
        "drifting": badge(BadgeKind.DRIFTING) if material.drift is not None else None,
        "has_recommendation": recommendation is not None,
        "embedded": embedded[0] if embedded and all(embedded) else None,
        "rows": [
            replace(row, data_badge=None) if all(embedded) else row
            for row in (answer_row(subject, material) for subject in found)
        ],
        "keys": (legend.measured_bar(_("measured")), legend.model(alone=True, upright=True)),
        "recommend": f"sizer recommend {material.folder}".strip(),
        "shared": words.shared_sentences(recommendation) if recommendation else [],
        "cards": [card.card(subject) for subject in found],
        "family": card.family(recommendation, material.study) if recommendation else [],
    }


def _notes(material: Material) -> list[str]:
    """What must be known of the whole study."""
    drift = [words.drift_in_words(material.drift)] if material.drift is not None else []
    with words.without_marks():
        return [*map(words.note_in_words, material.notes), *drift]


def _progress(material: Material) -> dict[str, str]:
    """What is missing of the study, and the command that goes on with it; empty where nothing is."""
    progress = material.progress
    if progress is None or progress.is_complete:
        return {"missing": "", "resume": ""}
    sentence = words.progress_sentence(progress.finished, progress.planned)
    return {"missing": sentence, "resume": f"sizer resume {material.folder}"}


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return words.objective_in_words(material.study.objective)
    compared = [bool(answer.alternatives) for answer in recommendation.workloads]
    return words.objective_in_words(recommendation.objective, bool(compared) and all(compared))


def answer_row(subject: Subject, material: Material) -> AnswerRow:
    """The row of one workload."""
    answer = subject.answer or Answer(subject.name, "refused")
    offer = answer.instances[0] if answer.instances and answer.spec is not None else None
    baseline = answer.baseline
    has_rate = answer.throughput is not None and answer.spec is not None and not answer.rate_in_doubt
    emulated = answer.spec is not None and words.is_emulated(answer.spec, subject.terms)
    bound = answer.bottleneck if answer.spec is not None else None
    return AnswerRow(
        name=subject.name,
        what=_what(subject),
        data_badge=_data_badge(subject),
        kind=status(subject.answer),
        status=words.status_badge(subject.answer),
        how_sure=words.how_sure(subject.answer),
        spec=tuple(words.spec_parts(answer.spec, subject.terms)) if answer.spec is not None else (),
        spec_badges=(badge(BadgeKind.EMULATED),) if emulated else (),
        machine=words.offer_name(offer) if offer is not None else "",
        shape=_shape(offer) if offer is not None and not offer.own else "",
        machine_badge=_oversize(answer, offer),
        rate=format_rate(answer.throughput.value, subject.unit) if has_rate and answer.throughput else "",
        interval=words.half_width(answer.throughput) if has_rate and answer.throughput else "",
        rate_badge=_rate_badge(subject, answer) if has_rate else None,
        bar=_bar(subject, answer) if has_rate else None,
        bound_by=legend.part(HUES[bound], words.resource_name(bound, subject.device)) if bound is not None else None,
        hour=words.offer_price(offer) if offer is not None else "",
        million=words.price_of_samples(offer, subject.unit) if offer is not None else "",
        price_day=words.price_day(offer, subject.objective.spot) if _is_priced(offer) and offer is not None else "",
        sentence=words.against_sentence(answer, subject.objective.target, subject.terms),
        sentence_badge=badge(BadgeKind.EXTRAPOLATED) if baseline is not None and baseline.extrapolated else None,
        doubt=words.doubt_sentence(subject.answer, subject.terms),
        settle=words.settling_sentence(subject.answer, subject.terms),
        command=words.settling_command(subject.answer, material.folder) if material.folder else "",
    )


def status(answer: Answer | None) -> str:
    """The classes that colour what is shown of an answer."""
    if answer is None:
        return "refused"
    return f"{answer.status}{' provisional' if answer.provisional else ''}"


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


def _what(subject: Subject) -> str:
    plan = subject.plan.workload if subject.plan is not None else None
    return words.workload_in_words(plan or subject.runs[0].spec.workload)


def _data_badge(subject: Subject) -> Badge | None:
    embedded = any(run.data_set is not None and run.data_set.embedded for run in subject.runs)
    return badge(BadgeKind.EMBEDDED_DATA) if embedded else None


def _shape(offer: InstanceOffer) -> str:
    """The size of a machine that is larger than its spec, or says more; parts stay on one line."""
    return " · ".join(map(words.unbroken, words.offer_parts(offer)))


def _oversize(answer: Answer, offer: InstanceOffer | None) -> Badge | None:
    if answer.spec is None or offer is None:
        return None
    return words.oversize_badge(answer.spec, offer, answer.instances)


def _is_priced(offer: InstanceOffer | None) -> bool:
    return offer is not None and offer.usd_per_hour is not None


def _rate_badge(subject: Subject, answer: Answer) -> Badge | None:
    """That no run had just this spec; None where one had."""
    return None if answer.chosen is not None or _own_runs(subject) else badge(BadgeKind.PREDICTED)


def _own_runs(subject: Subject) -> list[Run]:
    """The runs that had just the spec of the answer."""
    measured = (run for run in as_asked(subject.runs) if results.measured(run))
    return [run for run in measured if preprocessing.is_answer(run.configuration, subject)]


def _bar(subject: Subject, answer: Answer) -> Markup | None:
    """The rate of the answer among those it was chosen from."""
    rate = answer.throughput
    if rate is None or rate.value <= 0:
        return None
    best = tuple(sorted(_candidates(subject, answer), key=lambda each: -each.rate)[:MOST_TICKS])
    said = words.rate_interval(rate, subject.unit)
    if best:
        said = _("{rate}; the best measured is {best}", rate=said, best=format_rate(best[0].rate, subject.unit))
    if answer.chosen is not None:
        return SmallBar(said, best, measured=rate.value, interval=rate).draw()
    own = _own_runs(subject)
    return SmallBar(said, best, measured=results.pooled(own).value if own else None, predicted=rate).draw()


def _candidates(subject: Subject, answer: Answer) -> list[Candidate]:
    """What the answer was chosen from: the machines that were compared, or the configurations that were measured."""
    if answer.alternatives:
        rates = [(words.machine_name(each, subject.terms), each.throughput.value) for each in answer.alternatives]
    else:
        measured = results.by_configuration(subject.runs)
        rates = [
            (words.configuration_line(each.configuration, subject.study), each.throughput.value) for each in measured
        ]
    return [
        Candidate(rate, _("{machine}: {rate}", machine=name, rate=format_rate(rate, subject.unit)))
        for name, rate in rates
    ]
