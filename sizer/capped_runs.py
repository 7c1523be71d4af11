"""Runs that differ from one another in their memory cap alone, and follow from what other runs showed. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sizer.records import RunSpec


@dataclass(frozen=True)
class CappedRuns:
    """`base` under one memory cap or another, none of which is above `most_bytes`."""

    base: RunSpec
    most_bytes: int

    def at(self, cap: int) -> RunSpec:
        """The run with this cap."""
        return replace(self.base, limits=replace(self.base.limits, memory_bytes=cap))

    def includes(self, spec: RunSpec) -> bool:
        """Whether a run is one of these, under whatever cap."""
        return replace(spec, limits=replace(spec.limits, memory_bytes=None)) == self.base
