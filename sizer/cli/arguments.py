"""What can be typed: the commands, each in a file of `sizer.cli.commands` that is imported when it is typed, and what
their arguments have in common."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sizer import __version__
from sizer.cli.printing import in_words, sentence
from sizer.records.messages import InputError, Message
from sizer.records.units import parse_factor, parse_whole

if TYPE_CHECKING:
    from sizer.catalog.catalog import Catalog
    from sizer.store.study_folder import StudyFolder

LANGUAGES = ("en", "zh")
"""That sizer speaks, by their names in `--lang`."""


class _Help(argparse.HelpFormatter):
    """Lines that fit the terminal, also of a language whose letters take two columns and have no spaces between."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        from sizer.cli.language import lines_within

        return lines_within(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from sizer.cli.language import lines_within

        return "\n".join(f"{indent}{line}" for line in lines_within(text, width - len(indent)))


class _Parser(argparse.ArgumentParser):
    """Its complaint about a word does not fill the terminal with that word."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        # As Python 3.14 has it: `--budget -5m` gives the option a value, which its own sentence refuses.
        self._negative_number_matcher = re.compile(r"-\.?\d")

    def _get_formatter(self) -> argparse.HelpFormatter:
        return _Help(prog=self.prog)

    def error(self, message: str) -> NoReturn:
        super().error(sentence(message))


def _(message: str, /, **values: object) -> str:
    """The message in the reader's language."""
    return in_words(Message(message, **values))


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top: argparse.ArgumentParser = _Parser(
        prog="sizer",
        description=_("Which is the cheapest machine on which a deep-learning job loses nothing? sizer measures it."),
        epilog=_(
            "exit codes: 0 done; 1 internal error of sizer; 2 usage, study file or input file; 3 this host cannot do "
            "what was asked; 4 some runs crashed, timed out, were unsupported or refused, report made; 5 no workload "
            "has an answer; 6 a gate given with --fail-if is not met; 130 interrupted"
        ),
    )
    top.add_argument("--version", action="version", version=f"sizer {__version__}", help=_("show the version and exit"))
    commands = top.add_subparsers(prog="sizer", metavar="COMMAND", required=True, parser_class=_Command)
    for name, summary in _commands().items():
        described = _("{clause}.", clause=f"{summary[0].upper()}{summary[1:]}")
        commands.add_parser(name, help=summary, description=described).module = MODULES.get(name, name)
    return top


MODULES = {"import": "import_table"}
"""Of the commands that are not called as their file."""


def _commands() -> dict[str, str]:
    """Each with what it does, in the order in which they are listed."""
    return {
        "doctor": _("what sizer can control on this host, and the commands that fix the rest"),
        "demo": _("a small real study and its report, in under 5 minutes; no GPU, no download"),
        "init": _("write a commented study file"),
        "run": _("measure a study; finished runs are kept, so it also resumes"),
        "resume": _("continue a study where it stopped"),
        "profile": _("measure a program of your own, without a study file"),
        "status": _("how many of a study's runs are finished"),
        "recommend": _("the recommended instance spec"),
        "family": _("the few machine shapes that serve all workloads at least cost"),
        "predict": _("what the model expects of a configuration"),
        "report": _("write the report again"),
        "compare": _("two studies beside each other, regressions first"),
        "serve": _("show the report in a browser, live while the study is measured"),
        "export": _("the measurements as one table"),
        "fit": _("fit the model to a study's runs"),
        "import": _("measurements made elsewhere become a study"),
        "pattern": _("what an expression, or a known format, would read from a log"),
        "disks": _("compare what fio measures on a disk with its declared figures"),
        "catalog": _("the catalogue of instance types, disk tiers and accelerator rates"),
        "schema": _("the study file's JSON Schema"),
    }


class _Command(_Parser):
    """The parser of a command, which gets its arguments from the command's file when that is typed: `sizer --help` must
    not wait for numpy."""

    module = ""

    def load(self) -> None:
        """Take the arguments from the command's file."""
        if self.module:
            command = import_module(f"sizer.cli.commands.{self.module}")
            self.module = ""
            command.arguments(self)
            self.set_defaults(command=command.run)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self.load()
        return super().parse_known_args(args, namespace)


def typed(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A parser of records, which raises what argparse puts behind the option's name."""

    def read_typed(text: str) -> Any:
        try:
            return read(text)
        except InputError as error:
            raise argparse.ArgumentTypeError(sentence(error)) from None

    return read_typed


def whole(what: Message, most: int, example: str) -> Callable[[str], int]:
    """What reads a number from 1 on."""
    return lambda text: parse_whole(text, 1, most, what, example)


def names_listed(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        raise InputError("A name is missing in `{text}`; write names with commas between them.", text=text)
    return names


def option(
    added: argparse._ActionsContainer,
    name: str,
    help_: str | None,
    read: Callable[[str], Any] | None = None,
    **more: Any,
) -> None:
    """An option with a value, whose text `read` turns into it."""
    added.add_argument(name, type=typed(read) if read is not None else str, help=help_, **more)


def flag(added: argparse._ActionsContainer, name: str, help_: str) -> None:
    """An option without a value."""
    added.add_argument(name, action="store_true", help=help_)


def add_folder(added: argparse.ArgumentParser) -> None:
    added.add_argument("folder", metavar="DIR", help=_("a study folder"))


def add_dry_run(added: argparse._ActionsContainer) -> None:
    flag(
        added,
        "--dry-run",
        _("list the runs, their time, every program, file and GPU that they use, and what needs root; run nothing"),
    )


def add_retry(added: argparse._ActionsContainer) -> None:
    flag(added, "--retry", _("measure again what crashed or timed out before"))


def add_json(added: argparse.ArgumentParser) -> None:
    flag(added, "--json", _("as JSON on stdout"))


def add_catalog(added: argparse.ArgumentParser) -> None:
    given = _("price lists in the place of sizer's own, as `sizer catalog import` reads them; may be repeated")
    added.add_argument("--catalog", action="append", metavar="FILE", help=given)
    worth = _("what one of a currency is worth in US dollars; without it its prices are not compared; may be repeated")
    option(added, "--rate", worth, _currency_rate, metavar="CNY=0.14", action="append")


def catalog_of(arguments: argparse.Namespace) -> Catalog:
    """By the options of `add_catalog`."""
    from sizer.catalog.catalog import Catalog

    return Catalog.load(*(arguments.catalog or ()), keep=True).at_rates(dict(arguments.rate or ()))


def _currency_rate(text: str) -> tuple[str, float]:
    currency, _equals, worth = text.partition("=")
    if not re.fullmatch(r"[A-Za-z]{3}", currency.strip()):
        raise InputError("`{text}` names no currency; write what one is worth in US dollars: CNY=0.14.", text=text)
    return currency.strip().upper(), parse_factor(worth)


def print_json(form: object) -> None:
    print(json.dumps(form, indent=1))


def opened(path: str | Path) -> StudyFolder:
    """The study folder at `path`; what cannot be read among its runs is said on stderr and left out."""
    from sizer.api import open_study

    folder = open_study(path)
    for problem in folder.problems():
        from sizer.words.terminal import problem_said

        print(problem_said(problem), file=sys.stderr)
    return folder
