"""What can go wrong, each with the exit code that the command line ends with."""

from __future__ import annotations


class SizerError(Exception):
    """One sentence for a person: what is wrong, where, and what to type next."""

    exit_code = 1


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
