"""The machines that were compared, each as a line of the terminal and as a row or a bar of the page."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.model.feeds import CPU_LABEL
from sizer.records.answer import Alternative, Answer
from sizer.records.prediction import Spec
from sizer.records.run import RentedMachine
from sizer.records.units import RELATIVE, format_seconds, format_usd
from sizer.words.figures import answered_rate, paragraph, rate_interval
from sizer.words.language import _, _n
from sizer.words.names import Terms, gpu_name, row, spec_name, with_instance
from sizer.words.units import several_of


def machine_name(alternative: Alternative, terms: Terms) -> str:
    """`1 x P100`, `8 vCPUs, 1 x V100`; where the table says no more of it, `no accelerator`."""
    return spec_name(alternative.spec, terms) or gpu_name(CPU_LABEL)


def machine_rented(machine: RentedMachine | None) -> str:
    """`aws g4dn.xlarge`, as a table names it, or `2 x aws g4dn.xlarge`; empty where it does not."""
    if machine is None:
        return ""
    if machine.nodes == 1 or machine.name is None:
        return machine.name or (_("{count} machines", count=machine.nodes) if machine.nodes > 1 else "")
    return _("{count} x {machine}", count=machine.nodes, machine=machine.name)


def kind_name(spec: Spec, terms: Terms) -> str:
    """The kind of accelerator that a machine has: `V100`, `accelerator`, `no accelerator`."""
    if spec.gpu_count == 0:
        return gpu_name(CPU_LABEL)
    gpu = spec.gpu or terms.device.gpu
    return gpu_name(gpu) if gpu else _("accelerator")


def alternative_line(alternative: Alternative, terms: Terms) -> str:
    """`1 x L4 (aws g6.xlarge): 1,000 samples/s, $0.805 an hour, $0.224 a million samples`."""
    machine = with_instance(machine_name(alternative, terms), alternative.instance_type)
    figures = [answered_rate(alternative.throughput, terms.unit)[0], price_an_hour(alternative)]
    if alternative.latency_p99 is not None:
        figures.append(_("p99 {latency}", latency=format_seconds(alternative.latency_p99)))
    if alternative.usd_per_million_samples is not None:
        million = format_usd(alternative.usd_per_million_samples)
        figures.append(_("{price} a million {units}", price=million, units=several_of(terms.unit)))
    return _("{machine}: {figures}", machine=machine, figures=row(figures))


def price_an_hour(alternative: Alternative) -> str:
    """`$2.07 an hour`, with its spot price beside it where that is another, or that it is unknown."""
    spot = alternative.usd_per_hour_spot
    if alternative.usd_per_hour is None and spot is not None:
        return _("price unknown, {spot} an hour spot", spot=format_usd(spot))
    if alternative.usd_per_hour is None:
        return _("price unknown")
    if spot is not None and spot != alternative.usd_per_hour:
        return _("{price} an hour ({spot} spot)", price=format_usd(alternative.usd_per_hour), spot=format_usd(spot))
    return _("{price} an hour", price=format_usd(alternative.usd_per_hour))


def price_of_million(alternative: Alternative) -> str:
    """`$0.319`; empty where it is unknown, or a rate is only relative."""
    price = alternative.usd_per_million_samples
    return format_usd(price) if price is not None else ""


def alternative_remark(alternative: Alternative, answer: Answer) -> str:
    """What to know of it beside the others: that it is the answer, costs least, is the fastest, or is dominated."""
    parts = [_("the answer")] if alternative is answer.chosen else []
    if alternative is answer.least_costly:
        parts.append(_("least cost"))
    if alternative.throughput.value == answer.highest_rate:
        parts.append(_("fastest"))
    if alternative.dominated:
        parts.append(_("dominated"))
    return row(parts)


def machines_drawn(names: Sequence[str], alternatives: Sequence[Alternative], unit: str) -> str:
    """The picture in words, for who does not see it: `Throughput by machine: 1 x P100 1,800 samples/s, ...`."""
    rates = [rate_interval(each.throughput, unit) for each in alternatives]
    drawn = (_("{machine} {rate}", machine=name, rate=rate) for name, rate in zip(names, rates, strict=True))
    return _("Throughput by machine: {machines}", machines=row(drawn))


def machines_left_out(number: int) -> str:
    """Under a picture of many machines: how many are missing from it."""
    return _n("{count} more machine is in the table below.", "{count} more machines are in the table below.", number)


def million_heading(unit: str, of_disks: bool) -> str:
    """Over the cost of the work, by which the table is in order: what that figure holds; empty of relative rates."""
    if unit == RELATIVE:
        return ""
    if of_disks:
        return _("A million {units}, without the disk", units=several_of(unit))
    return _("A million {units}", units=several_of(unit))


def machines_note(unit: str, priced: bool, of_disks: bool) -> str:
    """What the columns of the table of machines mean; `priced`: some of them have a price, `of_disks` a disk's."""
    if not priced:
        return _("The fastest first. The interval is that of a new run (90 %).")
    if unit == RELATIVE:
        return _(
            "The least cost of the same work first; what a sample costs does not follow from relative rates. The "
            "interval is that of a new run (90 %). Dominated: another machine is no slower and does the work for "
            "no more. "
            "A price is the machine's own where the table gives it, else that of the instance type named, else of the "
            "cheapest one that holds it."
        )
    said = _(
        "The least cost of a million {units} first. The interval is that of a new run (90 %). Dominated: another "
        "machine is no slower and does the work for no more. A price is the machine's own where the table gives it, "
        "else that of the instance type named, else of the cheapest one that holds it.",
        units=several_of(unit),
    )
    if not of_disks:
        return said
    counted = _("Between machines with different disks the answer counts a volume of 150 GiB of each, too.")
    return paragraph([said, counted])
