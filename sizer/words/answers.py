"""Answers in words: the verdict, why a spec was not taken, what to measure next, what a family must offer."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from sizer.records.answer import Answer, Family, InstanceOffer, Recommendation, Rejection
from sizer.records.device import HOST_DISK
from sizer.records.prediction import Action, Reason, ReasonCode, Refusal, Spec, Suggestion
from sizer.records.units import format_bytes
from sizer.words.figures import answered_interval, paragraph, vcpus_listed
from sizer.words.language import _, _n
from sizer.words.names import (
    Terms,
    bound_in_words,
    disk_in_words,
    gpu_name,
    listed,
    machine_unvaried,
    row,
    spec_name,
    with_instance,
)
from sizer.words.reasons import reason_sentence
from sizer.words.units import units_a_second, vcpus_in_words


def headline(answer: Answer, terms: Terms) -> str:
    """The verdict without its reasons: `training: recommended 1 vCPU, 217 images/s (210 images/s to 221 images/s)`."""
    if answer.spec is None or answer.throughput is None:
        if answer.job is not None:
            return _("{workload}: nothing measured is in time", workload=answer.workload)
        return _("{workload}: no recommendation", workload=answer.workload)
    rate, unit = answer.throughput, answer.sample_unit
    spec = with_instance(spec_name(answer.spec, terms), _own_machine(answer)) or machine_unvaried(terms.device)
    said = verdict(answer, spec)
    if answer.rate_in_doubt:
        return _(
            "{workload}: {verdict}, of which the rate in {unit} is not known",
            workload=answer.workload,
            verdict=said,
            unit=units_a_second(unit),
        )
    value, low, high = answered_interval(rate, unit)
    known = {"workload": answer.workload, "verdict": said, "rate": value, "low": low, "high": high}
    if answer.bottleneck is None:
        return _("{workload}: {verdict}, {rate} ({low} to {high})", **known)
    bound = bound_in_words(answer.bottleneck, terms.device)
    return _("{workload}: {verdict}, {rate} ({low} to {high}), {bound}", **known, bound=bound)


def conclusion_line(answer: Answer, terms: Terms) -> str:
    """The headline, and where there is no spec, why not and what would help."""
    line = headline(answer, terms)
    if answer.spec is not None and not answer.rate_in_doubt:
        return line
    why = reason_sentences(answer, terms) if answer.spec is None else [reason_sentence(answer.reasons[0], terms)]
    if answer.next_run is not None:
        why.append(suggestion_sentences(answer.next_run, terms))
    return _("{headline}. {why}", headline=line, why=paragraph(why))


def verdict(answer: Answer, spec: str) -> str:
    """`recommended 4 vCPUs`; what is a lower bound, not settled, or rests on doubtful runs does not sound as sure."""
    if answer.edge == "unsettled":
        return _("not settled, {spec} so far", spec=spec)
    if answer.status == "refused":
        return _("refused {spec}", spec=spec)
    if answer.status == "at_least":
        if answer.provisional:
            return _("provisionally at least {spec}", spec=spec)
        return _("at least {spec}", spec=spec)
    if answer.provisional:
        return _("provisionally recommended {spec}", spec=spec)
    return _("recommended {spec}", spec=spec)


MOST_REASONS = 3
"""So many reasons are said at once: they come by importance. The page folds the others away, and the JSON has all."""
NOTES = frozenset(
    {
        ReasonCode.RUNS_DOUBTFUL,
        ReasonCode.MEASURED_BESIDE_OTHERS,
        ReasonCode.ONLY_MEASURED_SIZES,
        ReasonCode.FEW_MEMORY_CAPS,
        ReasonCode.RUNS_FAILED,
        ReasonCode.PRICES,
        ReasonCode.RETIRED,
        ReasonCode.EMULATED,
    }
)
"""What must be known of any answer that it is true of, and is always said."""


def reasons_said(reasons: Sequence[Reason]) -> tuple[list[Reason], list[Reason]]:
    """Those that are said at once, the most important and what is always said; and the others."""
    plain = [each for each in reasons if each.code not in NOTES]
    first = plain[:MOST_REASONS] + [each for each in reasons if each.code in NOTES]
    return first, plain[MOST_REASONS:]


def main_sentences(answer: Answer, terms: Terms) -> list[str]:
    """The most important reasons of an answer, and what is always said."""
    return [reason_sentence(reason, terms) for reason in reasons_said(answer.reasons)[0]]


def reason_sentences(answer: Answer, terms: Terms) -> list[str]:
    """Each reason of an answer, the most important first."""
    return [reason_sentence(reason, terms) for reason in answer.reasons]


def rates_in_doubt(mistold: Reason, terms: Terms) -> str:
    """Why the rates of a workload are known to be wrong, in a line of its own."""
    return _("workload `{workload}`: {why}", workload=terms.workload, why=reason_sentence(mistold, terms))


def rejection_sentences(rejection: Rejection, terms: Terms) -> str:
    """Why a cheaper spec was not taken."""
    return paragraph(reason_sentence(reason, terms) for reason in rejection.why)


def rejection_line(rejection: Rejection, terms: Terms) -> str:
    """Which spec was not taken, and why."""
    spec = with_instance(spec_name(rejection.spec, terms), rejection.instance_type)
    return _("Not {spec}: {why}", spec=spec, why=rejection_sentences(rejection, terms))


def _own_machine(answer: Answer) -> str | None:
    """What the table calls the machine of the answer."""
    own = next((offer for offer in answer.instances if offer.own), None)
    return None if own is None else own.called(own.provider)


def next_line(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next."""
    return _("Next: {suggestion}", suggestion=suggestion_sentences(suggestion, terms))


def offer_notes(offer: InstanceOffer, terms: Terms) -> list[str]:
    """What to know of an instance type, a sentence each."""
    return [reason_sentence(note, terms) for note in offer.notes]


def refusal_sentences(refusal: Refusal, terms: Terms) -> str:
    """Why there is no answer, and what would help."""
    why = reason_sentence(refusal.reason, terms)
    return paragraph([why, suggestion_sentences(refusal.suggestion, terms) if refusal.suggestion is not None else ""])


def suggestion_sentences(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next, and what it would settle."""
    asked = _asked(suggestion, terms)
    why = suggestion.why
    if why is None or why.code is ReasonCode.NOT_IN_TABLE:
        return asked
    return paragraph([asked, reason_sentence(why, terms)])


def _asked(suggestion: Suggestion, terms: Terms) -> str:
    if suggestion.action is Action.MEASURE:
        return _to_measure(suggestion, terms)
    if suggestion.action is Action.REPEAT:
        return _to_repeat(suggestion, terms)
    if suggestion.action is Action.RETRY:
        return _to_retry(suggestion, terms)
    if suggestion.action is Action.IMPORT:
        return _to_import(suggestion, terms)
    if suggestion.action is Action.RENAME:
        return _("Give each its own workload name.")
    return _("Finish the study, or measure the whole job.")


def _to_measure(suggestion: Suggestion, terms: Terms) -> str:
    known = {"workload": terms.workload}
    if names_a_place(suggestion):
        return _("Measure `{workload}` with {spec}.", **known, spec=_place(suggestion, terms))
    if suggestion.vcpus and suggestion.needs_larger_host:
        return _(
            "Measure `{workload}` at {vcpus}, on a larger host than the one that measured, which has {host}.",
            **known,
            vcpus=vcpus_listed(suggestion.vcpus),
            host=vcpus_in_words(suggestion.host_vcpus or 0),
        )
    if suggestion.vcpus:
        return _("Measure `{workload}` at {vcpus}.", **known, vcpus=vcpus_listed(suggestion.vcpus))
    if suggestion.memory_bytes is not None:
        memory = format_bytes(suggestion.memory_bytes)
        return _("Measure `{workload}` with {memory} of memory.", **known, memory=memory)
    if suggestion.batch_size is not None:
        return _("Measure `{workload}` with a batch of {batch}.", **known, batch=suggestion.batch_size)
    if suggestion.gpu_count is not None:
        return _n(
            "Measure `{workload}` with {count} accelerator.",
            "Measure `{workload}` with {count} accelerators.",
            suggestion.gpu_count,
            **known,
        )
    if suggestion.disk is not None:
        return _("Measure it there, or give the disk's rates with --disk-iops and --disk-mbps.")
    if suggestion.input is not None:
        return _("Also measure `{workload}` with `input: {input}`.", **known, input=suggestion.input)
    if suggestion.accounting:
        return _("Measure a run of `{workload}` with disk accounting (read_bytes).", **known)
    if suggestion.gpu is not None:
        gpu = gpu_name(suggestion.gpu)
        return _("Measure `{workload}` on {gpu}.", **known, gpu=gpu)
    return _("Measure `{workload}`.", **known)


def names_a_place(suggestion: Suggestion) -> bool:
    """Whether it names more than vCPUs beside these."""
    others = suggestion.memory_bytes, suggestion.disk, suggestion.batch_size, suggestion.gpu_count
    return len(suggestion.vcpus) == 1 and any(each is not None for each in others)


def _place(suggestion: Suggestion, terms: Terms) -> str:
    place = Spec(
        suggestion.vcpus[0],
        suggestion.memory_bytes,
        suggestion.disk,
        suggestion.batch_size,
        suggestion.gpu,
        suggestion.gpu_count or 0,
    )
    return spec_name(place, terms)


def _to_repeat(suggestion: Suggestion, terms: Terms) -> str:
    known = {"workload": terms.workload}
    if suggestion.repeat_how in ("batches", "counter", "units", "batch_size"):
        return _once_corrected(suggestion.repeat_how, terms.workload)
    if not suggestion.vcpus:
        return _("Repeat `{workload}`.", **known)
    if names_a_place(suggestion):
        return _("Repeat `{workload}` with {spec}.", **known, spec=_place(suggestion, terms))
    return _("Repeat `{workload}` at {vcpus}.", **known, vcpus=vcpus_listed(suggestion.vcpus))


def _once_corrected(what: str, workload: str) -> str:
    """What to correct in the study file before it is measured again."""
    known = {"workload": workload}
    return {
        "batches": _("Name the group `batches` in the pattern of `{workload}`, and measure it again.", **known),
        "counter": _("Let the pattern of `{workload}` read a counter (`step`), too, and measure it again.", **known),
        "units": _("Correct the units in the pattern of `{workload}`, and measure it again.", **known),
        "batch_size": _("Give `{workload}` the `batch_size` that its log tells, and measure it again.", **known),
    }[what]


def _to_retry(suggestion: Suggestion, terms: Terms) -> str:
    if not suggestion.vcpus:
        return _("`sizer status` says how each run ended: fix the cause, and measure again with --retry.")
    return _(
        "No run of `{workload}` at {vcpus} completed, and `sizer status` says why: fix the cause, and measure them "
        "again with --retry.",
        workload=terms.workload,
        vcpus=vcpus_listed(suggestion.vcpus),
    )


def _to_import(suggestion: Suggestion, terms: Terms) -> str:
    if suggestion.job_by is not None:
        return _("Import the table again with `--job-by {column}`.", column=shlex.quote(suggestion.job_by))
    if suggestion.column is None:
        return _("Import a table with runs of it that completed.")
    if suggestion.why is not None:
        return _(
            "Measure `{workload}` at three vCPU values or more, or add a column `{column}` and import the table again.",
            workload=terms.workload,
            column=suggestion.column,
        )
    return _("Add a column `{column}` and import the table again.", column=suggestion.column)


def family_sentences(recommendation: Recommendation) -> dict[str, str]:
    """What one instance family must offer, by the name of the axis; empty without an answer."""
    family, answers = recommendation.family, recommendation.workloads
    found = {}
    if family.least_vcpus is not None and family.most_vcpus is not None:
        each = row(_vcpus_of(answer) for answer in answers if answer.spec and answer.spec.vcpus is not None)
        found["vcpus"] = _vcpus_needed(family, each)
    if family.gib_per_vcpu is not None:
        found["gib_per_vcpu"] = _memory_needed(family, answers)
    if family.disks:
        names = {name: _tier(disk) for name, disk in family.disks.items()}
        tiers = sorted(set(names.values()))
        each = row(f"{name} {disk}" for name, disk in names.items())
        found["disk"] = _("{disk} is enough for all", disk=tiers[0]) if len(tiers) == 1 else each
    if family.not_covered:
        found["not_covered"] = listed(family.not_covered)
    return found


def _tier(disk: str) -> str:
    return disk_in_words(disk) if disk == HOST_DISK else disk


def _vcpus_needed(family: Family, each: str) -> str:
    known = {"least": f"{family.least_vcpus:g}", "most": f"{family.most_vcpus:g}", "each": each}
    if family.least_vcpus == family.most_vcpus:
        return _("at least {most} ({each})", **known) if family.rising else _("{most} ({each})", **known)
    if family.rising:
        return _("{least} to at least {most} ({each})", **known)
    return _("{least} to {most} ({each})", **known)


def _vcpus_of(answer: Answer) -> str:
    vcpus = answer.spec.vcpus if answer.spec is not None else None
    known = {"workload": answer.workload, "vcpus": f"{vcpus or 0:g}"}
    if answer.edge == "unsettled":
        return _("{workload} {vcpus} so far", **known)
    return _("{workload} at least {vcpus}", **known) if answer.status == "at_least" else f"{answer.workload} {vcpus:g}"


def _memory_needed(family: Family, answers: Sequence[Answer]) -> str:
    spec = next(answer.spec for answer in answers if answer.workload == family.memory_workload)
    known = {
        "ratio": f"{family.gib_per_vcpu:g}",
        "workload": family.memory_workload,
        "memory": format_bytes((spec.memory_bytes if spec else None) or 0),
        "vcpus": vcpus_in_words((spec.vcpus if spec else None) or 0),
    }
    if not family.sold:
        return _(
            "{ratio}, more than the 8 that families offer (most is needed by {workload}: {memory} for {vcpus})", **known
        )
    return _("{ratio} (most is needed by {workload}: {memory} for {vcpus})", **known)
