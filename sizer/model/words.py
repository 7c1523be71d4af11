"""How an accelerator, a disk and the ends of runs are called in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from sizer.records import HOST_DISK, Device, Outcome


def accelerator(device: Device) -> str:
    """`accelerator`, or `emulated P100`: what was emulated is never named without saying so."""
    return f"emulated {device.gpu or 'accelerator'}" if device.kind == "emulated" else "accelerator"


def disk(name: str) -> str:
    """The tier's name, or `the host's own disk` where none was asked for."""
    return "the host's own disk" if name == HOST_DISK else name


def ended(outcomes: Iterable[Outcome]) -> str:
    """`5 crashed, 2 timed out`, in the order of the outcomes' list."""
    counted = Counter(outcomes)
    return ", ".join(f"{counted[each]} {each.words}" for each in Outcome if each in counted)
