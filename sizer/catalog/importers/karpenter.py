"""karpenter's generated price lists, in Go: AWS's `zz_generated.pricing_aws.go`, Azure's `zz_generated.pricing.go`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from sizer.catalog.importers.given import Given, shape
from sizer.catalog.machines import Entry

NAMED = "karpenter's generated price list"
_DAY = re.compile(r"generated at (\d{4}-\d\d-\d\d)")
_REGION = re.compile(r'"([a-z0-9-]+)"(?:: \{|\] = map)')
_PRICE = re.compile(r'"([\w.-]+)":\s*(\d+\.?\d*),')
WINDOWS = 0.046
"""USD an hour that Windows adds to a vCPU on Azure."""


def reads(given: Given) -> bool:
    """By the name of its variable."""
    return "nitialOnDemandPrices" in given.text


def entries(given: Given) -> Iterator[Entry]:
    """It has names and prices: those are read whose shape sizer's own catalogue has.

    Azure's mixes prices of Windows in; what they add is taken off, and said.
    """
    provider = given.provider or ("azure" if "Microsoft" in given.text else "aws")
    day = _DAY.search(given.text)
    as_of, region, offers = given.as_of or (day[1] if day else ""), "", []
    for line, text in enumerate(given.text.splitlines(), start=1):
        begun = _REGION.search(text)
        region = begun[1] if begun else region
        for name, price in _PRICE.findall(text):
            if shape(name, provider):
                cells = {
                    "provider": provider,
                    "instance_type": name,
                    "region": region,
                    "price_per_hour": float(price),
                    "currency": "CNY" if region.startswith("cn-") else "USD",
                    "as_of": as_of,
                }
                offers.append(given.entry(given.line(line), NAMED, cells))
    return _without_windows(offers) if provider == "azure" else iter(offers)


def _without_windows(entries: list[Entry]) -> Iterator[Entry]:
    """Sizes of a series in a region have one price a vCPU; those above it by what Windows adds are of Windows."""
    least: dict[tuple[object, str], float] = defaultdict(lambda: float("inf"))

    def series(entry: Entry) -> tuple[object, str]:
        return entry.cells["region"], re.sub(r"(?<=[A-Z])\d+(-\d+)?", "#", str(entry.cells["instance_type"]))

    def of_vcpu(entry: Entry) -> float:
        return float(str(entry.cells["price_per_hour"])) / float(str(entry.cells["vcpus"]))

    for entry in entries:
        least[series(entry)] = min(least[series(entry)], of_vcpu(entry))
    for entry in entries:
        if abs(of_vcpu(entry) - least[series(entry)] - WINDOWS) < WINDOWS / 20:
            linux = round((of_vcpu(entry) - WINDOWS) * float(str(entry.cells["vcpus"])), 6)
            doubt = {"price_per_hour": linux, "confidence": "a price of Windows in the source, corrected"}
            entry = replace(entry, cells={**entry.cells, **doubt})
        yield entry
