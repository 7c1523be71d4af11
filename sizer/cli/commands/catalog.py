"""catalog: instance types, disk tiers and accelerator rates."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from sizer.catalog import importing
from sizer.catalog.catalog import Catalog, changes, types_where, with_added
from sizer.catalog.machines import InstanceType
from sizer.cli.arguments import _, add_json, option
from sizer.files.codec import to_json
from sizer.files.writing import write_text
from sizer.records.messages import InputError, Message, advised_name
from sizer.words.language import Sentence
from sizer.words.terminal import (
    catalog_valid,
    change_line,
    disk_offer_line,
    instance_line,
    nothing_changed,
    nothing_fits,
    published_rate_line,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(prog="sizer catalog", metavar="ACTION", dest="action", required=True)
    listed = actions.add_parser("list", help=_("the entries"), description=_("The entries of catalogue files."))
    option(listed, "--provider", _("instance types of this provider alone"), metavar="aws")
    option(listed, "--gpu", _("instance types with this GPU alone"), metavar="L4")
    option(listed, "--region", _("instance types whose price is of this region alone"), metavar="us-east-1")
    checked = actions.add_parser("validate", help=_("check catalogue files"), description=_("Check catalogue files."))
    for action in (listed, checked):
        action.add_argument("files", nargs="*", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
        add_json(action)
    asked = actions.add_parser(
        "query", help=_("instance types by a condition"), description=_("Instance types by a condition in SQL.")
    )
    asked.add_argument("expression", metavar="EXPR", help=_("on the columns: \"gpu = 'L4' and vcpus >= 8\""))
    asked.add_argument("file", nargs="?", metavar="FILE", help=_("default: the catalogue that comes with sizer"))
    compared = actions.add_parser("diff", help=_("what changed"), description=_("What changed between two catalogues."))
    compared.add_argument("old", metavar="OLD", help=_("instance types"))
    compared.add_argument("new", nargs="?", metavar="NEW", help=_("default: the catalogue that comes with sizer"))
    add_json(asked)
    add_json(compared)
    imported = actions.add_parser(
        "import", help=_("price lists as CSV, on stdout"), description=_("Price lists as CSV, on stdout.")
    )
    added = actions.add_parser(
        "add", help=_("price lists into a file of yours"), description=_("Price lists into a catalogue file of yours.")
    )
    added.add_argument("catalog", metavar="CATALOG", help=_("the file, which is made where there is none"))
    for action in (imported, added):
        option(action, "--provider", _("whose prices they are, where the file does not say it"), metavar="aws")
        option(action, "--as-of", _("the day of the prices, where the file does not say it"), metavar="2026-11-26")
        action.add_argument("files", nargs="+", metavar="FILE", help=_("instance types, disk tiers or rates"))


def run(arguments: argparse.Namespace) -> int:
    return _ACTIONS[arguments.action](arguments)


def _list(arguments: argparse.Namespace) -> int:
    catalog = Catalog.load(*arguments.files, keep=True)
    if arguments.files:
        own, kinds = Catalog.load(), ("instance_types", "disks", "accelerators")
        catalog = replace(catalog, **{kind: () for kind in kinds if getattr(catalog, kind) is getattr(own, kind)})
    if arguments.gpu is not None or arguments.provider or arguments.region:
        catalog = Catalog(_wanted(catalog, arguments), (), ())
    if arguments.json:
        print(json.dumps(to_json(catalog), indent=1))
        return 0
    lines = [instance_line(instance, date.today()) for instance in catalog.instance_types]
    lines += [*map(disk_offer_line, catalog.disks), *map(published_rate_line, catalog.accelerators)]
    _print(lines, nothing_fits)
    return 0


def _wanted(catalog: Catalog, arguments: argparse.Namespace) -> tuple[InstanceType, ...]:
    """The types of that provider, region and GPU. InputError names what the catalogue has where it has none of them."""
    from sizer.recommend.prices import has_gpus

    types = catalog.instance_types
    for name, what in (("provider", Message("provider")), ("region", Message("region"))):
        asked, names = getattr(arguments, name), sorted({getattr(one, name) or "" for one in types} - {""})
        if asked is not None:
            types = tuple(one for one in types if (getattr(one, name) or "").lower() == asked.lower())
        if not types:
            raise InputError(
                "No instance type has the {what} `{asked}`; {advice}",
                what=what,
                asked=asked,
                advice=advised_name(asked, names) if names else Message("leave it out."),
            )
    if arguments.gpu is None:
        return types
    with_gpu = tuple(one for one in types if has_gpus(one, arguments.gpu, 0))
    if not with_gpu:
        catalog.gpu(arguments.gpu)  # InputError for one that nobody knows
    return with_gpu


def _validate(arguments: argparse.Namespace) -> int:
    if arguments.files:
        counts = [(path, len(importing.read([path]).entries)) for path in arguments.files]
    else:
        offers = Catalog.load(keep=True)
        counts = [(None, len(offers.instance_types) + len(offers.disks) + len(offers.accelerators))]
    if arguments.json:
        print(json.dumps({"catalogs": [{"file": path, "entries": count} for path, count in counts]}, indent=1))
        return 0
    for path, count in counts:
        print(catalog_valid(path, count))
    return 0


def _import(arguments: argparse.Namespace) -> int:
    print(importing.read(arguments.files, arguments.provider or "", arguments.as_of or "").csv(), end="")
    return 0


def _add(arguments: argparse.Namespace) -> int:
    path = Path(arguments.catalog)
    added = importing.read(arguments.files, arguments.provider or "", arguments.as_of or "")
    offers = with_added(importing.read([path]) if path.exists() else importing.Offers(added.kind, ()), [added])
    write_text(path, offers.csv())
    print(catalog_valid(arguments.catalog, len(offers.entries)))
    return 0


def _query(arguments: argparse.Namespace) -> int:
    types = types_where(arguments.expression, arguments.file)
    if arguments.json:
        print(json.dumps([to_json(type_) for type_ in types], indent=1))
        return 0
    _print([instance_line(instance, date.today()) for instance in types], nothing_fits)
    return 0


def _diff(arguments: argparse.Namespace) -> int:
    old, new = (Catalog.load(*(path,) if path else (), keep=True) for path in (arguments.old, arguments.new))
    differences = changes(old, new)
    if arguments.json:
        pairs = ((change.before, change.after) for change in differences)
        print(json.dumps([[one and to_json(one) for one in pair] for pair in pairs], indent=1))
        return 0
    _print([change_line(change.before, change.after) for change in differences], nothing_changed)
    return 0


def _print(lines: Sequence[str], nothing: Sentence) -> None:
    """Where there is none, that there is nothing, on stderr."""
    print("\n".join(lines) or nothing(), file=sys.stdout if lines else sys.stderr)


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "list": _list,
    "query": _query,
    "validate": _validate,
    "import": _import,
    "add": _add,
    "diff": _diff,
}
