"""A table that a person made: its rows by column, each cell with its line."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from sizer.files.given_files import read_given
from sizer.records.messages import AllOf, InputError, Message, SizerError, printable, quoted

DELIMITERS = (",", ";", "\t", "|")
"""What separates two cells: commas, or where the header has none of its names so, what spreadsheets and pages take."""
PIPE = "|"
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")
MOST_TITLES = 5
"""Lines above a header that are no part of the table."""
MOST_ROWS = 100_000
MOST_COLUMNS = 1000
LONGEST_CELL = 1000
"""Characters of a cell that are kept: no figure or name is as long, and what reads one may take the square of its
length."""


@dataclass(frozen=True)
class Row:
    """The cells of one row by the name of their column, without spaces around them; `where` is `FILE line N`."""

    where: Message
    line: int
    cells: dict[str, str]

    def input_error(self, column: str, message: str | Message | SizerError, /, **values: object) -> InputError:
        """What is wrong with a cell of this row: a sentence with named placeholders and its values, or an error."""
        problem = Message(message, **values) if isinstance(message, str) else message
        return InputError("{where}: {column}: {problem}", where=self.where, column=column, problem=problem)


@dataclass(frozen=True)
class Table:
    """The rows of a file and its columns in their order: those that are known by their known names.

    `title` is what stood above the header.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    delimiter: str = ","
    title: str = ""

    def unknown(self, names: Collection[str]) -> tuple[str, ...]:
        """The columns that are none of these."""
        return tuple(column for column in self.columns if column not in names)


def read_table(path: Path, kind: Message, names: Collection[str], needed: Collection[str]) -> Table:
    """The table in a file; `kind` says what it should be (`a table of configurations`).

    The `names` of columns count in any case. `needed` are those by which a header is recognised: of
    several delimiters the one that yields the most of them. Raises InputError with file, line and what to type.
    """
    return table_in(read_given(path, kind), path, names, needed)


def header_of(text: str) -> tuple[str, ...]:
    """The names of the columns of what may be a table; empty for what is none."""
    if not text.strip():
        return ()
    text = _without_title(text, ())[0]
    first = next(line for line in text.splitlines() if line.strip())
    try:
        return tuple(cell.strip() for _, cells in _records(first, Path(), _delimiter(text, (), ())) for cell in cells)
    except InputError:  # a cell that is too long, a quote that is not closed
        return ()


def table_in(
    text: str, path: Path, names: Collection[str], needed: Collection[str], most_rows: int | None = None
) -> Table:
    """The same of a file that was read already, of at most so many rows: by default MOST_ROWS."""
    most_rows = most_rows or MOST_ROWS
    _refuse_unseen(text, path)
    if not text.strip():
        raise InputError(
            "{path} is empty; write a header with the names of the columns, and a row below it.", path=path
        )
    text, title = _without_title(text, {*names, *needed})
    delimiter = _delimiter(text, names, needed)
    records = _records(text, path, delimiter)
    line, cells = next(records)
    columns = _header(cells, _place(path, line), names)
    rows: list[Row] = []
    for line, cells in records:
        if not any(cell.strip() for cell in cells):
            continue
        if len(rows) == most_rows:
            raise InputError(
                "{path} line {line}: the table has more than {most} rows; split it into several tables.",
                path=path,
                line=line,
                most=f"{most_rows:,}",
            )
        rows.append(_row(cells, columns, _place(path, line), line, delimiter))
    return Table(tuple(column for column in columns if column), tuple(rows), delimiter, title)


def _place(path: Path, line: int) -> Message:
    return Message("{path} line {line}", path=path, line=line)


def named(columns: Sequence[str], most: int = 10) -> Message | AllOf:
    """Names in a sentence: `a` and `b`, or `a`, `b` and 3 more; a header may have none at all."""
    names = [quoted(column) for column in columns]
    if not names:
        return Message("columns without a name")
    if len(names) <= most:
        return AllOf(*names)
    return Message("{names} and {count} more", names=", ".join(names[:most]), count=len(names) - most)


def _refuse_unseen(text: str, path: Path) -> None:
    """A binary file, or UTF-16, holds what no table has: then each line would be wrong in a way of its own."""
    if text.isprintable():
        return
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        if printable(line, keep="\t") != line:
            raise InputError(
                "{path} line {number} has a character that cannot be printed; remove it, or save the table as CSV "
                "in UTF-8.",
                path=path,
                number=number,
            )


def _without_title(text: str, names: Collection[str]) -> tuple[str, str]:
    """The text with blank lines for those above the header, which have one cell where the next line has several."""
    lines = text.splitlines(keepends=True)
    titles: list[str] = []
    written = [index for index, line in enumerate(lines) if line.strip()]
    for here, below in pairwise(written[: MOST_TITLES + 1]):
        cells = _filled(lines[here])
        if len(cells) != 1 or len(_filled(lines[below])) < 2 or cells[0].lower() in names:
            break
        titles.append(cells[0])
        lines[here] = "\n"
    return ("".join(lines), " ".join(titles)) if titles else (text, "")


def _filled(line: str) -> list[str]:
    """The cells of a line that are not empty, by the delimiter that yields the most."""
    cells = [
        [cell for cell in (cell.strip(' \t\r\n"') for cell in line.split(by)) if cell.strip()] for by in DELIMITERS
    ]
    return max(cells, key=len) if any(cells) else []


def _delimiter(text: str, names: Collection[str], needed: Collection[str]) -> str:
    """The comma unless another yields more of the names, or more cells where there are as many names; a header is one
    line, whatever its cells hold."""
    header = next(line for line in text.splitlines() if line.strip()).strip(PIPE)

    def recognised(delimiter: str) -> tuple[int, int, int]:
        cells = {cell.strip().strip('"').strip().lower() for cell in header.split(delimiter)}
        return len(cells & set(needed)), len(cells & set(names)), len(cells)

    return max(DELIMITERS, key=recognised)


def _records(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line on which each record begins, and its cells; blank lines are left out, and the rule of a page's table.

    A space behind a quote is no fault. A quote that is never closed is: it would swallow the rows below it.
    """
    if delimiter == PIPE:
        return _of_pipes(text)
    try:
        return iter(list(_parsed(text, delimiter, strict=True)))
    except _BrokenRecord as error:
        broken = error
    try:
        records = list(_parsed(text, delimiter, strict=False))
    except _BrokenRecord as error:
        broken = error
    else:
        if not any("\n" in cell or "\r" in cell for _, cells in records for cell in cells):
            return iter(records)
    if "field larger" in str(broken):
        raise InputError("{path} line {line}: a cell is too long; shorten it.", path=path, line=broken.line)
    raise InputError(
        "{path} line {line} cannot be read as a row of a table ({broken}). Close each quote, and double a quote inside "
        "a quoted cell.",
        path=path,
        line=broken.line,
        broken=broken,
    )


def _of_pipes(text: str) -> Iterator[tuple[int, list[str]]]:
    """A table as a page in Markdown has it: `| vcpus | throughput |`."""
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.strip()
        if plain and not _RULE.fullmatch(plain):
            yield number, plain.removeprefix(PIPE).removesuffix(PIPE).split(PIPE)


class _BrokenRecord(Exception):
    """What csv says of a record, and the line on which that begins."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def _parsed(text: str, delimiter: str, strict: bool) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict, skipinitialspace=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise _BrokenRecord(line, str(error)) from None


def _header(cells: Sequence[str], where: Message, names: Collection[str]) -> list[str]:
    """The name of each column; that of one without a name is empty."""
    if len(cells) > MOST_COLUMNS:
        raise InputError(
            "{where}: the header has {cells} columns, and at most {most} are read; remove those that are not needed.",
            where=where,
            cells=f"{len(cells):,}",
            most=f"{MOST_COLUMNS:,}",
        )
    by_name = {name.lower(): name for name in names}
    columns = [by_name.get(name.lower(), name) for name in (unharmed(_shortened(cell.strip())) for cell in cells)]
    twice = [name for name, count in Counter(columns).items() if count > 1 and name]
    if twice:
        raise InputError(
            "{where}: two columns are named {name}; remove or rename one of them.",
            where=where,
            name=quoted(twice[0]),
        )
    return columns


def _row(cells: Sequence[str], columns: Sequence[str], where: Message, line: int, delimiter: str) -> Row:
    if any(cell.strip() for cell in cells[len(columns) :]):
        raise InputError(
            "{where}: {cells} cells, but the header has {columns} columns; {advice}.",
            where=where,
            cells=len(cells),
            columns=len(columns),
            advice=_advice(cells, delimiter),
        )
    if len(cells) < len(columns):
        raise InputError(
            "{where}: {cells} cells, but the header has {columns} columns; leave nothing between two commas for an "
            "empty cell.",
            where=where,
            cells=len(cells),
            columns=len(columns),
        )
    read = {column: unharmed(_shortened(cell.strip())) for column, cell in zip(columns, cells, strict=False)}
    if read.pop("", ""):
        raise InputError("{where}: a cell is in a column without a name; name it in the header.", where=where)
    return Row(where, line, read)


def _shortened(cell: str) -> str:
    """A cell without what is too much of it; the mark behind what is left makes it no number."""
    return cell if len(cell) <= LONGEST_CELL else f"{cell[: LONGEST_CELL - 1]}…"


def _advice(cells: Sequence[str], delimiter: str) -> Message:
    """For a row that is too long: most often a number has a comma in it."""
    numbers = sum(cell.strip().isdigit() for cell in cells)
    if delimiter == "," and numbers == len([cell for cell in cells if cell.strip()]):
        return Message("write a decimal point, as in 1.5")
    return Message("put a cell that contains a comma in quotes, or name the column")


FORMULA = "=+@\uff1d\uff0b\uff0d\uff20-"
"""What a formula begins with in one spreadsheet or another, also as a full-width character (OWASP, "CSV injection")."""

SPLITTING = ";|"
"""At which a spreadsheet that is set to another language or delimiter begins a cell in the middle of ours."""

_BEGINNING = rf"(?:^|(?<=[{SPLITTING}]))"
_FORMULA_FOLLOWS = rf"(?=[{SPLITTING}'\s]*[{FORMULA}])"
UNGUARDED = re.compile(_BEGINNING + _FORMULA_FOLLOWS)
GUARDED = re.compile(f"{_BEGINNING}'{_FORMULA_FOLLOWS}")


def harmless(text: str) -> str:
    """Text in one line, with an apostrophe wherever a spreadsheet would take what follows for a formula."""
    return UNGUARDED.sub("'", printable(text))


def unharmed(text: str) -> str:
    """The way back from `harmless`: without the apostrophes before what would be a formula."""
    return GUARDED.sub("", text)
