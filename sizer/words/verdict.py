"""The first screen of the page and an answer as its section says it, each sentence short enough to be read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sizer.records.answer import Answer, Baseline, Family, InstanceOffer, Job, Loss, Recommendation
from sizer.records.prediction import Action, Reason, ReasonCode, Spec
from sizer.records.study import Objective
from sizer.records.units import format_bytes, format_usd
from sizer.words.answers import MOST_REASONS, NOTES, names_a_place, suggestion_sentences
from sizer.words.language import (
    N_,
    Counted,
    Sentence,
    _,
    gain,
    half_width,
    more_or_less,
    paragraph,
    rate_in_words,
    samples_counted,
    several_of,
    times,
    vcpus_in_words,
    vcpus_listed,
    without_marks,
)
from sizer.words.names import Terms, accelerators_name, batch_named, disk_in_words, machine_unvaried, spec_name
from sizer.words.reasons import reason_sentence

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
    *(ReasonCode.CHOICE_CLOSE, ReasonCode.RUNS_APART, ReasonCode.UNPRICED, ReasonCode.ONLY_MEASURED_SIZES),
    *(ReasonCode.RATE_CONTRADICTED, ReasonCode.JOBS_MIXED),
)
"""Why an answer is provisional."""


# Badges: words that mark what is not an ordinary measured figure, each with what it means to a first-time reader.


class BadgeKind(str, Enum):
    """What a badge marks."""

    # How a figure was come by.
    MEASURED = "measured"
    FITTED = "fitted"
    PREDICTED = "predicted"
    EXTRAPOLATED = "extrapolated"
    TRANSFERRED = "transferred"
    EMULATED = "emulated"
    EMBEDDED_DATA = "embedded_data"

    # What speaks against relying on it.
    DRIFTING = "drifting"
    PROVISIONAL = "provisional"
    AT_LEAST = "at_least"
    NOT_SETTLED = "not_settled"
    NO_ANSWER = "no_answer"
    TOO_LATE = "too_late"

    # What is asked for, and what is rented.
    RECOMMENDED = "recommended"
    SMALLEST_SOLD = "smallest_sold"
    CHEAPEST_SOLD = "cheapest_sold"


@dataclass(frozen=True)
class Badge:
    """A badge as the page shows it: its kind decides the colour, its word stands there, and pointing at it explains.

    `symbol` stands before the word where the word is a verdict, so that colour is not all that tells verdicts apart.
    """

    kind: str
    word: str
    explanation: str
    symbol: str = ""


_K = BadgeKind
_BADGES: Mapping[BadgeKind, tuple[str, str, str]] = {
    _K.MEASURED: (N_("measured"), N_("A run had just this configuration; the figure is what it did."), ""),
    _K.FITTED: (
        N_("fitted"),
        N_("The model's rate, by all runs together; runs of just this configuration gave another one."),
        "",
    ),
    _K.PREDICTED: (
        N_("predicted"),
        N_("No run had just this configuration: the model says it, from runs on both sides of it."),
        "",
    ),
    _K.EXTRAPOLATED: (
        N_("extrapolated"),
        N_("Beyond what was measured: the model's curve carried on. Measure there before you rely on it."),
        "",
    ),
    _K.TRANSFERRED: (
        N_("transferred"),
        N_("Measured on another kind of machine and converted to this one; only a run on it would be proof."),
        "",
    ),
    _K.EMULATED: (
        N_("emulated"),
        N_(
            "Imitated at its published speed instead of the real thing: a disk is held to its IOPS and MB/s, an "
            "accelerator's step waits as long as the published step takes."
        ),
        "",
    ),
    _K.EMBEDDED_DATA: (
        N_("embedded data"),
        N_("A small data set of sizer was read in place of yours; your own files may be slower or faster."),
        "",
    ),
    _K.DRIFTING: (
        N_("drifting"),
        N_("The measuring host became slower or faster meanwhile, so figures of different times compare badly."),
        "",
    ),
    _K.PROVISIONAL: (
        N_("provisional"),
        N_("The best that these runs support, but something speaks against relying on it; the row says what."),
        "!",
    ),
    _K.AT_LEAST: (
        N_("at least"),
        N_("The throughput was still rising at the most that was measured: more may be better, less is not."),
        "≥",
    ),
    _K.NOT_SETTLED: (N_("not settled"), N_("The best so far; more may be faster."), "?"),
    _K.NO_ANSWER: (N_("no answer"), N_("The runs do not suffice for an answer."), "?"),
    _K.TOO_LATE: (N_("too late"), N_("Nothing that was measured finishes the job in time."), "?"),
    _K.RECOMMENDED: (
        N_("recommended"),
        N_("The runs support it, and the target is reached with a probability of 0.9 or more."),
        "✓",
    ),
    _K.SMALLEST_SOLD: (
        N_("smallest sold"),
        N_("Larger than what is needed: no smaller instance type of the catalogue holds it."),
        "",
    ),
    _K.CHEAPEST_SOLD: (
        N_("cheapest sold"),
        N_("Larger than what is needed, and still the cheapest instance type of the catalogue that holds it."),
        "",
    ),
}
"""Word, explanation and symbol of each."""


def badge(kind: BadgeKind) -> Badge:
    """The badge of that kind, in the reader's language."""
    word, explanation, symbol = _BADGES[kind]
    return Badge(kind.value, _(word), _(explanation), symbol)


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


def oversize_badge(spec: Spec, offer: InstanceOffer, others: Sequence[InstanceOffer]) -> Badge | None:
    """Why the machine offered is larger than the spec; None where it is not, or that is not known."""
    if offer.own or spec.vcpus is None or not offer.vcpus or offer.vcpus <= spec.vcpus:
        return None
    smallest = all(each.vcpus >= offer.vcpus for each in others)
    return badge(BadgeKind.SMALLEST_SOLD if smallest else BadgeKind.CHEAPEST_SOLD)


# How much of a study is there.


def measured_on(moments: Sequence[str | None]) -> str:
    """`2026-11-21.`, or the first and the last day; empty where no run says when it was made."""
    days = sorted(moment[:10] for moment in moments if moment)
    if not days:
        return ""
    return _("{first}[[ to {last}]].", first=days[0], last=days[-1] if days[0] != days[-1] else "")


spread_assumed = Sentence(
    "The table has one number for each row and no intervals: what follows each ± is by an assumed spread of 2 %."
)
runs_of_older_form = Counted(
    "{count} stored run is of an older form of the study file; the figures are by it, too.",
    "{count} stored runs are of an older form of the study file; the figures are by them, too.",
)
_PLANNED = Counted(
    "{count} run is planned and not made yet. To make it:",
    "{count} runs are planned and none is made yet. To make them:",
)


def rate_of_its_runs(rate: float, unit: str) -> str:
    """Beside a fitted rate what the runs of that configuration gave."""
    return _("its runs: {rate}", rate=rate_in_words(rate, unit))


def progress_sentence(finished: int, planned: int, older: int) -> str:
    """How much of a study is missing, before the command that goes on with it."""
    left = _("Not finished: {finished} of {runs:runs} done. To go on:", finished=finished, runs=planned)
    return paragraph([runs_of_older_form(older) if older else "", left if finished else _PLANNED(planned)])


def runs_there(finished: int, planned: int, older: int) -> str:
    """How many runs of a workload are there, where some are missing."""
    done = _(
        "{finished} of {runs:runs}[[older? of the study as it now stands]] done.",
        finished=finished,
        runs=planned,
        older=older,
    )
    return paragraph([done, runs_of_older_form(older) if older else ""])


# The spec and its machine.


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
    with_gpu = spec.gpu or spec.gpu_count or device.kind != "cpu"
    parts = [
        vcpus_in_words(spec.vcpus) if spec.vcpus is not None else "",
        format_bytes(spec.memory_bytes) if spec.memory_bytes is not None else "",
        accelerators_name(spec.gpu, spec.gpu_count, device) if with_gpu else "",
        _("{count} machines", count=spec.nodes) if spec.nodes > 1 else "",
        disk_in_words(spec.disk) if spec.disk is not None else "",
        batch_named(spec.batch_size) if spec.batch_size is not None else "",
    ]
    return [*filter(None, parts)] or [machine_unvaried(device)]


def is_emulated(spec: Spec, terms: Terms) -> bool:
    """Whether its disk or its accelerator was imitated."""
    return terms.device.kind == "emulated" or spec.disk in terms.emulated_disks


def no_machine(answer: Answer | None) -> str:
    """What stands in the place of a spec, where there is none."""
    return _("none is fast enough") if answer is not None and answer.job is not None else _("no machine yet")


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
    return next((each for each in answer.instances if each.called(each.provider) == chosen.instance_type), None)


def idle_sentence(answer: Answer) -> str:
    """That the price pays for accelerators that the throughput did not use; empty where it pays for none."""
    offer = rented(answer)
    notes = () if offer is None or offer.usd_per_hour is None else offer.notes
    more = next((each for each in notes if each.code is ReasonCode.OTHER_GPUS and each.has("gpu_count")), None)
    if more is None:
        return ""
    if not more.has("used"):
        return _("The price pays for a GPU that this throughput does not use.")
    return _(
        "The price pays for {gpus:number} GPUs; this throughput uses {used:number}, so the rest would stay idle.",
        gpus=more.number("gpu_count"),
        used=more.number("used"),
    )


# What it keeps and saves.


def against_sentence(answer: Answer, target: float, terms: Terms) -> str:
    """What the answer keeps and what it saves, against a configuration with a name; empty where there is none.

    `target` is the share of the best throughput that was asked for.
    """
    if answer.spec is None or answer.throughput is None:
        return ""
    if answer.job is not None:
        return _job(answer.job, terms)
    text = _against(answer.spec, answer.baseline, terms, bool(answer.alternatives)) if answer.baseline else ""
    if not text and answer.status == "at_least":
        text = _beside_smaller(answer, answer.spec, terms)
    following = next((each for each in answer.reasons if each.text("role") == "next"), None)
    if not text and following is not None:
        text = reason_sentence(following, terms)
    return text or _beside_cheaper(answer, target, terms)


def _job(job: Job, terms: Terms) -> str:
    return _(
        "{samples} take {seconds:time} {width}, of {within:time} allowed[[, and cost {usd:usd}]][[!usd?; what they "
        "cost is not known]].",
        samples=samples_counted(job.samples, terms.unit),
        seconds=job.seconds.value,
        width=half_width(job.seconds),
        within=job.within,
        usd=job.usd,
    )


def _is_larger(spec: Spec, baseline: Spec) -> bool:
    """Whether the spec has more of something than the largest measured: what is sold may be larger than both."""
    pairs = ((spec.vcpus, baseline.vcpus), (spec.memory_bytes, baseline.memory_bytes))
    return any(has is not None and measured is not None and has > measured for has, measured in pairs)


_INSTEAD = Sentence("{own} instead of {other}[[machines?, the fastest measured,]][[sizes?, the largest measured,]]")


def _against(spec: Spec, baseline: Baseline, terms: Terms, machines: bool) -> str:
    own, other = _differing(spec, baseline.spec), _differing(baseline.spec, spec)
    if not baseline.named and (own == other or _is_larger(spec, baseline.spec)):
        return ""
    pair = _pair(own, other, terms)
    if baseline.named:
        pair = spec_name(spec, terms), baseline.instance_type or ""
    instead = _INSTEAD(*pair, machines=machines and not baseline.named, sizes=not machines and not baseline.named)
    if baseline.saving is not None and abs(baseline.share - 1) > CLOSE:
        return _by_work(instead, baseline.share, baseline.saving)
    share = None if abs(baseline.share - 1) < ALIKE else baseline.share
    return _(
        "With {instead} it keeps [[{share:share}]][[!share?all]] of the throughput and {price}.",
        instead=instead,
        share=share,
        price=_price(baseline),
    )


def _by_work(instead: str, share: float, saving: float) -> str:
    """Its share of the other's throughput, the share of the other's price that it saves, and both in one."""
    work = (1 - saving) / share - 1
    return _(
        "With {instead} it has [[{many} the throughput]][[{share:share} of the throughput]] and {price}; the same "
        "work costs [[{work:more}]][[!work?the same]].",
        instead=instead,
        many=times(share) if share >= TIMES else "",
        share=share if share < TIMES else None,
        price=_saved(saving),
        work=0.0 if abs(work) < ALIKE else work,
    )


def _beside_smaller(answer: Answer, spec: Spec, terms: Terms) -> str:
    """What a lower bound gains and costs against the next smaller one: there is no larger one to save against.

    Empty where no smaller one has both a rate and a price.
    """
    priced = [
        (each, each.share, each.saving)
        for each in answer.rejected
        if each.share is not None and 0 < each.share < 1 and each.saving is not None and each.saving < 1
    ]
    sizes = [each for each in priced if each[0].spec.vcpus != spec.vcpus] or priced
    if not sizes:
        return ""
    in_one = [each for each in sizes if _differing(each[0].spec, spec) == Spec(each[0].spec.vcpus)]
    smaller, share, saving = max(in_one or sizes, key=lambda each: each[1])
    pair = _pair(_differing(spec, smaller.spec), _differing(smaller.spec, spec), terms)
    return _by_work(_INSTEAD(*pair), 1 / share, 1 - 1 / (1 - saving))


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
        return _("saves {share:share} an hour", share=saving)
    return _("costs {more} an hour", more=more_or_less(-saving))


def _pair(own: Spec, other: Spec, terms: Terms) -> tuple[str, str]:
    """`2 vCPUs` and `16`, `disk standard` and `disk nvme`: what differs between two specs."""
    plain = replace(terms, emulated_disks=frozenset())
    if own.vcpus is not None and other == Spec(other.vcpus) and own == Spec(own.vcpus) and other.vcpus is not None:
        return vcpus_in_words(own.vcpus), f"{other.vcpus:g}"
    return spec_name(own, plain), spec_name(other, plain)


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
    spec = spec_name(lacking, replace(terms, emulated_disks=frozenset()))
    return _("With {spec} it gives only {share:share} of the best throughput.", spec=spec, share=share)


# What speaks against it, and what to do about that.


def doubt_sentence(answer: Answer | None, terms: Terms) -> str:
    """Why there is no answer, or why it is not to be relied on; empty where nothing speaks against it."""
    if answer is None:
        return ""
    with without_marks():
        if answer.status == "refused":
            return _short(answer.reasons[0], terms) if answer.reasons else _("There is not enough data.")
        if answer.status == "recommended" and not answer.provisional and answer.edge == "settled":
            return ""
        codes = (*NOT_SETTLED, *NOT_SURE, ReasonCode.RISES, ReasonCode.RUNS_DOUBTFUL)
        doubts = [reason for reason in answer.reasons if reason.code in codes]
        if answer.edge == "rising":
            doubts.sort(key=lambda reason: reason.code is not ReasonCode.RISES)
        if doubts:
            return _short(doubts[0], terms)
        why = answer.next_run.why if answer.next_run is not None else None
        return _short(why, terms) if why is not None else ""


_SHORT: Mapping[tuple[ReasonCode, str], str] = {
    (ReasonCode.RISES, "vcpus"): N_("More than {vcpus:vcpus}, the most measured, should gain {gain:gain}."),
    (ReasonCode.GAIN_UNKNOWN, "probability"): N_("Whether more than {vcpus:vcpus} pay is not clear from these runs."),
    (ReasonCode.NONE_ENOUGH, "within"): N_("The fastest measured takes {seconds:time}, and {within:time} are allowed."),
    (ReasonCode.RATE_CONTRADICTED, "mistold"): N_(
        "Its log tells another throughput than its lines come at, so only how specs compare is known."
    ),
}
"""Of a reason with that figure; the workload's own section says it with all its figures."""


def _short(reason: Reason, terms: Terms) -> str:
    """The reason in one short sentence."""
    message = next(
        (text for (code, figure), text in _SHORT.items() if reason.code is code and reason.has(figure)), None
    )
    return reason_sentence(reason, terms) if message is None else _(message, **{"gain": 0.0, **reason.figures})


def settling_sentence(answer: Answer | None, terms: Terms) -> str:
    """What to do about the doubt; empty where nothing is suggested."""
    if answer is None or answer.next_run is None:
        return ""
    suggestion, place = answer.next_run, names_a_place(answer.next_run)
    vcpus = vcpus_listed(suggestion.vcpus) if suggestion.vcpus and not place else ""
    if suggestion.action is Action.MEASURE and vcpus:
        host = (suggestion.host_vcpus or 0) if suggestion.needs_larger_host else None
        return _("Measure at {vcpus}[[ on a larger host; this one has {host:vcpus}]].", vcpus=vcpus, host=host)
    if suggestion.action is Action.REPEAT and suggestion.repeat_how is None and not place:
        return _("Repeat the runs[[ at {vcpus}]].", vcpus=vcpus)
    kept = suggestion if suggestion.action is Action.IMPORT else replace(suggestion, why=None)
    with without_marks():
        return suggestion_sentences(kept, terms)


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
    folded = [reason for reason in answer.reasons if reason not in first]
    with without_marks():  # the page sets no names apart
        return [reason_sentence(each, terms) for each in first], [reason_sentence(each, terms) for each in folded]


def next_run_sentences(answer: Answer, terms: Terms) -> str:
    """What to measure next, without marks around names; empty where nothing is suggested."""
    if answer.next_run is None:
        return ""
    # What stands among the reasons is not said again.
    suggested = replace(answer.next_run, why=None) if answer.next_run.why in answer.reasons else answer.next_run
    with without_marks():
        return suggestion_sentences(suggested, terms)


def next_run_title(answer: Answer) -> str:
    """The label before the next run: whether it would settle an answer, or help to any."""
    if answer.status == "at_least" or answer.provisional:
        return _("What would settle it:")
    return _("What would help:")


def objective_in_words(objective: Objective, compared: bool = False, accelerators: bool = False) -> str:
    """What was asked for; `compared`: every answer is a choice between machines that were measured, some of them with
    `accelerators`.
    """
    if objective.deadline is not None:
        return _(
            "The spec on which {samples} cost least of those that finish them within {time:time}.",
            samples=samples_counted(objective.deadline.samples, "sample"),
            time=objective.deadline.seconds,
        )
    if objective.at_least is not None:
        rate = rate_in_words(objective.at_least, "sample")
        return _("The spec on which the work costs least, of those that give at least {rate}.", rate=rate)
    if compared and objective.prefer == "cheapest":
        return _(
            "Least cost for the same work. A machine counts if it reaches {share:share} of the best "
            "throughput[[accelerators? measured with the same accelerators]].",
            share=objective.target,
            accelerators=accelerators,
        )
    return _(
        _GOALS.get(objective.prefer) or N_("{goal}, at {share:share} of the best throughput."),
        goal=objective.prefer,
        share=objective.target,
    )


_GOALS: Mapping[str, str] = {
    "cheapest": N_("The cheapest spec that keeps {share:share} of the best throughput."),
    "fastest": N_("The fastest spec; of specs within 1 % of one another, the cheapest."),
    "balanced": N_("The least price × time among the specs that keep {share:share} of the best throughput."),
}


# The machines that are offered, and one for all.
_PROVIDERS = {"aws": "AWS", "azure": "Azure", "gcp": "GCP", "alibaba": "Alibaba Cloud"}


def provider_name(provider: str) -> str:
    """As people write it; one that is not of the catalogue stays as it is."""
    return _PROVIDERS.get(provider, provider)


def offer_called(offer: InstanceOffer) -> str:
    """`AWS g4dn.xlarge`, to be read."""
    return offer.called(provider_name(offer.provider))


def offer_parts(offer: InstanceOffer) -> list[str]:
    """`8 vCPUs`, `32 GiB`, `1 × V100`: what is known of its size."""
    parts = [vcpus_in_words(offer.vcpus)] if offer.vcpus else []  # a table may not say how many
    parts += [format_bytes(offer.memory_bytes)] if offer.memory_bytes else []
    return parts + ([f"{offer.gpu_count} × {offer.gpu}"] if offer.gpu else [])


def offer_source(offer: InstanceOffer) -> tuple[str, str]:
    """Where its price is from, and of which day; empty for a table's own."""
    return (offer.source, _("as of {date}", date=offer.as_of)) if offer.as_of else (_("the imported table"), "")


def offer_price(offer: InstanceOffer) -> str:
    """`$3.912/h`, or that it is unknown."""
    return an_hour(offer.usd_per_hour) if offer.usd_per_hour is not None else _("price unknown")


def price_day(offer: InstanceOffer | None, spot: bool) -> str:
    """`on demand, 2026-07-20`; of a table's own price, that it is."""
    if offer is None or not offer.as_of:
        return _("price of the imported table")
    return _("[[spot?spot]][[!spot?on demand]], {date}", spot=spot, date=offer.as_of)


def an_hour(usd: float) -> str:
    """`$3.912/h`."""
    return f"{format_usd(usd)}/h"


def per_million(usd: float | None, unit: str) -> str:
    """`$4.2 per million images`; empty where it is unknown."""
    return _("{price:usd} per million {units}", price=usd, units=several_of(unit)) if usd is not None else ""


def shared_sentences(recommendation: Recommendation) -> list[str]:
    """One machine for all workloads and what each loses by it, or that none is sold; empty for a single answer."""
    shared = recommendation.family.shared
    if sum(answer.spec is not None for answer in recommendation.workloads) < 2:
        return []
    if shared is None:
        return [_("No machine of the catalogue holds all of them.")]
    by_loss: dict[str, list[str]] = {}
    for loss in shared.losses:
        by_loss.setdefault(_lost(loss), []).append(loss.workload)
    cheapest = list(by_loss) == [_(_NOTHING)]
    machine = _(
        "{machine}, {price:usd} an hour[[cheapest?: it is the cheapest for each of them]].",
        machine=f"{provider_name(shared.provider)} {shared.instance_type}",
        price=shared.usd_per_hour,
        cheapest=cheapest,
    )
    if cheapest:
        return [machine]
    return [machine, *(_("{workloads:and}: {loss}.", workloads=names, loss=loss) for loss, names in by_loss.items())]


_NOTHING = N_("loses nothing")


def _lost(loss: Loss) -> str:
    """`$1.99 an hour more for the same throughput`."""
    if loss.usd_per_hour is None:
        return _("its own price is not known")
    faster = loss.share - 1 if loss.share is not None else 0.0
    if abs(loss.usd_per_hour) < ALIKE * CENT and abs(faster) < CLOSE_RATE:
        return _(_NOTHING)
    return _(
        "{price} an hour more[[, and {gain} faster]][[, and {loss:share} slower]][[same? for the same throughput]]",
        price=format_usd(loss.usd_per_hour),
        gain=gain(faster) if faster >= CLOSE_RATE else "",
        loss=-faster if faster <= -CLOSE_RATE else None,
        same=abs(faster) < CLOSE_RATE,
    )


def family_sentence(family: Family) -> str:
    """`1 to 2 vCPUs, with 2 GiB for each.`: what one instance family must offer; empty where all need the same."""
    least, most = family.least_vcpus, family.most_vcpus
    if least is None or most is None or least == most:
        return ""
    return _(
        "machines of {least:g} to [[rising?at least ]]{most:vcpus}[[, with {memory:g} GiB of memory for each "
        "vCPU]].[[ Not covered: {names:and}.]]",
        least=least,
        most=most,
        rising=family.rising,
        memory=family.gib_per_vcpu,
        names=family.not_covered,
    )
