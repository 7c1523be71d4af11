"""What is concluded about the batch size of a workload: the efficiency curve, and the largest batch that fits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sizer.records.configuration import Configuration, Estimate
from sizer.records.domains import Batch, Bytes, Count, Rate
from sizer.records.run_kinds import MemoryPlace


class StepFit(str, Enum):
    """Whether the time of a step is launch + slope x batch, as far as the runs show it."""

    AFFINE = "affine"
    """Three batch sizes or more lie on such a line, as near as the runs are exact."""
    UNTESTED = "untested"
    """Two batch sizes, through which a line always goes."""
    NOT_AFFINE = "not_affine"
    """They do not lie on one."""


@dataclass(frozen=True)
class BatchPoint:
    """What one batch size gave: the median rate of its runs, and the seconds that a sample and a step took by it.

    `throughput` has the 90 % interval of that median. `peak_bytes` is the most memory of its runs that cannot be
    dropped, None where it was not accounted.
    """

    batch_size: Batch
    throughput: Estimate
    seconds_per_sample: Rate
    step_seconds: Rate
    runs: Count
    peak_bytes: Count | None = None


@dataclass(frozen=True)
class BatchCurve:
    """Seconds a sample against the batch size, where nothing but the batch differs; `at` has the smallest batch.

    The time of a step is `launch` + `slope` x batch, in seconds and seconds a sample, with 90 % intervals; an interval
    that is no wider than its value is not known. Both are None where the line does not fit. `samples_per_batch` is how
    many samples a step has for each one of its batch (35 words, 1 image). `enough` is the smallest batch within 5 % of
    the best rate, and `open` are smaller ones that may be, too, as far as the runs tell; `sure` is whether `enough`
    itself surely is. `rising`: by the line a larger batch than all measured gains more than that, and `beyond` would be
    within 5 % of what it tends to. `emulated`: the accelerator's part of a step was not measured but waited for.
    """

    at: Configuration
    points: tuple[BatchPoint, ...]
    samples_per_batch: Rate
    fit: StepFit
    launch: Estimate | None
    slope: Estimate | None
    best: Batch
    enough: Batch
    sure: bool
    open: tuple[Batch, ...] = ()
    rising: bool = False
    beyond: Count | None = None
    emulated: bool = False


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


@dataclass(frozen=True)
class BatchAdvice:
    """Which batch size: the curve at the answer or nearest to it, those at other places, and what fits.

    `batch_size` is the one that is recommended: the smallest within 5 % of the best rate, of those that are not known
    not to fit. `memory_bytes` is the memory that it asks for, None where no run tells it.
    """

    batch_size: Batch | None = None
    memory_bytes: Bytes | None = None
    curves: tuple[BatchCurve, ...] = ()
    largest: LargestBatch | None = None
