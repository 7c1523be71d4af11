"""The what-if section of the page in a real browser; what it computes is compared in test_model_in_chromium.py."""

from __future__ import annotations

from typing import Any

import pytest

from sizer.api.predicting import predict_at
from sizer.bundled.reports.subject import Material
from sizer.records.prediction import Configuration
from sizer.records.units import format_number

pytestmark = pytest.mark.slow

RATE = "document.querySelector('#what-if-section .rate output').textContent"
VCPUS = "document.getElementById('what-if-vcpus')"
SECTION = "document.getElementById('what-if-section')"


def moved(control: str, index: int) -> str:
    """Move a slider as a hand does."""
    return (
        f"(() => {{ const input = document.getElementById('what-if-{control}'); input.value = {index};"
        " for (const name of ['input', 'change']) input.dispatchEvent(new Event(name)); })()"
    )


def test_it_begins_at_the_answer(browser: Any, address: str, material: Material) -> None:
    """With the rate that the model gives there, and that nobody rents out its GPU at a known price any more."""
    browser.open(address, 1280, "light")
    spec = material.recommendation.workloads[0].spec
    model = material.model.workloads[0]
    place = Configuration(spec.vcpus, spec.memory_bytes, spec.disk, spec.batch_size)
    assert browser.evaluate(RATE) == f"{format_number(predict_at(model, place).throughput.value)} images/s"
    assert " an hour · $" in browser.evaluate(f"{SECTION}.querySelector('.price').textContent")
    assert browser.evaluate(f"{SECTION}.querySelector('.without-script').hidden")
    assert browser.evaluate("location.hash") == ""


def test_a_slider_moves_rate_bottleneck_and_cost_at_once(browser: Any, address: str) -> None:
    """And the address of the page, which gives the same in another window; the price where there is one."""
    browser.open(address, 1280, "light")
    shown = f"[...{SECTION}.querySelectorAll('.rate output, .bound, .typed')].map(each => each.textContent)"
    before = browser.evaluate(shown)
    browser.evaluate(moved("vcpus", 0))
    after = browser.evaluate(shown)
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert "--vcpus 0.25" in after[2]
    where = browser.evaluate("location.hash")
    assert where.startswith("#what-if=train-resnet50-p100&vcpus=0.25&")
    browser.open(f"{address}{where}", 1280, "light")
    assert browser.evaluate(shown) == after
    browser.evaluate(f"{SECTION}.querySelector('.back').click()")
    assert browser.evaluate(shown) == before
    prices = set()
    for vcpus in (1, 4):
        browser.open(f"{address}#what-if=infer-squeezenet&vcpus={vcpus}", 1280, "light")
        prices.add(browser.evaluate(f"{SECTION}.querySelector('.price').textContent"))
    assert len(prices) == 2
    assert all("$" in price for price in prices)


def test_what_of_an_address_does_not_fit_is_said(browser: Any, address: str) -> None:
    """In one sentence, and the rest is used; it goes when a slider is moved. What is no value of a control leaves it at
    the answer."""
    browser.open(address, 1280, "light")
    usual, note = browser.evaluate(RATE), f"{SECTION}.querySelector('.unfit')"
    for fragment in (
        "vcpus=NaN&memory_gib=-1&disk=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E",
        "vcpus=1e999&__proto__=1&constructor=2&disk=__proto__",
    ):
        browser.open(f"{address}#what-if=train-resnet50-p100&{fragment}", 1280, "light")
        assert browser.evaluate(RATE) == usual
        assert browser.faults == []
    for fragment, unfit in (
        ("what-if=another-study&vcpus=0.5", "what-if=another-study"),
        ("what-if=train-resnet50-p100&vcpus=0.5&disk=gone", "disk=gone"),
    ):
        browser.open(f"{address}#{fragment}", 1280, "light")
        sentence = f"From the address was left out what this page does not have: {unfit}."
        assert browser.evaluate(f"{note}.textContent") == sentence
        assert not browser.evaluate(f"{note}.hidden")
        assert "--vcpus 0.5 " in browser.evaluate(f"{SECTION}.querySelector('.typed').textContent")
    browser.evaluate(moved("vcpus", 2))
    assert browser.evaluate(f"{note}.hidden")


def test_on_a_phone_the_result_is_in_view_while_a_slider_is_moved(browser: Any, address: str) -> None:
    """Of the first slider and of the last; neither covers the other."""
    page = browser.open(address, 390, "light", height=844)
    sliders = page.locator("#what-if-section .controls input:visible")
    for slider in (sliders.first, sliders.last):
        page.evaluate("scrollTo(0, 0)")
        slider.focus()
        page.keyboard.press("ArrowLeft")
        glance = page.locator("#what-if-section .glance")
        assert glance.text_content().startswith(browser.evaluate(RATE))
        shown, moving = glance.bounding_box(), slider.bounding_box()
        assert shown["y"] >= 0
        assert shown["y"] + shown["height"] <= 844
        assert moving["y"] >= 0
        assert moving["y"] + moving["height"] <= shown["y"]


def test_what_was_measured_is_marked(browser: Any, address: str) -> None:
    """Each measured value has a mark; there the runs' own rate is said, too, and beyond them it is extrapolated."""
    browser.open(address, 1280, "light")
    ticks = "document.querySelector('[data-control=vcpus] .ticks').children.length"
    assert browser.evaluate(ticks) == 3
    shown = (
        f"[...{SECTION}.querySelectorAll('[data-badge]')].filter(each => !each.hidden).map(each => each.dataset.badge)"
    )
    browser.evaluate(moved("vcpus", 99))
    assert browser.evaluate(shown) == ["extrapolated"]
    assert browser.evaluate(f"{VCPUS}.getAttribute('aria-valuetext')") == "8 vCPUs"
    browser.evaluate("location.hash = '#what-if=train-resnet50-p100&vcpus=1&memory_gib=4&disk=fast'")
    browser.evaluate("new Promise(done => setTimeout(done, 100))")
    assert browser.evaluate(shown) == ["fitted"]
    assert "images/s" in browser.evaluate(f"{SECTION}.querySelector('.ran').textContent")
