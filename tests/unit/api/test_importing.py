"""A table becomes a study folder as a whole, or not at all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sizer.api.importing import write_study
from tests.tables import imported

TABLE = """
    workload,vcpus,throughput
    job,1,100
    job,2,190
"""


def test_no_run_is_written_over_another(tmp_path: Path) -> None:
    """Two that have one name are refused before any file is there, and nothing is left behind."""
    found = imported(tmp_path, TABLE)
    folder = tmp_path / "study"
    with pytest.raises(ValueError, match="two runs have one id"):
        write_study(folder, replace(found, runs=(*found.runs, found.runs[0])), tmp_path / "rates.csv")
    assert not folder.exists()


def test_each_row_is_one_file(tmp_path: Path) -> None:
    found = imported(tmp_path, TABLE)
    written = write_study(tmp_path / "study", found, tmp_path / "rates.csv")
    assert sorted(path.stem for path in (tmp_path / "study" / "runs").iterdir()) == sorted(r.id for r in found.runs)
    assert {run.throughput.value for run in written.runs() if run.throughput} == {100.0, 190.0}
