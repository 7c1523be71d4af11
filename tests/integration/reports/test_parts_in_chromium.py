"""The parts of the page in a real browser: charts, tables, downloads, many runs, and what is there without a script."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material
from sizer.exchange.measurements import write_tables
from sizer.records.answer import InstanceOffer
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB

pytestmark = pytest.mark.slow

POINTED = """
(async () => {
  const chart = document.querySelectorAll('figure svg.chart')[0], mark = chart.querySelector('.stop');
  chart.scrollIntoView({block: 'center'});
  const box = mark.getBoundingClientRect();
  const at = {bubbles: true, clientX: box.left + 1, clientY: box.top + 5};
  mark.dispatchEvent(new PointerEvent('pointermove', at));
  const tip = document.querySelector('.tip'), place = tip.getBoundingClientRect();
  const found = {words: tip.textContent, hidden: tip.textContent === '',
    lines: chart.querySelectorAll('.crosshair').length,
    titles: chart.querySelectorAll('title').length,
    inside: place.left >= 0 && place.right <= innerWidth + 1 && place.width > 20,
    near: Math.abs(place.left - box.left) < 400};
  chart.dispatchEvent(new PointerEvent('pointerleave', at));
  return {...found, after: tip.textContent === '', left: chart.querySelectorAll('.crosshair').length};
})()
"""

KEYS = """
(() => {
  const chart = document.querySelectorAll('figure svg.chart')[0], tip = document.querySelector('.tip'), told = [];
  chart.focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'End', 'Home', 'Escape']) {
    chart.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    told.push(tip.textContent || null);
  }
  return {told, focused: document.activeElement === chart, role: tip.getAttribute('role')};
})()
"""

COLOURS = """
[...new Set(['.point', '.band', '.part', '.cell', '.bar', '.chart text'].flatMap(name =>
  [...document.querySelectorAll('figure ' + name)].map(each => name + getComputedStyle(each).fill)))].sort()
"""


@pytest.mark.parametrize("width", [1300, 390])
def test_charts_tell_what_is_pointed_at(browser: Any, address: str, width: int) -> None:
    """What is known at that place, within the window, with a line through the chart; both go with the pointer. Arrow
    keys go from place to place, to either end, and away; a screen reader is told, as the words are a status."""
    browser.open(address, width, "light")
    pointed = browser.evaluate(POINTED)
    assert pointed["words"].startswith("0.5 vCPU\n")
    assert "model" in pointed["words"]
    assert "measured" in pointed["words"]
    shown = {"hidden": False, "lines": 1, "titles": 0, "inside": True, "near": True, "after": True, "left": 0}
    assert pointed == pointed | shown
    pointed = browser.evaluate(KEYS)
    first, second, back, last, home, gone = pointed["told"]
    assert first == back == home
    assert len({first, second, last}) == 3
    assert (gone, pointed["focused"], pointed["role"]) == (None, True, "status")


def test_one_drawing_serves_light_and_dark(browser: Any, address: str) -> None:
    """The colours of every kind of mark change with the scheme; each hatching that a style refers to is in the page."""
    colours = {}
    for scheme in ("light", "dark"):
        browser.open(address, 1300, scheme)
        colours[scheme] = set(browser.evaluate(COLOURS))
    assert len(colours["light"]) > 10
    assert colours["light"] & colours["dark"] == set()
    hatched, missing = browser.evaluate("""
    (all => [all.length, all.map(each => /#([\\w-]+)/.exec(getComputedStyle(each).fill))
      .filter(match => match && !document.getElementById(match[1])).length])
    ([...document.querySelectorAll('svg.chart .hatched')])
    """)
    assert (hatched > 10, missing) == (True, 0)


SHOWN = """
(() => {
  const folded = node => node.parentElement.closest('details:not([open]), [hidden]');
  const sizes = name => [...document.querySelectorAll(name)].filter(each => !folded(each))
    .map(each => each.getBoundingClientRect()).map(box => [Math.round(box.width), Math.round(box.height)]);
  return {tables: sizes('main table tbody'), charts: sizes('figure > svg.chart'), runs: sizes('.runs > details')};
})()
"""

DRAWN = """
['svg.chart', 'svg.chart title', 'svg.chart[tabindex]'].map(name => document.querySelectorAll(name).length)
"""


@pytest.mark.parametrize("width", [1300, 390])
def test_without_javascript_all_is_seen(browser: Any, address: str, width: int) -> None:
    """Tables have a size, as has the line of each run; the answers are in words, and those of marks are titles, which
    the script takes over where it runs."""
    browser.open(address, width, "light")
    charts, titles, reached = browser.evaluate(DRAWN)
    assert reached == charts >= 12
    assert titles > 200, "the script takes over those of a chart once it is pointed at"
    page = browser.open(address, width, "light", java_script_enabled=False)
    assert browser.evaluate(DRAWN)[:2] == [charts, titles]
    verdict = page.locator("#verdict").inner_text()
    for word in ("train-resnet50-p100", "recommended", "at least", "no answer", "214 images/s", "emulated P100"):
        assert word in verdict
    shown = browser.evaluate(SHOWN)
    assert len(shown["tables"]) > 5
    assert min(height for _, height in shown["tables"]) > 20
    assert len(shown["charts"]) > 5
    assert all(chart_width > min(300, width - 40) and height > 60 for chart_width, height in shown["charts"])
    assert len(shown["runs"]) == 56
    assert min(height for _, height in shown["runs"]) > 20


PROVIDERS, GPUS = ("aws", "azure", "<b>gcp</b>"), (None, "T4", "V100")


def offer(number: int) -> InstanceOffer:
    """Every fifth has no price, and prices do not rise with their number."""
    price = None if number % 5 == 4 else 0.1 + (number * 7 % 11) / 4
    return InstanceOffer(
        PROVIDERS[number % 3],
        f"type.{number}",
        2.0 + number,
        (4 + number) * GIB,
        GPUS[number % 2],
        number % 2,
        price,
        price,
        "2026-07-20",
        "a list",
        usd_per_hour_spot=price / 3 if price is not None and number % 2 else None,
    )


@pytest.fixture(scope="module")
def address_of_instances(material: Material, written: Callable[[Material], str]) -> str:
    recommendation = material.recommendation
    answers = tuple(
        replace(answer, instances=tuple(map(offer, range(20)))) if answer.spec is not None else answer
        for answer in recommendation.workloads
    )
    return written(replace(material, recommendation=replace(recommendation, workloads=answers)))


INSTANCES_SHOWN = "[...document.querySelectorAll('.instances tbody tr:not([hidden])')]"
HOURS = INSTANCES_SHOWN + ".map(row => row.dataset.hour ?? null)"
CHOOSE = """
(name, value) => {
  const field = document.querySelector(`.filters [name=${name}]`);
  field.value = value;
  field.dispatchEvent(new Event('input', {bubbles: true}));
}
"""


def chosen(browser: Any, name: str, value: str) -> list[dict[str, str]]:
    """The data of the rows that are left."""
    browser.evaluate(f"({CHOOSE})({name!r}, {value!r})")
    rows: list[dict[str, str]] = browser.evaluate(INSTANCES_SHOWN + ".map(row => ({...row.dataset}))")
    return rows


@pytest.mark.parametrize("width", [1300, 390])
def test_machines_are_sorted_and_filtered(browser: Any, address_of_instances: str, width: int) -> None:
    """A head sorts by numbers, again the other way, and says so; what has no price comes last, either way. Filters by
    provider, GPU, price and workload leave what was asked for, and the number that is left is said."""
    browser.open(address_of_instances, width, "light")
    browser.evaluate("document.querySelector('.more button').click()")
    head = "document.querySelector('.instances [data-key=hour]')"
    for direction in ("ascending", "descending"):
        browser.evaluate(f"{head}.querySelector('button').click()")
        assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == direction
        hours = browser.evaluate(HOURS)
        priced = [float(hour) for hour in hours if hour is not None]
        assert priced == sorted(priced, reverse=direction == "descending")
        assert None in hours
        assert hours[len(priced) :] == [None] * (len(hours) - len(priced))
    assert {row["provider"] for row in chosen(browser, "provider", "<b>gcp</b>")} == {"<b>gcp</b>"}
    assert {row["gpu"] for row in chosen(browser, "gpu", "T4")} == {"T4"}
    rows = chosen(browser, "most", "1.5")
    assert rows
    assert all(float(row["hour"]) <= 1.5 and row["gpu"] == "T4" for row in rows)
    spot = chosen(browser, "price", "spot")
    assert spot
    assert all(float(row["spot"]) <= 1.5 for row in spot)
    assert len({row["workload"] for row in chosen(browser, "workload", "0")}) == 1
    assert browser.evaluate("document.querySelector('.filters output').textContent").endswith("of 60")


@pytest.fixture(scope="module")
def address_of_downloads(material: Material, written: Callable[[Material], str]) -> str:
    table, rows = write_tables(material.runs)
    return written(replace(material, measurements_csv=table, measurements_json=rows))


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_a_click_saves_the_table(browser: Any, address_of_downloads: str, material: Material, kind: str) -> None:
    """Plain where scripts run, compressed where they do not."""
    expected = dict(zip(("csv", "json"), write_tables(material.runs), strict=True))[kind]
    for scripts in (True, False):
        page = browser.open(address_of_downloads, 1300, "light", java_script_enabled=scripts)
        with page.expect_download() as waiting:
            page.locator(f".downloads a[download$='.{kind}.gz']").click()
        saved, name = Path(waiting.value.path()).read_bytes(), waiting.value.suggested_filename
        if scripts:
            assert (saved.decode(), name) == (expected, f"{material.study.name}.{kind}")
        else:
            assert (gzip.decompress(saved).decode(), name) == (expected, f"{material.study.name}.{kind}.gz")


@pytest.fixture(scope="module")
def packed(material: Material, written: Callable[[Material], str]) -> str:
    """The same as if 56 runs were many."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(all_runs, "MOST_IN_PLACE", len(material.runs) - 1)
        return written(material)


def test_opening_a_line_shows_the_evidence_of_its_run(browser: Any, address: str, packed: str) -> None:
    """The same that a page of few runs shows, of every run; before that it is not there."""
    page = browser.open(address, 1300, "light")
    expected = [evidence.inner_html().strip() for evidence in page.locator(".evidence").all()]
    page = browser.open(packed, 1300, "light")
    assert page.get_by_text("scripts are off here").count() == 0
    assert page.locator(".evidence:not(:empty)").count() == 0
    page.locator(".runs > details > summary").nth(20).click()
    page.locator(".evidence:not(:empty)").wait_for()
    browser.evaluate("document.querySelectorAll('.runs > details').forEach(each => { each.open = true; })")
    page.locator(".evidence:empty").first.wait_for(state="detached")
    assert [evidence.inner_html().strip() for evidence in page.locator(".evidence").all()] == expected
    assert len(expected) == 56


def test_a_link_to_a_run_shows_its_evidence(browser: Any, packed: str, material: Material) -> None:
    """As the address of the page, and on it."""
    first, second = [run for run in material.runs if run.outcome is not Outcome.COMPLETED][:2]
    page = browser.open(f"{packed}#run-{first.id}", 390, "light")
    page.locator(f"#run-{first.id} h4, #run-{first.id} .fine").first.wait_for()
    browser.evaluate(f"location.hash = 'run-{second.id}'")
    page.locator(f"#run-{second.id} .fine").wait_for()
    assert page.locator(".evidence:not(:empty)").count() == 2
