"""docs/model.md shows what the model believes before any run."""

from __future__ import annotations

import beliefs


def test_the_page_has_the_tables_that_the_code_prints() -> None:
    """A number changed in one of them alone would mislead whoever reads the other."""
    page = beliefs.PAGE.read_text("utf-8")
    assert beliefs.tables() in page, "run: python script/beliefs.py"
