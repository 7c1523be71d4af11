"""Whether a correction explains away what a job itself does to its memory bus: one that fills it, at 0.5 to 2 vCPUs.

    python benchmarks/noise/saturation.py [--repeats 4] [--seconds 6] [--long 30] [--vcpus 0.5,1,2]

The job copies memory with as many threads as it has CPUs. Its short runs have sizer's probe beside them, and are
corrected as those of a study; its long runs have none. In each block of repeats comes one run of each size, and a part
of its long run between them, so that both see the same host. Printed are the ratio of each size to the smallest, by the
long runs, by the short ones as they were measured, and by the corrected ones.

Aim: the correction moves a ratio by 1 % at the most.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.append(str(Path(__file__).parents[2]))

from bench import opened
from noise_scores import log_rate, repeat_differences

from sizer.model import without_host_noise
from sizer.records import Run, SizerError, Workload

MOST_MOVED = 0.01
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
                    long.append(bench.run(JOB, 1, size, given.long / given.repeats, repeat))
    except SizerError as error:
        print(f"saturation: {error}")
        return error.exit_code
    return show(sizes, long, short)


def show(sizes: Sequence[float], long: Sequence[Run], short: Sequence[Run]) -> int:
    """The table; 1 where the aim is missed."""
    corrected = without_host_noise(short)
    print(f"rates over that of {sizes[0]:g} vCPUs")
    print(f"{'vCPUs':>6s} {'round ms':>9s} {'long':>8s} {'short':>8s} {'corrected':>10s}")
    for size in sizes:
        rounds = [run.probe.during for run in short if run.configuration.vcpus == size and run.probe is not None]
        looks = [1e3 * each for each in rounds if each is not None]
        cost = f"{median(looks):9.3f}" if looks else f"{'no look':>9s}"
        ratios = [math.exp(_mean(runs, size) - _mean(runs, sizes[0])) for runs in (long, short, corrected)]
        print(f"{size:6g} {cost} {ratios[0]:8.3f} {ratios[1]:8.3f} {ratios[2]:10.3f}")
    moved = [_mean(corrected, s) - _mean(corrected, sizes[0]) - _mean(short, s) + _mean(short, sizes[0]) for s in sizes]
    print(f"the correction moved a ratio by {100 * max(map(abs, moved)):.2f} % at the most")
    spread = [100 * median(repeat_differences(each)) for each in (short, corrected)]
    print(f"repeats differ by {spread[0]:.2f} % (median) as measured, {spread[1]:.2f} % corrected")
    return int(max(map(abs, moved)) > MOST_MOVED)


def _mean(runs: Sequence[Run], size: float) -> float:
    return fmean(log_rate(run) for run in runs if run.configuration.vcpus == size)


if __name__ == "__main__":
    raise SystemExit(main())
