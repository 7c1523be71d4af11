"""What the page costs: its size, the time to make it, and the time until Chromium shows it.

    python benchmarks/page/page.py [--times 5]

Pages of 4 and 12 workloads and one of 1,000 runs, from the runs of the measured grid (`page_studies.py`). `made` is CPU
time of `render` alone; fitting and recommending are timed elsewhere. `opened` is the later of the load event and the
first contentful paint in Debian's Chromium, from the start of the navigation, each time in a fresh context; beside it,
in turns with it, the same of a bare table with the words of each run's line, so that a busy machine slows both.
Medians. Aims: below 2 MB and opened within 1 s for 1,000 runs; made within 3 s for 4 workloads and 6 s for 12.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

sys.path.append(str(Path(__file__).parents[1] / "grid"))

from page_studies import of_runs, of_workloads

from sizer.bundled.reports.page import render
from sizer.bundled.reports.subject import Material
from sizer.records.run import Run
from sizer.words.language import rate_interval, row, vcpus_in_words
from sizer.words.page import ending, memory_size
from sizer.words.runs import evidence_in_words
from sizer.words.warnings import warning_names

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


@dataclass(frozen=True)
class Seen:
    """Bytes, CPU seconds to make the page, and seconds to open it and the bare table."""

    size: int
    made: float
    opened: float
    bare: float

    def within(self, case: Case) -> bool:
        """Whether every aim of the case is met."""
        return (
            self.size < MOST_BYTES
            and (case.made is None or self.made < case.made)
            and (case.opened is None or self.opened < case.opened)
        )


def measured(case: Case, browser: Browser, folder: Path, times: int) -> Seen:
    """Make the page and a bare table, and open each `times` times, in turns."""
    before = time.process_time()
    page = render(case.material)
    made = time.process_time() - before
    texts = {"page": page, "bare": bare_table(case.material.runs)}
    seconds: dict[str, list[float]] = {name: [] for name in texts}
    for name, text in texts.items():
        (folder / name).with_suffix(".html").write_text(text, encoding="utf-8")
    for _ in range(times):
        for name in texts:
            seconds[name].append(seconds_to_open(browser, (folder / name).with_suffix(".html")))
    return Seen(len(page.encode()), made, median(seconds["page"]), median(seconds["bare"]))


def seconds_to_open(browser: Browser, path: Path) -> float:
    """Until the page has loaded and shows something."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    page.goto(path.as_uri())
    milliseconds: float = page.evaluate(SHOWN)
    context.close()
    return milliseconds / 1000


def bare_table(runs: tuple[Run, ...]) -> str:
    """A row for each run, without style or script."""
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}' for cell in _cells(run))}" for run in runs)
    return f"<!doctype html><meta charset=utf-8><title>bare</title><table>{rows}</table>"


def _cells(run: Run) -> tuple[str, ...]:
    configuration = run.configuration
    return (
        run.spec.workload.name,
        vcpus_in_words(configuration.vcpus or 0),
        memory_size(configuration),
        configuration.disk or "",
        rate_interval(run.throughput, run.sample_unit) if run.throughput else ending(run),
        evidence_in_words(run.evidence) if run.evidence else "",
        row(warning_names(run)),
    )


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
    print(f"{'page':14}{'runs':>6}{'MB':>7}{'made, CPU s':>13}{'opened, s':>11}{'bare, s':>9}{'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        for case in cases:
            seen = measured(case, browser, Path(folder), times)
            met = met and seen.within(case)
            print(
                f"{case.name:14}{len(case.material.runs):6}{seen.size / 1e6:7.2f}{seen.made:13.1f}{seen.opened:11.2f}"
                f"{seen.bare:9.2f}{seen.opened / seen.bare:7.1f}{'' if seen.within(case) else '  missed'}"
            )
        browser.close()
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
