"""How people write the figures of a table: commas of two kinds, footnote marks, `OOM` and `N/A` instead of a figure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from sizer.records.run_kinds import Outcome


class Comma(Enum):
    """What a comma in a number separates; UNKNOWN where the table does not show it."""

    THOUSANDS = "thousands"
    DECIMALS = "decimals"
    UNKNOWN = "unknown"


_THOUSANDS = re.compile(r"(?<![\d.,])([1-9]\d{0,2}(?:,\d{3})+)(\.\d+)?(?![\d,])", re.ASCII)
_DECIMALS = re.compile(r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d+)(?![\d.,])", re.ASCII)
_ONLY_DECIMALS = re.compile(r"(?<![\d.,])(?:\d+,(?!\d{3}(?!\d))\d+|0,\d+|\d{1,3}(?:\.\d{3})+,\d+)(?![\d.,])", re.ASCII)
_ONLY_THOUSANDS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:,\d{3}){2,})(?![\d,])", re.ASCII)
_POINT = re.compile(r"(?<![\d.,])\d+\.(?!\d{3}(?!\d))\d+(?![\d.,])", re.ASCII)
_POINTS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:\.\d{3})+(?![\d.,])", re.ASCII)
_SPACES = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u2009\u202f'\u2019]\d{3})+(?!\d)", re.ASCII)
_BEFORE = re.compile(r"^[~≈]\s*(?=\.?\d)", re.ASCII)
_BEHIND = re.compile(r"(?<=[\w%])\s*(?:[*†‡§¶⁰¹²³⁴-⁹]+|\s\[\w{1,3}\]|\[\d{1,3}\]|\(\w\))$")
_ERROR = re.compile(r"(?<=\d)\s*(?:±|\+/-|\+-).*$")

_WORDS_FOR_NOTHING = (
    "n/a, na, n.a., #n/a, nan, null, none, -, --, ---, –, —, ——, −, ?, /, tbd, not measured, not tested, "
    "not available, 无, 未测, 未测试"
)
NOT_MEASURED = frozenset(_WORDS_FOR_NOTHING.split(", "))
_FAILED = {
    Outcome.OUT_OF_MEMORY: "oom, ooms, out of memory, cuda oom, cuda out of memory, oom error, gpu oom, oom killed, "
    "oom-killed, out of gpu memory, does not fit, "
    "did not fit, doesn't fit, 显存不足, 内存不足",
    Outcome.TIMEOUT: "timeout, time out, timed out, 超时",
    Outcome.CRASHED: "crash, crashed, fail, failed, failure, error, errored, 失败",
    Outcome.UNSUPPORTED: "unsupported, not supported, 不支持",
}
_WORDS_FOR_DONE = "ok, okay, success, successful, succeeded, done, finished, complete, passed, 成功, 完成"
_DONE = frozenset(_WORDS_FOR_DONE.split(", "))
_OUTCOMES = {word: outcome for outcome, words in _FAILED.items() for word in words.split(", ")}


def comma_in(texts: Iterable[str], delimiter: str) -> Comma:
    """What commas separate in the numbers of a table, by those of its cells that can only be read in one way.

    Without such cells it is thousands, but between semicolons, which spreadsheets write where a comma is decimal.
    """
    thousands = decimals = False
    for text in texts:
        thousands = thousands or bool(_ONLY_THOUSANDS.search(text) or _POINT.search(text))
        decimals = decimals or _ONLY_DECIMALS.search(text) is not None
    if decimals:
        return Comma.UNKNOWN if thousands else Comma.DECIMALS
    return Comma.THOUSANDS if thousands or delimiter != ";" else Comma.UNKNOWN


def with_point(text: str, comma: Comma) -> str:
    """The number in a cell with a decimal point and nothing between its thousands: `1077.5` for `1.077,5`."""
    text = _SPACES.sub(lambda found: re.sub(r"\D", "", found[0]), text)
    if comma is Comma.DECIMALS:
        if "," not in text:
            return _POINTS.sub(lambda found: found[0].replace(".", ""), text)
        return _DECIMALS.sub(lambda found: f"{found[1].replace('.', '')}.{found[2]}", text)
    if comma is Comma.THOUSANDS or _ONLY_THOUSANDS.search(text):
        return _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
    return text


def unmarked(text: str) -> str:
    """The figure without what stands around it: `1077` for `1077*`, `219 [1]` and `~219`, `96` for `96 ± 2`."""
    before = None
    while text != before:
        before, text = text, _BEHIND.sub("", _BEFORE.sub("", text)).strip()
    return _ERROR.sub("", text).strip()


def is_not_measured(text: str) -> bool:
    """Whether a cell says that there is no figure: `N/A`, `-`."""
    return _word(text) in NOT_MEASURED


def failure(text: str) -> Outcome | None:
    """How a run failed, where a cell says that instead of a rate: `OOM`; None where it does not."""
    return _OUTCOMES.get(_word(text))


def is_completed(text: str) -> bool:
    """Whether a cell says that a run completed, in another word: `ok`."""
    return _word(text) in _DONE


def mixed_with_points(texts: Iterable[str]) -> tuple[str, str] | None:
    """A number with a comma and one with a point, of which one must be thousands and the other is not known to be: no
    program writes both `1,077` and `4.120` into a column. None where there are none, or others show what is meant."""
    cells = list(texts)
    if any(_ONLY_THOUSANDS.search(text) or _POINT.search(text) or _ONLY_DECIMALS.search(text) for text in cells):
        return None
    commas = [text for text in cells if re.fullmatch(r"[1-9]\d{0,2},\d{3}", text, re.ASCII)]
    points = [text for text in cells if re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", text, re.ASCII)]
    return (commas[0], points[0]) if commas and points else None


def _word(text: str) -> str:
    return " ".join(unmarked(text).lower().replace("_", " ").split()).rstrip("!.") or text
