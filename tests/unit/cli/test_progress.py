"""Terminal lines: what was emulated says so, what was not does not."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer import api
from sizer.analysis.events import Reading, Start
from sizer.analysis.monitor import Live, RunMonitor
from sizer.api.fitted_model import Stage, StepBegun
from sizer.cli import main
from sizer.cli.progress import EventPrinter, ImportProgress
from sizer.records.device import Device, DiskRates
from sizer.records.messages import HostError
from sizer.records.prediction import Bottleneck, Estimate
from sizer.records.run import (
    Cause,
    CauseKind,
    Evidence,
    EvidenceKind,
    Failure,
    Run,
    RunWarning,
    Sample,
    Step,
    WarningKind,
)
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, RunSpec, Study, Workload, WorkloadPlan
from sizer.storage.announcements import Announcement
from sizer.storage.announcements import AnnouncementKind as Kind
from sizer.store.study_folder import StudyFolder
from sizer.words.failures import failure_line
from sizer.words.runs import result_and_doubts, result_in_words
from tests.modelled import contended


def test_a_run_without_a_step_says_how_long_that_may_go_on(make_spec: Callable[..., RunSpec]) -> None:
    """Once, after a minute: whoever waits would take sizer for hung."""
    stream, monitor = io.StringIO(), RunMonitor(make_spec("true", seconds=10), 0.0)
    progress = EventPrinter(stream=stream)
    for second in range(0, 130, 10):
        progress(monitor.live(float(second), ()))
    monitor.take([Step(131.0, 1, 0.0, 0)], 131.0)
    progress(monitor.live(132.0, ()))
    end = "5 min 20 s if none comes, or earlier if it does nothing"
    assert stream.getvalue() == f"  no step seen after 1 min 00 s; it is given up after {end}\n"


def test_a_run_that_reads_for_minutes_says_now_and_then_how_far_it_is(make_spec: Callable[..., RunSpec]) -> None:
    """Each time that it has taken twice as long, so that an hour is six lines at the most."""
    stream, monitor = io.StringIO(), RunMonitor(make_spec("true", seconds=10), 0.0)
    progress = EventPrinter(stream=stream)
    for second in range(0, 610, 10):
        monitor.take([Reading(second << 20, 900 << 20)], float(second))
        progress(monitor.live(float(second), ()))
    amounts = re.findall(r"after (.+) it still reads its data into memory, (.+) of 900 MiB", stream.getvalue())
    assert amounts == [
        ("1 min 00 s", "60 MiB"),
        ("2 min 00 s", "120 MiB"),
        ("4 min 00 s", "240 MiB"),
        ("8 min 00 s", "480 MiB"),
    ]
    assert len(stream.getvalue().splitlines()) == len(amounts)


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
    sentence = result_and_doubts(run)
    assert sentence.startswith("19.6 images/s")
    assert "±" not in sentence
    assert "(told unlike seen: its log tells 1.61 s a batch" in sentence
    assert "name the group `batches`" in sentence
    assert "page cache" not in sentence
    contended = replace(run, warnings=(RunWarning(WarningKind.CONTENDED, {"cores": 0.5}),))
    assert result_and_doubts(contended).endswith("(contended)")


def test_lines_of_progress_say_what_is_emulated(make_run: Callable[..., Run]) -> None:
    """Before a run by the study, after it by the run itself."""
    stream = io.StringIO()
    run = make_run(
        219.0, 2.0, disk="ssd", rates=DiskRates(read_iops=100.0), device=Device("emulated", 0, "P100", 219.0)
    )
    run = replace(run, evidence=Evidence(Bottleneck.ACCELERATOR, {}, EvidenceKind.BUSIEST))
    EventPrinter({"ssd"}, stream)(api.events.RunStarted(run.spec, 9.0, 60.0))
    EventPrinter(stream=stream)(api.events.RunFinished(run, None))
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
    figures = line(seen.live(1.0, samples))
    assert figures.endswith(" | 1.50 cores | 12 MB/s read, 3 MB/s written")
    assert "5,300 words/s" in figures[:80]


def line(live: Live) -> str:
    """The bar's line on a wide terminal."""
    stream = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        EventPrinter(stream=stream)(live)
    return stream.getvalue()


def test_a_rate_that_is_hardly_known_shows_its_interval(make_run: Callable[..., Run]) -> None:
    """`±246.9 %` says nothing to anybody; less than nothing cannot be done."""
    run = replace(make_run(42.0), evidence=None)
    assert result_in_words(replace(run, throughput=Estimate(42.0, -61.0, 145.0))) == "42 images/s (0 to 145)"
    assert result_in_words(replace(run, throughput=Estimate(42.0, 21.0, 63.0))) == "42 images/s ±50.0 %"


def test_a_long_cause_is_cut_and_its_log_named(make_run: Callable[..., Run]) -> None:
    """A line of a log may be 500 characters; the log itself has them. Of a sentence of sizer's nothing is cut."""
    run = replace(make_run(None), outcome=Outcome.TIMEOUT, error=Failure(Cause(CauseKind.OTHER, text="x" * 500)))
    sentence = result_in_words(run, Path("fails/logs/0123.log"))
    assert sentence.startswith("timed out (xxx")
    assert "xxx … xxx" in sentence
    assert len(sentence) < 250
    assert sentence.endswith("xxx; log: fails/logs/0123.log)")
    assert len(sentence) < 220
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
    for sentence in (result_in_words(run, Path("a/logs/1.log")), result_in_words(run)):
        assert "give a `pattern`, and try it with `sizer pattern`; its last words: epoch 3" in sentence
    missing = "python: can't open file '/tmp/sizer-abcdefgh/scratch/train.py': [Errno 2] No such file or directory"
    sentence = result_in_words(
        ended(make_run(None), CauseKind.EXIT_STATUS, last=missing, status=2), Path("a/logs/1.log")
    )
    assert sentence.endswith(f"its last words: {missing})")


def test_of_a_program_that_asked_only_that_is_said(make_run: Callable[..., Run]) -> None:
    """No pattern would have helped."""
    run = ended(make_run(None), CauseKind.TOO_FEW_STEPS, CauseKind.NO_EVENT, CauseKind.ASKED_FOR_INPUT)
    assert "it asked for input" in result_in_words(run)
    assert "pattern" not in result_in_words(run)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def fitting(number: int) -> StepBegun:
    return StepBegun(Stage.FITTING, f"w{number}", number, 4)


def test_steps_of_an_import_are_said_from_the_third_second_on() -> None:
    """In lines; on a terminal one line changes, from the start."""
    clock, stream, terminal = Clock(), io.StringIO(), Terminal()
    plain, shown = ImportProgress(clock, stream), ImportProgress(clock, terminal)
    for seconds, step in ((2.9, fitting(1)), (0.1, fitting(2)), (4, StepBegun(Stage.REPORTING))):
        clock.now += seconds
        plain(step)
        shown(step)
    assert stream.getvalue().splitlines() == [
        "fitting `w2`, 2 of 4 workloads, about 18 % done, 3 s so far",
        "writing the report, about 50 % done, 7 s so far",
    ]
    assert terminal.getvalue().count("\r\x1b[K") == 3
    assert "\n" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (
            Announcement(Kind.DISK_UNUSABLE, name="nvme", why=HostError("/mnt cannot be written.")),
            "disk `nvme` cannot be used: /mnt cannot be written.",
        ),
        (
            Announcement(Kind.NOT_CONCLUDED, why=HostError("model.json cannot be written.")),
            "the answer could not be written: model.json cannot be written.",
        ),
        (
            Announcement(Kind.NOT_SHOWN, why=HostError("report.html cannot be written.")),
            "the page that is being served could not be written: report.html cannot be written.",
        ),
        (
            Announcement(Kind.STOOD_STILL, seconds=3.21),
            "sizer itself stood still for 3.2 s (stopped, suspended, or without CPU time); the run is made again",
        ),
        (
            Announcement(Kind.DISKS_NOT_READ, names=("fast",), source="/data"),
            "warning: the command reads nothing from fast: write {data} in it in the place of the path of its data, or "
            "{scratch} where it writes",
        ),
        (
            Announcement(Kind.DISKS_NOT_READ, names=("fast", "slow")),
            "warning: the command reads nothing from fast and slow but what it writes to TMPDIR: give --data PATH and "
            "write {data} in the command where that path stands, or {scratch} where it writes",
        ),
        (
            Announcement(Kind.VARIABLES_WITHHELD, names=("HF_HOME", "TORCH_HOME")),
            "note: HF_HOME and TORCH_HOME of this shell not passed on to the program; if it reads them: --pass-env "
            "HF_HOME,TORCH_HOME",
        ),
        (
            Announcement(Kind.RUNS_LEFT, count=1, of=12),
            "1 of 12 runs not finished; the answer is based on the others",
        ),
    ],
)
def test_what_went_wrong_is_a_line(event: api.events.Event, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The study goes on after it, so it is no error of its own."""
    EventPrinter()(event)
    output = capsys.readouterr()
    assert line in [splitline.strip() for splitline in (output.out + output.err).splitlines()]


def test_data_of_an_unknown_size_is_not_compared(
    store_knee: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The line of the prediction says why there is none, and what to type instead."""
    folder = store_knee(tmp_path / "s")
    code = main(["predict", str(folder), "--vcpus", "4", "--data-size", "40GiB"])
    output = capsys.readouterr()
    assert code == 5
    assert output.err == (
        "sizer: The data set size of `train` was not recorded, so it cannot be compared with 40 GiB. Say how many "
        "times as large it is with --data-factor.\n"
    )


WORKLOAD = Workload("train", "image_training", framework="mxnet", network="resnet50", format="recordio")
DRIFTED, BESIDE = "The host drifted: ", "Something else used CPUs of the host beside "
BETTER = "A quiet host, or more repeats of each configuration, measures better."


def test_recommend_says_how_the_host_was(
    make_run: Callable[..., Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing of a quiet one; of another how far it drifted and how many runs were beside others."""
    runs = [
        _of_study(make_run(rate, vcpus)) for vcpus, rate in ((1.0, 100.0), (2.0, 197.0), (4.0, 300.0), (8.0, 303.0))
    ]
    again = [contended(_of_study(make_run(150.0, 8.0, repeat=repeat)), 4.0) for repeat in (1, 2)]
    assert main(["recommend", str(_stored(tmp_path / "quiet", runs))]) == 0
    assert not any(line.startswith((DRIFTED, BESIDE, BETTER)) for line in capsys.readouterr().out.splitlines())
    busy = _stored(tmp_path / "busy", [*runs, *again])
    assert main(["recommend", str(busy)]) == 0
    *_, drifted, beside, better = capsys.readouterr().out.splitlines()
    assert drifted.startswith(f"{DRIFTED}the reference configuration was measured 3 times: 150 images/s to 303")
    assert beside == f"{BESIDE}2 of 6 runs of the study."
    assert better == BETTER
    assert main(["recommend", str(busy), "--json"]) == 0
    assert BESIDE not in capsys.readouterr().out


def _of_study(run: Run) -> Run:
    limits = Limits(run.configuration.vcpus)
    return replace(run, spec=replace(run.spec, workload=WORKLOAD, limits=limits))


def _stored(path: Path, runs: Sequence[Run]) -> Path:
    plan = WorkloadPlan(WORKLOAD, (32,), tuple(sorted({run.configuration.vcpus or 0.0 for run in runs})))
    with StudyFolder.create(path, Study("study", (plan,)), {"cpus": 8, "memory_bytes": 2**34}) as folder:
        for run in runs:
            folder.add(run)
    return path


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
    has_vcpus = "vcpus" in TABLES[table]
    patterns = ANYWHERE | ({} if has_vcpus else WITHOUT_VCPUS)
    faults = [
        f"{name}: {text[max(0, match.start() - 60) : match.end() + 40]!r}"
        for name, pattern in patterns.items()
        for match in re.finditer(pattern, text, 0 if name == "a figure that is none" else re.IGNORECASE)
    ]
    shares = (match[1] for match in re.finditer(r"(\d[\d,]*(?:\.\d+)?) ?%", text))
    return faults + [f"{share} %" for share in shares if float(share.replace(",", "")) > LARGEST_PERCENTAGE]


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
        for part in form.values() if isinstance(form, dict) else form:
            yield from _texts(part)


@pytest.mark.parametrize("prefer", ["cheapest", "fastest"])
def test_an_answer(study: Path, table: str, prefer: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For a person and for a program."""
    capsys.readouterr()
    assert main(["recommend", str(study), "--objective", prefer]) == 0
    assert main(["recommend", str(study), "--objective", prefer, "--json"]) == 0
    printed, _, answer = capsys.readouterr().out.partition("\n{\n")
    (workload,) = json.loads("{" + answer)["workloads"]
    assert _faults(printed, table) == []
    assert _faults("\n".join(_texts(workload)), table) == []
    assert workload["bottleneck"] is None
    assert not any(
        "vcpu" in json.dumps(reason).lower() for reason in workload["reasons"] if "vcpus" not in TABLES[table]
    )


def test_a_prediction(study: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    """At the best configuration that was measured."""
    capsys.readouterr()
    assert main(["predict", str(study)]) == 0
    assert _faults(capsys.readouterr().out, table) == []
    assert main(["predict", str(study), "--json"]) == 0
    (prediction,) = json.loads(capsys.readouterr().out)["predictions"]
    if "vcpus" not in TABLES[table]:
        assert (prediction["bottleneck"], prediction["shares"]) == ("ambiguous", {})


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
