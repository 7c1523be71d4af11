"""Instance types and disk tiers: what a row of the catalogue says, and the SQLite that all rows are read into once."""

from __future__ import annotations

import csv
import hashlib
import math
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, TypeVar

from sizer.files.codec import Origin, from_json
from sizer.files.own_folder import cache_folder, check_content, check_folder
from sizer.records.device import DiskRates
from sizer.records.domains import Amount, Count, Matching, OneOf, Text, Vcpus, Year
from sizer.records.messages import HostError, InputError, Message
from sizer.records.units import GIB, MB

TABLES = {
    "instances": "data/instances.csv",
    "disks": "data/disks.csv",
    "cpus": "data/cpus.csv",
    "gpus": "accelerator_data_sheets.csv",
}
"""What SQLite calls each, and the file that it comes from."""
USD = "USD"
SOLD = ("active", "previous-generation")
"""What a type is that its provider offers."""
RETIRED, UNLISTED = "retired", "unlisted"
"""What it is that nobody can rent any more, and what its provider does not list any more."""
Status = Annotated[str, OneOf((*SOLD, RETIRED, UNLISTED))]
Currency = Annotated[str, Matching("[A-Z]{3}", Message("three letters such as EUR"))]
Day = Annotated[
    str,
    Matching(
        r"((19|20)\d\d(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?)?",
        Message("a day such as 2026-11-26, or its month or year"),
    ),
]
_NUMBERS = re.compile(
    r"vcpus|physical_cores|threads_per_core|shared_cpu|retired|year|example_vcpus|types_measured|latency_emulate_ms|"
    r"index|index_low|index_high|tdp_w|.*_(gib|count|mbps|iops|gbps|hour|pct|base|max|month|knee|tflops|mhz|1t|yield)|"
    r".*_per_vcpu"
)
"""Columns of numbers; of all others a cell may look like one, as a day of `2018` does."""


@dataclass(frozen=True)
class InstanceType:
    """A machine on offer. Bytes are the whole machine's, `gpu_memory_bytes` one GPU's.

    `price_per_hour` is on demand and `spot_per_hour` that of spare capacity, None where it is not known, in `currency`,
    of which one is worth `usd` US dollars, None where nobody said; `region` is where it holds, None where it is one for
    all or nobody said. `memory_bytes` is 0 where it is not known; `gpu_count` counts whole GPUs, 0 of a slice, too.
    `disk_bytes_per_second` and `disk_iops` are what it sustains on network disks. `shared_cpu` is 1 where its vCPUs are
    a share of a core, or burst for as long as credits last.
    `retired` is the year since which nobody can rent it, at the latest. `as_of` is the day of the price, else of the
    shape; empty where the copy has none.
    """

    provider: Text
    instance_type: Text
    vcpus: Vcpus
    memory_bytes: Count
    region: Text | None = None
    gpu: Text | None = None
    gpu_count: Count = 0
    gpu_memory_bytes: Count | None = None
    local_nvme_bytes: Count | None = None
    disk_bytes_per_second: Amount | None = None
    disk_iops: Amount | None = None
    price_per_hour: Amount | None = None
    spot_per_hour: Amount | None = None
    currency: Currency = USD
    status: Status = SOLD[0]
    retired: Year | None = None
    shared_cpu: Count = 0
    cpu_arch: Text | None = None
    cpu_model: Text | None = None
    threads_per_core: Count | None = None
    confidence: Text | None = None
    as_of: Day = ""
    source: str = ""
    usd: Amount | None = 1.0

    @property
    def name(self) -> str:
        """`aws g4dn.xlarge`."""
        return f"{self.provider} {self.instance_type}"

    @property
    def host(self) -> str:
        """What it is rented as: `n1-highmem-8` of `n1-highmem-8+1xV100`."""
        return self.instance_type.partition("+")[0]

    @property
    def chooses_gpu(self) -> bool:
        """Whether it is a host to which GPUs are added, or none: Google's N1. The entry is one choice."""
        return self.provider == "gcp" and self.instance_type.startswith("n1-")

    @property
    def is_offered(self) -> bool:
        """Whether a job can rent it and get whole vCPUs and GPUs all the time."""
        whole = self.shared_cpu == 0 and (self.gpu is None or self.gpu_count > 0)
        return whole and self.status in SOLD and self.retired is None

    @property
    def is_arm(self) -> bool:
        return self.cpu_arch == "arm64"

    @property
    def price_order(self) -> tuple[float | str, ...]:
        """Those with a price, the cheapest first, but ARM and prices of an unknown day last; then those of currencies
        that nobody said the worth of, by currency; then those without a price, the smallest first."""
        usd, price = self.usd_per_hour, self.price_per_hour
        if usd is not None:
            return 0, self.is_arm, not self.as_of, usd
        return (2, self.gpu_count, self.vcpus) if price is None else (1, self.currency, self.is_arm, price)

    @property
    def usd_per_hour(self) -> float | None:
        """None where the price or what its currency is worth is not known."""
        return None if self.price_per_hour is None or self.usd is None else self.price_per_hour * self.usd

    @property
    def usd_per_hour_spot(self) -> float | None:
        return None if self.spot_per_hour is None or self.usd is None else self.spot_per_hour * self.usd


def plain_name(name: str) -> str:
    """Azure writes `Standard_NC6s_v3`, people `NC6s v3`."""
    return name.strip().lower().replace("/", " ", 1).replace("_", " ").replace("standard ", "")


def price_is_old(as_of: str, today: date) -> bool:
    """Whether a price of that day, or of that month or year, is older than a year."""
    year, month, day = (*map(int, re.findall(r"\d+", as_of)[:3]), 12, 28)[:3] if as_of[:1].isdigit() else (9999, 1, 1)
    return (year + 1, month, day) < (today.year, today.month, today.day)


_INSTANCE = {
    "region": "iif(region in ('all', 'global'), null, region)",
    "memory_bytes": f"cast(round(coalesce(memory_gib, 0) * {GIB}) as integer)",
    "gpu_count": "cast(coalesce(gpu_count, 0) as integer)",
    "gpu_memory_bytes": f"cast(round(gpu_memory_gib * {GIB}) as integer)",
    "local_nvme_bytes": f"cast(round(local_nvme_gib * {GIB}) as integer)",
    "disk_bytes_per_second": f"coalesce(disk_base_mbps, disk_cap_mbps) * {MB}",
    "disk_iops": "coalesce(disk_base_iops, disk_cap_iops)",
    "price_per_hour": "nullif(price_per_hour, 0)",
    "spot_per_hour": "nullif(spot_per_hour, 0)",
    "currency": f"upper(coalesce(currency, '{USD}'))",
    "status": f"coalesce(status, '{SOLD[0]}')",
    "shared_cpu": "coalesce(shared_cpu, 0)",
    "as_of": "coalesce(as_of, '')",
    "source": "coalesce(source, shape_source, '')",
    "usd": f"iif(upper(coalesce(currency, '{USD}')) = '{USD}', 1.0, null)",
}
"""By field what SQLite makes it of; a field that is not here is the column of its name."""


@dataclass(frozen=True)
class DiskTier:
    """A disk tier on offer, in IOPS and bytes/s; None where no figure was found.

    What a disk of S GiB gives is min(base + per_gib x S, max), by the formula `floor` min(max(base, per_gib x S), max),
    and by `bought` what is paid for beside its size: up to `iops_per_gib` IOPS a GiB, and `bytes_per_io` for each (of
    AWS io1 and io2 only to `bytes_knee`). `iops_sold` and `bytes_sold` are the most of both that can be bought.
    Prices are USD a month.
    """

    provider: Text
    disk_tier: Text
    disk_class: Text
    limit_formula: Text
    read_iops_base: Amount | None
    read_iops_per_gib: Amount | None
    read_iops_max: Amount | None
    read_bytes_per_second_base: Amount | None
    read_bytes_per_second_per_gib: Amount | None
    read_bytes_per_second_max: Amount | None
    write_iops_base: Amount | None
    write_iops_per_gib: Amount | None
    write_iops_max: Amount | None
    write_bytes_per_second_base: Amount | None
    write_bytes_per_second_per_gib: Amount | None
    write_bytes_per_second_max: Amount | None
    as_of: str
    source: str
    min_bytes: Count | None = None
    max_bytes: Count | None = None
    iops_per_gib: Amount | None = None
    bytes_per_io: Amount | None = None
    bytes_knee: Amount | None = None
    iops_sold: Amount | None = None
    bytes_sold: Amount | None = None
    usd_per_gib_month: Amount | None = None
    usd_per_iops_month: Amount | None = None
    usd_per_mbps_month: Amount | None = None
    confidence: Text | None = None

    @property
    def name(self) -> str:
        """As a study names it: `alibaba/cloud_ssd`."""
        return f"{self.provider}/{self.disk_tier}"

    def rates(self, size_bytes: int, iops: float | None = None, rate: float | None = None) -> DiskRates:
        """What a disk of this size gives, with so many IOPS and bytes a second in all: by default as many as come with
        it, or, where none do, as its size allows. InputError outside what is sold."""
        comes = self._comes_with(size_bytes)
        if iops is None and rate is None:
            return comes
        most_iops, most_rate = self._most(size_bytes / GIB, iops)
        self._check("iops", iops, most_iops, 1)
        self._check("mbps", rate, most_rate, MB)
        if self.limit_formula == "bought":
            followed = self._bought(size_bytes / GIB, iops)
            iops, rate = followed[0], rate if self.usd_per_mbps_month and rate else followed[1]
            return DiskRates(iops, rate, iops, rate)
        iops, rate = max(iops or 0.0, comes.read_iops or 0.0), max(rate or 0.0, comes.read_bytes_per_second or 0.0)
        return DiskRates(iops, rate, iops, rate)

    def _most(self, size: float, iops: float | None) -> tuple[float | None, float | None]:
        """The IOPS and bytes a second that are sold with so many GiB, these beside so many IOPS; None for none."""
        by_size = self.iops_per_gib * size if self.iops_per_gib else math.inf
        most = None if self.iops_sold is None else min(self.iops_sold, max(by_size, self.read_iops_base or 0.0))
        by_iops = self.bytes_per_io * (iops or most or math.inf) if self.bytes_per_io else math.inf
        free = self._limit("read_bytes_per_second", size) or 0.0
        return most, None if self.bytes_sold is None else max(free, min(self.bytes_sold, by_iops))

    def _check(self, what: str, asked: float | None, most: float | None, unit: float) -> None:
        if asked is not None and most is None:
            raise InputError("{disk} sells no `{what}` beside its size; leave it out.", disk=self.name, what=what)
        if asked is not None and most is not None and asked > most * (1 + 1e-9):
            raise InputError(
                "{disk} is sold with `{what}` of {most} at the most here; give no more.",
                disk=self.name,
                most=f"{most / unit:g}",
                what=what,
            )

    def _comes_with(self, size_bytes: int) -> DiskRates:
        size = size_bytes / GIB
        if (self.min_bytes and size_bytes < self.min_bytes) or (self.max_bytes and size_bytes > self.max_bytes):
            low = f"{(self.min_bytes or 0) / GIB:g}"
            if not self.max_bytes:
                raise InputError(
                    "{disk} is not sold with {size} GiB; give a size of {low} GiB or more.",
                    disk=self.name,
                    size=f"{size:g}",
                    low=low,
                )
            raise InputError(
                "{disk} is not sold with {size} GiB; give a size from {low} GiB to {high} GiB.",
                disk=self.name,
                size=f"{size:g}",
                low=low,
                high=f"{self.max_bytes / GIB:g}",
            )
        if self.limit_formula == "bought":
            iops, rate = self._bought(size)
            return DiskRates(iops, rate, iops, rate)
        iops, rate = self._limit("read_iops", size), self._limit("read_bytes_per_second", size)
        written = self._limit("write_iops", size), self._limit("write_bytes_per_second", size)
        return DiskRates(iops, rate, written[0] or iops, written[1] or rate)

    def _limit(self, what: str, size: float) -> float | None:
        base, slope, top = (getattr(self, f"{what}_{part}") for part in ("base", "per_gib", "max"))
        if not base and not slope:
            return top  # type: ignore[no-any-return]
        grown = slope * size if slope else 0.0
        return min(max(base or 0.0, grown) if self.limit_formula == "floor" else (base or 0.0) + grown, top or grown)

    def _bought(self, size: float, chosen: float | None = None) -> tuple[float | None, float | None]:
        iops, rate = chosen or self.read_iops_max, self.read_bytes_per_second_max
        if self.iops_per_gib and chosen is None:
            iops = min(max(self.iops_per_gib * size, self.read_iops_base or 0.0), iops or self.iops_per_gib * size)
        if self.bytes_per_io and iops:
            follows = self.bytes_per_io * iops
            if self.bytes_knee:
                follows = min(follows, max(self.bytes_knee, SMALL_IO * iops))
            rate = min(follows, rate or follows)
        return iops, rate

    def usd_per_month(self, size_bytes: int, rates: DiskRates | None = None) -> float | None:
        """Of a disk of this size, with what is bought beside it. None where its price is not known."""
        if self.usd_per_gib_month is None:
            return None
        return self.usd_per_gib_month * size_bytes / GIB + self.usd_bought(size_bytes, rates)

    def usd_bought(self, size_bytes: int, rates: DiskRates | None = None) -> float:
        """USD a month of the IOPS and MB/s that `rates` has beyond those that come with this size: by default all that
        can be bought where none come with it."""
        size, free = size_bytes / GIB, (0.0, 0.0)
        wanted = (None, None) if rates is None else (rates.read_iops, rates.read_bytes_per_second)
        if self.limit_formula == "bought":
            wanted = self._bought(size) if None in wanted else wanted
        else:
            free = (self._limit("read_iops", size) or 0.0, self._limit("read_bytes_per_second", size) or 0.0)
        iops, rate = (max(0.0, (has or 0.0) - comes) for has, comes in zip(wanted, free, strict=True))
        return (self.usd_per_iops_month or 0.0) * iops + (self.usd_per_mbps_month or 0.0) * rate / MB


SMALL_IO = 16 * 2**10
"""Bytes that io1 and io2 move with each operation beyond their knee (AWS, provisioned IOPS)."""
_RATES = {f"read_bytes_per_second_{part}": f"read_mbps_{part} * {MB}" for part in ("base", "per_gib", "max")}
_DISK = {
    **_RATES,
    **{field.replace("read", "write"): column.replace("read", "write") for field, column in _RATES.items()},
    "disk_class": "class",
    "limit_formula": "coalesce(limit_formula, 'add')",
    "min_bytes": f"nullif(cast(round(min_gib * {GIB}) as integer), 0)",
    "max_bytes": f"cast(round(max_gib * {GIB}) as integer)",
    "iops_per_gib": "provision_iops_per_gib",
    "bytes_per_io": f"mbps_per_iops * {MB}",
    "bytes_knee": f"mbps_knee * {MB}",
    "iops_sold": "provision_iops_max",
    "bytes_sold": f"provision_mbps_max * {MB}",
    "confidence": "coalesce(price_confidence, confidence)",
    "as_of": "coalesce(as_of, '')",
    "source": "coalesce(source, '')",
}
Kind = TypeVar("Kind", InstanceType, DiskTier)
_KINDS: dict[type, tuple[str, Mapping[str, str]]] = {
    InstanceType: ("instances", _INSTANCE),
    DiskTier: ("disks", _DISK),
}


# Tables.


@dataclass(frozen=True)
class Entry:
    """One row to be: its cells by column, None or missing where unknown, and where it was read."""

    where: Origin
    cells: Mapping[str, object]


@cache
def columns(table: str) -> tuple[str, ...]:
    """The columns of the file that a table comes from."""
    with (files("sizer.catalog") / TABLES[table]).open(encoding="utf-8") as file:
        return tuple(next(csv.reader(file)))


def is_text(column: str) -> bool:
    """Whether a cell of that column is no number, though it may look like one."""
    return _NUMBERS.fullmatch(column) is None


def records(kind: type[Kind], database: sqlite3.Connection) -> tuple[Kind, ...]:
    """All instance types or disk tiers of a database."""
    return tuple(kind(*row) for row in database.execute(selection(kind)))


def selection(kind: type[Kind]) -> str:
    table, made = _KINDS[kind]
    return f"select {', '.join(made.get(field.name, field.name) for field in fields(kind))} from {table}"


def database_of(table: str, entries: Iterable[Entry]) -> sqlite3.Connection:
    """A database in memory with these rows. InputError names the row whose figures make no sense."""
    database = sqlite3.connect(":memory:")
    names = _create(database, table)
    kind = next(kind for kind, (name, _) in _KINDS.items() if name == table)
    look = f"{selection(kind)} where rowid = ?"
    for entry in entries:
        row = database.execute(_insertion(table, names), [entry.cells.get(name) for name in names]).lastrowid
        cells = database.execute(look, (row,)).fetchone()
        from_json(kind, dict(zip((field.name for field in fields(kind)), cells, strict=True)), entry.where)
    return database


def _create(database: sqlite3.Connection, table: str) -> tuple[str, ...]:
    names = columns(table)
    typed = (f'"{name}" {"TEXT" if is_text(name) else "NUMERIC"}' for name in names)
    database.execute(f"create table {table} ({', '.join(typed)})")
    return names


def _insertion(table: str, names: Sequence[str]) -> str:
    return f"insert into {table} values ({', '.join('?' * len(names))})"


def _fill(database: sqlite3.Connection) -> None:
    """With all files that come with sizer."""
    for table, name in TABLES.items():
        names = _create(database, table)
        rows = csv.reader((files("sizer.catalog") / name).read_text("utf-8").splitlines())
        next(rows)
        database.executemany(_insertion(table, names), ([cell or None for cell in row] for row in rows))
    database.commit()


# The cache.


@cache
def shipped() -> sqlite3.Connection:
    """The tables that come with sizer, to be read only: from the user's cache, where `keep_shipped` has put them.

    Else, and where others may write to the cache, they are made in memory, which takes a third of a second.
    """
    path = _place()
    return (path and _opened(path)) or _in_memory()


@cache
def keep_shipped() -> None:
    """Put the tables into the user's cache once a version, unless others may write there, too, or nobody may.

    Not by a dry run, nor by what measures, which looks at the cache first.
    """
    path = _place()
    if path is None:
        return
    kept = _opened(path)
    if kept is not None:
        kept.close()
        return
    with suppress(OSError, sqlite3.Error):
        _write(path)


def _place() -> Path | None:
    """Where they lie in the cache; None where others may write there, too."""
    try:
        path = cache_folder(os.environ) / f"catalog-{_digest()}.sqlite"
        with suppress(FileNotFoundError):
            check_folder(path.parent)
            check_content(path.parent, (), [path.name])
    except (HostError, InputError, OSError):
        return None
    return path


def _digest() -> str:
    """Of the files and of what is made of them."""
    parts = [Path(__file__).read_bytes(), *((files("sizer.catalog") / name).read_bytes() for name in TABLES.values())]
    return hashlib.blake2b(b"".join(parts), digest_size=8).hexdigest()


def _opened(path: Path) -> sqlite3.Connection | None:
    """The cached database; None where there is none or it is damaged. Nobody changes one in place."""
    database = None
    try:
        database = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        tables = database.execute("select name from sqlite_master where type = 'table'").fetchall()
        if database.execute("pragma quick_check").fetchone() == ("ok",) and len(tables) == len(TABLES):
            return database
    except sqlite3.Error:
        pass
    if database is not None:
        database.close()
    return None


def _write(path: Path) -> None:
    """Under a name of its own first, so that of two processes each finds a whole one; older versions go."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(dir=path.parent, prefix="making-", suffix=".sqlite")
    os.close(handle)
    try:
        database = sqlite3.connect(made)
        database.execute("pragma journal_mode = off")
        _fill(database)
        database.close()
        os.chmod(made, 0o644)
        for old in path.parent.glob("catalog-*.sqlite"):
            old.unlink(missing_ok=True)
        os.replace(made, path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


def _in_memory() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:", check_same_thread=False)
    _fill(database)
    database.execute("pragma query_only = on")
    return database
