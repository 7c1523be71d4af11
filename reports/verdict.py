"""The first screen: the answer for each workload in a row, and what must be known of the whole study. Where a table of
frameworks is what the study is about, the rows are a section below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sizer.model.observations import beside_others
from sizer.model.runs import as_asked
from sizer.plan.chooser import NextRun, PlanEnd
from sizer.records.answer import Answer
from sizer.records.prediction import Estimate, ReasonCode, Spec
from sizer.records.run_kinds import Outcome
from sizer.words import verdict as words
from sizer.words.answers import how_sure as how_sure_text
from sizer.words.answers import machine_name
from sizer.words.language import _, answered_rate, paragraph, rate_in_words, rate_interval, unbroken
from sizer.words.names import price_an_hour, resource_name
from sizer.words.page import configuration_line, cross_answer, table_comes_first, workload_in_words
from sizer.words.runs import host_lines
from sizer.words.studies.notes import note_in_words
from sizer.words.studies.planning import chosen_runs, going_on_with, plan_goes_on, unfinished_said

from . import doubts, results
from .charts.legend import Key, key
from .charts.rows import small_bar
from .figures.binding import HUES
from .subject import Material, Subject

MOST_NOTES = 2
"""Notes of the study above a table of frameworks; an imported table may have a dozen."""


def contents(material: Material, subjects: Sequence[Subject]) -> dict[str, Any]:
    """What is answered first of all, and what must be known of the whole study."""
    # Workloads in the study's order, wherever they are named.
    runs = [run for subject in subjects for run in subject.runs]
    embedded = bool(subjects) and all(subject.embedded for subject in subjects)
    table = material.recommendation.cross_table if material.recommendation is not None else None
    notes, more_notes = _notes(material, subjects)
    return {
        "objective": _objective(material),
        "measured": words.measured_on([run.started_at for run in runs]),
        "tally": doubts.tally(runs),
        "warned_count": sum(bool(run.warnings) for run in as_asked(runs)),
        "embedded": words.Badge.EMBEDDED_DATA if embedded else None,
        "drifting": words.Badge.DRIFTING if material.drift is not None else None,
        "has_recommendation": material.recommendation is not None,
        "recommend": f"sizer recommend {material.folder}".strip(),
        **_missing(material),
        "compared": cross_answer(table) if table is not None else "",
        **(_NO_ANSWERS if _table_first(material) else _answers(material, subjects)),
        "notes": notes,
        "more_notes": more_notes,
    }


def answers(material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """The answer for each of many workloads, below the table of frameworks that the study is about; else None, as they
    are on the first screen."""
    return _answers(material, subjects) if _table_first(material) else None


def _table_first(material: Material) -> bool:
    return material.recommendation is not None and table_comes_first(material.recommendation, material.study)


def _answers(material: Material, subjects: Sequence[Subject]) -> dict[str, Any]:
    rows = [answer_row(subject, material) for subject in subjects]
    if subjects and all(subject.embedded for subject in subjects):  # which the first line says
        rows = [{**row, "data_badge": None} for row in rows]
    return {"rows": rows, "keys": _keys(rows)}


NOT_MEASURED = (words.Badge.PREDICTED, words.Badge.TRANSFERRED)
_NO_ANSWERS: Mapping[str, Any] = {"rows": [], "keys": []}


def _keys(rows: Sequence[Mapping[str, Any]]) -> list[Key]:
    """What the bars mean, as far as they are on the page."""
    badges = [row["rate"]["badge"] for row in rows if row["rate"] and row["rate"]["bar"]]
    predicted = [one in NOT_MEASURED for one in badges]
    meanings = {
        "small bar": (not all(predicted), _("rate, with the 90 % interval for a new run")),
        "small predicted bar": (any(predicted), _("predicted rate, with its interval")),
        "candidate": (bool(badges), _("each that was measured")),
    }
    coloured = {"candidate": "neutral"}
    return [key(mark, text, coloured.get(mark, "series-0 alone")) for mark, (shown, text) in meanings.items() if shown]


def _objective(material: Material) -> str:
    """What was asked for."""
    recommendation = material.recommendation
    if recommendation is None:
        return words.objective_in_words(material.study.objective)
    answers = recommendation.workloads
    accelerators = any(
        alternative.spec.gpu or alternative.spec.gpu_count for answer in answers for alternative in answer.alternatives
    )
    compared = bool(answers) and all(answer.alternatives for answer in answers)
    return words.objective_in_words(recommendation.objective, compared, accelerators)


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
        sentence = unfinished_said(progress.searching, material.runs)
        return {"missing": sentence, "resume": going_on_with(progress.searching, material.folder, ended)}
    if ended is not None and ended.then is not None:
        sentence = chosen_runs(ended, material.study.emulated_disks, to_go_on=True)
        return {"missing": sentence, "resume": going_on_with((), material.folder, ended)}
    counts = sum(progress.finished.values()), sum(progress.planned.values()), sum(progress.older.values())
    return {"missing": words.runs_there(*counts, to_go_on=True), "resume": resume}


def _notes(material: Material, subjects: Sequence[Subject]) -> tuple[list[str], list[str]]:
    """What must be known of the whole study, and what of it is folded away where the first screen has a table."""
    completed = [run for run in material.runs if run.outcome is Outcome.COMPLETED]
    host = host_lines(material.drift, sum(map(beside_others, completed)), len(completed))
    progress = material.progress
    older = sum(progress.older.values()) if progress is not None and progress.is_complete else 0
    changed = [words.runs_of_older_form(older)] if older else []
    assumed = [words.spread_assumed()] if material.study.imported and all(map(_is_bare, subjects)) else []
    notes = [*map(note_in_words, material.notes), *assumed]
    kept = MOST_NOTES if _table_first(material) else len(notes)
    return [*notes[:kept], *_ended(material), *changed, *host], notes[kept:]


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


APART = 0.03
"""How far the fitted rate may lie off that of its own runs and still be called the same."""


def answer_row(subject: Subject, material: Material) -> dict[str, Any]:
    """What the first screen says of one workload; None and empty where nothing is known.

    `kind` are the classes that colour it, `bound` is what stands before a spec that is a lower bound. `doubt` is why it
    is not to be relied on, `settle` what to do about that, and `command` what to type for it.
    """
    answer = subject.answer or Answer(subject.name, "refused")
    spec, bound = answer.spec, answer.bottleneck if answer.spec is not None else None
    extrapolated = answer.baseline is not None and answer.baseline.extrapolated
    unfinished = _unfinished(subject, material)
    resource = resource_name(bound, subject.device) if bound is not None else ""
    against = [words.against_sentence(answer, subject.terms), words.idle_sentence(answer)]
    return {
        "name": subject.name,
        "what": workload_in_words(subject.workload),
        "data_badge": words.Badge.EMBEDDED_DATA if subject.embedded else None,
        "kind": subject.status,
        "status": words.status_badge(subject.answer, bool(unfinished)),
        "how_sure": how_sure_text(subject.answer, bool(unfinished)),
        "no_machine": words.no_machine(subject.answer),
        "bound": words.spec_bound(answer),
        "spec": tuple(words.spec_parts(answer, subject.terms)),
        "spec_badge": words.Badge.EMULATED if spec is not None and words.is_emulated(spec, subject.terms) else None,
        "machine": _machine(answer, spec) if spec is not None else None,
        "rate": _rate(answer, subject),
        "bound_by": key("part", resource, f"hue-{HUES[bound]}") if bound is not None else None,
        "cost": _cost(answer, subject),
        "sentence": paragraph(against),
        "sentence_badge": words.Badge.EXTRAPOLATED if extrapolated else None,
        "doubt": unfinished or words.doubt_sentence(subject.answer, subject.terms),
        "settle": "" if unfinished else words.next_run_sentences(subject.answer, subject.terms, alone=True),
        "command": "" if unfinished else words.settling_command(subject.answer, material.folder),
    }


def _unfinished(subject: Subject, material: Material) -> str:
    """How many of its runs are there, where some are missing: that is all the doubt there is to settle first."""
    progress = material.progress
    if progress is None or not progress.is_missing(subject.name):
        return ""
    name = subject.name
    return words.runs_there(progress.finished.get(name, 0), progress.planned[name], progress.older.get(name, 0))


def _machine(answer: Answer, spec: Spec) -> dict[str, Any] | None:
    """The machine whose price is shown: its name, its size, and why it is larger than what is needed; None where the
    table names none, or nothing is sold that holds the spec."""
    offer = words.rented(answer)
    if offer is None:
        named = answer.chosen.instance_type if answer.chosen is not None else None
        return {"name": named, "shape": "", "badge": None} if named else None
    shape = "" if offer.own else " · ".join(map(unbroken, words.offer_parts(offer)))
    return {
        "name": offer.called(words.provider_name(offer.provider)),
        "shape": shape,
        "badge": words.oversize_badge(spec, offer, answer.instances),
    }


def _cost(answer: Answer, subject: Subject) -> dict[str, str] | None:
    """What the machine costs an hour and for a million samples, and of which day the price is: of machines that were
    compared it is the table's own, or that of the instance type it names."""
    offer, chosen = words.rented(answer), answer.chosen
    if answer.spec is None or (chosen is None and offer is None):
        return None
    if chosen is not None:
        usd, million, disk = chosen.usd_per_hour, chosen.usd_per_million_samples, ""
        hour = price_an_hour(usd, None if usd else chosen.usd_per_hour_spot, chosen.foreign)
        source = offer if offer is not None and offer.usd_per_hour == usd else None
    elif offer is not None:
        usd, million, disk, source = (
            offer.usd_per_hour,
            offer.usd_per_million_samples,
            words.without_disk(answer.spec),
            offer,
        )
        hour = price_an_hour(usd, foreign=offer.foreign)
    if usd is None:
        has_foreign = source is not None and source.foreign is not None
        return {"hour": hour, "million": "", "day": words.price_day(source, False) if has_foreign else "", "disk": ""}
    day = words.price_day(source, subject.objective.spot)
    there = None if chosen is not None or offer is None else offer.throughput
    in_words = words.million_there(million, answer.throughput, there, subject.unit)
    return {"hour": hour, "million": in_words, "day": day, "disk": disk}


def _rate(answer: Answer, subject: Subject) -> dict[str, Any] | None:
    """The throughput with its interval, among what it was chosen from; `badge` where no run had this spec. None where
    there is none, or its runs told rates that are known to be wrong.

    Of machines that were compared it is what was measured there, else the model's; `runs` is what the runs of just this
    gave, where that is not the same.
    """
    throughput = answer.throughput
    if throughput is None or answer.spec is None or answer.rate_in_doubt:
        return None
    own = [run for run in subject.of_the_job if subject.is_answer(run.configuration)]
    usual = results.pooled(own).value if own else None
    kind, runs = None, ""
    if any(reason.code is ReasonCode.TRANSFERRED for reason in answer.reasons):
        kind = words.Badge.TRANSFERRED
    elif answer.chosen is None and usual is None:
        kind = words.Badge.PREDICTED
    elif answer.chosen is None and usual and abs(throughput.value / usual - 1) > APART:
        kind, runs = words.Badge.FITTED, words.rate_of_its_runs(usual, subject.unit)
    value, interval = answered_rate(throughput, subject.unit)
    return {
        "value": value,
        "interval": interval,
        "bar": _bar(throughput, answer, subject, kind in NOT_MEASURED) if throughput.value > 0 else None,
        "badge": kind,
        "runs": runs,
    }


def _bar(rate: Estimate, answer: Answer, subject: Subject, predicted: bool) -> Markup:
    """The rate of the answer among those it was chosen from: the machines that were compared, or the configurations
    that were measured."""
    if answer.alternatives:
        rates = [
            (alternative.throughput.value, machine_name(alternative, subject.terms))
            for alternative in answer.alternatives
        ]
    else:
        measured = results.by_configuration(subject.runs)
        rates = [
            (result.throughput.value, configuration_line(result.configuration, subject.study)) for result in measured
        ]
    rates = sorted(rates, key=lambda pair: -pair[0])[:MOST_TICKS]
    titles = [(own, _("{machine}: {rate}", machine=name, rate=rate_in_words(own, subject.unit))) for own, name in rates]
    label = rate_interval(rate, subject.unit)
    if rates:
        label = _("{rate}; the best measured is {best}", rate=label, best=rate_in_words(rates[0][0], subject.unit))
    return small_bar(label, rate, titles, predicted)
