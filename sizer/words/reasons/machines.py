"""Which of the machines that were measured: what the work costs there, on the next and on the fastest."""

from __future__ import annotations

from sizer.recommend import ALIKE
from sizer.records import RELATIVE, Event, Reason, ReasonCode, format_number, format_seconds, format_usd
from sizer.words.figures import chance, change, samples_counted, times
from sizer.words.language import _, _n
from sizer.words.names import Terms, listed, spec_name
from sizer.words.reasons.figures import Sentences, share_of
from sizer.words.units import exact_rate, percent, rate_beside, rate_in_words, several_of


def _where(r: Reason, t: Terms) -> str:
    """`aws g4dn.xlarge`, else the spec itself."""
    return r.text("instance_type") or (spec_name(r.spec, t) if r.spec is not None else "")


def _both(r: Reason, t: Terms) -> str:
    """`1 x T4 (aws g4dn.xlarge)`."""
    spec, instance = spec_name(r.spec, t) if r.spec is not None else "", r.text("instance_type")
    if spec and instance:
        return _("{spec} ({instance})", spec=spec, instance=instance)
    return spec or instance or _("a machine of unknown size")


def _all(r: Reason) -> str:
    """`5 machines measured`; `4 configurations measured` of one machine, such as batch sizes."""
    if r.number("machines") > 1:
        return _("{count} machines measured", count=round(r.number("machines")))
    return _("{count} configurations measured", count=round(r.number("configurations")))


def _cost(r: Reason, t: Terms) -> dict[str, object]:
    return {
        "usd": format_usd(r.number("usd_per_million")) if r.has("usd_per_million") else "",
        "units": several_of(t.unit),
        "where": _where(r, t),
        "all": _all(r),
    }


def _least_cost(r: Reason, t: Terms) -> str:
    if r.has("only_priced") and t.unit != RELATIVE:
        return _("A million {units} cost {usd} on {where}, the only machine with a known price.", **_cost(r, t))
    if r.has("surer") and t.unit != RELATIVE:
        return _("A million {units} cost {usd} on {where}, the least of those that are surely enough.", **_cost(r, t))
    if r.has("by_latency") and t.unit != RELATIVE:
        return _("A million {units} cost {usd} on {where}, the least of those that answer soon enough.", **_cost(r, t))
    if t.unit == RELATIVE:
        if r.has("slower_cost_less"):
            return _("The same work costs the least on {where}, of the machines that are fast enough.", **_cost(r, t))
        return _("The same work costs the least on {where}, of {all}.", **_cost(r, t))
    if r.has("slower_cost_less"):
        return _(
            "A million {units} cost {usd} on {where}, the least of the machines that are fast enough.", **_cost(r, t)
        )
    return _("A million {units} cost {usd} on {where}, the least of {all}.", **_cost(r, t))


def _least_cost_and_time(r: Reason, t: Terms) -> str:
    if r.has("only_priced") or r.has("surer"):
        return _least_cost(r, t)
    if t.unit == RELATIVE:
        return _("On {where} price times time is the least of the machines that are fast enough.", **_cost(r, t))
    if r.has("slower_cost_less"):
        return _(
            "A million {units} cost {usd} on {where}; price times time is the least of the machines that are fast "
            "enough.",
            **_cost(r, t),
        )
    return _(
        "A million {units} cost {usd} on {where}; price times time is the least of {all}.",
        **_cost(r, t),
    )


def _fastest_of_machines(r: Reason, t: Terms) -> str:
    if t.unit == RELATIVE:
        return _("It is the fastest of {all}.", **_cost(r, t))
    if r.has("by_latency"):
        return _(
            "It is the fastest of those that answer soon enough; a million {units} cost {usd} on {where}.",
            **_cost(r, t),
        )
    return _("It is the fastest of {all}; a million {units} cost {usd} on {where}.", **_cost(r, t))


def _nearly_fastest(r: Reason, t: Terms) -> str:
    if not r.has("usd_per_million"):
        return _(
            "It is the smallest of those within 1 % of the fastest of {all}; its price is not known.",
            all=_all(r),
        )
    if t.unit == RELATIVE:
        return _("It costs least of those within 1 % of the fastest of {all}.", **_cost(r, t))
    return _(
        "It costs least of those within 1 % of the fastest of {all}; a million {units} cost {usd} on {where}.",
        **_cost(r, t),
    )


def _next_machine(r: Reason, t: Terms) -> str:
    known = {"machine": _both(r, t), "speed": times(r.number("speed"))}
    if not r.has("cost"):
        return _("Next comes {machine}: {speed} as fast; its price is not known.", **known)
    cost = r.number("cost")
    if abs(cost - 1) < 0.005:
        return _("Next comes {machine}: {speed} as fast, and the same work costs the same there.", **known)
    return _("Next comes {machine}: {speed} as fast, {cost} the cost of the same work.", **known, cost=times(cost))


def _fastest_machine(r: Reason, t: Terms) -> str:
    known = {"machine": _both(r, t), "rate": rate_in_words(r.number("rate"), t.unit), "speed": times(r.number("speed"))}
    if not r.has("cost"):
        return _("The fastest is {machine} with {rate}, {speed} as fast; its price is not known.", **known)
    return _(
        "The fastest is {machine} with {rate}: {speed} as fast, {cost} the cost of the same work.",
        **known,
        cost=times(r.number("cost")),
    )


def _none_enough(r: Reason, t: Terms) -> str:
    known = {
        "machine": _both(r, t),
        "rate": rate_beside(r.number("rate"), r.number("needed"), t.unit),
        "needed": exact_rate(r.number("needed"), t.unit),
    }
    if not r.has("samples"):
        return _("No machine measured gives {needed}; the likeliest, {machine}, gives {rate}.", **known)
    return _(
        "No machine measured finishes {samples} within {within}; the fastest, {machine}, takes {time}.",
        **known,
        samples=samples_counted(r.number("samples"), t.unit),
        within=format_seconds(r.number("within")),
        time=format_seconds(r.number("seconds")),
    )


def _dearer(r: Reason, t: Terms) -> str:
    if abs(r.number("cost") - 1) < 0.005:
        return _("Gives {rate}; the same work costs the same there.", rate=rate_in_words(r.number("rate"), t.unit))
    return _(
        "Gives {rate}; the same work costs {cost} as much there.",
        rate=rate_in_words(r.number("rate"), t.unit),
        cost=times(r.number("cost")),
    )


def _prices_unknown(r: Reason, t: Terms) -> str:
    if r.has("spot"):
        return _(
            "No spot price of these machines is known, so this one makes the most of each accelerator and may not cost "
            "least."
        )
    return _(
        "No price of these machines is known, so this one makes the most of each accelerator and may not cost least."
    )


def _sizes_apart(r: Reason, t: Terms) -> str:
    known = {
        "machine": _both(r, t),
        "factor": times(r.number("factor")),
        "fewer": format_number(r.number("fewer")),
    }
    if r.has("slower"):
        return _(
            "One rate looks like a slip: with {fewer} instead of {machine} it was {factor} as fast; check both.",
            **known,
        )
    return _(
        "One rate looks like a slip: {machine} is {factor} as fast as in proportion to {fewer}; check both.", **known
    )


def _surer_machine(r: Reason, t: Terms) -> str:
    known = {"machine": _both(r, t), "chance": chance(r.number("probability"))}
    if not r.has("cost"):
        return _("{machine} gives it with a probability of {chance}.", **known)
    return _(
        "{machine} gives it with a probability of {chance}, at {cost} the cost of the same work.",
        **known,
        cost=times(r.number("cost")),
    )


def _baseline_machine(r: Reason, t: Terms) -> str:
    known = {"machine": _both(r, t), "speed": times(r.number("speed"))}
    if not r.has("cost"):
        return _("The baseline, {machine}, is {speed} as fast; its price is not known.", **known)
    return _(
        "The baseline, {machine}, is {speed} as fast, at {cost} the cost of the same work.",
        **known,
        cost=times(r.number("cost")),
    )


def _latencies(r: Reason) -> dict[str, object]:
    return {name: format_seconds(r.number(name)) for name in ("latency", "most")}


def _growth_unsettled(r: Reason, t: Terms) -> str:
    if r.has("after"):
        return _(
            "Nothing was measured between {fewer} and {most} vCPUs, and the rate may stop rising anywhere there: fewer "
            "may be enough.",
            fewer=format_number(r.number("after")),
            most=format_number(r.number("vcpus")),
        )
    return _(
        "It is not clear whether more than {count} accelerators pay: twice as many should change the rate by {gain}.",
        count=format_number(r.number("gpu_count")),
        gain=change(r.number("gain")),
    )


def _latency_too_long(r: Reason, t: Terms) -> str:
    if not r.has("latency"):
        return _("Its p99 latency was not measured.")
    return _("Its p99 latency is {latency}, and {most} is asked for.", **_latencies(r))


def _choice_close(r: Reason, t: Terms) -> str:
    known = {"chance": chance(r.number("probability")), "alike": percent(ALIKE)}
    if r.text("event") == Event.NONE_FASTER.value:
        return _("Others are close: the probability that none is {alike} faster is {chance}.", **known)
    if r.text("event") == Event.NONE_BETTER.value:
        return _("Others are close: the probability that none has {alike} less cost × time is {chance}.", **known)
    return _("Others are close: the probability that none is {alike} cheaper is {chance}.", **known)


def _retired_listed(r: Reason) -> str:
    """`aws p3.2xlarge (retired 2026) and azure NC6 (retired 2023)`."""
    years = zip(r.texts("names"), r.numbers("years"), strict=True)
    return listed([_("{name} (retired {year})", name=name, year=round(year)) for name, year in years])


_C = ReasonCode
SENTENCES: Sentences = {
    _C.LEAST_COST: _least_cost,
    _C.LEAST_COST_AND_TIME: _least_cost_and_time,
    _C.FASTEST_OF_MACHINES: _fastest_of_machines,
    _C.FASTEST_WITHOUT_PRICE: lambda r, t: _(
        "It is the fastest of {all}; its price is not known.",
        all=_all(r),
    ),
    _C.NEARLY_FASTEST: _nearly_fastest,
    _C.ONLY_MACHINE: lambda r, t: _(
        "It is the only configuration measured, so it is not known whether another costs less or is faster."
    ),
    _C.SMALLEST_OF_MACHINES: lambda r, t: _("It is the smallest of {all} that is fast enough.", all=_all(r)),
    _C.TARGET_CLOSE: lambda r, t: _(
        "The probability that it keeps {target} of the best rate is {chance}.",
        target=share_of(r, "target"),
        chance=chance(r.number("probability")),
    ),
    _C.RUNS_APART: lambda r, t: _(
        "Runs of {machine} are {factor} apart: one of them is a slip, and no answer is reliable until it is corrected.",
        machine=_both(r, t),
        factor=times(r.number("factor")),
    ),
    _C.OTHER_INPUT: lambda r, t: _(
        "All rows are with {input} input, so with data from a disk the job may be slower.", input=r.text("input")
    ),
    _C.INPUT_BINDS: lambda r, t: _(
        "With synthetic input the same accelerators gave {rate}, {speed} as fast: the input holds them back.",
        rate=rate_in_words(r.number("rate"), t.unit),
        speed=times(r.number("speed")),
    ),
    _C.DEARER_IN_TIME: lambda r, t: _(
        "Gives {rate}; price times time is {cost} as much there.",
        rate=rate_in_words(r.number("rate"), t.unit),
        cost=times(r.number("cost")),
    ),
    _C.RELATIVE_HAS_NO_TIME: lambda r, t: _(
        "The table's rates are only relative to one another, so no time and no rate can be asked of them; "
        "leave out --samples, --within and --at-least, or import rates in samples per second."
    ),
    _C.PRICES_UNKNOWN: _prices_unknown,
    _C.SIZES_APART: _sizes_apart,
    _C.SURER_MACHINE: _surer_machine,
    _C.CHEAPER_BELOW_TARGET: lambda r, t: _(
        "The same work costs {cost} as much on {machine}, {speed} as fast; --target {target} accepts that.",
        machine=_both(r, t),
        speed=times(r.number("speed")),
        cost=times(r.number("cost")),
        target=format_number(r.number("target")),
    ),
    _C.DISK_ENOUGH: lambda r, t: _("It is the cheapest disk that costs the job at most 2 % of its rate."),
    _C.BASELINE_MACHINE: _baseline_machine,
    _C.INTERCONNECT_BINDS: lambda r, t: _(
        "With synthetic input each of {count} accelerators keeps {share} of its rate beside {fewer}: the exchange "
        "between them, or their host, holds them back.",
        count=format_number(r.number("gpu_count")),
        fewer=format_number(r.number("fewer")),
        share=share_of(r, "share"),
    ),
    _C.ONLY_WITH_THIS_INPUT: lambda r, t: _(
        "It is the only machine measured with this input, so it is not known whether another costs less or is faster."
    ),
    _C.SOME_PRICES_UNKNOWN: lambda r, t: _n(
        "{count} of {machines} machines has no known price and was not ranked by cost.",
        "{count} of {machines} machines have no known price and were not ranked by cost.",
        round(r.number("unknown")),
        machines=round(r.number("machines")),
    ),
    _C.MACHINES_RETIRED: lambda r, t: _(
        "Nobody can rent {machines} any more: measured, but neither compared nor counted in a cost.",
        machines=_retired_listed(r),
    ),
    _C.ALL_RETIRED: lambda r, t: _(
        "Nobody can rent what was measured any more: {machines}; import rates of machines that are sold, which "
        "`sizer catalog list` shows without `retired`.",
        machines=_retired_listed(r),
    ),
    _C.GPU_RETIRED: lambda r, t: (
        _(
            "Nobody can rent the machines with this GPU any more whose price was known (retired {year}).",
            year=round(r.number("year")),
        )
        if r.has("listed")
        else _("Nobody can rent a machine with this GPU any more (retired {year}).", year=round(r.number("year")))
    ),
    _C.NEXT_MACHINE: _next_machine,
    _C.FASTEST_MACHINE: _fastest_machine,
    _C.CHOICE_CLOSE: _choice_close,
    _C.NO_MACHINE_ENOUGH: _none_enough,
    _C.FAST_ENOUGH: lambda r, t: _(
        "The probability that it gives at least {needed} is {chance}.",
        needed=exact_rate(r.number("needed"), t.unit),
        chance=chance(r.number("probability")),
    ),
    _C.SPOT_PRICES: lambda r, t: _("Prices are those of spot machines, which the provider may take back at any time."),
    _C.NO_SPOT_PRICES: lambda r, t: _("No spot price of these machines is known."),
    _C.GROWTH_UNSETTLED: _growth_unsettled,
    _C.NOT_FAST_AND_PROMPT: lambda r, t: _(
        "No configuration measured gives {needed} within a p99 latency of {most}; {machine} gives {rate} and takes "
        "{latency}.",
        **_latencies(r),
        needed=exact_rate(r.number("needed"), t.unit),
        machine=_both(r, t),
        rate=rate_beside(r.number("rate"), r.number("needed"), t.unit),
    ),
    _C.LATENCY_KEPT: lambda r, t: _(
        "99 of 100 batches take at most {latency} there; the probability that a new run keeps {most} is {chance}.",
        **_latencies(r),
        chance=chance(r.number("probability")),
    ),
    _C.LATENCY_NOT_KEPT: lambda r, t: _(
        "No configuration measured keeps a p99 latency of {most}; the least is {latency}, with {machine}.",
        **_latencies(r),
        machine=_both(r, t),
    ),
    _C.LATENCY_NOT_MEASURED: lambda r, t: _(
        "No run tells a p99 latency: inference that sizer runs does, and a table with a column `latency_p99_ms`."
    ),
    _C.LATENCY_TOO_LONG: _latency_too_long,
    _C.SLOWER_MACHINE: lambda r, t: _(
        "Gives {rate}, {speed} as fast.", rate=rate_in_words(r.number("rate"), t.unit), speed=times(r.number("speed"))
    ),
    _C.DEARER_MACHINE: _dearer,
    _C.GIVES: lambda r, t: _("Gives {rate}.", rate=rate_in_words(r.number("rate"), t.unit)),
    _C.BELOW_RATE: lambda r, t: _(
        "Gives {rate}; the probability that it reaches {needed} is {chance}.",
        rate=rate_beside(r.number("rate"), r.number("needed"), t.unit),
        needed=exact_rate(r.number("needed"), t.unit),
        chance=chance(r.number("probability")),
    ),
}
