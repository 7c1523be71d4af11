"""What can go wrong, each with the exit code that the command line ends with."""

from __future__ import annotations

from collections.abc import Mapping

from sizer.records.messages import Lines, Message


class SizerError(Exception):
    """One sentence for a person: what is wrong, where, and what to type next.

    `message` is the sentence with named placeholders and `values` what fills them: `InputError("{path} is empty.",
    path=path)`. `str()` is English; `sizer.words.in_words` says it in the reader's language. Sentences that are
    records already, a line each, are given as `Lines`.
    """

    exit_code = 1

    def __init__(self, message: str | Lines, /, **values: object) -> None:
        super().__init__(message)
        self.said: Message | Lines = Message(message, **values) if isinstance(message, str) else message

    def __str__(self) -> str:
        return str(self.said)

    @property
    def message(self) -> str:
        """The English sentence with its placeholders."""
        return self.said.template if isinstance(self.said, Message) else str(self.said)

    @property
    def values(self) -> Mapping[str, object]:
        """What fills the placeholders."""
        return self.said.values if isinstance(self.said, Message) else {}


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
