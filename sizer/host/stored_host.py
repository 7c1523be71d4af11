"""What the host.json of a study folder says of the machine that measured, without looking at the one that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizer.files.codec import FormatError, from_json


@dataclass(frozen=True)
class Virtualization:
    """The hypervisor of a virtual machine, None on bare metal, and whether this is a container."""

    hypervisor: str | None
    container: bool


@dataclass(frozen=True)
class Installed:
    """Where the programs of a framework run: the interpreter, its version, and those of what they import."""

    framework: str
    path: str
    python: str
    packages: dict[str, str]


def installed_of(host: Mapping[str, Any]) -> tuple[Installed, ...]:
    """What a stored host.json says of the frameworks of its study; none where it is of an older form."""
    entries = host.get("frameworks")
    try:
        return (
            tuple(from_json(Installed, entry, "frameworks") for entry in entries) if isinstance(entries, list) else ()
        )
    except FormatError:
        return ()
