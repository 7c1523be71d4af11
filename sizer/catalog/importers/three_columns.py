"""Any table of three columns: a name, its vCPUs and its price an hour, in US dollars unless its header says another."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sizer.catalog.importers.given import Given, number
from sizer.catalog.machines import USD, Entry, columns
from sizer.records.messages import InputError, quoted

NAMED = "a table of three columns"
_VCPUS = re.compile(r"cpu|core|thread", re.IGNORECASE)
_PRICE = re.compile(r"price|cost|rate|tariff|hour|usd|[$€£₹¥]|eur|cny", re.IGNORECASE)
_CURRENCY = re.compile(
    r"(?<![a-z])(aud|brl|cad|chf|cny|czk|dkk|eur|gbp|hkd|huf|idr|ils|inr|jpy|krw|mxn|nok|nzd|pln|rmb|rub|sek|sgd|thb|twd|"
    r"zar)(?![a-z])|[€£₹¥]",
    re.IGNORECASE,
)
_ALSO_CALLED = {"RMB": "CNY", "€": "EUR", "£": "GBP", "₹": "INR"}
_NO_HOUR = re.compile(r"month|year|annu|day|week|minute|second", re.IGNORECASE)


def reads(given: Given) -> bool:
    """By the words for CPUs and prices in the header, else by the numbers below it."""
    return len(given.header) == 3 and _columns(given) is not None


def _columns(given: Given) -> tuple[str, str, str] | None:
    """Those of the name, the vCPUs and the price."""
    vcpus = [name for name in given.header if _VCPUS.search(name)]
    prices = [name for name in given.header if _PRICE.search(name) and name not in vcpus]
    names = [name for name in given.header if name not in (*vcpus, *prices)]
    if len(names) == len(vcpus) == len(prices) == 1:
        return names[0], vcpus[0], prices[0]
    first = next((row for _, row in given.rows()), {})
    figures = [name for name in given.header if first.get(name, "").lstrip("$").replace(".", "", 1).isdigit()]
    figures.sort(key=lambda name: name not in vcpus)
    if len(figures) != 2 or figures[1] in columns("instances") or len(vcpus) > 1:
        return None
    return next(name for name in given.header if name not in figures), figures[0], figures[1]


def entries(given: Given) -> Iterator[Entry]:
    """What else a machine of that name has is known where sizer's own catalogue has it."""
    columns = _columns(given)
    assert columns is not None, "what `reads` says"
    currency = _currency(given, columns[2])
    for where, row in given.rows():
        name, vcpus, price = (row[column] for column in columns)
        provider, _, plain = name.rpartition("/")
        cells = {
            "provider": provider,
            "instance_type": plain,
            "vcpus": number(where, columns[1], vcpus),
            "price_per_hour": number(where, columns[2], price),
            "currency": currency,
        }
        yield given.entry(where, NAMED, cells)


def _currency(given: Given, header: str) -> str:
    """InputError where the header names two currencies by one sign, or another time than an hour."""
    if _NO_HOUR.search(header):
        raise InputError(
            "{path}: {header} is no price an hour; give the prices of an hour.", path=given.path, header=quoted(header)
        )
    named = _CURRENCY.search(header)
    if named and named[0] == "¥":
        raise InputError(
            "{path}: {header} may be yuan or yen; write CNY or JPY in the header.",
            path=given.path,
            header=quoted(header),
        )
    return _ALSO_CALLED.get(named[0].upper(), named[0].upper()) if named else USD
