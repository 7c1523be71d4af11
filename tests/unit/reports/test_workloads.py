"""The page of a table of machines: a picture and a table of them, in words as well as in colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sizer.bundled.reports.subject import Material, Subject, subjects
from sizer.bundled.reports.workloads import MOST_REJECTED, options, reasoning, rejected
from sizer.cli import main
from sizer.records.answer import Answer, Option, Rejection
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.prediction import ReasonCode, Spec, reason
from sizer.records.units import GIB
from tests.reported_study import INFER, TRAIN

Page = Callable[..., str]

KINDS = """workload,gpu,gpu_count,throughput
job,T4,1,200
job,T4,2,400
job,T4,8,1590
job,V100,1,1800
job,V100,4,7105
"""
WHOLE_MACHINES = """workload,vcpus,gpu,gpu_count,throughput
job,72,,0,197
job,36,,0,120
job,8,,0,30
job,8,V100,1,1077
"""
NAMED = """workload,instance_type,usd_per_hour,gpu,gpu_count,throughput
job,small.a,1.0,T4,1,100
job,small.b,1.5,A10G,1,300
job,small.c,9.0,H100,1,900
job,small.d,2.0,A10G,1,290
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
    told = [float(row[3].removeprefix("$")) for row in rows]
    assert told == sorted(told)
    assert "Between machines with different disks the answer counts a volume of 150 GiB of each, too." in shown
    assert "counts a volume of 150 GiB" not in page(KINDS)


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
    assert label is not None
    assert label[1].count("samples/s (") == 5
    assert "1 x V100 1,800 samples/s (1,710–1,890)" in label[1]
    assert re.findall(r'class="kind"[^>]*>([^<]*)<', shown) == ["V100", "T4"]
    assert "<title>1 x V100, gcp n1-standard-8+1xV100: 1,800 samples/s (1,710–1,890)</title>" in shown
    assert shown.count('class="bar answer-bar"') == 1
    assert "1 x V100 – recommended</tspan>" in shown


def test_machines_that_differ_in_all_have_no_line_through_them(page: Page) -> None:
    """The V100 with 8 vCPUs is no point of the curve of vCPUs without one."""
    shown = page(WHOLE_MACHINES)
    assert re.findall(r'class="kind"[^>]*>([^<]*)<', shown) == ["V100", "no accelerator"]
    assert "72 vCPUs" in "".join(row[0] for row in _machines(shown))
    assert "$2.86 an hour" in "".join(row[2] for row in _machines(shown))
    curve = shown[shown.index("<h3>Throughput against vCPUs</h3>") :].partition("</figure>")[0]
    assert "other configurations" in curve


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


def test_a_single_run_has_no_interval(page: Page) -> None:
    """It is one run, and not exact to a tenth of a percent."""
    shown = page(WHOLE_MACHINES)
    assert "±0.0" not in shown
    assert "measured run, 95 % interval" not in shown


def test_the_first_screen_says_what_was_compared(page: Page) -> None:
    """Not the cheapest spec at 95 %, which is another question."""
    shown = page(KINDS)
    assert "Least cost for the same work. A machine counts if it reaches 95 % of the best throughput" in shown
    assert "Next comes " in shown


CHEAP, FAST = Spec(2.0, GIB, "medium", 32), Spec(8.0, GIB, "fast", 32)


@pytest.fixture(scope="module")
def trained(material: Material) -> Subject:
    return next(subject for subject in subjects(material) if subject.name == TRAIN.name)


def _answered(subject: Subject, **changed: object) -> Subject:
    assert subject.answer is not None
    return replace(subject, answer=replace(subject.answer, **changed))  # type: ignore[arg-type]


def _option(preferences: tuple[str, ...], spec: Spec, rate: float, usd: float | None) -> Option:
    estimate = Estimate(rate, rate * 0.95, rate * 1.05)
    return Option(preferences, spec, estimate, 0.97, Bottleneck.CPU, "aws c6i.large", usd, None)


def test_three_reasons_are_said_and_the_others_fold(trained: Subject) -> None:
    """Those that must be known of every answer fold, too."""
    many = [reason(ReasonCode.OUT_OF_MEMORY), reason(ReasonCode.EMULATED, disk="slow")]
    many += [reason(ReasonCode.FEWER_NOT_MEASURED, vcpus=float(each)) for each in range(1, 5)]
    shown = reasoning(_answered(trained, reasons=tuple(many)))
    assert len(shown["reasons"]) == 3
    assert len(shown["more_reasons"]) == 3
    assert not any("emulated" in each for each in shown["reasons"])


def test_what_is_extrapolated_has_its_badge(material: Material, trained: Subject) -> None:
    """Beside what comes next and what comes near."""
    facts = {label: value for label, value, _remark in reasoning(trained)["facts"]}
    assert facts["Next in line"] == "CPU"
    assert facts["Runner-up"] == "2 vCPUs · 1 GiB · disk fast (emulated) · batch 32"
    inferred = next(subject for subject in subjects(material) if subject.name == INFER.name)
    assert reasoning(inferred)["next_run"].startswith("Measure infer-squeezenet at 4 vCPUs")


def test_a_row_for_each_choice(trained: Subject) -> None:
    """With what it costs; the answer is marked, and an unknown price is not 0."""
    assert trained.answer is not None
    rate = trained.answer.throughput
    assert rate is not None
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


def test_a_provisional_answer_is_not_shown_as_sure(trained: Subject) -> None:
    """Its probability would be that of runs that nobody should rely on."""
    both = (_option(("cheapest",), CHEAP, 214.0, 0.08), _option(("balanced", "fastest"), FAST, 219.0, 0.3))
    shown = options(_answered(trained, options=both, provisional=True))
    assert [row["probability"] for row in shown["rows"]] == ["", ""]


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
    slow = Rejection(CHEAP, why, None, Estimate(100.0, 95.0, 105.0), 0.5, 0.04, 0.31)
    same = replace(slow, usd_saved_per_hour=0.0, saving=0.0)
    dearer = replace(slow, usd_saved_per_hour=-0.01, saving=-0.1)
    lost = Rejection(CHEAP, (reason(ReasonCode.OUT_OF_MEMORY),))
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


def test_without_an_answer_nothing_is_rejected(trained: Subject) -> None:
    assert rejected(replace(trained, answer=None))["rejected"] == []
    assert reasoning(replace(trained, answer=Answer(TRAIN.name, "refused")))["reasons"] == []
