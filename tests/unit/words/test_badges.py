"""Badges: a word with what it means, that a pointer, a key and a finger can ask for."""

from __future__ import annotations

import pytest

from sizer.bundled.reports.page import templates
from sizer.bundled.reports.policy import TEMPLATES
from sizer.words.verdict import BadgeKind, badge

SHOWN = "{{ badge(value) }}"


@pytest.mark.parametrize("kind", BadgeKind)
def test_each_badge_says_what_it_means(kind: BadgeKind) -> None:
    """In a sentence or two, and on the page as text that needs no script."""
    found = badge(kind)
    assert found.word == found.word.lower()
    assert found.explanation.endswith(".")
    assert len(found.explanation) < 200
    shown = templates().from_string(SHOWN).render(value=found)
    assert shown.startswith('<button type="button" class="badge ')
    assert 'aria-description="' in shown
    assert 'class="badge-says"' in shown


def test_it_opens_for_a_pointer_and_for_a_key() -> None:
    """A finger does both; the explanation is not printed."""
    style = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    assert (
        ".badge:hover:not(.closed) > .badge-says, .badge:focus:not(.closed) > .badge-says { visibility: visible; }"
        in style
    )
    assert ".badge-says { display: none; }" in style[style.index("@media print") :]


def test_verdicts_differ_by_more_than_colour() -> None:
    """Each has a sign before its word."""
    verdicts = (BadgeKind.RECOMMENDED, BadgeKind.PROVISIONAL, BadgeKind.AT_LEAST, BadgeKind.NO_ANSWER)
    assert len({badge(kind).symbol for kind in verdicts}) == len(verdicts)
    assert not badge(BadgeKind.EMULATED).symbol
