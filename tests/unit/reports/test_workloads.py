"""What a workload's section says: machines, offers, choices, and frameworks beside each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports import cross_table as section
from sizer.bundled.reports.figures.disks import disk_answer
from sizer.bundled.reports.offers import instances, instead, which_gpu
from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.bundled.reports.workloads import MOST_REJECTED, options, rejected
from sizer.cli import main
from sizer.recommend.cross_table import cross_table
from sizer.records import answer as records
from sizer.records.notes import Note, NoteKind
from sizer.records.prediction import Bottleneck, Estimate, ReasonCode, Spec, reason
from sizer.records.study import Adaptive, Study
from sizer.records.units import GIB
from sizer.words.answers import disk_answer as disk_answer_in_words
from sizer.words.page import cross_answer, cross_lines, table_comes_first
from tests.reported_study import TRAIN
from tests.tables import NAMED, runs_of

# The page of a table of machines: a picture and a table of them, in words as well as in colour.


Page = Callable[..., str]

KINDS = """workload,gpu,gpu_count,throughput
job,T4,1,200
job,T4,2,400
job,T4,8,1590
job,V100,1,1800
job,V100,4,7105
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """The page that `import` makes of a table."""
    made: dict[str, str] = {}

    def page(table: str) -> str:
        if table not in made:
            folder = tmp_path_factory.mktemp("table")
            (folder / "table.csv").write_text(table)
            assert main(["import", str(folder / "table.csv"), "--out", str(folder / "s")]) == 0
            made[table] = (folder / "s" / "report.html").read_text("utf-8")
        return made[table]

    return page


def test_of_a_large_crossed_table_the_chart_nearest_to_the_answer_is_drawn(page: Page) -> None:
    """All runs are in their table."""
    rows = "".join(
        f"job,{gpu},{vcpus},{batch},{vcpus * batch + number}\n"
        for number, gpu in enumerate(("K80", "P100", "V100", "T4"))
        for vcpus in (4, 8)
        for batch in range(1, 21)
    )
    made = page("workload,gpu,vcpus,batch_size,throughput\n" + rows)
    assert made.count("Throughput against vCPUs</h3>") == 1


class Cells(HTMLParser):
    """The rows of the tables in a piece of a page, each with the text of its cells."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += f" {data}" if self.rows[-1][-1] else data


def _machines(page: str) -> list[list[str]]:
    start = page.index("The machines that were compared")
    return Cells(page[start : page.index("</section>", start)]).rows


DISKS = """workload,vcpus,memory_gib,disk,throughput
img,4,16,gp3,290
img,8,16,gp3,420
img,16,16,gp3,430
img,16,16,nvme,1050
img,8,16,nvme,560
img,4,16,nvme,295
"""


def test_machines_are_in_the_order_of_the_cost_that_is_told(page: Page) -> None:
    """Of 4 vCPUs the nvme costs less a sample by what is told; with its volume it would cost more."""
    shown = page(DISKS)
    header, *rows = _machines(shown)
    assert header[3] == "A million samples, without the disk"
    costs = [float(row[3].removeprefix("$")) for row in rows]
    assert costs == sorted(costs)
    counted = "with different disks the answer counts a volume of each, too, of 150 GiB where nothing says its size"
    assert counted in shown
    assert counted not in page(KINDS)


def test_kinds_and_counts_have_a_picture_and_a_table(page: Page) -> None:
    """The least cost of the work first; the answer, the fastest and the dominated say so in words."""
    shown = page(KINDS)
    assert "nothing to draw" not in shown
    assert "<h3>Throughput by machine</h3>" in shown
    header, *rows = _machines(shown)
    assert header == ["Machine", "Throughput", "Price", "A million samples", "Beside the others"]
    assert rows[0] == [
        "1 x V100 gcp n1-standard-8+1xV100",
        "1,800 samples/s (1,710–1,890)",
        "$2.86 an hour",
        "$0.441",
        "the answer, least cost",
    ]
    assert rows[1][-1] == "fastest"
    assert len(rows) == 5
    assert shown.count('<tr class="answer-row">') == 2, "of the tables of choices and of machines"


def test_the_picture_is_read_out(page: Page) -> None:
    """Every bar with its rate; the kinds are headings, and each bar says more when it is pointed at."""
    shown = page(KINDS)
    label = re.search(r'aria-label="(Throughput by machine: [^"]*)"', shown)
    assert label[1].count("samples/s (") == 5
    assert "1 x V100 1,800 samples/s (1,710–1,890)" in label[1]
    assert re.findall(r'class="kind"[^>]*>([^<]*)<', shown) == ["V100", "T4"]
    assert "<title>1 x V100, gcp n1-standard-8+1xV100: 1,800 samples/s (1,710–1,890)</title>" in shown
    assert shown.count('class="bar answer-bar"') == 1
    assert "1 x V100 – recommended</tspan>" in shown


def test_a_machine_by_its_own_name(page: Page) -> None:
    """It is what the table calls it, at the table's price, without a date and a provider that nobody gave."""
    shown = page(NAMED)
    assert _machines(shown)[1][:4] == ["1 x A10G small.b", "300 samples/s (286–315)", "$1.50 an hour", "$1.39"]
    assert "as of <" not in shown
    assert "the imported table" in shown
    assert "0 vCPUs" not in shown
    assert [row[-1] for row in _machines(shown)[1:]] == ["the answer, least cost", "dominated", "fastest", "dominated"]


def test_many_machines_are_folded(page: Page) -> None:
    """The picture shows those that nothing dominates; the table has the others behind a line to open."""
    table = "workload,instance_type,usd_per_hour,gpu,gpu_count,throughput\n" + "".join(
        f"job,type{i},{1 + i},V100,1,{100 + 40 * i if i < 5 else 90 + i}\n" for i in range(16)
    )
    shown = page(table)
    assert shown.count('class="bar"') + shown.count('class="bar answer-bar"') == 5 + 1, "five, and a key"
    assert "The table below has 11 more." in shown
    assert "<summary>11 more machines</summary>" in shown
    assert len(_machines(shown)) == 2 + 16


CHEAP, FAST = Spec(2.0, GIB, "medium", 32), Spec(8.0, GIB, "fast", 32)


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


def _answered(subject: Subject, **changed: object) -> Subject:
    return replace(subject, answer=replace(subject.answer, **changed))  # type: ignore[arg-type]


def _option(preferences: tuple[str, ...], spec: Spec, rate: float, usd: float | None) -> records.Option:
    estimate = Estimate(rate, rate * 0.95, rate * 1.05)
    return records.Option(preferences, spec, estimate, 0.97, Bottleneck.CPU, "aws c6i.large", usd, None)


def test_a_row_for_each_choice(trained: Subject) -> None:
    """With what it costs; the answer is marked, and an unknown price is not 0."""
    rate = trained.answer.throughput
    first = replace(_option(("cheapest", "balanced"), CHEAP, rate.value, 0.085), throughput=rate)
    shown = options(_answered(trained, options=(first, _option(("fastest",), FAST, 219.0, None))))
    assert all(row["bound"] for row in shown["rows"])
    assert [row["name"] for row in shown["rows"]] == [("Cheapest and balanced", "the answer"), ("Fastest", "")]
    assert [row["is_answer"] for row in shown["rows"]] == [True, False]
    assert [row["hour"][0] for row in shown["rows"]] == ["$0.085 an hour", "price unknown"]
    assert shown["same"] == ""


def test_one_choice_is_a_sentence(trained: Subject) -> None:
    """And none where rates are known to be wrong, or nothing was chosen."""
    one = (_option(("cheapest", "balanced", "fastest"), CHEAP, 214.0, 0.085),)
    shown = options(_answered(trained, options=one))
    assert shown["rows"] == []
    assert shown["same"] == "The cheapest, the balanced and the fastest choice are this same spec."
    assert options(_answered(trained, options=one, status="at_least"))["same"].startswith("Within what was measured")
    assert options(_answered(trained, options=one, rate_in_doubt=True)) == options(replace(trained, answer=None))
    assert options(_answered(trained, options=()))["same"] == ""


def test_a_choice_without_a_price_is_called_by_what_it_is(trained: Subject) -> None:
    """Nothing is known to be cheap."""
    machines = Spec(None, gpu="T4", gpu_count=1), Spec(None, gpu="V100", gpu_count=2)
    for (small, fast), called in (((CHEAP, FAST), "Smallest"), (machines, "Most for each accelerator")):
        both = (_option(("cheapest", "balanced"), small, 214.0, None), _option(("fastest",), fast, 219.0, None))
        shown = options(_answered(trained, options=both))
        assert shown["title"] == "Small or fast"
        assert [row["name"][0] for row in shown["rows"]] == [called, "Fastest"]
    one = replace(both[0], preferences=("cheapest", "balanced", "fastest"))
    assert options(_answered(trained, options=(one,)))["same"] == ""


def test_a_cheaper_spec_says_what_it_gives_saves_and_why_not(trained: Subject) -> None:
    """What is not known is empty; no more than six are shown at once."""
    why = (reason(ReasonCode.GIVES, of_target=0.64, bottleneck="cpu"),)
    slow = records.Rejection(CHEAP, why, None, Estimate(100.0, 95.0, 105.0), 0.5, 0.04, 0.31)
    same = replace(slow, usd_saved_per_hour=0.0, saving=0.0)
    dearer = replace(slow, usd_saved_per_hour=-0.01, saving=-0.1)
    lost = records.Rejection(CHEAP, (reason(ReasonCode.OUT_OF_MEMORY),))
    shown = rejected(_answered(trained, rejected=(slow, same, dearer, lost, slow, slow, slow)))
    rows = shown["rejected"]
    assert len(rows) == MOST_REJECTED
    assert len(shown["more_rejected"]) == 1
    assert shown["rejected_title"] == "Why not a smaller or cheaper one"
    assert rejected(_answered(trained, rejected=(lost,)))["rejected_title"] == "Why not a smaller one"
    first, second, third, fourth = rows[:4]
    assert first["rate"] == ("100 images/s (95–105)", "50 % of the answer's")
    assert first["saved"] == ("$0.04 an hour", "31 %")
    assert first["why"] == "Reaches 64 % of the target, bound by the CPU."
    assert second["saved"][0] == "nothing"
    assert third["saved"][0] == "nothing, it costs $0.01 an hour more"
    assert (*fourth["rate"], *fourth["saved"], fourth["why"]) == ("", "", "", "", "Runs out of memory.")


# The table of instance types: one for all workloads, with every price's day and source.


def offered(name: str, **others: object) -> records.InstanceOffer:
    """An instance type of 8 vCPUs."""
    plain = records.InstanceOffer("aws", name, 8.0, 32 * GIB, None, 0, 0.5, 0.7, "2026-07-20", "a list")
    return replace(plain, **others)  # type: ignore[arg-type]


def shown(material: Material, *offers: records.InstanceOffer, unit: str = "image") -> dict[str, object] | None:
    """What the section makes of a first workload that has these offers, and of others without an answer."""
    name = material.study.workloads[0].workload.name
    rate = Estimate(100.0, 90.0, 110.0)
    answer = records.Answer(name, "recommended", Spec(8.0), rate, unit, instances=offers)
    answered = replace(
        material, runs=(), recommendation=records.Recommendation(material.study.objective, (answer,)), disk_checks=()
    )
    return instances(answered, subjects(answered))


def test_each_row_says_what_it_costs_since_when_and_by_whom(material: Material) -> None:
    """The first is the cheapest, and says so only where it has a price."""
    table = shown(material, offered("a.large"), offered("b.large", usd_per_hour=None, usd_per_million_samples=None))
    first, second = table["rows"]  # type: ignore[misc]
    assert (first["hour"], first["million"], first["rate"]) == ("$0.50", "$0.70", "100 images/s")
    assert (first["source"], first["as_of"]) == ("a list", "as of 2026-07-20")
    assert first["is_cheapest"]
    assert not second["is_cheapest"]
    assert (second["hour"], second["million"]) == ("unknown", "")
    assert second["sorted_by"]["hour"] is None


def test_at_one_price_the_smaller_comes_first_then_names(material: Material) -> None:
    """Behind the machine that the answer names; providers are called as people write them."""
    offers = [offered(name, vcpus=vcpus) for name, vcpus in (("m.a", 8.0), ("z.b", 16.0), ("c.b", 16.0), ("y.c", 8.0))]
    table = shown(material, *offers, offered("a.a", usd_per_hour=0.6, provider="alibaba"))
    rows: list[dict[str, object]] = table["rows"]  # type: ignore[assignment]
    assert [row["name"] for row in rows] == ["m.a", "y.c", "c.b", "z.b", "a.a"]
    assert table["providers"] == ["AWS", "Alibaba Cloud"]


@pytest.fixture(scope="module")
def by_name(material: Material) -> dict[str, Subject]:
    return {subject.name: subject for subject in subjects(material)}


def test_another_format_that_was_measured_is_a_change(material: Material, by_name: dict[str, Subject]) -> None:
    """Where the study has a workload that differs in nothing else, and is faster at the same configuration."""
    packed = by_name[TRAIN.name]
    slower = tuple(
        replace(
            run,
            spec=replace(run.spec, workload=replace(run.spec.workload, format="folder")),
            throughput=Estimate(100.0, 98.0, 102.0) if run.throughput is not None else None,
        )
        for run in packed.runs
    )
    files = replace(packed, name="files", runs=slower)
    here = Spec(2.0, 4 * 2**30, "fast", 32)
    files = replace(files, answer=replace(files.answer, spec=here))
    shown = instead(material, (files, packed))
    first = shown["rows"][0]
    assert first["change"] == "recordio instead of folder"
    assert "measured" in first["badges"]
    assert first["evidence"] == f"Measured at the same configuration: workload {TRAIN.name}."


def test_a_faster_disk_where_another_resource_binds(by_name: dict[str, Subject]) -> None:
    """It would gain nothing, and how much the disk is asked for says why."""
    answer = disk_answer(by_name[TRAIN.name])
    assert answer.startswith("No: it would gain nothing")
    assert "At the answer the disk is busy 25 % of the time: it reads 24." in answer
    assert answer.endswith("and fio measured 99.8 MB/s on it.")


@pytest.mark.parametrize(
    ("gained", "disk", "sentence"),
    [
        ((0.0, 0.0, 0.001), "", "No: it would gain nothing."),
        ((0.001, 0.0, 0.04), "", "No: it would gain nothing, at the very most 4 %."),
        ((0.05, 0.0, 0.4), "", "Perhaps: by 5.0 %, at the very most 40 %."),
        ((0.25, 0.18, 0.33), "", "Yes: up to 25 % (18 % to 33 %)."),
        ((-0.59,) * 3, "gp3", "Not known: no faster disk was measured; gp3 is slower by 59 %."),
        ((0.001,) * 3, "gp3", "No: on gp3, the best other disk measured, it runs as fast."),
        ((0.2,) * 3, "gp3", "Yes: gp3 gains 20 %."),
    ],
)
def test_how_sure_it_is_is_in_the_words(gained: tuple[float, float, float], disk: str, sentence: str) -> None:
    """A slower disk says nothing of a faster one."""
    assert disk_answer_in_words(Estimate(*gained), disk) == sentence


RATE = Estimate(110.8, 61.4, 199.9)
T4 = records.GpuOption(
    "T4",
    accelerator=records.PublishedRate(RATE, "published", "fp32", 32, "TensorFlow", ("a table",), "2021"),
    input_rate=Estimate(400.0, 236.0, 678.0),
    throughput=RATE,
    bottleneck=Bottleneck.ACCELERATOR,
    bottleneck_sure=True,
    vcpus=4.0,
    provider="aws",
    instance_type="g4dn.xlarge",
    usd_per_hour=0.526,
    usd_per_million_samples=1.32,
)
A10G = records.GpuOption("A10G", missing=records.NoGpuAnswer.NO_RATE, published_on=("T4", "V100"))


def asked(material: Material, *options: records.GpuOption) -> Material:
    """The same, whose first workload was asked about these."""
    name = material.study.workloads[0].workload.name
    answer = records.Answer(name, "recommended", Spec(8.0), Estimate(100.0, 90.0, 110.0), "image", gpus=options)
    others = tuple(workload for workload in material.recommendation.workloads if workload.workload != name)
    return replace(material, recommendation=records.Recommendation(material.study.objective, (answer, *others)))


def test_each_gpu_has_a_row_with_its_source(material: Material) -> None:
    """Rate, what binds, machine and cost, and whose number it is; a missing rate says on which GPUs there is one."""
    with_gpus = asked(material, T4, A10G)
    shown = which_gpu(with_gpus, subjects(with_gpus))
    first, second = shown["groups"][0]["rows"]
    assert first["rate"] == ("111 images/s (61.4–200)", "bound by the GPU")
    assert first["machine"] == "aws g4dn.xlarge (4 vCPUs), $0.526 an hour, $1.32 ($0.732 to $2.38) a million images"
    assert "a table, 2021" in first["known"]
    assert second["rate"].startswith("No answer: no published rate")
    assert "there are rates on T4 and V100; one run of it there would give it" in second["rate"]


def test_without_a_question_there_is_no_section(material: Material) -> None:
    """The page of a study that asks about no GPU has none of it; that of another one has the section."""
    plain = asked(material)
    assert which_gpu(plain, subjects(plain)) is None
    assert 'id="which-gpu"' not in render(plain)
    assert 'id="which-gpu"' in render(asked(material, T4, A10G))


# The table of frameworks on the page and in the terminal, from imported tables.


PROGRAMS = """workload,framework,network,gpu,batch_size,mode,throughput,outcome
a,tensorflow,resnet50,P100,64,train,200,
b,tensorflow,alexnet,P100,512,train,2800,
c,mxnet,resnet50,P100,64,train,180,
d,mxnet,alexnet,P100,512,train,1400,
e,pytorch,resnet50,P100,64,train,190,
f,pytorch,alexnet,P100,512,train,,out_of_memory
"""


@pytest.fixture
def compared(tmp_path: Path, material: Material) -> records.Recommendation:
    return records.Recommendation(material.study.objective, (), cross_table=cross_table(runs_of(tmp_path, PROGRAMS)))


def test_frameworks_stand_beside_each_other(compared: records.Recommendation, material: Material) -> None:
    """Seconds with rank and ratio; shades go by row, and what was not measured says why."""
    shown: dict[str, Any] | None = section.contents(replace(material, recommendation=compared), ())
    (table,) = shown["tables"]
    assert table["columns"] == ["TensorFlow", "MXNet", "PyTorch"]
    rows = [row for group in table["groups"] for row in group["rows"]]
    assert [(row["name"], row["under"]) for row in rows] == [("resnet50", "batch 64"), ("alexnet", "batch 512")]
    first, second = (row["cells"] for row in rows)
    assert [cell["first"] for cell in first] == [True, False, True]
    assert first[0]["seconds"] == "320 ms"
    assert first[1]["under"] == ["rank 2, 1.11×", "180 samples/s"]
    assert [cell["heat"] for cell in second] == [5, 1, 0]
    assert second[2] == {"seconds": "out of memory", "under": [], "heat": 0, "first": False}
    assert "all with forward, backward and update, P100." in shown["notes"][0]


def test_the_terminal_says_the_same(compared: records.Recommendation, study: Study) -> None:
    """A line for each row."""
    assert compared.cross_table is not None
    lines = list(cross_lines(compared.cross_table, study))
    assert lines[:4] == [
        "Seconds a mini-batch:",
        "  Surely the fastest, of 2 comparisons: TensorFlow in 1; in 1 it cannot be told.",
        "  resnet50, batch 64: TensorFlow 320 ms, shares rank 1, 200 samples/s; MXNet 356 ms, rank 2, 1.11×, "
        "180 samples/s; PyTorch 337 ms, shares rank 1, 1.05×, 190 samples/s",
        "  alexnet, batch 512: TensorFlow 183 ms, rank 1, 2,800 samples/s; MXNet 366 ms, rank 2, 2.00×, "
        "1,400 samples/s; PyTorch out of memory",
    ]
    assert "2× is twice the best time of the row." in lines[4]


def rows_of(frameworks: Sequence[str], networks: Sequence[str]) -> str:
    header = "framework,network,gpu,batch_size,mode,throughput\n"
    rates = [(f, n, b, m) for f in frameworks for n in networks for b in (8, 16) for m in ("forward", "train")]
    return header + "".join(f"{f},{n},K80,{b},{m},{100 + 20 * at}\n" for at, (f, n, b, m) in enumerate(rates))


def test_of_many_frameworks_each_network_has_its_own(tmp_path: Path, material: Material) -> None:
    """And each mode, a table of those that were measured against each other, with each set of frameworks."""
    some, others = [f"f{n}" for n in range(6)], [f"g{n}" for n in range(6)]
    text = rows_of(some, ["vgg16"]) + rows_of(others, ["vgg16"]).partition("\n")[2].replace("K80", "T4")
    crossed = cross_table(runs_of(tmp_path, text))
    assert crossed is not None
    shown = section.contents(
        replace(material, recommendation=records.Recommendation(material.study.objective, (), cross_table=crossed)), ()
    )
    assert [table["columns"] for table in shown["tables"]] == 2 * [some, others]
    assert [table["groups"][0]["title"] for table in shown["tables"]] == 2 * ["vgg16, forward"] + 2 * [
        "vgg16, training"
    ]
    assert [row["name"] for row in shown["tables"][1]["groups"][0]["rows"]] == ["batch 8, T4", "batch 16, T4"]


def answered(count: int, table: records.CrossTable | None, study: Study) -> records.Recommendation:
    answers = tuple(records.Answer(f"w{number}", "refused") for number in range(count))
    return records.Recommendation(study.objective, answers, cross_table=table)


def test_a_study_of_many_programs_begins_with_the_table(compared: records.Recommendation, material: Material) -> None:
    """Its answers are a section below; a few answers come first, and so does what no table compares."""
    study, table = material.study, compared.cross_table
    assert [table_comes_first(answered(count, table, study), study) for count in (4, 5)] == [False, True]
    assert not table_comes_first(answered(5, None, study), study)
    assert not table_comes_first(answered(5, table, study), replace(study, adaptive=Adaptive()))
    notes = tuple(Note(NoteKind.OTHER, text=f"Note {number}.") for number in range(5))
    shown = render(replace(material, recommendation=answered(5, table, study), notes=notes))
    order = [shown.index(part) for part in ('id="verdict"', "Note 1.", 'id="cross-table"', 'class="answers"')]
    assert order == sorted(order)
    assert shown.count('class="answers"') == 1
    assert shown.index("3 more notes") < shown.index("Note 4.")
    assert 'href="#answers-title"' in shown


ALONE = """workload,framework,network,gpu,batch_size,mode,throughput
a,mxnet,resnet50,P100,64,train,200
b,mxnet,alexnet,P100,64,train,900
c,mxnet,vgg16,P100,64,train,90
"""
TWO = """workload,framework,network,gpu,batch_size,mode,throughput,throughput_low,throughput_high
a,mxnet,resnet50,P100,64,train,{},{},{}
b,pytorch,resnet50,P100,64,train,180,176,184
"""


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (TWO.format(300, 296, 304), "Surely the fastest, of 1 comparison: MXNet in 1."),
        (TWO.format(181, 177, 185), "Which is the fastest cannot be told, of 1 comparison."),
        (ALONE, ""),
    ],
)
def test_which_is_the_fastest_is_said_first(tmp_path: Path, table: str, sentence: str) -> None:
    """How often each is surely ahead of all others; nothing where no row compares two."""
    crossed = cross_table(runs_of(tmp_path, table))
    assert crossed is not None
    assert cross_answer(crossed) == sentence


def test_of_doubtful_figures_nothing_is_sure(tmp_path: Path) -> None:
    """Runs with warnings may be slow for another reason: the answer is by their intervals, and says so."""
    crossed = cross_table(runs_of(tmp_path, TWO.format(300, 296, 304)))
    (only,) = crossed.rows
    doubted = replace(crossed, rows=(replace(only, cells=tuple(replace(cell, doubtful=True) for cell in only.cells)),))
    assert cross_answer(doubted) == (
        "The fastest by their intervals, of 1 comparison: MXNet in 1. Figures of 1 of them are doubtful."
    )


@pytest.mark.parametrize(("rate", "ratio"), [(179.9, "shares rank 1"), (150, "rank 2, 1.20×"), (10, "rank 2, 18×")])
def test_a_ratio_has_as_many_digits_as_mean_something(tmp_path: Path, study: Study, rate: float, ratio: str) -> None:
    crossed = cross_table(runs_of(tmp_path, TWO.format(rate, rate * 0.99, rate * 1.01)))
    assert crossed is not None
    (line,) = (line for line in cross_lines(crossed, study) if "MXNet" in line and "PyTorch" in line)
    assert f", {ratio}, " in line
