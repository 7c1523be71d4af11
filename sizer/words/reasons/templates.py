"""A sentence of a reason: a template with named fields, which is said where the reason has those that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sizer.records.prediction import Figure, Reason, ReasonCode
from sizer.words import language
from sizer.words.names import Terms
from sizer.words.reasons.fields import field


@dataclass(frozen=True)
class Template:
    """English; said only of a reason with the figures `when`, of which True is any value and False none."""

    message: str
    when: Mapping[str, Figure]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of its values and of the conditions of its optional parts."""
        return language.fields_of(self.message) + language.conditions_of(self.message)

    def said(self, reason: Reason, terms: Terms) -> str:
        """The sentence; empty where the reason lacks a figure that it needs."""
        if not all(_is(reason, name, value) for name, value in self.when.items()):
            return ""
        values = {name: field(name, reason, terms) for name in self.fields}
        needed = language.fields_of(language.without_optional(self.message))
        return language._(self.message, **values) if all(map(values.get, needed)) else ""


def _is(reason: Reason, name: str, value: Figure) -> bool:
    return reason.has(name) is value if isinstance(value, bool) else reason.text(name) == value


Sentences = Mapping[ReasonCode, tuple[tuple[Template, ...], ...]]
"""The sentences of each kind; of each the templates, the fullest first."""


def marked(message: str, **when: Figure) -> Template:
    """A template; imported as `_`, by which `script/words` finds the message."""
    return Template(message, when)


def first_of(*templates: Template) -> tuple[tuple[Template, ...]]:
    """One sentence; further ones follow with `+`."""
    return (templates,)


def in_order(reason: Reason, terms: Terms, sentences: Sentences) -> str:
    """Of each sentence the first template whose fields are all there; nothing of one that has none."""
    return language.paragraph(
        next(filter(None, (each.said(reason, terms) for each in templates)), "") for templates in sentences[reason.code]
    )
