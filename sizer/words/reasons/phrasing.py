"""Reasons as sentences, as an engineer would say them: what is known, what to do next, and why there is no answer.

Each field of a template shows a figure of the reason; how a quantity is written goes by its type.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Mapping

from sizer.model.model import Bounds, GivenUp, GivenUpKind, SearchedFloor
from sizer.records.device import Device
from sizer.records.prediction import Action, Bottleneck, Reason, ReasonCode, Refusal, Spec, Suggestion
from sizer.records.units import RELATIVE, format_bytes, format_number, format_price, format_seconds, format_usd
from sizer.words import language, names
from sizer.words.language import Templates, _, listed, paragraph, vcpus_listed
from sizer.words.names import Terms, accelerators_name, gpu_name, spec_name
from sizer.words.reasons.sentences import SENTENCES

Field = Callable[[Reason, Terms], str]
"""A figure in words; empty where the reason has none."""


def _alike() -> str:
    from sizer.recommend.rule import ALIKE

    return language.percent(ALIKE)


def _fields(written: Callable[[float], str], called: str, **others: str) -> dict[str, Field]:
    """Quantities of one type: the fields `called` like their figure, and `others`, which are not."""
    of = {name: name for name in called.split()} | others
    return {field: _number(figure, lambda value, _terms: written(value)) for field, figure in of.items()}


def _if(figure: str, written: Field) -> Field:
    return lambda r, t: written(r, t) if r.has(figure) else ""


def _number(figure: str, written: Callable[[float, Terms], str]) -> Field:
    return _if(figure, lambda r, t: written(r.number(figure), t))


def _text(figure: str, written: Callable[[str], str] = str) -> Field:
    return _if(figure, lambda r, _terms: written(r.text(figure)))


def _resource(figure: str, written: Callable[[Bottleneck, Device], str]) -> Field:
    return _if(figure, lambda r, t: written(Bottleneck(r.text(figure)), t.device))


def _list(figure: str, written: Callable[[float], str]) -> Field:
    """Numbers, as `2 and 4`."""
    return _if(figure, lambda r, _terms: listed([written(number) for number in r.numbers(figure)]))


def _names(figure: str, written: Callable[[str], str] = str) -> Field:
    return _if(figure, lambda r, _terms: listed([written(text) for text in r.texts(figure)]))


def _two_digits(value: float) -> str:
    return f"{value:.2g}"


def _rate(r: Reason, t: Terms) -> str:
    """`219 images/s (205 to 233)`; beside a rate asked for so exact that it is seen which is more."""
    if r.has("needed"):
        return language.rate_beside(r.number("rate"), r.number("needed"), t.unit)
    return _between(r, language.rate_in_words(r.number("rate"), t.unit), format_number)


def _time(r: Reason, t: Terms) -> str:
    """`4 h 10 min (3 h 55 min to 4 h 30 min)`."""
    seconds = r.number("seconds")
    return _between(r, format_seconds(seconds) if math.isfinite(seconds) else _("for ever"), format_seconds)


def _fastest_rate(r: Reason, t: Terms) -> str:
    """The rate of the fastest machine, which is named where it is not the answer."""
    return _rate(r, t) if r.text("role") == "fastest" else ""


_ROLES: Templates[str, str] = {"next": "Next comes", "fastest": "The fastest is", "baseline": "The baseline is"}
"""What a machine is beside the answer."""


def _between(r: Reason, value: str, written: Callable[[float], str]) -> str:
    """With its interval, where it has one that rounding leaves."""
    if not (r.has("low") and r.has("high")):
        return value
    return language.with_interval(value, written(r.number("low")), written(r.number("high")))


def _short_of_all(share: float) -> str:
    """What falls just short does not read as reaching all: 99.6 % and not 100 %."""
    return language.percent(min(share, 0.999), 1) if 0.995 <= share < 1 else language.percent(share)


def _usd(r: Reason, t: Terms) -> str:
    """What a job costs, or a million samples; relative ones cost no dollars."""
    if r.has("usd"):
        return format_usd(r.number("usd"))
    return format_usd(r.number("usd_per_million")) if r.has("usd_per_million") and t.unit != RELATIVE else ""


def _spec(r: Reason, t: Terms) -> str:
    return names.spec_name(r.spec, t) if r.spec is not None else ""


def _where(r: Reason, t: Terms) -> str:
    """`aws g4dn.xlarge`, else the spec itself."""
    return r.text("instance_type") or _spec(r, t)


def _machine(r: Reason, t: Terms) -> str:
    """`1 x T4 (aws g4dn.xlarge)`."""
    return names.with_instance(_spec(r, t), r.text("instance_type")) or _("a machine of unknown size")


def _all(r: Reason, t: Terms) -> str:
    """Of which it is the best: `5 machines measured`; `4 configurations measured` of one machine, such as batches."""
    if r.has("surer"):
        return _("those that are surely enough")
    if r.has("by_latency"):
        return _("those that answer soon enough")
    if r.has("slower_cost_less"):
        return _("the machines that are fast enough")
    if r.number("machines") > 1:
        return _("{count} machines measured", count=round(r.number("machines")))
    return _("{count} configurations measured", count=round(r.number("configurations")))


def _baseline(r: Reason, t: Terms) -> str:
    """`aws c6i.xlarge with 4 vCPUs`, `4 vCPUs, the largest measured`."""
    size = _spec(r, t)
    if r.has("named"):
        return _("{instance} with {size}", instance=r.text("instance_type"), size=size)
    return _("[[{size}, ]]the largest measured", size=size)


def _at_rate(r: Reason, t: Terms) -> str:
    """`98 % of its rate (extrapolated), disk prices not counted`."""
    return _(
        "{rate}[[beyond? (extrapolated)]][[disks?, disk prices not counted]]",
        rate=language.of_its_rate(r.number("share")),
        beyond=r.has("extrapolated"),
        disks=r.has("disk_not_counted"),
    )


def _shares(r: Reason, t: Terms) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    pairs = list(zip(r.texts("resources"), r.numbers("shares"), strict=True))[:3]
    named = [(names.resource_name(Bottleneck(name), t.device), share) for name, share in pairs if share >= 0.005]
    return language.row(_("{resource} {share}", resource=name, share=language.percent(share)) for name, share in named)


def _accounted(r: Reason, t: Terms) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    bottleneck = Bottleneck(r.text("accounted"))
    share = language.percent(r.number("busy")) if r.has("busy") else ""
    if bottleneck is Bottleneck.AMBIGUOUS:
        return _("no single resource, as its repeats differ")
    if bottleneck is Bottleneck.SERIAL:
        return _("one core busy[[ and the others idle ({share} of the vCPUs)]]", share=share)
    return _("{resource}[[ {share} busy]]", resource=names.resource_name(bottleneck, t.device), share=share)


def _emulated_rate(r: Reason, t: Terms) -> str:
    """The rate of an emulated accelerator with its interval, and how it follows from published ones."""
    if not (r.has("rate") and r.has("low") and r.has("high")):
        return ""
    return names.emulated_rate_in_words(_rate(r, t), r.text("basis"), r.text("source"))


def _origin(r: Reason, t: Terms) -> str:
    """The same without an interval: `330 images/s, from NVIDIA`."""
    source = names.rate_source(r.text("source")) if r.text("source") else ""
    return language.row(part for part in (_rate(r, t) if r.has("rate") else "", source) if part)


def _searched(r: Reason, t: Terms) -> str:
    """What a search for the memory floor found."""
    low, high = (round(r.number(name)) if r.has(name) else None for name in ("low_bytes", "high_bytes"))
    kind = r.text("given_up")
    why = GivenUp(GivenUpKind(kind), round(r.number("given_up_at"))) if kind else None
    search = SearchedFloor(Bounds(low, high), r.has("timed_out"), why, r.has("pipeline_alone"))
    return language.capital(names.floor_in_words(search))


def _values(r: Reason, t: Terms) -> str:
    """Those of an axis that were measured: `2 and 4`; `2 GiB and 4 GiB` of memory."""
    written = format_bytes if r.text("axis") == "memory_gib" else format_number
    return listed([written(number) for number in r.numbers("values")])


def _doubts(r: Reason, t: Terms) -> str:
    """`known by one reading`."""
    doubts: Templates[str, str] = {
        "one_reading": "known by one reading",
        "other_batch_size": "of another batch size than the study gives",
    }
    return language.either([_(doubts[doubt]) for doubt in r.texts("doubts")])


def _retired(r: Reason, t: Terms) -> str:
    """`aws p3.2xlarge (retired 2026) and azure NC6 (retired 2023)`."""
    years = zip(r.texts("names"), r.numbers("years"), strict=True)
    return listed([_("{name} (retired {year})", name=name, year=round(year)) for name, year in years])


def _nearest(r: Reason, t: Terms) -> str:
    return _(
        "By published rates the nearest that is sold is {gpu}, at {rate} ({low} to {high}).",
        gpu=names.gpu_name(r.text("nearest")),
        rate=language.rate_in_words(r.number("rate"), t.unit),
        low=format_number(r.number("low")),
        high=format_number(r.number("high")),
    )


_RATES = ("measured_rate", "rate_low", "rate_high", "now", "then")
FIELDS: Mapping[str, Field] = {
    **_fields(language.vcpus_in_words, "vcpus fewest fastest_at best judged larger"),
    **_fields(lambda vcpus: language.vcpus_in_words(2 * vcpus), "", doubled="vcpus"),
    **_fields(lambda count: names.accelerators_name(None, count), "", gpus="gpu_count"),
    **_fields(format_bytes, "held needed_memory rated untried most more data"),
    **_fields(format_bytes, "", memory="memory_bytes", low="low_bytes", high="high_bytes", volume="volume_bytes"),
    **_fields(format_number, "fewer unknown machines used gpu_count target", batch="batch_size"),
    **_fields(format_number, "completed mistold doubtful starved failed runs"),
    **_fields(_two_digits, "busy busy_low busy_high cores"),
    **_fields(format_seconds, "within enough latency most_latency"),
    **_fields(language.transfer, "cap moved"),
    **_fields(language.operations, "cap_ios ios"),
    **_fields(language.percent, "share most_loss worth saving computes"),
    **_fields(language.small_share, "loss"),
    **_fields(_short_of_all, "of_target"),
    **_fields(language.gain, "gain"),
    **_fields(language.change, "", change="gain"),
    **_fields(lambda share: language.apart(abs(share)), "", apart="gain"),
    **_fields(language.times, "speed factor cost"),
    **_fields(lambda factor: f"{factor:.2f}", "", ratio="factor"),
    **_fields(language.more_or_less, "dearer"),
    **_fields(language.chance, "", chance="probability", surer_chance="chosen_probability"),
    **_fields(lambda probability: f"{probability:g}", "sure"),
    **_fields(format_usd, "answer_usd baseline_usd whole_usd bought_usd"),
    **_fields(lambda year: f"{year:.0f}", "year"),
    **{name: _number(name, lambda rate, t: language.rate_in_words(rate, t.unit)) for name in _RATES},
    "needed": _number("needed", lambda rate, t: language.exact_rate(rate, t.unit)),
    "rate": _if("rate", _rate),
    "fastest_rate": _if("rate", _fastest_rate),
    "which": lambda r, _terms: _(_ROLES[r.text("role")]) if r.text("role") in _ROLES else "",
    "told": _emulated_rate,
    "beside": _origin,
    "samples": _number("samples", lambda samples, t: language.samples_counted(samples, t.unit)),
    "time": _if("seconds", _time),
    "usd": _usd,
    "at_rate": _if("share", _at_rate),
    "spec": _spec,
    "where": _where,
    "machine": _machine,
    "baseline": _baseline,
    "compared": _all,
    "clause": _if("searched", _searched),
    "values": _values,
    "caps_held": _list("caps_held", format_bytes),
    "caps_killed": _list("caps_killed", format_bytes),
    "numbers": _list("numbers", format_number),
    "others": _list("others", format_number),
    "bound": _resource("bottleneck", names.bound_in_words),
    "next": _resource("next", names.resource_name),
    "shares": _if("shares", _shares),
    "accounted": _if("accounted", _accounted),
    "disk": _text("disk", names.disk_in_words),
    "other": _text("other", names.disk_in_words),
    "gpu": _text("gpu", names.gpu_name),
    "gpus_measured": _names("gpus_measured", names.gpu_name),
    "disks_measured": _names("disks_measured", names.disk_in_words),
    "programs": _names("programs"),
    "columns": _names("columns", lambda column: f"`{column}`"),
    "doubts": _doubts,
    "outcomes": _if("outcomes", lambda r, _terms: names.outcomes_counted(r.texts("outcomes"), r.numbers("counts"))),
    "retired": _if("names", _retired),
    "nearest": _if("nearest", _nearest),
    "instance": _text("instance_type"),
    "answer_instance": _text("answer_instance"),
    **_fields(lambda factor: f"{factor:.2f}", "faster"),
    "instructions_measured": _names("instructions_measured", names.instructions_name),
    "instructions": _text("instructions", names.instructions_name),
    "measured_on": _names("measured_on"),
    **{name: _text(name) for name in ("there", "cpu", "input", "column", "axis", "confidence", "currency", "old_day")},
    "price": _if("currency", lambda r, _terms: format_price(r.number("price"), r.text("currency"))),
    "workload": lambda r, t: t.workload,
    "units": lambda r, t: language.several_of(t.unit),
    "accelerator": lambda r, t: names.accelerator_name(t.device),
    "little": lambda r, t: _alike(),
    "fastest": lambda r, t: "fastest" if r.text("by") == "rate" and not r.has("nearly") else "",
}


def field(name: str, reason: Reason, terms: Terms) -> str:
    """A field by its name; of a condition, whether the reason has that figure: `by`, or `by_cost` of that value."""
    if name in FIELDS:
        return FIELDS[name](reason, terms)
    return name if reason.has(name) or any(name == f"{key}_{value}" for key, value in reason.figures.items()) else ""


def reason_sentence(reason: Reason, terms: Terms) -> str:
    """What is known, by the first template whose figures are all there; empty where none has them."""
    templates = SENTENCES[reason.code]
    variants = (templates,) if isinstance(templates, str) else templates
    return next(filter(None, (_sentence(template, reason, terms) for template in variants)), "")


def reason_sentences(reasons: Iterable[Reason], terms: Terms) -> list[str]:
    """Each of several reasons."""
    return [reason_sentence(reason, terms) for reason in reasons]


def _sentence(template: str, reason: Reason, terms: Terms) -> str:
    asked = (*language.fields_of(template), *language.conditions_of(template))
    values = {name: field(name, reason, terms) for name in asked}
    needed = language.fields_of(language.without_optional(template))
    return _(template, **values) if all(map(values.get, needed)) else ""


_ACTIONS: Templates[Action, Mapping[str, str]] = {
    Action.RENAME: {"": "Give each its own workload name."},
    Action.FINISH: {"": "Finish the study, or measure the whole job."},
    Action.MEASURE: {
        "spec": "Measure `{workload}` with {spec}.",
        "vcpus": "Measure `{workload}` at {vcpus}[[, on a larger host than the one that measured, which has "
        "{host:vcpus}]].",
        "memory": "Measure `{workload}` with {memory:bytes} of memory.",
        "batch": "Measure `{workload}` with a batch of {batch}.",
        "accelerators": "Measure `{workload}` with {accelerators}.",
        "disk": "Measure it there, or give the disk's rates with --disk-iops and --disk-mbps.",
        "input": "Also measure `{workload}` with `input: {input}`.",
        "accounting": "Measure a run of `{workload}` with disk accounting (read_bytes).",
        "machine": "Measure `{workload}` once on {machine}, and give the run to `sizer predict` with --calibrate.",
        "": "Measure `{workload}`[[ on {gpu}]].",
    },
    Action.REPEAT: {
        "batches": "Name the group `batches` in the pattern of `{workload}`, and measure it again.",
        "counter": "Let the pattern of `{workload}` read a counter (`step`), too, and measure it again.",
        "units": "Correct the units in the pattern of `{workload}`, and measure it again.",
        "batch_size": "Give `{workload}` the `batch_size` that its log tells, and measure it again.",
        "spec": "Repeat `{workload}` with {spec}.",
        "": "Repeat `{workload}`[[ at {vcpus}]].",
    },
    Action.RETRY: {
        "": "[[No run of `{workload}` at {vcpus} completed. ]]`sizer status` says how each run ended: fix "
        "the cause, and measure again with --retry."
    },
    Action.IMPORT: {
        "job_by": "Import the table again with `--job-by {job_by}`.",
        "other_sizes": "Measure `{workload}` at three vCPU values or more, or add a column `{column}` and "
        "import the table again.",
        "column": "Add a column `{column}` and import the table again.",
        "": "Import a table with runs of it that completed.",
    },
}
"""Of each action the first sentence whose figure is there."""


def suggestion_sentences(suggestion: Suggestion, terms: Terms) -> str:
    """What to do next, and what it would settle."""
    asked, why = suggestion, suggestion.why
    place = Spec(
        next(iter(asked.vcpus), None), asked.memory_bytes, asked.disk, asked.batch_size, asked.gpu, asked.gpu_count or 0
    )
    in_one = len(asked.vcpus) == 1 and (place != Spec(place.vcpus, gpu=asked.gpu) or asked.gpu_count is not None)
    values = {
        "workload": terms.workload,
        "spec": spec_name(place, terms) if in_one else "",
        "vcpus": vcpus_listed(asked.vcpus) if asked.vcpus else "",
        "host": asked.host_vcpus if asked.needs_larger_host else None,
        "memory": asked.memory_bytes,
        "batch": asked.batch_size,
        "accelerators": accelerators_name(None, asked.gpu_count) if asked.gpu_count else "",
        "gpu": gpu_name(asked.gpu) if asked.gpu is not None else "",
        "job_by": shlex.quote(asked.job_by) if asked.job_by else "",
        "other_sizes": asked.column and why,
        asked.repeat_how or "again": True,
    }
    values = vars(asked) | values
    message = next(text for figure, text in _ACTIONS[asked.action].items() if not figure or values.get(figure))
    further = "" if why is None or why.code is ReasonCode.NOT_IN_TABLE else reason_sentence(why, terms)
    return paragraph([_(message, **values), further])


def refusal_sentences(refusal: Refusal, terms: Terms) -> str:
    """Why there is no answer, and what would help."""
    suggestion = refusal.suggestion
    what_helps = "" if suggestion is None else suggestion_sentences(suggestion, terms)
    return paragraph([reason_sentence(refusal.reason, terms), what_helps])
