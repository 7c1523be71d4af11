"""Answers from a busy host are judged by those from the quiet one, and what contradicts itself is found."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from busy import Pair, are_apart, judge, twin_of
from busy_studies import FOLDER, STUDIES, TWINS, Load
from contradictions import contradictions, reasons_of
from grid_data import load_grid

from sizer.records.answer import Answer, Baseline, Event, Rejection
from sizer.records.configuration import Estimate
from sizer.records.prediction import Reason, ReasonCode, Spec, reason

GIB = 2**30


def answer(vcpus: float, status: str = "recommended", **known: object) -> Answer:
    """With a spec of so many vCPUs, and a rate of 100."""
    made = Answer("job", status, Spec(vcpus), Estimate(100.0, 90.0, 110.0))
    return replace(made, **known)


@pytest.mark.parametrize(
    ("busy", "kept", "apart"),
    [
        (Spec(2.0, 8 * GIB, "nvme"), 1.0, False),
        (Spec(2.0, 8 * GIB, "slow"), 0.91, False),
        (Spec(2.0, 8 * GIB, "slow"), 0.89, True),
        (Spec(1.0, 8 * GIB, "nvme"), 0.99, True),
        (Spec(4.0, 8 * GIB, "nvme"), 1.0, True),
        (Spec(2.0, 4 * GIB, "nvme"), 1.0, True),
        (Spec(2.0, None, "nvme"), 1.0, False),
    ],
)
def test_what_is_as_good_as_another(busy: Spec, kept: float, apart: bool) -> None:
    """Within a tenth of its rate, and of its size where both say it."""
    assert are_apart(Spec(2.0, 8 * GIB, "nvme"), busy, kept) is apart


@pytest.mark.parametrize(
    ("quiet", "busy", "verdict"),
    [
        (answer(2.0), answer(1.0), "WRONG"),
        (answer(2.0, "at_least"), answer(1.0), "WRONG"),
        (answer(1.0), answer(2.0), "WRONG"),
        (answer(2.0), answer(1.0, provisional=True), "not said"),
        (answer(2.0), answer(1.0, "at_least"), "not said"),
        (answer(2.0), answer(2.0), "as good"),
        (answer(2.0), answer(2.0, provisional=True), "held back"),
        (answer(2.0, "at_least"), answer(2.0, "at_least"), "as good"),
        (answer(2.0), answer(1.0, "refused", spec=None), "refused"),
        (answer(2.0, "refused", spec=None), answer(1.0), "no yardstick"),
        (answer(2.0, "at_least", probability=0.6), answer(1.0), "no yardstick"),
        (answer(2.0, provisional=True), answer(1.0), "no yardstick"),
    ],
)
def test_only_a_plain_answer_is_wrong(quiet: Answer, busy: Answer, verdict: str) -> None:
    """One that is provisional, or a lower bound, is none to act on."""
    kept = None if quiet.spec is None or busy.spec is None else 1.0
    assert Pair("one-thread", quiet, busy, kept).verdict == verdict


def test_a_load_says_what_it_takes() -> None:
    """As the table shows it."""
    assert str(Load(4)) == "4 x cpu"
    assert str(Load(1, "memory", spell=10.0)) == "1 x memory, 10 s on and off"


@pytest.mark.parametrize("name", STUDIES)
def test_twins_are_of_one_study(name: str) -> None:
    """The same runs were asked for, and in the busy one others used the host, which each run tells."""
    quiet, busy = (load_grid(FOLDER / name / f"{twin}.jsonl") for twin in TWINS)
    assert {run.id for run in quiet} == {run.id for run in busy}
    assert len({run.spec.workload.name for run in quiet}) == 1
    assert fmean(run.other_cores or 0.0 for run in busy) > 0.4 > fmean(run.other_cores or 0.0 for run in quiet)


def test_nothing_of_the_measuring_host_s_folders_is_in_the_files() -> None:
    """As of the measured grid."""
    files = [path for path in FOLDER.rglob("*") if path.suffix in (".jsonl", ".yaml")]
    assert len(files) == 3 * len(STUDIES)
    for path in files:
        assert not [word for word in ("/tmp", "/root", "/home", "/var", "/work") if word in path.read_text()]


def test_the_rate_of_a_spec_is_that_on_the_quiet_host() -> None:
    """Half of the vCPUs of a job that uses all of them make about half of it there."""
    quiet = twin_of("infer-mxnet", "quiet")
    assert quiet.answer.spec == Spec(2.0)
    assert quiet.rate(Spec(1.0)) == pytest.approx(0.5 * quiet.rate(Spec(2.0)), rel=0.2)


@pytest.mark.parametrize("name", STUDIES)
def test_no_study_on_a_busy_host_is_sure_of_another_spec(name: str) -> None:
    """Nor is one told without a word of the host."""
    pair = judge(name)
    assert pair.verdict != "WRONG"
    said = {each.code for each in reasons_of(pair.busy)}
    assert ReasonCode.RUNS_STARVED in said


def test_no_statement_contradicts_a_plain_answer() -> None:
    """What is said of a sure answer that reaches the target, and that nothing speaks against."""
    sure = answer(2.0, probability=0.99, probability_of=Event.REACHES_TARGET)
    said = (reason(ReasonCode.GIVES, share=1.0, vcpus=2.0), reason(ReasonCode.BOUND_BY, bottleneck="cpu"))
    assert contradictions(replace(sure, reasons=said), 0.95) == ()


LARGEST = Baseline(Spec(2.0), Estimate(100.0, 90.0, 110.0), share=0.99)


@pytest.mark.parametrize(
    ("known", "said", "codes"),
    [
        ({}, [reason(ReasonCode.GAIN_UNKNOWN, probability=0.48)], ("reaches_target", "gain_unknown")),
        ({}, [reason(ReasonCode.SIZE_OPEN)], ("reaches_target", "size_open")),
        ({}, [reason(ReasonCode.GIVES, share=0.8)], ("reaches_target", "gives")),
        ({}, [reason(ReasonCode.MEASURED_BESIDE_OTHERS, measured_rate=50.0)], ("throughput", "measured_beside_others")),
        (
            {"baseline": LARGEST},
            [reason(ReasonCode.BOUND_BY, bottleneck="cpu"), reason(ReasonCode.NEXT_LIMIT, next="serial", gain=0.9)],
            ("bound_by", "next_limit"),
        ),
        (
            {},
            [reason(ReasonCode.GIVES, share=0.97), Reason(ReasonCode.NEXT_LIMIT, {"gain": 0.3}, Spec(4.0))],
            ("gives", "next_limit"),
        ),
        ({}, [reason(ReasonCode.BOUND_BY, bottleneck="cpu", accounted="disk_iops")], ("bound_by", "accounted")),
        (
            {},
            [reason(ReasonCode.BOUND_BY, bottleneck="cpu"), reason(ReasonCode.OTHER_DISK, gain=0.3)],
            ("bound_by", "other_disk"),
        ),
        (
            {},
            [reason(ReasonCode.BOUND_BY, bottleneck="accelerator"), reason(ReasonCode.EMULATED, rate=300.0)],
            ("bound_by", "emulated"),
        ),
        (
            {"rejected": (Rejection(Spec(0.5), (reason(ReasonCode.GIVES, of_target=1.1),)),)},
            [],
            ("fewer_too_few", "gives"),
        ),
        (
            {"status": "at_least"},
            [reason(ReasonCode.BOUND_BY, bottleneck="serial"), reason(ReasonCode.RISES, vcpus=4.0, gain=0.5)],
            ("rises", "bound_by"),
        ),
        ({}, [reason(ReasonCode.RISES, memory_bytes=2.0**30)], ("recommended", "rises")),
    ],
)
def test_what_cannot_both_be_true_is_found(
    known: dict[str, object], said: list[Reason], codes: tuple[str, str]
) -> None:
    """Each by the codes of both."""
    event = Event.FEWER_TOO_FEW if codes[0] == Event.FEWER_TOO_FEW.value else Event.REACHES_TARGET
    told = answer(1.0, probability=0.995, probability_of=event, reasons=tuple(said), **known)
    (found,) = contradictions(told, 0.95)
    assert (found.first, found.second) == codes
    assert set(codes) & {each.code.value for each in reasons_of(told)}
