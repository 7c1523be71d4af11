"""The lines of doctor, init, catalog and disks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.catalog import DiskOffer, InstanceType
from sizer.files.own_folder import user_name
from sizer.host.findings import BusyBy, Check, Finding, FindingKind
from sizer.host.lock import MeasuringProcess
from sizer.host.stored_host import Virtualization
from sizer.limits.topology import CpuCounts
from sizer.records.answer import InstanceOffer
from sizer.records.plain_text import typed_path
from sizer.records.units import format_bytes, format_usd
from sizer.words.errors import in_words
from sizer.words.language import _, _n
from sizer.words.names import listed, row
from sizer.words.units import vcpus_in_words

if TYPE_CHECKING:  # what looks at a machine brings NVML, psutil and the metadata of packages
    from sizer.host.machine import Host


def looking_at_host() -> str:
    """Before doctor answers."""
    return _("checking this host, which takes a few seconds")


def host_line(host: Host) -> str:
    """This machine in a line."""
    return _(
        "{processor}, {topology}, {memory}; {distribution}, {kernel}",
        processor=host.cpu_model,
        topology=topology_in_words(host.topology),
        memory=format_bytes(host.memory_bytes),
        distribution=host.distribution,
        kernel=host.kernel,
    )


def topology_in_words(counts: CpuCounts) -> str:
    """`2 sockets, 2 NUMA nodes, 4 cores, 8 CPUs with hyperthreads`."""
    known = {
        "sockets": _n("{count} socket", "{count} sockets", counts.sockets),
        "nodes": _n("{count} NUMA node", "{count} NUMA nodes", counts.nodes),
        "cores": _n("{count} core", "{count} cores", counts.cores),
        "cpus": _n("{count} CPU", "{count} CPUs", counts.cpus),
    }
    if counts.cpus > counts.cores:
        return _("{sockets}, {nodes}, {cores}, {cpus} with hyperthreads", **known)
    return _("{sockets}, {nodes}, {cores}, {cpus} without hyperthreads", **known)


def virtualization_in_words(found: Virtualization) -> str:
    """`container in a virtual machine (KVM)`."""
    if found.hypervisor is None:
        return _("container") if found.container else _("no virtual machine")
    if found.container:
        return _("container in a virtual machine ({hypervisor})", hypervisor=found.hypervisor)
    return _("virtual machine ({hypervisor})", hypervisor=found.hypervisor)


def check_lines(check: Check) -> list[str]:
    """What doctor found, and the command that helps."""
    known = {"name": check.name, "found": finding_in_words(check.finding), "command": check.fix}
    if check.ok:
        return [_("ok  {name}: {found}", **known)]
    found = [_("NO  {name}: {found}", **known)]
    if check.fix and check.name == "load":
        return [*found, _("      to see which, type: {command}", **known)]
    return [*found, _("      to fix it, type: {command}", **known)] if check.fix else found


def finding_in_words(finding: Finding) -> str:
    """What a check found."""
    text = in_words(finding.text)
    known = {"text": text, "path": finding.path, "size": format_bytes(finding.bytes)}
    if finding.kind is FindingKind.NOT_INSTALLED and finding.path:
        return _("not installed in {path}", **known)
    return {
        FindingKind.CONTROL: text,
        FindingKind.CPUS: _("{count} of this host's {whole} can be used", count=finding.count, whole=finding.whole),
        FindingKind.NO_SWAP: _("none"),
        FindingKind.SWAP_KEPT: _("{size}, which runs are kept out of", **known),
        FindingKind.SWAP_USED: _("{size}, which runs may use", **known),
        FindingKind.PRESSURE: _("what runs wait for is accounted"),
        FindingKind.NO_PRESSURE: _("not accounted for runs of this user here"),
        FindingKind.VERSION: text,
        FindingKind.FRAMEWORK: _framework_in_words(finding),
        FindingKind.PACKAGE: _("{text} in {path}", **known),
        FindingKind.NOT_INSTALLED: _("not installed"),
        FindingKind.MISSING: _("{path} is missing", **known),
        FindingKind.ROOT_ONLY: _("for root alone"),
        FindingKind.PRESENT: finding.path,
        FindingKind.NO_IMPORT: _("cannot be imported in {path}: {text}", **known),
        FindingKind.QUIET: _("nothing else uses this host"),
        FindingKind.BUSY: busy_host_in_words(finding.load),
        FindingKind.OTHER: text,
    }[finding.kind]


def _framework_in_words(finding: Finding) -> str:
    """`2.13.0 in /opt/torch/bin/python; sees no GPU`."""
    known = {"version": in_words(finding.text), "path": finding.path}
    if not finding.gpus:
        return _("{version} in {path}; sees no GPU", **known)
    return _("{version} in {path}; sees {gpus}", **known, gpus=listed(finding.gpus))


def busy_host_in_words(busy: BusyBy) -> str:
    """That this host is busy, by what, and what becomes of it."""
    found = []
    if busy.other_cores is not None:
        programs = row(f"{name} {cores:.2f}" for name, cores in busy.programs)
        cores = f"{busy.other_cores:.2f}"
        found.append(
            _("other programs use {cores} cores ({programs})", cores=cores, programs=programs)
            if programs
            else _("other programs use {cores} cores", cores=cores)
        )
    if busy.stolen_cores is not None:
        found.append(_("the hypervisor gives {cores} cores to others", cores=f"{busy.stolen_cores:.2f}"))
    return _(
        "this host is busy: {what}; runs that it disturbs are marked `contended` or `stolen`, and a quiet host "
        "measures better",
        what=listed(found),
    )


def measured_beside(other: MeasuringProcess) -> str:
    """That another user's sizer measures, too, and what becomes of it."""
    user = _("another user") if other.user is None else in_words(user_name(other.user))
    known = {"user": user, "pid": other.pid, "command": other.command or "?"}
    if not other.pid:
        return _(
            "a sizer of {user} measures on this host, too, and this one does not wait for it; runs that it disturbs "
            "are marked `contended`",
            **known,
        )
    return _(
        "a sizer of {user} measures on this host, too (process {pid}: {command}), and this one does not wait for it; "
        "runs that it disturbs are marked `contended`",
        **known,
    )


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
    """`$1.20 an hour`."""
    return _("price unknown") if usd_per_hour is None else _("{price} an hour", price=format_usd(usd_per_hour))


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
    """An instance type of the catalogue; of one that nobody can rent, since when, in the place of its price."""
    size = [vcpus_in_words(offer.vcpus), format_bytes(offer.memory_bytes)]
    gone = None if offer.retired is None else _("retired {year}", year=offer.retired)
    return _(
        "{name}: {size}; {price} ({date}, {source})",
        name=offer.name,
        size=row([*size, f"{offer.gpu_count} x {offer.gpu}"] if offer.gpu else size),
        price=gone or price_in_words(offer.usd_per_hour),
        date=offer.as_of,
        source=offer.source,
    )


def _price_of_disk(disk: DiskOffer) -> str:
    if disk.usd_per_gib_month is None:
        return _("price unknown")
    price = format_usd(disk.usd_per_gib_month)
    if disk.confidence in (None, "documented"):
        return _("{price} per GiB and month", price=price)
    return _("{price} per GiB and month, {confidence}", price=price, confidence=disk.confidence)


def disk_offer_line(disk: DiskOffer) -> str:
    """A disk tier of the catalogue."""
    return _(
        "{name}: {kind}, up to {iops} IOPS and {speed} MB/s; {price} ({date}, {source})",
        name=disk.name,
        kind=disk.disk_class,
        iops=f"{disk.read_iops_max:,.0f}",
        speed=f"{disk.read_bytes_per_second_max / 1e6:,.0f}",
        price=_price_of_disk(disk),
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
