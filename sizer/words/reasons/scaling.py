"""How the rate goes with a size, and what lies beyond the largest that was measured."""

from __future__ import annotations

from sizer.records import Reason, ReasonCode, format_number
from sizer.words.figures import chance, change
from sizer.words.language import _, _n
from sizer.words.names import Terms, accelerator_name, disk_in_words, row
from sizer.words.reasons.figures import Sentences, gain_of, gpus_of, rate_between, share_of, size_of, vcpus_of
from sizer.words.units import rate_in_words, vcpus_in_words


def _best_measured(r: Reason, t: Terms) -> str:
    where = [_("batch {size}", size=format_number(r.number("batch_size")))] if r.has("batch_size") else []
    where = [disk_in_words(r.text("disk")), *where] if r.has("disk") else where
    where = [size_of(r), *where] if r.has("memory_bytes") else where
    where += [gpus_of(r, t)] if r.has("gpu_count") else []
    rate = rate_in_words(r.number("rate"), t.unit)
    if not where:
        return _("Its best measured rate is {rate}.", rate=rate)
    return _("Its best measured rate is {rate} ({where}).", rate=rate, where=row(where))


def _rises_with_vcpus(r: Reason, t: Terms) -> str:
    return _(
        "The rate still rises at {vcpus}, the most measured: {doubled} should gain {gain}.",
        vcpus=vcpus_of(r),
        doubled=vcpus_in_words(2 * r.number("vcpus")),
        gain=gain_of(r),
    )


def _vcpus_unsettled(r: Reason, t: Terms) -> str:
    return _(
        "It is not clear whether more vCPUs pay: {doubled} should change the rate by {gain}; the probability of more "
        "than {worth} is {probability}.",
        doubled=vcpus_in_words(2 * r.number("vcpus")),
        gain=change(r.number("gain")),
        worth=share_of(r, "worth"),
        probability=chance(r.number("probability")),
    )


def _size_open(r: Reason, t: Terms) -> str:
    if r.has("most") and r.has("repeat"):
        return _(
            "{vcpus} is the most measured; repeat the runs to find out whether it is the right size.", vcpus=vcpus_of(r)
        )
    if r.has("most"):
        return _("{vcpus} is the most measured; it is not known whether it is the right size.", vcpus=vcpus_of(r))
    if r.has("repeat"):
        return _(
            "{vcpus} is the smallest size that is probably enough; repeat the runs to find out whether it is the right "
            "size.",
            vcpus=vcpus_of(r),
        )
    return _(
        "{vcpus} is the smallest size that is probably enough; it is not known whether it is the right one.",
        vcpus=vcpus_of(r),
    )


def _beyond_by_curve(r: Reason, t: Terms) -> str:
    return _(
        "Beyond {vcpus} (extrapolated, weak: by the curve alone), {size} would give about {rate}.",
        vcpus=vcpus_of(r),
        size=vcpus_of(r, "size"),
        rate=rate_between(r, t.unit),
    )


def _beyond_by_ceiling(r: Reason, t: Terms) -> str:
    return _(
        "Beyond {vcpus} (extrapolated, strong: the ceiling of the {accelerator} is known), about {busy} vCPUs ({low} "
        "to {high}) keep it busy; {size} would give about {rate}.",
        vcpus=vcpus_of(r),
        accelerator=accelerator_name(t.device),
        busy=f"{r.number('busy_vcpus'):.2g}",
        low=f"{r.number('busy_low'):.2g}",
        high=f"{r.number('busy_high'):.2g}",
        size=vcpus_of(r, "size"),
        rate=rate_between(r, t.unit),
    )


_C = ReasonCode
SENTENCES: Sentences = {
    _C.FASTEST_AT: lambda r, t: _("It is fastest at about {vcpus} and slower with more.", vcpus=vcpus_of(r)),
    _C.STILL_GAINS: lambda r, t: _("It still gets faster at {vcpus}, the most measured.", vcpus=vcpus_of(r)),
    _C.GAIN_UNKNOWN: lambda r, t: _(
        "It is not clear whether it gets faster with more than {vcpus}, the most measured.", vcpus=vcpus_of(r)
    ),
    _C.GAINS_NOTHING: lambda r, t: _(
        "More than {vcpus}, the fewest measured, do not make it faster.", vcpus=vcpus_of(r)
    ),
    _C.STOPS_SCALING: lambda r, t: _("It stops scaling at about {vcpus}.", vcpus=vcpus_of(r)),
    _C.BEST_MEASURED: _best_measured,
    _C.RISES_WITH_VCPUS: _rises_with_vcpus,
    _C.RISES_WITH_GPUS: lambda r, t: _n(
        "The rate still rises at {count} accelerator, the most measured: the last step gained {gain}.",
        "The rate still rises at {count} accelerators, the most measured: the last step gained {gain}.",
        round(r.number("gpu_count")),
        gain=gain_of(r),
    ),
    _C.RISES_WITH_BATCH: lambda r, t: _(
        "A larger batch than {batch}, the largest measured, may be faster: the last step gained {gain}.",
        batch=format_number(r.number("batch_size")),
        gain=gain_of(r),
    ),
    _C.RISES_WITH_MEMORY: lambda r, t: _(
        "The rate still rises at {memory} of memory, the most measured.", memory=size_of(r)
    ),
    _C.VCPUS_UNSETTLED: _vcpus_unsettled,
    _C.MEMORY_UNSETTLED: lambda r, t: _(
        "It is not clear whether more memory than {memory}, the most measured, makes it faster.", memory=size_of(r)
    ),
    _C.SIZE_OPEN: _size_open,
    _C.BEYOND_BY_CURVE: _beyond_by_curve,
    _C.BEYOND_BY_CEILING: _beyond_by_ceiling,
}
