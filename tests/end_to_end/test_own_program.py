"""A user's own program in a study, from the file to the report: its variables, its folder, what is run before it."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest

from tests.end_to_end.conftest import Typed

pytestmark = [pytest.mark.root, pytest.mark.slow]

SECRET = "hf_aBcDeFgH1234"
MINE = "/somewhere/mine"
PROGRAM = """
import os, sys, time
print("token", os.environ["HF_TOKEN"], "home", os.environ["MY_HOME"])
print(sys.argv[1:], open("once").read().split(), open("each").read().split())
size = int(sys.argv[1])
open("checkpoint", "a").write("x")
while True:
    time.sleep(0.05)
    print(f"rate {size * 1000}")
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study of two batch sizes, in a folder of the user's own."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "train.py").write_text(PROGRAM)
    (tmp_path / "study.yaml").write_text(
        textwrap.dedent(
            f"""\
            workloads:
              - name: mine
                kind: command
                command: [{sys.executable}, train.py, "{{batch_size}}", "{{threads}}"]
                pattern: 'rate (?P<rate>\\d+)'
                batch_size: [4, 8]
                cwd: work
                env: {{HF_TOKEN: {SECRET}, HERE: here}}
                pass_env: MY_*
                setup: [sh, -c, echo $HERE >> once]
                before: [sh, -c, "echo {{batch_size}}-{{repeat}} >> each"]
            axes: {{vcpus: [1]}}
            measure: {{repeats: 1, seconds: 0.5, precision: 0.5}}
            """
        )
    )
    return tmp_path / "study.yaml"


def written(folder: Path) -> str:
    """All that sizer wrote into the study folder."""
    return "\n".join(path.read_text(errors="replace") for path in folder.rglob("*") if path.is_file())


def test_it_is_measured_and_no_secret_is_kept(study: Path, typed: Typed, tmp_path: Path) -> None:
    """Neither in the folder, nor on the terminal, nor in what is exported; the study goes on with the variable."""
    planned = typed("run", str(study), "--out", "out", "--dry-run", MY_HOME=MINE)
    assert planned.returncode == 0, planned.stderr
    assert "sets: HERE=here, for `mine`" in planned.stdout
    assert "sets: HF_TOKEN, whose value is not shown, for `mine`" in planned.stdout
    assert "passes on: MY_* of your environment, to `mine`" in planned.stdout
    assert "before each run of `mine`" in planned.stdout
    done = typed("run", "study.yaml", "--out", "out", MY_HOME=MINE)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(path.read_text()) for path in (tmp_path / "out" / "runs").glob("*.json")]
    assert {run["spec"]["batch_size"]: round(run["throughput"]["value"], -3) for run in runs} == {4: 4000, 8: 8000}
    assert (tmp_path / "work" / "once").read_text() == "here\n"
    assert sorted((tmp_path / "work" / "each").read_text().split()) == ["4-1", "8-1"]
    assert all("checkpoint" in json.dumps(run["warnings"]) for run in runs)
    logs = [path.read_text() for path in (tmp_path / "out" / "logs").glob("*.log")]
    assert all(log.startswith("token [HF_TOKEN] home [MY_HOME]\n") for log in logs)
    exported = typed("export", "out", "--format", "json")
    for text in (written(tmp_path / "out"), planned.stdout, done.stdout, done.stderr, exported.stdout):
        assert SECRET not in text
        assert MINE not in text

    next((tmp_path / "out" / "runs").glob("*.json")).unlink()
    refused = typed("resume", "out")
    assert refused.returncode == 2
    assert "workload `mine`: the value of HF_TOKEN is not stored with the study" in refused.stderr
    again = typed("resume", "out", HF_TOKEN=SECRET, MY_HOME=MINE)
    assert again.returncode == 0, again.stderr
    assert len(list((tmp_path / "out" / "runs").glob("*.json"))) == 2
