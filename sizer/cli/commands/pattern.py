"""pattern: what an expression, or a known format, would read from a log."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path

from sizer.analysis.log_lines.recognising import LogContent, ReadLine, read_log
from sizer.analysis.log_rates import PATTERN_SECONDS
from sizer.cli.arguments import _, add_json, print_json
from sizer.records.frameworks import LOG_FORMATS, format_called
from sizer.records.messages import AnyOf, InputError, printable
from sizer.runner.time_limit import TimeLimit, at_most
from sizer.words.studies.profiling import (
    log_cut,
    log_format,
    log_line,
    log_lines_more,
    log_no_number,
    log_summary,
    log_times,
)

LARGEST_LOG = 64 << 20
"""Bytes of a log that are read: its beginning says what all of it is like."""

SHOWN_LINES = 10
"""Lines that are shown, each with what it tells."""

EXAMPLE = r"step (?P<step>\d+)"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "expression",
        nargs="?",
        metavar="EXPR",
        help=_("a known format, or a regular expression with named groups; default: which known format the log has"),
    )
    parser.add_argument("log", metavar="LOGFILE")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.log)
    text, cut = _text(path)
    is_own = arguments.expression is not None and format_called(arguments.expression) is None
    try:
        with at_most(PATTERN_SECONDS * (1 + (len(text) >> 20))) if is_own else nullcontext():
            content = read_log(text, arguments.expression)
    except TimeLimit:
        raise _too_slow(path, arguments.expression) from None
    if not content.read:
        raise _nothing(path, arguments.expression, content)
    if arguments.json:
        print_json(_form(content, arguments.expression))
        return 0
    print(log_format(content.recognised))
    for line in content.read[:SHOWN_LINES]:
        print(log_line(line))
    if len(content.read) > SHOWN_LINES:
        print(log_lines_more(len(content.read) - SHOWN_LINES))
    print(log_summary(content))
    if content.no_number:
        print(log_no_number(content.no_number))
    times = log_times(content)
    if times:
        print(times)
    if cut:
        print(log_cut(LARGEST_LOG))
    return 0


def _text(path: Path) -> tuple[str, bool]:
    """The log, and whether it is longer than what is read of it. Raises InputError."""
    if not path.exists():
        raise InputError("{path}: there is no such file; give the log of a program.", path=path)
    if path.is_dir():
        raise InputError("{path} is a folder; give the log of a program.", path=path)
    with path.open("rb") as file:
        content = file.read(LARGEST_LOG + 1)
    return content[:LARGEST_LOG].decode("utf-8", "replace"), len(content) > LARGEST_LOG


def _too_slow(path: Path, expression: str) -> InputError:
    """Each MiB of a log has the time of one read in a run, where the same expression would end it."""
    return InputError(
        "`{pattern}` takes more than {seconds} s of CPU time for each MiB of {path}; avoid repetition inside of "
        "repetition, such as {example}.",
        pattern=printable(expression),
        seconds=f"{PATTERN_SECONDS:g}",
        path=path,
        example="`(a+)+`",
    )


def _nothing(path: Path, expression: str | None, content: LogContent) -> InputError:
    """Why nothing was read."""
    if expression is None:
        return InputError(
            "No line of {path} is of a known format ({formats}), or its counter never grows. Give an expression before "
            "the file, such as {example}.",
            path=path,
            formats=AnyOf(*LOG_FORMATS),
            example=f"'{EXAMPLE}'",
        )
    if format_called(expression) is not None:
        return InputError(
            "No line of {path} is one of the training in the format {format}. To see which format it has, type: sizer "
            "pattern {path}",
            path=path,
            format=expression,
        )
    return InputError(
        "None of the {count} lines of {path} gives a number by the pattern `{pattern}`. Compare it with a line of the "
        "log, character by character: `.`, `(`, `[`, `|` and `+` need a backslash before them.",
        count=content.lines,
        path=path,
        pattern=printable(expression),
    )


def _form(content: LogContent, expression: str | None) -> dict[str, object]:
    counted = content.grown if content.counts else None
    return {
        "format": content.recognised,
        "pattern": expression if content.recognised is None else None,
        "lines": content.lines,
        "read": len(content.read),
        "evaluations": content.evaluations,
        "epochs": content.epochs + 1,
        "no_number": content.no_number or None,
        "batches": None if content.counts_samples else counted,
        "samples": counted if content.counts_samples else None,
        "readings": [_reading(line) for line in content.read],
    }


READINGS = {
    "samples_per_second": "rate",
    "seconds_per_batch": "seconds",
    "batches_per_second": "batches",
    "elapsed_seconds": "elapsed",
    **{name: name for name in ("epoch", "step", "samples", "total")},
}
"""Keys of a reading for programs, by the names of its fields."""


def _reading(line: ReadLine) -> dict[str, object]:
    fields = {key: getattr(line.reading, name) for key, name in READINGS.items()}
    return {"line": line.number, "grown": line.grown, **fields}
