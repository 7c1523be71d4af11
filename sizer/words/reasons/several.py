"""Why numbers of accelerators that were asked for are not compared."""

from __future__ import annotations

from sizer.records import Reason, ReasonCode, format_number
from sizer.words.language import _
from sizer.words.names import Terms, listed, outcomes_counted
from sizer.words.reasons.figures import Sentences


def _numbers(r: Reason, name: str = "numbers") -> str:
    """`2 and 4`."""
    return listed([format_number(each) for each in r.numbers(name)])


def _not_together(r: Reason, t: Terms) -> str:
    if not r.numbers("others"):
        return _(
            "What one more accelerator buys is not known: {numbers} of them were not measured with all else alike.",
            numbers=_numbers(r),
        )
    return _(
        "What {numbers} accelerators make is not compared: all else was not as with {others}.",
        numbers=_numbers(r),
        others=_numbers(r, "others"),
    )


_C = ReasonCode
SENTENCES: Sentences = {
    _C.COUNTS_NOT_TOGETHER: _not_together,
    _C.COUNTS_FAILED: lambda r, t: _(
        "What {numbers} accelerators make is not known: no run with as many completed ({outcomes}).",
        numbers=_numbers(r),
        outcomes=outcomes_counted(r.texts("outcomes"), r.numbers("counts")),
    ),
    _C.COUNTS_OUT_OF_MEMORY: lambda r, t: _(
        "What {numbers} accelerators make is not compared: they run out of memory where the others were.",
        numbers=_numbers(r),
    ),
}
