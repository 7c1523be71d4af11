"""Answers in words: the verdict, how sure it is, why a spec was not taken, what to measure next, what else there is."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from sizer.model.model import CPU_LABEL
from sizer.recommend.job_changes import Change, ChangeKind
from sizer.recommend.rule import ALIKE as SAME_COST
from sizer.recommend.rule import SURE
from sizer.records.answer import Alternative, Answer, Event, InstanceOffer, Option, Recommendation, Rejection
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.device import HOST_DISK
from sizer.records.kinds import PREPROCESSING
from sizer.records.prediction import Action, Prediction, Reason, ReasonCode, Refusal, Spec, Suggestion
from sizer.records.run import RentedMachine
from sizer.records.units import RELATIVE, format_usd
from sizer.words.language import (
    N_,
    Counted,
    Sentence,
    _,
    a_sample,
    answered_interval,
    answered_rate,
    brief,
    chance,
    change,
    listed,
    operations,
    paragraph,
    percent,
    rate_interval,
    row,
    several_of,
    small_share,
    transfer,
    units_a_second,
    vcpus_listed,
)
from sizer.words.names import (
    Terms,
    accelerators_name,
    bound_in_words,
    disk_in_words,
    gpu_name,
    machine_unvaried,
    resource_name,
    spec_name,
    with_instance,
)
from sizer.words.reasons import reason_sentence

# The verdict.


def headline(answer: Answer, terms: Terms) -> str:
    """The verdict without its reasons: `training: recommended 1 vCPU, 217 images/s (210 images/s to 221 images/s)`."""
    if answer.spec is None or answer.throughput is None:
        late = answer.job is not None
        return _(
            "{workload}: [[late?nothing measured is in time]][[!late?no recommendation]]",
            workload=answer.workload,
            late=late,
        )
    own = next((offer for offer in answer.instances if offer.own), None)
    machine = None if own is None else own.called(own.provider)
    spec = with_instance(spec_name(answer.spec, terms), machine) or machine_unvaried(terms.device)
    value, low, high = answered_interval(answer.throughput, answer.sample_unit)
    bound = "" if answer.bottleneck is None else bound_in_words(answer.bottleneck, terms.device)
    if answer.rate_in_doubt:
        return _(
            "{workload}: {verdict}, of which the rate in {unit} is not known",
            workload=answer.workload,
            verdict=verdict(answer, spec),
            unit=units_a_second(answer.sample_unit),
        )
    return _(
        "{workload}: {verdict}, {rate} ({low} to {high})[[, {bound}]]",
        workload=answer.workload,
        verdict=verdict(answer, spec),
        rate=value,
        low=low,
        high=high,
        bound=bound,
    )


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
    least = answer.status == "at_least"
    return _(
        "[[provisional?provisionally ]][[least?at least]][[!least?recommended]] {spec}",
        provisional=answer.provisional,
        least=least,
        spec=spec,
    )


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
    plain = [each for each in answer.reasons if each.code not in NOTES]
    shown = plain[:MOST_REASONS] + [each for each in answer.reasons if each.code in NOTES]
    return [reason_sentence(reason, terms) for reason in shown]


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


def offer_notes(offer: InstanceOffer, terms: Terms) -> list[str]:
    """What to know of an instance type, a sentence each."""
    return [reason_sentence(note, terms) for note in offer.notes]


# How sure it is.


def how_sure(answer: Answer | None, unfinished: bool = False) -> str:
    """`very likely (0.97) to reach the target`, or why there is no probability: that of a lower bound is that less is
    too little, and what speaks against an answer stands in the place of a word that would be surer than its runs; in
    that of the figure, too, where no answer is reliable.
    """
    if unfinished:
        return _("runs are missing")
    if answer is None or (answer.status == "refused" and answer.job is None):
        return ""
    slip = _slip(answer)
    if slip:
        return slip
    doubt = _doubted(answer) if answer.provisional else ""
    likely, event = answer.probability, answer.probability_of
    if answer.job is not None:
        likely, event = answer.job.probability, Event.IN_TIME
    if likely is None or event is None:
        return doubt or (_("more may be faster") if answer.status == "at_least" else "")
    if answer.provisional and likely >= SURE:
        sure = _of_event(chance(likely), event, answer)
        return _("{sure}[[; {doubt}]][[!doubt?, by these runs]]", doubt=doubt, sure=sure)
    return _of_event(_("{word} ({chance:chance})", word=_likely(likely), chance=likely), event, answer)


def sure_line(answer: Answer) -> str:
    """How sure the answer is, in a line of its own; empty where there is none, or it is no answer."""
    sure = how_sure(answer) if answer.status != "refused" else ""
    return _("How sure: {sure}.", sure=sure) if sure else ""


_EVENTS: Mapping[Event, str] = {
    Event.REACHES_TARGET: N_("{sure} to reach the target"),
    Event.LESS_TOO_LITTLE: N_("{sure} that fewer vCPUs [[memory?or less memory is too little]][[!memory?are too few]]"),
    Event.FEWER_TOO_FEW: N_("{sure} that fewer vCPUs are too few"),
    Event.NONE_CHEAPER: N_(
        "{sure} that none[[unpriced? with a price]][[fast? that is fast enough]] is {alike} cheaper"
    ),
    Event.NONE_BETTER: N_(
        "{sure} that none[[unpriced? with a price]][[fast? that is fast enough]] has {alike} less cost × time"
    ),
    Event.NONE_FASTER: N_("{sure} that none is {alike} faster"),
    Event.GIVES_RATE: N_("{sure} to give the rate asked for"),
    Event.IN_TIME: N_("{sure} to be in time"),
}


def _of_event(sure: str, event: Event, answer: Answer) -> str:
    """What it is the probability of; where the work costs less on machines that are too slow for what is asked, that
    they do not count is said."""
    fast = any(each.has("slower_cost_less") for each in answer.reasons)
    return _(
        _EVENTS[event],
        sure=sure,
        alike=percent(SAME_COST),
        memory=answer.spec is not None and answer.spec.memory_bytes is not None,
        unpriced=_some_unpriced(answer) and not (fast and event is Event.NONE_BETTER),
        fast=fast,
    )


def _some_unpriced(answer: Answer) -> bool:
    """Whether something measured has no known price, so that nobody knows whether it is cheaper."""
    return any(each.code is ReasonCode.UNPRICED or each.has("unknown") for each in answer.reasons)


def _slip(answer: Answer) -> str:
    """Whose rate must be wrong; empty where none is known to be."""
    if any(each.code is ReasonCode.JOBS_MIXED for each in answer.reasons):
        return _("not known: its rows may be of different jobs")
    slip = next((each for each in answer.reasons if each.code is ReasonCode.RUNS_APART), None)
    if slip is None:
        return ""
    if slip.spec is None or slip.spec == answer.spec:
        return _("not known: one of its own rates looks like a slip")
    whose = spec_name(slip.spec, Terms(answer.workload, answer.sample_unit))
    return _("not known: a rate of {machine} looks like a slip", machine=whose)


def _doubted(answer: Answer) -> str:
    """What speaks against an answer that is likely by its figures; empty where that is none of these."""
    codes = {each.code for each in answer.reasons}
    if ReasonCode.RUNS_DOUBTFUL in codes:
        return _("its readings are in doubt")
    if _some_unpriced(answer):
        return _("prices are missing")
    return _("only one was measured") if ReasonCode.ONLY_MACHINE in codes else ""


def _likely(probability: float) -> str:
    """A probability as a word, by the scale that climate reports use (IPCC, uncertainty guidance of 2010)."""
    if probability > 0.99:
        return _("almost certain")
    if probability >= 0.9:
        return _("very likely")
    if probability >= 0.66:
        return _("likely")
    return _("as likely as not") if probability >= 0.33 else _("unlikely")


# What to do next.


def next_line(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next."""
    return _("Next: {suggestion}", suggestion=suggestion_sentences(suggestion, terms))


def refusal_sentences(refusal: Refusal, terms: Terms) -> str:
    """Why there is no answer, and what would help."""
    why = reason_sentence(refusal.reason, terms)
    return paragraph([why, suggestion_sentences(refusal.suggestion, terms) if refusal.suggestion is not None else ""])


def suggestion_sentences(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next, and what it would settle."""
    why = suggestion.why
    message = _ACTIONS.get(suggestion.action) or {
        Action.MEASURE: _to_measure,
        Action.REPEAT: _to_repeat,
        Action.RETRY: _to_retry,
        Action.IMPORT: _to_import,
    }[suggestion.action](suggestion)
    asked = _(
        message,
        workload=terms.workload,
        spec=_place(suggestion, terms) if names_a_place(suggestion) else "",
        vcpus=vcpus_listed(suggestion.vcpus) if suggestion.vcpus else "",
        host=(suggestion.host_vcpus or 0) if suggestion.needs_larger_host else None,
        memory=suggestion.memory_bytes,
        batch=suggestion.batch_size,
        accelerators=accelerators_name(None, suggestion.gpu_count),
        input=suggestion.input,
        gpu=gpu_name(suggestion.gpu) if suggestion.gpu is not None else "",
        job_by=shlex.quote(suggestion.job_by or ""),
        column=suggestion.column,
    )
    return paragraph([asked, "" if why is None or why.code is ReasonCode.NOT_IN_TABLE else reason_sentence(why, terms)])


_ACTIONS: Mapping[Action, str] = {
    Action.RENAME: N_("Give each its own workload name."),
    Action.FINISH: N_("Finish the study, or measure the whole job."),
}


def _to_measure(suggestion: Suggestion) -> str:
    if names_a_place(suggestion):
        return N_("Measure `{workload}` with {spec}.")
    if suggestion.vcpus:
        return N_(
            "Measure `{workload}` at {vcpus}[[, on a larger host than the one that measured, which has {host:vcpus}]]."
        )
    if suggestion.memory_bytes is not None:
        return N_("Measure `{workload}` with {memory:bytes} of memory.")
    if suggestion.batch_size is not None:
        return N_("Measure `{workload}` with a batch of {batch}.")
    if suggestion.gpu_count is not None:
        return N_("Measure `{workload}` with {accelerators}.")
    if suggestion.disk is not None:
        return N_("Measure it there, or give the disk's rates with --disk-iops and --disk-mbps.")
    if suggestion.input is not None:
        return N_("Also measure `{workload}` with `input: {input}`.")
    if suggestion.accounting:
        return N_("Measure a run of `{workload}` with disk accounting (read_bytes).")
    return N_("Measure `{workload}`[[ on {gpu}]].")


def names_a_place(suggestion: Suggestion) -> bool:
    """Whether it names more than vCPUs beside these."""
    others = (suggestion.memory_bytes, suggestion.disk, suggestion.batch_size, suggestion.gpu_count)
    return len(suggestion.vcpus) == 1 and any(each is not None for each in others)


def _place(suggestion: Suggestion, terms: Terms) -> str:
    asked = suggestion
    place = Spec(asked.vcpus[0], asked.memory_bytes, asked.disk, asked.batch_size, asked.gpu, asked.gpu_count or 0)
    return spec_name(place, terms)


_CORRECTIONS: Mapping[str | None, str] = {
    "batches": N_("Name the group `batches` in the pattern of `{workload}`, and measure it again."),
    "counter": N_("Let the pattern of `{workload}` read a counter (`step`), too, and measure it again."),
    "units": N_("Correct the units in the pattern of `{workload}`, and measure it again."),
    "batch_size": N_("Give `{workload}` the `batch_size` that its log tells, and measure it again."),
}
"""What to correct in the study file before it is measured again."""


def _to_repeat(suggestion: Suggestion) -> str:
    if suggestion.repeat_how in _CORRECTIONS:
        return _CORRECTIONS[suggestion.repeat_how]
    if names_a_place(suggestion):
        return N_("Repeat `{workload}` with {spec}.")
    return N_("Repeat `{workload}`[[ at {vcpus}]].")


def _to_retry(suggestion: Suggestion) -> str:
    if not suggestion.vcpus:
        return N_("`sizer status` says how each run ended: fix the cause, and measure again with --retry.")
    return N_(
        "No run of `{workload}` at {vcpus} completed, and `sizer status` says why: fix the cause, and measure them "
        "again with --retry."
    )


def _to_import(suggestion: Suggestion) -> str:
    if suggestion.job_by is not None:
        return N_("Import the table again with `--job-by {job_by}`.")
    if suggestion.column is None:
        return N_("Import a table with runs of it that completed.")
    if suggestion.why is not None:
        return N_(
            "Measure `{workload}` at three vCPU values or more, or add a column `{column}` and import the table again."
        )
    return N_("Add a column `{column}` and import the table again.")


# What one instance family must offer.


def family_sentences(recommendation: Recommendation) -> dict[str, str]:
    """What one instance family must offer, by the name of the axis; empty without an answer."""
    family, answers = recommendation.family, recommendation.workloads
    sentences = {}
    if family.least_vcpus is not None and family.most_vcpus is not None:
        sentences["vcpus"] = _(
            "[[{least:g} to ]][[rising?at least ]]{most:g} ({each})",
            least=family.least_vcpus if family.least_vcpus != family.most_vcpus else None,
            most=family.most_vcpus,
            rising=family.rising,
            each=row(_vcpus_of(answer) for answer in answers if answer.spec and answer.spec.vcpus is not None),
        )
    if family.gib_per_vcpu is not None:
        spec = next(answer.spec for answer in answers if answer.workload == family.memory_workload)
        sentences["gib_per_vcpu"] = _(
            "{ratio:g}[[unsold?, more than the 8 that families offer]] (most is needed by {workload}: {memory:bytes} "
            "for {vcpus:vcpus})",
            ratio=family.gib_per_vcpu,
            unsold=not family.sold,
            workload=family.memory_workload,
            memory=(spec.memory_bytes if spec else None) or 0,
            vcpus=(spec.vcpus if spec else None) or 0,
        )
    if family.disks:
        names = {name: disk_in_words(disk) if disk == HOST_DISK else disk for name, disk in family.disks.items()}
        tiers = sorted(set(names.values()))
        each = row(f"{name} {disk}" for name, disk in names.items())
        sentences["disk"] = _("{disk} is enough for all", disk=tiers[0]) if len(tiers) == 1 else each
    if family.not_covered:
        sentences["not_covered"] = listed(family.not_covered)
    return sentences


def _vcpus_of(answer: Answer) -> str:
    unsettled = answer.edge == "unsettled"
    return _(
        "{workload} [[least?at least ]]{vcpus:g}[[open? so far]]",
        workload=answer.workload,
        vcpus=(answer.spec.vcpus if answer.spec is not None else None) or 0,
        least=answer.status == "at_least" and not unsettled,
        open=unsettled,
    )


# What else could be chosen: each preference's own spec, and why no cheaper one was taken.
LITTLE = 0.0005
"""A share of a price below which there is no difference to speak of."""


def preferences_in_words(option: Option) -> str:
    """`cheapest`, `balanced and fastest`; what has no price is called by what it is."""
    names = {"cheapest": _("cheapest"), "balanced": _("balanced"), "fastest": _("fastest")}
    if option.usd_per_hour is None:
        names["cheapest"] = names["balanced"] = (
            _("most for each accelerator") if option.spec.gpu_count else _("smallest")
        )
    return listed(list(dict.fromkeys(names[each] for each in option.preferences)))


def options_title(options: Sequence[Option]) -> str:
    """Over the table of what each preference takes."""
    priced = any(each.usd_per_hour is not None for each in options)
    return _("Cheapest, balanced, fastest") if priced else _("Small or fast")


def rejected_title(rejected: Sequence[Rejection]) -> str:
    """Over the table of specs that were not taken."""
    priced = any(each.usd_saved_per_hour is not None for each in rejected)
    return _("Why not a smaller or cheaper one") if priced else _("Why not a smaller one")


def one_choice_in_words(answer: Answer) -> str:
    """Where every preference takes the same spec; empty where they differ or none is known."""
    if len(answer.options) != 1 or len(answer.options[0].preferences) < 2:
        return ""
    if answer.options[0].usd_per_hour is None:
        return ""  # Cheap and balanced mean nothing without a price.
    if answer.status == "at_least":
        return _("Within what was measured, the cheapest, the balanced and the fastest choice are this same spec.")
    return _("The cheapest, the balanced and the fastest choice are this same spec.")


def option_price(option: Option) -> str:
    """`$0.085`, or that it is unknown."""
    return usd_or_nothing(option.usd_per_hour) or _("unknown")


def usd_or_nothing(price: float | None) -> str:
    """`$0.319`; empty where it is unknown."""
    return format_usd(price) if price is not None else ""


def option_bound(option: Option, terms: Terms) -> str:
    """What holds it back."""
    return resource_name(option.bottleneck, terms.device) if option.bottleneck is not None else _("not known")


def rejected_rate(rejection: Rejection, terms: Terms) -> tuple[str, str]:
    """What the cheaper spec would give, and which share of the answer's rate that is; empty where it gives nothing."""
    if rejection.throughput is None:
        return "", ""
    rate, share = rate_interval(rejection.throughput, terms.unit), rejection.share
    return rate, "" if share is None else _("{share:share} of the answer's", share=share)


def rejected_saving(rejection: Rejection) -> tuple[str, str]:
    """What it would cost less an hour, and which share of the answer's price that is."""
    if rejection.usd_saved_per_hour is None or rejection.saving is None:
        return "", ""
    if rejection.saving < LITTLE:
        more = -rejection.usd_saved_per_hour if rejection.saving < -LITTLE else None
        return _("nothing[[, it costs {price:usd} an hour more]]", price=more), ""
    return _("{price} an hour", price=format_usd(rejection.usd_saved_per_hour)), percent(rejection.saving)


def rejected_spec(rejection: Rejection, terms: Terms) -> str:
    """Which spec that is."""
    return with_instance(spec_name(rejection.spec, terms, " · "), rejection.instance_type)


def beyond_in_words(prediction: Prediction, terms: Terms) -> tuple[str, str]:
    """What lies beyond the largest measured: where, and the rate there."""
    vcpus = prediction.configuration.vcpus
    label = _("At {vcpus:vcpus}", vcpus=vcpus) if vcpus is not None else _("Beyond what was measured")
    return label, rate_interval(prediction.throughput, terms.unit)


# The machines that were compared, each as a line of the terminal and as a row or a bar of the page.


def machine_name(alternative: Alternative, terms: Terms) -> str:
    """`1 x P100`, `8 vCPUs, 1 x V100`; where the table says no more of it, `no accelerator`."""
    return spec_name(alternative.spec, terms) or gpu_name(CPU_LABEL)


def machine_rented(machine: RentedMachine | None) -> str:
    """`aws g4dn.xlarge`, as a table names it, or `2 x aws g4dn.xlarge`; empty where it does not."""
    if machine is None:
        return ""
    if machine.nodes == 1 or machine.name is None:
        return machine.name or (_("{count} machines", count=machine.nodes) if machine.nodes > 1 else "")
    return _("{count} x {machine}", count=machine.nodes, machine=machine.name)


def kind_name(spec: Spec, terms: Terms) -> str:
    """The kind of accelerator that a machine has: `V100`, `accelerator`, `no accelerator`."""
    if spec.gpu_count == 0:
        return gpu_name(CPU_LABEL)
    gpu = spec.gpu or terms.device.gpu
    return gpu_name(gpu) if gpu else _("accelerator")


def alternative_line(alternative: Alternative, terms: Terms) -> str:
    """`1 x L4 (aws g6.xlarge): 1,000 samples/s, $0.805 an hour, $0.224 a million samples`."""
    return _(
        "{machine}: {rate}, {price}[[, p99 {latency:time}]][[, {million:usd} a million {units}]]",
        machine=with_instance(machine_name(alternative, terms), alternative.instance_type),
        rate=answered_rate(alternative.throughput, terms.unit)[0],
        price=price_an_hour(alternative),
        latency=alternative.latency_p99,
        million=alternative.usd_per_million_samples,
        units=several_of(terms.unit),
    )


def price_an_hour(alternative: Alternative) -> str:
    """`$2.07 an hour`, with its spot price beside it where that is another, or that it is unknown."""
    price, spot = alternative.usd_per_hour, alternative.usd_per_hour_spot
    if price is None:
        return _("price unknown[[, {spot:usd} an hour spot]]", spot=spot)
    return _("{price:usd} an hour[[ ({spot:usd} spot)]]", price=price, spot=spot if spot != price else None)


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


def machines_drawn(names: Sequence[str], alternatives: Sequence[Alternative], unit: str) -> str:
    """The picture in words, for who does not see it: `Throughput by machine: 1 x P100 1,800 samples/s, ...`."""
    rates = [rate_interval(each.throughput, unit) for each in alternatives]
    drawn = (f"{name} {rate}" for name, rate in zip(names, rates, strict=True))
    return _("Throughput by machine: {machines}", machines=row(drawn))


machines_left_out = Counted(
    "{count} more machine is in the table below.", "{count} more machines are in the table below."
)
"""Under a picture of many machines: how many are missing from it."""


def million_heading(unit: str, of_disks: bool) -> str:
    """Over the cost of the work, by which the table is in order: what that figure holds; empty of relative rates."""
    if unit == RELATIVE:
        return ""
    return _("A million {units}[[disks?, without the disk]]", units=several_of(unit), disks=of_disks)


def machines_note(unit: str, priced: bool, of_disks: bool) -> str:
    """What the columns of the table of machines mean; `priced`: some of them have a price, `of_disks` a disk's."""
    if not priced:
        return _("The fastest first. The interval is that of a new run (90 %).")
    relative = unit == RELATIVE
    return _(
        "The least cost of [[{units}]][[relative?the same work]] first[[relative?; what a sample costs does not "
        "follow from relative rates]]. The interval is that of a new run (90 %). Dominated: another machine is no "
        "slower and does the work for no more. A price is the machine's own where the table gives it, else that of "
        "the instance type named, else of the cheapest one that holds it.[[disks? Between machines with different "
        "disks the answer counts a volume of 150 GiB of each, too.]]",
        units="" if relative else _("a million {units}", units=several_of(unit)),
        relative=relative,
        disks=of_disks and not relative,
    )


# What could be changed instead of renting more, and whether a faster disk would help.
NOTHING = 0.005
"""A gain that would be written as nothing."""
LITTLE_GAIN = 0.05
"""A gain for which nobody buys a disk."""
_CHANGES: Mapping[ChangeKind, str] = {
    ChangeKind.FORMAT: N_("{format} instead of {other}"),
    ChangeKind.BATCH: N_("Batch {batch:number}"),
    ChangeKind.IN_MEMORY: N_("All of the data in memory: {memory:bytes}"),
    ChangeKind.LOADER_WORKERS: N_("Twice as many loader workers"),
    ChangeKind.WAITING: N_("More loader workers"),
    ChangeKind.LARGE_READS: N_("Files packed into one that is read in large pieces (RecordIO, LMDB)"),
    ChangeKind.DECODER: N_(
        "[[encodes?Decode, resize and encode in half the CPU time]][[!encodes?Decode in half the CPU time: smaller "
        "images, or a faster decoder]]"
    ),
}
_EVIDENCE: Mapping[ChangeKind, str] = {
    ChangeKind.LOADER_WORKERS: N_("A worker waits for the disk {waits:share} of its time."),
    ChangeKind.WAITING: N_(
        "The job waits for its input {waits:share} of the time, while nothing is busy for more than {busy:share} of it."
    ),
    ChangeKind.LARGE_READS: N_("It reads {size:volume} at a time, so the disk's {iops:iops} bind before its MB/s do."),
    ChangeKind.FORMAT: N_("Measured at the same configuration: workload {workload}."),
    ChangeKind.BATCH: N_(
        "[[From batch {before:number} to {now:number} it gained {seen:small}.]][[!seen?Runs with several batch sizes "
        "show how they scale.]]"
    ),
    ChangeKind.IN_MEMORY: N_(
        "From the second epoch on nothing is read: {data:volume} of data and {own:bytes} that the job itself needs."
    ),
    ChangeKind.DECODER: N_("Decoding is {share:share} of its CPU time of {cost}."),
}


def change_named(found: Change, kind: str) -> str:
    """What would be done; `kind` is that of the workload."""
    return _(_CHANGES[found.kind], **found.figures, encodes=kind == PREPROCESSING)


def change_evidence(found: Change, terms: Terms) -> str:
    """What was seen that speaks for it."""
    seconds = found.figures.get("seconds")
    cost = a_sample(brief(seconds), terms.unit) if isinstance(seconds, float) else ""
    return _(_EVIDENCE[found.kind], **found.figures, cost=cost)


def gain_in_words(found: Change) -> str:
    """`+23 % (+12 % to +35 %)`, or that it is a bound."""
    if found.at_most:
        return _("at most {gain:change}", gain=found.gain.value)
    low, high = change(max(found.gain.low, 0.0)), change(found.gain.high)
    if low == high:
        return change(found.gain.value)
    return _("{gain:change} ({low} to {high})", gain=found.gain.value, low=low, high=high)


def then_bound(found: Change, now: Bottleneck | None, terms: Terms) -> str:
    """What holds it back after the change, where that is something else."""
    if found.then is None or found.then in (now, Bottleneck.AMBIGUOUS):
        return ""
    return _("then bound by: {resource}", resource=resource_name(found.then, terms.device))


def no_change(least: float, unsure: str = "", gain: str = "") -> str:
    """That nothing is worth changing; or the best of what the runs are too rough to show."""
    if unsure:
        return _(
            "No change gains for sure. The most, {gain}, may come from this one: {change}.", gain=gain, change=unsure
        )
    return _("None of the changes that these runs can judge would gain more than {share:share}.", share=least)


disk_question = Sentence("Would a faster disk help?")
disk_reads_nothing = Sentence("No: the data is read from memory.")


def disk_answer(gained: Estimate) -> str:
    """How much a disk on which nothing waits would gain at the answer."""
    values = {"gain": gained.value, "low": gained.low, "high": gained.high}
    if gained.high < NOTHING:
        return _("No: it would gain nothing.")
    if gained.value < NOTHING and gained.high < LITTLE_GAIN:
        return _("No: it would gain nothing, at the very most {high:share}.", **values)
    if gained.value < NOTHING:
        return _("Probably not: it would gain nothing, but these runs leave up to {high:share} open.", **values)
    if gained.low < NOTHING:
        return _("Perhaps: by {gain:small}, at the very most {high:share}.", **values)
    return _("Yes: up to {gain:small} ({low:small} to {high:share}).", **values)


def disk_reading(share: float, needed: float, given: float, by_requests: bool, measured: bool) -> str:
    """How it is known: what the job asks of the disk beside what that gives."""
    if share < NOTHING:
        return _("At the answer it reads next to nothing from the disk.")
    written = operations if by_requests else transfer
    return _(
        "At the answer the disk is busy {share:share} of the time: it reads {asked}, and [[fio?fio measured {has} on "
        "it]][[!fio?can give {has}]].",
        share=min(share, 1.0),
        asked=written(needed),
        has=written(given),
        fio=measured,
    )


def disk_other(disk: str, gained: Estimate) -> str:
    """What the best other disk gains, where no figures of disks are known."""
    values = {"disk": disk, "gain": small_share(abs(gained.value)), "high": gained.high}
    if gained.value < -NOTHING:
        return _("Not known: no faster disk was measured; {disk} is slower by {gain}.", **values)
    if gained.value < NOTHING:
        return _("Hardly: on {disk}, the best other disk measured, it runs as fast.", **values)
    if gained.low < NOTHING:
        return _("Perhaps: {disk} gains {gain}, at the very most {high:share}.", **values)
    return _("Yes: {disk} gains {gain}.", **values)
