"""What a report is made from: the records of one study, and what was concluded from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizer.model import Model
from sizer.plan import Spread
from sizer.records import DiskCheck, Note, Recommendation, Run, Study


@dataclass(frozen=True)
class Material:
    """All that a page shows. `host` is host.json as stored, `notes` are about the whole study, `drift` is how far the
    host drifted meanwhile, None where it did not. `measurements_csv` and `measurements_json` are the table of all runs,
    which a reader can save.
    """

    study: Study
    host: Mapping[str, Any]
    runs: tuple[Run, ...]
    model: Model | None
    recommendation: Recommendation | None
    disk_checks: tuple[DiskCheck, ...]
    notes: tuple[Note, ...]
    created_at: str
    version: str
    drift: Spread | None = None
    measurements_csv: str = ""
    measurements_json: str = ""
