"""What the page costs: its size, the time to make it, and the time until Chromium shows it.

    python benchmarks/page/page.py [--times 5]

Pages of 4 and 12 workloads and one of 1,000 runs, from the runs of the measured grid (`page_studies.py`). `made` is CPU
time of `render` alone; fitting and recommending are timed elsewhere. `opened` is the later of the load event and the
first contentful paint in Debian's Chromium, from the start of the navigation, each time in a fresh context; a median.
Aims: below 2 MB and opened within 1 s for 1,000 runs; made within 3 s for 4 workloads and 6 s for 12.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "grid"))

from page_studies import of_runs, of_workloads

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material

MOST_BYTES = 2e6

SHOWN = """
new Promise(done => new PerformanceObserver(seen => {
  const [loaded] = performance.getEntriesByType('navigation');
  const painted = seen.getEntriesByName('first-contentful-paint').map(each => each.startTime);
  if (painted.length) done(Math.max(loaded.loadEventEnd, ...painted));
}).observe({type: 'paint', buffered: true}))
"""
"""Milliseconds from the start of the navigation."""


@dataclass(frozen=True)
class Case:
    """A page and its aims, in seconds; None where it has none."""

    name: str
    material: Material
    made: float | None = None
    opened: float | None = None


def seconds_to_make(case: Case, path: Path) -> float:
    """CPU time of the page, which is written there."""
    before = time.process_time()
    page = render(case.material)
    seconds = time.process_time() - before
    path.write_text(page, encoding="utf-8")
    return seconds


def seconds_to_open(browser: Browser, path: Path) -> float:
    """Until the page has loaded and shows something."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    milliseconds: float = page.evaluate(SHOWN)
    context.close()
    return milliseconds / 1000


def main() -> int:
    """Print the table; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5, help="how often each page is opened (default: 5)")
    times = parser.parse_args().times
    program = shutil.which("chromium")
    if program is None:
        print("there is no Chromium here; type: apt-get install chromium", file=sys.stderr)
        return 3
    cases = (
        Case("4 workloads", of_workloads(4), made=3.0),
        Case("12 workloads", of_workloads(12), made=6.0),
        Case("1,000 runs", of_runs(1000), opened=1.0),
    )
    met = True
    print(f"{'page':14}{'runs':>6}{'MB':>7}{'made, CPU s':>13}{'opened, s':>11}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser, path = playwright.chromium.launch(executable_path=program), Path(folder) / "report.html"
        for case in cases:
            made = seconds_to_make(case, path)
            opened, size = median(seconds_to_open(browser, path) for _ in range(times)), path.stat().st_size
            figures = ((size, MOST_BYTES), (made, case.made), (opened, case.opened))
            missed = [aim for figure, aim in figures if aim is not None and figure >= aim]
            met = met and not missed
            print(
                f"{case.name:14}{len(case.material.runs):6}{size / 1e6:7.2f}{made:13.1f}{opened:11.2f}"
                f"{'  missed' if missed else ''}"
            )
        browser.close()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
