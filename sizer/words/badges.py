"""Badges: words that mark what is not an ordinary measured figure, each with what it means to a first-time reader."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.words.language import _


class BadgeKind(str, Enum):
    """What a badge marks."""

    # How a figure was come by.
    MEASURED = "measured"
    FITTED = "fitted"
    PREDICTED = "predicted"
    EXTRAPOLATED = "extrapolated"
    TRANSFERRED = "transferred"
    EMULATED = "emulated"
    EMBEDDED_DATA = "embedded_data"

    # What speaks against relying on it.
    DRIFTING = "drifting"
    PROVISIONAL = "provisional"
    AT_LEAST = "at_least"
    NOT_SETTLED = "not_settled"
    NO_ANSWER = "no_answer"
    TOO_LATE = "too_late"

    # What is asked for, and what is rented.
    RECOMMENDED = "recommended"
    SMALLEST_SOLD = "smallest_sold"
    CHEAPEST_SOLD = "cheapest_sold"


@dataclass(frozen=True)
class Badge:
    """A badge as the page shows it: its kind decides the colour, its word stands there, and pointing at it explains.

    `symbol` stands before the word where the word is a verdict, so that colour is not all that tells verdicts apart.
    """

    kind: str
    word: str
    explanation: str
    symbol: str = ""


_SYMBOLS = {
    BadgeKind.RECOMMENDED: "✓",
    BadgeKind.PROVISIONAL: "!",
    BadgeKind.AT_LEAST: "≥",
    BadgeKind.NOT_SETTLED: "?",
    BadgeKind.NO_ANSWER: "?",
    BadgeKind.TOO_LATE: "?",
}


def badge(kind: BadgeKind) -> Badge:
    """The badge of that kind, in the reader's language."""
    word, explanation = _said()[kind]
    return Badge(kind.value, word, explanation, _SYMBOLS.get(kind, ""))


def _said() -> dict[BadgeKind, tuple[str, str]]:
    """Word and explanation of each kind."""
    return {
        BadgeKind.MEASURED: (_("measured"), _("A run had just this configuration; the figure is what it did.")),
        BadgeKind.FITTED: (
            _("fitted"),
            _("The model's rate, by all runs together; runs of just this configuration gave another one."),
        ),
        BadgeKind.PREDICTED: (
            _("predicted"),
            _("No run had just this configuration: the model says it, from runs on both sides of it."),
        ),
        BadgeKind.EXTRAPOLATED: (
            _("extrapolated"),
            _("Beyond what was measured: the model's curve carried on. Measure there before you rely on it."),
        ),
        BadgeKind.TRANSFERRED: (
            _("transferred"),
            _("Measured on another kind of machine and converted to this one; only a run on it would be proof."),
        ),
        BadgeKind.EMULATED: (
            _("emulated"),
            _(
                "Imitated at its published speed instead of the real thing: a disk is held to its IOPS and MB/s, an "
                "accelerator's step waits as long as the published step takes."
            ),
        ),
        BadgeKind.EMBEDDED_DATA: (
            _("embedded data"),
            _("A small data set of sizer was read in place of yours; your own files may be slower or faster."),
        ),
        BadgeKind.DRIFTING: (
            _("drifting"),
            _("The measuring host became slower or faster meanwhile, so figures of different times compare badly."),
        ),
        BadgeKind.PROVISIONAL: (
            _("provisional"),
            _("The best that these runs support, but something speaks against relying on it; the row says what."),
        ),
        BadgeKind.AT_LEAST: (
            _("at least"),
            _("The throughput was still rising at the most that was measured: more may be better, less is not."),
        ),
        BadgeKind.NOT_SETTLED: (
            _("not settled"),
            _("The best so far: whether more would be faster, the runs do not show."),
        ),
        BadgeKind.NO_ANSWER: (_("no answer"), _("The runs do not suffice for an answer.")),
        BadgeKind.TOO_LATE: (_("too late"), _("Nothing that was measured finishes the job in time.")),
        BadgeKind.RECOMMENDED: (
            _("recommended"),
            _("The runs support it, and the target is reached with a probability of 0.9 or more."),
        ),
        BadgeKind.SMALLEST_SOLD: (
            _("smallest sold"),
            _("Larger than what is needed: no smaller instance type of the catalogue holds it."),
        ),
        BadgeKind.CHEAPEST_SOLD: (
            _("cheapest sold"),
            _("Larger than what is needed, and still the cheapest instance type of the catalogue that holds it."),
        ),
    }
