"""What could be changed instead of renting more, and whether a faster disk would help: each with what speaks for it."""

from __future__ import annotations

from sizer.recommend.instead import Change, ChangeKind
from sizer.records.configuration import Bottleneck, Estimate
from sizer.records.kinds import PREPROCESSING
from sizer.records.units import format_bytes, format_number
from sizer.words.figures import brief, change, operations, small_share, transfer, volume
from sizer.words.language import _
from sizer.words.names import Terms, resource_name
from sizer.words.units import a_sample, percent

NOTHING = 0.005
"""A gain that would be written as nothing."""
LITTLE = 0.05
"""A gain for which nobody buys a disk."""


def change_named(found: Change, kind: str) -> str:
    """What would be done; `kind` is that of the workload."""
    figures = found.figures
    if found.kind is ChangeKind.DECODER and kind == PREPROCESSING:
        return _("Decode, resize and encode in half the CPU time")
    if found.kind is ChangeKind.FORMAT:
        return _("{format} instead of {other}", format=figures["format"], other=figures["other"])
    if found.kind is ChangeKind.BATCH:
        return _("Batch {size}", size=format_number(_number(found, "batch")))
    if found.kind is ChangeKind.IN_MEMORY:
        return _("All of the data in memory: {size}", size=format_bytes(_number(found, "memory")))
    return {
        ChangeKind.LOADER_WORKERS: _("Twice as many loader workers"),
        ChangeKind.WAITING: _("More loader workers"),
        ChangeKind.LARGE_READS: _("Files packed into one that is read in large pieces (RecordIO, LMDB)"),
        ChangeKind.DECODER: _("Decode in half the CPU time: smaller images, or a faster decoder"),
    }[found.kind]


def change_evidence(found: Change, terms: Terms) -> str:
    """What was seen that speaks for it."""
    if found.kind is ChangeKind.LOADER_WORKERS:
        return _("A worker waits for the disk {share} of its time.", share=_share(found, "waits"))
    if found.kind is ChangeKind.WAITING:
        return _(
            "The job waits for its input {waits} of the time, while nothing is busy for more than {busy} of it.",
            waits=_share(found, "waits"),
            busy=_share(found, "busy"),
        )
    if found.kind is ChangeKind.LARGE_READS:
        return _(
            "It reads {size} at a time, so the disk's {iops} bind before its MB/s do.",
            size=volume(_number(found, "size")),
            iops=operations(_number(found, "iops")),
        )
    if found.kind is ChangeKind.FORMAT:
        return _("Measured at the same configuration: workload {name}.", name=found.figures["workload"])
    if found.kind is ChangeKind.BATCH:
        return _batch_evidence(found)
    if found.kind is ChangeKind.IN_MEMORY:
        return _(
            "From the second epoch on nothing is read: {data} of data and {own} that the job itself needs.",
            data=volume(_number(found, "data")),
            own=format_bytes(_number(found, "own")),
        )
    cost = a_sample(brief(_number(found, "seconds")), terms.unit)
    return _("Decoding is {share} of its CPU time of {cost}.", share=_share(found, "share"), cost=cost)


def _batch_evidence(found: Change) -> str:
    if found.figures.get("seen") is None:
        return _("Runs with several batch sizes show how they scale.")
    return _(
        "From batch {before} to {now} it gained {gain}.",
        before=format_number(_number(found, "before")),
        now=format_number(_number(found, "now")),
        gain=small_share(_number(found, "seen")),
    )


def gain_in_words(found: Change) -> str:
    """`+23 % (+12 % to +35 %)`, or that it is a bound."""
    if found.at_most:
        return _("at most {gain}", gain=change(found.gain.value))
    low, high = change(max(found.gain.low, 0.0)), change(found.gain.high)
    if low == high:
        return change(found.gain.value)
    return _("{gain} ({low} to {high})", gain=change(found.gain.value), low=low, high=high)


def then_bound(found: Change, now: Bottleneck | None, terms: Terms) -> str:
    """What holds it back after the change, where that is something else."""
    if found.then is None or found.then in (now, Bottleneck.AMBIGUOUS):
        return ""
    return _("then bound by: {resource}", resource=resource_name(found.then, terms.device))


def no_change(least: float, unsure: str = "", gain: str = "") -> str:
    """That nothing is worth changing; or the best of what the runs are too rough to show."""
    if unsure:
        return _(
            "No change gains for sure. The most, {gain}, may come from this one: {change}.",
            gain=gain,
            change=unsure,
        )
    return _("None of the changes that these runs can judge would gain more than {share}.", share=percent(least))


def disk_question() -> str:
    return _("Would a faster disk help?")


def disk_answer(gained: Estimate) -> str:
    """How much a disk on which nothing waits would gain at the answer."""
    if gained.high < NOTHING:
        return _("No: it would gain nothing.")
    high = percent(gained.high)
    if gained.value < NOTHING and gained.high < LITTLE:
        return _("No: it would gain nothing, at the very most {high}.", high=high)
    if gained.value < NOTHING:
        return _("Probably not: it would gain nothing, but these runs leave up to {high} open.", high=high)
    if gained.low < NOTHING:
        return _("Perhaps: by {gain}, at the very most {high}.", gain=small_share(gained.value), high=high)
    return _(
        "Yes: up to {gain} ({low} to {high}).",
        gain=small_share(gained.value),
        low=small_share(gained.low),
        high=high,
    )


def disk_reading(share: float, needed: float, given: float, by_requests: bool, measured: bool) -> str:
    """How it is known: what the job asks of the disk beside what that gives."""
    asked, has = (operations(needed), operations(given)) if by_requests else (transfer(needed), transfer(given))
    if share < NOTHING:
        return _("At the answer it reads next to nothing from the disk.")
    known = {"share": percent(min(share, 1.0)), "asked": asked, "has": has}
    if measured:
        return _(
            "At the answer the disk is busy {share} of the time: it reads {asked}, and fio measured {has} on it.",
            **known,
        )
    return _("At the answer the disk is busy {share} of the time: it reads {asked}, and can give {has}.", **known)


def disk_reads_nothing() -> str:
    return _("No: the data is read from memory.")


def disk_other(disk: str, gained: Estimate) -> str:
    """What the best other disk gains, where no figures of disks are known."""
    if gained.value < -NOTHING:
        lost = small_share(-gained.value)
        return _("Not known: no faster disk was measured; {disk} is slower by {lost}.", disk=disk, lost=lost)
    if gained.value < NOTHING:
        return _("Hardly: on {disk}, the best other disk measured, it runs as fast.", disk=disk)
    if gained.low < NOTHING:
        most = percent(gained.high)
        return _(
            "Perhaps: {disk} gains {gain}, at the very most {high}.",
            disk=disk,
            gain=small_share(gained.value),
            high=most,
        )
    return _("Yes: {disk} gains {gain}.", disk=disk, gain=small_share(gained.value))


def _number(found: Change, name: str) -> float:
    figure = found.figures[name]
    if not isinstance(figure, (int, float)):
        raise TypeError(f"{found.kind.value}: {name} is {figure!r}, not a number")
    return float(figure)


def _share(found: Change, name: str) -> str:
    return percent(_number(found, name))
