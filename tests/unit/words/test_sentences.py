"""Sentences that few studies show: each record with its figures gives one exact English sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sizer.model.fitting import fit
from sizer.model.model import WhatIf, WorkloadModel
from sizer.plan.following import PassResult, TwoEpochs
from sizer.records.answer import Alternative, Answer
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import (
    Action,
    Bottleneck,
    Configuration,
    Estimate,
    Figure,
    Prediction,
    ReasonCode,
    Refusal,
    Spec,
    Suggestion,
    reason,
)
from sizer.records.run import Cause, CauseKind, LimitedBy, LimitedByKind, Run, RunWarning, WarningKind
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, RunSpec
from sizer.records.units import GIB
from sizer.words.answers import alternative_line, headline
from sizer.words.failures import cause_in_words
from sizer.words.model import assumptions, prediction_line
from sizer.words.names import Terms
from sizer.words.page import device_in_words
from sizer.words.reasons.phrasing import reason_sentence, refusal_sentences, suggestion_sentences
from sizer.words.runs import following_in_words, imported_run_in_words, limits_in_words
from sizer.words.terminal import disk_figure_line
from sizer.words.verdict import against_sentence, million_there, spec_parts
from sizer.words.warnings import warning_line

TERMS = Terms("train", "image")
EMULATED = Terms("train", "image", Device("emulated", gpu="P100"))
RATE = Estimate(100.0, 95.0, 105.0)
TWO_VCPUS = Spec(2.0, 8 * GIB, "nvme")


def sentence_of(code: ReasonCode, terms: Terms = TERMS, spec: Spec | None = None, **figures: object) -> str:
    """The sentence of one reason."""
    one = replace(reason(code, **figures), spec=spec)  # type: ignore[arg-type]
    return refusal_sentences(Refusal(one), terms)


def cases() -> Iterator[tuple[str, str]]:
    """Each case of `reasons.txt`: the code of a reason with its figures, and the sentence."""
    for block in Path(__file__).with_name("reasons.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        figures, _, sentence = block.partition("\n")
        yield figures, sentence


@pytest.mark.parametrize(("figures", "sentence"), list(cases()))
def test_a_reason_is_said_with_its_figures(figures: str, sentence: str) -> None:
    """What is known without its rarer figures, or with them, is still a whole sentence."""
    code, _, values = figures.partition(" ")
    assert (
        sentence_of(ReasonCode[code], **eval(f"dict({values})", {"GIB": float(GIB), "inf": float("inf")})) == sentence
    )


@pytest.mark.parametrize(
    ("suggestion", "sentence"),
    [
        (Suggestion(Action.FINISH), "Finish the study, or measure the whole job."),
        (Suggestion(Action.RENAME), "Give each its own workload name."),
        (Suggestion(Action.MEASURE, gpu="V100"), "Measure `train` on V100."),
        (Suggestion(Action.MEASURE, gpu="cpu"), "Measure `train` on no accelerator."),
        (Suggestion(Action.MEASURE, accounting=True), "Measure a run of `train` with disk accounting (read_bytes)."),
        (Suggestion(Action.MEASURE, input="memory"), "Also measure `train` with `input: memory`."),
        (Suggestion(Action.REPEAT, vcpus=(2.0, 4.0)), "Repeat `train` at 2 and 4 vCPUs."),
        (Suggestion(Action.IMPORT), "Import a table with runs of it that completed."),
        (
            Suggestion(Action.IMPORT, reason(ReasonCode.NOT_IN_TABLE, column="vcpus"), column="vcpus"),
            "Measure `train` at three vCPU values or more, or add a column `vcpus` and import the table again.",
        ),
    ],
)
def test_a_suggestion_says_what_to_do(suggestion: Suggestion, sentence: str) -> None:
    """Every action is one imperative, however little of it is known."""
    assert suggestion_sentences(suggestion, TERMS) == sentence


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (
            Answer("train", "recommended", TWO_VCPUS, RATE, "image"),
            "train: recommended 2 vCPUs, 8 GiB, disk nvme, 100 images/s (95 images/s to 105 images/s)",
        ),
        (
            Answer("train", "refused", TWO_VCPUS, RATE, "image", bottleneck=Bottleneck.CPU),
            "train: refused 2 vCPUs, 8 GiB, disk nvme, 100 images/s (95 images/s to 105 images/s), bound by the CPU",
        ),
        (
            Answer("train", "recommended", Spec(None), RATE, "image", provisional=True),
            "train: provisionally recommended a machine without an accelerator, 100 images/s (95 images/s to "
            "105 images/s)",
        ),
    ],
)
def test_a_headline_is_no_surer_than_its_answer(answer: Answer, line: str) -> None:
    """A bottleneck that is not known is left out, and a refused size is never called recommended."""
    assert headline(answer, TERMS) == line


def test_a_machine_without_an_accelerator_has_none_beside_one_with_a_gpu() -> None:
    """Of machines that were compared each has what its row says, whatever the device of the workload."""
    on_gpu, spec = replace(TERMS, device=Device("cuda", 0)), Spec(8.0)
    compared = Answer("w", "recommended", spec, alternatives=(Alternative(spec, Estimate(1.0, 1.0, 1.0)),))
    assert spec_parts(compared, on_gpu) == ["8 vCPUs"]
    assert spec_parts(replace(compared, alternatives=()), on_gpu) == ["8 vCPUs", "1 accelerator"]


def test_a_prediction_that_does_not_fit_in_memory_has_no_rate() -> None:
    """A killed job has no images a second."""
    place = Configuration(2.0, GIB, "nvme", 32)
    killed = Prediction("train", place, RATE, Bottleneck.MEMORY, {}, extrapolated=False, out_of_memory=True)
    assert prediction_line(killed, "2 vCPUs, 1 GiB", TERMS) == "train at 2 vCPUs, 1 GiB: out of memory"


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (Cause(CauseKind.SIGNAL, {"signal": 9}), "9 (SIGKILL)"),
        (Cause(CauseKind.SIGNAL, {"signal": 99}), "99"),
        (Cause(CauseKind.EXIT_STATUS, {"status": 137}), "137 (SIGKILL)"),
        (Cause(CauseKind.EXIT_STATUS, {"status": 255}), "255"),
        (Cause(CauseKind.EXIT_STATUS), "unknown"),
    ],
)
def test_the_end_of_a_process_names_its_signal(cause: Cause, text: str, make_spec: Callable[..., RunSpec]) -> None:
    """A number that is no signal of this system is shown bare, and a status that is not known says so."""
    sentence = cause_in_words(cause, make_spec("true"))
    assert text in sentence
    assert ("SIGKILL" in sentence) == ("SIGKILL" in text)


@pytest.mark.parametrize(
    ("warning", "line"),
    [
        (
            RunWarning(WarningKind.THROTTLED, {"share": 0.5, "vcpus": 2.0}),
            "throttled: 50 % of CPU periods used up the quota of 2 vCPU, so it ran in slices: latencies are not those "
            "of a slower CPU, and threads that wait for each other lose more than that",
        ),
        (
            RunWarning(WarningKind.OTHER_BATCH_SIZE, {"told": 32.0, "given": 64.0}),
            "other batch size: a batch has 32 images, where the study says 64; what was seen is used",
        ),
        (
            RunWarning(WarningKind.IMPRECISE, {"seconds": 30.0, "asked": 0.02, "half_width": 0.05}),
            "imprecise: ±5.0 % after 30 s, where ±2.0 % was asked for",
        ),
        (
            RunWarning(WarningKind.MEMORY_LEFT, {"bytes": 2.0 * GIB, "more": 3}, "/dev/shm/a"),
            "left behind: /dev/shm/a and 3 more, 2 GiB of memory; remove what no other program uses",
        ),
        (
            RunWarning(WarningKind.DRIFTING, {"level": 90.0, "low": 98.0, "high": 102.0}, "image"),
            "drifting: the reference configuration made 90 images/s around this run, outside the 98 to 102 images/s of "
            "most of its measurements",
        ),
        (
            RunWarning(WarningKind.DRIFTING, {"before": 100.0, "after": 90.0}, "image"),
            "drifting: the reference configuration went from 100 to 90 images/s around this run",
        ),
    ],
)
def test_a_warning_says_what_its_figures_mean(warning: RunWarning, line: str) -> None:
    """Which figures were kept decides what is said."""
    assert warning_line(warning, "image") == line


@pytest.mark.parametrize(
    ("result", "ending"),
    [
        (PassResult(), ": not needed, another run shows the same"),
        (PassResult(Outcome.TIMEOUT), ": timed out"),
        (PassResult(Outcome.COMPLETED, 0.47), ": completed, 47 % of its reads were served from memory"),
    ],
)
def test_a_pass_of_two_epochs_says_how_it_ended(
    result: PassResult, ending: str, make_spec: Callable[..., RunSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not needed, ended without a figure, or with the share that memory served."""
    monkeypatch.setattr(TwoEpochs, "result", lambda _self, _runs: result)
    following = object.__new__(TwoEpochs)
    object.__setattr__(following, "base", make_spec("true"))
    line = following_in_words(following, [])
    assert line == f"two epochs of `job` with half of its data in memory{ending}"


def test_an_imported_run_of_a_bare_table_is_its_workload(make_run: Callable[..., Run]) -> None:
    """Where a table has no column but the rate, there is no configuration to name."""
    run = make_run(100.0)
    bare = replace(
        run,
        spec=replace(run.spec, limits=Limits(None, None, None)),
        configuration=Configuration(None, None, None, None),
    )
    assert imported_run_in_words(bare) == "train"
    assert imported_run_in_words(replace(bare, configuration=Configuration(None, None, None, 32))) == ("train batch 32")


@pytest.mark.parametrize(
    ("limited", "parts"),
    [
        (LimitedBy(LimitedByKind.SIZER, "v2"), ["vCPUs not limited", "disk not limited"]),
        (
            LimitedBy(LimitedByKind.SIZER, "v2", cpus="0-1", by_cpuset=True, device="8:0", rates=DiskRates()),
            ["cpuset 0-1", "disk 8:0 not limited"],
        ),
    ],
)
def test_what_was_not_limited_is_said(limited: LimitedBy, parts: list[str]) -> None:
    """A run that had the whole host does not read as if it had been limited."""
    sentence = limits_in_words(limited)
    assert all(part in sentence for part in parts)


DECLARED = DiskRates(2000, 100e6, 2000, 100e6)


@pytest.mark.parametrize(
    ("figure", "line"),
    [
        (("read_iops", 1990.0, 2000.0), "  read: 1,990 IOPS, declared 2,000 IOPS"),
        (("read_iops", 1990.0, None), "  read: 1,990 IOPS"),
        (("write_bytes_per_second", 99e6, 100e6), "  write: 99 MB/s, declared 100 MB/s"),
        (("write_bytes_per_second", None, None), "  write: not measured"),
    ],
)
def test_a_figure_of_a_disk_is_beside_its_declared_one(
    figure: tuple[str, float | None, float | None], line: str
) -> None:
    """What was declared is only said where something was."""
    assert disk_figure_line(*figure) == line


@pytest.fixture
def fitted(make_run: Callable[..., Run]) -> WorkloadModel:
    return fit([make_run(100.0 * vcpus, vcpus) for vcpus in (1.0, 2.0, 4.0)]).workload("train")


@pytest.mark.parametrize(
    ("what_if", "text"),
    [
        (WhatIf(), ""),
        (
            WhatIf(disk_rates=DiskRates(read_iops=5000)),
            "a disk of 5,000 IOPS and unlimited MB/s, for reads and writes alike",
        ),
        (WhatIf(disk_rates=DECLARED), "a disk of 2,000 IOPS and 100 MB/s"),
        (
            WhatIf(gpu_speedup=2.0, decode_factor=0.5),
            "an accelerator 2 times as fast; a decoder that takes 0.5 times the CPU",
        ),
    ],
)
def test_a_supposition_is_named(what_if: WhatIf, text: str, fitted: WorkloadModel) -> None:
    """Whoever reads a prediction sees all that it assumes, and nothing where it assumes nothing."""
    assert assumptions(what_if, fitted) == text


@pytest.mark.parametrize(
    ("data_bytes", "natural", "text"),
    [
        (10 * GIB, True, "a data set 4 times as large (40 GiB)"),
        (None, True, "a data set 4 times as large"),
        (
            10 * GIB,
            False,
            "a data set 4 times as large (40 GiB), none of it in the page cache, as in the runs, so its size makes no "
            "difference",
        ),
    ],
)
def test_a_larger_data_set_says_whether_it_matters(
    data_bytes: int | None, natural: bool, text: str, fitted: WorkloadModel
) -> None:
    """With a cold cache nothing of it is kept, so its size changes nothing; its own size is named where it is known."""
    feed = replace(fitted.facts.feed, cache="natural" if natural else "cold")
    model = replace(fitted, facts=replace(fitted.facts, data_bytes=data_bytes, feed=feed))
    assert assumptions(WhatIf(data_bytes_factor=4.0), model) == text


@pytest.mark.parametrize(
    ("device", "text"),
    [
        (Device(), "CPU"),
        (Device("cuda", 1), "cuda:1"),
        (Device("emulated", gpu="P100", samples_per_second=219.0), "emulated P100, 219 images/s"),
    ],
)
def test_a_device_is_named_as_it_is(device: Device, text: str) -> None:
    """An emulated accelerator says so, with its rate."""
    assert device_in_words(device, "image") == text


BASELINE: Mapping[str, Figure] = {
    "share": 6.9,
    "dearer": 26.38,
    "baseline_usd": 1.14,
    "instance_type": "aws c6i.xlarge",
    "answer_usd": 31.21,
    "answer_instance": "aws p3.16xlarge",
    "named": False,
    "extrapolated": False,
    "disk_not_counted": False,
}


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, "27.4 times as much, at 6.9 times its rate."),
        ({"named": True}, "27.4 times as much, at 6.9 times its rate."),
        ({"dearer": -0.75, "share": 0.98}, "75 % less, at 98 % of its rate."),
        ({"extrapolated": True}, "at 6.9 times its rate (extrapolated)."),
        ({"disk_not_counted": True}, "at 6.9 times its rate, disk prices not counted."),
        (
            {"disk_not_counted": True, "extrapolated": True, "share": 0.98},
            "at 98 % of its rate (extrapolated), disk prices not counted.",
        ),
    ],
)
def test_a_baseline_of_another_size(changes: Mapping[str, Figure], end: str) -> None:
    """Neither 2638 % more nor 690 % of its rate; the first screen says the same as the terminal."""
    baseline = replace(reason(ReasonCode.BASELINE, **{**BASELINE, **changes}), spec=Spec(4.0))
    sentence = reason_sentence(baseline, TERMS)
    assert sentence.endswith(end)
    answer = Answer("train", "recommended", Spec(2.0), RATE, reasons=(reason(ReasonCode.EMULATED), baseline))
    assert against_sentence(answer, TERMS) == sentence


LINE = Alternative(Spec(None, gpu="P100", gpu_count=1), Estimate(1800, 1710, 1890), "azure NC6s v2", 2.07, 0.319)


@pytest.mark.parametrize(
    ("alternative", "text"),
    [
        (LINE, "1 x P100 (azure NC6s v2): 1,800 samples/s, $2.07 an hour, $0.319 a million samples"),
        (
            replace(LINE, instance_type=None, usd_per_hour=None, usd_per_million_samples=None),
            "1 x P100: 1,800 samples/s, price unknown",
        ),
        (
            replace(LINE, spec=Spec(None)),
            "no accelerator (azure NC6s v2): 1,800 samples/s, $2.07 an hour, $0.319 a million samples",
        ),
    ],
)
def test_an_alternative_in_a_line(alternative: Alternative, text: str) -> None:
    """What it is, how fast, what an hour and the work cost."""
    assert alternative_line(alternative, Terms("train")) == text


@pytest.mark.parametrize(("there", "rate"), [(232.0, " at 232 images/s there"), (298.2, ""), (None, "")])
def test_the_rate_there_is_said_where_it_is_another(there: float | None, rate: str) -> None:
    of = None if there is None else Estimate(there, there, there)
    assert million_there(0.25, Estimate(298.0, 290.0, 300.0), of, "image") == f"$0.25 a million images{rate}"
