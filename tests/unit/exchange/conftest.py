"""Tables given as text, imported with the catalogue of sizer."""

from __future__ import annotations

from pathlib import Path

import pytest

from sizer.exchange.imported import Imported, read_measurements
from sizer.exchange.measurements import write_csv
from sizer.files.codec import from_json, to_json
from sizer.records.run import Run
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml
from tests.tables import Read, stored_catalog


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Import a table given as text; what is stored and exported comes back the same."""

    def imported(table: str, name: str = "table.csv") -> Imported:
        path = tmp_path / name
        path.write_bytes(table.encode())
        read = read_measurements(path, stored_catalog())
        assert parse_study(to_yaml(read.study), "study.yaml", None, HostSize(1, 1), None) == read.study
        for run in read.runs:
            assert from_json(Run, to_json(run), "run") == run
        exported = write_csv(read.runs)
        again = tmp_path / "again.csv"
        again.write_text(exported, encoding="utf-8")
        assert write_csv(read_measurements(again, stored_catalog()).runs) == exported
        return read

    return imported
