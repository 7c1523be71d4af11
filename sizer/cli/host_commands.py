"""doctor, init, schema, catalog and disks: what is there, without measuring a workload."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from sizer.catalog import Catalog, catalog_text, import_csv
from sizer.cli.arguments import DEFAULT_TIER_SIZE
from sizer.cli.interrupts import Interrupts
from sizer.files import to_json
from sizer.host import Check, checks, facts, measuring_alone
from sizer.limits import LimitsBackend, detect
from sizer.records import (
    DiskCheck,
    DiskRates,
    DiskTier,
    HostError,
    InputError,
    format_bytes,
    format_seconds,
    parse_bytes,
    typed_path,
)
from sizer.runner import host_load
from sizer.storage import (
    Fio,
    cache_folder,
    check_disk,
    emulated_volume,
    expected,
    missing_for_emulation,
    real_volume,
    remove_what_was_left,
)
from sizer.study import schema as study_schema
from sizer.study import template
from sizer.words import busy_host_in_words

AIM_OF_FIX = {"load": "see which"}
"""What the command of a check does that does not fix it."""


def doctor(arguments: argparse.Namespace) -> int:
    print("looking at this host, which takes some seconds", file=sys.stderr, flush=True)
    backend = detect()
    host, found = facts(backend), (*checks(backend), _load_check(backend))
    if arguments.json:
        print(json.dumps({"host": to_json(host), "checks": [to_json(check) for check in found]}, indent=1))
        return 0
    print(f"{host.cpu_model}, {host.topology}, {format_bytes(host.memory_bytes)}; {host.distribution}, {host.kernel}")
    for check in found:
        print(f"{'ok ' if check.ok else 'NO '} {check.name}: {check.found}")
        if not check.ok and check.fix:
            print(f"      to {AIM_OF_FIX.get(check.name, 'fix it')}, type: {check.fix}")
    return 0


def _load_check(backend: LimitsBackend) -> Check:
    """Other load spoils figures, and only a person knows what may be ended of it."""
    busy = busy_host_in_words(host_load(backend))
    fix = "ps -eo pid,pcpu,args --sort=-pcpu | head" if busy else None
    return Check("load", busy is None, busy or "nothing else uses this host", fix)


def init(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError:
        raise InputError(f"{path} exists already; give another name, such as: sizer init my-study.yaml") from None
    except FileNotFoundError:
        raise InputError(f"{path}: the folder {path.parent} does not exist; make it first") from None
    print(f"{path} written; look it over, then type: sizer run {typed_path(path)} --dry-run")
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
        _tell_valid(offers, arguments.json)
    elif arguments.json:
        forms = [to_json(each) for _, each in offers]
        print(json.dumps(forms[0] if len(forms) == 1 else forms, indent=1))
    else:
        for _, each in offers:
            _list_catalog(each)
    return 0


def _tell_valid(offers: Sequence[tuple[str | None, Catalog]], as_json: bool) -> None:
    counts = [(path, len(each.instance_types) + len(each.disks) + len(each.accelerators)) for path, each in offers]
    if as_json:
        print(json.dumps({"catalogs": [{"file": path, "entries": count} for path, count in counts]}, indent=1))
        return
    for path, count in counts:
        print(f"{path or 'the catalogue that comes along'}: {count} entries, all in form")


def _list_catalog(offers: Catalog) -> None:
    for each in offers.instance_types:
        price = f"${each.usd_per_hour:g} an hour" if each.usd_per_hour is not None else "price unknown"
        gpu = f", {each.gpu_count} x {each.gpu}" if each.gpu else ""
        size = f"{each.vcpus:g} vCPU, {format_bytes(each.memory_bytes)}{gpu}"
        print(f"{each.provider} {each.instance_type}: {size}; {price} ({each.as_of}, {each.source})")
    for disk in offers.disks:
        most = f"up to {disk.read_iops_max:,.0f} IOPS and {disk.read_bytes_per_second_max / 1e6:,.0f} MB/s"
        print(f"{disk.name}: {disk.disk_class}, {most}; {disk.price_note} ({disk.as_of}, {disk.source})")
    for rate in offers.accelerators:
        batch = f", batch {rate.batch_size}" if rate.batch_size else ""
        speed = f"{rate.samples_per_second:g} samples/s ({rate.precision}{batch})"
        print(f"{rate.gpu} {rate.mode} {rate.network}: {speed} ({rate.as_of}, {rate.source})")


def disks(arguments: argparse.Namespace) -> int:
    with measuring_alone(), Interrupts() as interrupts:
        backend, folders = detect(), [Path(name) for name in arguments.disks if Path(name).is_dir()]
        for sentence in remove_what_was_left(backend, folders, cache_folder(os.environ)):
            print(sentence, file=sys.stderr)
        found = [_told(name, Fio(arguments.seconds), backend, interrupts.finish) for name in arguments.disks]
    if arguments.json:
        print(json.dumps({"checks": [to_json(check) for check in found]}, indent=1))
        return 0
    for check in found:
        size = f", {format_bytes(check.tier.size_bytes)}" if check.tier.size_bytes is not None else ""
        kind = f"emulated{size}" if check.tier.emulated else "real"
        print(f"{check.tier.name} ({kind}): {check.note or 'as declared' if check.tier.emulated else 'measured'}")
        for figure, value in asdict(check.measured).items():
            print(f"  {_figure(figure, value)}{_declared(check, figure)}")
    return 0


def _told(name: str, fio: Fio, backend: LimitsBackend, stop: Callable[[], bool]) -> DiskCheck:
    """Checked, with a line before, since it takes long."""
    time = format_seconds(fio.seconds * len(fio.figures))
    print(f"checking {name} with fio: {time}, and what making its file takes", file=sys.stderr, flush=True)
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
        raise InputError(f"{name}: there is no such folder; give one, or a tier of the catalogue: sizer catalog list")
    size_bytes = parse_bytes(size) if size else DEFAULT_TIER_SIZE
    rates = offers.disk_rates(tier_name, size_bytes)
    scratch = cache_folder(os.environ) / "disks"
    reason = missing_for_emulation()
    if reason:
        raise HostError(f"{name} is to be emulated, and {reason}")
    with emulated_volume(scratch, 0, stop) as volume:
        tier = DiskTier(name, emulated=rates, catalog_name=tier_name, size_bytes=size_bytes)
        return check_disk(tier, volume, backend, fio, stop)


def _looks_like_a_folder(name: str, offers: Catalog) -> bool:
    """Tiers are called PROVIDER/TIER, so a path is whatever begins with no provider."""
    providers = {offer.provider for offer in offers.disks}
    return name.startswith((".", "/", "~")) or ("/" in name and name.split("/")[0] not in providers)


def _declared(check: DiskCheck, figure: str) -> str:
    declared = expected(check.tier.emulated or DiskRates(), figure)
    return "" if declared is None else f", declared {_figure(figure, declared).split(': ')[1]}"


def _figure(figure: str, value: float | None) -> str:
    side = figure.split("_")[0]
    if value is None:
        return f"{side}: not measured"
    return f"{side}: {value:,.0f} IOPS" if figure.endswith("iops") else f"{side}: {value / 1e6:,.1f} MB/s"
