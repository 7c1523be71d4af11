"""Every sentence about a small table, printed, in JSON and on the page: nothing that its rows give no ground for.

Nobody varied the vCPUs of a table of GPUs, so nothing is said of them; and what is many times as much is no percentage.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from sizer.cli import main

TABLES: Mapping[str, str] = {
    "GPU counts": "gpu,gpu_count,throughput\nV100,1,383\nV100,2,750\nV100,4,1480\nV100,8,2850\nK80,1,52\nK80,8,390",
    "two counts": "gpu,gpu_count,throughput\nV100,1,100\nV100,8,790",
    "GPUs and batch sizes": "gpu,batch_size,throughput\n"
    "V100,1,40\nV100,16,320\nV100,32,350\nV100,64,370\nT4,1,60\nT4,16,120\nT4,64,128",
    "batch sizes": "batch_size,throughput\n1,10\n8,60\n32,90\n128,95",
    "disks": "disk,throughput\nnvme,671\nssd,668\nhdd,70",
    "memory": "memory_gib,throughput\n2,20\n4,90\n8,200\n16,204",
    "instance types": "instance_type,usd_per_hour,throughput\na,0.1,10\nb,30,1000\nc,1,20",
    "a CPU among GPUs": "gpu,gpu_count,throughput\ncpu,1,9\nV100,1,1077\nV100,4,4000",
    "GPUs and a slip": "gpu,throughput\nK80,9\nT4,100\nT4,19\nT4,190\nV100,400",
    "whole machines": "vcpus,gpu,gpu_count,throughput\n72,,0,197\n36,,0,120\n8,,0,30\n2,,0,9\n8,V100,1,1077",
}
ANYWHERE = {
    "a negative percentage": r"(?<![\w%–])-\d[\d,.]* ?%",
    "a CPU as an accelerator": r"\b\d+ [x×] (?:cpu|none)\b",
    "a figure that is none": r"\bNone\b(?! of)|\bnan\b|\binf\b|\(\)",
    "an interval of nothing": r"±0(?:\.0)? %",
    "an empty chart": r"No axis was varied",
}
WITHOUT_VCPUS = {
    # On the page `Bound by` heads a column, before `Cost`.
    "what binds, though no vCPU was told": r"\b(?:serial|bound by(?!\s*Cost)|on the CPU|CPU \d)",
    "advice about vCPUs": r"vCPU values?|measure[^.\n]*vCPU",
}
LARGEST_PERCENTAGE = 300


def _faults(text: str, table: str) -> list[str]:
    """What is wrong with a text about a table, each with the words around it."""
    told = "vcpus" in TABLES[table]
    patterns = ANYWHERE | ({} if told else WITHOUT_VCPUS)
    found = [
        f"{name}: {text[max(0, match.start() - 60) : match.end() + 40]!r}"
        for name, pattern in patterns.items()
        for match in re.finditer(pattern, text, 0 if name == "a figure that is none" else re.IGNORECASE)
    ]
    shares = (match[1] for match in re.finditer(r"(\d[\d,]*(?:\.\d+)?) ?%", text))
    return found + [f"{each} %" for each in shares if float(each.replace(",", "")) > LARGEST_PERCENTAGE]


@pytest.fixture(scope="module", params=TABLES)
def table(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def study(table: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("table")
    header, *rows = TABLES[table].splitlines()
    lines = [f"workload,{header}", *(f"job,{row}" for row in rows)]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    assert main(["import", str(folder / "table.csv"), "--out", str(folder / "study")]) == 0
    return folder / "study"


def _texts(form: Any) -> Iterator[str]:
    """Every text anywhere in a form."""
    if isinstance(form, str):
        yield form
    elif isinstance(form, dict | list):
        for each in form.values() if isinstance(form, dict) else form:
            yield from _texts(each)


@pytest.mark.parametrize("prefer", ["cheapest", "fastest"])
def test_an_answer(study: Path, table: str, prefer: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For a person and for a program."""
    capsys.readouterr()
    assert main(["recommend", str(study), "--objective", prefer]) == 0
    assert main(["recommend", str(study), "--objective", prefer, "--json"]) == 0
    printed, _, answer = capsys.readouterr().out.partition("\n{\n")
    (found,) = json.loads("{" + answer)["workloads"]
    assert _faults(printed, table) == []
    assert _faults("\n".join(_texts(found)), table) == []
    assert found["bottleneck"] is None
    assert not any("vcpu" in json.dumps(each).lower() for each in found["reasons"] if "vcpus" not in TABLES[table])


def test_a_prediction(study: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At the best configuration that was measured."""
    capsys.readouterr()
    assert main(["predict", str(study)]) == 0
    assert _faults(capsys.readouterr().out, table) == []
    assert main(["predict", str(study), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["predictions"]
    if "vcpus" not in TABLES[table]:
        assert (found["bottleneck"], found["shares"]) == ("ambiguous", {})


def test_the_page(study: Path, table: str) -> None:
    """Every text of it, the charts' too."""
    page = (study / "report.html").read_text("utf-8")
    page = re.sub("<style.*?</style>|<script.*?</script>", "", page, flags=re.DOTALL)
    assert _faults(html.unescape(re.sub("<[^>]*>", "\n", page)), table) == []


@pytest.mark.parametrize(
    "text",
    [
        "costs -5 % more",
        "2,638 % more",
        "at 690 % of its rate",
        "recommended 1 x cpu",
        "There it is bound by its serial part",
        "shares: CPU 99 %",
        "Measure `job` at three vCPU values or more.",
        "480 samples/s ±0.0 %",
        "measured at 0 of them ()",
    ],
)
def test_what_would_be_found(text: str) -> None:
    """What was once printed about such tables."""
    assert _faults(text, "GPU counts")
