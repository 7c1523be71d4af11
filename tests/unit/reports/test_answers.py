"""The row of an answer: a doubtful one does not look sure, a job has its time and price, a baseline its saving."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, subjects
from sizer.bundled.reports.verdict import answer_row
from sizer.cli import main
from sizer.records.answer import Baseline, Event, InstanceOffer, Job
from sizer.records.configuration import Estimate
from sizer.records.notes import Note, NoteKind
from sizer.records.prediction import Action, ReasonCode, Spec, Suggestion, reason
from sizer.records.study import Deadline, Objective
from sizer.words.answers import how_sure
from sizer.words.verdict import objective_in_words
from tests.reported_study import plainly

RISES = reason(ReasonCode.RISES, memory_bytes=2.0**30)
UNSETTLED = reason(ReasonCode.GAIN_UNKNOWN, memory_bytes=2.0**30)
SECONDS = Estimate(15_000.0, 14_100.0, 16_200.0)
JOB = Job(1.2e6, 21_600.0, SECONDS, 0.97, 1.42, "aws c6i.xlarge")
BASELINE = Baseline(
    spec=Spec(8.0, None, "medium"),
    throughput=Estimate(220.0, 210.0, 230.0),
    share=0.97,
    usd_per_hour=1.36,
    instance_type="aws c6i.8xlarge",
    answer_usd_per_hour=0.34,
    answer_instance_type="aws c6i.2xlarge",
    saving=0.75,
)
TIMES = {"within": 21_600.0, "seconds": 25_000.0, "low": 24_000.0, "high": 26_000.0}

Retold = Callable[..., Any]


@pytest.fixture
def changed(material: Material) -> Callable[..., Material]:
    """The material with the answer of its first workload changed."""

    def changed(**changes: Any) -> Material:
        assert material.recommendation is not None
        first, *others = material.recommendation.workloads
        answers = (replace(first, **changes), *others)
        return replace(material, recommendation=replace(material.recommendation, workloads=answers))

    return changed


@pytest.fixture
def retold(changed: Callable[..., Material]) -> Retold:
    """The row of the first workload with its answer changed."""

    def retold(objective: Objective | None = None, **changes: Any) -> Any:
        subject = subjects(changed(**changes))[0]
        return plainly(answer_row(replace(subject, objective=objective or subject.objective), changed(**changes)))

    return retold


def test_a_provisional_answer_is_not_green(retold: Retold, changed: Callable[..., Material]) -> None:
    """Another word, another sign, another colour, and no probability that rests on doubtful runs."""
    doubted = reason(ReasonCode.RUNS_DOUBTFUL, completed=3.0, doubtful=3.0, doubts=("one_reading",))
    again = Suggestion(Action.REPEAT, doubted)
    found = retold(provisional=True, reasons=(doubted,), next_run=again)
    assert (found.status.word, found.status.symbol, found.kind) == ("provisional", "!", "recommended provisional")
    assert found.how_sure == "0.97 to reach the target; its readings are in doubt"
    assert found.doubt == "In 3 of 3 runs the rate is known by one reading."
    assert found.settle == "Repeat train-resnet50-p100."
    page = render(changed(provisional=True))
    assert '<tbody class="recommended provisional">' in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert ".badge.recommended { --badge: var(--good); }" in style
    assert style.index(".provisional { --status: var(--caution); }") > style.index(".recommended { --status:")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (ReasonCode.UNPRICED, "prices are missing"),
        (ReasonCode.ONLY_MACHINE, "only one was measured"),
        (ReasonCode.RUNS_APART, "not known: one of the rates looks like a slip"),
        (ReasonCode.BEST_OF_MACHINES, ""),
    ],
)
def test_what_is_said_of_a_provisional_answer_is_what_makes_it_one(
    material: Material, code: ReasonCode, said: str
) -> None:
    """Runs were not disturbed where prices are missing."""
    assert material.recommendation is not None
    answer = material.recommendation.workloads[0]
    assert (
        how_sure(replace(answer, provisional=True, probability=0.99, probability_of=None, reasons=(reason(code),)))
        == said
    )


def test_an_answer_that_is_less_than_sure_keeps_its_probability(retold: Retold) -> None:
    """It is provisional because of it; the word goes with the figure."""
    assert retold(provisional=True, probability=0.72).how_sure == "likely (0.72) to reach the target"
    assert retold(provisional=True, probability=0.5).how_sure == "as likely as not (0.50) to reach the target"
    assert retold(provisional=True, probability=0.1).how_sure == "unlikely (0.10) to reach the target"
    assert retold(probability=0.999).how_sure == "almost certain (above 0.99) to reach the target"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event.REACHES_TARGET, "very likely (0.98) to reach the target"),
        (Event.LESS_TOO_LITTLE, "very likely (0.98) that fewer vCPUs or less memory is too little"),
        (Event.NONE_CHEAPER, "very likely (0.98) that none is 5 % cheaper"),
        (Event.NONE_BETTER, "very likely (0.98) that none has 5 % less cost × time"),
        (Event.NONE_FASTER, "very likely (0.98) that none is 5 % faster"),
        (Event.GIVES_RATE, "very likely (0.98) to give the rate asked for"),
        (Event.IN_TIME, "very likely (0.98) to be in time"),
    ],
)
def test_a_probability_says_what_it_is_that_of(event: Event, said: str, material: Material) -> None:
    """Of two machines that cost alike neither is the cheapest for sure, and none is 5 % cheaper all the same."""
    assert material.recommendation is not None
    answer = material.recommendation.workloads[0]
    assert how_sure(replace(answer, probability=0.98, probability_of=event)) == said


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event.NONE_CHEAPER, "very likely (0.98) that none with a price is 5 % cheaper"),
        (Event.NONE_BETTER, "very likely (0.98) that none with a price has 5 % less cost × time"),
        (Event.NONE_FASTER, "very likely (0.98) that none is 5 % faster"),
    ],
)
def test_what_has_no_price_may_be_cheaper(event: Event, said: str, material: Material) -> None:
    """Where some of what was measured has no known price, only the others are known to cost more."""
    assert material.recommendation is not None
    unpriced = reason(ReasonCode.PRICES, unknown=4, machines=6)
    answer = replace(material.recommendation.workloads[0], reasons=(unpriced,))
    assert how_sure(replace(answer, probability=0.98, probability_of=event)) == said


def test_a_doubt_takes_the_place_of_a_word_and_keeps_the_figure(retold: Retold) -> None:
    """The word would be surer than the runs; the figure is what they say, as the JSON has it."""
    doubtful = reason(ReasonCode.RUNS_DOUBTFUL, doubtful=3.0, completed=3.0, doubts=("one_reading",))
    found = retold(provisional=True, probability=0.97, reasons=(doubtful,))
    assert found.how_sure == "0.97 to reach the target; its readings are in doubt"
    lower = retold(
        status="at_least", edge="rising", probability=0.97, probability_of=Event.LESS_TOO_LITTLE, reasons=(RISES,)
    )
    assert lower.how_sure == "very likely (0.97) that fewer vCPUs or less memory is too little"


@pytest.mark.parametrize("used", [1, 3])
def test_an_accelerator_that_is_paid_for_and_idle_is_named(used: int, retold: Retold, material: Material) -> None:
    assert material.recommendation is not None
    (offer, *_) = material.recommendation.workloads[0].instances
    more = reason(ReasonCode.OTHER_HARDWARE, gpu_count=4.0, used=float(used))
    said = f"The price pays for 4 GPUs; this throughput uses {used}."
    assert retold(instances=(replace(offer, notes=(more,)),)).sentence.endswith(said)
    unpriced: InstanceOffer = replace(offer, notes=(more,), usd_per_hour=None)
    assert "GPUs" not in retold(instances=(unpriced,)).sentence
    unused = replace(offer, notes=(reason(ReasonCode.OTHER_HARDWARE, gpu_count=1.0),))
    assert retold(instances=(unused,)).sentence.endswith("The price pays for 1 GPU; this throughput uses none.")


def test_what_is_not_settled_is_no_lower_bound(retold: Retold) -> None:
    """`at least` is for a rate that rises."""
    found = retold(status="at_least", edge="unsettled", reasons=(UNSETTLED,))
    assert (found.status.word, found.status.symbol, found.bound) == ("not settled", "?", "so far")
    assert found.doubt.startswith("It is not clear whether more than 1 GiB of memory")
    rising = retold(status="at_least", edge="rising", reasons=(UNSETTLED, RISES))
    assert (rising.status.word, rising.status.symbol, rising.bound) == ("at least", "≥", "at least")
    assert rising.doubt == "The rate still rises at 1 GiB of memory, the most measured."


def test_a_rate_that_is_known_to_be_wrong_is_not_in_the_row(retold: Retold) -> None:
    """The sentence says why, and what to correct."""
    figures = {"mistold": 3.0, "completed": 3.0, "factor": 32.0, "alike": True, "correct": "batches"}
    found = retold(
        reasons=(reason(ReasonCode.RATE_CONTRADICTED, **figures),),
        provisional=True,
        rate_in_doubt=True,
        next_run=Suggestion(Action.REPEAT, repeat_how="batches"),
    )
    assert found.rate is None
    assert found.doubt.startswith("In 3 of 3 runs the log most likely tells a rate of batches")
    assert found.settle.startswith("Name the group batches in the pattern of")


def test_a_job_has_its_time_and_its_price(retold: Retold) -> None:
    """With what it was asked for as the objective."""
    deadline = Objective(deadline=Deadline(1.2e6, 21_600.0))
    takes = reason(ReasonCode.JOB_TAKES, samples=1.2e6, seconds=15_000.0, within=21_600.0, probability=0.97)
    costs = reason(ReasonCode.JOB_COSTS, usd=1.42)
    found = retold(deadline, job=JOB, reasons=(takes, costs))
    assert found.sentence == (
        "1,200,000 images take 4 h 10 min at the steady rate, plus the time to start. The probability of finishing "
        "within 6 h 00 min is 0.97. The job costs about $1.42, by its hourly price and the expected time."
    )
    assert found.how_sure == "very likely (0.97) to be in time"
    assert objective_in_words(deadline) == (
        "The spec on which 1,200,000 samples cost least of those that finish them within 6 h 00 min."
    )


def test_nothing_in_time(retold: Retold) -> None:
    """No spec, and not for want of data."""
    late = reason(ReasonCode.NONE_ENOUGH, samples=1.2e6, sure=0.9, probability=0.001, **TIMES)
    job = replace(JOB, probability=0.001)
    found = retold(status="refused", spec=None, throughput=None, probability=None, job=job, reasons=(late,))
    assert (found.status.word, found.no_machine) == ("too late", "none is fast enough")
    assert "takes 6 h 57 min" in found.doubt


def test_what_it_saves(retold: Retold) -> None:
    """The first screen says it as the terminal does, and that the other's rate was not measured."""
    figures = {"share": 0.97, "dearer": -0.75, "baseline_usd": 0.4, "answer_usd": 0.1, "answer_instance": "a.large"}
    beside = replace(reason(ReasonCode.BASELINE, instance_type="a.8xlarge", **figures), spec=Spec(8.0))
    named = retold(baseline=replace(BASELINE, named=True, extrapolated=True), reasons=(beside,))
    assert named.sentence == (
        "$0.10 an hour (a.large) instead of $0.40 (a.8xlarge) for 8 vCPUs, the largest measured: 75 % less, at 97 % "
        "of its rate."
    )
    assert named.sentence_badge is not None
    assert named.sentence_badge.word == "extrapolated"
    assert retold(baseline=None, reasons=()).sentence == ""


def test_a_spec_without_vcpus(retold: Retold, changed: Callable[..., Material]) -> None:
    """Where they are not known, the page names none in the spec."""
    assert retold(spec=Spec(None, None, "fast")).spec == ("1 x emulated P100", "disk fast")
    assert "disk fast" in render(changed(spec=Spec(None, None, "fast"), runner_up=None))


def test_accelerators_are_part_of_the_spec(retold: Retold) -> None:
    """Their count, and the kind that the device names."""
    assert retold(spec=Spec(4.0, gpu="A100", gpu_count=2)).spec == ("4 vCPUs", "2 x A100")
    assert retold(spec=Spec(4.0, gpu_count=2)).spec == ("4 vCPUs", "2 x emulated P100")


LONG = 6
"""Words; what is shorter is a label."""
WITHIN = frozenset({"p", "li", "dd", "figcaption", "h2", "h3", "h4"})
"""What holds sentences. Tables and what is folded away are looked up, not read from one end to the other."""
UNREAD = frozenset({"table", "details", "script", "style", "svg"})
UNREAD_CLASSES = frozenset({"badge-says", "legend"})
EXPECTED = (
    r"The rate still rises at .*, the most measured\.",  # of each workload's model
    r"Each of \d+ configurations was predicted by a fit to the others:.*",  # the same
    r"At .*\.",  # what two charts have in common
    r".* · .*",  # what a workload is, over its section and over its runs
)
"""Said again on purpose, in another place that is read by itself."""

MACHINES = """workload,gpu,gpu_count,vcpus,usd_per_hour,throughput
one,T4,1,4,0.5,100
one,V100,1,8,3.0,250
one,V100,4,32,12.0,900
two,T4,1,4,0.5,200
two,V100,1,8,3.0,450
"""
NO_PRICE = """workload,gpu,gpu_count,throughput
bert,FooChip,1,100
bert,FooChip,2,190
bert,BarChip,1,45
"""
RISING = """workload,vcpus,throughput
a,2,100
a,4,190
"""
ALL_FAILED = """workload,vcpus,memory_gib,throughput,outcome
a,2,4,,out_of_memory
a,4,4,,crashed
"""


class Sentences(HTMLParser):
    """The long sentences of a page, each with the section of the workload that it stands in; empty outside of one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self._text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in WITHIN:
            self._end()
        known = dict(attrs)
        if tag not in ("meta", "br", "input"):
            self._open.append((tag, known.get("aria-labelledby") or known.get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in WITHIN:
            self._end()
        self._open.pop()

    def handle_data(self, data: str) -> None:
        tags = {tag for tag, _name in self._open}
        if WITHIN & tags and not UNREAD & tags and not any(name in UNREAD_CLASSES for _tag, name in self._open):
            self._text += data

    def _end(self) -> None:
        where = next((name for _tag, name in self._open if re.fullmatch(r"workload-\d+", name)), "")
        said = re.sub(r"\s+", " ", self._text).strip()
        self._text = ""
        self.found += [(where, each) for each in re.split(r"(?<=[.;?!]) ", said) if len(each.split()) > LONG]


def repeated(page: str) -> list[str]:
    """Sentences that stand twice in one workload's section, or twice outside of these."""
    twice = [said for (_where, said), count in Counter(Sentences(page).found).items() if count > 1]
    return [said for said in twice if not any(re.fullmatch(known, said) for known in EXPECTED)]


@pytest.fixture
def imported(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The page that `import` makes of a table."""
    (tmp_path / "table.csv").write_text(request.param)
    assert main(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "study")]) == 0
    return (tmp_path / "study" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("imported", [MACHINES, NO_PRICE, RISING, ALL_FAILED], indirect=True)
def test_the_page_of_a_table_says_nothing_twice(imported: str) -> None:
    """Machines with prices, without, and runs that all failed."""
    assert Sentences(imported).found
    assert repeated(imported) == []


@pytest.mark.parametrize("imported", [MACHINES], indirect=True)
def test_what_a_table_of_machines_means_is_said_under_the_first(imported: str) -> None:
    """Its columns mean the same in every workload's section."""
    assert imported.count("The least cost of a million samples first.") == 1


def test_the_page_of_a_study_says_nothing_twice(material: Material) -> None:
    """As it is, and before anything has been recommended."""
    assert repeated(render(material)) == []
    assert repeated(render(replace(material, recommendation=None, model=None))) == []


def test_what_a_host_does_not_allow_is_said_apart_from_what_follows(material: Material) -> None:
    """The note tells the command; that memory was not varied is said by the workloads that it is true of."""
    assert "not varied" not in render(replace(material, notes=(Note(NoteKind.NO_MEMORY_AXIS, fix="sudo sizer demo"),)))


@pytest.mark.parametrize("imported", [NO_PRICE], indirect=True)
def test_nothing_without_a_price_is_called_cheap(imported: str) -> None:
    """It is called by what it is."""
    shown = re.sub(r"<(style|script)>.*?</\1>", "", imported, flags=re.DOTALL)
    assert [said for _where, said in Sentences(shown).found if "cheap" in said.lower()] == []
    assert "Cheapest" not in shown
    assert "Most for each accelerator" in shown


@pytest.mark.parametrize("imported", [NO_PRICE.replace("gpu,", "GPU model,", 1), MACHINES, ALL_FAILED], indirect=True)
def test_no_mark_stands_literally_in_a_note(imported: str) -> None:
    """What is set apart looks like code."""
    notes = imported.partition('<ul class="notes">')[2].partition("</ul>")[0]
    assert "`" not in notes
    assert "<code>" in notes or "Imported" in notes
