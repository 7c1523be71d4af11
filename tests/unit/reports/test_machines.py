"""The page of a table of machines: a picture and a table of them, in words as well as in colour."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from sizer.cli import main

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
        "1 x V100 gcp n1-highmem-8",
        "1,800 samples/s (1,710–1,890)",
        "$2.95 an hour",
        "$0.455",
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
    assert "<title>1 x V100, gcp n1-highmem-8: 1,800 samples/s (1,710–1,890)</title>" in shown
    assert shown.count('class="bar answer-bar"') == 1
    assert "1 x V100 – recommended</tspan>" in shown


def test_machines_that_differ_in_all_have_no_line_through_them(page: Page) -> None:
    """The V100 with 8 vCPUs is no point of the curve of vCPUs without one."""
    shown = page(WHOLE_MACHINES)
    assert re.findall(r'class="kind"[^>]*>([^<]*)<', shown) == ["V100", "no accelerator"]
    assert "72 vCPUs" in "".join(row[0] for row in _machines(shown))
    assert "$3.06 an hour" in "".join(row[2] for row in _machines(shown))
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
    assert "11 more machines are in the table below." in shown
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
    assert "the fastest measured, it has" in shown
