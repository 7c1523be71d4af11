"""The page in a real browser: nothing scrolls sideways, all is readable, and nothing keeps a reader out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from sizer.records.answer import Alternative
from sizer.records.prediction import Estimate, Spec
from sizer.records.run import RunWarning, WarningKind
from sizer.records.units import GIB
from sizer.words.language import CHINESE, ENGLISH, in_language

# The page in a real browser: nothing loaded, nothing cut off, everything readable.


pytestmark = pytest.mark.slow

UNREADABLE = """
(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const over = (colour, below) => {
    canvas.fillStyle = `rgb(${below})`; canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = rgb => rgb.map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const ground = node => {
    const chain = [];
    for (let each = node; each; each = each.parentElement) chain.unshift(getComputedStyle(each).backgroundColor);
    return chain.reduce((below, colour) => over(colour, below), [255, 255, 255]);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = []; let seen = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || ['STYLE', 'SCRIPT', 'title', 'desc'].includes(node.tagName)) continue;
    const style = getComputedStyle(node), below = ground(node);
    const text = over(node.namespaceURI.endsWith('svg') ? style.fill : style.color, below);
    const [low, high] = [light(text), light(below)].sort((a, b) => a - b);
    seen += 1;
    if ((high + .05) / (low + .05) < 4.5) found.push([walker.currentNode.data.trim(), style.color, below.join()]);
  }
  return {seen, found};
})()
"""

SMALLEST_TEXT = """
Math.min(...[...document.querySelectorAll('svg text')].map(
  text => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getBoundingClientRect().width / 420))
"""

OUTSIDE = """
[...document.querySelectorAll('figure > svg text')].filter(text => {
  const box = text.getBoundingClientRect(), paper = text.closest('figure').getBoundingClientRect();
  return box.left < paper.left - 2 || box.right > paper.right + 2;
}).map(text => text.textContent)
"""


LEANING_OUT = """
[...document.querySelectorAll('#runs details')].filter(each => {
  each.open = true;
  return [each, ...each.querySelectorAll('*')].some(
    node => node.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
}).length
"""

CUT_OFF = """
[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.getAttribute('aria-label'))
"""

UNMARKED = """
[...document.querySelectorAll('.scroll')].filter(each => {
  const style = getComputedStyle(each);
  return !style.backgroundImage.includes('gradient') || !style.backgroundAttachment.includes('local');
}).length
"""

LONG = ("nvme-" + "with-a-name-that-no-line-can-hold" * 3)[:100]
"""As long as a study may name a disk."""


@pytest.fixture(scope="module")
def address(material: Material, written: Callable[[Material], str]) -> str:
    run = material.runs[-1]
    long = replace(
        run,
        configuration=replace(run.configuration, disk=LONG),
        warnings=(RunWarning(WarningKind.OTHER, text=f"{LONG}: {LONG}"),),
    )
    return written(replace(material, runs=(*material.runs[:-1], long)))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_all_is_readable_inside_the_page(browser: Any, address: str, width: int, scheme: str) -> None:
    """Every text, in charts too, has a contrast of 4.5 to what lies behind it and 10 pixels; none sticks out of its
    figure. With every run opened nothing leans out to the side, not even words without a break."""
    browser.open(address, width, scheme)
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    readable = browser.evaluate(UNREADABLE)
    assert (readable["seen"] > 500, readable["found"]) == (True, [])
    assert browser.evaluate(SMALLEST_TEXT) >= 10
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate("document.querySelectorAll('.runs > details').length") == 56
    assert browser.evaluate(LEANING_OUT) == 0


@pytest.mark.parametrize("width", [320, 600, 660, 1000])
def test_tables_stack_on_a_phone_and_show_elsewhere_that_they_scroll(browser: Any, address: str, width: int) -> None:
    """Cells stack, each with its column's name; on a wider screen a shadow lies at the edge behind which there is more.
    The page itself does not scroll."""
    browser.open(address, width, "light")
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert width > 900 or (browser.evaluate(CUT_OFF) == []) == (width <= 600)
    if width > 600:
        assert browser.evaluate(UNMARKED) == 0
    else:
        assert browser.evaluate("document.querySelectorAll('#doubts .failed').length") > 1
        assert "Busy" in browser.evaluate("getComputedStyle(document.querySelector('td.busy'), '::before').content")


@pytest.fixture(scope="module")
def machines(material: Material, written: Callable[[Material], str]) -> str:
    """A page on which machines with long names were compared."""
    first, *others = material.recommendation.workloads
    compared = tuple(
        Alternative(
            Spec(8.0, 64 * GIB, None, 32, gpu, count),
            Estimate(1000.0 * count, 900.0 * count, 1100.0 * count),
            f"azure STANDARD_NC{24 * count}ADS_A100_V4_{'X' * 20}",
            4.0 * count,
            1.11,
            dominated=gpu == "T4",
        )
        for gpu in ("NVIDIA-A100-SXM4-80GB", "T4", "另一个加速器")
        for count in (1, 8)
    )
    answer = replace(first, spec=compared[0].spec, throughput=compared[0].throughput, alternatives=compared)
    return written(replace(material, recommendation=replace(material.recommendation, workloads=(answer, *others))))


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_machines_are_readable_inside_their_box(browser: Any, machines: str, width: int, scheme: str) -> None:
    """Their bars with long names, and their table, which folds on a phone."""
    browser.open(machines, width, scheme)
    assert browser.evaluate("document.querySelectorAll('svg .kind').length") == 3
    assert browser.evaluate("document.querySelectorAll('figure .bar + .interval').length") == 6 + 1
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate(UNREADABLE)["found"] == []
    assert browser.evaluate("document.documentElement.scrollWidth") == width
    assert width > 640 or browser.evaluate(CUT_OFF) == []


NOT_DRAWN = r"""
(() => {
  const canvas = new OffscreenCanvas(40, 40).getContext('2d', {willReadFrequently: true});
  canvas.font = `32px ${getComputedStyle(document.body).fontFamily}`;
  const drawn = letter => {
    canvas.clearRect(0, 0, 40, 40);
    canvas.fillText(letter, 2, 32);
    return canvas.getImageData(0, 0, 40, 40).data.join();
  };
  const nothing = [drawn('\u0378'), drawn('\u{1fffe}'), drawn(' ')];
  const letters = [...new Set(document.body.textContent.match(/[\u3001-\u9fff\uff01-\uff5e]/g))];
  return {seen: letters.length, found: letters.filter(letter => nothing.includes(drawn(letter)))};
})()
"""

OVERLAPPING = """
[...document.querySelectorAll('figure > svg')].flatMap(picture => {
  const texts = [...picture.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([said, box], index) => texts.slice(index + 1).filter(([, other]) =>
    Math.min(box.right, other.right) - Math.max(box.left, other.left) > 2
    && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 5).map(([also]) => `${said} | ${also}`));
})
"""


# The page as it is first seen: the answers at once, all within its width, and links that land where they lead.


WIDTHS = {390: (320, 390), 1300: (700, 1060, 1300)}
ENDS = "[...document.querySelectorAll('.answers tbody')].map(row => row.getBoundingClientRect().bottom)"
SMALL = """
[...document.querySelectorAll('#verdict *')]
  .filter(each => each.checkVisibility() && !each.closest('.badge-says, thead'))
  .filter(each => [...each.childNodes].some(child => child.nodeType === 3 && child.textContent.trim()))
  .filter(each => parseFloat(getComputedStyle(each).fontSize) < 14).map(each => each.outerHTML)
"""
LANDED = "(id => Math.abs(document.getElementById(id).getBoundingClientRect().top))"


@pytest.fixture(scope="module", params=[ENGLISH, CHINESE])
def of_language(request: pytest.FixtureRequest, material: Material, written: Callable[[Material], str]) -> str:
    with in_language(request.param):
        return written(material)


@pytest.mark.parametrize(("width", "height", "screens"), [(1300, 900, 1), (390, 844, 2)])
def test_the_first_screen_has_every_answer(
    browser: Any, of_language: str, width: int, height: int, screens: int
) -> None:
    """The rows of four workloads, on a phone on two screens; what one reads there has 14 pixels or more. Scripts draw
    parts of the page while it is loaded: the place that the address names stays in view."""
    page = browser.open(of_language, width, "light", height)
    ends = browser.evaluate(ENDS)
    assert (len(ends), max(ends) <= screens * height) == (4, True)
    assert browser.evaluate(SMALL) == []
    for opened in (False, True):
        browser.evaluate(
            f"document.querySelectorAll('details').forEach(each => {{ each.open ||= {str(opened).lower()}; }})"
        )
        for other in WIDTHS[width]:
            page.set_viewport_size({"width": other, "height": 900})
            assert browser.evaluate("document.documentElement.scrollWidth") == other
    page = browser.open(f"{of_language}#what-if-section", width, "light")
    page.wait_for_load_state("load")
    assert browser.evaluate(f"{LANDED}('what-if-section')") < 2


@pytest.mark.parametrize("of_language", [CHINESE], indirect=True)
@pytest.mark.parametrize("width", [390, 1300])
def test_chinese_letters_are_drawn_and_everything_fits(browser: Any, of_language: str, width: int) -> None:
    """No letter is a box, and no word of a chart leaves it or lies over another."""
    browser.open(of_language, width, "light")
    letters = browser.evaluate(NOT_DRAWN)
    assert letters["seen"] > 200
    if len(letters["found"]) == letters["seen"]:
        pytest.skip("there is no font with Chinese letters here; apt-get install fonts-wqy-microhei")
    assert letters["found"] == []
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate(SMALLEST_TEXT) >= 10
    assert browser.evaluate(OVERLAPPING) == []
    assert width > 500 or browser.evaluate(CUT_OFF) == []


def test_escape_closes_what_a_badge_says(browser: Any, address: str) -> None:
    """Whether one points at it or came to it by keys, and it opens again."""
    page = browser.open(address, 1300, "light")
    badge = page.locator("#verdict .badge").first
    says = badge.locator(".badge-says")
    for come in (badge.hover, badge.focus):
        come()
        assert says.is_visible()
        page.keyboard.press("Escape")
        assert not says.is_visible()
        page.mouse.move(0, 0)
    badge.blur()
    badge.focus()
    assert says.is_visible()


# What axe-core, which knows the rules of WCAG, finds in the page.


SEVERE = {"serious", "critical"}


def kinds(page: str) -> set[tuple[str, str]]:
    """The elements of a page by name and class."""
    return set(re.findall(r'<(\w+)(?:\s[^>]*?class="([^"]*)")?', page))


@pytest.fixture(scope="module")
def access_address(material: Material, written: Callable[[Material], str]) -> str:
    """The page of half of the runs, which has every kind of element that it has of all: axe looks at each of them."""
    few = [run for run in material.runs if run.spec.repeat == 0 or run.spec.limits.vcpus == 0.5 or run.warnings]
    fewer = replace(material, runs=tuple(few))
    assert kinds(render(fewer)) == kinds(render(material))
    return written(fewer)


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (390, "dark")])
def test_nothing_keeps_a_reader_out(browser: Any, access_address: str, width: int, scheme: str) -> None:
    """No violation that axe calls serious or critical, with everything opened that opens, a badge too."""
    page = browser.open(access_address, width, scheme)
    browser.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    page.locator("#verdict .badge").first.focus()
    violations = Axe().run(page).response["violations"]
    assert [
        (violation["id"], node["target"], node["failureSummary"])
        for violation in violations
        if violation["impact"] in SEVERE
        for node in violation["nodes"]
    ] == []


POLICY = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""


def test_a_fault_of_a_page_is_noticed(browser: Any, tmp_path: Path) -> None:
    """By all of these tests: requests, refusals of the page's policy, words on the console, errors of a script."""
    for markup, fault in (
        ('<link rel="stylesheet" href="https://example.org/style.css">', "request: https:"),
        (POLICY + "<script>document.title = 'owned'</script>", "error: Executing inline script violates"),
        (POLICY + '<img src="other.png">', "error: Loading the image"),
        ("<script>console.log('here')</script>", "log: here"),
        ("<script>nowhere()</script>", "error: "),
    ):
        (tmp_path / "page.html").write_text(f"<!doctype html>{markup}")
        browser.open((tmp_path / "page.html").as_uri(), 1300, "light")
        faults, browser.faults = browser.faults, []
        assert any(text.startswith(fault) for text in faults), faults
