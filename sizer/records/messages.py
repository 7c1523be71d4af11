"""A sentence for a person as a record: the English one with named placeholders, and what fills them.

Whoever finds out what is wrong hands over such a record. `str()` of it is English, for logs and for what is stored;
`sizer.words` says it in the reader's language.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, init=False)
class Message:
    """A literal template, which `script/words` collects, and its values by name.

    A value may be a message itself, an error or a list of names, which is said in the same language; anything else is
    text. Braces in a value mean nothing, nor do those of a sentence without values.
    """

    template: str
    values: Mapping[str, object]

    def __init__(self, template: str, /, **values: object) -> None:
        object.__setattr__(self, "template", template)
        object.__setattr__(self, "values", values)

    def __hash__(self) -> int:
        return hash(self.template)

    def __str__(self) -> str:
        if not self.values:
            return self.template
        return self.template.format_map({name: str(value) for name, value in self.values.items()})


@dataclass(frozen=True, init=False)
class AnyOf:
    """Alternatives: `a, b or c`."""

    names: tuple[object, ...]

    def __init__(self, *names: object) -> None:
        object.__setattr__(self, "names", names)

    def __str__(self) -> str:
        return _joined(self.names, "or")


@dataclass(frozen=True, init=False)
class AllOf:
    """Things that belong together: `a, b and c`."""

    names: tuple[object, ...]

    def __init__(self, *names: object) -> None:
        object.__setattr__(self, "names", names)

    def __str__(self) -> str:
        return _joined(self.names, "and")


@dataclass(frozen=True, init=False)
class Lines:
    """Sentences that are a line each."""

    sentences: tuple[object, ...]

    def __init__(self, *sentences: object) -> None:
        object.__setattr__(self, "sentences", sentences)

    def __str__(self) -> str:
        return "\n".join(map(str, self.sentences))


def advised_name(name: str, known: Iterable[str]) -> Message:
    """What to write in place of an unknown name: the one it looks like, else any of those that are known."""
    known = tuple(known)
    import difflib

    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return Message("did you mean `{name}`?", name=close[0]) if close else Message("use {names}.", names=AnyOf(*known))


def _joined(names: tuple[object, ...], word: str) -> str:
    """Empty where there is no name, as a list of none is in any language."""
    *firsts, last = map(str, names or ("",))
    return f"{', '.join(firsts)} {word} {last}" if firsts else last
