"""A sentence for a person as a record: the English one with named placeholders, and what fills them.

Whoever finds out what is wrong hands over such a record. `str()` of it is English, for logs and for what is stored;
`sizer.words` says it in the reader's language.
"""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LONGEST_QUOTED = 40
"""Characters of a value that a sentence quotes."""

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's control characters, formats (some turn the order of a line round), lone surrogates and line ends."""


def printable(text: str, keep: str = "") -> str:
    """The text with what cannot be seen as escapes, such as `\\x1b` and `\\n`; the characters in `keep` stay."""
    if text.isprintable():
        return text
    return "".join(char if char in keep or not _unseen(char) else _escape(char) for char in text)


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(1 + (unicodedata.east_asian_width(letter) in "WF") for letter in text)


def quoted(text: str) -> str:
    """A value as a sentence quotes it, no longer than a person reads."""
    text = printable(text)
    return f"`{text if len(text) <= LONGEST_QUOTED else f'{text[: LONGEST_QUOTED - 3]}...'}`"


def typed(word: str) -> str:
    """The word as bash takes it for just this word."""
    if not any(_unseen(char) for char in word):
        return shlex.quote(word)
    special = {"\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(special.get(char) or (_escape(char) if _unseen(char) else char) for char in word) + "'"


def typed_line(words: Iterable[str]) -> str:
    """A command on one line, from which a shell makes just these words."""
    return " ".join(typed(word) for word in words)


def typed_path(path: object) -> str:
    """A path to be typed behind a command, which must not take it for an option."""
    text = str(path)
    return typed(f"./{text}" if text.startswith("-") else text)


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in UNSEEN


def _escape(char: str) -> str:
    """As Python writes it, which bash reads between `$'` and `'`; a byte of a path that is no UTF-8 as that byte."""
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


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
class _Several:
    names: tuple[object, ...]

    def __init__(self, *names: object) -> None:
        object.__setattr__(self, "names", names)


class AnyOf(_Several):
    """Alternatives: `a, b or c`."""

    def __str__(self) -> str:
        return _joined(self.names, "or")


class AllOf(_Several):
    """Things that belong together: `a, b and c`."""

    def __str__(self) -> str:
        return _joined(self.names, "and")


class Lines(_Several):
    """Sentences that are a line each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.names))


def advised_name(name: str, choices: Iterable[str], otherwise: Message | None = None) -> Message:
    """What to write in place of an unknown name: the one it looks like, else any of those that are known, or
    `otherwise` where these are too many."""
    choices = tuple(choices)
    import difflib

    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if close:
        return Message("did you mean `{name}`?", name=close[0])
    return otherwise or Message("use {names}.", names=AnyOf(*choices))


def _joined(names: tuple[object, ...], word: str) -> str:
    """Empty where there is no name, as a list of none is in any language."""
    *firsts, last = map(str, names or ("",))
    return f"{', '.join(firsts)} {word} {last}" if firsts else last


class SizerError(Exception):
    """One sentence for a person: what is wrong, where, and what to type next.

    `message` is the sentence with named placeholders and `values` what fills them: `InputError("{path} is empty.",
    path=path)`. `str()` is English; `sizer.words.in_words` says it in the reader's language. Sentences that are
    records already, a line each, are given as `Lines`.
    """

    exit_code = 1

    def __init__(self, message: str | Lines, /, **values: object) -> None:
        super().__init__(message)
        self.content: Message | Lines = Message(message, **values) if isinstance(message, str) else message

    def __str__(self) -> str:
        return str(self.content)

    @property
    def message(self) -> str:
        """The English sentence with its placeholders."""
        return self.content.template if isinstance(self.content, Message) else str(self.content)

    @property
    def values(self) -> Mapping[str, object]:
        """What fills the placeholders."""
        return self.content.values if isinstance(self.content, Message) else {}


class InputError(SizerError):
    """The command line, the study file or another input file is wrong."""

    exit_code = 2


class HostError(SizerError):
    """This host cannot do what was asked."""

    exit_code = 3


class NoAnswer(SizerError):
    """The measurements are not enough to answer the question."""

    exit_code = 5


class Interrupted(SizerError):
    """Ctrl-C came between two runs."""

    exit_code = 130
