"""What a report is made from: the records of one study, and what was concluded from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizer.model import Model
from sizer.records import DiskCheck, Recommendation, Run, Study


@dataclass(frozen=True)
class Material:
    """All that a page shows. `host` is host.json as it stands; `notes` are sentences about the whole study."""

    study: Study
    host: Mapping[str, Any]
    runs: tuple[Run, ...]
    model: Model | None
    recommendation: Recommendation | None
    disk_checks: tuple[DiskCheck, ...]
    notes: tuple[str, ...]
    created_at: str
    version: str
