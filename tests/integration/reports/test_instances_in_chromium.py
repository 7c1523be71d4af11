"""The table of instance types in a real browser: it sorts, filters, and shows all without a script."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material
from sizer.records.answer import InstanceOffer
from sizer.records.units import GIB

pytestmark = pytest.mark.slow

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
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    recommendation = material.recommendation
    assert recommendation is not None
    answers = tuple(
        replace(answer, instances=tuple(map(offer, range(20)))) if answer.spec is not None else answer
        for answer in recommendation.workloads
    )
    path: Path = tmp_path_factory.mktemp("instances") / "report.html"
    write_report(path, replace(material, recommendation=replace(recommendation, workloads=answers)))
    return path.as_uri()


SHOWN = "[...document.querySelectorAll('.instances tbody tr:not([hidden])')]"
HOURS = SHOWN + ".map(row => row.dataset.hour ?? null)"
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
    found: list[dict[str, str]] = browser.evaluate(SHOWN + ".map(row => ({...row.dataset}))")
    return found


@pytest.mark.parametrize("width", [1300, 390])
def test_a_head_sorts_by_numbers_and_again_the_other_way(browser: Any, address: str, width: int) -> None:
    """What has no price comes last, either way, and the head says how it is sorted."""
    browser.open(address, width, "light")
    browser.evaluate("document.querySelector('.more button').click()")
    head = "document.querySelector('.instances [data-key=hour]')"
    for direction in ("ascending", "descending"):
        browser.evaluate(f"{head}.querySelector('button').click()")
        assert browser.evaluate(f"{head}.getAttribute('aria-sort')") == direction
        hours = browser.evaluate(HOURS)
        known = [float(each) for each in hours if each is not None]
        assert known == sorted(known, reverse=direction == "descending")
        assert hours[len(known) :] == [None] * (len(hours) - len(known))
        assert None in hours


def test_filters_leave_what_was_asked_for(browser: Any, address: str) -> None:
    """By provider, GPU, price and workload; the number that is left is said."""
    browser.open(address, 1300, "light")
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


def test_some_rows_of_each_workload_are_shown_at_once(browser: Any, address: str) -> None:
    """The button shows the others, and hides them again."""
    browser.open(address, 1300, "light")
    before = browser.evaluate(HOURS)
    workloads = (
        "new Set([...document.querySelectorAll('.instances tbody tr:not([hidden])')].map(r => r.dataset.workload)).size"
    )
    assert browser.evaluate(workloads) == 3
    browser.evaluate("document.querySelector('.more button').click()")
    assert len(before) < len(browser.evaluate(HOURS)) == 60
    browser.evaluate("document.querySelector('.more button').click()")
    assert browser.evaluate(HOURS) == before
