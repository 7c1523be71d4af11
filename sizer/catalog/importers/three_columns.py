"""Any table of three columns: a name, its vCPUs and its price an hour, in US dollars unless its header says another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sizer.catalog.importers.given import Given, number
from sizer.catalog.machines import Entry

NAMED = "a table of three columns"
_VCPUS = re.compile(r"cpu|core", re.IGNORECASE)
_PRICE = re.compile(r"price|cost|usd|\$|hour|eur|cny", re.IGNORECASE)
_CURRENCY = re.compile(r"(?<![a-z])(eur|cny|gbp|jpy|chf|inr)(?![a-z])", re.IGNORECASE)


def reads(given: Given) -> bool:
    """By the words for CPUs and prices in the header."""
    return len(given.header) == 3 and _columns(given) is not None


def _columns(given: Given) -> tuple[str, str, str] | None:
    vcpus = [name for name in given.header if _VCPUS.search(name)]
    prices = [name for name in given.header if _PRICE.search(name) and name not in vcpus]
    names = [name for name in given.header if name not in (*vcpus, *prices)]
    return (names[0], vcpus[0], prices[0]) if len(names) == len(vcpus) == len(prices) == 1 else None


def entries(given: Given) -> Iterator[Entry]:
    """What else a machine of that name has is known where sizer's own catalogue has it."""
    columns = _columns(given)
    assert columns is not None, "what `reads` says"
    currency = _CURRENCY.search(columns[2])
    for where, row in given.rows():
        name, vcpus, price = (row[column].strip() for column in columns)
        provider, _, plain = name.rpartition("/")
        cells = {
            "provider": provider,
            "instance_type": plain,
            "vcpus": number(where, columns[1], vcpus),
            "price_per_hour": number(where, columns[2], price),
            "currency": currency[0].upper() if currency else "USD",
        }
        yield given.entry(where, NAMED, cells)
