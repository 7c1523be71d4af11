"""The page that `sizer serve` shows, in a real browser, with the real server: it takes a newer one by itself."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sizer.bundled.reports.page import render
from sizer.bundled.reports.policy import page_policy
from sizer.bundled.reports.server.live_page import LivePage, Sentences
from sizer.bundled.reports.server.page_server import PageServer
from sizer.bundled.reports.subject import Material
from sizer.files.writing import write_text

pytestmark = pytest.mark.slow

SENTENCES = Sentences("Nothing yet.", "There are new runs.", "Show them", "It has ended.", "en")
NOTE = ".live-note"


@pytest.fixture(scope="module")
def page(material: Material) -> str:
    return render(material)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "report.html"


@pytest.fixture
def server(path: Path) -> Iterator[PageServer]:
    with PageServer(LivePage(path, SENTENCES, page_policy).now) as started:
        yield started


@pytest.fixture(autouse=True)
def _asks_for_itself_alone(browser: Any, server: PageServer) -> Iterator[None]:
    """After every test: the page has asked its own address whether there is a newer one, and nothing else."""
    yield
    browser.close()
    faults, browser.faults = browser.faults, []
    assert set(faults) <= {f"request: {server.address}"}


def newer(page: str, number: int = 2) -> str:
    """The page after more runs: with another title, longer above every place."""
    return page.replace("<main>", f"<main><h2>Now {number}</h2><p>{'more runs ' * 500}</p>")


def test_it_takes_the_first_page_as_soon_as_there_is_one(
    browser: Any, server: PageServer, path: Path, page: str
) -> None:
    """Until then it says what is waited for."""
    shown = browser.open(server.address, 1300, "light")
    assert shown.locator("main").inner_text() == "Nothing yet."
    write_text(path, page)
    shown.wait_for_selector("h1")
    assert shown.locator(NOTE).is_hidden()


def test_a_reader_keeps_the_place(browser: Any, server: PageServer, path: Path, page: str) -> None:
    """On the page, what is folded open, what is set, and the fragment of the address."""
    write_text(path, page)
    asked = "#what-if=train-resnet50-p100&vcpus=1&memory_gib=4"
    shown = browser.open(f"{server.address}{asked}", 1300, "dark")
    answer = shown.locator(".what-if .rate output").inner_text()
    shown.locator("details:not([open]) > summary").last.click()
    shown.locator(".filters select").last.select_option(index=1)
    opened = shown.locator("details[open]").count()
    chosen = shown.locator(".filters select").last.input_value()
    rows = shown.locator("table.instances tbody tr:visible").count()
    # On the screen as it was, whatever became longer above it.
    shown.locator("h2").last.evaluate("head => scrollTo(0, head.getBoundingClientRect().top + scrollY - 300)")
    shown.evaluate("document.activeElement.blur()")
    above = shown.evaluate(
        "[...document.querySelectorAll('h2')].filter(each => each.getBoundingClientRect().top < 2).at(-1).textContent"
    )
    where = shown.locator("h2", has_text=above).last.bounding_box()["y"]
    write_text(path, newer(page))
    shown.wait_for_selector("h2:has-text('Now 2')", state="attached")
    shown.wait_for_load_state("load")
    assert shown.evaluate("location.hash") == asked
    assert shown.locator(".what-if .rate output").inner_text() == answer
    assert shown.locator("details[open]").count() == opened
    assert shown.locator(".filters select").last.input_value() == chosen
    assert shown.locator("table.instances tbody tr:visible").count() == rows
    assert shown.locator("h2", has_text=above).last.bounding_box()["y"] == pytest.approx(where, abs=3)
    shown.reload()
    assert shown.locator("h2", has_text=above).last.bounding_box()["y"] == pytest.approx(where, abs=3)
    shown.goto("about:blank")
    shown.goto(f"{server.address}#trust")
    assert shown.locator("details[open]").count() == opened - 1


def test_a_busy_reader_is_asked(browser: Any, server: PageServer, path: Path, page: str) -> None:
    """Somebody in the middle of choosing is not interrupted, but told; a click shows the newer page."""
    write_text(path, page)
    shown = browser.open(server.address, 390, "light")
    shown.locator(".filters select").last.focus()
    write_text(path, newer(page))
    shown.wait_for_selector(NOTE)
    assert shown.locator(NOTE).inner_text() == "There are new runs. Show them"
    assert shown.locator(NOTE).get_attribute("role") == "status"
    shown.wait_for_timeout(2500)
    assert shown.locator("h2:has-text('Now 2')").count() == 0
    shown.locator(f"{NOTE} button").click()
    shown.wait_for_selector("h2:has-text('Now 2')", state="attached")
    assert shown.locator(NOTE).is_hidden()


def test_it_says_that_the_server_has_gone(browser: Any, server: PageServer, path: Path, page: str) -> None:
    """Once, and shows on what it has."""
    write_text(path, page)
    shown = browser.open(server.address, 1300, "light")
    server.close()
    shown.wait_for_selector(NOTE)
    assert shown.locator(NOTE).inner_text() == "It has ended."
    shown.evaluate("""
      window.said = 0;
      const seen = new MutationObserver(() => { window.said += 1; });
      seen.observe(document.querySelector(".live-note"), { childList: true, subtree: true, characterData: true });
    """)
    shown.wait_for_timeout(2500)
    assert shown.evaluate("said") == 0
    assert shown.locator("h1").is_visible()
    # Chromium's own word for each question that nobody answered.
    browser.faults = [fault for fault in browser.faults if "ERR_CONNECTION_REFUSED" not in fault]


def test_another_site_cannot_show_it(browser: Any, server: PageServer, path: Path, page: str, tmp_path: Path) -> None:
    """Even one that knows the address: not in a frame, as a script or as a picture."""
    write_text(path, page)
    (tmp_path / "site.html").write_text(
        f'<!doctype html><iframe src="{server.address}"></iframe><script src="{server.address}"></script>'
    )
    shown = browser.open((tmp_path / "site.html").as_uri(), 1300, "light")
    shown.wait_for_timeout(500)
    assert not [frame for frame in shown.frames if frame.url.startswith("http") and frame.query_selector("h1")]
    assert any("frame" in fault.lower() for fault in browser.faults), browser.faults
    browser.faults.clear()


OWN = "document.documentElement.dataset.owned = 1"
HOSTILE = f"""<!doctype html><html><head><base href="ELSEWHERE">
<meta http-equiv="Content-Security-Policy" content="default-src http: 'unsafe-inline'; script-src-elem 'unsafe-inline'">
<link rel="stylesheet" href="/s.css"><link rel="preload" as="script" href="/p.js"><link rel="icon" href="/i.png">
<script>{OWN}</script><script src="/x.js"></script><script type="module">{OWN}</script>
<script type="importmap">{{"imports": {{"a": "/a.js"}}}}</script>
<style>body {{ background: url(ELSEWHERE/b.png) }}</style></head>
<body onload="{OWN}" style="background: url(ELSEWHERE/c.png)"><img src="ELSEWHERE/d.png" onerror="{OWN}">
<svg onload="{OWN}"></svg><iframe src="javascript:parent.{OWN}"></iframe>
<iframe srcdoc="<script>parent.{OWN}</script>"></iframe><iframe src="ELSEWHERE"></iframe>
<object data="ELSEWHERE/o"></object><embed src="ELSEWHERE/e"><video src="ELSEWHERE/v"></video>
<details open ontoggle="{OWN}"><summary>a</summary></details><input autofocus onfocus="{OWN}">
<a id="go" href="javascript:{OWN}">go</a>
<form action="ELSEWHERE/form" method="post"><button id="send">send</button></form></body></html>"""


@pytest.fixture
def elsewhere() -> Iterator[socket.socket]:
    """Where a hostile page would send its reader, or load from."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def hostile(elsewhere: socket.socket, more: str = "") -> str:
    """A page that tries every way to run a script, to load from there, and to lead there."""
    address = f"http://127.0.0.1:{elsewhere.getsockname()[1]}"
    return HOSTILE.replace("<body", f"{more}<body").replace("ELSEWHERE", address)


def asked(elsewhere: socket.socket) -> bytes:
    """What came there. Chromium connects before it knows that a frame or a form is refused, and then says nothing."""
    came = b""
    with suppress(BlockingIOError):
        while True:
            connection, _ = elsewhere.accept()
            with connection, suppress(BlockingIOError):
                connection.setblocking(False)
                came += connection.recv(1000)
    return came


def ran_nothing(browser: Any, address: str, elsewhere: socket.socket) -> bool:
    """Whether no script of theirs ran, and nobody was asked or shown but this server."""
    browser.faults.clear()  # Each refusal is said on the console.
    owned = browser.evaluate("document.documentElement.dataset.owned")
    return browser.page.url == address and owned is None and asked(elsewhere) == b""


def test_a_page_that_is_not_of_this_sizer_runs_nothing(
    browser: Any, server: PageServer, path: Path, elsewhere: socket.socket
) -> None:
    """Whatever policy it has of its own, and whatever is clicked on it."""
    path.write_text(hostile(elsewhere))
    shown = browser.open(server.address, 1300, "light")
    for name in ("#go", "#send"):
        shown.locator(name).dispatch_event("click")
    shown.wait_for_timeout(1500)
    assert shown.locator("#go").count() == 1
    assert ran_nothing(browser, server.address, elsewhere)
