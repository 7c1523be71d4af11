"""The page in a real Chromium, which Playwright drives."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import ConsoleMessage, Page, Request, sync_playwright

from sizer.bundled.reports.page import write_report
from sizer.bundled.reports.subject import Material
from tests.shared import held

NOTHING = "about:blank"
PATIENT = 150_000
"""Milliseconds until what does not come never will; of Playwright, 30 s, too few where others have the CPUs."""
PHONE = 500
"""Below this width (CSS pixels) the browser lays a page out as a phone does."""


class Browser:
    """One page at a time; `faults` are what it asked of the network and what the browser had to say about it."""

    def __init__(self, chromium: Chromium) -> None:
        self._chromium = chromium
        self._tabs: dict[tuple[object, ...], Page] = {}
        self._address = NOTHING
        self.page: Page
        self.faults: list[str] = []

    def open(self, address: str, width: int, scheme: Any, height: int = 900, **options: Any) -> Page:
        """Load a page as a screen of that width (CSS pixels) and colour scheme shows it; `options` are Playwright's.

        It is loaded anew in a tab of its kind: a tab more is a process more, and costs twice the CPU time of the page.
        """
        if self._tabs:
            self._go(NOTHING)
        kind = (width < PHONE, *options.items())
        self.page = self._tabs[kind] = self._tabs.get(kind) or self._new_tab(width < PHONE, **options)
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(media="null", color_scheme=scheme)
        self._go(address)
        return self.page

    def _new_tab(self, phone: bool, **options: Any) -> Page:
        context = self._chromium.new_context(is_mobile=phone, **options)
        context.set_default_timeout(PATIENT)
        context.on("request", self._asked)
        context.on("console", self._said)
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        return context.new_page()

    def _go(self, address: str) -> None:
        self._address = address.partition("#")[0]
        self.page.goto(address)

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page, or what its promise ends in."""
        return self.page.evaluate(expression)

    def picture(self, path: Path) -> None:
        """The whole page as a PNG."""
        self.page.screenshot(path=path, full_page=True)

    def close(self) -> None:
        self._tabs.clear()
        for context in self._chromium.contexts:
            context.close()

    def _asked(self, request: Request) -> None:
        if not (request.is_navigation_request() and request.url.partition("#")[0] == self._address):
            self.faults.append(f"request: {request.url}")

    def _said(self, message: ConsoleMessage) -> None:
        """What the policy refuses is said on the console, too."""
        self.faults.append(f"{message.type}: {message.text}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; one for each module: beside its event loop and its thread nothing is forked."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium here; apt-get install chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program)
        running = Browser(chromium)
        yield running
        running.close()
        chromium.close()


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Material], str]:
    """Writes the page of a study; its address."""

    def write(material: Material) -> str:
        path = tmp_path_factory.mktemp("page") / "report.html"
        write_report(path, material)
        return path.as_uri()

    return write


@pytest.fixture(scope="session")
def address(material: Material, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of the page of the reported study, which is written once for all workers."""
    with held(tmp_path_factory, "reported.html") as path:
        if not path.exists():
            write_report(path, material)
    return path.as_uri()


@pytest.fixture(autouse=True)
def _nothing_loaded_and_nothing_said(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test: its pages asked for their own file alone, and the browser has refused and reported nothing."""
    yield
    if "browser" in request.fixturenames:
        browser = request.getfixturevalue("browser")
        faults, browser.faults = browser.faults, []
        assert faults == []
