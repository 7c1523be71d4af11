"""Why a run is made, and how it ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.domains import Batch, Bytes


class Purpose(str, Enum):
    """Why a run is made."""

    ASKED = "asked"
    """The study asks for its configuration."""
    REPEAT = "repeat"
    """The same again in a fresh process."""
    REFERENCE = "reference"
    """The reference configuration beyond its repeats, to see the host drift."""
    ISOLATES_STEP = "isolates_step"
    ISOLATES_PIPELINE = "isolates_pipeline"
    ISOLATES_DISK = "isolates_disk"
    """To show one stage of the workload alone."""
    TWO_EPOCHS = "two_epochs"
    """To show what the page cache serves where memory holds half of the data."""
    FLOOR_SEARCH = "floor_search"
    """To see for a few seconds whether a memory cap holds. Near the floor the kernel drops and reads again what it can,
    so such a run may be slow: its rate says nothing of the workload."""
    BATCH_SEARCH = "batch_search"
    """To see in a few steps whether a batch fits into memory: too few for a rate that counts."""


ISOLATED_STAGES: dict[Purpose, str] = {
    Purpose.ISOLATES_STEP: "step",
    Purpose.ISOLATES_PIPELINE: "pipeline",
    Purpose.ISOLATES_DISK: "disk",
    Purpose.TWO_EPOCHS: "cache",
}
"""The stage that a run shows by itself, by its purpose."""


SEARCHES = frozenset({Purpose.FLOOR_SEARCH, Purpose.BATCH_SEARCH})
"""Purposes of runs that show whether something fits into memory, and no rate."""


class Outcome(str, Enum):
    """How a run ended."""

    COMPLETED = "completed"
    OUT_OF_MEMORY = "out_of_memory"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"
    UNSUPPORTED = "unsupported"
    REFUSED = "refused"


FAULTS = frozenset({Outcome.CRASHED, Outcome.TIMEOUT, Outcome.UNSUPPORTED, Outcome.REFUSED})
"""Outcomes of runs from which nothing is learnt; out_of_memory is a finding."""


FINDINGS = frozenset({Outcome.COMPLETED, Outcome.OUT_OF_MEMORY})
"""Outcomes that say something of their own configuration, and that a model learns from."""


class MemoryPlace(str, Enum):
    """Whose memory ran out."""

    HOST = "host"
    GPU = "gpu"


class SearchEnd(str, Enum):
    """Why the search for the largest batch ended, or that there was none."""

    CLOSE = "close"
    """The largest that completed and the smallest that ran out of memory are within a tenth of each other."""
    NOTHING_FITS = "nothing_fits"
    """A batch of one ran out of memory."""
    MOST_TRIED = "most_tried"
    """The largest batch that was to be tried completed."""
    WHOLE_DATA = "whole_data"
    """A larger batch would be more than the data set has."""
    TOO_SLOW = "too_slow"
    """The batch `failed` did not make enough steps in its time, which says nothing of memory."""
    CRASHED = "crashed"
    """The batch `failed` crashed, which says nothing of memory."""
    MOST_RUNS = "most_runs"
    """So many runs were made."""
    UNFINISHED = "unfinished"
    """A run is left to be made."""
    NOT_SEARCHED = "not_searched"
    """Only the runs of the study show it."""


@dataclass(frozen=True)
class LargestBatch:
    """The largest batch that completed and the smallest above it that ran out of memory, and of which memory.

    `memory_bytes` is the cap of host memory that they had, None where it was not limited, or it may be that of an
    accelerator which ran out; `gpu` names that one, where it is known. `failed` is the batch that ended the search
    otherwise.
    """

    batch_size: Batch | None
    too_large: Batch | None
    where: MemoryPlace | None
    memory_bytes: Bytes | None
    ended: SearchEnd
    gpu: str | None = None
    failed: Batch | None = None
    pipeline_alone: bool = False
