"""How runs that schema 1 stored are read: its sentences become kinds. Frozen: nothing writes schema 1 any more."""

from __future__ import annotations

from typing import Any

from sizer.store.schema_1_untold import without_untold


def upgraded(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a run as schema 2 writes it."""
    return {**without_untold(form), "schema_version": 2}
