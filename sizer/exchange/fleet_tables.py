"""What a person says of a fleet: how much there is of each workload, and what the parts of a machine cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sizer.files.tables import Row, read_table
from sizer.recommend.family.parts import gpu_kind
from sizer.records.family import Amounts, PartPrices
from sizer.records.messages import AnyOf, InputError, Message, advised_name, quoted
from sizer.records.units import parse_count, parse_number

WORKLOAD, AMOUNTS = "workload", ("weight", "samples")
RESOURCE, NAME, USD = "resource", "name", "usd_per_hour"
RESOURCES = ("vcpu", "gib", "gpu", "disk")


def read_amounts(path: Path, served: Sequence[str], workloads: Sequence[str]) -> Amounts:
    """Of a table with the columns `workload` and `weight`, or `workload` and `samples`.

    InputError where a workload is twice or none of these, where one that is `served` is missing, or where an amount is
    no number of 0 or more.
    """
    table = read_table(path, Message("a table of weights"), {WORKLOAD, *AMOUNTS}, {WORKLOAD})
    columns = [column for column in AMOUNTS if column in table.columns]
    if WORKLOAD not in table.columns or len(columns) != 1:
        raise InputError(
            "{path} needs the columns `workload` and `weight` (or `samples`); write them in its first line.",
            path=path,
        )
    amounts: dict[str, float] = {}
    for row in table.rows:
        name = row.cells[WORKLOAD]
        if name not in workloads:
            raise row.input_error(
                WORKLOAD,
                "the studies have no {name}; {advice}",
                name=quoted(name),
                advice=advised_name(name, workloads),
            )
        if name in amounts:
            raise row.input_error(WORKLOAD, "{name} stands in two rows; remove one of them.", name=quoted(name))
        amounts[name] = _amount(row, columns[0])
    missing = [name for name in served if name not in amounts]
    if missing:
        raise InputError(
            "{path} has no row for {name}; add `{name_plain},1`.",
            path=path,
            name=quoted(missing[0]),
            name_plain=missing[0],
        )
    if not any(amounts[name] for name in served):
        raise InputError("{path}: every amount is 0; give one workload more.", path=path)
    return Amounts(amounts, columns[0] == "samples")


def read_prices(path: Path) -> PartPrices:
    """USD an hour of a vCPU, a GiB, accelerators and disks: `resource,name,usd_per_hour`, the name of the latter two.

    InputError where the vCPU or the GiB is missing, something is there twice, or a price is no number of 0 or more.
    """
    table = read_table(path, Message("a table of prices"), {RESOURCE, NAME, USD}, {RESOURCE, USD})
    if not {RESOURCE, USD} <= set(table.columns):
        raise InputError(
            "{path} needs the columns `resource`, `name` and `usd_per_hour`; write them in its first line.", path=path
        )
    prices: dict[tuple[str, str], float] = {}
    for row in table.rows:
        resource, name = row.cells[RESOURCE].lower(), row.cells.get(NAME, "")
        if resource not in RESOURCES:
            wanted = AnyOf(*RESOURCES)
            raise row.input_error(RESOURCE, "{text} is none of {wanted}.", text=quoted(resource), wanted=wanted)
        if (resource in RESOURCES[2:]) != bool(name):
            raise row.input_error(NAME, "a gpu and a disk have a name here, a vcpu and a gib have none.")
        key = resource, gpu_kind(name) if resource == "gpu" else name
        if key in prices:
            raise row.input_error(RESOURCE, "this price stands in two rows; remove one of them.")
        prices[key] = _amount(row, USD)
    for resource in RESOURCES[:2]:
        if (resource, "") not in prices:
            raise InputError(
                "{path} has no price of a {resource}; add `{resource},,0.01`.", path=path, resource=resource
            )
    if prices["vcpu", ""] == 0:
        raise InputError("{path}: a vcpu costs 0; give more, such as 0.01.", path=path)
    gpus, disks = ({name: usd for (kind, name), usd in prices.items() if kind == part} for part in RESOURCES[2:])
    return PartPrices(prices["vcpu", ""], prices["gib", ""], gpus, disks)


def _amount(row: Row, column: str) -> float:
    try:
        text = row.cells[column]
        value = parse_count(text) if column == AMOUNTS[1] and text != "0" else parse_number(text, "0.5")
    except InputError as error:
        raise row.input_error(column, error) from None
    if value < 0:
        raise row.input_error(column, "{text} is below 0; give 0 or more.", text=quoted(row.cells[column]))
    return value
