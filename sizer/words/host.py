"""The lines of doctor, init, catalog and disks."""

from __future__ import annotations

from pathlib import Path

from sizer.catalog import AcceleratorRate, DiskOffer, InstanceType
from sizer.host import Check, Host
from sizer.records import DiskCheck, InstanceOffer, format_bytes, format_seconds, typed_path
from sizer.words.language import _, _n


def looking_at_host() -> str:
    """Before doctor answers."""
    return _("checking this host, which takes a few seconds")


def host_line(host: Host) -> str:
    """This machine in a line."""
    return f"{host.cpu_model}, {host.topology}, {format_bytes(host.memory_bytes)}; {host.distribution}, {host.kernel}"


def check_lines(check: Check) -> list[str]:
    """What doctor found, and the command that helps."""
    known = {"name": check.name, "found": check.found, "command": check.fix}
    if check.ok:
        return [_("ok  {name}: {found}", **known)]
    found = [_("NO  {name}: {found}", **known)]
    if check.fix and check.name == "load":
        return [*found, _("      to see which, type: {command}", **known)]
    return [*found, _("      to fix it, type: {command}", **known)] if check.fix else found


def host_is_quiet() -> str:
    """No other load."""
    return _("nothing else uses this host")


def study_file_written(path: Path) -> str:
    """After init."""
    return _("{path} written; edit it, then type: sizer run {typed} --dry-run", path=path, typed=typed_path(path))


def catalog_valid(path: str | None, entries: int) -> str:
    """A catalogue that validate accepts; None is the one that comes with sizer."""
    if path is None:
        return _n(
            "the bundled catalogue: {count} entry, valid", "the bundled catalogue: {count} entries, all valid", entries
        )
    return _n("{path}: {count} entry, valid", "{path}: {count} entries, all valid", entries, path=path)


def price_in_words(usd_per_hour: float | None) -> str:
    """`$1.2 an hour`."""
    return _("price unknown") if usd_per_hour is None else _("${price} an hour", price=f"{usd_per_hour:g}")


def offer_line(offer: InstanceOffer) -> str:
    """An instance type that fits a recommendation."""
    return _(
        "{provider} {type}: {price} ({date}, {source})",
        provider=offer.provider,
        type=offer.instance_type,
        price=price_in_words(offer.usd_per_hour),
        date=offer.as_of,
        source=offer.source,
    )


def instance_line(offer: InstanceType) -> str:
    """An instance type of the catalogue."""
    gpus = f", {offer.gpu_count} x {offer.gpu}" if offer.gpu else ""
    return _(
        "{provider} {type}: {vcpus} vCPU, {memory}{gpus}; {price} ({date}, {source})",
        provider=offer.provider,
        type=offer.instance_type,
        vcpus=f"{offer.vcpus:g}",
        memory=format_bytes(offer.memory_bytes),
        gpus=gpus,
        price=price_in_words(offer.usd_per_hour),
        date=offer.as_of,
        source=offer.source,
    )


def disk_offer_line(disk: DiskOffer) -> str:
    """A disk tier of the catalogue."""
    return _(
        "{name}: {kind}, up to {iops} IOPS and {speed} MB/s; {price} ({date}, {source})",
        name=disk.name,
        kind=disk.disk_class,
        iops=f"{disk.read_iops_max:,.0f}",
        speed=f"{disk.read_bytes_per_second_max / 1e6:,.0f}",
        price=disk.price_note,
        date=disk.as_of,
        source=disk.source,
    )


def published_rate_line(rate: AcceleratorRate) -> str:
    """A published rate of an accelerator."""
    known = {
        "gpu": rate.gpu,
        "mode": rate.mode,
        "network": rate.network,
        "rate": f"{rate.samples_per_second:g}",
        "precision": rate.precision,
        "date": rate.as_of,
        "source": rate.source,
    }
    if rate.batch_size:
        return _(
            "{gpu} {mode} {network}: {rate} samples/s ({precision}, batch {batch}) ({date}, {source})",
            **known,
            batch=rate.batch_size,
        )
    return _("{gpu} {mode} {network}: {rate} samples/s ({precision}) ({date}, {source})", **known)


def checking_disk(name: str, seconds: float) -> str:
    """Before a disk is checked, since it takes long."""
    return _(
        "checking {name} with fio: {time}, plus the time to make its file", name=name, time=format_seconds(seconds)
    )


def disk_check_line(check: DiskCheck) -> str:
    """Whether a disk is as fast as declared."""
    name, tier = check.tier.name, check.tier
    if not tier.emulated:
        return _("{name} (real): measured", name=name)
    result = check.note or _("as declared")
    if tier.size_bytes is None:
        return _("{name} (emulated): {result}", name=name, result=result)
    return _("{name} (emulated, {size}): {result}", name=name, size=format_bytes(tier.size_bytes), result=result)


def disk_figure_line(figure: str, value: float | None, declared: float | None) -> str:
    """One measured figure of a disk, beside what its tier declares."""
    side = {"read": _("read"), "write": _("write")}[figure.split("_")[0]]
    measured = _("not measured") if value is None else _amount(figure, value)
    if declared is None:
        return f"  {side}: {measured}"
    return _(
        "  {side}: {measured}, declared {declared}", side=side, measured=measured, declared=_amount(figure, declared)
    )


def _amount(figure: str, value: float) -> str:
    return f"{value:,.0f} IOPS" if figure.endswith("iops") else f"{value / 1e6:,.1f} MB/s"
