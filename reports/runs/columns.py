"""Which columns of a table have anything to say: imported tables lack many, and an empty column only takes room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def with_content(rows: Sequence[Mapping[str, Any]], *columns: str) -> list[str]:
    """Those of the columns in which some row says something."""
    return [column for column in columns if any(row[column] for row in rows)]
