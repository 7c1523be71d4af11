"""The colours of the style sheet, by the formula of WCAG 2.1 (relative luminance, section 1.4.3)."""

from __future__ import annotations

import re

import pytest

from sizer.bundled.reports.policy import TEMPLATES

TEXT = ("ink", "muted", "good", "caution", "bad", "link")
MARKS = ("series-0", "series-1", "series-2", "series-3", "model")


def schemes() -> dict[str, dict[str, str]]:
    blocks = re.findall(r":root \{(.*?)\}", (TEMPLATES / "page.css").read_text(encoding="utf-8"), re.DOTALL)
    light, dark = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in blocks)
    assert light.keys() == dark.keys()
    return {"light": light, "dark": dark}


def luminance(colour: str) -> float:
    parts = [int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula_is_the_standards() -> None:
    """Black on white is 21, and #767676 on white is the well-known 4.54."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("background", ["page", "panel"])
@pytest.mark.parametrize("name", TEXT)
def test_text_is_readable(scheme: str, background: str, name: str) -> None:
    """Text reaches 4.5 on the page and on panels, in both schemes."""
    colours = schemes()[scheme]
    assert contrast(colours[name], colours[background]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", MARKS)
def test_marks_of_charts_stand_out(scheme: str, name: str) -> None:
    """Points and lines reach the 3 that graphics need."""
    colours = schemes()[scheme]
    assert contrast(colours[name], colours["page"]) >= 3
