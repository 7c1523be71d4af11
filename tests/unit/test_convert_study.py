"""What older versions stored becomes what is stored now, by `script/convert_study.py`: kinds with their figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import convert_study
import pytest
from convert_study import FLOOR_SEARCH

from sizer.cli import main
from sizer.files.codec import FormatError, from_json
from sizer.records.messages import InputError
from sizer.records.run import Cause, CauseKind, Failure, Run
from sizer.records.run_kinds import Purpose
from sizer.store.stored_runs import run_from_json
from sizer.store.study_folder import StudyFolder
from sizer.words.errors import in_words
from tests import ROOT

STORED = ROOT / "tests" / "stored"
RUN = "runs/f991df459cb2.json"
MIB = 2**20
BAND = "outside the 742 images/s to 1,780 images/s of most of its measurements"
THROTTLED = (
    "throttled: 97 % of CPU periods used up the quota of 1.5 vCPU, so it ran in slices: latencies are not those of a "
    "slower CPU"
)

SENTENCES = [
    ("contended: something else on this host used 0.31 cores meanwhile", "contended", {"cores": 0.31}, None),
    ("stolen: the hypervisor gave 0.31 cores to others meanwhile", "stolen", {"cores": 0.31}, None),
    ("overhead: sizer itself used 2.3 % of the workload's core-seconds", "overhead", {"share": 0.023}, None),
    (THROTTLED, "throttled", {"share": 0.97, "vcpus": 1.5}, None),
    (
        f"{THROTTLED}, and threads that wait for each other lose more than that",
        "throttled",
        {"share": 0.97, "vcpus": 1.5},
        None,
    ),
    ("page cache warm: 50 % of the data was resident before", "page_cache_warm", {"share": 0.5}, None),
    ("swapped: up to 3 MiB of its memory was in swap", "swapped", {"bytes": 3 * MIB}, None),
    (
        "memory rising: anonymous memory still rose at the end, by 1 MiB in 1,000 steps; a longer run needs more",
        "memory_rising",
        {"bytes": MIB},
        None,
    ),
    (
        "read amplified: the device gave 1.27 bytes for each byte asked for",
        "read_amplified",
        {"ratio": 1.27},
        None,
    ),
    (
        "writes unlimited: up to 120 MiB waited in the page cache, where this kernel's throttle does not see them; "
        "let the program sync as it writes",
        "writes_unlimited",
        {"bytes": 120 * MIB},
        None,
    ),
    (
        "two rates: 1.234e+04 images/s for 14 s, then 402; the later rate counts",
        "two_rates",
        {"before": 12340.0, "seconds": 14.0, "after": 402.0},
        None,
    ),
    (
        "imprecise: ±7.0 % after 30 s, where ±2.0 % was asked for",
        "imprecise",
        {"half_width": 0.07, "seconds": 30.0, "asked": 0.02},
        None,
    ),
    (
        "imprecise: ±inf % after 30 s, where ±2.0 % was asked for",
        "imprecise",
        {"seconds": 30.0, "asked": 0.02},
        None,
    ),
    ("short: stopped at the deadline after 30 s of steady state", "short", {"seconds": 30.0}, None),
    (
        "unsettled: the rate moved too slowly, or stalled too seldom, for this run to tell how far it may be off; "
        "measure for more seconds",
        "unsettled",
        {},
        None,
    ),
    (
        "steps joined: the program made so many steps that each one kept stands for 4 of them; writing an event costs "
        "it up to 0.1 ms, so let one event stand for several steps",
        "steps_joined",
        {"steps": 4.0},
        None,
    ),
    (
        "first epoch only: no later epoch was reached before the run ended, so the cache was not in use yet",
        "first_epoch",
        {},
        None,
    ),
    (
        "no epochs told: the program does not say when an epoch ends, so this may be the rate of its first",
        "no_epochs",
        {},
        None,
    ),
    (
        "part of an epoch: the run ended inside its second epoch; the cache serves more at the start of one",
        "part_of_epoch",
        {},
        None,
    ),
    (
        f"drifting: the reference configuration made 655 images/s here, {BAND}",
        "drifting",
        {"rate": 655.0, "low": 742.0, "high": 1780.0},
        "images",
    ),
    (
        "drifting: the reference configuration went from 742 images/s to 655 images/s (-11.7 %) while this run was "
        "measured between",
        "drifting",
        {"before": 742.0, "after": 655.0},
        "images",
    ),
    (
        f"drifting: around this run the reference configuration made 655 images/s, {BAND}",
        "drifting",
        {"level": 655.0, "low": 742.0, "high": 1780.0},
        "images",
    ),
    (
        "data set changed: its data set /data/x.rec is no longer there: put it back",
        "data_gone",
        {},
        "/data/x.rec",
    ),
    (
        "data set changed: of its data set /data only 1 MiB of 2 MiB are still there: put the rest back",
        "data_partly_gone",
        {"bytes": MIB, "whole": 2 * MIB},
        "/data",
    ),
    (
        "left behind: /dev/shm/a, /dev/shm/b and 2 more, 2 MiB of memory; remove what no other program uses",
        "memory_left",
        {"more": 2.0, "bytes": 2 * MIB},
        "/dev/shm/a, /dev/shm/b",
    ),
    (
        "left behind: processes 4711 do not die",
        "left_behind",
        {},
        "processes 4711 do not die",
    ),
    (
        "log incomplete: /s/logs/1.log could not be written (No space left on device); make room there",
        "log_incomplete",
        {},
        "/s/logs/1.log (No space left on device)",
    ),
    ("odd: nobody wrote this", "other", {}, "odd: nobody wrote this"),
    (
        "contended: something else on this host used 1.2.3 cores meanwhile",
        "contended",
        {},
        "contended: something else on this host used 1.2.3 cores meanwhile",
    ),
    ("short: of an older sizer", "short", {}, "short: of an older sizer"),
]


@pytest.mark.parametrize(("sentence", "kind", "figures", "text"), SENTENCES)
def test_a_warning_becomes_its_kind(sentence: str, kind: str, figures: dict[str, float], text: str | None) -> None:
    """With the figures that the sentence had, and the text that was not sizer's own."""
    assert convert_study.warning_of(sentence) == {"kind": kind, "figures": pytest.approx(figures), "text": text}


def test_a_table_has_kinds_in_the_end() -> None:
    """Whatever wrote it: some sentences hold the mark that joins them. A table of kinds stays as it is."""
    cells = "; ".join([*(sentence for sentence, *_ in SENTENCES), "contended", FLOOR_SEARCH])
    table = f'rate,warnings\n1,"{cells}"\n2,\n'
    kinds = "; ".join([*(kind for _, kind, *_ in SENTENCES), "contended", "floor_search"])
    assert convert_study.converted_table(table) == f"rate,warnings\n1,{kinds}\n2,\n"
    assert convert_study.converted_table('rate,note\n"1",a\n') == 'rate,note\n"1",a\n'


def converted(**changes: Any) -> Run:
    """The run that schema 1 stored, changed, as this sizer reads it."""
    form = json.loads((STORED / "unconverted" / RUN).read_text())
    return from_json(Run, convert_study.converted_run({**form, **changes}), "a run")


ERRORS: list[tuple[str, Failure]] = [
    ("the process could not be put under its limits", Failure(Cause(CauseKind.NOT_LIMITED))),
    ("killed by the kernel: the memory cap is below what the workload needs", Failure(Cause(CauseKind.MEMORY_CAP))),
    ("killed by the kernel: the host's memory is below what the workload needs", Failure(Cause(CauseKind.HOST_MEMORY))),
    (
        "the pattern cannot be matched with the log: it took more than 2 s of CPU time for one read; avoid nested "
        "repetition; its last words:\na\nb",
        Failure(Cause(CauseKind.SLOW_PATTERN, {"seconds": 2.0}), (), "a\nb"),
    ),
    (
        "the workload ended with exit status 3; the event pipe broke its form: a step whose time is 1; write "
        "time.monotonic()",
        Failure(
            Cause(CauseKind.EXIT_STATUS, {"status": 3.0}),
            (Cause(CauseKind.BROKEN_EVENTS, text="a step whose time is 1; write time.monotonic()"),),
        ),
    ),
    ("stopped by Ctrl-C or a signal before it was measured", Failure(Cause(CauseKind.INTERRUPTED))),
    ("the framework or device is not available here", Failure(Cause(CauseKind.UNSUPPORTED))),
    ("the program was not found or may not be executed", Failure(Cause(CauseKind.NOT_FOUND))),
    ("the workload was killed by signal 9 (SIGKILL)", Failure(Cause(CauseKind.SIGNAL, {"signal": 9.0}))),
    ("the workload ended with exit status 137 (SIGKILL)", Failure(Cause(CauseKind.EXIT_STATUS, {"status": 137.0}))),
    ("the workload ended with exit status None", Failure(Cause(CauseKind.EXIT_STATUS))),
    (
        "not enough steps before the deadline of 120 s: 3 steps, the last one 1.5 s before its end; its process is "
        "stopped (SIGSTOP); it had closed its event pipe; its data set /d is no longer there: put it back",
        Failure(
            Cause(CauseKind.DEADLINE, {"seconds": 120.0}),
            (
                Cause(CauseKind.STEPPED, {"steps": 3.0, "silent_seconds": 1.5}),
                Cause(CauseKind.STOPPED),
                Cause(CauseKind.PIPE_CLOSED),
                Cause(CauseKind.DATA_GONE, text="/d"),
            ),
        ),
    ),
    (
        "hung: 1 step, then none for the last 60.0 s of its 120 s",
        Failure(Cause(CauseKind.HUNG, {"steps": 1.0, "silent_seconds": 60.0, "seconds": 120.0})),
    ),
    (
        "the workload ended without enough steps to measure a rate: it wrote no event; one that writes none can be "
        "measured by a `pattern` on its log",
        Failure(Cause(CauseKind.TOO_FEW_STEPS), (Cause(CauseKind.NO_EVENT),)),
    ),
    (
        "the workload ended without enough steps to measure a rate: no line of its log matched the pattern",
        Failure(Cause(CauseKind.TOO_FEW_STEPS), (Cause(CauseKind.NO_MATCH),)),
    ),
    (
        "the workload ended without enough steps to measure a rate: it wrote its start and no step",
        Failure(Cause(CauseKind.TOO_FEW_STEPS), (Cause(CauseKind.NO_STEP),)),
    ),
    (
        "the workload ended with exit status 1; disk `nvme` under its output (/mnt) and the disk under its scratch "
        "folder (TMPDIR) (/) was full: make room there, or measure on a larger one; its last words:\nBoom",
        Failure(
            Cause(CauseKind.EXIT_STATUS, {"status": 1.0}),
            (Cause(CauseKind.OUTPUT_FULL, text="/mnt"), Cause(CauseKind.SCRATCH_FULL, text="/")),
            "Boom",
        ),
    ),
    (
        "the workload ended with exit status 1; a disk that it wrote to was full: make room there",
        Failure(Cause(CauseKind.EXIT_STATUS, {"status": 1.0}), (Cause(CauseKind.DISK_FULL),)),
    ),
    ("told by line 3 of table.csv", Failure(Cause(CauseKind.IMPORTED, {"line": 3.0}, "table.csv"))),
    ("no such device; try another", Failure(Cause(CauseKind.OTHER, text="no such device; try another"))),
]


@pytest.mark.parametrize(("error", "failure"), ERRORS)
def test_an_error_becomes_a_failure(error: str, failure: Failure) -> None:
    """The cause, what explains it, and the last words."""
    assert converted(outcome="crashed", error=error).error == failure


@pytest.mark.parametrize(
    ("reason", "kind", "figures"),
    [
        ("the vCPUs 97 % busy", "busiest", {"cpu": 0.97}),
        ("1.02 of 2 vCPU busy, and nothing else is", "serial", {"cores": 1.02, "vcpus": 2.0}),
        ("several are busy: the vCPUs 97 %, the disk's IOPS 91 %", "several", {"cpu": 0.97, "disk_iops": 0.91}),
        ("nothing is fully busy: the vCPUs 97 %", "none_full", {"cpu": 0.97, "disk_iops": 0.91}),
        ("the disk's IOPS 91 % busy reading what the page cache could not keep", "rereads", {"disk_iops": 0.91}),
        ("told by table.csv, not accounted by sizer", "imported", {}),
        ("the disk was busy", "other", {}),
    ],
)
def test_a_reason_becomes_its_kind(reason: str, kind: str, figures: dict[str, float]) -> None:
    """With the shares that stand beside it."""
    evidence = converted(
        evidence={"bottleneck": "cpu", "busy": {"disk_iops": 0.91, "cpu": 0.97}, "reason": reason}
    ).evidence
    assert evidence is not None
    assert (evidence.kind.value, evidence.figures) == (kind, figures)


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
    assert run.throughput is not None
    assert (run.throughput.value, run.throughput.low) == (before["throughput"]["value"], before["throughput"]["low"])
    assert main(["status", str(unconverted)]) == 0


def test_lines_of_runs_are_converted_one_by_one(tmp_path: Path) -> None:
    """As benchmarks keep them; the first runs of schema 2 had their limits as a sentence."""
    form = json.loads((STORED / "version_2" / "runs" / "240e8a61a5ce.json").read_text())
    lines = tmp_path / "runs.jsonl"
    lines.write_text("".join(json.dumps({**form, "limited_by": text}) + "\n" for text in ("cgroup v1: cpuset 0", "")))
    assert convert_study.convert(lines) == 1
    first, second = (run_from_json(json.loads(line), "a line").limited_by for line in lines.read_text().splitlines())
    assert first is not None
    assert (first.kind.value, first.text, second) == ("other", "cgroup v1: cpuset 0", None)


@pytest.mark.parametrize("arguments", [[], ["nowhere"]])
def test_what_cannot_be_converted_is_said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """With what to type."""
    assert convert_study.main(arguments) == 2
    assert "study folder" in capsys.readouterr().err
