"""A chart as a section of the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from .legend import Key


@dataclass(frozen=True)
class Figure:
    """A picture with its heading, the sentence under it and its legend; `keys` come before the names in `series`."""

    title: str
    svg: Markup
    caption: str
    series: tuple[str, ...]
    keys: tuple[Markup, ...]
    explained: tuple[Key, ...]
