"""What can be rented that holds the specs: one table for all workloads, as plain dicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from sizer.records.answer import InstanceOffer
from sizer.records.configuration import Estimate
from sizer.records.prediction import ReasonCode
from sizer.records.units import GIB, RELATIVE, format_bytes, format_number, format_usd
from sizer.words.answers import offer_notes
from sizer.words.language import _, paragraph, rate_in_words, several_of
from sizer.words.verdict import offer_source, provider_name

from .material import Material
from .subject import Subject

AT_ONCE = 10
"""Rows that are shown before the reader asks for more, as many of each workload; without JavaScript all are."""


def contents(_material: Material, found: Sequence[Subject]) -> dict[str, Any] | None:
    """A row for each workload and instance type, the cheapest first; None where no answer has a spec."""
    if not any(subject.answer is not None and subject.answer.spec is not None for subject in found):
        return None
    rows = [
        _row(number, place, offer, subject)
        for number, subject in enumerate(found)
        for place, offer in enumerate(_offers(subject))
    ]
    workloads = [(number, subject.name) for number, subject in enumerate(found) if _offers(subject)]
    return {
        "rows": rows,
        "workloads": workloads if len(workloads) > 1 else [],
        "providers": sorted({row["provider"] for row in rows if row["provider"]}),
        "gpus": sorted({row["gpu"] for row in rows}, key=lambda name: (name != "", name)),
        "has_spot": any(row["spot"] for row in rows),
        "has_samples": any(row["million"] for row in rows),
        "without": [
            subject.name
            for subject in found
            if subject.answer is not None and subject.answer.spec is not None and not subject.answer.instances
        ],
        "of_each": max(1, AT_ONCE // max(1, len(workloads))),
    }


def _offers(subject: Subject) -> Sequence[InstanceOffer]:
    """In the answer's order, its own machine first; of those at one price the smaller first, then by name."""
    if subject.answer is None or not subject.answer.instances:
        return ()
    first, *others = subject.answer.instances
    alike = groupby(others, key=lambda offer: offer.usd_per_hour)
    return [first, *(offer for _price, group in alike for offer in sorted(group, key=_size_and_name))]


def _size_and_name(offer: InstanceOffer) -> tuple[int, float, str, str]:
    return offer.gpu_count, offer.vcpus, offer.provider, offer.instance_type


def _row(number: int, place: int, offer: InstanceOffer, subject: Subject) -> dict[str, Any]:
    """Texts, and beside them the numbers to sort by: None is sorted last."""
    answer = subject.answer
    rate = answer.throughput if answer is not None and not answer.rate_in_doubt else None
    source, as_of = offer_source(offer)
    million = offer.usd_per_million_samples if subject.unit != RELATIVE else None
    notes = replace(offer, notes=tuple(note for note in offer.notes if note.code is not ReasonCode.PRICES))
    return {
        "workload": subject.name,
        "number": number,
        "is_cheapest": place == 0 and offer.usd_per_hour is not None,
        "provider": provider_name(offer.provider),
        "name": offer.called(""),
        "vcpus": _size(offer.vcpus),
        "memory": format_bytes(offer.memory_bytes) if offer.memory_bytes else "–",
        "gpu": offer.gpu or "",
        "gpus": f"{offer.gpu_count} × {offer.gpu}" if offer.gpu else _("none"),
        "rate": _rate(rate, offer, subject),
        "hour": _usd(offer.usd_per_hour),
        "spot": _usd(offer.usd_per_hour_spot) if offer.usd_per_hour_spot is not None else "",
        "million": format_usd(million) if million is not None else "",
        "unit": several_of(subject.unit),
        "source": source,
        "as_of": as_of,
        "note": paragraph(offer_notes(notes, subject.terms)),
        "sorted_by": {
            "vcpus": offer.vcpus,
            "memory": offer.memory_bytes / GIB,
            "rate": rate.value if rate is not None else None,
            "hour": offer.usd_per_hour,
            "spot": offer.usd_per_hour_spot,
            "million": million,
        },
    }


def _rate(rate: Estimate | None, offer: InstanceOffer, subject: Subject) -> str:
    """The spec's own; of a machine with more vCPUs a lower bound."""
    if rate is None:
        return "–"
    said = rate_in_words(rate.value, subject.unit)
    spec = subject.answer.spec if subject.answer is not None else None
    return f"≥ {said}" if spec is not None and spec.vcpus is not None and offer.vcpus > spec.vcpus else said


def _size(vcpus: float) -> str:
    return format_number(vcpus) if vcpus else "–"


def _usd(price: float | None) -> str:
    return format_usd(price) if price is not None else _("unknown")
