"""What went wrong, in a real browser: evidence that opens, the host over time, and texts that try to do something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from sizer.bundled.reports.runs import all_runs
from sizer.bundled.reports.subject import Material
from sizer.records.device import GpuSample
from sizer.records.run import Cause, CauseKind, Failure, Run, Sample, Step
from sizer.records.run_kinds import Outcome
from tests.hostile_study import HOSTILE, hostile

pytestmark = pytest.mark.slow

MIB = 2**20
HOSTILE_LOG = "\n".join(
    [
        *(f"epoch {number}" for number in range(12)),
        """</pre><script>document.title='owned'</script><img src=x onerror="document.title='owned'">""",
        "\u202egnp.exe\u2066 \x1b[2J\x07",
        "x" * 10_000,
    ]
)
HOSTILE_UNIT = "<img src=x onerror=document.title='owned'>"
BEGUN = datetime(2026, 11, 21, 9, tzinfo=timezone.utc)

TIPS = """
(chart => {
  const tip = document.querySelector('.tip'), told = [];
  chart.scrollIntoView({block: 'center'});
  chart.focus();
  for (const key of ['Home', 'ArrowRight', 'End']) {
    chart.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    told.push(tip.textContent);
  }
  return {told, focused: document.activeElement === chart, lines: chart.querySelectorAll('.crosshair').length};
})
"""

LEANING_OUT = """
[...document.querySelectorAll('#doubts *, .timeline, .timeline *')]
  .filter(each => each.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length
"""


def went_on(run: Run, number: int) -> Run:
    """The run at its time, with the counters of 20 seconds and a step in each."""
    samples = tuple(
        Sample(
            time=50.0 + second,
            core_seconds=1.4 * second,
            memory_bytes=(120 + 8 * second) * MIB,
            anonymous_bytes=(100 + second) * MIB,
            page_cache_bytes=7 * second * MIB,
            read_bytes=second * 4_000_000,
            accelerator_busy=0.4 * second,
            gpus=(GpuSample(busy=0.4 * second, memory_bytes=second << 28),),
        )
        for second in range(21)
    )
    return replace(
        run,
        started_at=(BEGUN + timedelta(seconds=25 * number)).isoformat(),
        steps=tuple(Step(50.0 + second, 32, 0.0, second // 12) for second in range(3, 21)),
        samples=samples,
    )


@pytest.fixture(scope="module")
def doubtful(material: Material, reference: tuple[Run, ...]) -> Material:
    """A study one run after the other, of which one run ended with hostile last words."""
    runs = tuple(went_on(run, number) for number, run in enumerate((*material.runs, *reference)))
    crashed = replace(
        runs[0],
        outcome=Outcome.CRASHED,
        throughput=None,
        evidence=None,
        error=Failure(Cause(CauseKind.EXIT_STATUS, {"status": 1}), last_lines=HOSTILE_LOG),
    )
    strange = replace(runs[2], sample_unit=HOSTILE_UNIT)
    return replace(material, runs=(crashed, runs[1], strange, *runs[3:]), model=None)


@pytest.fixture(scope="module")
def address(doubtful: Material, written: Callable[[Material], str]) -> str:
    return written(doubtful)


@pytest.mark.parametrize(("width", "scheme"), [(1300, "light"), (390, "dark")])
def test_a_run_and_the_host_over_time(browser: Any, address: str, width: int, scheme: str) -> None:
    """A run is drawn when it is opened, and once; keys go along its time and tell every series there. The host's
    measurements tell their time and rate, and the strip beneath what went on. Last words are shown and never run."""
    page = browser.open(address, width, scheme)
    assert browser.evaluate("document.querySelectorAll('.timeline').length") == 0
    line = page.locator(".runs > details > summary").nth(6)
    line.click()
    page.locator(".runs > details .timeline svg").wait_for()
    line.click()
    line.click()
    assert browser.evaluate("document.querySelectorAll('.timeline').length") == 1
    shown = browser.evaluate(f"{TIPS}(document.querySelector('.timeline svg'))")
    assert [tip.partition("\n")[0] for tip in shown["told"]] == ["0–1 s", "1–2 s", "19–20 s"]
    series = ("throughput 32 images/s", "CPU 1.4", "anonymous 120 MiB", "read 4 MB/s", "GPU busy 40 %", "in use 5 GiB")
    assert [name for name in series if name not in shown["told"][-1]] == []
    assert (shown["focused"], shown["lines"]) == (True, 1)
    text = page.locator(".timeline svg").text_content()
    for word in ("warm-up", "measured", "first epoch ends", "Throughput, images/s", "CPU, cores (limit", "GPU busy, %"):
        assert word in text
    assert "GPU memory, GiB" in text

    shown = browser.evaluate(f"{TIPS}(document.querySelector('.drift svg.chart'))")
    assert all(tip.startswith(("09:", "10:")) and "run" in tip for tip in shown["told"])
    assert "of the median" in shown["told"][-1]
    page.locator(".drift .stretch").nth(7).dispatch_event("pointermove")
    assert " UTC, train-resnet50-p100, " in page.locator(".tip").inner_text()
    assert "The host drifted" in page.locator(".drift").inner_text()

    failure = page.locator(".failed").filter(has_text="gnp.exe")
    log = failure.locator("pre").last.inner_text()
    assert "document.title='owned'</script><img src=x" in log
    assert "�gnp.exe� �[2J�" in log
    assert len(log) < 2_000
    failure.locator("summary").click()
    assert "epoch 3" in failure.locator("details pre").inner_text()
    browser.evaluate("document.querySelectorAll('.runs > details').forEach(each => { each.open = true })")
    page.locator(".timeline svg").nth(50).wait_for(state="attached")
    drawn = browser.evaluate("[...document.querySelectorAll('.timeline')].map(each => each.textContent).join()")
    assert HOSTILE_UNIT in drawn
    assert "owned" not in page.title()
    assert browser.evaluate("document.images.length") == 0
    assert browser.evaluate(LEANING_OUT) == 0
    assert browser.evaluate("document.documentElement.scrollWidth") == width


# Texts that want to be code, to turn their neighbours around or to break out of their box, everywhere on the page.


OUTSIDE = """
(() => {
  document.querySelectorAll('details').forEach(each => { each.open = true; });
  const width = document.documentElement.clientWidth, found = new Set();
  const scrolls = node => { for (let each = node; each; each = each.parentElement) {
    const style = getComputedStyle(each);
    if (style.overflowX !== 'visible' || style.position === 'fixed' || style.clipPath !== 'none') return true; } };
  for (const node of document.querySelectorAll('body *')) {
    const box = node.getBoundingClientRect();
    if (box.width && (box.right > width + 1 || box.left < -1) && !scrolls(node))
      found.add(node.tagName + '.' + (node.getAttribute('class') || '') + ' in '
        + (node.closest('section, header, article') || document.body).id + ': ' + node.textContent.trim().slice(0, 40));
  }
  return [...found].slice(0, 30);
})()
"""

FOREIGN = """
(() => {
  const all = [...document.querySelectorAll('*')];
  return {
    scripts: document.querySelectorAll('script:not([type*=json])').length,
    pictures: document.images.length, frames: frames.length,
    handlers: all.filter(each => each.getAttributeNames().some(name => name.startsWith('on'))).length,
    addresses: all.map(each => each.getAttribute('href') || each.getAttribute('src') || '#')
      .filter(each => !/^(#|https:|http:|data:)/.test(each)),
  };
})()
"""


@pytest.fixture(scope="module", params=HOSTILE)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def hostile_address(kind: str, material: Material, written: Callable[[Material], str]) -> str:
    with pytest.MonkeyPatch.context() as patched:
        # A curve of few points is the same to a name, and each model here is another one.
        patched.setattr("sizer.bundled.reports.figures.series.POINTS", 6)
        patched.setattr(all_runs, "MOST_IN_PLACE", 0 if kind == "markup" else 1000)
        return written(hostile(material, HOSTILE[kind]))


def test_hostile_texts_are_shown_and_never_run(browser: Any, hostile_address: str, kind: str) -> None:
    """No script, no element, no address of theirs; nothing turns round; nothing is wider than the screen."""
    # Chromium lays out long words for half a minute; what holds them on a phone holds them on a wider screen.
    for width, scheme in ((390, "dark"),) if kind == "long" else ((1300, "light"), (390, "dark")):
        page = browser.open(hostile_address, width, scheme)
        outside = browser.evaluate(OUTSIDE)
        page.locator(".evidence:empty").first.wait_for(state="detached")
        assert HOSTILE[kind][:6].strip("\u202e") in page.locator("main").inner_text()
        assert not page.title().startswith("owned")
        assert browser.evaluate(FOREIGN) == {"scripts": 1, "pictures": 0, "frames": 0, "handlers": 0, "addresses": []}
        assert not set(page.content()) & set("\u202e\u2067\u200f\x07\x1b")
        assert outside == []
        assert browser.evaluate("document.documentElement.scrollWidth") == width
