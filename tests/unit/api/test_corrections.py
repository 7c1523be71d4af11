"""What a study of probed runs concludes, and says of it."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from simulated_noise import Host, Job, study

from sizer.api import events
from sizer.api.concluding import conclude
from sizer.api.fitted_model import open_study, with_corrections
from sizer.cli import main
from sizer.cli.event_lines import EventPrinter
from sizer.exchange import write_csv
from sizer.exchange.imported import read_measurements
from sizer.exchange.measurements import PROBE_COLUMNS
from sizer.model import NoCorrection, Uncorrected
from sizer.records import GIB, Study, Workload, WorkloadPlan
from sizer.store import StudyFolder
from sizer.words import corrections_in_words, uncorrected_in_words

VCPUS = (0.5, 1.0, 2.0)
SENTENCE = "were corrected for the noise of the host, by"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A study on a noisy host."""
    runs = study([Job("train")], VCPUS, 3, 10.0, Host(0.06, 0.05), np.random.default_rng(0))
    plan = WorkloadPlan(Workload("train", "imagenet_preprocessing"), (32,), VCPUS)
    with StudyFolder.create(
        tmp_path / "s", Study("s", (plan,), probe=True), {"cpus": 2, "memory_bytes": 8 * GIB}
    ) as stored:
        for run in runs:
            stored.add(run)
    return tmp_path / "s"


def test_rates_are_corrected_and_it_is_said_by_how_much(folder: Path) -> None:
    """On the terminal and on the page; each run's card has both rates."""
    stored = open_study(folder)
    found = conclude(stored)
    assert len(found.corrections) == 9
    assert SENTENCE in corrections_in_words(found.corrections)
    page = (folder / "report.html").read_text()
    assert SENTENCE in page
    assert "Without the host" in page
    rates = {rate.configuration.vcpus: rate.throughput for rate in found.model.workloads[0].measured.rates}
    for run in with_corrections(stored):
        assert run.correction is not None
        seen = rates[run.configuration.vcpus]
        assert seen.low <= run.correction.throughput.value <= seen.high


def test_a_study_without_probes_concludes_from_rates_as_measured(folder: Path) -> None:
    """Without `probe: true` in the folder's own study file everything is computed again."""
    conclude(open_study(folder))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace(", probe: true", ""))
    assert not open_study(folder).study.probe
    found = conclude(open_study(folder))
    assert found.corrections == ()
    assert SENTENCE not in (folder / "report.html").read_text()
    spread = [math.log(rate.throughput.high / rate.throughput.low) for rate in found.model.workloads[0].measured.rates]
    (folder / "study.yaml").write_text(text)
    again = conclude(open_study(folder))
    tighter = [math.log(rate.throughput.high / rate.throughput.low) for rate in again.model.workloads[0].measured.rates]
    assert sum(tighter) < sum(spread)


def test_what_was_stored_of_a_correction_counts_only_with_the_probe(folder: Path) -> None:
    """Runs keep both rates and the probe; without `probe: true` the table and every conclusion are those of runs that
    never had one, but for what the probe cost."""
    stored = open_study(folder)
    with stored.locked():
        for run in with_corrections(stored):
            stored.add(run)
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace(", probe: true", ""))
    assert all(run.correction is not None for run in open_study(folder).runs())
    found = conclude(open_study(folder))
    table = list(csv.DictReader(io.StringIO((folder / "measurements.csv").read_text())))
    stored = open_study(folder)
    with stored.locked():
        for run in stored.runs():
            stored.add(replace(run, probe=None, correction=None))
    without = conclude(open_study(folder))
    assert (found.model, found.recommendation) == (without.model, without.recommendation)
    bare = list(csv.DictReader(io.StringIO((folder / "measurements.csv").read_text())))
    assert all(row[column] == "" for row in bare for column in PROBE_COLUMNS)
    kept = [{name: cell for name, cell in row.items() if not name.startswith("probe_")} for row in table]
    assert kept == [{name: cell for name, cell in row.items() if not name.startswith("probe_")} for row in bare]


def test_the_table_has_the_rate_as_measured_and_the_corrected_one(folder: Path) -> None:
    """And what the probe cost; sizer's own table is read again without a word, and its rates are those measured."""
    conclude(open_study(folder))
    rows = list(csv.DictReader(io.StringIO((folder / "measurements.csv").read_text())))
    for run, row in zip(with_corrections(open_study(folder)), rows, strict=True):
        assert run.throughput is not None
        assert run.correction is not None
        assert run.probe is not None
        assert float(row["throughput"]) == run.throughput.value
        assert float(row["throughput_corrected"]) == run.correction.throughput.value
        assert float(row["probe_reads_ms"]) == pytest.approx(1000 * (run.probe.during or 0))
        assert 0.1 < float(row["probe_products_ms"]) < 0.3
        assert float(row["probe_share"]) == run.probe.share
    found = read_measurements(folder / "measurements.csv", None)
    assert found.unknown == ()
    assert write_csv(found.runs).splitlines()[0].endswith(",".join(PROBE_COLUMNS))
    again = list(csv.DictReader(io.StringIO(write_csv(found.runs))))
    assert [row["throughput_corrected"] for row in again] == [row["throughput_corrected"] for row in rows]


def test_runs_of_a_sizer_before_have_nothing_to_correct(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their files say nothing of a probe; where it was asked for, the terminal, `sizer status` and the page say so."""
    stored = open_study(folder)
    with stored.locked():
        for run in stored.runs():
            stored.add(replace(run, probe=None))
    found = conclude(open_study(folder))
    assert found.corrections == ()
    (said,) = map(uncorrected_in_words, found.uncorrected)
    assert said == (
        "The rates of `train` are as measured, not corrected for the noise of the host: its runs were made without the "
        "probe."
    )
    printed: list[str] = []
    printer = EventPrinter()
    printer._progress.say = printed.append  # type: ignore[method-assign]
    printer(events.Concluded(found, folder / "report.html"))
    assert said in printed
    assert said.replace("`train`", "<code>train</code>") in (folder / "report.html").read_text()
    assert main(["status", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["uncorrected"] == [
        {"workload": "train", "why": "no_probe", "runs": 9, "telling": 0}
    ]
    assert main(["status", str(folder)]) == 0
    assert said in capsys.readouterr().out


def test_nothing_is_said_of_a_probe_that_corrects_or_that_nobody_asked_for(folder: Path) -> None:
    """Neither on the terminal nor on the page."""
    assert conclude(open_study(folder)).uncorrected == ()
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace(", probe: true", ""))
    assert conclude(open_study(folder)).uncorrected == ()
    assert "not corrected for the noise" not in (folder / "report.html").read_text()


@pytest.mark.parametrize("why", NoCorrection)
def test_each_reason_is_one_plain_sentence(why: NoCorrection) -> None:
    """Without a blank that was not filled in."""
    said = uncorrected_in_words(Uncorrected("train", why, 6, 4, 1, 5))
    assert said.startswith("The rates of `train` are as measured, not corrected for the noise of the host: ")
    assert said.count(".") == 1
    assert said.endswith(".")
    assert "{" not in said
