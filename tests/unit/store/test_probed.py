"""A study folder of a development version, which corrected rates by a probe beside each run."""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from itertools import chain
from pathlib import Path
from statistics import median

import pytest

from sizer.api import read_study
from sizer.api.conclusions import conclude
from sizer.cli import main
from sizer.plan.run_order import plan, remaining
from sizer.records.errors import InputError
from sizer.store.study_folder import StudyFolder
from sizer.study.presets import recorded_size
from sizer.words.language import in_words


def test_its_runs_count_as_they_were_measured(probed: Path) -> None:
    """Whatever was taken off them; in the model, in the table and on the page."""
    stored = [json.loads(path.read_text()) for path in (probed / "runs").iterdir()]
    assert all(each["correction"]["throughput"] != each["throughput"] for each in stored)
    measured: dict[float, list[float]] = defaultdict(list)
    for each in stored:
        measured[each["configuration"]["vcpus"]].append(each["throughput"]["value"])
    folder = StudyFolder.open(probed)
    assert folder.problems() == ()
    (model,) = conclude(folder).model.workloads
    found = {rate.configuration.vcpus: rate.throughput.value for rate in model.measured.rates}
    assert found == {vcpus: median(rates) for vcpus, rates in measured.items()}
    rows = list(csv.DictReader(io.StringIO((probed / "measurements.csv").read_text())))
    assert sorted(float(row["throughput"]) for row in rows) == sorted(chain.from_iterable(measured.values()))
    assert "probe" not in (probed / "report.html").read_text().replace(probed.name, "")


def test_it_is_gone_on_with_and_loses_nothing(probed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is there is not planned again, and what is stored next names no probe."""
    folder = StudyFolder.open(probed)
    specs = plan(folder.study, recorded_size(folder.host))
    assert len(remaining(specs, folder.runs())) == len(specs) - 4
    assert main(["status", str(probed)]) == 0
    assert f"4 of {len(specs)} runs finished" in capsys.readouterr().out
    with StudyFolder.create(probed, folder.study, folder.host) as again:
        assert len(again.runs()) == 4
    assert "probe" not in (probed / "study.yaml").read_text()


def test_its_study_file_is_refused_for_another_folder(probed: Path) -> None:
    """As any that asks for what is gone: it says what to do."""
    with pytest.raises(InputError) as refused:
        read_study(probed / "study.yaml", None, recorded_size({"cpus": 2}))
    assert "study.yaml line 20: `probe` is not a key of `measure`; it no longer exists" in in_words(refused.value)
