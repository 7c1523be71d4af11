"""The answers, first on the page: one card for each workload, as plain dicts."""

from __future__ import annotations

from typing import Any

from sizer.model import as_asked, vcpus_of
from sizer.recommend import NOT_SETTLED, SURE
from sizer.records import Answer, Baseline, InstanceOffer, Job, Objective, Prediction, Study

from . import failures, formatting, preprocessing, results, words
from .subject import Subject

STATUS = {"recommended": "recommended", "at_least": "at least", "refused": "no answer"}
SYMBOL = {"recommended": "✓", "at_least": "≥", "refused": "?"}
OPEN = {"unsettled": ("not settled", "?"), "provisional": ("provisional", "!")}
"""What is said instead of a lower bound that nothing shows to be one, and of an answer that rests on doubtful runs."""
UNKNOWN_PRICE = "price unknown"
HELP = "What would help"
SAME = "the same an hour"
FAMILY = {
    "vcpus": "vCPUs",
    "gib_per_vcpu": "GiB of memory a vCPU",
    "disk": "Disk tier",
    "not_covered": "Not covered",
}
MOST_OFFERS = 4
"""Instance types shown at once; the others are folded away."""


def card(subject: Subject) -> dict[str, Any]:
    """What the card of one workload says, and its line in the overview; every value is text."""
    answer = subject.answer or Answer(subject.name, "refused")
    word, symbol = _status(answer)
    offers = [offer(each, subject.unit) for each in answer.instances]
    return {
        "name": subject.name,
        "what": described(subject),
        "status": status(subject.answer),
        "status_word": word,
        "symbol": symbol,
        "spec": _spec(answer, subject),
        "throughput": formatting.rate_interval(answer.throughput, subject.unit) if answer.throughput else "",
        "bottleneck": words.bottleneck(answer.bottleneck, subject.device) if answer.bottleneck else "",
        "probability": _probability(answer),
        "sentence": sentence(subject),
        "facts": _facts(subject, answer),
        "reasons": _reasons(answer),
        "next_run": (answer.next_run or "").replace("`", ""),
        "next_run_title": "What would settle it" if answer.status == "at_least" or answer.provisional else HELP,
        "failed_log": _failed_log(subject, answer),
        "offers": offers[:MOST_OFFERS],
        "more_offers": offers[MOST_OFFERS:],
    }


def status(answer: Answer | None) -> str:
    """The classes that colour what is shown of an answer."""
    if answer is None:
        return "refused"
    return f"{answer.status}{' provisional' if answer.provisional else ''}"


def _status(answer: Answer) -> tuple[str, str]:
    """The word and the sign of the badge: only an answer that its runs carry gets the tick."""
    if answer.edge == "unsettled":
        return OPEN["unsettled"]
    if answer.provisional and answer.status == "recommended":
        return OPEN["provisional"]
    word = "too late" if answer.job is not None and answer.status == "refused" else STATUS[answer.status]
    return word, SYMBOL[answer.status]


def family(value: dict[str, str], study: Study) -> list[tuple[str, str, str]]:
    """What one instance family must offer for all workloads, with readable labels, and what of it is emulated."""
    emulated = ", ".join(tier.name for tier in study.disks if tier.emulated is not None)
    note = {"disk": f"emulated: {emulated}" if emulated else ""}
    return [(FAMILY.get(key, key.replace("_", " ")), text, note.get(key, "")) for key, text in value.items()]


def described(subject: Subject) -> str:
    """The workload in a few words, its data set and its device with it: what is emulated says so."""
    plan = subject.plan.workload if subject.plan is not None else None
    workload = plan or subject.runs[0].spec.workload
    parts = [words.workload(workload)]
    if any(run.data_set is not None and run.data_set.embedded for run in subject.runs):
        parts.append(words.EMBEDDED)
    if subject.device.kind != "cpu":
        parts.append(words.device(subject.device, subject.unit))
    return " · ".join(parts)


def sentence(subject: Subject) -> str:
    """The answer in plain words, with what leaves it open."""
    answer = subject.answer
    if answer is None:
        return "No answer has been computed for this workload."
    if answer.spec is None or answer.status == "refused":
        return "Nothing that was measured is in time." if answer.job else "The measurements cannot carry an answer."
    parts = [formatting.sentence(reason) for reason in _opening(answer)]
    if answer.edge == "unsettled":
        parts.append("So this is the best guess so far: what lies beyond was not measured.")
    elif answer.status == "at_least":
        parts.append("So this is a lower bound: what lies beyond was not measured.")
    else:
        parts.insert(0, _chosen(subject.objective, answer.probability))
    if answer.provisional:
        parts.append("It is provisional: the runs do not carry more yet.")
    if not any(
        preprocessing.is_answer(run.configuration, subject) for run in as_asked(subject.runs) if results.measured(run)
    ):
        parts.append("This very combination was not run: the model carries it.")
    return " ".join(parts)


def _opening(answer: Answer) -> tuple[str, ...]:
    """The reasons that belong into the sentence: the job in its time, why it is a lower bound, what is not settled."""
    if answer.job is not None:
        return answer.reasons[:2]
    doubts = tuple(reason for reason in answer.reasons if NOT_SETTLED in reason)
    return doubts or (answer.reasons[:1] if answer.status == "at_least" else ())


def _reasons(answer: Answer) -> list[str]:
    """What else speaks for the answer, without the advice that the card gives by itself."""
    told = [reason for reason in answer.reasons if reason not in _opening(answer)]
    advice = f"; {answer.next_run}"
    return [formatting.sentence(reason.removesuffix(advice).replace("`", "")) for reason in told]


def _failed_log(subject: Subject, answer: Answer) -> str:
    """The log of one run that failed, where there is no answer: it tells what to mend first."""
    runs = failures.failed(subject) if answer.status == "refused" else []
    return failures.log(runs[0]) if runs else ""


def _chosen(objective: Objective, probability: float | None) -> str:
    """What the objective made of it; a target that no spec is sure to reach is said."""
    share = formatting.percent(objective.target)
    if objective.deadline is not None:
        return "Of the specs that finish the job in time, the one on which it costs least."
    if objective.prefer == "fastest":
        return "The cheapest of the fastest specs, those within 1 % of the highest rate."
    if probability is not None and probability < SURE:
        told = formatting.probability(probability)
        return f"No spec is sure to keep {share} of the best throughput; this is the likeliest (probability {told})."
    if objective.prefer == "balanced":
        return f"Of the specs that keep at least {share} of the best throughput, the one of the least price × time."
    return f"The cheapest spec that keeps at least {share} of the best throughput."


def objective_words(objective: Objective) -> str:
    """What was asked for, in one sentence."""
    share = formatting.percent(objective.target)
    if objective.deadline is not None:
        samples = f"{objective.deadline.samples:,.0f} samples"
        time = formatting.format_seconds(objective.deadline.seconds)
        return f"The spec on which {samples} cost least of those that finish them within {time}."
    return {
        "cheapest": f"The cheapest spec that keeps {share} of the best throughput.",
        "fastest": "The fastest spec; of specs within 1 % of one another, the cheapest.",
        "balanced": f"The least price × time among the specs that keep {share} of the best throughput.",
    }.get(objective.prefer, f"{objective.prefer}, at {share} of the best throughput.")


def offer(value: InstanceOffer, unit: str) -> dict[str, str]:
    """An instance type on offer, with its price or the words that it is unknown."""
    million = value.usd_per_million_samples
    gpu = f"{value.gpu_count} × {value.gpu}" if value.gpu else "no GPU"
    return {
        "name": f"{value.provider} {value.instance_type}",
        "shape": f"{formatting.format_vcpus(value.vcpus)} · {formatting.format_bytes(value.memory_bytes)} · {gpu}",
        "price": f"{_usd(value.usd_per_hour)}/h" if value.usd_per_hour is not None else UNKNOWN_PRICE,
        "million": f"{_usd(million)} per million {formatting.plural(unit)}" if million is not None else "",
        "as_of": value.as_of,
        "source": value.source,
        "note": value.note if value.note != UNKNOWN_PRICE else "",
    }


def _spec(answer: Answer, subject: Subject) -> str:
    if answer.spec is None:
        return ""
    text = words.spec(answer.spec, subject.study, subject.device)
    if answer.edge == "unsettled":
        return f"{text} so far"
    return f"at least {text}" if answer.status == "at_least" else text


def _probability(answer: Answer) -> str:
    """Of reaching the target; a lower bound has none, because the best is not known.

    Nor has an answer whose runs something disturbed: it would be as sure as they are.
    """
    if answer.provisional and (answer.probability or 0) >= SURE:
        return ""
    if answer.probability is None or answer.status == "refused" or (answer.status != "recommended" and not answer.job):
        return ""
    return formatting.probability(answer.probability)


def _beyond(prediction: Prediction, subject: Subject) -> tuple[str, str, str]:
    rate = formatting.rate_interval(prediction.throughput, subject.unit)
    return (f"Extrapolated to {formatting.format_vcpus(vcpus_of(prediction.configuration))}", rate, "not measured")


def _facts(subject: Subject, answer: Answer) -> list[tuple[str, str, str]]:
    """Label, value and what must be known of it, for all that the answer says."""
    found: list[tuple[str, str, str]] = []
    if answer.throughput is not None:
        found.append(
            ("Throughput", formatting.rate_interval(answer.throughput, subject.unit), "90 % interval for a new run")
        )
        if preprocessing.applies(subject):
            seconds, human = preprocessing.time_for(preprocessing.IMAGENET_IMAGES, answer.throughput)
            found.append(("ImageNet's 1,281,167 images", seconds, human))
    if answer.bottleneck is not None:
        found.append(("Held back by", words.bottleneck(answer.bottleneck, subject.device), ""))
    if answer.next_bottleneck is not None:
        found.append(("Next in line", words.bottleneck(answer.next_bottleneck, subject.device), ""))
    if answer.job is not None:
        found.append(_job(answer.job, subject.unit))
    if _probability(answer) and answer.job is None:
        share = formatting.percent(subject.objective.target)
        found.append(("Probability", _probability(answer), f"of {share} of the best or more"))
    if answer.beyond is not None:
        found.append(_beyond(answer.beyond, subject))
    if answer.runner_up is not None:
        found.append(("Runner-up", words.spec(answer.runner_up, subject.study, subject.device), ""))
    if answer.baseline is not None and answer.spec is not None:
        found += _baseline(answer.baseline, subject)
    return found


def _job(job: Job, unit: str) -> tuple[str, str, str]:
    """The job's time with its interval, and its price."""
    value, low, high = (
        formatting.format_seconds(each) for each in (job.seconds.value, job.seconds.low, job.seconds.high)
    )
    likely = f"{formatting.probability(job.probability)} likely within {formatting.format_seconds(job.within)}"
    price = f"{_usd(job.usd)} on {job.instance_type}" if job.usd is not None else UNKNOWN_PRICE
    label = f"{formatting.count(job.samples)} {formatting.plural(unit)}"
    return label, f"{value} ({low} to {high})" if low != high else value, f"{likely} · {price}"


def _baseline(baseline: Baseline, subject: Subject) -> list[tuple[str, str, str]]:
    """What the answer saves against it; nothing where there is nothing larger to compare with."""
    if baseline.saving is None:
        saved = UNKNOWN_PRICE
    elif abs(baseline.saving) < 0.005:
        saved = SAME
    else:
        saved = f"{formatting.percent(abs(baseline.saving))} {'less' if baseline.saving > 0 else 'more'} an hour"
    if baseline.share == 1 and saved == SAME:
        return []
    against = words.spec(baseline.spec, subject.study, subject.device)
    what = baseline.instance_type if baseline.named and baseline.instance_type else "the largest measured"
    rate = f"{formatting.percent(baseline.share)} of its rate" + (" (extrapolated)" if baseline.extrapolated else "")
    return [("Against " + what, f"{saved}, at {rate}", against)]


def _usd(value: float) -> str:
    """Prices keep their cents, and a small one keeps three digits: 3.912 -> '$3.912', 0.0123 -> '$0.0123'."""
    return f"${value:,.2f}" if value >= 100 else f"${float(f'{value:.4g}'):,}"
