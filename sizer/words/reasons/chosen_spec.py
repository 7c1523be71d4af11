"""Why this spec: how much of the best rate it reaches, what binds it, which disk and accelerator it needs."""

from __future__ import annotations

from sizer.records import Bottleneck, Reason, ReasonCode, format_number
from sizer.words.figures import paragraph, with_interval
from sizer.words.language import _
from sizer.words.names import (
    Terms,
    accelerator_name,
    disk_in_words,
    emulated_rate_in_words,
    rate_source,
    resource_name,
    row,
    spec_name,
)
from sizer.words.reasons.figures import (
    Sentences,
    accounted,
    bound_of,
    gain_of,
    share_of,
    shares_listed,
    vcpus_of,
)
from sizer.words.units import rate_in_words


def _reaches(r: Reason, t: Terms) -> str:
    known = {"share": share_of(r, "share"), "rate": rate_in_words(r.number("rate"), t.unit)}
    if not r.has("vcpus"):
        return _("It reaches {share} of the best rate in the measured range ({rate}).", **known)
    return _(
        "With {vcpus} it reaches {share} of the best rate in the measured range ({rate} with {best}).",
        **known,
        vcpus=vcpus_of(r),
        best=vcpus_of(r, "best_vcpus"),
    )


def _bound_there(r: Reason, t: Terms) -> str:
    known = {"bound": bound_of(r, t), "shares": shares_listed(r, t.device)}
    if not r.has("accounted"):
        return _("There it is {bound} (shares: {shares}).", **known)
    return _(
        "There it is {bound} (shares: {shares}; accounting: {accounted}).", **known, accounted=accounted(r, t.device)
    )


def _bottleneck_unknown(r: Reason, t: Terms) -> str:
    if r.has("one_size"):
        return _(
            "The bottleneck there is not known: with one vCPU value, a serial part cannot be told from CPU time that "
            "something else on the host took."
        )
    if not r.has("shares"):
        return _("The bottleneck there is not known.")
    return _(
        "The bottleneck there is not known; the model's best guess from these runs is {shares}.",
        shares=shares_listed(r, t.device),
    )


def _bottleneck_disputed(r: Reason, t: Terms) -> str:
    return _(
        "There is no clear bottleneck there: the model says {shares}, accounting says {accounted}.",
        shares=shares_listed(r, t.device),
        accounted=accounted(r, t.device),
    )


def _no_faster_disk(r: Reason, t: Terms) -> str:
    known = {"disk": disk_in_words(r.text("disk")), "other": disk_in_words(r.text("other"))}
    if not r.has("loss"):
        return _("No measured disk is faster than {disk} for this job; {other} is as fast.", **known)
    return _(
        "No measured disk is faster than {disk} for this job; {other} loses {loss}.", **known, loss=share_of(r, "loss")
    )


def _faster_disk(r: Reason, t: Terms) -> str:
    known = {
        "disk": disk_in_words(r.text("disk")),
        "other": disk_in_words(r.text("other")),
        "gain": gain_of(r),
    }
    if not r.has("then"):
        return _("Compared with {disk}, a faster disk gains {gain} (the best other measured is {other}).", **known)
    return _(
        "Compared with {disk}, a faster disk gains {gain} (the best other measured, {other}, gives {then} instead of "
        "{now}).",
        **known,
        then=rate_in_words(r.number("then"), t.unit),
        now=rate_in_words(r.number("now"), t.unit),
    )


def _disk_still_binds(r: Reason, t: Terms) -> str:
    if r.has("only"):
        return _(
            "The disk takes {share} of the time on the only tier measured; a faster one may pay.",
            share=share_of(r, "share"),
        )
    return _(
        "The disk takes {share} of the time on the fastest tier measured; a faster one may pay.",
        share=share_of(r, "share"),
    )


def _step_emulated(r: Reason, t: Terms) -> str:
    known = {"accelerator": accelerator_name(t.device)}
    rate = rate_in_words(r.number("rate"), t.unit) if r.has("rate") else ""
    source = r.text("source")
    if rate and r.has("low") and r.has("high"):
        ends = format_number(r.number("low")), format_number(r.number("high"))
        told = emulated_rate_in_words(with_interval(rate, *ends), r.text("basis"), source)
        return _("Each step waits for as long as the {accelerator} takes: {rate}.", **known, rate=told)
    origin = rate_source(source) if source else ""
    beside = row(part for part in (rate, origin) if part)
    if not beside:
        return _("Each step waits for as long as the {accelerator} takes.", **known)
    return _("Each step waits for as long as the {accelerator} takes ({beside}).", **known, beside=beside)


def _emulated_rate_open(r: Reason, t: Terms) -> str:
    known = {"low": rate_in_words(r.number("low"), t.unit), "high": rate_in_words(r.number("high"), t.unit)}
    if r.has("few"):
        few, many = (f"{float(f'{r.number(name):.2g}'):g}" for name in ("few", "many"))
        allows = _(
            "So the answer allows for a GPU that makes {low} to {high}, which takes {few} to {many} vCPUs to be kept "
            "busy.",
            **known,
            few=few,
            many=many,
        )
    else:
        allows = _("So the answer allows for a GPU that makes {low} to {high}.", **known)
    if not r.has("rate"):
        return allows
    rate = rate_in_words(r.number("rate"), t.unit)
    middle = _("Costs, and what other sizes and machines make, are told for {rate}.", rate=rate)
    return paragraph([allows, middle])


def _next_limit(r: Reason, t: Terms) -> str:
    return _(
        "Without that limit it would be {gain} faster, up to the next one ({next}).",
        gain=gain_of(r),
        next=resource_name(Bottleneck(r.text("next")), t.device),
    )


def _smallest_upgrade(r: Reason, t: Terms) -> str:
    return _(
        "The smallest upgrade that moves the bottleneck is {spec}: {gain} faster, then {bound}.",
        spec=spec_name(r.spec, t) if r.spec is not None else "",
        gain=gain_of(r),
        bound=bound_of(r, t),
    )


_C = ReasonCode
SENTENCES: Sentences = {
    _C.REACHES: _reaches,
    _C.BOUND_BY: _bound_there,
    _C.BOTTLENECK_UNKNOWN: _bottleneck_unknown,
    _C.BOTTLENECK_DISPUTED: _bottleneck_disputed,
    _C.BOTTLENECK_CLOSE: lambda r, t: _(
        "There is no clear bottleneck there: the largest shares are close ({shares}).",
        shares=shares_listed(r, t.device),
    ),
    _C.VCPUS_NOT_IN_TABLE: lambda r, t: _("The table has no `vcpus`, so how many are needed is not known."),
    _C.VCPUS_NOT_VARIED: lambda r, t: _(
        "vCPUs were not varied: {vcpus} is what was measured, not what is needed.", vcpus=vcpus_of(r)
    ),
    _C.SIZE_SOLD: lambda r, t: _(
        "{vcpus} is the smallest size sold with at least {measured}, which its rate is known of.",
        vcpus=vcpus_of(r),
        measured=vcpus_of(r, "measured"),
    ),
    _C.FEWER_NOT_MEASURED: lambda r, t: _("Fewer than {vcpus} were not measured.", vcpus=vcpus_of(r)),
    _C.NO_FASTER_DISK: _no_faster_disk,
    _C.FASTER_DISK: _faster_disk,
    _C.DISK_STILL_BINDS: _disk_still_binds,
    _C.DISK_EMULATED: lambda r, t: _(
        "The disk {disk} is emulated: limited to its IOPS and MB/s, without its latency and its bursts.",
        disk=r.text("disk"),
    ),
    _C.STEP_EMULATED: _step_emulated,
    _C.EMULATED_RATE_OPEN: _emulated_rate_open,
    _C.NEXT_LIMIT: _next_limit,
    _C.SMALLEST_UPGRADE: _smallest_upgrade,
}
