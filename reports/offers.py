"""What can be rented that holds the specs: one table for all workloads, as plain dicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from typing import Any

from markupsafe import Markup

from sizer.model.edge import best_place
from sizer.recommend.job_changes import MIN_GAIN, Change, ChangeKind, changes, judged_by
from sizer.records.answer import CostRow, ForeignPrice, GpuOption, InstanceOffer
from sizer.records.messages import NoAnswer
from sizer.records.prediction import Configuration, Estimate, ReasonCode, reason
from sizer.records.units import GIB, RELATIVE, format_bytes, format_number, format_price, format_usd
from sizer.words import accelerators as gpu_words
from sizer.words import costs as cost_words
from sizer.words.answers import change_evidence, change_named, gain_in_words, no_change, then_bound
from sizer.words.language import _, paragraph, rate_in_words, rate_interval, sentence, several_of
from sizer.words.page import configuration_line
from sizer.words.reasons.phrasing import reason_sentences
from sizer.words.verdict import Badge, offer_source, provider_name

from . import markup
from .subject import Material, Subject

AT_ONCE = 10
"""Rows that are shown before the reader asks for more, as many of each workload; without JavaScript all are."""


def instances(_material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """A row for each workload and instance type, the cheapest first; None where no answer has a spec."""
    if not any(subject.spec is not None for subject in subjects):
        return None
    rows = [
        _instance_row(number, place, offer, subject)
        for number, subject in enumerate(subjects)
        for place, offer in enumerate(_offers(subject))
    ]
    workloads = [(number, subject.name) for number, subject in enumerate(subjects) if _offers(subject)]
    return {
        "rows": rows,
        "workloads": workloads if len(workloads) > 1 else [],
        "providers": sorted({row["provider"] for row in rows if row["provider"]}),
        "gpus": sorted({row["gpu"] for row in rows}, key=lambda name: (name != "", name)),
        "has_spot": any(row["spot"] for row in rows),
        "has_samples": any(row["million"] for row in rows),
        "without": [subject.name for subject in subjects if subject.spec is not None and not _offers(subject)],
        "of_each": max(1, AT_ONCE // max(1, len(workloads))),
    }


def _offers(subject: Subject) -> Sequence[InstanceOffer]:
    """In the answer's order, its own machine first; of those at one price the smaller first, then by name."""
    if subject.answer is None or not subject.answer.instances:
        return ()
    first, *others = subject.answer.instances
    by_size = sorted(others, key=lambda offer: (offer.gpu_count, offer.vcpus, offer.provider, offer.instance_type))
    order = {price: number for number, price in enumerate(dict.fromkeys(map(_price, others)))}
    return [first, *sorted(by_size, key=lambda offer: order[_price(offer)])]


def _price(offer: InstanceOffer) -> tuple[float | None, ForeignPrice | None]:
    return offer.usd_per_hour, offer.foreign


def _instance_row(number: int, place: int, offer: InstanceOffer, subject: Subject) -> dict[str, Any]:
    """Texts, and beside them the numbers to sort by: None is sorted last."""
    answer = subject.answer
    rate = (offer.throughput or answer.throughput) if answer is not None and not answer.rate_in_doubt else None
    source, as_of = offer_source(offer)
    million = offer.usd_per_million_samples if subject.unit != RELATIVE else None
    notes = [note for note in offer.notes if note != reason(ReasonCode.PRICES)]
    prices = {"hour": offer.usd_per_hour, "spot": offer.usd_per_hour_spot, "million": million}
    sizes = {"vcpus": offer.vcpus, "memory": offer.memory_bytes / GIB, "rate": rate.value if rate is not None else None}
    texts = {name: "" if usd is None else format_usd(usd) for name, usd in prices.items()}
    if offer.usd_per_hour is None or offer.foreign is not None:
        texts["hour"] = _("unknown") if offer.foreign is None else format_price(*astuple(offer.foreign))
    return {
        "workload": subject.name,
        "number": number,
        "is_cheapest": place == 0 and offer.usd_per_hour is not None,
        "provider": provider_name(offer.provider),
        "name": offer.called(""),
        "gpu": offer.gpu or "",
        "vcpus": format_number(offer.vcpus) if offer.vcpus else "–",
        "memory": format_bytes(offer.memory_bytes) if offer.memory_bytes else "–",
        "gpus": f"{offer.gpu_count} × {offer.gpu}" if offer.gpu else _("none"),
        "rate": _instance_rate(rate, offer, subject),
        **texts,
        "unit": several_of(subject.unit),
        "source": source,
        "as_of": as_of,
        "note": paragraph(reason_sentences(notes, subject.terms)),
        "sorted_by": sizes | prices,
    }


def _instance_rate(rate: Estimate | None, offer: InstanceOffer, subject: Subject) -> str:
    """The spec's own; of a machine with more vCPUs a lower bound."""
    if rate is None:
        return "–"
    spec, text = subject.spec, rate_in_words(rate.value, subject.unit)
    larger = offer.throughput is None and spec is not None and spec.vcpus is not None and offer.vcpus > spec.vcpus
    return f"≥ {text}" if larger else text


def costs(_material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """What the work takes and costs on each machine, with a GPU and without; None where nobody asked."""
    groups = [
        {
            "name": subject.name,
            "title": cost_words.title_of(subject.answer.costs, subject.terms),
            "rows": [_cost_row(row, subject) for row in subject.answer.costs.rows],
            "sentences": list(cost_words.costs_sentences(subject.answer.costs, subject.terms)),
        }
        for subject in subjects
        if subject.answer is not None and subject.answer.costs is not None and cost_words.is_asked(subject.answer)
    ]
    return {"groups": groups, "several": len(subjects) > 1} if groups else None


def _cost_row(row: CostRow, subject: Subject) -> dict[str, Any]:
    assert subject.answer is not None, "a row is of an answer"
    prices = {"on_demand": row.on_demand, "spot": row.spot}
    job, base = _("[[{time:time} the job]]", time=row.seconds), _("the baseline") if row.is_baseline else ""
    return {
        "name": (cost_words.machine_in_words(row, subject.terms), row.instance_type or ""),
        "rate": cost_words.rate_of(row, subject.terms),
        "time": (cost_words.ratio_in_words(row.time_ratio), job or base),
        **{
            name: ("" if cost is None else cost_words.ratio_in_words(cost.ratio), cost_words.prices_in_words(cost))
            for name, cost in prices.items()
        },
        "expected": cost_words.expected_in_words(row.spot_expected),
        "is_answer": (row.spec, row.throughput) == (subject.answer.spec, subject.answer.throughput),
    }


def which_gpu(_material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """What GPUs that were asked about would do for each workload; None where none was asked about."""
    groups = [
        {
            "name": subject.name,
            "compared": paragraph(gpu_words.gpus_compared(subject.answer.gpus, subject.terms)),
            "rows": [{"workload": subject.name, **_gpu_row(option, subject)} for option in subject.answer.gpus],
        }
        for subject in subjects
        if subject.answer is not None and subject.answer.gpus
    ]
    return {"groups": groups, "several": len(subjects) > 1} if groups else None


def _gpu_row(option: GpuOption, subject: Subject) -> dict[str, Any]:
    _headline, *lines_below = gpu_words.gpu_option_lines(option, subject.terms)
    lines = Markup("").join(Markup('<span class="under">{}</span>').format(line) for line in lines_below)
    if option.throughput is None:
        return {"gpu": option.gpu, "rate": sentence(gpu_words.no_gpu_answer(option)), "known": lines}
    return {
        "gpu": gpu_words.gpus_named(option),
        "rate": (rate_interval(option.throughput, subject.terms.unit), gpu_words.bound_there(option)),
        "machine": gpu_words.machine_and_cost(option, subject.terms),
        "known": lines,
    }


def instead(_material: Material, subjects: Sequence[Subject]) -> dict[str, Any] | None:
    """What to change in each job instead of renting more, where there is a model; None where there is none."""
    places = [(subject, here) for subject in subjects if (here := place_of_answer(subject)) is not None]
    rows = [row for subject, here in places for row in _changes(subject, here, subjects)]
    return {"rows": rows, "several": len(subjects) > 1} if rows else None


def place_of_answer(subject: Subject) -> Configuration | None:
    """The configuration that its answer is judged by, else that of the best rate; None without a model."""
    if subject.model is None:
        return None
    try:
        return judged_by(subject.model, subject.spec) if subject.spec is not None else best_place(subject.model)
    except NoAnswer:
        return None


def _changes(subject: Subject, here: Configuration, subjects: Sequence[Subject]) -> list[dict[str, Any]]:
    """A row for each change that surely gains something, else one that says that there is none."""
    assert subject.model is not None, "only a model has a place of the answer"
    candidates = [*_formats(subject, here, subjects), *changes(subject.model, subject.runs, here)]
    candidates.sort(key=lambda change: -change.gain.value)
    name, kind = (subject.name, configuration_line(here, subject.study)), subject.model.facts.kind
    rows = [
        {"name": ("", subject.name), **_change_row(change, subject, kind)} for change in candidates if change.is_sure
    ]
    if rows:
        return [{**rows[0], "name": name}, *rows[1:]]
    unsure = [(change_named(change, kind), gain_in_words(change)) for change in candidates[:1]]
    return [{"name": name, "nothing": no_change(*(unsure[0] if unsure else ("", "")), MIN_GAIN)}]


def _change_row(change: Change, subject: Subject, kind: str) -> dict[str, Any]:
    now = subject.answer.bottleneck if subject.answer is not None else None
    beyond = Badge.EXTRAPOLATED if change.extrapolated else Badge.PREDICTED
    return {
        "change": change_named(change, kind),
        "evidence": change_evidence(change, subject.terms),
        "gain": (gain_in_words(change), then_bound(change, now, subject.terms)),
        "badges": markup.badge(Badge.MEASURED if change.measured else beyond),
    }


def _formats(subject: Subject, here: Configuration, subjects: Sequence[Subject]) -> Iterator[Change]:
    """Workloads of the study that differ in the format of their data alone, and are faster there."""
    own = subject.measured_at(here)
    for other in subjects:
        there = other.measured_at(here)
        if own is None or there is None or other is subject or subject.unit == RELATIVE:
            continue
        mine, theirs = subject.runs[0].spec.workload, other.runs[0].spec.workload
        alike = ("kind", "framework", "network", "input", "cache", "device")
        if any(getattr(mine, name) != getattr(theirs, name) for name in alike) or mine.format == theirs.format:
            continue
        gained = Estimate(there.value / own.value - 1, there.low / own.high - 1, there.high / max(own.low, 1e-9) - 1)
        if gained.value >= MIN_GAIN:
            figures = {"format": theirs.format, "other": mine.format, "workload": other.name}
            yield Change(ChangeKind.FORMAT, gained, figures, measured=True)
