"""disks: what fio measures on a disk beside its declared figures."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from sizer.api.profiling import DEFAULT_TIER_SIZE
from sizer.catalog.catalog import Catalog
from sizer.cli.arguments import _, add_json, option, print_json
from sizer.cli.measuring import Interrupts
from sizer.files.codec import to_json
from sizer.files.own_folder import cache_folder, check_own_cache
from sizer.host.lock import measuring_alone
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.records import units
from sizer.records.device import DiskRates
from sizer.records.messages import HostError, InputError
from sizer.records.run import DiskCheck
from sizer.records.study import DiskTier
from sizer.records.units import spell_bytes
from sizer.storage.disk_check import Fio, check_disk, expected
from sizer.storage.disks import emulated_volume, missing_for_emulation, real_volume
from sizer.storage.leftovers import remove_what_was_left
from sizer.words.terminal import checking_disk, disk_check_line, disk_figure_line, leftover_in_words, measured_beside


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(prog="sizer disks", metavar="ACTION", dest="action", required=True)
    check = actions.add_parser("check", help=_("measure with fio"), description=_("Measure disks with fio."))
    check.add_argument(
        "disks",
        nargs="+",
        metavar="DIR_OR_TIER",
        help=_(
            "a folder on a disk, or a tier of the catalogue as NAME[:SIZE][:6000iops][:500mbps]; default size: {size}",
            size=spell_bytes(DEFAULT_TIER_SIZE),
        ),
    )
    option(check, "--seconds", _("for each figure; default: %(default)g"), units.parse_wait, default=3.0)
    add_json(check)


def run(arguments: argparse.Namespace) -> int:
    with measuring_alone() as others, Interrupts() as interrupts:
        for other in others:
            print(measured_beside(other), file=sys.stderr, flush=True)
        backend, folders = detect(), [Path(name) for name in arguments.disks if Path(name).is_dir()]
        cache = cache_folder(os.environ)
        check_own_cache(cache)
        for leftover in remove_what_was_left(backend, folders, cache):
            print(leftover_in_words(leftover), file=sys.stderr)
        results = [_check(name, Fio(arguments.seconds), backend, interrupts.finish) for name in arguments.disks]
    if arguments.json:
        print_json({"checks": [to_json(check) for check in results]})
        return 0
    for check in results:
        print(disk_check_line(check))
        for figure, value in asdict(check.measured).items():
            print(disk_figure_line(figure, value, expected(check.tier.emulated or DiskRates(), figure)))
    return 0


def _check(name: str, fio: Fio, backend: LimitsBackend, stop: Callable[[], bool]) -> DiskCheck:
    """Announced, since it takes long: a folder as it is, a tier of the catalogue on an emulated volume.

    Raises Interrupted.
    """
    print(checking_disk(name, fio.seconds * len(fio.figures)), file=sys.stderr, flush=True)
    folder = Path(name)
    if folder.is_dir():
        tier = DiskTier(name, path=str(folder))
        with real_volume(tier) as volume:
            return check_disk(tier, volume, backend, fio, stop)
    named = units.parse_tier(name)
    offers = Catalog.load()
    # Tiers are called PROVIDER/TIER, so a path is whatever begins with no provider.
    is_path = "/" in name and name.split("/")[0] not in {offer.provider for offer in offers.disks}
    if folder.exists() or is_path or name.startswith((".", "~")):
        raise InputError(
            "{name}: there is no such folder; give a folder, or a tier listed by: sizer catalog list", name=name
        )
    size_bytes = named.size_bytes or DEFAULT_TIER_SIZE
    rates = offers.disk(named.name).rates(size_bytes, named.iops, named.bytes_per_second)
    reason = missing_for_emulation()
    if reason:
        raise HostError("{name} cannot be emulated: {reason}", name=name, reason=reason)
    with emulated_volume(cache_folder(os.environ) / "disks", 0, stop) as volume:
        tier = DiskTier(name, emulated=rates, catalog_name=named.name, size_bytes=size_bytes)
        return check_disk(tier, volume, backend, fio, stop)
