"""What older versions stored becomes what is stored now, by `script/convert_study.py`: kinds with their figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import convert_study
import pytest
import yaml
from convert_study import FLOOR_SEARCH

from sizer.cli import main
from sizer.files.codec import FormatError, from_json
from sizer.records.messages import InputError
from sizer.records.run import Run
from sizer.records.run_kinds import Purpose
from sizer.store.stored_runs import run_from_json
from sizer.store.study_folder import StudyFolder
from sizer.words.language import in_words
from tests import ROOT

STORED = ROOT / "tests" / "stored"
RUN = "runs/f991df459cb2.json"
CASES = yaml.safe_load(Path(__file__).with_name("converted.yaml").read_text("utf-8"))
BUSY = {"disk_iops": 0.91, "cpu": 0.97}


def converted(**changes: Any) -> Run:
    """The run that schema 1 stored, changed, as this sizer reads it."""
    form = json.loads((STORED / "unconverted" / RUN).read_text())
    return from_json(Run, convert_study.converted_run({**form, **changes}), "a run")


def without_empty(form: Any) -> Any:
    """Without what is empty."""
    if isinstance(form, list):
        return [without_empty(item) for item in form]
    if not isinstance(form, dict):
        return form
    return {name: without_empty(value) for name, value in form.items() if value not in (None, "", [], {})}


@pytest.mark.parametrize("case", [case | {"of": of} for of in CASES for case in CASES[of]])
def test_a_sentence_becomes_its_kind(case: dict[str, Any]) -> None:
    """With its figures, and the text that was not sizer's own; sizer reads what it becomes."""
    sentence = case["stored"]
    if case["of"] == "warnings":
        form = convert_study.warning_of(sentence)
        converted(warnings=[sentence])
    elif case["of"] == "errors":
        form = convert_study.failure_of(sentence)
        converted(outcome="crashed", error=sentence)
    else:
        evidence = {"bottleneck": "cpu", "busy": BUSY, "reason": sentence}
        form = convert_study.converted_run({"schema_version": 1, "evidence": evidence})["evidence"]
        form = {name: value for name, value in form.items() if name not in ("bottleneck", "busy")}
        converted(evidence=evidence)
    assert without_empty(form) == case["becomes"]


def test_a_table_has_kinds_in_the_end() -> None:
    """Whatever wrote it: some sentences hold the mark that joins them. A table of kinds stays as it is."""
    cells = "; ".join([*(case["stored"] for case in CASES["warnings"]), "contended", FLOOR_SEARCH])
    table = f'rate,warnings\n1,"{cells}"\n2,\n'
    kinds = "; ".join([*(case["becomes"]["kind"] for case in CASES["warnings"]), "contended", "floor_search"])
    assert convert_study.converted_table(table) == f"rate,warnings\n1,{kinds}\n2,\n"
    assert convert_study.converted_table('rate,note\n"1",a\n') == 'rate,note\n"1",a\n'


@pytest.mark.parametrize(
    ("spec", "warnings", "purpose"),
    [
        ({}, [], Purpose.ASKED),
        ({"repeat": 2}, [], Purpose.REPEAT),
        ({"repeat": 3}, [], Purpose.REFERENCE),
        ({"isolates": "disk"}, [], Purpose.ISOLATES_DISK),
        ({"isolates": "cache"}, [], Purpose.TWO_EPOCHS),
        ({}, [FLOOR_SEARCH, "short: stopped at the deadline after 3 s of steady state"], Purpose.FLOOR_SEARCH),
    ],
)
def test_why_a_run_was_made_becomes_one_field(spec: dict[str, Any], warnings: list[str], purpose: Purpose) -> None:
    """It was told by the stage, by the repeat, and by a warning."""
    form = json.loads((STORED / "unconverted" / RUN).read_text())
    run = converted(warnings=warnings, spec={**form["spec"], **spec})
    assert run.spec.purpose is purpose
    assert [warning.kind.value for warning in run.warnings] == ["short"] * (len(warnings) > 1)


@pytest.mark.parametrize(
    "form",
    [
        {"untold": "vcpus", "spec": None, "configuration": {}},
        {"untold": ["vcpus"], "spec": 3},
        {"evidence": {"reason": 3, "busy": {}}},
        {"error": 5},
    ],
)
def test_what_is_no_run_is_left_to_its_reader(form: dict[str, object]) -> None:
    """Nothing but its own columns is taken from it."""
    left = {key: value for key, value in form.items() if key != "untold"}
    assert convert_study.converted_run({**form, "schema_version": 1}).items() >= {**left, "schema_version": 2}.items()


def test_a_folder_is_named_until_it_is_converted(unconverted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Then its figures are what they were, and a second time changes nothing."""
    with pytest.raises(InputError) as refused:
        StudyFolder.open(unconverted)
    assert in_words(refused.value).endswith(f"source: python convert_study.py {unconverted}")
    before = json.loads((unconverted / RUN).read_text())
    with pytest.raises(FormatError, match=r"^a run was stored by an older sizer\. Convert its study folder once"):
        run_from_json(before, "a run")
    assert convert_study.main([str(unconverted)]) == 0
    assert convert_study.main([str(unconverted)]) == 0
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["4", "0"]
    assert (unconverted / "study.yaml").read_text() == (STORED / "version_1" / "study.yaml").read_text()
    for stored, name in (("version_1", RUN), ("version_1_imported", "runs/95f596036c6c.json")):
        assert (unconverted / name).read_text() == (STORED / stored / name).read_text()
    folder = StudyFolder.open(unconverted)
    assert folder.problems() == ()
    assert folder.notes[0].text.startswith("Imported from table.csv, 8 rows")
    (run,) = (run for run in folder.runs() if run.spec.workload.name == "train")
    assert (run.throughput.value, run.throughput.low) == (before["throughput"]["value"], before["throughput"]["low"])
    assert main(["status", str(unconverted)]) == 0


def test_lines_of_runs_are_converted_one_by_one(tmp_path: Path) -> None:
    """As benchmarks keep them; the first runs of schema 2 had their limits as a sentence."""
    form = json.loads((STORED / "version_2" / "runs" / "240e8a61a5ce.json").read_text())
    lines = tmp_path / "runs.jsonl"
    lines.write_text("".join(json.dumps({**form, "limited_by": text}) + "\n" for text in ("cgroup v1: cpuset 0", "")))
    assert convert_study.convert(lines) == 1
    first, second = (run_from_json(json.loads(line), "a line").limited_by for line in lines.read_text().splitlines())
    assert (first.kind.value, first.text, second) == ("other", "cgroup v1: cpuset 0", None)


@pytest.mark.parametrize("arguments", [[], ["nowhere"]])
def test_what_cannot_be_converted_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """With what to type."""
    assert convert_study.main(arguments) == 2
    assert "study folder" in capsys.readouterr().err
