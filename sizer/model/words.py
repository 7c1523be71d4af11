"""How an accelerator and a disk are called in a sentence."""

from __future__ import annotations

from sizer.records import HOST_DISK, Device


def accelerator(device: Device) -> str:
    """`accelerator`, or `emulated P100`: what was emulated is never named without saying so."""
    return f"emulated {device.gpu or 'accelerator'}" if device.kind == "emulated" else "accelerator"


def disk(name: str) -> str:
    """The tier's name, or `the host's own disk` where none was asked for."""
    return "the host's own disk" if name == HOST_DISK else name
