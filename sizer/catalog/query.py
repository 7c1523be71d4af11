"""Questions to the catalogue in SQL: read only, of one table, and for a limited time."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sizer.catalog.gpus import SEVERAL_SIZES, compare_gpus
from sizer.records.messages import InputError

FUNCTIONS = re.compile("abs|coalesce|glob|ifnull|iif|instr|length|like|lower|max|min|nullif|round|substr|upper")
"""Those that an expression may call: none makes a value that is larger than its arguments."""
SECONDS = 5.0
_STEPS = 1000
"""Of SQLite's machine between two looks at the clock."""
_TWO = ", ".join(f"'{name}'" for name in SEVERAL_SIZES)
_SIZED = f"iif(gpu in ({_TWO}) and gpu_memory_gib > 0, gpu || '-' || cast(gpu_memory_gib as integer) || 'GB', gpu)"
"""The GPU of a row with its memory, where that makes it another GPU."""


def rows_where(
    database: sqlite3.Connection, selection: str, columns: Sequence[str], expression: str
) -> list[tuple[Any, ...]]:
    """The rows of a selection of `instances` for which the expression holds on its columns; `gpu` is the same as any
    name of it.

    InputError says what is wrong with the expression.
    """
    database.create_collation("same_gpu", compare_gpus)
    named = ", ".join(f"{_SIZED} collate same_gpu as gpu" if name == "gpu" else f'"{name}"' for name in columns)
    rows = f"select rowid as place, {named} from instances"
    asked = f"select place from ({rows}) where case when (\n{expression}\n) then 1 end"
    with _limited(database):
        try:
            return database.execute(f"{selection} where rowid in ({asked})").fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            reason = f"longer than {SECONDS:g} s" if "interrupted" in str(error) else str(error)
            raise InputError(
                "`{expression}` cannot be asked ({reason}); write a condition on columns, such as gpu = 'L4' and "
                "vcpus >= 8.",
                expression=expression,
                reason=reason,
            ) from None


@contextmanager
def _limited(database: sqlite3.Connection) -> Iterator[None]:
    """While nothing but reading is allowed, and that not for long."""
    end = time.monotonic() + SECONDS

    def allowed(action: int, one: str | None, other: str | None, *_rest: str | None) -> int:
        fine = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and one == "instances")
        called = action == sqlite3.SQLITE_FUNCTION and FUNCTIONS.fullmatch(other or "")
        return sqlite3.SQLITE_OK if fine or called else sqlite3.SQLITE_DENY

    database.set_authorizer(allowed)
    database.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    finally:
        database.set_authorizer(lambda *_action: sqlite3.SQLITE_OK)  # None means it from Python 3.11 on.
        database.set_progress_handler(None, 0)
