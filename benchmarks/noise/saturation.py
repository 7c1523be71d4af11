"""Whether a correction explains away what a job itself does to its memory bus: one that fills it, at 0.5 to 2 vCPUs.

    python benchmarks/noise/saturation.py [--repeats 4] [--seconds 6] [--long 30] [--vcpus 0.5,1,2]
    python benchmarks/noise/saturation.py --repeats 14 --seconds 10 --long 0

The job copies memory with as many threads as it has CPUs. Its short runs have sizer's probe beside them, and are
corrected as those of a study; its long runs have none. In each block of repeats comes one run of each size, and a part
of its long run between them, so that both see the same host; `--long 0` makes none and leaves the time to repeats.
Printed are the ratio of each size to the smallest, by the long runs, by the short ones as they were measured, and by
the corrected ones; and by how much the correction moved it, with the 90 % interval that the blocks tell (jackknife:
without one block after another everything is corrected again). Where there are long runs, it is also printed how far
the ratio of the short ones, as measured and corrected, is off theirs, with the same intervals.

Aim: the correction moves a ratio by 1 % at the most. Exit status 0 where every interval of that lies within 1 %, 1
where one lies beyond it, and 4 where the runs are too noisy to tell, or too few: more repeats would. It is 4, too,
where no run of a size has a look at the host, or none is corrected: what the others are is no bias then.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from statistics import fmean, median, stdev

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.append(str(Path(__file__).parents[2]))

from bench import opened
from noise_scores import log_rate, repeat_differences
from scipy.stats import t as student

from sizer.model import without_host_noise
from sizer.records import Run, SizerError, Workload

MOST_MOVED = 0.01
WITHIN, BEYOND, NOT_TOLD = 0, 1, 4
"""Exit status."""

Shift = tuple[float, float, float]
"""By how much a correction moved ln of a ratio, and from where to where that may be."""

JOB = Workload("copies", "command", command=(sys.executable, str(Path(__file__).with_name("memory_job.py"))))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--long", type=float, default=30.0)
    parser.add_argument("--vcpus", default="0.5,1,2")
    given = parser.parse_args()
    sizes = [float(each) for each in given.vcpus.split(",")]
    short: list[Run] = []
    long: list[Run] = []
    try:
        with opened() as bench:
            for repeat in range(given.repeats):
                for size in sizes if repeat % 2 == 0 else sizes[::-1]:
                    short.append(bench.run(JOB, 1, size, given.seconds, repeat, probed=True))
                    if given.long:
                        long.append(bench.run(JOB, 1, size, given.long / given.repeats, repeat))
                    print(f"block {repeat + 1}, {size:g} vCPUs: {math.exp(log_rate(short[-1])):.2f}", file=sys.stderr)
    except SizerError as error:
        print(f"saturation: {error}")
        return error.exit_code
    return show(sizes, long, short)


def show(sizes: Sequence[float], long: Sequence[Run], short: Sequence[Run]) -> int:
    """The table, and what it shows of the aim, as the exit status."""
    corrected = without_host_noise(short)
    first = sizes[0]
    print(f"rates over that of {first:g} vCPUs")
    print(f"{'vCPUs':>6s} {'round ms':>9s} {'long':>8s} {'short':>8s} {'corrected':>9s}   moved, % (90 % interval)")
    looked = any(run.correction is not None for run in corrected)
    if not looked:
        print("nothing was corrected, which is no test of a correction")
    moved = shifts(short, sizes)
    for number, size in enumerate(sizes):
        rounds = [run.probe.during for run in short if run.configuration.vcpus == size and run.probe is not None]
        looks = [1e3 * each for each in rounds if each is not None]
        looked &= bool(looks)
        cost = f"{median(looks):9.3f}" if looks else f"{'no look':>9s}"
        ratios = " ".join(_ratio(runs, size, first) for runs in (long, short, corrected))
        print(f"{size:6g} {cost} {ratios}   {_in_percent(moved[number]) if number else ''}".rstrip())
    if long:
        print("off the long runs, % (90 % interval): as measured, corrected")
        off = biases(long, short, sizes)
        for size, *each in list(zip(sizes, *off, strict=True))[1:]:
            print(f"{size:6g} {', '.join(map(_in_percent, each))}")
        print(_said(judged(off[1][1:], looked), "a corrected ratio is off the long runs' by more than 1 %"))
    spread = [100 * median(repeat_differences(each)) for each in (short, corrected)]
    print(f"repeats differ by {spread[0]:.2f} % (median) as measured, {spread[1]:.2f} % corrected")
    found = judged(moved[1:], looked)
    print(_said(found, "the correction moves a ratio by more than 1 %"))
    return found


def _said(found: int, what: str) -> str:
    return {WITHIN: "shown not to be so: ", BEYOND: "shown to be so: ", NOT_TOLD: "not shown whether "}[found] + what


def judged(moved: Sequence[Shift], looked: bool) -> int:
    """What the intervals of all shifts show; `looked` where runs of each size had a look at the host and some are
    corrected."""
    if not looked:
        return NOT_TOLD
    if any(low > MOST_MOVED or high < -MOST_MOVED for _, low, high in moved):
        return BEYOND
    return WITHIN if all(low >= -MOST_MOVED and high <= MOST_MOVED for _, low, high in moved) else NOT_TOLD


def shifts(short: Sequence[Run], sizes: Sequence[float]) -> list[Shift]:
    """By how much the correction moved ln of the rate of each size over that of the first, with 90 % intervals, which
    are endless where there are fewer than three blocks."""
    return _told_by_blocks(lambda kept: _off(without_host_noise(_some(short, kept)), _some(short, kept), sizes), short)


def biases(long: Sequence[Run], short: Sequence[Run], sizes: Sequence[float]) -> tuple[list[Shift], list[Shift]]:
    """How far ln of the same of the short runs, as measured and corrected, is off that of the long ones."""
    measured = _told_by_blocks(lambda kept: _off(_some(short, kept), _some(long, kept), sizes), short)
    after = _told_by_blocks(lambda kept: _off(without_host_noise(_some(short, kept)), _some(long, kept), sizes), short)
    return measured, after


def _told_by_blocks(off: Callable[[Collection[int]], list[float]], runs: Sequence[Run]) -> list[Shift]:
    """What is found from these blocks of repeats, with its intervals."""
    blocks = {run.spec.repeat for run in runs}
    whole, count = off(blocks), len(blocks)
    if count < 3:
        return [(each, -math.inf, math.inf) for each in whole]
    without = [off(blocks - {block}) for block in blocks]
    times = float(student.ppf(0.95, count - 1)) * (count - 1) / math.sqrt(count)
    halves = [times * stdev(each) for each in zip(*without, strict=True)]
    return [(each, each - half, each + half) for each, half in zip(whole, halves, strict=True)]


def _some(runs: Sequence[Run], blocks: Collection[int]) -> list[Run]:
    return [run for run in runs if run.spec.repeat in blocks]


def _off(runs: Sequence[Run], others: Sequence[Run], sizes: Sequence[float]) -> list[float]:
    by = [_mean(runs, size) - _mean(others, size) for size in sizes]
    return [each - by[0] for each in by]


def _in_percent(shift: Shift) -> str:
    middle, low, high = (100 * each for each in shift)
    return f"{middle:+.2f} ({low:+.2f} to {high:+.2f})"


def _ratio(runs: Sequence[Run], size: float, first: float) -> str:
    return f"{math.exp(_mean(runs, size) - _mean(runs, first)) if runs else math.nan:8.3f}"


def _mean(runs: Sequence[Run], size: float) -> float:
    return fmean(log_rate(run) for run in runs if run.configuration.vcpus == size)


if __name__ == "__main__":
    raise SystemExit(main())
