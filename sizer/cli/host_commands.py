"""doctor, init, schema, catalog and disks: what is there, without measuring a workload."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from sizer.catalog.catalog import Catalog
from sizer.catalog.importing import catalog_text, import_csv
from sizer.cli.arguments import DEFAULT_TIER_SIZE
from sizer.cli.interrupts import Interrupts
from sizer.files.codec import to_json
from sizer.files.own_folder import check_own_cache
from sizer.host.findings import Check, Finding, FindingKind
from sizer.host.lock import measuring_alone
from sizer.host.machine import checks, facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.records.device import DiskRates
from sizer.records.errors import HostError, InputError
from sizer.records.run import DiskCheck
from sizer.records.study import DiskTier
from sizer.records.units import parse_bytes
from sizer.runner.load import host_load
from sizer.storage.data_cache import cache_folder
from sizer.storage.disk_check import Fio, check_disk, expected
from sizer.storage.disks import emulated_volume, missing_for_emulation, real_volume
from sizer.storage.leftovers import remove_what_was_left
from sizer.study.commented import template
from sizer.study.json_schema import schema as study_schema
from sizer.words.language import ENGLISH, in_language
from sizer.words.terminal import (
    catalog_valid,
    check_lines,
    checking_disk,
    disk_check_line,
    disk_figure_line,
    disk_offer_line,
    finding_in_words,
    host_line,
    instance_line,
    leftover_in_words,
    looking_at_host,
    measured_beside,
    published_rate_line,
    study_file_written,
)


def doctor(arguments: argparse.Namespace) -> int:
    print(looking_at_host(), file=sys.stderr, flush=True)
    backend = detect()
    host, found = facts(backend), (*checks(backend), _load_check(backend))
    if arguments.json:
        print(json.dumps({"host": to_json(host), "checks": [_check_form(check) for check in found]}, indent=1))
        return 0
    print(host_line(host))
    for check in found:
        print("\n".join(check_lines(check)))
    return 0


def _check_form(check: Check) -> dict[str, object]:
    """A check with what it found as a sentence, in English, and as its code."""
    with in_language(ENGLISH):
        found = finding_in_words(check.finding)
    form = {"name": check.name, "ok": check.ok, "found": found, "code": check.finding.kind.value, "fix": check.fix}
    if check.finding.kind is FindingKind.FRAMEWORK:
        return {**form, "version": str(check.finding.text), "python": check.finding.path, "gpus": check.finding.gpus}
    if check.finding.kind is FindingKind.PACKAGE:
        return {**form, "version": str(check.finding.text), "python": check.finding.path}
    return form


def _load_check(backend: LimitsBackend) -> Check:
    """Other load spoils figures, and only a person knows what may be ended of it."""
    busy = host_load(backend).disturbs
    if busy is None:
        return Check("load", True, Finding(FindingKind.QUIET))
    return Check("load", False, Finding(FindingKind.BUSY, load=busy), "ps -eo pid,pcpu,args --sort=-pcpu | head")


def init(arguments: argparse.Namespace) -> int:
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


def schema(_: argparse.Namespace) -> int:
    print(json.dumps(study_schema(), indent=2))
    return 0


def catalog(arguments: argparse.Namespace) -> int:
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


def disks(arguments: argparse.Namespace) -> int:
    with measuring_alone() as others, Interrupts() as interrupts:
        for other in others:
            print(measured_beside(other), file=sys.stderr, flush=True)
        backend, folders = detect(), [Path(name) for name in arguments.disks if Path(name).is_dir()]
        cache = cache_folder(os.environ)
        check_own_cache(cache)
        for leftover in remove_what_was_left(backend, folders, cache):
            print(leftover_in_words(leftover), file=sys.stderr)
        found = [_announced(name, Fio(arguments.seconds), backend, interrupts.finish) for name in arguments.disks]
    if arguments.json:
        print(json.dumps({"checks": [to_json(check) for check in found]}, indent=1))
        return 0
    for check in found:
        print(disk_check_line(check))
        for figure, value in asdict(check.measured).items():
            print(disk_figure_line(figure, value, expected(check.tier.emulated or DiskRates(), figure)))
    return 0


def _announced(name: str, fio: Fio, backend: LimitsBackend, stop: Callable[[], bool]) -> DiskCheck:
    """Checked, with a line before, since it takes long."""
    print(checking_disk(name, fio.seconds * len(fio.figures)), file=sys.stderr, flush=True)
    return _check(name, fio, backend, stop)


def _check(name: str, fio: Fio, backend: LimitsBackend, stop: Callable[[], bool]) -> DiskCheck:
    """A folder is checked as it is, a tier of the catalogue on an emulated volume. Raises Interrupted."""
    folder = Path(name)
    if folder.is_dir():
        tier = DiskTier(name, path=str(folder))
        with real_volume(tier) as volume:
            return check_disk(tier, volume, backend, fio, stop)
    tier_name, _, size = name.partition(":")
    offers = Catalog.load()
    if folder.exists() or _looks_like_a_folder(name, offers):
        raise InputError(
            "{name}: there is no such folder; give a folder, or a tier listed by: sizer catalog list", name=name
        )
    size_bytes = parse_bytes(size) if size else DEFAULT_TIER_SIZE
    rates = offers.disk_rates(tier_name, size_bytes)
    scratch = cache_folder(os.environ) / "disks"
    reason = missing_for_emulation()
    if reason:
        raise HostError("{name} cannot be emulated: {reason}", name=name, reason=reason)
    with emulated_volume(scratch, 0, stop) as volume:
        tier = DiskTier(name, emulated=rates, catalog_name=tier_name, size_bytes=size_bytes)
        return check_disk(tier, volume, backend, fio, stop)


def _looks_like_a_folder(name: str, offers: Catalog) -> bool:
    """Tiers are called PROVIDER/TIER, so a path is whatever begins with no provider."""
    providers = {offer.provider for offer in offers.disks}
    return name.startswith((".", "/", "~")) or ("/" in name and name.split("/")[0] not in providers)
