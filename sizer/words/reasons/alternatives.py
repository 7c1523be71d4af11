"""Why another spec was not taken, what a baseline costs, and what to know of an instance type."""

from __future__ import annotations

from sizer.records import Reason, ReasonCode, format_number, format_usd
from sizer.words.figures import chance, more_or_less, of_its_rate
from sizer.words.language import _, _n
from sizer.words.names import Terms, accelerator_name, spec_name
from sizer.words.reasons.figures import Sentences, bound_of, share_of, size_of, vcpus_of
from sizer.words.units import percent


def _baseline_at(r: Reason) -> str:
    """At which share of the baseline's rate."""
    rate = of_its_rate(r.number("share"))
    if r.has("extrapolated") and r.has("disk_not_counted"):
        return _("{rate} (extrapolated), disk prices not counted", rate=rate)
    if r.has("extrapolated"):
        return _("{rate} (extrapolated)", rate=rate)
    return _("{rate}, disk prices not counted", rate=rate) if r.has("disk_not_counted") else rate


def _baseline_size(r: Reason, t: Terms) -> str:
    size = spec_name(r.spec, t) if r.spec is not None else ""
    if r.has("named"):
        return _("{instance} with {size}", instance=r.text("instance_type"), size=size)
    return _("{size}, the largest measured", size=size) if size else _("the largest measured")


def _baseline_price_unknown(r: Reason, t: Terms) -> str:
    return _(
        "Against {size}: at {rate}. The saving is not known, because one of the two prices is not known.",
        size=_baseline_size(r, t),
        rate=_baseline_at(r),
    )


def _baseline_same_price(r: Reason, t: Terms) -> str:
    return _(
        "Against {size}: no saving, {usd} an hour for either ({instance}), at {rate}.",
        size=_baseline_size(r, t),
        usd=format_usd(r.number("answer_usd_per_hour")),
        instance=r.text("answer_instance_type"),
        rate=_baseline_at(r),
    )


def _baseline_saving(r: Reason, t: Terms) -> str:
    known = {
        "now": format_usd(r.number("answer_usd_per_hour")),
        "instance": r.text("answer_instance_type"),
        "before": format_usd(r.number("usd_per_hour")),
        "size": _baseline_size(r, t),
        "change": more_or_less(-r.number("saving")),
        "rate": _baseline_at(r),
        "other": r.text("instance_type"),
    }
    if r.has("named"):
        return _("{now} an hour ({instance}) instead of {before} for {size}: {change}, at {rate}.", **known)
    return _("{now} an hour ({instance}) instead of {before} ({other}) for {size}: {change}, at {rate}.", **known)


def _of_target(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Reaches {share} of the target, {bound}.", share=_short_of_all(r), bound=bound_of(r, t))
    return _("Reaches {share} of the target.", share=_short_of_all(r))


def _short_of_all(r: Reason) -> str:
    """What falls just short does not read as reaching all: 99.6 % and not 100 %."""
    share = r.number("share")
    return percent(min(share, 0.999), 1) if 0.995 <= share < 1 else share_of(r, "share")


def _of_best(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Reaches {share} of the best rate, {bound}.", share=share_of(r, "share"), bound=bound_of(r, t))
    return _("Reaches {share} of the best rate.", share=share_of(r, "share"))


def _more_gpus(r: Reason, t: Terms) -> str:
    count = round(r.number("used"))
    if r.has("emulated"):
        return _n(
            "Has {gpus} GPUs; the job was measured with {count} {accelerator}.",
            "Has {gpus} GPUs; the job was measured with {count} x {accelerator}.",
            count,
            gpus=format_number(r.number("gpu_count")),
            accelerator=accelerator_name(t.device),
        )
    return _n(
        "Has {gpus} GPUs; the job was measured with {count}.",
        "Has {gpus} GPUs; the job was measured with {count}.",
        count,
        gpus=format_number(r.number("gpu_count")),
    )


_C = ReasonCode
SENTENCES: Sentences = {
    _C.NO_BASELINE: lambda r, t: _(
        "{instance} cannot be compared for this job: its rate there is not known.", instance=r.text("instance_type")
    ),
    _C.BASELINE_PRICE_UNKNOWN: _baseline_price_unknown,
    _C.BASELINE_SAME_PRICE: _baseline_same_price,
    _C.BASELINE_SAVING: _baseline_saving,
    _C.OF_TARGET: _of_target,
    _C.OF_BEST: _of_best,
    _C.TARGET_UNLIKELY: lambda r, t: _(
        "The probability that it reaches the target is {chance}.", chance=chance(r.number("probability"))
    ),
    _C.BEST_UNKNOWN: lambda r, t: _("The rate may still rise beyond what was measured, so the best rate is not known."),
    _C.DISK_LOSES: lambda r, t: _(
        "It loses {loss} by its disk, more than the {most} that a disk may cost.",
        loss=share_of(r, "loss") if r.number("loss") >= 0.1 else f"{100 * r.number('loss'):.2g} %",
        most=share_of(r, "most"),
    ),
    _C.MEMORY_NOT_SOLD: lambda r, t: _(
        "Families offer at most {memory} with {vcpus}.", memory=size_of(r), vcpus=vcpus_of(r)
    ),
    _C.FRACTION_NOT_SOLD: lambda r, t: _("Fractions of a vCPU are not sold."),
    _C.OUT_OF_MEMORY: lambda r, t: _("Runs out of memory."),
    _C.PRICE_UNKNOWN: lambda r, t: _("Price unknown."),
    _C.FIGURES_UNSURE: lambda r, t: _("Figures: {confidence}.", confidence=r.text("confidence")),
    _C.MORE_GPUS: _more_gpus,
    _C.GPU_UNKNOWN: lambda r, t: _("It is not known whether its GPU is the one that was measured."),
    _C.GPU_UNUSED: lambda r, t: _("Has a GPU that the job does not use."),
    _C.ARM: lambda r, t: _("ARM cores."),
    _C.DISK_CAPPED: lambda r, t: _(
        "Caps network disks at {most} MB/s; this rate reads {needed} MB/s.",
        most=format_number(r.number("bytes_per_second") / 1e6),
        needed=format_number(r.number("needed") / 1e6),
    ),
}
