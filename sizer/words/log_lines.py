"""What was read from a log, for whoever tries a pattern."""

from __future__ import annotations

from statistics import median

from sizer.analysis.log_lines.content import LogContent, ReadLine
from sizer.analysis.log_lines.reading import LogReading
from sizer.records.plain_text import printable
from sizer.records.units import format_bytes, format_number, format_seconds
from sizer.words.figures import from_to
from sizer.words.language import _, _n
from sizer.words.names import row
from sizer.words.units import rate_in_words


def log_format(recognised: str | None) -> str:
    """Which format a log has."""
    return _("format: {name}", name=recognised) if recognised is not None else _("format: your own expression")


def log_line(line: ReadLine) -> str:
    """`line 12: epoch 1, batch 200 of 1,444, 155 ms a batch`."""
    return _("line {number}: {told}", number=f"{line.number:,}", told=row(_told(line.reading)))


def _told(reading: LogReading) -> list[str]:
    """Each number of a line with its meaning."""
    found = []
    if reading.epoch is not None:
        found.append(_("epoch {epoch}", epoch=reading.epoch))
    if reading.samples is not None:
        found.append(_("sample {count}", count=f"{reading.samples:,}"))
    elif reading.step is not None and reading.total is not None:
        found.append(_("batch {count} of {total}", count=f"{reading.step:,}", total=f"{reading.total:,}"))
    elif reading.step is not None:
        found.append(_("batch {count}", count=f"{reading.step:,}"))
    if reading.rate is not None:
        found.append(rate_in_words(reading.rate, "sample"))
    if reading.seconds is not None:
        found.append(_("{time} a batch", time=format_seconds(reading.seconds)))
    if reading.batches is not None:
        found.append(_("{rate} batches/s", rate=format_number(reading.batches)))
    if reading.elapsed is not None:
        found.append(_("{time} since its epoch began", time=format_seconds(reading.elapsed)))
    return found


def log_lines_more(count: int) -> str:
    """That there are more than were shown."""
    return _n("and {count} more line", "and {count} more lines", count)


def log_summary(content: LogContent) -> str:
    """How much was read: of so many lines, what they count, and what was passed over."""
    read = _n(
        "{read} of {count} line is one of the training",
        "{read} of {count} lines are of the training",
        content.lines,
        read=f"{len(content.read):,}",
    )
    parts = [read]
    if content.counts:
        grown = content.grown
        parts.append(
            _n("{count} sample counted", "{count} samples counted", grown)
            if content.counts_samples
            else _n("{count} batch counted", "{count} batches counted", grown)
        )
    else:
        parts.append(_("none has a counter, so the rate that is told counts"))
    if content.epochs:
        parts.append(_n("{count} epoch", "{count} epochs", content.epochs + 1))
    if content.evaluations:
        parts.append(
            _n("{count} of an evaluation passed over", "{count} of evaluations passed over", content.evaluations)
        )
    return row(parts)


def log_no_number(found: str) -> str:
    """What the expression matched with, and could not be read."""
    return _("the pattern also matches what is no number, and passes it over: {found}", found=printable(found))


def log_times(content: LogContent) -> str:
    """What the lines tell of a batch's time, or of the rate: the least, the most and the middle; '' where nothing."""
    readings = [line.reading for line in content.read]
    times = [told for each in readings if (told := each.seconds_a_batch) is not None]
    rates = [each.rate for each in readings if each.rate is not None]
    if times:
        low, high = format_seconds(min(times)), format_seconds(max(times))
        return _(
            "told: {span} a batch, in the middle {middle}; in a run, the lines must come as fast as that",
            span=from_to(low, high),
            middle=format_seconds(median(times)),
        )
    if rates:
        low, high = format_number(min(rates)), format_number(max(rates))
        return _(
            "told: {span} samples/s, in the middle {middle}; in a run, the lines must come as fast as that",
            span=from_to(low, high),
            middle=format_number(median(rates)),
        )
    return ""


def log_cut(largest: int) -> str:
    """That only the beginning was read."""
    return _("only the first {size} were read", size=format_bytes(largest))
