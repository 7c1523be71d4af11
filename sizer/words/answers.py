"""Answers in words: the verdict, how sure it is, what else could be chosen, and what could be changed."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.recommend.job_changes import Change, ChangeKind
from sizer.recommend.rule import ALIKE as SAME_COST
from sizer.recommend.rule import SURE
from sizer.records.answer import Alternative, Answer, Event, Option, Rejection
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import Bottleneck, Estimate, Prediction, ReasonCode, Spec
from sizer.records.run import RentedMachine
from sizer.records.units import RELATIVE
from sizer.words import language, names
from sizer.words.language import N_, Sentence, Templates, _, paragraph, row
from sizer.words.names import Terms, spec_name, with_instance
from sizer.words.reasons.phrasing import reason_sentences, suggestion_sentences

# The verdict.

_VERDICTS: Templates[str, str] = {
    "unsettled": "not settled, {spec} so far",
    "refused": "refused {spec}",
    "at_least": "[[provisional?provisionally ]]at least {spec}",
    "recommended": "[[provisional?provisionally ]]recommended {spec}",
}
"""What is a lower bound, not settled, or rests on doubtful runs does not sound as sure."""


def headline(answer: Answer, terms: Terms) -> str:
    """The verdict without its reasons: `training: recommended 1 vCPU, 217 images/s (210 images/s to 221 images/s)`."""
    if answer.spec is None or answer.throughput is None:
        return _(
            "{answer.workload}: [[answer.job?nothing measured is in time]][[!answer.job?no recommendation]]",
            answer=answer,
        )
    own = next((offer.called(offer.provider) for offer in answer.instances if answer.is_of(offer)), None)
    spec = with_instance(spec_name(answer.spec, terms), own) or names.machine_unvaried(names.device_of(answer, terms))
    status = "unsettled" if answer.edge == "unsettled" else answer.status
    rate, low, high = language.answered_interval(answer.throughput, answer.sample_unit)
    return _(
        "{answer.workload}: {verdict}[[answer.rate_in_doubt?, of which the rate in {unit} is not "
        "known]][[!answer.rate_in_doubt?, {rate} ({low} to {high})]][[, {bound}]]",
        answer=answer,
        verdict=_(_VERDICTS[status], provisional=answer.provisional, spec=spec),
        rate=rate,
        low=low,
        high=high,
        unit=language.units_a_second(answer.sample_unit),
        bound=""
        if answer.bottleneck is None or answer.rate_in_doubt
        else names.bound_in_words(answer.bottleneck, terms.device),
    )


def conclusion_line(answer: Answer, terms: Terms) -> str:
    """The headline, and where there is no spec, why not and what would help."""
    line = headline(answer, terms)
    if answer.spec is not None and not answer.rate_in_doubt:
        return line
    why = reason_sentences(answer.reasons if answer.spec is None else answer.reasons[:1], terms)
    if answer.next_run is not None:
        why.append(suggestion_sentences(answer.next_run, terms))
    return _("{headline}. {why}", headline=line, why=paragraph(why))


MOST_REASONS = 3
"""So many reasons are said at once: they come by importance. The page folds the others away, and the JSON has all."""
NOTES = frozenset(
    {
        *(ReasonCode.RUNS_DOUBTFUL, ReasonCode.MEASURED_BESIDE_OTHERS, ReasonCode.ONLY_MEASURED_SIZES),
        *(ReasonCode.FEW_MEMORY_CAPS, ReasonCode.RUNS_FAILED, ReasonCode.PRICES, ReasonCode.RETIRED),
        ReasonCode.EMULATED,
    }
)
"""What must be known of any answer that it is true of, and is always said."""


def main_sentences(answer: Answer, terms: Terms) -> list[str]:
    """The most important reasons of an answer, and what is always said."""
    plain = [reason for reason in answer.reasons if reason.code not in NOTES]
    always = [reason for reason in answer.reasons if reason.code in NOTES]
    return reason_sentences([*plain[:MOST_REASONS], *always], terms)


def rejection_line(rejection: Rejection, terms: Terms) -> str:
    """Which spec was not taken, and why."""
    why = paragraph(reason_sentences(rejection.why, terms))
    return _("Not {spec}: {why}", spec=rejected_spec(rejection, terms), why=why)


# How sure it is.

_EVENTS: Templates[Event, str] = {
    Event.REACHES_TARGET: "{sure} to reach the target",
    Event.LESS_TOO_LITTLE: "{sure} that fewer vCPUs [[memory?or less memory is too little]][[!memory?are too few]]",
    Event.FEWER_TOO_FEW: "{sure} that fewer vCPUs are too few",
    Event.NONE_CHEAPER: "{sure} that none[[unpriced? with a price]][[fast? that is fast enough]] is "
    "{alike:share} cheaper",
    Event.NONE_BETTER: "{sure} that none[[unpriced? with a price]][[fast? that is fast enough]] has "
    "{alike:share} less cost × time",
    Event.NONE_FASTER: "{sure} that none is {alike:share} faster",
    Event.GIVES_RATE: "{sure} to give the rate asked for",
    Event.IN_TIME: "{sure} to be in time",
}
_LIKELY: Sequence[tuple[float, str]] = (
    (0.99, N_("almost certain")),
    (0.9, N_("very likely")),
    (0.66, N_("likely")),
    (0.33, N_("as likely as not")),
    (0.0, N_("unlikely")),
)
"""From which probability on which word, by the scale of climate reports (IPCC, uncertainty guidance of 2010)."""


def how_sure(answer: Answer | None, unfinished: bool = False) -> str:
    """`very likely (0.97) to reach the target`, or why there is no probability: that of a lower bound is that less is
    too little, and what speaks against an answer stands in the place of a word that would be surer than its runs; in
    that of the figure, too, where no answer is reliable.
    """
    if unfinished:
        return _("runs are missing")
    if answer is None or (answer.status == "refused" and answer.job is None):
        return ""
    codes = {reason.code for reason in answer.reasons}
    if ReasonCode.JOBS_MIXED in codes:
        return _("not known: its rows may be of different jobs")
    if ReasonCode.RUNS_APART in codes:
        return _("not known: one of the rates looks like a slip")
    likely, event, doubt = answer.probability, answer.probability_of, _doubted(answer)
    if answer.job is not None:
        likely, event = answer.job.probability, Event.IN_TIME
    if likely is None or event is None:
        return doubt or (_("more may be faster") if answer.status == "at_least" else "")
    if answer.provisional and likely >= SURE:
        sure = _of_event(language.chance(likely), event, answer)
        return _("{sure}[[; {doubt}]][[!doubt?, by these runs]]", doubt=doubt, sure=sure)
    word = next(word for least, word in _LIKELY if likely >= least)
    return _of_event(_("{word} ({chance:chance})", word=_(word), chance=likely), event, answer)


def sure_line(answer: Answer) -> str:
    """How sure the answer is, in a line of its own; empty where there is none, or it is no answer."""
    return _("[[How sure: {sure}.]]", sure=how_sure(answer) if answer.status != "refused" else "")


def _of_event(sure: str, event: Event, answer: Answer) -> str:
    """What it is the probability of; where the work costs less on machines that are too slow for what is asked, that
    they do not count is said."""
    fast = any(reason.has("slower_cost_less") for reason in answer.reasons)
    return _(
        _EVENTS[event],
        sure=sure,
        alike=SAME_COST,
        memory=answer.spec is not None and answer.spec.memory_bytes is not None,
        unpriced=_some_unpriced(answer) and not (fast and event is Event.NONE_BETTER),
        fast=fast,
    )


def _some_unpriced(answer: Answer) -> bool:
    """Whether something measured has no known price, so that nobody knows whether it is cheaper."""
    return any(reason.code is ReasonCode.UNPRICED or reason.has("unknown") for reason in answer.reasons)


def _doubted(answer: Answer) -> str:
    """What speaks against an answer that is likely by its figures; empty where that is none of these."""
    codes = {reason.code for reason in answer.reasons}
    if not answer.provisional:
        return ""
    if ReasonCode.RUNS_DOUBTFUL in codes:
        return _("its readings are in doubt")
    if _some_unpriced(answer):
        return _("prices are missing")
    return _("only one was measured") if ReasonCode.ONLY_MACHINE in codes else ""


# What else could be chosen: each preference's own spec, and why no cheaper one was taken.
LITTLE = 0.0005
"""A share of a price below which there is no difference to speak of."""
_PREFERENCES: Templates[str, str] = {
    "cheapest": "[[priced?cheapest]][[each?most for each accelerator]][[small?smallest]]",
    "balanced": "[[priced?balanced]][[each?most for each accelerator]][[small?smallest]]",
    "fastest": "fastest",
}


def preferences_in_words(option: Option) -> str:
    """`cheapest`, `balanced and fastest`; what has no price is called by what it is."""
    priced, several = option.usd_per_hour is not None, option.spec.gpu_count
    values = {"priced": priced, "each": not priced and several, "small": not priced and not several}
    return language.listed(
        list(dict.fromkeys(_(_PREFERENCES[preference], **values) for preference in option.preferences))
    )


options_title = Sentence("[[priced?Cheapest, balanced, fastest]][[!priced?Small or fast]]")
rejected_title = Sentence("Why not a smaller [[priced?or cheaper ]]one")
"""Over the tables of what each preference takes, and of specs that were not taken; `priced`: some have a price."""


def one_choice_in_words(answer: Answer) -> str:
    """Where every preference takes the same spec; empty where they differ, none is known, or nothing has a price."""
    only = answer.options[0] if len(answer.options) == 1 else None
    if only is None or len(only.preferences) < 2 or only.usd_per_hour is None:
        return ""
    return _(
        "[[least?Within what was measured, the]][[!least?The]] cheapest, the balanced and the fastest "
        "choice are this same spec.",
        least=answer.status == "at_least",
    )


def rejected_rate(rejection: Rejection, terms: Terms) -> tuple[str, str]:
    """What the cheaper spec would give, and which share of the answer's rate that is; empty where it gives nothing."""
    return (
        _("[[{rejection.throughput:rate/unit}]]", rejection=rejection, unit=terms.unit),
        _("[[{rejection.share:share} of the answer's]]", rejection=rejection),
    )


def rejected_saving(rejection: Rejection) -> tuple[str, str]:
    """What it would cost less an hour, and which share of the answer's price that is."""
    saved, share = rejection.usd_saved_per_hour, rejection.saving
    if saved is None or share is None:
        return "", ""
    if share >= LITTLE:
        return _("{price:usd} an hour", price=saved), language.percent(share)
    return _("nothing[[, it costs {price:usd} an hour more]]", price=-saved if share < -LITTLE else None), ""


def rejected_spec(rejection: Rejection, terms: Terms) -> str:
    """Which spec that is."""
    return with_instance(spec_name(rejection.spec, terms), rejection.instance_type)


def beyond_in_words(prediction: Prediction, terms: Terms) -> tuple[str, str]:
    """What lies beyond the largest measured: where, and the rate there."""
    label = _("[[At {at.vcpus:vcpus}]][[!at.vcpus?Beyond what was measured]]", at=prediction.configuration)
    return label, language.rate_interval(prediction.throughput, terms.unit)


# The machines that were compared, each as a line of the terminal and as a row or a bar of the page.


def machine_name(alternative: Alternative, terms: Terms) -> str:
    """`1 x P100`, `8 vCPUs, 1 x V100`; where the table says no more of it, `no accelerator`."""
    return spec_name(alternative.spec, terms) or _("no accelerator")


def machine_rented(machine: RentedMachine | None) -> str:
    """`aws g4dn.xlarge`, as a table names it, or `2 x aws g4dn.xlarge`; empty where it does not."""
    if machine is None or machine.nodes == 1:
        return "" if machine is None else machine.name or ""
    if machine.name is None:
        return _("{count} machines", count=machine.nodes)
    return _("{count} x {machine}", count=machine.nodes, machine=machine.name)


def kind_name(spec: Spec, terms: Terms) -> str:
    """The kind of accelerator that a machine has: `V100`, `accelerator`, `no accelerator`."""
    if spec.gpu_count == 0:
        return _("no accelerator")
    gpu = spec.gpu or terms.device.gpu
    return names.gpu_name(gpu) if gpu else _("accelerator")


def alternative_line(alternative: Alternative, terms: Terms) -> str:
    """`1 x L4 (aws g6.xlarge): 1,000 samples/s, $0.805 an hour, $0.224 a million samples`."""
    return _(
        "{machine}: {rate}, {price}[[, p99 {one.latency_p99:time}]][[, {one.usd_per_million_samples:usd} "
        "a million {terms.unit:units}]]",
        one=alternative,
        terms=terms,
        machine=with_instance(machine_name(alternative, terms), alternative.instance_type),
        rate=language.answered_rate(alternative.throughput, terms.unit)[0],
        price=names.price_an_hour(alternative.usd_per_hour, alternative.usd_per_hour_spot, alternative.foreign),
    )


def alternative_remark(alternative: Alternative, answer: Answer) -> str:
    """What to know of it beside the others: that it is the answer, costs least, is the fastest, or is dominated."""
    return row(
        [
            _("the answer") if alternative is answer.chosen else "",
            _("least cost") if alternative is answer.least_costly else "",
            _("fastest") if alternative.throughput.value == answer.highest_rate else "",
            _("dominated") if alternative.dominated else "",
        ]
    )


def machines_drawn(called: Sequence[str], alternatives: Sequence[Alternative], unit: str) -> str:
    """The picture in words, for who does not see it: `Throughput by machine: 1 x P100 1,800 samples/s, ...`."""
    rates = [language.rate_interval(alternative.throughput, unit) for alternative in alternatives]
    return _("Throughput by machine: {machines}", machines=row(map(" ".join, zip(called, rates, strict=True))))


machines_left_out = Sentence("The table below has {count} more.")
"""Under a picture of many machines: how many are missing from it."""


def million_heading(unit: str, of_disks: bool) -> str:
    """Over the cost of the work, by which the table is in order: what that figure holds; empty of relative rates."""
    return (
        "" if unit == RELATIVE else _("A million {unit:units}[[disks?, without the disk]]", unit=unit, disks=of_disks)
    )


def machines_note(unit: str, priced: bool, of_disks: bool) -> str:
    """What the columns of the table of machines mean; `priced`: some of them have a price, `of_disks` a disk's."""
    relative = unit == RELATIVE
    return _(
        "[[!priced?The fastest first.]][[priced?The least cost of ]][[samples?a million "
        "{unit:units}]][[relative?the same work]][[priced? first. Dominated: another machine is no slower "
        "and does the work for no more. A price is the machine's own where the table gives it, else that "
        "of the instance type named, else of the cheapest one that holds it.]][[disks? Between machines "
        "with different disks the answer counts a volume of each, too, of 150 GiB where nothing says its "
        "size.]] The interval is that of a new run (90 %).",
        unit=unit,
        priced=priced,
        samples=priced and not relative,
        relative=priced and relative,
        disks=priced and of_disks and not relative,
    )


# What could be changed instead of renting more, and whether a faster disk would help.
NOTHING = 0.005
"""A gain that would be written as nothing."""
LITTLE_GAIN = 0.05
"""A gain for which nobody buys a disk."""
_CHANGES: Templates[ChangeKind, tuple[str, str]] = {
    ChangeKind.FORMAT: (
        "{format} instead of {other}",
        "Measured at the same configuration: workload {workload}.",
    ),
    ChangeKind.BATCH: (
        "Batch {batch:number}",
        "[[From batch {before:number} to {now:number} it gained {seen:small}.]][[!seen?Runs with several "
        "batch sizes show how they scale.]]",
    ),
    ChangeKind.IN_MEMORY: (
        "All of the data in memory: {memory:bytes}",
        "From the second epoch on nothing is read: {data:volume} of data and {own:bytes} that the job needs.",
    ),
    ChangeKind.LOADER_WORKERS: (
        "Twice as many loader workers",
        "A worker waits for the disk {waits:share} of its time.",
    ),
    ChangeKind.WAITING: (
        "More loader workers",
        "The job waits for its input {waits:share} of the time, while nothing is busy for more than "
        "{busy:share} of it.",
    ),
    ChangeKind.LARGE_READS: (
        "Files packed into one that is read in large pieces (RecordIO, LMDB)",
        "It reads {size:volume} at a time, so the disk's {iops:iops} bind before its MB/s do.",
    ),
    ChangeKind.DECODER: (
        "[[encodes?Decode, resize and encode in half the CPU time]][[!encodes?Decode in half the CPU time: "
        "smaller images, or a faster decoder]]",
        "Decoding is {share:share} of its CPU time of {seconds:each/unit}.",
    ),
}
"""What would be done, and what was seen that speaks for it."""


def change_named(change: Change, kind: str) -> str:
    """What would be done; `kind` is that of the workload."""
    return _(_CHANGES[change.kind][0], **change.figures, encodes=kind == PREPROCESSING)


def change_evidence(change: Change, terms: Terms) -> str:
    """What was seen that speaks for it."""
    return _(_CHANGES[change.kind][1], **change.figures, unit=terms.unit)


def gain_in_words(change: Change) -> str:
    """`+23 % (+12 % to +35 %)`, or that it is a bound."""
    if change.at_most:
        return _("at most {gain:change}", gain=change.gain.value)
    return language.interval(
        Estimate(change.gain.value, max(change.gain.low, 0.0), change.gain.high), language.QUANTITIES["change"]
    )


def then_bound(change: Change, now: Bottleneck | None, terms: Terms) -> str:
    """What holds it back after the change, where that is something else."""
    then = None if change.then in (now, Bottleneck.AMBIGUOUS) else change.then
    return _("[[then {then:bound/terms.device}]]", then=then, terms=terms)


no_change = Sentence(
    "[[{change}: {gain}, which is not sure.]][[!change?None of the changes that these runs can judge "
    "would gain more than {least:share}.]]"
)
"""That nothing is worth changing; or the best of what the runs are too rough to show."""
disk_question = Sentence("Would a faster disk help?")
disk_reads_nothing = Sentence("No: the data is read from memory.")
_SLOWER = N_("Not known: no faster disk was measured; {disk} is slower by {loss:small}.")
_DISK_ANSWERS: Templates[str, str] = {
    "no": "No: [[on {disk}, the best other disk measured, it runs as fast]][[!disk?it would gain "
    "nothing]][[, at the very most {most:share}]].",
    "open": "Probably not: it would gain nothing, but these runs leave up to {high:share} open.",
    "perhaps": "Perhaps: [[{disk} gains ]][[!disk?by ]]{gain:small}, at the very most {high:share}.",
    "yes": "Yes: [[{disk} gains {gain:small}]][[!disk?up to {gain:small} ({low:small} to {high:share})]].",
}


def disk_answer(gained: Estimate, disk: str = "") -> str:
    """How much a disk on which nothing waits would gain at the answer; or `disk`, the best other one measured."""
    values = {"gain": gained.value, "low": gained.low, "high": gained.high, "loss": -gained.value, "disk": disk}
    if disk and gained.value < -NOTHING:
        return _(_SLOWER, **values)
    little = NOTHING <= gained.high < LITTLE_GAIN
    if gained.high < NOTHING or (gained.value < NOTHING and (disk or little)):
        return _(_DISK_ANSWERS["no"], most=gained.high if little and not disk else None, **values)
    sure = "yes" if gained.low >= NOTHING else "open" if gained.value < NOTHING else "perhaps"
    return _(_DISK_ANSWERS[sure], **values)


def disk_reading(share: float, needed: float, given: float, by_requests: bool, measured: bool) -> str:
    """How it is known: what the job asks of the disk beside what that gives."""
    if share < NOTHING:
        return _("At the answer it reads next to nothing from the disk.")
    written = language.operations if by_requests else language.transfer
    return _(
        "At the answer the disk is busy {share:share} of the time: it reads {asked}, and [[fio?fio "
        "measured {has} on it]][[!fio?can give {has}]].",
        share=min(share, 1.0),
        asked=written(needed),
        has=written(given),
        fio=measured,
    )
