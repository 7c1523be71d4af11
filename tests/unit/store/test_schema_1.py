"""Every sentence that schema 1 wrote of a run becomes its kind with its figures; what is not known is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sizer.records.run import Cause, CauseKind, EvidenceKind, Failure, LimitedBy, LimitedByKind, RunWarning, WarningKind
from sizer.records.study import SCHEMA_VERSION, Purpose
from sizer.store.schema_1 import FLOOR_SEARCH, marks_of, warning_of
from sizer.store.stored_runs import run_from_json
from sizer.store.study_folder import StudyFolder
from tests import ROOT

STORED = ROOT / "tests" / "stored" / "version_1" / "runs" / "f991df459cb2.json"
MIB = 2**20
BAND = "outside the 742 images/s to 1,780 images/s of most of its measurements"
THROTTLED = (
    "throttled: 97 % of CPU periods used up the quota of 1.5 vCPU, so it ran in slices: latencies are not those of a "
    "slower CPU"
)

SENTENCES = [
    ("contended: something else on this host used 0.31 cores meanwhile", WarningKind.CONTENDED, {"cores": 0.31}, None),
    ("stolen: the hypervisor gave 0.31 cores to others meanwhile", WarningKind.STOLEN, {"cores": 0.31}, None),
    ("overhead: sizer itself used 2.3 % of the workload's core-seconds", WarningKind.OVERHEAD, {"share": 0.023}, None),
    (THROTTLED, WarningKind.THROTTLED, {"share": 0.97, "vcpus": 1.5}, None),
    (
        f"{THROTTLED}, and threads that wait for each other lose more than that",
        WarningKind.THROTTLED,
        {"share": 0.97, "vcpus": 1.5},
        None,
    ),
    ("page cache warm: 50 % of the data was resident before", WarningKind.PAGE_CACHE_WARM, {"share": 0.5}, None),
    ("swapped: up to 3 MiB of its memory was in swap", WarningKind.SWAPPED, {"bytes": 3 * MIB}, None),
    (
        "memory rising: anonymous memory still rose at the end, by 1 MiB in 1,000 steps; a longer run needs more",
        WarningKind.MEMORY_RISING,
        {"bytes": MIB},
        None,
    ),
    (
        "read amplified: the device gave 1.27 bytes for each byte asked for",
        WarningKind.READ_AMPLIFIED,
        {"ratio": 1.27},
        None,
    ),
    (
        "writes unlimited: up to 120 MiB waited in the page cache, where this kernel's throttle does not see them; "
        "let the program sync as it writes",
        WarningKind.WRITES_UNLIMITED,
        {"bytes": 120 * MIB},
        None,
    ),
    (
        "two rates: 1.234e+04 images/s for 14 s, then 402; the later rate counts",
        WarningKind.TWO_RATES,
        {"before": 12340.0, "seconds": 14.0, "after": 402.0},
        None,
    ),
    (
        "imprecise: ±7.0 % after 30 s, where ±2.0 % was asked for",
        WarningKind.IMPRECISE,
        {"half_width": 0.07, "seconds": 30.0, "asked": 0.02},
        None,
    ),
    (
        "imprecise: ±inf % after 30 s, where ±2.0 % was asked for",
        WarningKind.IMPRECISE,
        {"seconds": 30.0, "asked": 0.02},
        None,
    ),
    ("short: stopped at the deadline after 30 s of steady state", WarningKind.SHORT, {"seconds": 30.0}, None),
    (
        "unsettled: the rate moved too slowly, or stalled too seldom, for this run to tell how far it may be off; "
        "measure for more seconds",
        WarningKind.UNSETTLED,
        {},
        None,
    ),
    (
        "steps joined: the program made so many steps that each one kept stands for 4 of them; writing an event costs "
        "it up to 0.1 ms, so let one event stand for several steps",
        WarningKind.STEPS_JOINED,
        {"steps": 4.0},
        None,
    ),
    (
        "first epoch only: no later epoch was reached before the run ended, so the cache was not in use yet",
        WarningKind.FIRST_EPOCH,
        {},
        None,
    ),
    (
        "no epochs told: the program does not say when an epoch ends, so this may be the rate of its first",
        WarningKind.NO_EPOCHS,
        {},
        None,
    ),
    (
        "part of an epoch: the run ended inside its second epoch; the cache serves more at the start of one",
        WarningKind.PART_OF_EPOCH,
        {},
        None,
    ),
    (
        f"drifting: the reference configuration made 655 images/s here, {BAND}",
        WarningKind.DRIFTING,
        {"rate": 655.0, "low": 742.0, "high": 1780.0},
        "images",
    ),
    (
        "drifting: the reference configuration went from 742 images/s to 655 images/s (-11.7 %) while this run was "
        "measured between",
        WarningKind.DRIFTING,
        {"before": 742.0, "after": 655.0},
        "images",
    ),
    (
        f"drifting: around this run the reference configuration made 655 images/s, {BAND}",
        WarningKind.DRIFTING,
        {"level": 655.0, "low": 742.0, "high": 1780.0},
        "images",
    ),
    (
        "data set changed: its data set /data/x.rec is no longer there: put it back",
        WarningKind.DATA_GONE,
        {},
        "/data/x.rec",
    ),
    (
        "data set changed: of its data set /data only 1 MiB of 2 MiB are still there: put the rest back",
        WarningKind.DATA_PARTLY_GONE,
        {"bytes": MIB, "whole": 2 * MIB},
        "/data",
    ),
    (
        "left behind: /dev/shm/a, /dev/shm/b and 2 more, 2 MiB of memory; remove what no other program uses",
        WarningKind.MEMORY_LEFT,
        {"more": 2.0, "bytes": 2 * MIB},
        "/dev/shm/a, /dev/shm/b",
    ),
    (
        "left behind: processes 4711 do not die",
        WarningKind.LEFT_BEHIND,
        {},
        "processes 4711 do not die",
    ),
    (
        "log incomplete: /s/logs/1.log could not be written (No space left on device); make room there",
        WarningKind.LOG_INCOMPLETE,
        {},
        "/s/logs/1.log (No space left on device)",
    ),
    ("odd: nobody wrote this", WarningKind.OTHER, {}, "odd: nobody wrote this"),
    ("short: of an older sizer", WarningKind.SHORT, {}, "short: of an older sizer"),
]


@pytest.mark.parametrize(("sentence", "kind", "figures", "text"), SENTENCES)
def test_a_warning_becomes_its_kind(
    sentence: str, kind: WarningKind, figures: dict[str, float], text: str | None
) -> None:
    """With the figures that the sentence had, and the text that was not sizer's own."""
    assert warning_of(sentence) == RunWarning(kind, pytest.approx(figures), text)


def test_the_column_of_a_table_is_read_whatever_wrote_it() -> None:
    """Kinds, and older tables' sentences, some of which hold the mark that joins them."""
    sentences = [sentence for sentence, *_ in SENTENCES]
    assert marks_of("; ".join(sentences)) == tuple(map(warning_of, sentences))
    assert marks_of(f"contended; floor_search; mine; {FLOOR_SEARCH}") == (
        RunWarning(WarningKind.CONTENDED),
        Purpose.FLOOR_SEARCH,
        RunWarning(WarningKind.OTHER, text="mine"),
        Purpose.FLOOR_SEARCH,
    )


def stored(**changes: Any) -> dict[str, Any]:
    """The run that schema 1 stored, changed."""
    form: dict[str, Any] = json.loads(STORED.read_text())
    return {**form, "schema_version": 1, **changes}


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
    assert run_from_json(stored(outcome="crashed", error=error), "a run").error == failure


@pytest.mark.parametrize(
    ("reason", "kind", "figures"),
    [
        ("the vCPUs 97 % busy", EvidenceKind.BUSIEST, {"cpu": 0.97}),
        ("1.02 of 2 vCPU busy, and nothing else is", EvidenceKind.SERIAL, {"cores": 1.02, "vcpus": 2.0}),
        (
            "several are busy: the vCPUs 97 %, the disk's IOPS 91 %",
            EvidenceKind.SEVERAL,
            {"cpu": 0.97, "disk_iops": 0.91},
        ),
        (
            "nothing is fully busy: the vCPUs 97 %, the disk's IOPS 91 %",
            EvidenceKind.NONE_FULL,
            {"cpu": 0.97, "disk_iops": 0.91},
        ),
        ("nothing is fully busy: no accounting", EvidenceKind.NONE_FULL, {"cpu": 0.97, "disk_iops": 0.91}),
        (
            "the disk's IOPS 91 % busy reading what the page cache could not keep",
            EvidenceKind.REREADS,
            {"disk_iops": 0.91},
        ),
        ("told by table.csv, not accounted by sizer", EvidenceKind.IMPORTED, {}),
        ("the disk was busy", EvidenceKind.OTHER, {}),
    ],
)
def test_a_reason_becomes_its_kind(reason: str, kind: EvidenceKind, figures: dict[str, float]) -> None:
    """With the shares that stand beside it."""
    evidence = {"bottleneck": "cpu", "busy": {"disk_iops": 0.91, "cpu": 0.97}, "reason": reason}
    found = run_from_json(stored(evidence=evidence), "a run").evidence
    assert found is not None
    assert (found.kind, found.figures) == (kind, figures)


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
    form = stored(warnings=warnings)
    run = run_from_json({**form, "spec": {**form["spec"], **spec}}, "a run")
    assert run.spec.purpose is purpose
    assert [each.kind for each in run.warnings] == [WarningKind.SHORT] * (len(warnings) > 1)


def test_a_study_of_schema_2_is_read(second_version: Path) -> None:
    """A study that was stored by the second format stays readable."""
    folder = StudyFolder.open(second_version)
    assert folder.problems() == ()
    (run,) = folder.runs()
    assert run.schema_version == SCHEMA_VERSION
    assert run.warnings == (RunWarning(WarningKind.CONTENDED, {"cores": 0.31}),)
    assert run.evidence is not None
    assert run.evidence.kind is EvidenceKind.BUSIEST
    assert run.spec.purpose is Purpose.REPEAT


def test_a_run_of_schema_2_may_have_its_limits_as_a_sentence(second_version: Path) -> None:
    """Those that were stored before the parts of `limited_by` were."""
    (path,) = (second_version / "runs").glob("*.json")
    form = json.loads(path.read_text())
    path.write_text(json.dumps({**form, "limited_by": "cgroup v1: cpuset 0, memory 4,096 MiB"}))
    (run,) = StudyFolder.open(second_version).runs()
    assert run.limited_by == LimitedBy(LimitedByKind.OTHER, text="cgroup v1: cpuset 0, memory 4,096 MiB")
