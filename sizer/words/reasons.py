"""Each reason as a sentence, or two: what is known, as an engineer would say it to a colleague."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizer.model import Bounds, GivenUp, GivenUpKind, SearchedFloor
from sizer.records import (
    Bottleneck,
    Reason,
    ReasonCode,
    format_bytes,
    format_number,
    format_rate,
    format_seconds,
    format_share,
    format_usd,
    format_vcpus,
)
from sizer.words.floors import floor_in_words
from sizer.words.language import _, _n
from sizer.words.names import (
    Terms,
    accelerator_name,
    accelerators_name,
    bound_in_words,
    disk_in_words,
    either,
    listed,
    outcomes_counted,
    resource_name,
    spec_name,
)
from sizer.words.quantities import (
    accounted,
    chance,
    change,
    rate_between,
    samples_counted,
    seconds_between,
    shares_listed,
)


def reason_sentence(reason: Reason, terms: Terms) -> str:
    """What is known, in words."""
    return _SENTENCES[reason.code](reason, terms)


def _bytes(reason: Reason, name: str = "memory_bytes") -> str:
    return format_bytes(reason.number(name))


def _vcpus(reason: Reason, name: str = "vcpus") -> str:
    return format_vcpus(reason.number(name))


def _share(reason: Reason, name: str) -> str:
    return format_share(reason.number(name))


def _gpus(reason: Reason, terms: Terms, before: str = "") -> str:
    return accelerators_name(reason.text(f"{before}gpu") or None, reason.number(f"{before}gpu_count"), terms.device)


def _bound(reason: Reason, terms: Terms) -> str:
    return bound_in_words(Bottleneck(reason.text("bottleneck")), terms.device)


def _gpu_kind(name: str) -> str:
    return accelerators_name(name, 1).removeprefix("1 x ")


def _no_run_completed(r: Reason, t: Terms) -> str:
    outcomes = outcomes_counted(r.texts("outcomes"), r.numbers("counts"))
    return _("Not enough data: no run of `{workload}` completed ({outcomes}).", workload=t.workload, outcomes=outcomes)


def _too_few_values(r: Reason, t: Terms) -> str:
    values, axis = r.numbers("values"), r.text("axis")
    count, known = len(values), {"workload": t.workload}
    if axis == "memory_gib":
        return _n(
            "Not enough data: `{workload}` was measured at {count} memory size ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} memory sizes ({values}), and three are needed.",
            count,
            **known,
            values=", ".join(format_bytes(value) for value in values),
        )
    plain = ", ".join(f"{value:g}" for value in values)
    if axis == "batch_size":
        return _n(
            "Not enough data: `{workload}` was measured at {count} batch size ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} batch sizes ({values}), and three are needed.",
            count,
            **known,
            values=plain,
        )
    if axis == "gpu_count":
        return _n(
            "Not enough data: `{workload}` was measured at {count} accelerator count ({values}), and three are needed.",
            "Not enough data: `{workload}` was measured at {count} accelerator counts ({values}), "
            "and three are needed.",
            count,
            **known,
            values=plain,
        )
    return _n(
        "Not enough data: `{workload}` was measured at {count} vCPU value ({values}), and three are needed.",
        "Not enough data: `{workload}` was measured at {count} vCPU values ({values}), and three are needed.",
        count,
        **known,
        values=plain,
    )


def _between_memory_sizes(r: Reason, t: Terms) -> str:
    return _(
        "Not enough data: `{workload}` was measured with {count} memory sizes that differ in throughput, and three are "
        "needed to predict one between them.",
        workload=t.workload,
        count=len(r.numbers("values")),
    )


def _not_in_table(r: Reason, t: Terms) -> str:
    if r.text("column") == "vcpus":
        return _("The table has no `vcpus` for `{workload}`, so other counts cannot be predicted.", workload=t.workload)
    return _(
        "The table has no `{column}` for `{workload}`, so other sizes cannot be predicted.",
        column=r.text("column"),
        workload=t.workload,
    )


def _gpu_not_measured(r: Reason, t: Terms) -> str:
    return _(
        "`{workload}` was not measured on {gpu}, only on {measured}.",
        workload=t.workload,
        gpu=_gpu_kind(r.text("gpu") or "cpu"),
        measured=listed([_gpu_kind(name) for name in r.texts("measured")]),
    )


def _disk_not_measured(r: Reason, t: Terms) -> str:
    return _(
        "`{workload}` was not measured on {disk}, only on {measured}.",
        workload=t.workload,
        disk=disk_in_words(r.text("disk")),
        measured=listed([disk_in_words(name) for name in r.texts("measured")]),
    )


def _mixed_programs(r: Reason, t: Terms) -> str:
    known = {"workload": t.workload, "values": listed(r.texts("values"))}
    if r.text("field") == "kind":
        return _("The runs of `{workload}` are of several kinds: {values}.", **known)
    if r.text("field") == "framework":
        return _("The runs of `{workload}` use several frameworks: {values}.", **known)
    return _("The runs of `{workload}` use several networks: {values}.", **known)


def _best_measured(r: Reason, t: Terms) -> str:
    place = [_("batch {size}", size=format_number(r.number("batch_size")))] if r.has("batch_size") else []
    place = [disk_in_words(r.text("disk")), *place] if r.has("disk") else place
    place = [_bytes(r), *place] if r.has("memory_bytes") else place
    place += [_gpus(r, t)] if r.has("gpu_count") else []
    rate = format_rate(r.number("rate"), t.unit)
    if not place:
        return _("Its best measured rate is {rate}.", rate=rate)
    return _("Its best measured rate is {rate} ({place}).", rate=rate, place=", ".join(place))


def _rises_with_vcpus(r: Reason, t: Terms) -> str:
    known = {"vcpus": _vcpus(r), "before": f"{r.number('before'):g}", "gain": _share(r, "gain")}
    if r.has("foretold"):
        return _(
            "The rate still rises at {vcpus}, the most measured: {doubled} should gain {gain}, up to the known "
            "ceiling.",
            **known,
            doubled=format_vcpus(2 * r.number("vcpus")),
        )
    if r.has("seen"):
        return _(
            "The rate still rises at {vcpus}, the most measured: from {before} to {vcpus} it gained {gain} by the "
            "fitted curve and {seen} by the runs themselves.",
            **known,
            seen=_share(r, "seen"),
        )
    return _("The rate still rises at {vcpus}, the most measured: from {before} to {vcpus} it gained {gain}.", **known)


def _vcpus_unsettled(r: Reason, t: Terms) -> str:
    known = {
        "vcpus": _vcpus(r),
        "before": f"{r.number('before'):g}",
        "gain": change(r.number("gain")),
        "worth": _share(r, "worth"),
        "probability": f"{r.number('probability'):.2f}",
    }
    if r.has("foretold"):
        return _(
            "It is not clear whether more vCPUs pay: {doubled} should change the rate by {gain}, up to the known "
            "ceiling; the probability of more than {worth} is {probability}.",
            **known,
            doubled=format_vcpus(2 * r.number("vcpus")),
        )
    if r.has("seen"):
        return _(
            "It is not clear whether more vCPUs pay: from {before} to {vcpus} the rate changed by {gain} by the fitted "
            "curve and by {seen} by the runs themselves; the probability of more than {worth} is {probability}.",
            **known,
            seen=change(r.number("seen")),
        )
    return _(
        "It is not clear whether more vCPUs pay: from {before} to {vcpus} the rate changed by {gain}; the probability "
        "of more than {worth} is {probability}.",
        **known,
    )


def _size_open(r: Reason, t: Terms) -> str:
    if r.has("most") and r.has("repeat"):
        return _(
            "{vcpus} is the most measured; repeat the runs to find out whether it is the right size.", vcpus=_vcpus(r)
        )
    if r.has("most"):
        return _("{vcpus} is the most measured; whether it is the right size is open.", vcpus=_vcpus(r))
    if r.has("repeat"):
        return _(
            "{vcpus} is the smallest size that is probably enough; repeat the runs to find out whether it is the right "
            "size.",
            vcpus=_vcpus(r),
        )
    return _(
        "{vcpus} is the smallest size that is probably enough; whether it is the right size is open.", vcpus=_vcpus(r)
    )


def _beyond_by_curve(r: Reason, t: Terms) -> str:
    known = {"vcpus": _vcpus(r), "size": _vcpus(r, "size"), "rate": rate_between(r, t.unit)}
    if r.has("ceiling"):
        return _(
            "Beyond {vcpus} (extrapolated, weak: the next known ceiling is {ceiling}), {size} would give about {rate} "
            "if they save half of what the last doubling saved.",
            **known,
            ceiling=format_rate(r.number("ceiling"), t.unit),
        )
    return _(
        "Beyond {vcpus} (extrapolated, weak: no ceiling near it is known), {size} would give about {rate} if they save "
        "half of what the last doubling saved.",
        **known,
    )


def _beyond_by_ceiling(r: Reason, t: Terms) -> str:
    return _(
        "Beyond {vcpus} (extrapolated, strong: the ceiling of the {accelerator} is known), about {busy} vCPUs ({low} "
        "to {high}) keep it busy; {size} would give about {rate}.",
        vcpus=_vcpus(r),
        accelerator=accelerator_name(t.device),
        busy=f"{r.number('busy_vcpus'):.2g}",
        low=f"{r.number('busy_low'):.2g}",
        high=f"{r.number('busy_high'):.2g}",
        size=_vcpus(r, "size"),
        rate=rate_between(r, t.unit),
    )


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
        "bound": _bound(r, t),
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
}


def doubts_listed(reason: Reason) -> str:
    """`contended or imprecise`."""
    words = {
        "contended": _("contended"),
        "stolen": _("slowed by other virtual machines"),
        "drifting": _("drifting"),
        "imprecise": _("imprecise"),
        "unsettled": _("not settled"),
        "short": _("too short"),
    }
    return either([words.get(doubt, doubt) for doubt in reason.texts("doubts")])


def _runs_doubtful(r: Reason, t: Terms) -> str:
    count = round(r.number("doubtful"))
    known = {"completed": format_number(r.number("completed")), "doubts": doubts_listed(r)}
    if r.text("repeat_how") == "quiet_host":
        return _n(
            "{count} of {completed} runs was {doubts}; repeat it on a quiet host.",
            "{count} of {completed} runs were {doubts}; repeat them on a quiet host.",
            count,
            **known,
        )
    if r.text("repeat_how") == "longer":
        return _n(
            "{count} of {completed} runs was {doubts}; repeat it for longer.",
            "{count} of {completed} runs were {doubts}; repeat them for longer.",
            count,
            **known,
        )
    return _n("{count} of {completed} runs was {doubts}.", "{count} of {completed} runs were {doubts}.", count, **known)


def _runs_failed(r: Reason, t: Terms) -> str:
    return _n(
        "{count} of {runs} runs gave no rate ({outcomes}).",
        "{count} of {runs} runs gave no rate ({outcomes}).",
        round(r.number("failed")),
        runs=format_number(r.number("runs")),
        outcomes=outcomes_counted(r.texts("outcomes"), r.numbers("counts")),
    )


def _reaches(r: Reason, t: Terms) -> str:
    known = {"share": _share(r, "share"), "rate": format_rate(r.number("rate"), t.unit)}
    if not r.has("vcpus"):
        return _("It reaches {share} of the best rate in the measured range ({rate}).", **known)
    return _(
        "With {vcpus} it reaches {share} of the best rate in the measured range ({rate} with {best}).",
        **known,
        vcpus=_vcpus(r),
        best=_vcpus(r, "best_vcpus"),
    )


def _bound_there(r: Reason, t: Terms) -> str:
    known = {"bound": _bound(r, t), "shares": shares_listed(r, t.device)}
    if not r.has("accounted"):
        return _("There it is {bound} (shares: {shares}).", **known)
    return _(
        "There it is {bound} (shares: {shares}; accounting: {accounted}).", **known, accounted=accounted(r, t.device)
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
        "No measured disk is faster than {disk} for this job; {other} loses {loss}.", **known, loss=_share(r, "loss")
    )


def _faster_disk(r: Reason, t: Terms) -> str:
    known = {"disk": disk_in_words(r.text("disk")), "other": disk_in_words(r.text("other")), "gain": _share(r, "gain")}
    if not r.has("then"):
        return _("A faster disk than {disk} gains {gain} (the best other measured is {other}).", **known)
    return _(
        "A faster disk than {disk} gains {gain} (the best other measured, {other}, gives {then} instead of {now}).",
        **known,
        then=format_rate(r.number("then"), t.unit),
        now=format_rate(r.number("now"), t.unit),
    )


def _disk_still_binds(r: Reason, t: Terms) -> str:
    if r.has("only"):
        return _(
            "The disk takes {share} of the time on the only tier measured; a faster one may pay.",
            share=_share(r, "share"),
        )
    return _(
        "The disk takes {share} of the time on the fastest tier measured; a faster one may pay.",
        share=_share(r, "share"),
    )


def _with_pipeline(sentence: str, r: Reason) -> str:
    if not r.has("pipeline_alone"):
        return sentence
    return " ".join((sentence, _("That is the input pipeline alone; the framework of a real GPU needs more.")))


def _floor_searched(r: Reason, t: Terms) -> str:
    low = round(r.number("low")) if r.has("low") else None
    high = round(r.number("high")) if r.has("high") else None
    why = None
    if r.has("given_up"):
        why = GivenUp(GivenUpKind(r.text("given_up")), round(r.number("given_up_at")))
    found = SearchedFloor(Bounds(low, high), r.has("timed_out"), why, r.has("pipeline_alone"))
    return _("{floor}.", floor=floor_in_words(found, _("The memory floor")))


def _floor_between(r: Reason, t: Terms) -> str:
    known = {"low": _bytes(r, "low"), "high": _bytes(r, "high")}
    killed, held = r.numbers("killed"), r.numbers("held")
    if not killed or not held:
        return _with_pipeline(_("The memory floor is between {low} and {high}.", **known), r)
    sizes = {"killed": _sizes(killed), "held": _sizes(held)}
    return _with_pipeline(
        _("The memory floor is between {low} and {high}: {killed} ran out of memory, {held} held.", **known, **sizes),
        r,
    )


def _sizes(values: tuple[float, ...]) -> str:
    return listed([format_bytes(value) for value in values])


def _memory(message: Callable[..., str]) -> Callable[[Reason, Terms], str]:
    """A sentence on the size of the memory, made from whichever figures it names."""

    def sentence(r: Reason, t: Terms) -> str:
        names = {"memory_bytes": "memory", "held": "held", "most": "most", "untried": "untried"}
        known = {short: _bytes(r, name) for name, short in names.items() if r.has(name)}
        return message(**known, vcpus=_vcpus(r) if r.has("vcpus") else "")

    return sentence


def _step_emulated(r: Reason, t: Terms) -> str:
    known = {"accelerator": accelerator_name(t.device)}
    rate = format_rate(r.number("rate"), t.unit) if r.has("rate") else ""
    source = r.text("source")
    origin = source if source.startswith("given") or not source else _("from {source}", source=source)
    beside = ", ".join(part for part in (rate, origin) if part)
    if not beside:
        return _("Each step waits for as long as the {accelerator} takes.", **known)
    return _("Each step waits for as long as the {accelerator} takes ({beside}).", **known, beside=beside)


def _next_limit(r: Reason, t: Terms) -> str:
    return _(
        "Without that limit it would be {gain} faster, up to the next one ({next}).",
        gain=_share(r, "gain"),
        next=resource_name(Bottleneck(r.text("next")), t.device),
    )


def _smallest_upgrade(r: Reason, t: Terms) -> str:
    return _(
        "The smallest upgrade that moves the bottleneck is {spec}: {gain} faster, then {bound}.",
        spec=spec_name(r.spec, t) if r.spec is not None else "",
        gain=_share(r, "gain"),
        bound=_bound(r, t),
    )


def _baseline_at(r: Reason) -> str:
    """At which share of the baseline's rate."""
    known = {"share": _share(r, "share")}
    if r.has("extrapolated") and r.has("disk_not_counted"):
        return _("{share} of its rate (extrapolated), disk prices not counted", **known)
    if r.has("extrapolated"):
        return _("{share} of its rate (extrapolated)", **known)
    return (
        _("{share} of its rate, disk prices not counted", **known)
        if r.has("disk_not_counted")
        else _("{share} of its rate", **known)
    )


def _baseline_size(r: Reason, t: Terms) -> str:
    size = spec_name(r.spec, t) if r.spec is not None else ""
    if r.has("named"):
        return _("{instance} with {size}", instance=r.text("instance_type"), size=size)
    return _("{size}, the largest measured", size=size) if size else _("the largest measured")


def _baseline_price_unknown(r: Reason, t: Terms) -> str:
    return _(
        "Against {size}: at {rate}. The saving is not known, as one of the two has no known price.",
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
    saving = r.number("saving")
    known = {
        "now": format_usd(r.number("answer_usd_per_hour")),
        "instance": r.text("answer_instance_type"),
        "before": format_usd(r.number("usd_per_hour")),
        "size": _baseline_size(r, t),
        "share": format_share(abs(saving)),
        "rate": _baseline_at(r),
        "other": r.text("instance_type"),
    }
    if r.has("named") and saving > 0:
        return _("{now} an hour ({instance}) instead of {before} for {size}: {share} less, at {rate}.", **known)
    if r.has("named"):
        return _("{now} an hour ({instance}) instead of {before} for {size}: {share} more, at {rate}.", **known)
    if saving > 0:
        return _(
            "{now} an hour ({instance}) instead of {before} ({other}) for {size}: {share} less, at {rate}.", **known
        )
    return _("{now} an hour ({instance}) instead of {before} ({other}) for {size}: {share} more, at {rate}.", **known)


def _of_target(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Reaches {share} of the target, {bound}.", share=_share(r, "share"), bound=_bound(r, t))
    return _("Reaches {share} of the target.", share=_share(r, "share"))


def _of_best(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Reaches {share} of the best rate, {bound}.", share=_share(r, "share"), bound=_bound(r, t))
    return _("Reaches {share} of the best rate.", share=_share(r, "share"))


def _time(r: Reason) -> str:
    return format_seconds(r.number("seconds")) if r.has("seconds") else _("for ever")


def _job_dearer(r: Reason, t: Terms) -> str:
    known = {"time": _time(r), "dearer": _share(r, "dearer")}
    if r.has("bottleneck"):
        return _("Takes {time}, in time, but the job costs {dearer} more; {bound}.", **known, bound=_bound(r, t))
    return _("Takes {time}, in time, but the job costs {dearer} more.", **known)


def _job_unlikely(r: Reason, t: Terms) -> str:
    known = {"time": _time(r), "chance": chance(r.number("probability"))}
    if r.has("bottleneck"):
        return _("Takes {time}, in time with a probability of only {chance}; {bound}.", **known, bound=_bound(r, t))
    return _("Takes {time}, in time with a probability of only {chance}.", **known)


def _job_too_late(r: Reason, t: Terms) -> str:
    if r.has("bottleneck"):
        return _("Takes {time}, too late, {bound}.", time=_time(r), bound=_bound(r, t))
    return _("Takes {time}, too late.", time=_time(r))


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
_SENTENCES: Mapping[ReasonCode, Callable[[Reason, Terms], str]] = {
    _C.NOT_FITTED: lambda r, t: _("`{workload}` has no model.", workload=t.workload),
    _C.NO_RUN_COMPLETED: _no_run_completed,
    _C.TOO_FEW_VALUES: _too_few_values,
    _C.BETWEEN_MEMORY_SIZES: _between_memory_sizes,
    _C.NOT_IN_TABLE: _not_in_table,
    _C.GPU_NOT_MEASURED: _gpu_not_measured,
    _C.DISK_NOT_MEASURED: _disk_not_measured,
    _C.MIXED_PROGRAMS: _mixed_programs,
    _C.ONLY_STAGES: lambda r, t: _(
        "Not enough data: all stored runs of `{workload}` isolate one stage.", workload=t.workload
    ),
    _C.FACTOR_NOT_POSITIVE: lambda r, t: _("A speed-up or a factor must be above 0, for example 2."),
    _C.NO_GPU_TO_SPEED_UP: lambda r, t: _(
        "`{workload}` was measured without a GPU, so there is none to speed up.", workload=t.workload
    ),
    _C.STEP_NOT_SEPARATE: lambda r, t: _(
        "`{workload}` computes its step on the CPU that also decodes, and no run separates the two.",
        workload=t.workload,
    ),
    _C.READS_NOT_ACCOUNTED: lambda r, t: _(
        "The disk reads of `{workload}` were not measured, so another disk cannot be predicted from its rates.",
        workload=t.workload,
    ),
    _C.DATA_SIZE_UNKNOWN: lambda r, t: _(
        "The data set size of `{workload}` was not recorded, so it is not known how much of a larger one the page "
        "cache would hold. Measure it with its data, or import it with `dataset_gib`.",
        workload=t.workload,
    ),
    _C.DATA_SIZE_NOT_COMPARABLE: lambda r, t: _(
        "The data set size of `{workload}` was not recorded, so it cannot be compared with {size}. Say how many times "
        "as large it is with --data-factor.",
        workload=t.workload,
        size=_bytes(r, "size"),
    ),
    _C.FASTEST_AT: lambda r, t: _("It is fastest at about {vcpus} and slower with more.", vcpus=_vcpus(r)),
    _C.STILL_GAINS: lambda r, t: _("It still gets faster at {vcpus}, the most measured.", vcpus=_vcpus(r)),
    _C.GAIN_UNKNOWN: lambda r, t: _(
        "It is not clear whether it gets faster with more than {vcpus}, the most measured.", vcpus=_vcpus(r)
    ),
    _C.GAINS_NOTHING: lambda r, t: _("More than {vcpus}, the fewest measured, do not make it faster.", vcpus=_vcpus(r)),
    _C.STOPS_SCALING: lambda r, t: _("It stops scaling at about {vcpus}.", vcpus=_vcpus(r)),
    _C.BEST_MEASURED: _best_measured,
    _C.RISES_WITH_VCPUS: _rises_with_vcpus,
    _C.RISES_WITH_GPUS: lambda r, t: _n(
        "The rate still rises at {count} accelerator, the most measured: the last step gained {gain}.",
        "The rate still rises at {count} accelerators, the most measured: the last step gained {gain}.",
        round(r.number("gpu_count")),
        gain=_share(r, "gain"),
    ),
    _C.RISES_WITH_BATCH: lambda r, t: _(
        "A larger batch than {batch}, the largest measured, may be faster: the last step gained {gain}.",
        batch=format_number(r.number("batch_size")),
        gain=_share(r, "gain"),
    ),
    _C.RISES_WITH_MEMORY: lambda r, t: _(
        "More memory than {memory}, the most measured, would still make it faster.", memory=_bytes(r)
    ),
    _C.VCPUS_UNSETTLED: _vcpus_unsettled,
    _C.MEMORY_UNSETTLED: lambda r, t: _(
        "It is not clear whether more memory than {memory}, the most measured, makes it faster.", memory=_bytes(r)
    ),
    _C.SIZE_OPEN: _size_open,
    _C.BEYOND_BY_CURVE: _beyond_by_curve,
    _C.BEYOND_BY_CEILING: _beyond_by_ceiling,
    _C.JOB_TAKES: _job_takes,
    _C.JOB_COSTS: lambda r, t: _(
        "The job costs about {usd} on {instance}, by its hourly price and the expected time.",
        usd=format_usd(r.number("usd")),
        instance=r.text("instance_type"),
    ),
    _C.JOB_COST_UNKNOWN: lambda r, t: _(
        "The cost of the job is not known: no instance type of the catalogue that fits has a price."
    ),
    _C.NOTHING_IN_TIME: _nothing_in_time,
    _C.TIME_ENOUGH: lambda r, t: _("{time} would be enough there.", time=format_seconds(r.number("seconds"))),
    _C.BEYOND_IN_TIME: lambda r, t: _(
        "{vcpus} would take {time} (extrapolated).", vcpus=_vcpus(r), time=seconds_between(r)
    ),
    _C.WOULD_HELP: lambda r, t: _HELP[Bottleneck(r.text("bottleneck"))](),
    _C.MORE_VCPUS_NOT_MEASURED: lambda r, t: _("Whether more vCPUs would help was not measured."),
    _C.RUNS_DOUBTFUL: _runs_doubtful,
    _C.SIZE_DOUBTFUL: lambda r, t: _("Every run of that size was {doubts}.", doubts=doubts_listed(r)),
    _C.RUNS_FAILED: _runs_failed,
    _C.REACHES: _reaches,
    _C.BOUND_BY: _bound_there,
    _C.BOTTLENECK_UNKNOWN: lambda r, t: _(
        "The bottleneck there is not known; the model's best guess from these runs is {shares}.",
        shares=shares_listed(r, t.device),
    ),
    _C.BOTTLENECK_DISPUTED: _bottleneck_disputed,
    _C.BOTTLENECK_CLOSE: lambda r, t: _(
        "There is no clear bottleneck there: the largest shares are close ({shares}).",
        shares=shares_listed(r, t.device),
    ),
    _C.VCPUS_NOT_IN_TABLE: lambda r, t: _("The table has no `vcpus`, so how many are needed is not known."),
    _C.VCPUS_NOT_VARIED: lambda r, t: _(
        "vCPUs were not varied: {vcpus} is what was measured, not what is needed.", vcpus=_vcpus(r)
    ),
    _C.SIZE_SOLD: lambda r, t: _(
        "{vcpus} is the smallest size sold with at least {measured}, the most measured.",
        vcpus=_vcpus(r),
        measured=_vcpus(r, "measured"),
    ),
    _C.FEWER_NOT_MEASURED: lambda r, t: _("Fewer than {vcpus} were not measured.", vcpus=_vcpus(r)),
    _C.OTHER_GPUS_SLOWER: lambda r, t: _(
        "No other accelerator measured is faster than {these} at this size: {other} loses {loss}.",
        these=_gpus(r, t),
        other=_gpus(r, t, "other_"),
        loss=_share(r, "loss"),
    ),
    _C.OTHER_GPUS_FASTER: lambda r, t: _(
        "{other} instead of {these} would gain {gain} at this size.",
        these=_gpus(r, t),
        other=_gpus(r, t, "other_"),
        gain=_share(r, "gain"),
    ),
    _C.NO_FASTER_DISK: _no_faster_disk,
    _C.FASTER_DISK: _faster_disk,
    _C.DISK_STILL_BINDS: _disk_still_binds,
    _C.DISK_EMULATED: lambda r, t: _(
        "The disk {disk} is emulated: limited to its IOPS and MB/s, without its latency and its bursts.",
        disk=r.text("disk"),
    ),
    _C.FLOOR_SEARCHED: _floor_searched,
    _C.FLOOR_BETWEEN: _floor_between,
    _C.EVERY_CAP_HELD: lambda r, t: _with_pipeline(
        _(
            "Every memory cap measured held ({held}): the memory floor is no higher than the smallest.",
            held=_sizes(r.numbers("held")),
        ),
        r,
    ),
    _C.ONLY_COMPLETION_TRIED: lambda r, t: _(
        "Between {low} and {high} of memory only completion was tried, not the rate.",
        low=_bytes(r, "low"),
        high=_bytes(r, "high"),
    ),
    _C.MEMORY_NOT_VARIED: lambda r, t: _("Memory was not varied, so none is recommended."),
    _C.MEMORY_LEAST_KNOWN: _memory(
        lambda **k: _("{memory} is the least sold that is known to hold the job and to keep its rate.", **k)
    ),
    _C.MEMORY_NOT_OFFERED: _memory(
        lambda **k: _("No family offers {memory} with {vcpus}, only {most}: take a size with more vCPUs.", **k)
    ),
    _C.MEMORY_LEAST_OFFERED: _memory(lambda **k: _("{memory} is the least that families offer with {vcpus}.", **k)),
    _C.MEMORY_LESS_HAS_NO_RATE: _memory(
        lambda **k: _("{memory} and not {untried}, because no rate was measured below {held}.", **k)
    ),
    _C.MEMORY_LESS_MAY_NOT_HOLD: _memory(
        lambda **k: _("{memory} and not {untried}, because no cap below {held} is known to hold.", **k)
    ),
    _C.MEMORY_LESS_MAY_BE_SLOWER: _memory(lambda **k: _("Less than {memory} holds, but may be slower.", **k)),
    _C.MEMORY_LEAST_WITH_MARGIN: _memory(
        lambda **k: _(
            "{memory} is the least that families offer with {vcpus} from {held} on, which is what cannot be dropped "
            "and a margin.",
            **k,
        )
    ),
    _C.MEMORY_LEAST_HOLDING: _memory(
        lambda **k: _(
            "{memory} is the least that families offer with {vcpus} from {held} on, the least that holds.", **k
        )
    ),
    _C.MEMORY_NEEDED: lambda r, t: _("The runs needed {memory} that cannot be dropped.", memory=_bytes(r)),
    _C.STEP_EMULATED: _step_emulated,
    _C.NEXT_LIMIT: _next_limit,
    _C.SMALLEST_UPGRADE: _smallest_upgrade,
    _C.GPU_PRICE_UNKNOWN: lambda r, t: _(
        "The catalogue has no price for {gpus}, so it is not known whether it is the cheapest.", gpus=_gpus(r, t)
    ),
    _C.NO_BASELINE: lambda r, t: _(
        "{instance} cannot be compared for this job: its rate there is not known.", instance=r.text("instance_type")
    ),
    _C.BASELINE_PRICE_UNKNOWN: _baseline_price_unknown,
    _C.BASELINE_SAME_PRICE: _baseline_same_price,
    _C.BASELINE_SAVING: _baseline_saving,
    _C.OF_TARGET: _of_target,
    _C.OF_BEST: _of_best,
    _C.JOB_DEARER: _job_dearer,
    _C.JOB_UNLIKELY: _job_unlikely,
    _C.JOB_TOO_LATE: _job_too_late,
    _C.IN_TIME: lambda r, t: _("In time."),
    _C.TARGET_UNLIKELY: lambda r, t: _(
        "The probability that it reaches the target is only {chance}.", chance=f"{r.number('probability'):.2f}"
    ),
    _C.BEST_UNKNOWN: lambda r, t: _("The rate may still rise beyond what was measured, so the best rate is not known."),
    _C.DISK_LOSES: lambda r, t: _(
        "It loses {loss} by its disk, more than the {most} that a disk may cost.",
        loss=_share(r, "loss"),
        most=_share(r, "most"),
    ),
    _C.MEMORY_NOT_SOLD: lambda r, t: _(
        "Families offer at most {memory} with {vcpus}.", memory=_bytes(r), vcpus=_vcpus(r)
    ),
    _C.FRACTION_NOT_SOLD: lambda r, t: _("Fractions of a vCPU are not sold."),
    _C.OUT_OF_MEMORY: lambda r, t: _("Runs out of memory."),
    _C.FINDS_THE_KNEE: lambda r, t: _(
        "The rate still rises at the most measured; if it no longer does at {vcpus}, the knee is found.",
        vcpus=_vcpus(r, "size"),
    ),
    _C.MORE_MEMORY_MAY_PAY: lambda r, t: _("More memory may still pay."),
    _C.THREE_VALUES: lambda r, t: _("With three values, what lies between them can be predicted."),
    _C.NEED_NOT_MEASURED: lambda r, t: _("How many it needs was not measured."),
    _C.NO_SIZE_SURE: lambda r, t: _("No size is sure to be enough, and more repeats make the answer surer."),
    _C.MORE_VCPUS_UNSETTLED: lambda r, t: _("It is not clear whether more vCPUs pay."),
    _C.FEWEST_ENOUGH: lambda r, t: _("The fewest measured are enough, so fewer may be, too."),
    _C.RATE_UNKNOWN: lambda r, t: _("Its rate there was not measured."),
    _C.MEMORY_UNTRIED: lambda r, t: _("Whether that is enough memory was not measured."),
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
