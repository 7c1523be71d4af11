"""What a reader must know of a run's figures, one sentence each, which travels with the run. Pure.

The word before the colon is the kind; reports group by it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sizer.analysis.epochs import Epochs
from sizer.analysis.stopping import Stop
from sizer.records import Run, format_bytes, format_share

CONTENDED_CORES = 0.05
"""Cores used by something else on the host from which a run is marked."""

STOLEN_CORES = 0.05
"""Cores withheld by the hypervisor from which a run is marked."""

RESIDENT_SHARE = 0.02
"""Share of the data set still in the page cache before a run from which it is marked."""

THROTTLED_SHARE = 0.05
"""Share of throttled periods from which a run is marked."""

AMPLIFIED = 1.1
"""Device bytes over bytes asked for from which a run is marked: less is rounding to pages."""

UNWRITTEN_BYTES = 16 << 20
"""Bytes that wait to be written past a throttle from which a run is marked; preprocessing syncs every 4 MiB."""

OVERHEAD = 0.01
"""sizer's own core-seconds over the workload's from which a run is marked."""


EPOCHS = {
    Epochs.FIRST: "first epoch only: no later epoch was reached before the run ended, so the cache was not in use yet",
    Epochs.UNTOLD: "no epochs told: the program does not say when an epoch ends, so this may be the rate of its first",
    Epochs.PART: "part of an epoch: the run ended inside its second epoch; the cache serves more at the start of one",
}
"""What stands for the whole later epochs that were asked for."""


UNSETTLED = (
    "unsettled: the rate moved too slowly, or stalled too seldom, for this run to tell how far it may be off; "
    "measure for more seconds"
)
"""What is said where the interval may well miss."""


JOINED = (
    "steps joined: the program made so many steps that each one kept stands for {} of them; writing an event costs it "
    "up to 0.1 ms, so let one event stand for several steps"
)
"""What is said of a run with more steps than are kept."""


def run_warnings(run: Run, epochs: Epochs, settled: bool = True, calls: int = 1) -> tuple[str, ...]:
    """The warnings of a completed run, from what its record holds, the epochs that its rate stands on, whether its
    interval can be trusted, and how many of the program's steps each kept one stands for."""
    found = [sentence for part in (_host, _limits, _memory, _disk, _length) for sentence in part(run)]
    found += [] if settled else [UNSETTLED]
    found += [JOINED.format(calls)] if calls > 1 else []
    return (*found, EPOCHS[epochs]) if epochs in EPOCHS else tuple(found)


def _host(run: Run) -> Iterator[str]:
    if run.other_cores is not None and run.other_cores > CONTENDED_CORES:
        yield f"contended: something else on this host used {run.other_cores:.2f} cores meanwhile"
    if run.stolen_cores is not None and run.stolen_cores > STOLEN_CORES:
        yield f"stolen: the hypervisor gave {run.stolen_cores:.2f} cores to others meanwhile"
    if run.overhead is not None and run.overhead > OVERHEAD:
        yield f"overhead: sizer itself used {format_share(run.overhead, 1)} of the workload's core-seconds"


def _limits(run: Run) -> Iterator[str]:
    """A quota, which only a fraction of a vCPU has, holds a run back in slices."""
    if run.throttled is None or run.throttled <= THROTTLED_SHARE:
        return
    vcpus = run.configuration.vcpus
    assert vcpus is not None, "only an imported run lacks it"
    waiting = ", and threads that wait for each other lose more than that" if vcpus > 1 else ""
    yield (
        f"throttled: {format_share(run.throttled)} of CPU periods used up the quota of {vcpus:g} vCPU, "
        f"so it ran in slices: latencies are not those of a slower CPU{waiting}"
    )


def _memory(run: Run) -> Iterator[str]:
    if run.data_set and run.resident_bytes and run.resident_bytes > RESIDENT_SHARE * run.data_set.bytes:
        share = format_share(run.resident_bytes / run.data_set.bytes)
        yield f"page cache warm: {share} of the data was resident before"
    if run.peak_swap_bytes:
        yield f"swapped: up to {format_bytes(run.peak_swap_bytes)} of its memory was in swap"
    growth = run.memory_growth
    if growth is not None and growth.rising:
        more = growth.anonymous_bytes_per_step.value * 1000
        yield (
            f"memory rising: anonymous memory still rose at the end, by {format_bytes(max(0.0, more))} in 1,000 steps; "
            "a longer run needs more"
        )


def _disk(run: Run) -> Iterator[str]:
    used = run.demand
    if used and used.asked_bytes and used.read_bytes and used.read_bytes > AMPLIFIED * used.asked_bytes:
        yield f"read amplified: the device gave {used.read_bytes / used.asked_bytes:.2f} bytes for each byte asked for"
    if run.limits_buffered_writes is False and (run.unwritten_bytes or 0) > UNWRITTEN_BYTES:
        yield (
            f"writes unlimited: up to {format_bytes(run.unwritten_bytes or 0)} waited in the page cache, where this "
            "kernel's throttle does not see them; let the program sync as it writes"
        )
    change = run.rate_change
    if change is not None:
        yield (
            f"two rates: {change.before.value:.4g} {run.sample_unit}s/s for {change.seconds:.0f} s, "
            f"then {change.after.value:.4g}; the later rate counts"
        )


def _length(run: Run) -> Iterator[str]:
    throughput, seconds = run.throughput, run.measured_seconds or 0.0
    if throughput is not None and throughput.value > 0:
        half, asked = throughput.relative_half_width, run.spec.measure.precision
        if half > asked:
            wanted = format_share(asked, 1)
            yield f"imprecise: ±{format_share(half, 1)} after {seconds:.0f} s, where ±{wanted} was asked for"
    if run.stopped == Stop.DEADLINE.value:
        yield f"short: stopped at the deadline after {seconds:.0f} s of steady state"
