"""Tables and JSON, in and out: measurements made elsewhere, and what other programs read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.exchange.imported import Imported, read_measurements
    from sizer.exchange.imported_columns import READERS
    from sizer.exchange.measurements import write_csv, write_tables
    from sizer.exchange.published import no_prediction_form, prediction_form, recommendation_form
    from sizer.exchange.understanding import understood
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "READERS",
    "Imported",
    "no_prediction_form",
    "prediction_form",
    "read_measurements",
    "recommendation_form",
    "understood",
    "write_csv",
    "write_tables",
]
