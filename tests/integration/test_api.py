"""docs/api.md can be typed into a notebook, block after block."""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer import api
from sizer.catalog.catalog import Catalog
from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.model.starved import is_starved
from sizer.recommend.recommendation import recommend
from sizer.records.errors import InputError, NoAnswer
from sizer.records.run import Demand, LimitedBy, LimitedByKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.study import Objective, Study
from sizer.records.units import MIB
from sizer.store.study_folder import StudyFolder
from tests import ROOT

TEXT = (ROOT / "docs" / "api.md").read_text("utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.slow
def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a real study of two short runs: they are made, fitted, predicted, answered and written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIZER_CACHE", str(tmp_path / "cache"))
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/api.md", "exec"), names)
    assert len(names["plan"].todo) == 2
    assert set(names["rates"]) == {1.0, 2.0}
    assert len(names["runs"]) == 2
    assert names["prediction"].throughput.value > 0
    assert names["recommendation"].workloads[0].workload == "words"
    assert "<html" in (tmp_path / "notebook.html").read_text("utf-8")
    assert (tmp_path / "notebook/report.html").exists()


def test_it_names_every_event() -> None:
    """An event that is added is documented, or belongs to the import of a table."""
    events = {each.__name__ for each in api.events.Event.__args__}  # type: ignore[attr-defined]
    assert {name for name in events if not re.search(rf"\b{name}\b", TEXT)} == {
        "StepBegun",
        "TableRead",
        "TableImported",
    }


def test_what_it_uses_exists() -> None:
    """Every `api.name` and `events.Name` in the page is exported, and the page shows or names all of the face."""
    used = set(re.findall(r"\bapi\.(\w+)", TEXT)) - {"md"}
    assert used <= set(api.__all__)
    assert set(re.findall(r"\bevents\.(\w+)", TEXT)) <= set(api.events.__all__)
    assert {name for name in api.__all__ if not re.search(rf"\b{name}\b", TEXT)} == set()


def test_reading_an_old_study_prints_nothing(first_version: Path, tmp_path: Path) -> None:
    """Fit, predict, recommend and report of a stored study, with all output of the process caught."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        folder = api.open_study(first_version)
        model = api.fit(folder)
        recommendation = api.recommend(folder, model=model)
        page = api.write_report(folder, tmp_path / "page.html")
    assert said.getvalue() == ""
    assert len(recommendation.workloads) == len(model.workloads)
    assert page.exists()
    with pytest.raises(InputError, match="has no runs in this study"):
        api.predict(model, "nobody")


def test_a_folder_without_runs_has_no_model(make_run: Any, tmp_path: Path) -> None:
    """NoAnswer, whose sentence says what to type."""
    run: Run = make_run(1.0)
    study = Study("empty", (api.parse_study("workloads: [{kind: lstm_training}]").workloads[0],))
    with StudyFolder.create(tmp_path / "empty", study, {"cpus": int(run.configuration.vcpus)}) as folder:
        pass
    with pytest.raises(NoAnswer, match="has no runs yet"):
        api.fit(folder)


@pytest.mark.filterwarnings("error")
def test_runs_of_a_busy_host_alone_are_told_without_a_warning(make_run: Any) -> None:
    """Where others used the CPUs all the time there is no rate to learn from; numpy says nothing about that."""
    demand = Demand(core_seconds=0.009, cpu_stall=0.004)
    runs = [replace(make_run(50.0 * vcpus, vcpus, demand=demand), other_cores=1.0) for vcpus in (1.0, 2.0)]
    assert all(map(is_starved, runs))
    (model,) = fit(runs).workloads
    assert predict(model, runs[0].configuration).throughput.value == pytest.approx(50, rel=0.05)


def test_a_job_that_hardly_waits_for_a_cpu_is_not_starved(make_run: Any) -> None:
    """One that sleeps has its vCPUs on a full host, too, as the kernel tells; where it does not, nobody knows."""
    on_full_host = LimitedBy(LimitedByKind.SIZER, host_cpus=2)
    for stall, starved in ((0.0002, False), (0.01, True), (None, True)):
        run = make_run(50.0, 1.0, demand=Demand(core_seconds=0.0005, cpu_stall=stall))
        assert is_starved(replace(run, other_cores=1.96, limited_by=on_full_host)) is starved


def test_memory_caps_are_compared_on_a_busy_host(make_run: Any) -> None:
    """A cap holds the job or kills it whoever has the CPUs; its rate is told as a lower bound."""
    held = make_run(30.0, memory=512 * MIB, capped=True, demand=Demand(core_seconds=0.02, cpu_stall=0.01))
    held = replace(held, other_cores=1.0)
    killed = make_run(None, memory=64 * MIB, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    assert is_starved(held)
    (answer,) = recommend(fit([killed, held]), [killed, held], Objective(), Catalog.load()).workloads
    assert (answer.status, answer.provisional) == ("recommended", True)
    assert {"runs_starved", "few_memory_caps"} <= {each.code.value for each in answer.reasons}
