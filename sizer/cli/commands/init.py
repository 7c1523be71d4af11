"""init: write a commented study file."""

from __future__ import annotations

import argparse
from pathlib import Path

from sizer.cli.arguments import _
from sizer.records.messages import InputError
from sizer.study.json_schema import template
from sizer.words.terminal import study_file_written


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="study.yaml", metavar="FILE", help=_("default: %(default)s"))


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        raise InputError(
            "{path} exists already; give another name, such as: sizer init my-study.yaml", path=path
        ) from None
    except FileNotFoundError:
        raise InputError(
            "{path} cannot be written: the folder {folder} does not exist; make it first.",
            path=path,
            folder=path.parent,
        ) from None
    print(study_file_written(path))
    return 0
