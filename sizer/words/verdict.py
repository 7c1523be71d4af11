"""The first screen of the page and an answer as its section says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from enum import Enum

from sizer.records.answer import Answer, InstanceOffer
from sizer.records.prediction import Action, Estimate, Reason, ReasonCode, Spec
from sizer.records.study import Objective
from sizer.records.units import format_bytes
from sizer.words import names
from sizer.words.answers import MOST_REASONS, NOTES
from sizer.words.language import (
    N_,
    Sentence,
    Templates,
    _,
    paragraph,
    rate_in_words,
    row,
    vcpus_in_words,
    without_marks,
)
from sizer.words.names import Terms, day_of_price
from sizer.words.reasons.phrasing import reason_sentences, suggestion_sentences

DOUBTS = (
    *(ReasonCode.GAIN_UNKNOWN, ReasonCode.SIZE_OPEN),
    *(ReasonCode.CHOICE_CLOSE, ReasonCode.RUNS_APART, ReasonCode.UNPRICED, ReasonCode.ONLY_MEASURED_SIZES),
    *(ReasonCode.RATE_CONTRADICTED, ReasonCode.JOBS_MIXED, ReasonCode.RISES, ReasonCode.RUNS_DOUBTFUL),
)
"""Why an answer is not settled, or provisional."""


# Badges: words that mark what is not an ordinary measured figure, each with what it means to a first-time reader.


class Badge(Enum):
    """A word that the page shows, and what pointing at it explains; its `kind` decides the colour."""

    # How a figure was come by.
    MEASURED = N_("measured"), N_("A run had just this configuration.")
    FITTED = N_("fitted"), N_("The model's rate, by all runs; those of just this configuration gave another one.")
    PREDICTED = N_("predicted"), N_("No run had this configuration: the model says it, from runs on both sides.")
    TRANSFERRED = N_("transferred"), N_("Measured on another CPU; the rate is moved by how fast both are.")
    EXTRAPOLATED = N_("extrapolated"), N_("Beyond what was measured. Measure there before you rely on it.")
    EMULATED = (
        N_("emulated"),
        N_("Imitated at its published speed: a disk's IOPS and MB/s, or how long an accelerator takes for a step."),
    )
    EMBEDDED_DATA = (
        N_("embedded data"),
        N_("A small data set of sizer was read in place of yours; your own files may be slower or faster."),
    )

    # What speaks against relying on it.
    DRIFTING = (
        N_("drifting"),
        N_("The measuring host became slower or faster meanwhile, so figures of different times compare badly."),
    )
    PROVISIONAL = (
        N_("provisional"),
        N_("The best that these runs support, but something speaks against relying on it; the row says what."),
    )
    AT_LEAST = (
        N_("at least"),
        N_("The throughput was still rising at the most that was measured: more may be better, less is not."),
    )
    NOT_SETTLED = N_("not settled"), N_("The best so far; more may be faster.")
    NO_ANSWER = N_("no answer"), N_("The runs do not suffice for an answer.")
    TOO_LATE = N_("too late"), N_("Nothing that was measured finishes the job in time.")

    # What is asked for, and what is rented.
    RECOMMENDED = (
        N_("recommended"),
        N_("The runs support it, and the target is reached with a probability of 0.9 or more."),
    )
    SMALLEST_SOLD = N_("smallest sold"), N_("No smaller instance type of the catalogue holds it.")
    CHEAPEST_SOLD = N_("cheapest sold"), N_("The cheapest instance type of the catalogue that holds it.")

    @property
    def kind(self) -> str:
        return self.name.lower()

    @property
    def symbol(self) -> str:
        """What stands before the word where that is a verdict, so that colour is not all that tells verdicts apart."""
        other = "?" if self in (Badge.NOT_SETTLED, Badge.NO_ANSWER, Badge.TOO_LATE) else ""
        return {Badge.PROVISIONAL: "!", Badge.AT_LEAST: "≥", Badge.RECOMMENDED: "✓"}.get(self, other)

    @property
    def word(self) -> str:
        return _(self.value[0])

    @property
    def explanation(self) -> str:
        return _(self.value[1])


def status_badge(answer: Answer | None, unfinished: bool = False) -> Badge:
    """The verdict: only an answer that its runs support gets the tick, and not before all of them are there."""
    if answer is None:
        return Badge.NO_ANSWER
    if answer.edge == "unsettled":
        return Badge.NOT_SETTLED
    if answer.status == "refused":
        return Badge.TOO_LATE if answer.job is not None else Badge.NO_ANSWER
    if answer.status == "at_least":
        return Badge.AT_LEAST
    return Badge.PROVISIONAL if answer.provisional or unfinished else Badge.RECOMMENDED


def oversize_badge(spec: Spec, offer: InstanceOffer, others: Sequence[InstanceOffer]) -> Badge | None:
    """Why the machine offered is larger than the spec; None where it is not, or that is not known."""
    if offer.own or spec.vcpus is None or not offer.vcpus or offer.vcpus <= spec.vcpus:
        return None
    smallest = all(other.vcpus >= offer.vcpus for other in others)
    return Badge.SMALLEST_SOLD if smallest else Badge.CHEAPEST_SOLD


# How much of a study is there.


def measured_on(moments: Sequence[str | None]) -> str:
    """`2026-11-21.`, or the first and the last day; empty where no run says when it was made."""
    days = sorted(moment[:10] for moment in moments if moment)
    last = days[-1] if days and days[0] != days[-1] else ""
    return _("[[{first}]][[ to {last}]][[first?.]]", first=days[0] if days else "", last=last)


spread_assumed = Sentence(
    "The table has one number for each row and no intervals: what follows each ± is by an assumed spread of 2 %."
)
runs_of_older_form = Sentence("Stored of an older form of the study file: {count:runs}; the figures are by them, too.")
rate_of_its_runs = Sentence("its runs: {rate:rate/unit}")
"""Beside a fitted rate what the runs of that configuration gave."""
_DONE = Sentence("[[to_go_on?Not finished: ]]{finished} of {planned:runs} done.[[to_go_on? To go on:]]")


def runs_there(finished: int, planned: int, older: int, to_go_on: bool = False) -> str:
    """How many runs are there, where some are missing; `to_go_on` before the command that goes on with them."""
    done = _DONE(finished=finished, planned=planned, to_go_on=to_go_on)
    older_form = runs_of_older_form(older) if older else ""
    return paragraph([older_form, done] if to_go_on else [done, older_form])


# The spec and its machine.


def spec_bound(answer: Answer) -> str:
    """What stands before a spec that is no more than a lower bound, or not settled."""
    if answer.edge == "unsettled":
        return _("so far")
    return _("at least") if answer.status == "at_least" else ""


def spec_parts(answer: Answer, terms: Terms) -> list[str]:
    """`4 vCPUs`, `1 x V100`, `8 GiB`, `disk nvme`, `batch 32`: what the spec asks for, a part each; none without one.

    The workload's own accelerator is named where the spec of a size names none; what of a disk is emulated, a badge
    says.
    """
    if answer.spec is None:
        return []
    spec, device = answer.spec, names.device_of(answer, terms)
    with_gpu = spec if spec.gpu or device.kind == "cpu" else replace(spec, gpu_count=spec.gpu_count or 1)
    parts = names.spec_parts(with_gpu, replace(terms, device=device, emulated_disks=frozenset()))
    return parts or [names.machine_unvaried(device)]


def is_emulated(spec: Spec, terms: Terms) -> bool:
    """Whether its disk or its accelerator was imitated."""
    return terms.device.kind == "emulated" or spec.disk in terms.emulated_disks


def no_machine(answer: Answer | None) -> str:
    """What stands in the place of a spec, where there is none."""
    return _("none is fast enough") if answer is not None and answer.job is not None else _("no machine yet")


def million_there(usd: float | None, here: Estimate | None, there: Estimate | None, unit: str) -> str:
    """`$0.129 a million images at 232 images/s there`: the rate is said where the machine's CPU makes it another."""
    rate = "" if there is None or usd is None else rate_in_words(there.value, unit)
    rate = "" if here is not None and rate == rate_in_words(here.value, unit) else rate
    return _("[[{usd:usd} a million {unit:units}]][[ at {rate} there]]", usd=usd, unit=unit, rate=rate)


def without_disk(spec: Spec) -> str:
    """Beside the price of a machine, that the disk asked for comes on top; empty where none is asked for."""
    return _("without the disk") if spec.disk is not None else ""


def rented(answer: Answer) -> InstanceOffer | None:
    """The cheapest machine that holds the spec; of machines that were compared, the one whose price decided."""
    if answer.spec is None:
        return None
    chosen = answer.chosen
    if chosen is None:
        return next(iter(answer.instances), None)
    return next(
        (instance for instance in answer.instances if instance.called(instance.provider) == chosen.instance_type), None
    )


def idle_sentence(answer: Answer) -> str:
    """That the price pays for accelerators that the throughput did not use; empty where it pays for none."""
    offer = rented(answer)
    notes = () if offer is None or offer.usd_per_hour is None else offer.notes
    more = next((note for note in notes if note.code is ReasonCode.OTHER_HARDWARE and note.has("gpu_count")), None)
    if more is None:
        return ""
    return _(
        "The price pays for {count:gpus}; this throughput uses [[{used:number}]][[!used?none]].",
        count=round(more.number("gpu_count")),
        used=more.number("used") if more.has("used") else 0,
    )


# What it keeps and saves, what speaks against it, and what to do about that.


def against_sentence(answer: Answer, terms: Terms) -> str:
    """What the job takes, or what the answer costs and gives beside another one; empty where there is none."""
    job_reasons = [reason for reason in answer.reasons if reason.code in (ReasonCode.JOB_TAKES, ReasonCode.JOB_COSTS)]
    beside = [
        reason for reason in answer.reasons if reason.code is ReasonCode.BASELINE or reason.text("role") == "next"
    ]
    return "" if answer.spec is None else paragraph(_unmarked(job_reasons or beside[:1], terms))


def doubt_sentence(answer: Answer | None, terms: Terms) -> str:
    """Why there is no answer, or why it is not to be relied on; empty where nothing speaks against it."""
    if answer is None:
        return ""
    if answer.status == "refused":
        return paragraph(_unmarked(answer.reasons[:1], terms)) or _("There is not enough data.")
    if answer.status == "recommended" and not answer.provisional and answer.edge == "settled":
        return ""
    doubts = [reason for reason in answer.reasons if reason.code in DOUBTS]
    if answer.edge == "rising":
        doubts.sort(key=lambda reason: reason.code is not ReasonCode.RISES)
    why = answer.next_run.why if answer.next_run is not None else None
    return paragraph(_unmarked([*doubts, *([why] if why is not None else [])][:1], terms))


def next_run_sentences(answer: Answer | None, terms: Terms, alone: bool = False) -> str:
    """What to measure next, `alone` without what that would settle; empty where nothing is suggested."""
    if answer is None or answer.next_run is None:
        return ""
    suggested = answer.next_run
    # What stands among the reasons is not said again.
    if suggested.why in answer.reasons or (alone and suggested.action is not Action.IMPORT):
        suggested = replace(suggested, why=None)
    with without_marks():
        return suggestion_sentences(suggested, terms)


def settling_command(answer: Answer | None, folder: str) -> str:
    """What to type for it, where one command is all that it takes; `folder` as typed, empty where it is not known."""
    if answer is None or answer.next_run is None or not folder:
        return ""
    return {
        Action.RETRY: f"sizer resume {folder} --retry",
        Action.FINISH: f"sizer resume {folder}",
        Action.IMPORT: f"sizer import FILE.csv --out {folder}",
    }.get(answer.next_run.action, "")


SAID_BESIDE = (ReasonCode.BEYOND, ReasonCode.OTHER_DISK)
"""What a fact with a badge, or the answer beside the picture of the disks, says already."""
Fact = tuple[str, str, str]
"""Label, value, and what must be known of it."""


def page_reasons(answer: Answer, terms: Terms) -> tuple[list[str], list[str]]:
    """Why the answer is so: the three most important reasons that nothing beside them says; those that fold away."""
    first = [reason for reason in answer.reasons if reason.code not in (*NOTES, *SAID_BESIDE)][:MOST_REASONS]
    return _unmarked(first, terms), _unmarked([reason for reason in answer.reasons if reason not in first], terms)


def _unmarked(reasons: Sequence[Reason], terms: Terms) -> list[str]:
    """The page sets no names apart."""
    with without_marks():
        return reason_sentences(reasons, terms)


def next_run_title(answer: Answer) -> str:
    """The label before the next run: whether it would settle an answer, or help to any."""
    settle = answer.status == "at_least" or answer.provisional
    return _("What would [[settle?settle it]][[!settle?help]]:", settle=settle)


_GOALS: Templates[str, str] = {
    "deadline": "The spec on which {asked.deadline.samples:counted/unit} cost least of those that "
    "finish them within {asked.deadline.seconds:time}.",
    "rate": "The spec on which the work costs least, of those that give at least {asked.at_least:rate/unit}.",
    "compared": "Least cost for the same work. A machine counts if it reaches {asked.target:share} of "
    "the best throughput[[accelerators? measured with the same accelerators]].",
    "cheapest": "The cheapest spec that keeps {asked.target:share} of the best throughput.",
    "fastest": "The fastest spec; of specs within 1 % of one another, the cheapest.",
    "balanced": "The least price × time among the specs that keep {asked.target:share} of the best throughput.",
}


_OTHER_GOAL = N_("{asked.prefer}, at {asked.target:share} of the best throughput.")


def objective_in_words(objective: Objective, compared: bool = False, accelerators: bool = False) -> str:
    """What was asked for; `compared`: every answer is a choice between machines that were measured, some of them with
    `accelerators`.
    """
    goal: str = "compared" if compared and objective.prefer == "cheapest" else objective.prefer
    if objective.deadline is not None or objective.at_least is not None:
        goal = "rate" if objective.deadline is None else "deadline"
    return _(_GOALS.get(goal, _OTHER_GOAL), asked=objective, unit="sample", accelerators=accelerators)


# The machines that are offered.
_PROVIDERS = {
    "aws": "AWS",
    "azure": "Azure",
    "gcp": "GCP",
    "alibaba": "Alibaba Cloud",
    "hetzner": "Hetzner",
    "lambda": "Lambda",
    "nebius": "Nebius",
    "oci": "OCI",
    "ovh": "OVHcloud",
    "runpod": "RunPod",
    "upcloud": "UpCloud",
    "verda": "Verda",
}


def provider_name(provider: str) -> str:
    """As people write it; one that is not of the catalogue stays as it is."""
    return _PROVIDERS.get(provider, provider)


def offer_parts(offer: InstanceOffer) -> list[str]:
    """`8 vCPUs`, `32 GiB`, `1 × V100`: what is known of its size."""
    parts = [vcpus_in_words(offer.vcpus)] if offer.vcpus else []  # a table may not say how many
    parts += [format_bytes(offer.memory_bytes)] if offer.memory_bytes else []
    return parts + ([f"{offer.gpu_count} × {offer.gpu}"] if offer.gpu else [])


def offer_source(offer: InstanceOffer) -> tuple[str, str]:
    """Where its price is from, and of which day; empty for a table's own."""
    if offer.own and not offer.as_of:
        return _("the imported table"), ""
    day = _("as of {date}", date=offer.as_of) if offer.as_of else _("day unknown")
    return offer.source, row([offer.region or "", day])


def price_day(offer: InstanceOffer | None, spot: bool) -> str:
    """`on demand, 2026-07-20`; of a table's own price, that it is."""
    if offer is None or (offer.own and not offer.as_of):
        return _("price of the imported table")
    return _("[[spot?spot]][[!spot?on demand]], {day}", spot=spot, day=day_of_price(offer.as_of, date.today()))
