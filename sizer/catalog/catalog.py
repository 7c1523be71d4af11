"""What is on offer: instance types, disk tiers and published accelerator rates, each with its date and its source;
questions to it in SQL, and what changed between two catalogues.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate, data_sheets, shipped_rates
from sizer.catalog.gpu_transfer import scaling_loss
from sizer.catalog.gpus import GPU_MEMORY_GB, SEVERAL_SIZES, compare_gpus, read_gpu_name, same_gpu
from sizer.catalog.importers import own
from sizer.catalog.importers.given import Given
from sizer.catalog.importing import Offers, key_of, read, read_file
from sizer.catalog.machines import (
    SOLD,
    DiskTier,
    Entry,
    InstanceType,
    columns,
    database_of,
    keep_shipped,
    plain_name,
    records,
    selection,
    shipped,
)
from sizer.catalog.rate_estimate import RateEstimate, RateQuestion, estimate, published_batch_sizes, published_beside
from sizer.records.messages import AllOf, AnyOf, InputError, Message, advised_name

# Questions to the catalogue in SQL: read only, of one table, and for a limited time.

FUNCTIONS = re.compile("abs|coalesce|glob|ifnull|iif|instr|length|like|lower|max|min|nullif|round|substr|upper")
"""Those that an expression may call: none makes a value that is larger than its arguments."""
SECONDS = 5.0
_STEPS = 1000
"""Of SQLite's machine between two looks at the clock."""
_TWO = ", ".join(f"'{name}'" for name in SEVERAL_SIZES)
_SIZED = f"iif(gpu in ({_TWO}) and gpu_memory_gib > 0, gpu || '-' || cast(gpu_memory_gib as integer) || 'GB', gpu)"
"""The GPU of a row with its memory, where that makes it another GPU."""


def rows_where(
    database: sqlite3.Connection, selection: str, columns: Sequence[str], expression: str
) -> list[tuple[Any, ...]]:
    """The rows of a selection of `instances` for which the expression holds on its columns; `gpu` is the same as any
    name of it.

    InputError says what is wrong with the expression.
    """
    database.create_collation("same_gpu", compare_gpus)
    named = ", ".join(f"{_SIZED} collate same_gpu as gpu" if name == "gpu" else f'"{name}"' for name in columns)
    rows = f"select rowid as place, {named} from instances"
    asked = f"select place from ({rows}) where case when (\n{expression}\n) then 1 end"
    with _limited(database):
        try:
            return database.execute(f"{selection} where rowid in ({asked})").fetchall()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            reason = f"longer than {SECONDS:g} s" if "interrupted" in str(error) else str(error)
            raise InputError(
                "`{expression}` cannot be asked ({reason}); write a condition on columns, such as gpu = 'L4' and "
                "vcpus >= 8.",
                expression=expression,
                reason=reason,
            ) from None


@contextmanager
def _limited(database: sqlite3.Connection) -> Iterator[None]:
    """While nothing but reading is allowed, and that not for long."""
    end = time.monotonic() + SECONDS

    def allowed(action: int, one: str | None, other: str | None, *_rest: str | None) -> int:
        fine = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and one == "instances")
        called = action == sqlite3.SQLITE_FUNCTION and FUNCTIONS.fullmatch(other or "")
        return sqlite3.SQLITE_OK if fine or called else sqlite3.SQLITE_DENY

    database.set_authorizer(allowed)
    database.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        yield
    finally:
        database.set_authorizer(lambda *_action: sqlite3.SQLITE_OK)  # None means it from Python 3.11 on.
        database.set_progress_handler(None, 0)


MODES = ("train", "infer", "forward", "forward_backward")
"""What a rate may be of."""

LISTED = Message("`sizer catalog list` shows all of them.")
"""What to type where no name of an instance type is like the one that was given."""


@dataclass(frozen=True)
class Catalog:
    """All that is on offer."""

    instance_types: tuple[InstanceType, ...]
    disks: tuple[DiskTier, ...]
    accelerators: tuple[AcceleratorRate, ...]

    @staticmethod
    def load(*paths: str | Path, keep: bool = False) -> Catalog:
        """What these files hold, in a form that `sizer catalog import` reads; of what none of them has, sizer's own,
        which may be kept in the user's cache.

        InputError names the file, the line and the column that is wrong.
        """
        if keep:
            keep_shipped()
        return _of_files(paths) if paths else _shipped()

    @cached_property
    def offered(self) -> tuple[InstanceType, ...]:
        """What a job can rent, each type where it costs the least, in the order of `InstanceType.price_order`."""
        offered = (instance for instance in self.instance_types if instance.is_offered)
        cheapest: dict[str, InstanceType] = {}
        for instance in sorted(offered, key=lambda instance: instance.price_order):
            cheapest.setdefault(instance.name, instance)
        return tuple(cheapest.values())

    @cached_property
    def _by_gpu(self) -> Mapping[str, tuple[InstanceType, ...]]:
        """What a job can rent, by the key of its GPU."""
        types: dict[str, list[InstanceType]] = defaultdict(list)
        for instance in self.offered:
            if instance.gpu is not None:
                types[read_gpu_name(instance.gpu).key].append(instance)
        return {key: tuple(instances) for key, instances in types.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[InstanceType, ...]]:
        """By each name that an instance type has: with its provider and without, of a host with GPUs the host's."""
        types: dict[str, list[InstanceType]] = defaultdict(list)
        for instance in self.instance_types:
            for name in {instance.instance_type, instance.host}:
                types[plain_name(name)].append(instance)
                types[plain_name(f"{instance.provider} {name}")].append(instance)
        return {name: tuple(instances) for name, instances in types.items()}

    def called(self, name: str) -> tuple[InstanceType, ...]:
        """Those that a name means: `aws g4dn.xlarge`, `aws/g4dn.xlarge`, `g4dn.xlarge`, `NC6s v3`.

        A host to which GPUs are added has one entry for each choice of them, and one without.
        """
        return self._by_name.get(plain_name(name), ())

    def instances(self, gpu: str | None = None) -> tuple[InstanceType, ...]:
        """What can be rented: all of it, or with this GPU (its memory size may be part of the name: V100-16GB)."""
        return self.offered if gpu is None else self._by_gpu.get(read_gpu_name(gpu).key, ())

    def retired(self, gpu: str) -> tuple[InstanceType, ...]:
        """Those with this GPU that nobody can rent any more."""
        gone = (instance for instance in self.instance_types if instance.retired is not None)
        return tuple(instance for instance in gone if instance.gpu is not None and same_gpu(instance.gpu, gpu))

    def at_spot_prices(self) -> Catalog:
        """The same with the spot price of each instance type as its price; unknown where it has none."""
        spot = (replace(instance, price_per_hour=instance.spot_per_hour) for instance in self.instance_types)
        return replace(self, instance_types=tuple(spot))

    def at_rates(self, rates: Mapping[str, float]) -> Catalog:
        """The same where one of a currency is worth so many US dollars: `{"CNY": 0.14}`."""
        types = (replace(i, usd=rates[i.currency]) if i.currency in rates else i for i in self.instance_types)
        return replace(self, instance_types=tuple(types)) if rates else self

    def instance(self, name: str) -> InstanceType:
        """The instance type `aws/c6i.large`, or `c6i.large`, that can be rented.

        InputError with the nearest name if there is none, and where it was retired.
        """
        called = sorted(self.called(name), key=lambda instance: instance.gpu_count)
        offered = [instance for instance in called if instance.status in SOLD and instance.retired is None]
        if offered:
            return offered[0]
        if called and called[0].retired is not None:
            raise InputError(
                "`{name}` cannot be rented any more (retired {year}), so nothing can be compared with its price; give "
                "an instance type that `sizer catalog list` shows without `retired`.",
                name=name,
                year=called[0].retired,
            )
        if called:
            raise InputError(
                "The provider of `{name}` does not list it any more; give another instance type of "
                "`sizer catalog list`.",
                name=name,
            )
        nearest = advised_name(plain_name(name), [instance.name for instance in self.offered], LISTED)
        raise InputError("The catalogue has no instance type `{name}`; {advice}", name=name, advice=nearest)

    def gpu(self, name: str) -> str:
        """The name that price lists and published rates have for this GPU; InputError with the nearest if none has."""
        published = (rate.gpu for rate in self.rates if not rate.gpu.startswith(PROCESSOR))
        gpus = {*GPU_MEMORY_GB, *(sheet.gpu for sheet in data_sheets()), *published}
        meant = read_gpu_name(name)
        for gpu in sorted(gpus):
            if read_gpu_name(gpu).key == meant.key:
                form = f" {meant.form}" if meant.form else ""
                memory = f"-{meant.memory_gb:g}GB" if meant.memory_gb else ""
                return f"{gpu}{memory}{form}"
        begun = [gpu for gpu in sorted(gpus) if read_gpu_name(gpu).key.startswith(meant.key)]
        advice = Message("did you mean {names}?", names=AnyOf(*begun)) if begun else advised_name(name, sorted(gpus))
        raise InputError("The catalogue knows no GPU `{name}`; {advice}", name=name, advice=advice)

    def disk(self, name: str) -> DiskTier:
        """The disk tier of that name; InputError with the nearest name if there is none."""
        for offer in self.disks:
            if offer.name == name:
                return offer
        nearest = advised_name(name, [offer.name for offer in self.disks])
        raise InputError("The catalogue has no disk tier `{name}`; {advice}", name=name, advice=nearest)

    def tier(self, name: str) -> DiskTier | None:
        """The disk tier that a table means by `gp3`, `aws/gp3:500GiB` or `ESSD PL1`; None where not one alone is so
        called."""
        meant = _letters(name.partition(":")[0])
        named = [tier for tier in self.disks if meant in (_letters(tier.name), *_names_of_tier(tier))]
        return named[0] if len(named) == 1 else None

    def scaling_loss(self, mode: str, network: str, gpu: str, counts: Sequence[int]) -> tuple[float, str]:
        """What so many of a GPU in one machine lose to each other; `mode` and `network` as of `accelerator_rate`."""
        return scaling_loss(network, gpu, counts, mode)

    @cached_property
    def rates(self) -> tuple[AcceleratorRate, ...]:
        """Its own published rates and those that come with sizer, which another file adds to."""
        shipped = shipped_rates()
        return self.accelerators if self.accelerators is shipped else (*self.accelerators, *shipped)

    def estimated_rate(self, asked: RateQuestion) -> RateEstimate | None:
        """What one accelerator does for a job, by published rates; None where they do not say."""
        return estimate(self.rates, asked)

    def accelerator_rate(
        self,
        mode: str,
        network: str,
        gpu: str,
        *,
        precision: str | None = None,
        batch_size: int | None = None,
        framework: str | None = None,
        batch_sizes: tuple[int, ...] = (),
        networks: Container[str] | None = None,
    ) -> RateEstimate:
        """The same for a GPU that is to be emulated; InputError names the nearest that is published, of `networks` that
        may be asked for."""
        name = read_gpu_name(gpu).name or gpu
        asked = RateQuestion(network, mode, name, precision, batch_size, framework, batch_sizes)
        if mode not in MODES:
            raise InputError(
                "The catalogue has accelerator rates for `train` and `infer`, not for `{mode}`; give "
                "samples_per_second.",
                mode=mode,
            )
        estimate = self.estimated_rate(asked)
        if estimate is not None:
            return estimate
        same, other, precisions = published_beside(self.rates, asked)
        same = [name for name in same if networks is None or name in networks]
        rates: list[object] = [Message("for {name}: {others}", name=gpu, others=AllOf(*same))] if same else []
        rates += [Message("for {name}: {others}", name=network, others=AllOf(*other))] if other else []
        rates += [Message("for both in {precisions}", precisions=AllOf(*precisions))] if precisions else []
        sizes = published_batch_sizes(self.rates, asked)
        rates += [Message("for both at a batch of {sizes}", sizes=AllOf(*map(str, sizes)))] if sizes else []
        if not other and not precisions:
            raise InputError(
                "No rate to {mode} {network} is published on any GPU; write `samples_per_second` instead of `gpu`: one "
                "run of it on {gpu} would show it.",
                mode=mode,
                network=network if precision is None else f"{network} ({precision})",
                gpu=gpu,
            )
        if precision is not None:
            gpu = f"{gpu} ({precision})"
        if sizes and batch_size is not None:
            gpu = f"{gpu} (`batch_size: {batch_size}`)"
        raise InputError(
            "The catalogue has no rate to {mode} {network} on {gpu} (it has rates {known}); write `samples_per_second` "
            "instead of `gpu`: one run of it there would show it.",
            mode=mode,
            network=network,
            gpu=gpu,
            known=AllOf(*rates),
        )


def types_where(expression: str, path: str | Path | None = None) -> tuple[InstanceType, ...]:
    """The instance types of a file, or of sizer's own, for which a condition in SQL holds on the columns of that file,
    in the order of `InstanceType.price_order`. InputError says what is wrong with the condition."""
    database = shipped() if path is None else database_of("instances", read([path]).entries)
    types = (
        InstanceType(*row) for row in rows_where(database, selection(InstanceType), columns("instances"), expression)
    )
    return tuple(sorted(types, key=lambda instance: instance.price_order))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _names_of_tier(tier: DiskTier) -> tuple[str, str]:
    """Alibaba Cloud's are called with `cloud` and without."""
    plain = _letters(tier.disk_tier)
    return plain, plain.removeprefix("cloud") or plain


@cache
def _shipped() -> Catalog:
    """The one that comes with sizer, which is read once."""
    database = shipped()
    return Catalog(records(InstanceType, database), records(DiskTier, database), shipped_rates())


def _of_files(paths: Sequence[str | Path]) -> Catalog:
    entries: dict[str, list[Entry]] = defaultdict(list)
    for path in paths:
        kind, rows = read_file(Given(Path(path)))
        entries[kind] += rows
    instances, disks, rates = (entries[kind] for kind in own.KINDS)
    offers = _shipped()
    return Catalog(
        records(InstanceType, database_of("instances", instances)) if instances else offers.instance_types,
        records(DiskTier, database_of("disks", disks)) if disks else offers.disks,
        tuple(map(own.rate, rates)) if rates else offers.accelerators,
    )


# What changed between two catalogues, and one catalogue with the entries of others.


@dataclass(frozen=True)
class Change:
    """An instance type or disk tier before and after; None where it was not there."""

    before: InstanceType | DiskTier | None
    after: InstanceType | DiskTier | None


_STATES: Mapping[str, Callable[[Any], object]] = {
    "instance_types": attrgetter("price_per_hour", "spot_per_hour", "currency", "status", "retired"),
    "disks": lambda tier: replace(tier, as_of="", source="", confidence=None),
}
"""By the kind of an entry what of it may change."""


def changes(old: Catalog, new: Catalog) -> list[Change]:
    """Types that came, went, cost another price or have another status, and disk tiers, in the order of their names."""
    changed = []
    for kind, state in _STATES.items():
        before, after = (
            {(one.name, getattr(one, "region", None) or ""): one for one in getattr(catalog, kind)}
            for catalog in (old, new)
        )
        pairs = [Change(before.get(key), after.get(key)) for key in sorted({*before, *after})]
        changed += [one for one in pairs if None in (one.before, one.after) or state(one.before) != state(one.after)]
    return changed


def with_added(catalog: Offers, added: Sequence[Offers]) -> Offers:
    """The entries of the first, those that are in the others in their place, and then what else these have."""
    entries: dict[tuple[object, ...], Entry] = {}
    for offers in (catalog, *added):
        if offers.kind != catalog.kind:
            raise InputError("Entries of two kinds make no catalogue; keep instance types, disks and rates apart.")
        for entry in offers.entries:
            entries[key_of(offers.kind, entry)] = entry
    return Offers(catalog.kind, tuple(entries.values()))
