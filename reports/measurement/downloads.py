"""Files that the page carries, so that who has the page alone has the data, too."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import dataclass

from sizer.records.study import Study
from sizer.study.resolved import to_yaml

from ..material import Material


@dataclass(frozen=True)
class Download:
    """A file by name, as the address from which a browser saves it: compressed, so its name ends in `.gz`.

    The script of the page saves it under `plain`, uncompressed.
    """

    plain: str
    address: str
    kind: str

    @property
    def name(self) -> str:
        return f"{self.plain}.gz"


def downloads(material: Material) -> list[Download]:
    """The raw table as CSV and JSON; empty of a study without runs."""
    if not material.runs:
        return []
    stem = _file_name(material.study)
    return [
        _download(f"{stem}.csv", material.measurements_csv, "text/csv"),
        _download(f"{stem}.json", material.measurements_json, "application/json"),
    ]


def study_file(study: Study) -> str:
    """The study file that measures it again, with every default filled in; empty for an imported table."""
    return "" if study.imported else to_yaml(study)


def _download(name: str, text: str, kind: str) -> Download:
    packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
    return Download(name, f"data:application/gzip;base64,{packed}", kind)


def _file_name(study: Study) -> str:
    """Of the study's name what any file system takes."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", study.name).strip("-")[:60] or "study"
