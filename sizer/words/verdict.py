"""The first screen of the page: what is answered for each workload, each sentence short enough to be read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sizer.records.answer import Answer, Baseline, Family, InstanceOffer, Job, Loss, Recommendation
from sizer.records.prediction import Action, Reason, ReasonCode, Spec
from sizer.records.units import format_bytes, format_number, format_seconds, format_usd
from sizer.words.answers import names_a_place, suggestion_sentences
from sizer.words.badges import Badge, BadgeKind, badge
from sizer.words.figures import (
    gain,
    half_width,
    more_or_less,
    paragraph,
    samples_counted,
    times,
    vcpus_listed,
)
from sizer.words.language import _, _n, without_marks
from sizer.words.names import Terms, accelerators_name, disk_in_words, listed, machine_unvaried, spec_name
from sizer.words.page_answers import offer_name, provider_name
from sizer.words.reasons import reason_sentence
from sizer.words.units import percent, rate_in_words, vcpus_in_words

ALIKE = 0.005
"""Rates and prices that differ by less than half a percent are called the same."""
CENT = 0.01
"""USD."""
CLOSE_RATE = 0.02
"""Rates within 2 % of one another are not told apart."""
CLOSE = 0.1
"""From this difference of rates on, a price an hour says too little: what the same work costs is said, too."""


TIMES = 1.5
"""From here on a share reads better as so many times."""

NOT_SETTLED = (ReasonCode.GAIN_UNKNOWN, ReasonCode.SIZE_OPEN)
NOT_SURE = (
    ReasonCode.CHOICE_CLOSE,
    ReasonCode.RUNS_APART,
    ReasonCode.UNPRICED,
    ReasonCode.ONLY_MEASURED_SIZES,
    ReasonCode.RATES_MISTOLD,
    ReasonCode.JOBS_MIXED,
)
"""Why an answer is provisional."""


def measured_on(moments: Sequence[str | None]) -> str:
    """`2026-11-21.`, or the first and the last day; empty where no run says when it was made."""
    days = sorted(moment[:10] for moment in moments if moment)
    if not days:
        return ""
    if days[0] == days[-1]:
        return _("{date}.", date=days[0])
    return _("{first} to {last}.", first=days[0], last=days[-1])


def spread_assumed() -> str:
    """Of a table with one number a row."""
    return _(
        "The table has one number for each row and no intervals: what follows each ± is by an assumed spread of 2 %."
    )


def runs_of_older_form(count: int) -> str:
    """Of runs that the study file asked for before it was changed."""
    return _n(
        "{count} stored run is of an older form of the study file; the figures are by it, too.",
        "{count} stored runs are of an older form of the study file; the figures are by them, too.",
        count,
    )


def progress_sentence(finished: int, planned: int, older: int) -> str:
    """How much of a study is missing, before the command that goes on with it."""
    said = _progress(finished, planned)
    return paragraph([runs_of_older_form(older), said]) if older else said


def _progress(finished: int, planned: int) -> str:
    if not finished:
        return _n(
            "{count} run is planned and not made yet. To make it:",
            "{count} runs are planned and none is made yet. To make them:",
            planned,
        )
    return _n(
        "Not finished: {finished} of {count} run is there. To go on:",
        "Not finished: {finished} of {count} runs are there. To go on:",
        planned,
        finished=finished,
    )


def status_badge(answer: Answer | None, unfinished: bool = False) -> Badge:
    """The verdict: only an answer that its runs support gets the tick, and not before all of them are there."""
    if answer is None:
        return badge(BadgeKind.NO_ANSWER)
    if answer.edge == "unsettled":
        return badge(BadgeKind.NOT_SETTLED)
    if answer.status == "refused":
        return badge(BadgeKind.TOO_LATE if answer.job is not None else BadgeKind.NO_ANSWER)
    if answer.status == "at_least":
        return badge(BadgeKind.AT_LEAST)
    return badge(BadgeKind.PROVISIONAL if answer.provisional or unfinished else BadgeKind.RECOMMENDED)


def spec_bound(answer: Answer) -> str:
    """What stands before a spec that is no more than a lower bound, or not settled."""
    if answer.edge == "unsettled":
        return _("so far")
    return _("at least") if answer.status == "at_least" else ""


def spec_parts(spec: Spec, terms: Terms) -> list[str]:
    """`4 vCPUs`, `8 GiB`, `1 x V100`, `disk nvme`, `batch 32`: what the spec asks for, a part each.

    The workload's own accelerator is named where the spec names none; what of a disk is emulated, a badge says.
    """
    device = terms.device
    parts = [vcpus_in_words(spec.vcpus)] if spec.vcpus is not None else []
    parts += [format_bytes(spec.memory_bytes)] if spec.memory_bytes is not None else []
    if spec.gpu or spec.gpu_count or device.kind != "cpu":
        parts.append(accelerators_name(spec.gpu, spec.gpu_count, device))
    parts += [_("{count} machines", count=spec.nodes)] if spec.nodes > 1 else []
    parts += [disk_in_words(spec.disk)] if spec.disk is not None else []
    parts += [_("batch {size}", size=spec.batch_size)] if spec.batch_size is not None else []
    return parts or [machine_unvaried(device)]


def is_emulated(spec: Spec, terms: Terms) -> bool:
    """Whether its disk or its accelerator was imitated."""
    return terms.device.kind == "emulated" or spec.disk in terms.emulated_disks


def oversize_badge(spec: Spec, offer: InstanceOffer, others: Sequence[InstanceOffer]) -> Badge | None:
    """Why the machine offered is larger than the spec; None where it is not, or that is not known."""
    if offer.own or spec.vcpus is None or not offer.vcpus or offer.vcpus <= spec.vcpus:
        return None
    smallest = all(each.vcpus >= offer.vcpus for each in others)
    return badge(BadgeKind.SMALLEST_SOLD if smallest else BadgeKind.CHEAPEST_SOLD)


def no_machine(answer: Answer | None) -> str:
    """What stands in the place of a spec, where there is none."""
    return _("none is fast enough") if answer is not None and answer.job is not None else _("no machine yet")


def price_day(offer: InstanceOffer | None, spot: bool) -> str:
    """`on demand, 2026-07-20`; of a table's own price, that it is."""
    if offer is None or not offer.as_of:
        return _("price of the imported table")
    return _("spot, {date}", date=offer.as_of) if spot else _("on demand, {date}", date=offer.as_of)


def against_sentence(answer: Answer, target: float, terms: Terms) -> str:
    """What the answer keeps and what it saves, against a configuration with a name; empty where there is none.

    `target` is the share of the best throughput that was asked for.
    """
    if answer.spec is None or answer.throughput is None:
        return ""
    if answer.job is not None:
        return _job(answer.job, terms)
    found = _against(answer.spec, answer.baseline, terms, bool(answer.alternatives)) if answer.baseline else ""
    if not found and answer.status == "at_least":
        found = _beside_smaller(answer, answer.spec, terms)
    following = next((each for each in answer.reasons if each.text("role") == "next"), None)
    if not found and following is not None:
        found = reason_sentence(following, terms)
    return found or _beside_cheaper(answer, target, terms)


def rented(answer: Answer) -> InstanceOffer | None:
    """The cheapest machine that holds the spec; of machines that were compared, the one whose price decided."""
    if answer.spec is None:
        return None
    chosen = answer.chosen
    if chosen is None:
        return next(iter(answer.instances), None)
    return next((each for each in answer.instances if offer_name(each) == chosen.instance_type), None)


def idle_sentence(answer: Answer) -> str:
    """That the price pays for accelerators that the throughput did not use; empty where it pays for none."""
    offer = rented(answer)
    notes = () if offer is None or offer.usd_per_hour is None else offer.notes
    more = next((each for each in notes if each.code is ReasonCode.OTHER_GPUS and each.has("gpu_count")), None)
    if more is None:
        return ""
    if not more.has("used"):
        return _("The price pays for a GPU that this throughput does not use.")
    return _n(
        "The price pays for {gpus} GPUs; this throughput uses {count}, so the rest would stay idle.",
        "The price pays for {gpus} GPUs; this throughput uses {count}, so the rest would stay idle.",
        round(more.number("used")),
        gpus=format_number(more.number("gpu_count")),
    )


def _job(job: Job, terms: Terms) -> str:
    known = {
        "samples": samples_counted(job.samples, terms.unit),
        "time": f"{format_seconds(job.seconds.value)} {half_width(job.seconds)}",
        "within": format_seconds(job.within),
    }
    if job.usd is None:
        return _("{samples} take {time}, of {within} allowed; what they cost is not known.", **known)
    return _("{samples} take {time}, of {within} allowed, and cost {price}.", **known, price=format_usd(job.usd))


def _is_larger(spec: Spec, baseline: Spec) -> bool:
    """Whether the spec has more of something than the largest measured: what is sold may be larger than both."""
    pairs = ((spec.vcpus, baseline.vcpus), (spec.memory_bytes, baseline.memory_bytes))
    return any(has is not None and measured is not None and has > measured for has, measured in pairs)


def _against(spec: Spec, baseline: Baseline, terms: Terms, machines: bool) -> str:
    own, other = _differing(spec, baseline.spec), _differing(baseline.spec, spec)
    if not baseline.named and (own == other or _is_larger(spec, baseline.spec)):
        return ""
    called = _instead(own, other, terms)
    if baseline.named:
        called = _("{own} instead of {other}", own=spec_name(spec, terms), other=baseline.instance_type or "")
    elif machines:
        called = _("{instead}, the fastest measured,", instead=called)
    else:
        called = _("{instead}, the largest measured,", instead=called)
    known = {"instead": called, "share": percent(baseline.share), "price": _price(baseline)}
    if baseline.saving is not None and abs(baseline.share - 1) > CLOSE:
        return _by_work(called, baseline.share, baseline.saving)
    if abs(baseline.share - 1) < ALIKE:
        return _("With {instead} it keeps all of the throughput and {price}.", **known)
    return _("With {instead} it keeps {share} of the throughput and {price}.", **known)


def _by_work(instead: str, share: float, saving: float) -> str:
    """Its share of the other's throughput, the share of the other's price that it saves, and both in one."""
    work = (1 - saving) / share - 1
    return _(
        "With {instead} it has {rate} and {price}; the same work costs {work}.",
        instead=instead,
        rate=_of_the_throughput(share),
        price=_saved(saving),
        work=_("the same") if abs(work) < ALIKE else more_or_less(work),
    )


def _beside_smaller(answer: Answer, spec: Spec, terms: Terms) -> str:
    """What a lower bound gains and costs against the next smaller one: there is no larger one to save against.

    Empty where no smaller one has both a rate and a price.
    """
    known = [
        (each, each.share, each.saving)
        for each in answer.rejected
        if each.share is not None and 0 < each.share < 1 and each.saving is not None and each.saving < 1
    ]
    sizes = [found for found in known if found[0].spec.vcpus != spec.vcpus] or known
    if not sizes:
        return ""
    in_one = [found for found in sizes if _differing(found[0].spec, spec) == Spec(found[0].spec.vcpus)]
    smaller, share, saving = max(in_one or sizes, key=lambda found: found[1])
    called = _instead(_differing(spec, smaller.spec), _differing(smaller.spec, spec), terms)
    price = 1 - 1 / (1 - saving)
    return _by_work(called, 1 / share, price)


def _of_the_throughput(share: float) -> str:
    if share < TIMES:
        return _("{share} of the throughput", share=percent(share))
    return _("{times} the throughput", times=times(share))


def _price(baseline: Baseline) -> str:
    if baseline.saving is not None:
        return _saved(baseline.saving)
    if baseline.answer_usd_per_hour is not None:
        return _("the other has no known price")
    return _("has no known price")


def _saved(saving: float) -> str:
    if abs(saving) < ALIKE:
        return _("its machine costs the same")
    if saving > 0:
        return _("saves {share} an hour", share=percent(saving))
    return _("costs {more} an hour", more=more_or_less(-saving))


def _instead(own: Spec, other: Spec, terms: Terms) -> str:
    """`2 vCPUs instead of 16`, `disk standard instead of disk nvme`."""
    plain = replace(terms, emulated_disks=frozenset())
    if own.vcpus is not None and other == Spec(other.vcpus) and own == Spec(own.vcpus) and other.vcpus is not None:
        return _("{own} instead of {other}", own=vcpus_in_words(own.vcpus), other=f"{other.vcpus:g}")
    return _("{own} instead of {other}", own=spec_name(own, plain), other=spec_name(other, plain))


def _differing(spec: Spec, other: Spec) -> Spec:
    """The spec with what differs from the other one alone; what the other leaves open differs from nothing."""
    gpus = (spec.gpu, spec.gpu_count) != (other.gpu, other.gpu_count)
    return Spec(
        spec.vcpus if other.vcpus not in (None, spec.vcpus) else None,
        spec.memory_bytes if other.memory_bytes not in (None, spec.memory_bytes) else None,
        spec.disk if other.disk not in (None, spec.disk) else None,
        spec.batch_size if other.batch_size not in (None, spec.batch_size) else None,
        spec.gpu if gpus else None,
        spec.gpu_count if gpus else 0,
    )


def _beside_cheaper(answer: Answer, target: float, terms: Terms) -> str:
    """Why the next cheaper one is not enough: where the answer is the largest measured, nothing is saved against it."""
    shares = [
        (reason.number("of_target") * target, each)
        for each in answer.rejected
        for reason in each.why
        if reason.has("of_target") and reason.number("of_target") < 1
    ]
    if not shares or answer.spec is None:
        return ""
    share, nearest = max(shares, key=lambda each: each[0])
    lacking = _differing(nearest.spec, answer.spec)
    if answer.edge == "rising" and lacking == Spec(lacking.vcpus):
        return ""  # The doubt says what the answer gained over that.
    called = spec_name(lacking, replace(terms, emulated_disks=frozenset()))
    return _("With {spec} it gives only {share} of the best throughput.", spec=called, share=percent(share))


def doubt_sentence(answer: Answer | None, terms: Terms) -> str:
    """Why there is no answer, or why it is not to be relied on; empty where nothing speaks against it."""
    if answer is None:
        return ""
    with without_marks():
        if answer.status == "refused":
            return _plain(answer.reasons[0], terms) if answer.reasons else _("There is not enough data.")
        if answer.status == "recommended" and not answer.provisional and answer.edge == "settled":
            return ""
        codes = (*NOT_SETTLED, *NOT_SURE, ReasonCode.RISES, ReasonCode.RUNS_DOUBTFUL)
        doubts = [reason for reason in answer.reasons if reason.code in codes]
        if answer.edge == "rising":
            doubts.sort(key=lambda reason: reason.code is not ReasonCode.RISES)
        if doubts:
            return _plain(doubts[0], terms)
        why = answer.next_run.why if answer.next_run is not None else None
        return _plain(why, terms) if why is not None else ""


def _plain(reason: Reason, terms: Terms) -> str:
    """The reason in one short sentence; the workload's own section says it with all its figures."""
    if reason.code is ReasonCode.RISES and reason.has("vcpus"):
        most = vcpus_in_words(reason.number("vcpus"))
        return _(
            "More than {vcpus}, the most measured, should gain {gain}.", vcpus=most, gain=gain(reason.number("gain"))
        )
    if reason.code is ReasonCode.GAIN_UNKNOWN and reason.has("probability"):
        most = vcpus_in_words(reason.number("vcpus"))
        return _("Whether more than {vcpus} pay is not clear from these runs.", vcpus=most)
    if reason.code is ReasonCode.NONE_ENOUGH and reason.has("within"):
        return _(
            "The fastest measured takes {time}, and {within} are allowed.",
            time=format_seconds(reason.number("seconds")),
            within=format_seconds(reason.number("within")),
        )
    if reason.code is ReasonCode.RATES_MISTOLD:
        return _("Its log tells another throughput than its lines come at, so only how specs compare is known.")
    return reason_sentence(reason, terms)


def settling_sentence(answer: Answer | None, terms: Terms) -> str:
    """What to do about the doubt; empty where nothing is suggested."""
    if answer is None or answer.next_run is None:
        return ""
    suggestion = answer.next_run
    vcpus = vcpus_listed(suggestion.vcpus) if suggestion.vcpus and not names_a_place(suggestion) else ""
    if suggestion.action is Action.MEASURE and vcpus:
        if suggestion.needs_larger_host:
            host = vcpus_in_words(suggestion.host_vcpus or 0)
            return _("Measure at {vcpus} on a larger host; this one has {host}.", vcpus=vcpus, host=host)
        return _("Measure at {vcpus}.", vcpus=vcpus)
    if suggestion.action is Action.REPEAT and suggestion.repeat_how is None and not names_a_place(suggestion):
        return _("Repeat the runs at {vcpus}.", vcpus=vcpus) if vcpus else _("Repeat the runs.")
    kept = suggestion if suggestion.action is Action.IMPORT else replace(suggestion, why=None)
    with without_marks():
        return suggestion_sentences(kept, terms)


def settling_command(answer: Answer | None, folder: str) -> str:
    """What to type for it, where one command is all that it takes; `folder` as typed, empty where it is not known."""
    if answer is None or answer.next_run is None or not folder:
        return ""
    action = answer.next_run.action
    if action is Action.RETRY:
        return f"sizer resume {folder} --retry"
    if action is Action.FINISH:
        return f"sizer resume {folder}"
    return f"sizer import FILE.csv --out {folder}" if action is Action.IMPORT else ""


def shared_sentences(recommendation: Recommendation) -> list[str]:
    """One machine for all workloads and what each loses by it, or that none is sold; empty for a single answer."""
    shared = recommendation.family.shared
    answered = [answer for answer in recommendation.workloads if answer.spec is not None]
    if len(answered) < 2:
        return []
    if shared is None:
        return [_("No machine of the catalogue holds all of them.")]
    name = f"{provider_name(shared.provider)} {shared.instance_type}"
    price = format_usd(shared.usd_per_hour)
    by_loss: dict[str, list[str]] = {}
    for loss in shared.losses:
        by_loss.setdefault(_lost(loss), []).append(loss.workload)
    if len(by_loss) == 1 and _lost(shared.losses[0]) == _nothing():
        return [_("{machine}, {price} an hour: it is the cheapest for each of them.", machine=name, price=price)]
    each = [_("{workloads}: {loss}.", workloads=listed(workloads), loss=loss) for loss, workloads in by_loss.items()]
    return [_("{machine}, {price} an hour.", machine=name, price=price), *each]


def family_sentence(family: Family) -> str:
    """`1 to 2 vCPUs, with 2 GiB for each.`: what one instance family must offer; empty where all need the same."""
    least, most = family.least_vcpus, family.most_vcpus
    if least is None or most is None or least == most:
        return ""
    known = {"least": f"{least:g}", "most": vcpus_in_words(most), "memory": f"{family.gib_per_vcpu or 0:g} GiB"}
    if family.gib_per_vcpu is None:
        found = (
            _("machines of {least} to at least {most}.", **known)
            if family.rising
            else _("machines of {least} to {most}.", **known)
        )
    elif family.rising:
        found = _("machines of {least} to at least {most}, with {memory} of memory for each vCPU.", **known)
    else:
        found = _("machines of {least} to {most}, with {memory} of memory for each vCPU.", **known)
    left_out = family.not_covered
    return paragraph([found, _("Not covered: {names}.", names=listed(left_out)) if left_out else ""])


def runs_there(finished: int, planned: int, older: int) -> str:
    """How many runs of a workload are there, where some are missing."""
    if not older:
        return _n(
            "{finished} of {count} run is there.", "{finished} of {count} runs are there.", planned, finished=finished
        )
    there = _n(
        "{finished} of {count} run of the study as it now stands is there.",
        "{finished} of {count} runs of the study as it now stands are there.",
        planned,
        finished=finished,
    )
    return paragraph([there, runs_of_older_form(older)])


def _nothing() -> str:
    return _("loses nothing")


def _lost(loss: Loss) -> str:
    """`$1.99 an hour more for the same throughput`."""
    more = loss.usd_per_hour
    if more is None:
        return _("its own price is not known")
    faster = loss.share - 1 if loss.share is not None else 0.0
    if abs(more) < ALIKE * CENT and abs(faster) < CLOSE_RATE:
        return _nothing()
    price = format_usd(more)
    if faster >= CLOSE_RATE:
        return _("{price} an hour more, and {gain} faster", price=price, gain=gain(faster))
    if faster <= -CLOSE_RATE:
        return _("{price} an hour more, and {loss} slower", price=price, loss=percent(-faster))
    return _("{price} an hour more for the same throughput", price=price)


def rate_of_its_runs(rate: float, unit: str) -> str:
    """Beside a fitted rate what the runs of that configuration gave."""
    return _("its runs: {rate}", rate=rate_in_words(rate, unit))


def without_disk(spec: Spec) -> str:
    """Beside the price of a machine, that the disk asked for comes on top; empty where none is asked for."""
    return _("without the disk") if spec.disk is not None else ""
