"""How much memory: where its floor is, and which size is recommended."""

from __future__ import annotations

from collections.abc import Callable

from sizer.model import Bounds, GivenUp, GivenUpKind, SearchedFloor
from sizer.records import Reason, ReasonCode, format_bytes
from sizer.words.figures import apart, paragraph, sentence
from sizer.words.floors import floor_in_words
from sizer.words.language import _
from sizer.words.names import Terms, listed
from sizer.words.reasons.figures import Sentences, size_of, vcpus_of
from sizer.words.units import rate_in_words


def _with_pipeline(said: str, r: Reason) -> str:
    if not r.has("pipeline_alone"):
        return said
    return paragraph([said, _("That is the input pipeline alone; the framework of a real GPU needs more.")])


def _floor_searched(r: Reason, t: Terms) -> str:
    low = round(r.number("low")) if r.has("low") else None
    high = round(r.number("high")) if r.has("high") else None
    why = None
    if r.has("given_up"):
        why = GivenUp(GivenUpKind(r.text("given_up")), round(r.number("given_up_at")))
    found = SearchedFloor(Bounds(low, high), r.has("timed_out"), why, r.has("pipeline_alone"))
    return sentence(floor_in_words(found))


def _floor_between(r: Reason, t: Terms) -> str:
    known = {"low": size_of(r, "low"), "high": size_of(r, "high")}
    killed, held = r.numbers("killed"), r.numbers("held")
    if not killed or not held:
        return _with_pipeline(_("The memory floor is between {low} and {high}.", **known), r)
    sizes = {"killed": _sizes(killed), "held": _sizes(held)}
    return _with_pipeline(
        _(
            "The memory floor is between {low} and {high}: with {killed} it ran out of memory, with "
            "{held} it completed.",
            **known,
            **sizes,
        ),
        r,
    )


def _sizes(values: tuple[float, ...]) -> str:
    return listed([format_bytes(value) for value in values])


def _memory(message: Callable[..., str]) -> Callable[[Reason, Terms], str]:
    """A sentence on the size of the memory, made from whichever figures it names."""

    def sentence(r: Reason, t: Terms) -> str:
        names = {"memory_bytes": "memory", "held": "held", "most": "most", "untried": "untried"}
        known = {short: size_of(r, name) for name, short in names.items() if r.has(name)}
        return message(**known, vcpus=vcpus_of(r) if r.has("vcpus") else "")

    return sentence


def _two_rates(r: Reason, t: Terms) -> str:
    """The rates, whether they differ, and what two sizes do not say."""
    sizes = {"low": size_of(r, "low"), "high": size_of(r, "high")}
    more = size_of(r, "more") if r.has("more") else None
    said = [_rates_compared(r, t, sizes)]
    if not r.has("predicted"):
        said.append(_("Two sizes are no curve: no rate between or beyond them is predicted."))
    else:
        said.append(_("Two sizes are no curve: what less than {low} does to the rate is not known.", low=sizes["low"]))
    if more is not None:
        said.append(_("Runs with {more} would tell more.", more=more))
    return paragraph(said)


def _rates_compared(r: Reason, t: Terms, sizes: dict[str, str]) -> str:
    gained = apart(abs(r.number("gain")))
    if not r.has("rate_low"):
        if r.has("clear"):
            return _(
                "Between {low} and {high} of memory its rate differs by {share}, which is more than chance.",
                share=gained,
                **sizes,
            )
        return _(
            "Between {low} and {high} of memory its rate differs by {share}, which may be chance.",
            share=gained,
            **sizes,
        )
    rates = {name: rate_in_words(r.number(name), t.unit) for name in ("rate_low", "rate_high")}
    known = {**sizes, **rates, "share": gained, "vcpus": vcpus_of(r) if r.has("vcpus") else ""}
    if r.has("clear"):
        return _(
            "With {vcpus} it ran at {rate_low} in {low} and at {rate_high} in {high}: they differ by {share}, "
            "which is more than chance.",
            **known,
        )
    return _(
        "With {vcpus} it ran at {rate_low} in {low} and at {rate_high} in {high}: they differ by {share}, which "
        "may be chance.",
        **known,
    )


_C = ReasonCode
SENTENCES: Sentences = {
    _C.FLOOR_SEARCHED: _floor_searched,
    _C.FLOOR_BETWEEN: _floor_between,
    _C.EVERY_CAP_HELD: lambda r, t: _with_pipeline(
        _(
            "It completed with every memory cap that was tried, the smallest {held}; the memory floor may be lower.",
            held=format_bytes(min(r.numbers("held"))),
        ),
        r,
    ),
    _C.EVERY_CAP_KILLED: lambda r, t: _(
        "It ran out of memory with every memory cap measured ({killed}), so the memory floor is above the largest.",
        killed=_sizes(r.numbers("killed")),
    ),
    _C.ONE_MEMORY_CAP: lambda r, t: _(
        "It ran in {memory}, the only memory cap measured; whether less is enough, and what more would give, is not "
        "known.",
        memory=size_of(r),
    ),
    _C.TWO_MEMORY_RATES: _two_rates,
    _C.ONE_MEMORY_RATE: lambda r, t: _(
        "It has a rate in {memory} alone, which is no curve: what another size does to it is not known, and runs with "
        "{more} would tell.",
        memory=size_of(r),
        more=size_of(r, "more"),
    ),
    _C.ONLY_COMPLETION_TRIED: lambda r, t: _(
        "Between {low} and {high} of memory only completion was tried, not the rate.",
        low=size_of(r, "low"),
        high=size_of(r, "high"),
    ),
    _C.MEMORY_NOT_VARIED: lambda r, t: _("Memory was not varied, so none is recommended."),
    _C.MEMORY_LEAST_KNOWN: _memory(
        lambda **k: _("{memory} is the smallest size sold in which the job is known to run at its full rate.", **k)
    ),
    _C.MEMORY_NOT_OFFERED: _memory(
        lambda **k: _("No family offers {memory} with {vcpus}, only {most}: take a size with more vCPUs.", **k)
    ),
    _C.MEMORY_LEAST_OFFERED: _memory(lambda **k: _("{memory} is the least that families offer with {vcpus}.", **k)),
    _C.MEMORY_LESS_HAS_NO_RATE: _memory(
        lambda **k: _("{memory} rather than {untried}, because no rate was measured below {held}.", **k)
    ),
    _C.MEMORY_LESS_MAY_NOT_HOLD: _memory(
        lambda **k: _("{memory} rather than {untried}, because no cap below {held} is known to be enough.", **k)
    ),
    _C.MEMORY_LESS_MAY_BE_SLOWER: _memory(lambda **k: _("Less than {memory} is enough, but may be slower.", **k)),
    _C.MEMORY_LEAST_WITH_MARGIN: _memory(
        lambda **k: _(
            "The job needs {held}, the memory that cannot be dropped plus a margin; the next size that families offer "
            "with {vcpus} is {memory}.",
            **k,
        )
    ),
    _C.MEMORY_LEAST_HOLDING: _memory(
        lambda **k: _(
            "The least that is known to be enough is {held}; the next size that families offer with {vcpus} is "
            "{memory}.",
            **k,
        )
    ),
    _C.MEMORY_NEEDED: lambda r, t: _("The runs needed {memory} of memory that cannot be dropped.", memory=size_of(r)),
}
