"""The first screen: the answer for each workload in a row, and what must be known of the whole study. Where a table of
frameworks is what the study is about, the rows are a section below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from sizer.model.observations import beside_others
from sizer.model.runs import as_asked
from sizer.plan.chosen import NextRun, PlanEnd
from sizer.records.answer import Alternative, Answer, InstanceOffer
from sizer.records.configuration import Estimate
from sizer.records.prediction import Spec
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome
from sizer.words.answers import a_million, machine_name, price_an_hour
from sizer.words.answers import how_sure as how_sure_text
from sizer.words.language import _, answered_rate, paragraph, rate_in_words, rate_interval, unbroken
from sizer.words.names import resource_name
from sizer.words.notes import note_in_words
from sizer.words.page import configuration_line, cross_answer, table_comes_first, workload_in_words
from sizer.words.planning import chosen_runs, going_on_with, plan_goes_on, unfinished_said
from sizer.words.runs import host_lines
from sizer.words.verdict import (
    Badge,
    BadgeKind,
    against_sentence,
    badge,
    doubt_sentence,
    family_sentence,
    idle_sentence,
    is_emulated,
    measured_on,
    next_run_sentences,
    objective_in_words,
    offer_parts,
    oversize_badge,
    price_day,
    provider_name,
    rate_of_its_runs,
    rented,
    runs_of_older_form,
    runs_there,
    settling_command,
    shared_sentences,
    spec_bound,
    spec_parts,
    spread_assumed,
    status_badge,
    without_disk,
)
from sizer.words.verdict import no_machine as no_machine_text

from . import doubts, results
from .charts import legend
from .charts.rows import Candidate, SmallBar
from .figures.binding import HUES
from .subject import Material, Subject

MOST_NOTES = 2
"""Notes of the study above a table of frameworks; an imported table may have a dozen."""


def contents(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    """What is answered first of all, and what must be known of the whole study."""
    runs = [run for subject in found for run in subject.runs]  # workloads in the study's order, wherever they are named
    embedded = bool(found) and all(subject.embedded for subject in found)
    table = material.recommendation.cross_table if material.recommendation is not None else None
    notes, more_notes = _notes(material, found)
    return {
        "objective": _objective(material),
        "measured": measured_on([run.started_at for run in runs]),
        "tally": doubts.tally(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        "embedded": badge(BadgeKind.EMBEDDED_DATA) if embedded else None,
        "drifting": badge(BadgeKind.DRIFTING) if material.drift is not None else None,
        "has_recommendation": material.recommendation is not None,
        "recommend": f"sizer recommend {material.folder}".strip(),
        **_missing(material),
        "compared": cross_answer(table) if table is not None else "",
        **(_NO_ANSWERS if _table_first(material) else _answers(material, found)),
        "notes": notes,
        "more_notes": more_notes,
    }


def answers(material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """The answer for each of many workloads, below the table of frameworks that the study is about; else None, as they
    are on the first screen."""
    return _answers(material, found) if _table_first(material) else None


def _table_first(material: Material) -> bool:
    return material.recommendation is not None and table_comes_first(material.recommendation, material.study)


def _answers(material: Material, found: Sequence[Subject]) -> dict[str, Any]:
    embedded = bool(found) and all(subject.embedded for subject in found)
    rows = [answer_row(subject, material) for subject in found]
    return {
        "rows": [replace(row, data_badge=None) for row in rows] if embedded else rows,
        "keys": _keys(rows),
        **_for_all(material),
    }


_NO_ANSWERS: Mapping[str, Any] = {"rows": [], "keys": [], "shared": [], "family": ""}


def _keys(rows: Sequence[AnswerRow]) -> list[legend.Key]:
    """What the bars mean, as far as they are on the page."""
    bars = [row.rate for row in rows if row.rate is not None and row.rate.bar is not None]
    predicted = [rate.badge is not None and rate.badge.kind == BadgeKind.PREDICTED.value for rate in bars]
    found = [legend.small_bar(_("rate, with the 90 % interval for a new run"))] if not all(predicted) else []
    found += [legend.small_bar(_("predicted rate, with its interval"), predicted=True)] if any(predicted) else []
    return [*found, legend.candidate(_("each that was measured"))] if bars else []


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return objective_in_words(material.study.objective)
    answers = recommendation.workloads
    accelerators = any(each.spec.gpu or each.spec.gpu_count for answer in answers for each in answer.alternatives)
    compared = bool(answers) and all(answer.alternatives for answer in answers)
    return objective_in_words(recommendation.objective, compared, accelerators)


def _missing(material: Material) -> dict[str, str]:
    """What is missing of the study, and the command that goes on with it; empty where nothing is."""
    progress = material.progress
    if progress is None or progress.is_complete:
        return {"missing": "", "resume": ""}
    resume = f"sizer resume {material.folder}"
    if isinstance(progress.chosen, NextRun):
        return {"missing": plan_goes_on(progress.chosen, material.study.emulated_disks), "resume": resume}
    ended = progress.chosen
    if progress.searching:
        said = unfinished_said(progress.searching, material.runs)
        return {"missing": said, "resume": going_on_with(progress.searching, material.folder, ended)}
    if ended is not None and ended.then is not None:
        said = chosen_runs(ended, material.study.emulated_disks, to_go_on=True)
        return {"missing": said, "resume": going_on_with((), material.folder, ended)}
    counts = sum(progress.finished.values()), sum(progress.planned.values()), sum(progress.older.values())
    return {"missing": runs_there(*counts, to_go_on=True), "resume": resume}


def _for_all(material: Material) -> dict[str, Any]:
    """One machine, and one family, for all workloads; empty where fewer than two have an answer."""
    recommendation = material.recommendation
    answered = [each for each in recommendation.workloads if each.spec is not None] if recommendation else []
    if recommendation is None or len(answered) < 2:
        return {"shared": [], "family": ""}
    return {
        "shared": shared_sentences(recommendation),
        "family": family_sentence(recommendation),
    }


def _notes(material: Material, found: Sequence[Subject]) -> tuple[list[str], list[str]]:
    """What must be known of the whole study, and what of it is folded away where the first screen has a table."""
    completed = [run for run in material.runs if run.outcome is Outcome.COMPLETED]
    host = host_lines(material.drift, sum(map(beside_others, completed)), len(completed))
    progress = material.progress
    older = sum(progress.older.values()) if progress is not None and progress.is_complete else 0
    changed = [runs_of_older_form(older)] if older else []
    assumed = [spread_assumed()] if material.study.imported and all(map(_is_bare, found)) else []
    told = [*map(note_in_words, material.notes), *assumed]
    kept = MOST_NOTES if _table_first(material) else len(told)
    return [*told[:kept], *_ended(material), *changed, *host], told[kept:]


def _ended(material: Material) -> list[str]:
    """How an adaptive plan ended, where that is not said with the command that goes on with it."""
    progress = material.progress
    if progress is None or not isinstance(progress.chosen, PlanEnd):
        return []
    if progress.chosen.then is not None and not progress.searching:
        return []
    return [chosen_runs(progress.chosen, material.study.emulated_disks)]


def _is_bare(subject: Subject) -> bool:
    """Whether its rates are single numbers: no interval, and no configuration a second time."""
    runs = subject.of_the_job
    once = len({run.configuration for run in runs}) == len(runs) > 0
    return once and not any(run.throughput is not None and run.throughput.low != run.throughput.high for run in runs)


MOST_TICKS = 24
"""Under a bar; of more candidates only the best are marked."""


@dataclass(frozen=True)
class Machine:
    """What to rent: its name, its size, and why it is larger than what is needed."""

    name: str
    shape: str = ""
    badge: Badge | None = None


APART = 0.03
"""How far the fitted rate may lie off that of its own runs and still be called the same."""


@dataclass(frozen=True)
class Rate:
    """The throughput with its interval, among what it was chosen from; `badge` where no run had this spec.

    Of machines that were compared it is what was measured there, else the model's; `runs` is what the runs of just this
    gave, where that is not the same.
    """

    value: str
    interval: str
    bar: Markup | None
    badge: Badge | None = None
    runs: str = ""


@dataclass(frozen=True)
class Cost:
    """What the machine costs an hour and for a million samples, and of which day the price is."""

    hour: str
    million: str = ""
    day: str = ""
    disk: str = ""


@dataclass(frozen=True)
class AnswerRow:
    """What the first screen says of one workload; None and empty where nothing is known.

    `kind` are the classes that colour it, `bound` is what stands before a spec that is a lower bound. `doubt` is why it
    is not to be relied on, `settle` what to do about that, and `command` what to type for it.
    """

    name: str
    what: str
    data_badge: Badge | None
    kind: str
    status: Badge
    how_sure: str
    no_machine: str
    bound: str
    spec: tuple[str, ...]
    spec_badge: Badge | None
    machine: Machine | None
    rate: Rate | None
    bound_by: legend.Key | None
    cost: Cost | None
    sentence: str
    sentence_badge: Badge | None
    doubt: str
    settle: str
    command: str


def answer_row(subject: Subject, material: Material) -> AnswerRow:
    """The row of one workload."""
    answer = subject.answer or Answer(subject.name, "refused")
    spec, bound = answer.spec, answer.bottleneck if answer.spec is not None else None
    extrapolated = answer.baseline is not None and answer.baseline.extrapolated
    unfinished = _unfinished(subject, material)
    return AnswerRow(
        name=subject.name,
        what=workload_in_words(subject.workload),
        data_badge=badge(BadgeKind.EMBEDDED_DATA) if subject.embedded else None,
        kind=subject.status,
        status=status_badge(subject.answer, bool(unfinished)),
        how_sure=how_sure_text(subject.answer, bool(unfinished)),
        no_machine=no_machine_text(subject.answer),
        bound=spec_bound(answer),
        spec=tuple(spec_parts(spec, subject.terms)) if spec is not None else (),
        spec_badge=badge(BadgeKind.EMULATED) if spec is not None and is_emulated(spec, subject.terms) else None,
        machine=_machine(answer, spec) if spec is not None else None,
        rate=_rate(answer, subject),
        bound_by=legend.part(HUES[bound], resource_name(bound, subject.device)) if bound is not None else None,
        cost=_cost(answer, subject),
        sentence=paragraph([against_sentence(answer, subject.terms), idle_sentence(answer)]),
        sentence_badge=badge(BadgeKind.EXTRAPOLATED) if extrapolated else None,
        doubt=unfinished or doubt_sentence(subject.answer, subject.terms),
        settle="" if unfinished else next_run_sentences(subject.answer, subject.terms, alone=True),
        command="" if unfinished else settling_command(subject.answer, material.folder),
    )


def _unfinished(subject: Subject, material: Material) -> str:
    """How many of its runs are there, where some are missing: that is all the doubt there is to settle first."""
    progress = material.progress
    if progress is None or not progress.is_missing(subject.name):
        return ""
    name = subject.name
    return runs_there(progress.finished.get(name, 0), progress.planned[name], progress.older.get(name, 0))


def _machine(answer: Answer, spec: Spec) -> Machine | None:
    """The machine whose price is shown; None where the table names none, or nothing is sold that holds the spec."""
    offer = rented(answer)
    if offer is None:
        named = answer.chosen.instance_type if answer.chosen is not None else None
        return Machine(named) if named else None
    shape = "" if offer.own else " · ".join(map(unbroken, offer_parts(offer)))
    return Machine(offer.called(provider_name(offer.provider)), shape, oversize_badge(spec, offer, answer.instances))


def _cost(answer: Answer, subject: Subject) -> Cost | None:
    if answer.spec is None:
        return None
    offer, chosen = rented(answer), answer.chosen
    if chosen is not None:
        return _own_cost(chosen, offer, subject)
    if offer is None:
        return None
    day = price_day(offer, subject.objective.spot) if offer.usd_per_hour is not None else ""
    disk = without_disk(answer.spec) if offer.usd_per_hour is not None else ""
    return Cost(price_an_hour(offer.usd_per_hour), a_million(offer.usd_per_million_samples, subject.unit), day, disk)


def _own_cost(chosen: Alternative, offer: InstanceOffer | None, subject: Subject) -> Cost:
    """Of machines that were compared the price is the table's own, or that of the instance type it names."""
    if chosen.usd_per_hour is None:
        return Cost(price_an_hour(None, chosen.usd_per_hour_spot))
    of_catalogue = offer is not None and offer.usd_per_hour == chosen.usd_per_hour
    return Cost(
        price_an_hour(chosen.usd_per_hour),
        a_million(chosen.usd_per_million_samples, subject.unit),
        price_day(offer if of_catalogue else None, subject.objective.spot),
    )


def _rate(answer: Answer, subject: Subject) -> Rate | None:
    """None where there is no rate, or its runs told rates that are known to be wrong."""
    throughput = answer.throughput
    if throughput is None or answer.spec is None or answer.rate_in_doubt:
        return None
    own = _own_runs(subject)
    known = results.pooled(own).value if own else None
    found, runs = None, ""
    if answer.chosen is None and known is None:
        found = badge(BadgeKind.PREDICTED)
    elif answer.chosen is None and known and abs(throughput.value / known - 1) > APART:
        found, runs = badge(BadgeKind.FITTED), rate_of_its_runs(known, subject.unit)
    return Rate(
        *answered_rate(throughput, subject.unit),
        _bar(throughput, answer, subject, own) if throughput.value > 0 else None,
        found,
        runs,
    )


def _own_runs(subject: Subject) -> list[Run]:
    """The runs that had just the spec of the answer."""
    return [run for run in subject.of_the_job if subject.is_answer(run.configuration)]


def _bar(rate: Estimate, answer: Answer, subject: Subject, own: list[Run]) -> Markup:
    """The rate of the answer among those it was chosen from."""
    best = tuple(sorted(_candidates(subject, answer), key=lambda each: -each.rate)[:MOST_TICKS])
    said = rate_interval(rate, subject.unit)
    if best:
        said = _("{rate}; the best measured is {best}", rate=said, best=rate_in_words(best[0].rate, subject.unit))
    return SmallBar(said, rate, best, predicted=answer.chosen is None and not own).draw()


def _candidates(subject: Subject, answer: Answer) -> list[Candidate]:
    """What the answer was chosen from: the machines that were compared, or the configurations that were measured."""
    if answer.alternatives:
        rates = [(machine_name(each, subject.terms), each.throughput.value) for each in answer.alternatives]
    else:
        measured = results.by_configuration(subject.runs)
        rates = [(configuration_line(each.configuration, subject.study), each.throughput.value) for each in measured]
    return [
        Candidate(rate, _("{machine}: {rate}", machine=name, rate=rate_in_words(rate, subject.unit)))
        for name, rate in rates
    ]
