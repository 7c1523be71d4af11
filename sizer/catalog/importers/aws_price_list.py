"""AWS's price list: the offer file of EC2 of one region, or what `aws pricing get-products` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sizer.catalog.importers.given import Given, cpu_arch, least, number
from sizer.catalog.machines import Entry

NAMED = "AWS's price list"
WANTED = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
"""What a product must be that is a machine with nothing else to pay; what a file leaves out is not asked."""


def reads(given: Given) -> bool:
    """By its parts."""
    return bool(given.json) and next(_products(given), None) is not None


def _products(given: Given) -> Iterator[tuple[int, Mapping[str, Any], Mapping[str, Any], str]]:
    """Each product's number in the list, its attributes, its terms on demand, and the day of the list."""
    content = given.json
    if isinstance(content, dict) and {"products", "terms"} <= set(content):
        terms, day = content["terms"].get("OnDemand", {}), str(content.get("publicationDate", ""))[:10]
        for number, (sku, product) in enumerate(content["products"].items(), start=1):
            yield number, product.get("attributes", {}), terms.get(sku, {}), day
        return
    listed = content.get("PriceList", [content]) if isinstance(content, dict) else content
    for number, item in enumerate(listed if isinstance(listed, list) else (), start=1):
        with suppress(ValueError):  # a text that is no JSON is no product
            offer = json.loads(item) if isinstance(item, str) else item
            if isinstance(offer, dict) and {"product", "terms"} <= set(offer):
                day = str(offer.get("publicationDate", ""))[:10]
                yield number, offer["product"].get("attributes", {}), offer["terms"].get("OnDemand", {}), day


def entries(given: Given) -> Iterator[Entry]:
    """Linux on shared hardware with nothing installed."""
    return least(_entries(given))


def _entries(given: Given) -> Iterator[Entry]:
    for place, about, terms, day in _products(given):
        where = given.item(place)
        if "instanceType" not in about or any(about.get(key, value) != value for key, value in WANTED.items()):
            continue
        prices: dict[str, float] = {}
        for term in terms.values():
            for dimension in term.get("priceDimensions", {}).values():
                for currency, price in dimension.get("pricePerUnit", {}).items():
                    prices[currency] = max(prices.get(currency, 0.0), number(where, currency, price) or 0.0)
        currency = "USD" if prices.get("USD") else max(prices, key=lambda name: prices[name], default="USD")
        cells = {
            "provider": "aws",
            "instance_type": about["instanceType"],
            "region": about.get("regionCode") or about.get("location"),
            "vcpus": number(where, "vcpu", about.get("vcpu")),
            "memory_gib": number(where, "memory", str(about.get("memory", "")).removesuffix(" GiB")),
            "gpu_count": number(where, "gpu", about.get("gpu")),
            "cpu_arch": cpu_arch(about.get("physicalProcessor")),
            "price_per_hour": prices.get(currency) or None,
            "currency": currency,
            "as_of": given.as_of or day,
        }
        yield given.entry(where, NAMED, cells)
