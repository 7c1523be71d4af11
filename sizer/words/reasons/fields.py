"""The fields of a template: which figure of a reason each shows, and how a quantity of its type is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from sizer.model import Bounds, GivenUp, GivenUpKind, SearchedFloor
from sizer.recommend import ALIKE
from sizer.records import (
    RELATIVE,
    Bottleneck,
    Reason,
    format_bytes,
    format_number,
    format_seconds,
    format_usd,
)
from sizer.words.figures import (
    apart,
    capital,
    chance,
    change,
    gain,
    more_or_less,
    of_its_rate,
    samples_counted,
    small_share,
    times,
    transfer,
    with_interval,
)
from sizer.words.floors import floor_in_words
from sizer.words.language import _
from sizer.words.names import (
    Terms,
    accelerator_name,
    accelerators_name,
    bound_in_words,
    disk_in_words,
    either,
    emulated_rate_in_words,
    gpu_name,
    listed,
    outcomes_counted,
    rate_source,
    resource_name,
    row,
    spec_name,
    with_instance,
)
from sizer.words.units import exact_rate, percent, rate_beside, rate_in_words, several_of, vcpus_in_words

Field = Callable[[Reason, Terms], str]
"""A figure in words; empty where the reason has none."""


def _each(written: Callable[[float], str], names: str, **others: str) -> dict[str, Field]:
    """Quantities of one type: `names` are fields that are called like their figure, `others` are not."""
    figures = {name: name for name in names.split()} | others
    return {field: _number(figure, lambda value, _terms: written(value)) for field, figure in figures.items()}


def _number(figure: str, written: Callable[[float, Terms], str]) -> Field:
    return lambda r, t: written(r.number(figure), t) if r.has(figure) else ""


def _text(figure: str, written: Callable[[str, Terms], str] = lambda text, _terms: text) -> Field:
    return lambda r, t: written(r.text(figure), t) if r.text(figure) else ""


def _list(figure: str, written: Callable[[float], str]) -> Field:
    """Numbers, as `2 and 4`."""
    return lambda r, t: listed([written(each) for each in r.numbers(figure)]) if r.has(figure) else ""


def _names(figure: str, written: Callable[[str], str] = str) -> Field:
    return lambda r, t: listed([written(each) for each in r.texts(figure)]) if r.has(figure) else ""


def _two_digits(value: float) -> str:
    return f"{value:.2g}"


def _rate(r: Reason, t: Terms) -> str:
    """`219 images/s (205 to 233)`; beside a rate asked for so exact that it is seen which is more."""
    if not r.has("rate"):
        return ""
    if r.has("needed"):
        return rate_beside(r.number("rate"), r.number("needed"), t.unit)
    return _between(r, rate_in_words(r.number("rate"), t.unit), format_number)


def _time(r: Reason, t: Terms) -> str:
    """`4 h 10 min (3 h 55 min to 4 h 30 min)`."""
    if not r.has("seconds"):
        return ""
    seconds = r.number("seconds")
    return _between(r, format_seconds(seconds) if math.isfinite(seconds) else _("for ever"), format_seconds)


def _between(r: Reason, value: str, written: Callable[[float], str]) -> str:
    """With its interval, where it has one that rounding leaves."""
    if not (r.has("low") and r.has("high")):
        return value
    return with_interval(value, written(r.number("low")), written(r.number("high")))


def _short_of_all(share: float) -> str:
    """What falls just short does not read as reaching all: 99.6 % and not 100 %."""
    return percent(min(share, 0.999), 1) if 0.995 <= share < 1 else percent(share)


def _usd(r: Reason, t: Terms) -> str:
    """What a job costs, or a million samples; relative ones cost no dollars."""
    if r.has("usd"):
        return format_usd(r.number("usd"))
    return format_usd(r.number("usd_per_million")) if r.has("usd_per_million") and t.unit != RELATIVE else ""


def _spec(r: Reason, t: Terms) -> str:
    return spec_name(r.spec, t) if r.spec is not None else ""


def _where(r: Reason, t: Terms) -> str:
    """`aws g4dn.xlarge`, else the spec itself."""
    return r.text("instance_type") or _spec(r, t)


def _machine(r: Reason, t: Terms) -> str:
    """`1 x T4 (aws g4dn.xlarge)`."""
    return with_instance(_spec(r, t), r.text("instance_type")) or _("a machine of unknown size")


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
    return _("{size}, the largest measured", size=size) if size else _("the largest measured")


def _at_rate(r: Reason, t: Terms) -> str:
    """`98 % of its rate (extrapolated), disk prices not counted`."""
    if not r.has("share"):
        return ""
    rate = of_its_rate(r.number("share"))
    rate = _("{rate} (extrapolated)", rate=rate) if r.has("extrapolated") else rate
    return _("{rate}, disk prices not counted", rate=rate) if r.has("disk_not_counted") else rate


def _shares(r: Reason, t: Terms) -> str:
    """The three largest: `CPU 86 %, disk bandwidth 9 %, serial part 3 %`."""
    if not r.has("shares"):
        return ""
    pairs = list(zip(r.texts("resources"), r.numbers("shares"), strict=True))[:3]
    named = [(resource_name(Bottleneck(name), t.device), share) for name, share in pairs if share >= 0.005]
    return row(_("{resource} {share}", resource=name, share=percent(share)) for name, share in named)


def _accounted(r: Reason, t: Terms) -> str:
    """What the accounting of these runs named, with its busy share: `disk bandwidth 91 % busy`."""
    if not r.has("accounted"):
        return ""
    bottleneck = Bottleneck(r.text("accounted"))
    share = percent(r.number("busy")) if r.has("busy") else None
    if bottleneck is Bottleneck.AMBIGUOUS:
        return _("no single resource, as its repeats differ")
    if bottleneck is Bottleneck.SERIAL:
        if share is None:
            return _("one core busy")
        return _("one core busy and the others idle ({share} of the vCPUs)", share=share)
    name = resource_name(bottleneck, t.device)
    return name if share is None else _("{resource} {share} busy", resource=name, share=share)


def _told(r: Reason, t: Terms) -> str:
    """The rate of an emulated accelerator with its interval, and how it follows from published ones."""
    if not (r.has("rate") and r.has("low") and r.has("high")):
        return ""
    return emulated_rate_in_words(_rate(r, t), r.text("basis"), r.text("source"))


def _origin(r: Reason, t: Terms) -> str:
    """The same without an interval: `330 images/s, from NVIDIA`."""
    source = rate_source(r.text("source")) if r.text("source") else ""
    return row(part for part in (_rate(r, t), source) if part)


def _searched(r: Reason, t: Terms) -> str:
    """What a search for the memory floor found."""
    if not r.has("searched"):
        return ""
    low, high = (round(r.number(name)) if r.has(name) else None for name in ("low_bytes", "high_bytes"))
    why = None
    if r.has("given_up"):
        why = GivenUp(GivenUpKind(r.text("given_up")), round(r.number("given_up_at")))
    found = SearchedFloor(Bounds(low, high), r.has("timed_out"), why, r.has("pipeline_alone"))
    return capital(floor_in_words(found))


def _values(r: Reason, t: Terms) -> str:
    """Those of an axis that were measured: `2 and 4`; `2 GiB and 4 GiB` of memory."""
    written = format_bytes if r.text("axis") == "memory_gib" else format_number
    return listed([written(each) for each in r.numbers("values")])


def _doubts(r: Reason, t: Terms) -> str:
    """`known by one reading`."""
    words = {
        "one_reading": _("known by one reading"),
        "other_batch_size": _("of another batch size than the study gives"),
    }
    return either([words.get(doubt, doubt) for doubt in r.texts("doubts")])


def _retired(r: Reason, t: Terms) -> str:
    """`aws p3.2xlarge (retired 2026) and azure NC6 (retired 2023)`."""
    if not r.has("names"):
        return ""
    years = zip(r.texts("names"), r.numbers("years"), strict=True)
    return listed([_("{name} (retired {year})", name=name, year=round(year)) for name, year in years])


_RATES = ("measured_rate", "rate_low", "rate_high", "now", "then")
FIELDS: Mapping[str, Field] = {
    **_each(vcpus_in_words, "vcpus fewest fastest_at best judged larger"),
    **_each(lambda vcpus: vcpus_in_words(2 * vcpus), "", doubled="vcpus"),
    **_each(lambda count: accelerators_name(None, count), "", gpus="gpu_count"),
    **_each(format_bytes, "held needed_memory rated untried most more data", memory="memory_bytes"),
    **_each(format_bytes, "", low="low_bytes", high="high_bytes"),
    **_each(
        format_number, "fewer completed mistold doubtful starved failed runs unknown machines used gpu_count target"
    ),
    **_each(format_number, "", batch="batch_size"),
    **_each(_two_digits, "busy busy_low busy_high cores"),
    **_each(format_seconds, "within enough latency most_latency"),
    **_each(transfer, "cap reads"),
    **_each(percent, "share most_loss worth"),
    **_each(small_share, "loss"),
    **_each(_short_of_all, "of_target"),
    **_each(gain, "gain"),
    **_each(change, "", change="gain"),
    **_each(lambda share: apart(abs(share)), "", apart="gain"),
    **_each(times, "speed factor cost"),
    **_each(lambda factor: f"{factor:.2f}", "", ratio="factor"),
    **_each(more_or_less, "dearer"),
    **_each(chance, "after", chance="probability"),
    **_each(lambda probability: f"{probability:g}", "sure"),
    **_each(format_usd, "answer_usd baseline_usd"),
    **_each(lambda year: f"{year:.0f}", "year"),
    **{name: _number(name, lambda rate, t: rate_in_words(rate, t.unit)) for name in _RATES},
    "needed": _number("needed", lambda rate, t: exact_rate(rate, t.unit)),
    "rate": _rate,
    "told": _told,
    "beside": _origin,
    "samples": _number("samples", lambda samples, t: samples_counted(samples, t.unit)),
    "time": _time,
    "usd": _usd,
    "at_rate": _at_rate,
    "spec": _spec,
    "where": _where,
    "machine": _machine,
    "baseline": _baseline,
    "all": _all,
    "clause": _searched,
    "values": _values,
    "caps_held": _list("caps_held", format_bytes),
    "caps_killed": _list("caps_killed", format_bytes),
    "numbers": _list("numbers", format_number),
    "others": _list("others", format_number),
    "bound": _text("bottleneck", lambda name, t: bound_in_words(Bottleneck(name), t.device)),
    "next": _text("next", lambda name, t: resource_name(Bottleneck(name), t.device)),
    "shares": _shares,
    "accounted": _accounted,
    "disk": _text("disk", lambda disk, _terms: disk_in_words(disk)),
    "other": _text("other", lambda disk, _terms: disk_in_words(disk)),
    "gpu": _text("gpu", lambda gpu, _terms: gpu_name(gpu)),
    "gpus_measured": _names("gpus_measured", gpu_name),
    "disks_measured": _names("disks_measured", disk_in_words),
    "programs": _names("programs"),
    "columns": _names("columns", lambda column: f"`{column}`"),
    "doubts": _doubts,
    "outcomes": lambda r, t: outcomes_counted(r.texts("outcomes"), r.numbers("counts")) if r.has("outcomes") else "",
    "retired": _retired,
    "instance": _text("instance_type"),
    "answer_instance": _text("answer_instance"),
    **{name: _text(name) for name in ("input", "column", "axis", "confidence")},
    "workload": lambda r, t: t.workload,
    "units": lambda r, t: several_of(t.unit),
    "accelerator": lambda r, t: accelerator_name(t.device),
    "alike": lambda r, t: percent(ALIKE),
}
