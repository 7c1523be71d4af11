"""A table of relative rates: what the work costs on one machine beside another, and no dollar a sample anywhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main

MACHINES = """workload,gpu,gpu_count,instance_type,usd_per_hour,relative_throughput
job,V100,1,one,3.06,1.0
job,T4,1,two,0.526,0.4
job,V100,4,three,12.24,3.6
"""
CURVE = """workload,gpu,vcpus,speedup
job,V100,1,1.0
job,V100,2,1.9
job,V100,4,3.5
job,V100,8,5.0
job,V100,16,5.2
"""


@pytest.fixture(scope="module", params=[MACHINES, CURVE], ids=["machines", "curve"])
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("relative")
    (folder / "table.csv").write_text(request.param)
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "study")]) == 0
    return folder / "study"


def _of_million(form: Any) -> Iterator[float | None]:
    """Every price of a million samples anywhere in a form."""
    if isinstance(form, dict):
        for name, value in form.items():
            if name.startswith("usd_per_million"):
                yield value
            yield from _of_million(value)
    elif isinstance(form, list):
        for each in form:
            yield from _of_million(each)


@pytest.mark.parametrize("objective", ["cheapest", "fastest", "balanced"])
def test_nobody_is_given_dollars_a_sample(study: Path, objective: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a program nor a person."""
    capsys.readouterr()
    main(["recommend", str(study), "--objective", objective, "--json"])
    prices = list(_of_million(json.loads(capsys.readouterr().out)))
    assert prices
    assert set(prices) == {None}
    main(["recommend", str(study), "--objective", objective])
    page = (study / "report.html").read_text("utf-8")
    for shown in (capsys.readouterr().out, re.sub("<style>.*?</style>|<script.*?</script>", "", page, flags=re.DOTALL)):
        assert " an hour" in shown
        assert "million" not in shown
        assert "relatives" not in shown
        assert "relative/s" not in shown


def test_the_least_cost_of_the_same_work_is_known(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of two machines with prices the ratio of costs needs no samples."""
    capsys.readouterr()
    main(["recommend", str(study), "--json"])
    (answer,) = json.loads(capsys.readouterr().out)["workloads"]
    of_machines = answer["spec"]["gpu"] == "T4"
    if of_machines:
        assert [each["instance_type"] for each in answer["alternatives"]] == ["two", "one", "three"]
    main(["recommend", str(study), "--objective", "fastest", "--json"])
    (answer,) = json.loads(capsys.readouterr().out)["workloads"]
    assert answer["throughput"]["value"] == pytest.approx(3.6 if of_machines else 5.2, rel=0.05)


def test_how_long_a_job_takes_does_not_follow(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with what to add, and not computed as if a relative rate were samples a second."""
    capsys.readouterr()
    assert main(["recommend", str(study), "--samples", "100M", "--within", "100h"]) == 5
    shown = capsys.readouterr().out
    assert "rates are only relative to one another, so no time and no rate can be asked of them" in shown


def test_a_gate_on_the_price_of_a_sample_says_why_it_is_not_known(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["recommend", str(study), "--fail-if", "usd_per_million_samples>1"]) == 6
    assert "its rates are relative" in capsys.readouterr().err


def test_the_model_names_no_second(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters of rates are in multiples."""
    capsys.readouterr()
    main(["fit", str(study)])
    shown = capsys.readouterr().out
    assert "/s" not in shown
    assert " x (" in shown
