"""How wide a text will be, and how it is cut to fit: the reader's font is not known when the page is made."""

from __future__ import annotations

CHARACTER = 6.6
"""Mean width in pixels of a character at the charts' text size, in the widest font that the style sheet names."""
BOLD = 1.15
"""How much wider bold letters are."""


def width(text: str, weight: float = 1.0) -> float:
    """About how many pixels it takes: capitals are wider than small letters, and Chinese characters wider still, as is
    the sign that is drawn for what cannot be shown.
    """
    return weight * sum(13.0 if _is_wide(each) else 8.4 if each.isupper() else CHARACTER for each in text)


def _is_wide(character: str) -> bool:
    return ord(character) > 0x2E7F or not (character.isprintable() or character.isspace())


def cut(text: str, room: float, weight: float = 1.0) -> str:
    """A text that fits into so many pixels; its end, which distinguishes sizes of one family, is kept."""
    if width(text, weight) <= room:
        return text
    # Even of the narrowest letters no more would fit.
    for most in range(min(len(text) - 1, int(room / (CHARACTER * weight)) + 1), 1, -1):
        shorter = f"{text[: most // 2]}…{text[len(text) - (most - most // 2 - 1) :]}"
        if width(shorter, weight) <= room:
            return shorter
    return ""
