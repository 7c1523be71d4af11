"""What went wrong, as a sentence in the reader's language."""

from __future__ import annotations

from sizer.records.errors import SizerError
from sizer.records.messages import AllOf, AnyOf, Lines, Message
from sizer.words.language import _
from sizer.words.names import either, listed


def in_words(value: object) -> str:
    """An error or message with what it holds; a list with the language's own "or" and "and"; anything else as text."""
    if isinstance(value, SizerError):
        return in_words(value.said)
    if isinstance(value, Message):
        return _(value.template, **{name: in_words(each) for name, each in value.values.items()})
    if isinstance(value, AnyOf):
        return either([in_words(name) for name in value.names])
    if isinstance(value, AllOf):
        return listed([in_words(name) for name in value.names])
    if isinstance(value, Lines):
        return "\n".join(map(in_words, value.sentences))
    return str(value)
