"""Whether a correction explains away what a job itself does to its memory bus: one that fills it, at 0.5 to 2 vCPUs.

    python benchmarks/noise/saturation.py [--repeats 44] [--seconds 10] [--vcpus 0.5,1,2] [--keep FILE]
    python benchmarks/noise/saturation.py --runs FILE [FILE ...]

The job copies memory with as many threads as it has CPUs. Its runs have sizer's probe beside them, in blocks of one of
each size, and are corrected as those of a study. A look at the host takes some milliseconds each half second; between
two of them the run is undisturbed. So what looks take off it is told by the same process in the same moment, where
other runs would differ by a tenth: how many fewer copies there are in the 0.2 s after a look than in those before it,
beyond what the same says of moments between two looks. Printed are, of each size over the smallest:

- *undisturbed*: the ratio of rates, without what looks took.
- *by looks*: how far they moved the ratio, %.
- *moved*: how far the correction moved it, %.
- *corrected*: how far corrected ratios are off the undisturbed ones, which is both together, %.

Each with the 90 % interval that the blocks of repeats tell (jackknife: without one block after another everything is
corrected again). Of several files, each of which is a study by itself, everything is the mean, weighed by how sure each
is.

Aim: corrected ratios are those of the undisturbed run to 1 %. Exit status 0 where every interval of *corrected* lies
within 1 %, 1 where one lies beyond it, and 4 where the runs are too noisy to tell, or too few: more repeats would. It
is 4, too, where no run of a size has a look at the host, or none is corrected: what the others are is no bias then.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

sys.path += [str(Path(__file__).parents[1] / each) for each in ("shared", "grid")]
sys.path.append(str(Path(__file__).parents[2]))

from bench import opened
from grid_data import load_grid
from noise_scores import log_rate, repeat_differences
from scipy.stats import t as student

from sizer.files.codec import to_json
from sizer.model import without_host_noise
from sizer.records import Run, SizerError, Workload

MOST_OFF = 0.01
WITHIN, BEYOND, NOT_TOLD = 0, 1, 4
"""Exit status."""
AROUND = 0.2
"""Seconds before and after a look: two periods of a quota, long enough for caches to be filled again, and short of the
next look."""
BETWEEN = 0.25
"""Seconds before a look at which nothing happens, and the same is counted: a moment falls into a long step more often
than into a short one."""

Array = np.ndarray[Any, np.dtype[Any]]

JOB = Workload("copies", "command", command=(sys.executable, str(Path(__file__).with_name("memory_job.py"))))


@dataclass(frozen=True)
class Shift:
    """How far ln of a ratio is off another, and from where to where that may be."""

    middle: float
    low: float
    high: float


@dataclass(frozen=True)
class Looked:
    """A run, and by how much looks at the host changed ln of its rate."""

    run: Run
    by_looks: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=44)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--vcpus", default="0.5,1,2")
    parser.add_argument("--keep", type=Path, help="where the runs are written, for a second look")
    parser.add_argument("--runs", type=Path, nargs="+", help="runs that were kept, in the place of new ones")
    given = parser.parse_args()
    sizes = [float(each) for each in given.vcpus.split(",")]
    try:
        studies = (
            [load_grid(path) for path in given.runs] if given.runs else [measured(sizes, given.repeats, given.seconds)]
        )
    except SizerError as error:
        print(f"saturation: {error}")
        return error.exit_code
    if given.keep:
        given.keep.write_text("".join(f"{json.dumps(to_json(run))}\n" for runs in studies for run in runs))
    return show(sizes, [[Looked(run, by_looks(run)) for run in runs] for runs in studies])


def measured(sizes: Sequence[float], repeats: int, seconds: float) -> list[Run]:
    """Runs in blocks of one of each size. Raises SizerError."""
    runs = []
    with opened() as bench:
        for repeat in range(repeats):
            for size in sizes if repeat % 2 == 0 else sizes[::-1]:
                runs.append(bench.run(JOB, 1, size, seconds, repeat, probed=True))
                print(f"block {repeat + 1}, {size:g} vCPUs: {math.exp(log_rate(runs[-1])):.2f}", file=sys.stderr)
    return runs


def by_looks(run: Run) -> float:
    """By how much looks at the host changed ln of the rate of the run; nothing where there was none."""
    times = np.array([step.time for step in run.steps])
    done = np.cumsum([step.samples for step in run.steps])
    looks = [one.time for one, other in itertools.pairwise(run.samples) if other.probe_rounds > one.probe_rounds]
    within = [each for each in looks if times[0] <= each - BETWEEN - 2 * AROUND and each + AROUND <= times[-1]]
    if not within:
        return 0.0
    lost = _lost_after(np.array(within), times, done) - _lost_after(np.array(within) - BETWEEN, times, done)
    lost *= len(looks)
    return math.log1p(-lost / (done[-1] - done[0] + lost))


def _lost_after(moments: Array, times: Array, done: Array) -> float:
    """By how much fewer samples were done after one of these moments than before, in the mean: counted from the end of
    the step before, as the one that holds the moment may be the one that is held up."""
    ends = times[np.searchsorted(times, moments, side="right") - 1]
    before, at, after = (np.interp(ends + shift, times, done) for shift in (-AROUND, 0.0, AROUND))
    return float(np.mean((at - before) - (after - at)))


def show(sizes: Sequence[float], studies: Sequence[Sequence[Looked]]) -> int:
    """The table, and what it shows of the aim, as the exit status."""
    corrected = [without_host_noise([each.run for each in runs]) for runs in studies]
    looked = all(any(run.correction is not None for run in runs) for runs in corrected)
    print(f"over the rate of {sizes[0]:g} vCPUs; off the undisturbed ratio, % (90 % interval)")
    print(f"{'vCPUs':>6s} {'round ms':>8s} {'undisturbed':>11s}  {'by looks':24s} {'moved':24s} corrected")
    measures = moved_by_looks, moved_by, off_undisturbed
    looks, moved, both = (together([told_by_blocks(of, runs, sizes) for runs in studies]) for of in measures)
    undisturbed = [_over_the_first(lambda each: log_rate(each.run) - each.by_looks, runs, sizes) for runs in studies]
    for number, size in enumerate(sizes):
        probes = [each.run.probe for runs in studies for each in runs if _size(each) == size]
        costs = [1e3 * each.during for each in probes if each is not None and each.during is not None]
        looked &= bool(costs)
        ratio = math.exp(fmean(each[number] for each in undisturbed))
        line = f"{size:6g} {f'{median(costs):8.3f}' if costs else ' no look'} {ratio:11.3f}"
        shifts = [_in_percent(each[number]) for each in (looks, moved, both)] if number else []
        print("  ".join([line, *(f"{each:24s}" for each in shifts)]).rstrip())
    if not looked:
        print("nothing was corrected, which is no test of a correction")
    spread = [
        100 * median(difference for runs in every for difference in repeat_differences(runs))
        for every in ([[each.run for each in runs] for runs in studies], corrected)
    ]
    print(f"repeats differ by {spread[0]:.2f} % (median) as measured, {spread[1]:.2f} % corrected")
    found = judged(both[1:], looked)
    said = {WITHIN: "shown not to be so: ", BEYOND: "shown to be so: ", NOT_TOLD: "not shown whether "}
    print(f"{said[found]}a corrected ratio is off the undisturbed one by more than 1 %")
    return found


def together(studies: Sequence[Sequence[Shift]]) -> list[Shift]:
    """The means over the studies, each weighed by 1 over the square of its interval."""
    found = []
    for shifts in zip(*studies, strict=True):
        halves = [each.high - each.middle for each in shifts]
        if len(shifts) == 1 or not all(0 < half < math.inf for half in halves):
            found.append(shifts[0])
            continue
        weights = [half**-2 for half in halves]
        middle = sum(weight * each.middle for weight, each in zip(weights, shifts, strict=True)) / sum(weights)
        half = sum(weights) ** -0.5
        found.append(Shift(middle, middle - half, middle + half))
    return found


def judged(off: Sequence[Shift], looked: bool) -> int:
    """What the intervals of all shifts show; `looked` where runs of each size had a look at the host and some are
    corrected."""
    if not looked:
        return NOT_TOLD
    if any(each.low > MOST_OFF or each.high < -MOST_OFF for each in off):
        return BEYOND
    return WITHIN if all(each.low >= -MOST_OFF and each.high <= MOST_OFF for each in off) else NOT_TOLD


Off = Callable[[Sequence[Looked], Sequence[float]], list[float]]


def moved_by_looks(runs: Sequence[Looked], sizes: Sequence[float]) -> list[float]:
    """By how much looks moved ln of the rate of each size over that of the first."""
    return _over_the_first(lambda each: each.by_looks, runs, sizes)


def moved_by(runs: Sequence[Looked], sizes: Sequence[float]) -> list[float]:
    """By how much the correction moved it."""
    corrected = dict(zip(map(id, runs), without_host_noise([each.run for each in runs]), strict=True))
    return _over_the_first(lambda each: log_rate(corrected[id(each)]) - log_rate(each.run), runs, sizes)


def off_undisturbed(runs: Sequence[Looked], sizes: Sequence[float]) -> list[float]:
    """How far it is off the undisturbed one after both."""
    return [sum(each) for each in zip(moved_by_looks(runs, sizes), moved_by(runs, sizes), strict=True)]


def told_by_blocks(off: Off, runs: Sequence[Looked], sizes: Sequence[float]) -> list[Shift]:
    """With 90 % intervals, which are endless where there are fewer than three blocks."""
    blocks = {each.run.spec.repeat for each in runs}
    whole, count = off(runs, sizes), len(blocks)
    if count < 3:
        return [Shift(each, -math.inf, math.inf) for each in whole]
    without = [off(_in_blocks(runs, blocks - {block}), sizes) for block in blocks]
    times = float(student.ppf(0.95, count - 1)) * (count - 1) / math.sqrt(count)
    halves = [times * stdev(each) for each in zip(*without, strict=True)]
    return [Shift(each, each - half, each + half) for each, half in zip(whole, halves, strict=True)]


def _in_blocks(runs: Sequence[Looked], blocks: Collection[int]) -> list[Looked]:
    return [each for each in runs if each.run.spec.repeat in blocks]


def _over_the_first(of: Callable[[Looked], float], runs: Sequence[Looked], sizes: Sequence[float]) -> list[float]:
    means = [fmean(of(each) for each in runs if _size(each) == size) for size in sizes]
    return [each - means[0] for each in means]


def _size(each: Looked) -> float | None:
    return each.run.configuration.vcpus


def _in_percent(shift: Shift) -> str:
    return f"{100 * shift.middle:+.2f} ({100 * shift.low:+.2f} to {100 * shift.high:+.2f})"


if __name__ == "__main__":
    raise SystemExit(main())
