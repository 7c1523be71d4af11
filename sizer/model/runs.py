"""The runs of one workload as the model takes them: the whole job or one stage, its feed, its accelerator, gaps.

And what searches for its memory floor and its largest batch found, and why they ended.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sizer.model.model import (
    CPU_LABEL,
    MARGIN,
    WITHIN,
    Bounds,
    Feed,
    GivenUp,
    GivenUpKind,
    MeasuredRange,
    SearchedFloor,
    WorkloadFacts,
    gpus_of,
    memory_of,
    vcpus_of,
)
from sizer.records.device import HOST_DISK
from sizer.records.prediction import Configuration
from sizer.records.run_kinds import SEARCHES, LargestBatch, MemoryPlace, Outcome, Purpose, SearchEnd

if TYPE_CHECKING:
    from sizer.records.run import Run
    from sizer.records.study import Limits, RunSpec

REPLAY = "replay"
"""The input of runs that read the files as the loader does, and do nothing with them."""
INPUTS = ("disk", "cached", "synthetic")
"""The whole job is the one that does most: rates without reading or decoding answer for no job that has to."""
CACHES = ("cold", "natural", "warm")
HOST_ALONE = ("cpu", "emulated")
"""Devices that have no memory of their own."""
AXES = ("vcpus", "memory_bytes", "disk", "batch_size")
LOST = 0.15
"""Share of its vCPUs that a run may lack. By hand: on a quiet host a loader whose threads work in bursts waits for a
CPU for up to 0.4 of the time without filling its own, but then nobody else uses any."""
FULL = 0.9
"""Share of the host's CPUs that are in use where it is full."""


MOST_RUNS = 16
"""Runs of one search. For a floor it takes 3 or 4 with an anonymous peak to start from, without one about 10; from a
batch of 32 to one of 96 four, to a batch of some thousands about ten."""
HELD_STEPS = 5
"""Steps after which memory has held although the run's time was up. The first one does not show it: what the optimiser
keeps and the pipeline prepares ahead comes after it. SqueezeNet's training with MXNet under 2 GiB was killed at a batch
of 64 in its second step, and at 60 in its fourth."""


def is_search(run: Run) -> bool:
    """Whether a run was made to see whether it fits into memory, and not how fast it is."""
    return run.spec.purpose in SEARCHES


def is_batch_search(run: Run) -> bool:
    """Whether a run was made to see whether its batch fits."""
    return run.spec.purpose is Purpose.BATCH_SEARCH


def is_floor_search(run: Run) -> bool:
    """Whether a run was made by a search for the memory floor."""
    return run.spec.purpose is Purpose.FLOOR_SEARCH


def isolates(run: Run) -> bool:
    """Whether a run shows one stage alone, whatever else was measured."""
    return run.spec.stage is not None or run.spec.workload.input == REPLAY


def as_asked(runs: Iterable[Run]) -> tuple[Run, ...]:
    """The runs that were made to show the rate of their workload as asked for: no search, and no stage of it."""
    return tuple(run for run in runs if not is_search(run) and not isolates(run))


def end_to_end(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The runs of one workload that predictions are about; none where all of them isolate a stage.

    A run that was planned to isolate a stage says so. Of the others, which may be somebody else's, it is those of the
    input that does most, however few they are, and of its cache states the one with the most configurations. Never a
    replay.
    """
    places: dict[Feed, set[Configuration]] = defaultdict(set)
    for run in runs:
        if not isolates(run):
            places[feed_of(run)].add(run.configuration)
    main = max(
        places, key=lambda feed: (-INPUTS.index(feed.input), len(places[feed]), -CACHES.index(feed.cache)), default=None
    )
    return tuple(run for run in runs if not isolates(run) and feed_of(run) == main)


def feed_of(run: Run) -> Feed:
    """What the run was fed with."""
    return Feed(run.spec.workload.assumed_input, run.spec.workload.assumed_cache)


def made_alike(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs of each workload, feed and configuration together, in the order of the first of each."""
    alike: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        alike[run.spec.workload.name, feed_of(run), run.configuration].append(run)
    return list(alike.values())


def label_of(run: Run) -> str | None:
    """How the accelerator of a run is named: its name, else its device; None where the CPU computes."""
    if run.configuration.gpu is not None:
        return run.configuration.gpu
    device = run.spec.workload.computes_on
    if device.kind == "cpu":
        return "accelerator" if gpus_of(run.configuration) else None
    return device.label


def label_at(facts: WorkloadFacts, configuration: Configuration) -> str:
    """How the accelerator of a configuration is called where none, too, has a label."""
    return configuration.gpu or facts.accelerator or CPU_LABEL


def labelled(runs: Sequence[Run]) -> list[Run]:
    """The runs with their accelerator in the configuration where they used several kinds of it.

    Where some rows of a table say how many accelerators there were, the others had as many as their device says; where
    some runs of a study had several, the others had one.
    """
    least = 1 if any(run.spec.gpu_count > 1 for run in runs) else 0
    if least or any(run.configuration.gpu_count is not None for run in runs):
        runs = [_at(run, gpu_count=max(least if label_of(run) else 0, gpus_of(run.configuration))) for run in runs]
    if len({label_of(run) for run in runs}) < 2:
        return list(runs)
    return [_at(run, gpu=label_of(run) or CPU_LABEL) for run in runs]


def _at(run: Run, **values: Any) -> Run:
    return replace(run, configuration=replace(run.configuration, **values))


def with_usual_accelerator(measured: MeasuredRange, configuration: Configuration) -> Configuration:
    """The same with the usual accelerator, and the usual number of it, where the question names none."""
    if not measured.gpus:
        return configuration
    usual = measured.gpus[0]
    named = any(gpus.gpu is not None for gpus in measured.gpus)
    label = configuration.gpu if configuration.gpu is not None and named else usual.gpu
    count = gpus_of(configuration) or next((gpus.count for gpus in measured.gpus if gpus.gpu == label), usual.count)
    if (label, count) == (configuration.gpu, configuration.gpu_count):
        return configuration
    return replace(configuration, gpu=label, gpu_count=count)


def without_gaps(runs: Sequence[Run]) -> list[Run]:
    """The runs that can be fitted together: each says all of the axes that differ between those that say them.

    An axis that has one value, where it is known at all, needs no curve: there it is known of none, and no run is left
    out for it. Where every run lacks some axis that differs, the one that is known least is known of none, too.
    """
    values = {axis: [_value(run, axis) for run in runs] for axis in AXES}
    partly = [axis for axis in AXES if None in values[axis] and len(set(values[axis])) > 1]
    unused = [axis for axis in partly if len(set(values[axis])) == 2]
    needed = sorted(set(partly) - set(unused), key=lambda axis: (-values[axis].count(None), axis))
    while not (whole := [run for run in runs if all(_value(run, axis) is not None for axis in needed)]) and needed:
        unused.append(needed.pop(0))
    return [_at(run, **dict.fromkeys(unused)) for run in whole] if unused else whole


def _value(run: Run, axis: str) -> object:
    if axis == "disk" and run.configuration.disk is None and run.spec.workload.input in ("cached", "synthetic"):
        return HOST_DISK  # nothing is read from any
    return getattr(run.configuration, axis)


def is_starved(run: Run) -> bool:
    """Whether others had a part of its vCPUs, so that its rate is no more than a lower bound: they used CPUs, it did
    not fill its own, and it waited for one: by the kernel's PSI `some`, which a quota that was used up explains, too,
    and by steal; else where the host was full."""
    if run.throughput is None or run.demand is None or not run.demand.core_seconds:
        return False
    vcpus, rate, stall = vcpus_of(run.configuration), run.throughput.value, run.demand.cpu_stall
    used, stolen = rate * run.demand.core_seconds, run.conditions.stolen_cores or 0.0
    others = (run.conditions.other_cores or 0.0) + stolen
    cpus = run.limited_by.host_cpus if run.limited_by is not None else None
    if stall is not None:
        waited = rate * stall + stolen / vcpus
    else:
        waited = 1.0 if cpus is not None and used + others >= FULL * cpus else 0.0
    return min(waited, 1 - used / vcpus, others / vcpus) >= LOST


def same_floor(spec: RunSpec, other: RunSpec) -> bool:
    """Whether a cap that holds for one run holds for the other: workload, batch and share of vCPUs are the same."""
    mine, its = (
        (planned.workload, planned.batch_size, planned.gpu_count, planned.limits.vcpus) for planned in (spec, other)
    )
    return mine == its


def searched_floor(runs: Sequence[Run]) -> SearchedFloor | None:
    """What the latest search among the stored runs of a workload found; None if there was none."""
    latest = max(filter(is_floor_search, runs), key=lambda run: run.started_at or "", default=None)
    if latest is None:
        return None
    here = [run for run in runs if same_floor(run.spec, latest.spec)]
    return floor_from(here, [run for run in here if is_floor_search(run)])


def floor_from(here: Sequence[Run], own: Sequence[Run]) -> SearchedFloor:
    """What all runs `here`, at the place of a search, and its `own` among them say.

    Without swap a cap near the floor makes a run slow before it is killed: a run of the search that timed out was too
    small if a larger cap completed; else nothing shows that its cap was the reason.
    """
    killed, slow = caps(here, Outcome.OUT_OF_MEMORY), too_slow(here, own)
    floor = bounds(caps(here, Outcome.COMPLETED), [*killed, *slow])
    return SearchedFloor(
        floor,
        timed_out=floor.too_small is not None and floor.too_small > max(killed, default=0),
        given_up=None if floor.close else _given_up(own, slow),
        pipeline_alone=any(run.spec.workload.computes_on.kind == "emulated" for run in here),
    )


def too_slow(here: Sequence[Run], own: Sequence[Run]) -> list[int]:
    """The caps in bytes at which a run of the search timed out and above which a run completed."""
    most = max(caps(here, Outcome.COMPLETED), default=0)
    return [cap for cap in caps(own, Outcome.TIMEOUT) if cap < most]


def _given_up(own: Sequence[Run], slow: Sequence[int]) -> GivenUp | None:
    for run in own:
        (cap,) = caps([run], run.outcome)
        if run.outcome is Outcome.CRASHED:
            return GivenUp(GivenUpKind.CRASHED, cap)
        if run.outcome is Outcome.TIMEOUT and cap not in slow:
            return GivenUp(GivenUpKind.TIMED_OUT, cap)
    return GivenUp(GivenUpKind.MOST_RUNS, len(own)) if len(own) >= MOST_RUNS else None


def bounds(held: Iterable[int], too_small: Iterable[int]) -> Bounds:
    """The bounds of the floor by all caps that were tried: one that held once and was killed once is too small."""
    failed = max(too_small, default=None)
    return Bounds(failed, min((cap for cap in held if failed is None or cap > failed), default=None))


def caps(runs: Iterable[Run], outcome: Outcome) -> list[int]:
    """The memory in bytes of the runs that ended so; a run without a cap had the host's."""
    return [memory_of(run.configuration) for run in runs if run.outcome is outcome]


@dataclass(frozen=True)
class Tried:
    """Batches of one accelerator that held and that ran out of memory at one place, and the run of the search that
    showed neither."""

    held: tuple[int, ...] = ()
    too_large: tuple[tuple[int, MemoryPlace | None], ...] = ()
    stopped: Run | None = None
    runs: int = 0

    @property
    def failed(self) -> int | None:
        """The smallest batch that ran out of memory; one that held once and ran out once is too large."""
        return min((batch for batch, _ in self.too_large), default=None)

    @property
    def largest(self) -> int | None:
        """The largest batch below it that held."""
        return max((batch for batch in self.held if self.failed is None or batch < self.failed), default=None)

    @property
    def close(self) -> bool:
        """Whether a batch between the two is not worth a run, or there is none."""
        low, high = self.largest or 0, self.failed
        return high is not None and high <= max(WITHIN * low, low + 1)


def tried(runs: Iterable[Run], base: RunSpec) -> Tried:
    """What the runs say of batches at the place of `base`: its workload, vCPUs and memory cap."""
    alike = [run for run in runs if run.spec.workload == base.workload and _place(run.spec) == _place(base)]
    cap = base.limits.memory_bytes
    whole = [run for run in alike if run.spec.stage is None and run.spec.purpose is not Purpose.FLOOR_SEARCH]
    own = [run for run in alike if is_batch_search(run) and run.spec.limits.memory_bytes == cap]
    held = [run for run in whole if _held(run) and _fits(run, cap)]
    too_large = [run for run in whole if _ran_out(run, cap)]
    other = [run for run in own if not _held(run) and run.outcome in (Outcome.CRASHED, Outcome.TIMEOUT)]
    return Tried(
        tuple(sorted({run.spec.batch_size for run in held})),
        tuple(sorted({run.spec.batch_size: run.ran_out_of for run in too_large}.items())),
        min(other, key=lambda run: run.spec.batch_size, default=None),
        len(own),
    )


def _place(spec: RunSpec) -> tuple[Limits, int]:
    """What must be the same of two runs beside their workload: which disk the data came from fills no memory."""
    return replace(spec.limits, memory_bytes=None, disk=None), spec.gpu_count


def is_bound(run: Run) -> bool:
    """Whether a run was only too slow for the search that made it: that ends the search, and nothing has failed."""
    return is_batch_search(run) and run.outcome is Outcome.TIMEOUT


def whole_data(runs: Sequence[Run]) -> int | None:
    """The largest batch of one accelerator that the data set of these runs can fill; None where no run shows it."""
    shown = []
    for run in runs:
        samples = run.data_set.samples if run.data_set is not None else 0
        samples_of_one = run.steps[-1].samples / run.spec.samples_a_step if run.steps else 0.0
        if samples and samples_of_one:
            shown.append(int(samples / (samples_of_one if samples_of_one == 1 else samples_of_one + 1)))
    return max(1, min(shown) // max(max(1, run.spec.gpu_count) for run in runs)) if shown else None


def largest_batch(runs: Sequence[Run], most: int = 0, unfinished: bool = False) -> LargestBatch | None:
    """What the latest search of a workload found; without one, what its own runs show. None where neither does.

    `most` is the largest batch that was to be tried, `unfinished` whether the search has a run left to be made.
    """
    latest = max(filter(is_batch_search, runs), key=lambda run: run.started_at or "", default=None)
    if latest is not None:
        seen = tried([run for run in runs if _accelerators(run) == _accelerators(latest)], latest.spec)
        return _largest(seen, latest, None if unfinished else unfinished_end(seen, runs, most))
    together: dict[object, list[Run]] = defaultdict(list)
    for run in runs:
        together[run.spec.workload, _place(run.spec), _accelerators(run)].append(run)
    killed = {  # each place once: a table may have very many rows that ran out of memory
        (alike, run.spec.limits.memory_bytes): run
        for alike, group in together.items()
        for run in group
        if _ran_out(run, None) and not is_search(run) and run.spec.batch_size > 1
    }
    places = [(tried(together[alike], run.spec), run) for (alike, _), run in killed.items()]
    decided = [(seen, run) for seen, run in places if seen.largest is not None and seen.failed is not None]
    if not decided:
        return None
    seen, run = max(decided, key=lambda place: (place[1].spec.limits.memory_bytes or 0, place[0].largest or 0))
    return _largest(seen, run, SearchEnd.NOT_SEARCHED)


def _accelerators(run: Run) -> tuple[str | None, int | None]:
    return run.configuration.gpu, run.configuration.gpu_count


def unfinished_end(seen: Tried, runs: Sequence[Run], most: int) -> SearchEnd | None:
    """Why a search is over; None where another run would show more."""
    if seen.failed == 1:
        return SearchEnd.NOTHING_FITS
    if seen.close:
        return SearchEnd.CLOSE
    if seen.largest is not None and seen.failed is None:
        limit = whole_data(runs)
        if limit is not None and limit <= seen.largest and limit < (most or 1):
            return SearchEnd.WHOLE_DATA
        if most and seen.largest >= most:
            return SearchEnd.MOST_TRIED
    if seen.stopped is not None:
        return SearchEnd.CRASHED if seen.stopped.outcome is Outcome.CRASHED else SearchEnd.TOO_SLOW
    return SearchEnd.MOST_RUNS if seen.runs >= MOST_RUNS else None


def _largest(seen: Tried, at: Run, ended: SearchEnd | None) -> LargestBatch:
    where = dict(seen.too_large).get(seen.failed or 0)
    device = at.spec.workload.computes_on
    alone = device.kind in HOST_ALONE and at.configuration.gpu is None
    of_gpu = where is MemoryPlace.GPU or (where is None and not alone)
    stopped = seen.stopped if ended in (SearchEnd.CRASHED, SearchEnd.TOO_SLOW) else None
    return LargestBatch(
        seen.largest,
        seen.failed,
        where,
        None if of_gpu else at.spec.limits.memory_bytes,
        ended or SearchEnd.UNFINISHED,
        gpu=at.configuration.gpu or device.gpu if of_gpu else None,
        failed=stopped.spec.batch_size if stopped is not None else None,
        pipeline_alone=device.kind == "emulated",
    )


def _held(run: Run) -> bool:
    """A run of the search whose time was up after a few steps held, too: only its rate is not known."""
    return run.outcome is Outcome.COMPLETED or (is_bound(run) and len(run.steps) >= HELD_STEPS)


def _fits(run: Run, cap: int | None) -> bool:
    """Whether a run that held shows that its batch does under this cap of the host's memory."""
    own = run.spec.limits.memory_bytes
    if cap is None or (own is not None and own <= cap):
        return True
    needed = (run.memory.peak_anonymous_bytes or 0) + (run.memory.peak_kernel_bytes or 0)
    return bool(run.memory.peak_anonymous_bytes) and MARGIN * needed <= cap


def _ran_out(run: Run, cap: int | None) -> bool:
    """Whether its batch does not fit under this cap: it ran out of the accelerator's memory, or of as much or more."""
    if run.outcome is not Outcome.OUT_OF_MEMORY:
        return False
    own = run.spec.limits.memory_bytes
    alone = run.spec.workload.computes_on.kind in HOST_ALONE
    elsewhere = run.ran_out_of is MemoryPlace.GPU or (run.ran_out_of is None and not alone)
    return elsewhere or cap is None or own is None or own >= cap
