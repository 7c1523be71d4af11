"""A chart as a section of the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from .legend import Key


@dataclass(frozen=True)
class Figure:
    """A picture with its heading, its legend, the sentences under it, and a question that it answers."""

    title: str
    svg: Markup
    keys: tuple[Key, ...]
    caption: str = ""
    question: str = ""
    answer: str = ""
