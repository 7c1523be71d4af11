"""export: the measurements as one table."""

from __future__ import annotations

import argparse

from sizer.cli.arguments import _, add_folder, opened, option, print_json
from sizer.exchange.measurements import write_csv
from sizer.files.codec import to_json


def arguments(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    form = parser.add_mutually_exclusive_group()
    option(form, "--format", _("default: %(default)s"), choices=["csv", "json"], default="csv")
    form.add_argument("--json", action="store_const", dest="format", const="json", help=_("the same as --format json"))


def run(arguments: argparse.Namespace) -> int:
    runs = opened(arguments.folder).runs()
    if arguments.format == "csv":
        print(write_csv(runs), end="")
    else:
        print_json([to_json(run) for run in runs])
    return 0
