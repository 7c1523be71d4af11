"""What several commands say of a study."""

from __future__ import annotations

from sizer.records import Study


def emulated_disks(study: Study) -> frozenset[str]:
    """The names of the disks of a study that are emulated."""
    return frozenset(tier.name for tier in study.disks if tier.emulated is not None)
