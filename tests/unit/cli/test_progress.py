"""Terminal lines: what was emulated says so, what was not does not."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.analysis.events import Reading, Start
from sizer.analysis.monitor import Live, RunMonitor
from sizer.cli.progress import RunProgress
from sizer.records.run import (
    Bottleneck,
    Cause,
    CauseKind,
    Estimate,
    Evidence,
    EvidenceKind,
    Failure,
    Outcome,
    Run,
    RunWarning,
    Sample,
    Step,
    WarningKind,
)
from sizer.records.study import Device, DiskRates, Limits, RunSpec
from sizer.words.failures import failure_line
from sizer.words.names import bound_in_words, disk_in_words
from sizer.words.runs import result_and_doubts, result_in_words


def test_a_run_without_a_step_says_how_long_that_may_go_on(make_spec: Callable[..., RunSpec]) -> None:
    """Once, after a minute: whoever waits would take sizer for hung."""
    stream, monitor = io.StringIO(), RunMonitor(make_spec("true", seconds=10), 0.0)
    progress = RunProgress(1, 0, 30.0, stream)
    for second in range(0, 130, 10):
        progress.watch(monitor.live(float(second), ()))
    monitor.take([Step(131.0, 1, 0.0, 0)], 131.0)
    progress.watch(monitor.live(132.0, ()))
    end = "5 min 20 s if none comes, or earlier if it does nothing"
    assert stream.getvalue() == f"  no step seen after 1 min 00 s; it is given up after {end}\n"


def test_a_run_that_reads_for_minutes_says_now_and_then_how_far_it_is(make_spec: Callable[..., RunSpec]) -> None:
    """Each time that it has taken twice as long, so that an hour is six lines at the most."""
    stream, monitor = io.StringIO(), RunMonitor(make_spec("true", seconds=10), 0.0)
    progress = RunProgress(1, 0, 30.0, stream)
    for second in range(0, 610, 10):
        monitor.take([Reading(second << 20, 900 << 20)], float(second))
        progress.watch(monitor.live(float(second), ()))
    said = re.findall(r"after (.+) it still reads its data into memory, (.+) of 900 MiB", stream.getvalue())
    assert said == [
        ("1 min 00 s", "60 MiB"),
        ("2 min 00 s", "120 MiB"),
        ("4 min 00 s", "240 MiB"),
        ("8 min 00 s", "480 MiB"),
    ]
    assert len(stream.getvalue().splitlines()) == len(said)


def test_one_that_is_ended_while_it_reads_says_once_how_far_it_was(make_run: Callable[..., Run]) -> None:
    """Its last words are newer than what it told by then, and no other fact; those of one that ended itself count."""
    reading = Cause(CauseKind.STILL_READING, {"bytes": 64 << 20, "whole": 143 << 20})
    ended = Failure(Cause(CauseKind.DEADLINE, {"seconds": 40.0}), (reading,), "read 80.0 of 143.5 MiB into memory")
    run = replace(make_run(None, 1, outcome=Outcome.TIMEOUT), error=ended)
    assert failure_line(run).endswith("it was still reading its data into memory, 64 MiB of 143 MiB")
    few = replace(ended, cause=Cause(CauseKind.TOO_FEW_STEPS), last_lines="KeyError: 'x'")
    other = replace(run, outcome=Outcome.CRASHED, error=few)
    assert failure_line(other).endswith("its last words: KeyError: 'x'")


def test_a_rate_that_is_known_to_be_wrong_says_it_at_once(make_run: Callable[..., Run]) -> None:
    """With the way out, and without an interval that would sound sure; other doubts by their names, the rest not."""
    wrong = RunWarning(WarningKind.BATCHES_FOR_SAMPLES, {"told": 1.61, "seen": 0.0503})
    run = replace(make_run(19.6, 2), warnings=(wrong, RunWarning(WarningKind.PAGE_CACHE_WARM, {"share": 0.5})))
    said = result_and_doubts(run)
    assert said.startswith("19.6 images/s")
    assert "±" not in said
    assert "(told unlike seen: its log tells 1.61 s a batch" in said
    assert "name the group `batches`" in said
    assert "page cache" not in said
    contended = replace(run, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.5}),))
    assert result_and_doubts(contended).endswith("(contended)")


@pytest.mark.parametrize("bottleneck", list(Bottleneck))
def test_every_bottleneck_has_words(bottleneck: Bottleneck) -> None:
    """No name of an enumeration reaches a person."""
    words = bound_in_words(bottleneck, Device())
    assert "_" not in words
    assert "emulated" not in words


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (Device("emulated", 0, "P100", 219.0), "bound by the emulated P100"),
        (Device("emulated", 0, None, 300.0), "bound by the emulated accelerator"),
        (Device("cuda"), "bound by the accelerator"),
    ],
)
def test_an_emulated_accelerator_is_called_one(device: Device, words: str) -> None:
    """With the GPU's name, or its rate."""
    assert bound_in_words(Bottleneck.ACCELERATOR, device) == words


def test_disks_are_called_what_they_are() -> None:
    """`host` is no tier's name."""
    assert disk_in_words("host", False) == "the host's own disk"
    assert disk_in_words("ssd", False) == "disk ssd"
    assert disk_in_words("ssd", True) == "disk ssd (emulated)"


def test_lines_of_progress_say_what_is_emulated(make_run: Callable[..., Run]) -> None:
    """Before a run by the study, after it by the run itself."""
    stream = io.StringIO()
    run = make_run(
        219.0, 2.0, disk="ssd", rates=DiskRates(read_iops=100.0), device=Device("emulated", 0, "P100", 219.0)
    )
    run = replace(run, evidence=Evidence(Bottleneck.ACCELERATOR, {}, EvidenceKind.BUSIEST))
    RunProgress(2, 0, 60.0, stream, {"ssd"}).begin(run.spec, 60.0)
    RunProgress(2, 0, 60.0, stream).end(run)
    before, after = stream.getvalue().splitlines()
    assert "disk ssd (emulated)" in before
    assert "disk ssd (emulated)" in after
    assert "bound by the emulated P100" in after


def test_live_figures_have_the_workloads_unit_and_both_directions(make_spec: Callable[..., RunSpec]) -> None:
    """Words a second, and what is read beside what is written."""
    seen = RunMonitor(replace(make_spec("x"), limits=Limits(2.0)), 0.0)
    samples = [Sample(0.0), Sample(1.0, core_seconds=1.5, read_bytes=12_000_000, written_bytes=3_000_000)]
    assert seen.live(1.0, samples).unit == "sample"
    seen.take([Start("word", 20, 0, 0), Step(0.5, 20, 0.0, 0), Step(1.0, 2650, 0.0, 0)])
    found = line(seen.live(1.0, samples))
    assert found.endswith(" | 1.50 cores | 12 MB/s read, 3 MB/s written")
    assert "5,300 words/s" in found[:80]


def line(live: Live) -> str:
    """The bar's line on a wide terminal."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        RunProgress(2, 0, 60.0, stream).watch(live)
    return stream.getvalue()


def test_a_rate_that_is_hardly_known_shows_its_interval(make_run: Callable[..., Run]) -> None:
    """`±246.9 %` says nothing to anybody; less than nothing cannot be done."""
    run = replace(make_run(42.0), evidence=None)
    assert result_in_words(replace(run, throughput=Estimate(42.0, -61.0, 145.0))) == "42 images/s (0 to 145)"
    assert result_in_words(replace(run, throughput=Estimate(42.0, 21.0, 63.0))) == "42 images/s ±50.0 %"


def test_a_long_cause_is_cut_and_its_log_named(make_run: Callable[..., Run]) -> None:
    """A line of a log may be 500 characters; the log itself has them. Of a sentence of sizer's nothing is cut."""
    run = replace(make_run(None), outcome=Outcome.TIMEOUT, error=Failure(Cause(CauseKind.OTHER, text="x" * 500)))
    found = result_in_words(run, Path("fails/logs/0123.log"))
    assert found.startswith("timed out (xxx")
    assert "xxx … xxx" in found
    assert len(found) < 250
    assert found.endswith("xxx; log: fails/logs/0123.log)")
    assert len(found) < 220
    assert "log" not in result_in_words(
        replace(run, error=Failure(Cause(CauseKind.OTHER, text="x" * 100))), Path("fails/logs/0123.log")
    )


def test_a_rate_of_nothing_has_no_relative_width(make_run: Callable[..., Run]) -> None:
    """A run file may say 0 samples/s; half of its interval over that is no number."""
    assert result_in_words(replace(make_run(0.0), throughput=Estimate(0.0, 0.0, 1.0))) == "0 images/s ±unknown"
    assert result_in_words(make_run(0.0)) == "0 images/s"


def ended(run: Run, kind: CauseKind, *reasons: CauseKind, last: str = "", status: int | None = None) -> Run:
    cause = Cause(kind, {} if status is None else {"status": status})
    return replace(run, outcome=Outcome.CRASHED, error=Failure(cause, tuple(map(Cause, reasons)), last))


def test_what_to_type_is_never_cut(make_run: Callable[..., Run]) -> None:
    """Of the commonest failure, in the line that `sizer run` and `sizer status` print."""
    run = ended(make_run(None), CauseKind.TOO_FEW_STEPS, CauseKind.NO_EVENT, last="epoch 3 " * 60)
    for found in (result_in_words(run, Path("a/logs/1.log")), result_in_words(run)):
        assert "give a `pattern`, and try it with `sizer pattern`; its last words: epoch 3" in found
    missing = "python: can't open file '/tmp/sizer-abcdefgh/scratch/train.py': [Errno 2] No such file or directory"
    found = result_in_words(ended(make_run(None), CauseKind.EXIT_STATUS, last=missing, status=2), Path("a/logs/1.log"))
    assert found.endswith(f"its last words: {missing})")


def test_the_option_that_kept_the_hook_out_is_named(make_run: Callable[..., Run]) -> None:
    """Where no steps were seen, before a pattern is asked for."""
    warned = (RunWarning(WarningKind.NOT_HOOKED, text="-I"),)
    run = replace(ended(make_run(None), CauseKind.TOO_FEW_STEPS, CauseKind.NO_EVENT), warnings=warned)
    found = result_in_words(run)
    assert "Python was started with -I, so sizer's hook could not count its steps" in found
    assert "leave the option out, or give a `pattern`" in found
    silent = replace(ended(make_run(None), CauseKind.TOO_FEW_STEPS, CauseKind.NO_OUTPUT), warnings=warned)
    assert "it printed nothing, and Python was started with -I" in result_in_words(silent)


def test_of_a_program_that_asked_only_that_is_said(make_run: Callable[..., Run]) -> None:
    """No pattern would have helped."""
    run = ended(make_run(None), CauseKind.TOO_FEW_STEPS, CauseKind.NO_EVENT, CauseKind.ASKED_FOR_INPUT)
    assert "it asked for input" in result_in_words(run)
    assert "pattern" not in result_in_words(run)
