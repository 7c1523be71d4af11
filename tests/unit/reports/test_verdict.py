"""The first screen: a row for each workload, with what to rent, what that gives and costs, how sure it is and why."""

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
from sizer.bundled.reports.subject import Material, Progress, subjects
from sizer.bundled.reports.verdict import answer_row, contents
from sizer.cli import main
from sizer.plan.chooser import NextRun, PlanEnd, unfinished
from sizer.plan.following import following_runs
from sizer.plan.run_order import Spread
from sizer.records import answer as records
from sizer.records.prediction import Action, Estimate, ReasonCode, Spec, Suggestion, reason
from sizer.records.study import Adaptive, Deadline, Objective, PlanEndKind, RunReason, RunReasonKind
from sizer.records.units import GIB
from sizer.words.answers import how_sure
from sizer.words.verdict import objective_in_words
from tests.reported_study import plainly
from tests.unit.plan.machine import HOST, study_of

# The first screen: a row for each workload, which says what to rent, what that gives and costs, and how sure it is.


Changed = Callable[..., Material]


def rows_of(material: Material) -> dict[str, Any]:
    return {subject.name: plainly(answer_row(subject, material)) for subject in subjects(material)}


def shown(material: Material) -> dict[str, Any]:
    return contents(material, subjects(material))


@pytest.fixture
def rows(material: Material) -> dict[str, Any]:
    return rows_of(material)


@pytest.fixture
def changed(material: Material) -> Changed:
    """The material with the answer of its first workload changed."""

    def changed(**changes: Any) -> Material:
        first, *others = material.recommendation.workloads
        answers = (replace(first, **changes), *others)
        return replace(material, recommendation=replace(material.recommendation, workloads=answers))

    return changed


def first_screen(material: Material) -> str:
    """The section as HTML, without the explanations of its badges."""
    page = render(material)
    section = page[page.index('<section id="verdict"') :].partition("</section>")[0]
    return re.sub(r'<span class="badge-says".*?</span>', "", section)


def test_a_row_says_all_that_decides(rows: dict[str, Any]) -> None:
    """Spec, machine, throughput with interval, what binds, cost an hour and per million, and how sure."""
    row = rows["train-resnet50-p100"]
    assert row.spec == ("2 vCPUs", "1 x emulated P100", "1 GiB", "disk medium", "batch 32")
    assert row.machine.name == "AWS c7i.large"
    assert row.machine.shape.replace("\u00a0", " ") == "2 vCPUs · 4 GiB"
    assert (row.rate.value, row.rate.interval) == ("214 images/s", "±3.3 %")
    assert row.bound_by.text == "emulated P100"
    assert row.cost.hour == "$0.0893 an hour"
    assert row.cost.million == "$0.113 a million images"
    assert row.cost.day.startswith("on demand, 2026-07-20")
    assert (row.status.word, row.status.symbol, row.how_sure) == (
        "recommended",
        "✓",
        "very likely (0.97) to reach the target",
    )
    assert row.sentence == ""
    assert (row.doubt, row.settle, row.command) == ("", "", "")


def test_what_is_emulated_embedded_or_predicted_has_a_badge(rows: dict[str, Any], material: Material) -> None:
    """In the row that it is true of; what is true of all rows is said once."""
    emulated = rows["train-resnet50-p100"]
    assert emulated.spec_badge.word == "emulated"
    assert emulated.rate.badge.word == "predicted"
    stated = shown(material)
    assert stated["embedded"].word == "embedded data"
    assert not any(row["data_badge"] for row in stated["rows"])
    own = tuple(replace(run, data_set=None) for run in material.runs if run.spec.workload.name == "lstm-small")
    others = tuple(run for run in material.runs if run.spec.workload.name != "lstm-small")
    stated = shown(replace(material, runs=(*others, *own)))
    assert stated["embedded"] is None
    assert sum(row["data_badge"] is not None for row in stated["rows"]) == 3


def test_no_answer_says_what_is_missing_and_the_run_that_would_help(rows: dict[str, Any]) -> None:
    """`refused` is an outcome of runs, so the word is another one."""
    row = rows["lstm-small"]
    assert (row.kind, row.status.word, row.status.symbol) == ("refused", "no answer", "?")
    assert (row.spec, row.machine, row.rate, row.cost) == ((), None, None, None)
    assert row.no_machine == "no machine yet"
    assert row.settle.endswith(" at 0.5, 1 and 2 vCPUs.")


def test_what_one_command_settles_is_given_as_that_command(changed: Changed) -> None:
    """As one types it in the folder that the study is in."""
    outcomes = reason(ReasonCode.NO_RUN_COMPLETED, outcomes=("crashed",), counts=(2.0,))
    failed = changed(
        status="refused", spec=None, throughput=None, reasons=(outcomes,), next_run=Suggestion(Action.RETRY)
    )
    (row, *_) = rows_of(replace(failed, folder="my-study")).values()
    assert row.doubt == "Not enough data: no run of train-resnet50-p100 completed (2 crashed)."
    assert row.command == "sizer resume my-study --retry"
    assert "<code>sizer resume my-study --retry</code>" in first_screen(replace(failed, folder="my-study"))
    (row, *_) = rows_of(failed).values()
    assert row.command == "", "no folder is known"


def test_machines_that_were_compared_keep_the_tables_prices(changed: Changed) -> None:
    """The price that decided, and not that of a cheaper offer of the catalogue; they are measured, not modelled."""
    spec, rate = Spec(4.0, gpu="T4", gpu_count=1), Estimate(100.0, 95.0, 105.0)
    own = records.Alternative(spec, rate, None, 4.1, 11.4)
    other = records.Alternative(Spec(8.0, gpu="V100", gpu_count=1), Estimate(150.0, 145.0, 155.0), None, 9.0, 16.7)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(own, other))).values()
    assert (row.cost.hour, row.cost.million) == ("$4.10 an hour", "$11.40 a million images")
    assert row.cost.day == "price of the imported table"
    assert row.machine is None
    assert row.rate.badge is None
    assert "interval" in (row.rate.bar or "")
    named = replace(own, instance_type="aws c7i.large", usd_per_hour=0.0893)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(named, other))).values()
    assert row.machine.name == "AWS c7i.large"
    assert row.cost.day.startswith("on demand, 2026-07-20")
    unknown = replace(own, usd_per_hour=None, usd_per_million_samples=None)
    (row, *_) = rows_of(changed(spec=spec, throughput=rate, alternatives=(unknown, other))).values()
    assert row.cost.hour == "price unknown"


def test_a_machine_larger_than_the_spec_says_why(changed: Changed) -> None:
    """The smallest that is sold, or the cheapest of them."""
    (row, *_) = rows_of(changed(spec=Spec(1.0, GIB, "medium", 32))).values()
    assert row.machine.badge.word == "smallest sold"


def test_a_price_that_is_not_known_is_never_zero(changed: Changed, material: Material) -> None:
    """It says so, and an answer that nothing sold holds says that."""
    unknown = material.recommendation.workloads[0].instances[-1]
    (row, *_) = rows_of(changed(instances=(unknown,))).values()
    assert (row.cost.hour, row.cost.million, row.cost.day) == ("price unknown", "", "")
    assert "No instance type of the catalogue holds this." in first_screen(changed(instances=()))


def test_an_unfinished_study_says_what_is_missing(material: Material) -> None:
    """How many runs are there, in all and of each workload, and the command that goes on; no answer looks sure."""
    names = [subject.name for subject in subjects(material)]
    progress = Progress(dict.fromkeys(names, 14), {names[0]: 9, names[1]: 14})
    unfinished = replace(material, progress=progress, folder="my-study")
    stated = shown(unfinished)
    assert stated["missing"] == "Not finished: 23 of 56 runs done. To go on:"
    assert stated["resume"] == "sizer resume my-study"
    first, second, *_ = map(plainly, stated["rows"])
    assert (first.status.word, first.how_sure, first.doubt) == (
        "provisional",
        "runs are missing",
        "9 of 14 runs done.",
    )
    assert second.status.word == "at least"
    assert "<code>sizer resume my-study</code>" in first_screen(unfinished)
    none = replace(unfinished, runs=(), recommendation=None, model=None, progress=replace(progress, finished={}))
    assert shown(none)["missing"] == "Not finished: 0 of 56 runs done. To go on:"
    assert "No recommendation has been computed" not in first_screen(none)
    assert first_screen(none).count("0 of 14 runs done.") == 4
    done = replace(unfinished, progress=replace(progress, finished=progress.planned))
    assert shown(done)["missing"] == ""


def test_an_adaptive_study_says_what_it_would_measure_next_or_how_it_ended(material: Material) -> None:
    """Nobody knows how many runs it will take, so none is called missing; the run that comes next is named, and why."""
    names = [subject.name for subject in subjects(material)]
    made = dict.fromkeys(names, 4)
    why = RunReason(RunReasonKind.BETWEEN_VCPUS, {"low": 2.0, "high": 8.0})
    cut_short = Progress(made, made, {}, NextRun(material.runs[0].spec, why))
    unfinished = replace(material, progress=cut_short, folder="my-study")
    stated = shown(unfinished)
    assert stated["missing"].startswith("Not finished: runs are chosen one after another, and the next is ")
    assert stated["missing"].endswith(": between 2 and 8 vCPUs the answer is open. To go on:")
    assert stated["resume"] == "sizer resume my-study"
    assert "4 of 4" not in first_screen(unfinished)
    end = PlanEnd(PlanEndKind.BUDGET, tuple(names[1:]), (names[0],), 16, 600.0)
    ended = shown(replace(material, progress=replace(cut_short, chosen=end), folder="my-study"))
    assert ended["missing"] == ""
    sentence = next(
        note for note in ended["notes"] if note.startswith("Its runs were chosen one after another: the budget")
    )
    assert sentence.endswith(f"still open: `{names[0]}`.")
    bounded = replace(end, then=NextRun(material.runs[0].spec, why), enough=900.0)
    ended = shown(replace(material, progress=replace(cut_short, chosen=bounded), folder="my-study"))
    assert ended["missing"].startswith("Its runs were chosen one after another: the budget")
    assert ended["missing"].endswith(": between 2 and 8 vCPUs the answer is open. To go on:")
    assert ended["resume"] == "sizer run my-study/study.yaml --out my-study --budget 15m"
    assert not any(note.startswith("Its runs were chosen") for note in ended["notes"])


def test_a_search_that_is_not_finished_is_no_search_that_found_nothing(material: Material) -> None:
    """What it found so far, which bound has no room for its next run, and the command that goes on."""
    names = [subject.name for subject in subjects(material)]
    made = dict.fromkeys(names, 4)
    study = replace(study_of(memory_floor=True), adaptive=Adaptive(runs=0))
    left = unfinished(following_runs(study, HOST), [], study)
    progress = Progress(made, made, searching=left)
    stated = shown(replace(material, progress=progress, folder="my-study"))
    assert stated["missing"] == (
        "Not finished: `job`: the memory floor is not known; the search is not finished; as many runs are made as were "
        "allowed. To go on:"
    )
    assert stated["resume"] == "sizer run my-study/study.yaml --out my-study --runs 4"


def test_without_a_recommendation_the_page_says_how_to_get_one(material: Material) -> None:
    """With the folder, where it is known."""
    text = first_screen(replace(material, recommendation=None, folder="my-study"))
    assert "No recommendation has been computed" in text
    assert "<code>sizer recommend my-study</code>" in text


def test_what_is_known_of_the_whole_study_stands_above_the_rows(material: Material) -> None:
    """What was asked, when and in how many runs, and whether the host drifted."""
    text = first_screen(replace(material, drift=Spread(12, 180.0, 220.0, "image")))
    assert "The cheapest spec that keeps 95 % of the best throughput. 2026-11-21. 56 runs: 53 completed" in text
    assert ">drifting<" in text
    assert "The host drifted: " in text
    assert "A quiet host, or more repeats" in text
    quiet = replace(material, runs=tuple(replace(run, warnings=()) for run in material.runs))
    assert "A quiet host" not in first_screen(quiet)


# The row of an answer: a doubtful one does not look sure, a job has its time and price, a baseline its saving.


RISES = reason(ReasonCode.RISES, memory_bytes=2.0**30)
UNSETTLED = reason(ReasonCode.GAIN_UNKNOWN, memory_bytes=2.0**30)
SECONDS = Estimate(15_000.0, 14_100.0, 16_200.0)
JOB = records.Job(1.2e6, 21_600.0, SECONDS, 0.97, 1.42, "aws c6i.xlarge")
TIMES = {"within": 21_600.0, "seconds": 25_000.0, "low": 24_000.0, "high": 26_000.0}

Retold = Callable[..., Any]


@pytest.fixture
def retold(changed: Changed) -> Retold:
    """The row of the first workload with its answer changed."""

    def retold(objective: Objective | None = None, **changes: Any) -> Any:
        subject = subjects(changed(**changes))[0]
        return plainly(answer_row(replace(subject, objective=objective or subject.objective), changed(**changes)))

    return retold


def test_a_provisional_answer_is_not_green(retold: Retold, changed: Changed) -> None:
    """Another word, another sign, another colour, and no probability that rests on doubtful runs."""
    doubted = reason(ReasonCode.RUNS_DOUBTFUL, completed=3.0, doubtful=3.0, doubts=("one_reading",))
    again = Suggestion(Action.REPEAT, doubted)
    row = retold(provisional=True, reasons=(doubted,), next_run=again)
    assert (row.status.word, row.status.symbol, row.kind) == ("provisional", "!", "recommended provisional")
    assert row.how_sure == "0.97 to reach the target; its readings are in doubt"
    assert row.doubt == "In 3 of 3 runs the rate is known by one reading."
    assert row.settle == "Repeat train-resnet50-p100."
    page = render(changed(provisional=True))
    assert '<tbody class="recommended provisional">' in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    assert ".badge.recommended { --badge: var(--good); }" in style
    assert style.index(".provisional { --status: var(--caution); }") > style.index(".recommended { --status:")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (ReasonCode.UNPRICED, "prices are missing"),
        (ReasonCode.ONLY_MACHINE, "only one was measured"),
        (ReasonCode.RUNS_APART, "not known: one of the rates looks like a slip"),
        (ReasonCode.BEST_OF_MACHINES, ""),
    ],
)
def test_what_is_said_of_a_provisional_answer_is_what_makes_it_one(
    material: Material, code: ReasonCode, sentence: str
) -> None:
    """Runs were not disturbed where prices are missing."""
    answer = material.recommendation.workloads[0]
    assert (
        how_sure(replace(answer, provisional=True, probability=0.99, probability_of=None, reasons=(reason(code),)))
        == sentence
    )


def test_an_answer_that_is_less_than_sure_keeps_its_probability(retold: Retold) -> None:
    """It is provisional because of it; the word goes with the figure."""
    assert retold(provisional=True, probability=0.72).how_sure == "likely (0.72) to reach the target"
    assert retold(provisional=True, probability=0.5).how_sure == "as likely as not (0.50) to reach the target"
    assert retold(provisional=True, probability=0.1).how_sure == "unlikely (0.10) to reach the target"
    assert retold(probability=0.999).how_sure == "almost certain (above 0.99) to reach the target"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (records.Event.REACHES_TARGET, "very likely (0.98) to reach the target"),
        (records.Event.LESS_TOO_LITTLE, "very likely (0.98) that fewer vCPUs or less memory is too little"),
        (records.Event.NONE_CHEAPER, "very likely (0.98) that none is 5 % cheaper"),
        (records.Event.NONE_BETTER, "very likely (0.98) that none has 5 % less cost × time"),
        (records.Event.NONE_FASTER, "very likely (0.98) that none is 5 % faster"),
        (records.Event.GIVES_RATE, "very likely (0.98) to give the rate asked for"),
        (records.Event.IN_TIME, "very likely (0.98) to be in time"),
    ],
)
def test_a_probability_says_what_it_is_that_of(event: records.Event, words: str, material: Material) -> None:
    """Of two machines that cost alike neither is the cheapest for sure, and none is 5 % cheaper all the same."""
    answer = material.recommendation.workloads[0]
    assert how_sure(replace(answer, probability=0.98, probability_of=event)) == words


@pytest.mark.parametrize("used", [1, 3])
def test_an_accelerator_that_is_paid_for_and_idle_is_named(used: int, retold: Retold, material: Material) -> None:
    (offer, *_) = material.recommendation.workloads[0].instances
    more = reason(ReasonCode.OTHER_HARDWARE, gpu_count=4.0, used=float(used))
    sentence = f"The price pays for 4 GPUs; this throughput uses {used}."
    assert retold(instances=(replace(offer, notes=(more,)),)).sentence.endswith(sentence)
    unpriced: records.InstanceOffer = replace(offer, notes=(more,), usd_per_hour=None)
    assert "GPUs" not in retold(instances=(unpriced,)).sentence
    unused = replace(offer, notes=(reason(ReasonCode.OTHER_HARDWARE, gpu_count=1.0),))
    assert retold(instances=(unused,)).sentence.endswith("The price pays for 1 GPU; this throughput uses none.")


def test_what_is_not_settled_is_no_lower_bound(retold: Retold) -> None:
    """`at least` is for a rate that rises."""
    row = retold(status="at_least", edge="unsettled", reasons=(UNSETTLED,))
    assert (row.status.word, row.status.symbol, row.bound) == ("not settled", "?", "so far")
    assert row.doubt.startswith("It is not clear whether more than 1 GiB of memory")
    rising = retold(status="at_least", edge="rising", reasons=(UNSETTLED, RISES))
    assert (rising.status.word, rising.status.symbol, rising.bound) == ("at least", "≥", "at least")
    assert rising.doubt == "The rate still rises at 1 GiB of memory, the most measured."


def test_a_job_has_its_time_and_its_price(retold: Retold) -> None:
    """With what it was asked for as the objective."""
    deadline = Objective(deadline=Deadline(1.2e6, 21_600.0))
    takes = reason(ReasonCode.JOB_TAKES, samples=1.2e6, seconds=15_000.0, within=21_600.0, probability=0.97)
    costs = reason(ReasonCode.JOB_COSTS, usd=1.42)
    row = retold(deadline, job=JOB, reasons=(takes, costs))
    assert row.sentence == (
        "1,200,000 images take 4 h 10 min at the steady rate, plus the time to start. The probability of finishing "
        "within 6 h 00 min is 0.97. The job costs about $1.42, by its hourly price and the expected time."
    )
    assert row.how_sure == "very likely (0.97) to be in time"
    assert objective_in_words(deadline) == (
        "The spec on which 1,200,000 samples cost least of those that finish them within 6 h 00 min."
    )


def test_nothing_in_time(retold: Retold) -> None:
    """No spec, and not for want of data."""
    late = reason(ReasonCode.NONE_ENOUGH, samples=1.2e6, sure=0.9, probability=0.001, **TIMES)
    job = replace(JOB, probability=0.001)
    row = retold(status="refused", spec=None, throughput=None, probability=None, job=job, reasons=(late,))
    assert (row.status.word, row.no_machine) == ("too late", "none is fast enough")
    assert "takes 6 h 57 min" in row.doubt


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
        self.long: list[tuple[str, str]] = []
        self._open: list[tuple[str, str]] = []
        self._text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in WITHIN:
            self._end()
        attributes = dict(attrs)
        if tag not in ("meta", "br", "input"):
            self._open.append((tag, attributes.get("aria-labelledby") or attributes.get("class") or ""))

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
        text = re.sub(r"\s+", " ", self._text).strip()
        self._text = ""
        self.long += [(where, sentence) for sentence in re.split(r"(?<=[.;?!]) ", text) if len(sentence.split()) > LONG]


def repeated(page: str) -> list[str]:
    """Sentences that stand twice in one workload's section, or twice outside of these."""
    twice = [sentence for (_where, sentence), count in Counter(Sentences(page).long).items() if count > 1]
    return [sentence for sentence in twice if not any(re.fullmatch(pattern, sentence) for pattern in EXPECTED)]


@pytest.fixture
def imported(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The page that `import` makes of a table."""
    (tmp_path / "table.csv").write_text(request.param)
    assert main(["import", str(tmp_path / "table.csv"), "--out", str(tmp_path / "study")]) == 0
    return (tmp_path / "study" / "report.html").read_text("utf-8")


@pytest.mark.parametrize("imported", [MACHINES, NO_PRICE, RISING, ALL_FAILED], indirect=True)
def test_the_page_of_a_table_says_nothing_twice(imported: str) -> None:
    """Machines with prices, without, and runs that all failed."""
    assert Sentences(imported).long
    assert repeated(imported) == []


def test_the_page_of_a_study_says_nothing_twice(material: Material) -> None:
    """As it is, and before anything has been recommended."""
    assert repeated(render(material)) == []
    assert repeated(render(replace(material, recommendation=None, model=None))) == []
