"""Data and disks: what is being made, what a killed sizer left, how fast a disk is."""

from __future__ import annotations

from sizer.records.device import DiskRates
from sizer.records.run import DiskCheck
from sizer.records.units import format_bytes, format_seconds
from sizer.storage.announcements import Announcement, AnnouncementKind, Leftover, LeftoverKind
from sizer.storage.disk_check import deviations
from sizer.words.errors import in_words
from sizer.words.figures import operations, transfer, volume
from sizer.words.language import _
from sizer.words.names import clauses, listed, row


def announcement_in_words(announced: Announcement) -> str:
    """What takes a while."""
    known = {"folder": announced.folder, "source": announced.source, "why": in_words(announced.why)}
    size = volume(announced.bytes)
    return {
        AnnouncementKind.EMBEDDED_DATA: _("making the embedded data set in {folder}", **known),
        AnnouncementKind.PACKED_DATA: _("packing {source} as {format} in {folder}", **known, format=announced.name),
        AnnouncementKind.INDEX: _("making an index of {source} in {folder}", **known),
        AnnouncementKind.DAMAGED_DATA: _(
            "the data set in {folder} is not as it was made ({why}), so it is made anew", **known
        ),
        AnnouncementKind.OTHER_SIZER: _("waiting for another sizer that makes data in {folder}", **known),
        AnnouncementKind.DATA_MADE: f"  {size}",
        AnnouncementKind.PROGRAM: f"  {announced.name}",
        AnnouncementKind.EMULATED_DISK: _("making the emulated disk in {folder}", **known),
        AnnouncementKind.COPY: _("copying {size} to disk `{disk}`", size=size, disk=announced.name),
    }[announced.kind]


def leftover_in_words(left: Leftover) -> str:
    """What a killed sizer left, and that it is gone, or why it cannot be removed."""
    known = {"names": listed(left.removed), "why": in_words(left.error)}
    if left.error is None:
        return {
            LeftoverKind.PROGRAMS: _("removed programs that a killed sizer left: {names}", **known),
            LeftoverKind.GROUPS: _("removed control groups that a killed sizer left: {names}", **known),
            LeftoverKind.EMULATED_DISKS: _("removed emulated disks that a killed sizer left: {names}", **known),
            LeftoverKind.DISK_FOLDERS: _("removed folders on disks that a killed sizer left: {names}", **known),
            LeftoverKind.TEMPORARY_FOLDERS: _("removed temporary folders that a killed sizer left: {names}", **known),
            LeftoverKind.DATA_SETS: _("removed unfinished data sets that a killed sizer left: {names}", **known),
        }[left.kind]
    return {
        LeftoverKind.PROGRAMS: _("programs that a killed sizer left cannot be removed: {why}", **known),
        LeftoverKind.GROUPS: _("control groups that a killed sizer left cannot be removed: {why}", **known),
        LeftoverKind.EMULATED_DISKS: _("emulated disks that a killed sizer left cannot be removed: {why}", **known),
        LeftoverKind.DISK_FOLDERS: _("folders on disks that a killed sizer left cannot be removed: {why}", **known),
        LeftoverKind.TEMPORARY_FOLDERS: _(
            "temporary folders that a killed sizer left cannot be removed: {why}", **known
        ),
        LeftoverKind.DATA_SETS: _("unfinished data sets that a killed sizer left cannot be removed: {why}", **known),
    }[left.kind]


def disk_checking(disk: str) -> str:
    """A disk of a study is about to be checked."""
    return _("checking disk `{disk}` with fio", disk=disk)


def checking_disk(name: str, seconds: float) -> str:
    """The same on its own, where one waits for nothing else."""
    return _(
        "checking {name} with fio: {time}, plus the time to make its file", name=name, time=format_seconds(seconds)
    )


def disk_unusable(disk: str, why: str) -> str:
    """A disk cannot be used, so runs on it are refused."""
    return _("  disk `{disk}` cannot be used: {why}", disk=disk, why=why)


def disk_deviates(check: DiskCheck) -> str:
    """A disk is not as fast as declared."""
    return _("  disk `{disk}`: {figures}", disk=check.tier.name, figures=deviations_in_words(check))


def deviations_in_words(check: DiskCheck) -> str:
    """What a disk gives instead of what it declares; '' where it gives that."""
    found = [_deviation(name, *figures) for name, figures in deviations(check).items()]
    return _("{figures}; the measured figures are used", figures=listed(found)) if found else ""


def _deviation(name: str, measured: float, declared: float) -> str:
    known = {"measured": disk_figure(name, measured), "declared": disk_figure(name, declared)}
    if name.startswith("read"):
        return _("it reads {measured} where {declared} is declared", **known)
    return _("it writes {measured} where {declared} is declared", **known)


def disk_check_line(check: DiskCheck) -> str:
    """Whether a disk is as fast as declared."""
    name, tier = check.tier.name, check.tier
    if not tier.emulated:
        return _("{name} (real): measured", name=name)
    result = deviations_in_words(check) or _("as declared")
    if tier.size_bytes is None:
        return _("{name} (emulated): {result}", name=name, result=result)
    return _("{name} (emulated, {size}): {result}", name=name, size=format_bytes(tier.size_bytes), result=result)


def disk_figure_line(name: str, measured: float | None, declared: float | None) -> str:
    """One measured figure of a disk, beside what its tier declares."""
    known = {
        "measured": _("not measured") if measured is None else disk_figure(name, measured),
        "declared": "" if declared is None else disk_figure(name, declared),
    }
    if name.startswith("read"):
        if declared is None:
            return _("  read: {measured}", **known)
        return _("  read: {measured}, declared {declared}", **known)
    if declared is None:
        return _("  write: {measured}", **known)
    return _("  write: {measured}, declared {declared}", **known)


def disk_figure(name: str, value: float) -> str:
    """`100 MB/s`, `2,000 IOPS`."""
    return operations(value) if name.endswith("iops") else transfer(value)


def rates_in_words(rates: DiskRates) -> str:
    """`read 100 MB/s, 2,000 IOPS; write 100 MB/s, 2,000 IOPS`, leaving out what is not known."""
    read = rate_pair(rates.read_bytes_per_second, rates.read_iops)
    write = rate_pair(rates.write_bytes_per_second, rates.write_iops)
    if read and read == write:
        return _("read and write {rates}", rates=read)
    parts = [_("read {rates}", rates=read)] if read else []
    parts += [_("write {rates}", rates=write)] if write else []
    return clauses(parts)


def rate_pair(bytes_per_second: float | None, iops: float | None) -> str:
    """`100 MB/s, 2,000 IOPS`, leaving out what is not known."""
    parts = [transfer(bytes_per_second)] if bytes_per_second is not None else []
    parts += [operations(iops)] if iops is not None else []
    return row(parts)
