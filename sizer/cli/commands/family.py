"""family: the few machine shapes that serve the workloads of one study or several at least cost."""

from __future__ import annotations

import argparse

from sizer import api
from sizer.cli.arguments import _, add_catalog, add_json, catalog_of, names_listed, opened, option, print_json, whole
from sizer.exchange.formats import family_form
from sizer.recommend.family.choice import MAX_PENALTY
from sizer.records import units
from sizer.records.messages import Message
from sizer.words.family import family_lines

MOST_SHAPES = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", metavar="DIR", help=_("study folders, whose workloads are one fleet"))
    count = whole(Message("a number of shapes"), MOST_SHAPES, "3")
    option(parser, "--shapes", _("how many; default: the fewest that keep the penalty"), count, metavar="K")
    allowed = _("what a workload may pay above its own best shape; default: 10%%")
    option(parser, "--max-penalty", allowed, units.parse_percent, metavar="10%", default=MAX_PENALTY)
    ratios = _("GiB for each vCPU that can be built; default: 2,4,8, and what a table's machines have beyond")
    option(parser, "--ratios", ratios, _ratios, metavar="2,4,8")
    tiers = _("disk tiers that can be built, of the studies or the catalogue; default: those measured")
    option(parser, "--disks", tiers, names_listed, metavar="A,B", default=())
    weights = _("how much there is of each: a table with the columns workload and weight, or samples")
    parser.add_argument("--weights", metavar="FILE.csv", help=weights)
    prices = _("what a vCPU, a GiB, an accelerator and a disk cost: resource,name,usd_per_hour")
    parser.add_argument("--prices", metavar="FILE.csv", help=prices)
    provider = _("whose prices of instance types count; default: whose follow best from their parts")
    option(parser, "--provider", provider, str.lower, metavar="aws")
    add_catalog(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    family = api.family(
        [opened(folder) for folder in dict.fromkeys(arguments.folders)],
        arguments.shapes,
        max_penalty=arguments.max_penalty,
        ratios=arguments.ratios,
        disks=arguments.disks,
        provider=arguments.provider,
        prices=arguments.prices,
        weights=arguments.weights,
        catalog=catalog_of(arguments),
    )
    if arguments.json:
        print_json(family_form(family))
        return 0
    for line in family_lines(family):
        print(line)
    return 0


def _ratios(text: str) -> tuple[float, ...]:
    return tuple(sorted({units.parse_factor(part.strip()) for part in text.split(",")}))
