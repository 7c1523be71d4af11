"""AWS's price list: the offer file of EC2 of one region, or what `aws pricing get-products` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from sizer.catalog.importers.given import Given, as_object, cpu_arch, least, number, part
from sizer.catalog.machines import Entry
from sizer.records.messages import Message

NAMED = "AWS's price list"
WANTED = {"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used"}
"""What a product must be that is a machine with nothing else to pay; what a file leaves out is not asked."""


def reads(given: Given) -> bool:
    """By its parts."""
    return bool(given.json) and next(_products(given), None) is not None


def _products(given: Given) -> Iterator[tuple[Message, Mapping[str, Any], Mapping[str, Any], str]]:
    """Where each product stands, its attributes, its terms on demand, and the day of the list."""
    content = given.json
    if isinstance(content, dict) and {"products", "terms"} <= set(content):
        whole = Message("{path}", path=given.path)
        terms, day = (
            part(whole, part(whole, content, "terms"), "OnDemand"),
            str(content.get("publicationDate", ""))[:10],
        )
        for place, (sku, product) in enumerate(part(whole, content, "products").items(), start=1):
            where = given.item(place)
            yield where, part(where, as_object(where, product), "attributes"), part(where, terms, sku), day
        return
    listed = content.get("PriceList", [content]) if isinstance(content, dict) else content
    for place, item in enumerate(listed if isinstance(listed, list) else (), start=1):
        with suppress(ValueError):  # a text that is no JSON is no product
            offer = json.loads(item) if isinstance(item, str) else item
            if isinstance(offer, dict) and {"product", "terms"} <= set(offer):
                where, day = given.item(place), str(offer.get("publicationDate", ""))[:10]
                about = part(where, part(where, offer, "product"), "attributes")
                yield where, about, part(where, part(where, offer, "terms"), "OnDemand"), day


def entries(given: Given) -> Iterator[Entry]:
    """Linux on shared hardware with nothing installed."""
    return least(_entries(given))


def _entries(given: Given) -> Iterator[Entry]:
    for where, about, terms, day in _products(given):
        if "instanceType" not in about or any(about.get(key, value) != value for key, value in WANTED.items()):
            continue
        prices: dict[str, float] = {}
        for term in terms.values():
            for dimension in part(where, as_object(where, term), "priceDimensions").values():
                for currency, price in part(where, as_object(where, dimension), "pricePerUnit").items():
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
