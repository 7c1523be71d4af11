"""karpenter's generated price lists, in Go: AWS's `zz_generated.pricing_aws.go`, Azure's `zz_generated.pricing.go`;
in JSON: Google's `initial-prices.json`, Alibaba's `initial-on-demand-prices.json`."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sizer.catalog.importers.given import Given, shape
from sizer.catalog.machines import Entry
from sizer.records.messages import Message

NAMED = "karpenter's generated price list"
_DAY = re.compile(r"generated at (\d{4}-\d\d-\d\d)")
_REGION = re.compile(r'"([a-z0-9-]+)"(?:: \{|\] = map)')
_PRICE = re.compile(r'"([\w.-]+)":\s*(\d+\.?\d*)(?=\s*[,}])')
WINDOWS = 0.046
"""USD an hour that Windows adds to a vCPU on Azure."""
EXACT = 0.0004
"""USD an hour that a price of a vCPU is off by being rounded."""


def reads(given: Given) -> bool:
    """By the name of its variable, or as prices by region and type."""
    return "nitialOnDemandPrices" in given.text or _regions(given) is not None


def _regions(given: Given) -> Mapping[str, Any] | None:
    """The prices of Google's and Alibaba's, by region."""
    regions = given.json.get("prices", given.json) if isinstance(given.json, dict) else None
    if not isinstance(regions, dict) or not regions:
        return None
    priced = all(
        isinstance(prices, dict)
        and all(
            isinstance(price, dict if set(prices) <= {"on_demand", "spot"} else (int, float))
            for price in prices.values()
        )
        for prices in regions.values()
    )
    return regions if priced else None


def entries(given: Given) -> Iterator[Entry]:
    """It has names and prices: those are read whose shape sizer's own catalogue has.

    Azure's mixes prices of Windows in; what they add is taken off, and said.
    """
    offers = list(_go(given) if (regions := _regions(given)) is None else _json(given, regions))
    return _without_windows(offers) if offers and offers[0].cells["provider"] == "azure" else iter(offers)


def _json(given: Given, regions: Mapping[str, Any]) -> Iterator[Entry]:
    """Google's has spot prices, too; Alibaba's are in CNY."""
    names = itertools.count(1)
    for region, prices in regions.items():
        provider, currency = ("gcp", "USD") if "on_demand" in prices else ("alibaba", "CNY")
        for name, price in prices.get("on_demand", prices).items():
            where, spot = given.item(next(names)), prices.get("spot", {}).get(name)
            cells = {"price_per_hour": price, "spot_per_hour": spot, "currency": currency}
            yield from _known(given, where, name, given.provider or provider, {**cells, "region": region})


def _go(given: Given) -> Iterator[Entry]:
    provider = given.provider or ("azure" if '"Standard_' in given.text else "aws")
    day, region = _DAY.search(given.text), ""
    for line, text in enumerate(given.text.splitlines(), start=1):
        begun = _REGION.search(text)
        region = begun[1] if begun else region
        for name, price in _PRICE.findall(text):
            cells = {"price_per_hour": float(price), "currency": "CNY" if region.startswith("cn-") else "USD"}
            as_of = given.as_of or (day[1] if day else "")
            yield from _known(given, given.line(line), name, provider, {**cells, "region": region, "as_of": as_of})


def _known(given: Given, where: Message, name: str, provider: str, cells: Mapping[str, object]) -> Iterator[Entry]:
    """The entry of a type whose shape is known; none of another."""
    if shape(name, provider):
        yield given.entry(where, NAMED, {"provider": provider, "instance_type": name, **cells})


def _without_windows(entries: list[Entry]) -> Iterator[Entry]:
    """Sizes of a series in a region have one price a vCPU. One that is above it by what Windows adds, and elsewhere, if
    it is sold there, costs what its series does, is of Windows."""
    least: dict[object, float] = defaultdict(lambda: float("inf"))
    alike: dict[object, set[str]] = defaultdict(set)
    rows = []
    for entry in entries:
        name, price = str(entry.cells["instance_type"]), float(str(entry.cells["price_per_hour"]))
        size = re.search(r"(?<=[A-Z])(\d+)-\d", name)  # 16 of E16-4as, which costs what E16as does
        vcpus = float(size[1] if size else str(entry.cells["vcpus"]))
        series = entry.cells.get("region"), re.sub(r"(?<=[A-Z])\d+(-\d+)?", "#", name)
        rows.append((entry, name, series, price, vcpus))
        if price:
            least[series] = min(least[series], price / vcpus)
            alike[series, round(price / vcpus, 4)].add(f"{vcpus:g}")
    regions = Counter(name for _, name, *_ in rows)
    usual = {
        name
        for _, name, series, price, vcpus in rows
        if regions[name] == 1 or len(alike[series, round(price / vcpus, 4)]) > 1
    }
    for entry, name, series, price, vcpus in rows:
        if name in usual and abs(price / vcpus - least[series] - WINDOWS) < EXACT:
            linux = {"price_per_hour": round(price - WINDOWS * vcpus, 6)}
            doubt = {"confidence": "a price of Windows in the source, corrected"}
            entry = replace(entry, cells={**entry.cells, **linux, **doubt})
        yield entry
