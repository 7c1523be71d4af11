"""Whether a job is done in time, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizer.records import Bottleneck, Reason, ReasonCode, format_seconds, format_usd
from sizer.words.figures import chance, more_or_less, samples_counted
from sizer.words.language import _
from sizer.words.names import Terms, spec_name
from sizer.words.reasons.figures import Sentences, bound_of, seconds_between, vcpus_of


def _job_takes(r: Reason, t: Terms) -> str:
    known = {
        "samples": samples_counted(r.number("samples"), t.unit),
        "time": seconds_between(r),
        "within": format_seconds(r.number("within")),
        "chance": chance(r.number("probability")),
    }
    if r.has("doubtful"):
        return _(
            "{samples} take {time} at the steady rate, plus the time to start. The probability of finishing within "
            "{within} is {chance}, as far as these runs can be trusted.",
            **known,
        )
    return _(
        "{samples} take {time} at the steady rate, plus the time to start. The probability of finishing within "
        "{within} is {chance}.",
        **known,
    )


def _nothing_in_time(r: Reason, t: Terms) -> str:
    known = {
        "samples": samples_counted(r.number("samples"), t.unit),
        "within": format_seconds(r.number("within")),
        "sure": f"{r.number('sure'):g}",
        "spec": spec_name(r.spec, t) if r.spec is not None else "",
        "time": seconds_between(r),
        "bound": bound_of(r, t),
    }
    if r.number("probability") < 0.005:
        return _(
            "Nothing that was measured finishes {samples} within {within} with a probability of {sure}. The fastest, "
            "{spec}, takes {time}, which is too late, {bound}.",
            **known,
        )
    return _(
        "Nothing that was measured finishes {samples} within {within} with a probability of {sure}. The fastest, "
        "{spec}, takes {time}, {bound}; the probability that it is in time is {chance}.",
        **known,
        chance=chance(r.number("probability")),
    )


_HELP: Mapping[Bottleneck, Callable[[], str]] = {
    Bottleneck.CPU: lambda: _(
        "More vCPUs do not help there, as the rate no longer rises with them; a cheaper decoder would."
    ),
    Bottleneck.SERIAL: lambda: _(
        "More vCPUs do not help there; the part of the job that uses one core must become faster."
    ),
    Bottleneck.DISK_BANDWIDTH: lambda: _("A disk with more MB/s would help."),
    Bottleneck.DISK_IOPS: lambda: _("A disk with more IOPS, or larger reads, would help."),
    Bottleneck.DISK_WRITE: lambda: _("A disk that writes faster would help."),
    Bottleneck.ACCELERATOR: lambda: _("A faster accelerator, or more of them, would help."),
    Bottleneck.MEMORY: lambda: _("More memory would help."),
    Bottleneck.AMBIGUOUS: lambda: _(
        "More vCPUs do not help there; what does, runs on another disk or with a larger batch would tell."
    ),
}


def _time(r: Reason) -> str:
    return format_seconds(r.number("seconds")) if r.has("seconds") else _("for ever")


def _job_dearer(r: Reason, t: Terms) -> str:
    dearer = r.number("dearer")
    known = {"time": _time(r), "dearer": more_or_less(dearer)}
    if r.has("bottleneck"):
        known["bound"] = bound_of(r, t)
        if dearer < 0:
            return _("Takes {time}, in time, and the job costs {dearer}; {bound}.", **known)
        return _("Takes {time}, in time, but the job costs {dearer}; {bound}.", **known)
    if dearer < 0:
        return _("Takes {time}, in time, and the job costs {dearer}.", **known)
    return _("Takes {time}, in time, but the job costs {dearer}.", **known)


def _job_unlikely(r: Reason, t: Terms) -> str:
    known = {"time": _time(r), "chance": chance(r.number("probability"))}
    if r.has("bottleneck"):
        return _("Takes {time} and is in time with a probability of {chance}; {bound}.", **known, bound=bound_of(r, t))
    return _("Takes {time} and is in time with a probability of {chance}.", **known)


def _job_too_late(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Takes {time}, too late, {bound}.", time=_time(r), bound=bound_of(r, t))
    return _("Takes {time}, too late.", time=_time(r))


_C = ReasonCode


def _job_costs(r: Reason, t: Terms) -> str:
    known = {"usd": format_usd(r.number("usd"))}
    if not r.text("instance_type"):
        return _("The job costs about {usd} there, by its hourly price and the expected time.", **known)
    return _(
        "The job costs about {usd} on {instance}, by its hourly price and the expected time.",
        **known,
        instance=r.text("instance_type"),
    )


SENTENCES: Sentences = {
    _C.JOB_TAKES: _job_takes,
    _C.JOB_COSTS: _job_costs,
    _C.JOB_COST_UNKNOWN: lambda r, t: _(
        "The cost of the job is not known: no instance type of the catalogue that fits has a price."
    ),
    _C.NOTHING_IN_TIME: _nothing_in_time,
    _C.TIME_ENOUGH: lambda r, t: _("{time} would be enough there.", time=format_seconds(r.number("seconds"))),
    _C.BEYOND_IN_TIME: lambda r, t: _(
        "{vcpus} would take {time} (extrapolated).", vcpus=vcpus_of(r), time=seconds_between(r)
    ),
    _C.WOULD_HELP: lambda r, t: _HELP[Bottleneck(r.text("bottleneck"))](),
    _C.MORE_VCPUS_NOT_MEASURED: lambda r, t: _("Whether more vCPUs would help was not measured."),
    _C.JOB_DEARER: _job_dearer,
    _C.JOB_UNLIKELY: _job_unlikely,
    _C.JOB_TOO_LATE: _job_too_late,
    _C.IN_TIME: lambda r, t: _("In time."),
}
