"""catalog: instance types, disk tiers and accelerator rates."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from sizer.catalog.catalog import Catalog
from sizer.catalog.importing import catalog_text, import_csv
from sizer.cli.arguments import (
    _,
    add_json,
)
from sizer.files.codec import to_json
from sizer.words.terminal import catalog_valid, disk_offer_line, instance_line, published_rate_line


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(prog="sizer catalog", metavar="ACTION", dest="action", required=True)
    listed = actions.add_parser("list", help=_("the entries"), description=_("The entries of catalogue files."))
    checked = actions.add_parser("validate", help=_("check catalogue files"), description=_("Check catalogue files."))
    for action in (listed, checked):
        action.add_argument("files", nargs="*", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
        add_json(action)
    imported = actions.add_parser(
        "import", help=_("CSV files as a catalogue, on stdout"), description=_("CSV files as a catalogue, on stdout.")
    )
    imported.add_argument("files", nargs="+", metavar="FILE.csv", help=_("instance types, disk tiers or rates"))


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "import":
        print(catalog_text(import_csv(arguments.files)), end="")
        return 0
    offers = [(path, Catalog.load(path)) for path in arguments.files or [None]]
    if arguments.action == "validate":
        _print_valid(offers, arguments.json)
    elif arguments.json:
        forms = [to_json(each) for _, each in offers]
        print(json.dumps(forms[0] if len(forms) == 1 else forms, indent=1))
    else:
        for _, each in offers:
            _list_catalog(each)
    return 0


def _print_valid(offers: Sequence[tuple[str | None, Catalog]], as_json: bool) -> None:
    counts = [(path, len(each.instance_types) + len(each.disks) + len(each.accelerators)) for path, each in offers]
    if as_json:
        print(json.dumps({"catalogs": [{"file": path, "entries": count} for path, count in counts]}, indent=1))
        return
    for path, count in counts:
        print(catalog_valid(path, count))


def _list_catalog(offers: Catalog) -> None:
    for each in offers.instance_types:
        print(instance_line(each))
    for disk in offers.disks:
        print(disk_offer_line(disk))
    for rate in offers.accelerators:
        print(published_rate_line(rate))
