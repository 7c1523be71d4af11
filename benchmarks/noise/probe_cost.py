"""What a probe beside a job costs the job: core-seconds of its work while sizer's probe looks, over those without.

    python benchmarks/noise/probe_cost.py [--seconds 60] [--cpu 0]

On one CPU a job goes on without a pause, and beside it the probe looks as in a run of one vCPU, every half second, for
two seconds, and not for two. The job is preprocessing, as `probe_series.py` does it, or one that lives in the cache of
its core: sums of 1.5 MiB again and again, which a probe that fills this cache would harm most. The probe's own
time is no part of the ratio, so it is their effect on the caches. Printed is the ratio of CPU seconds an image or a
sum, from windows in pairs, with its 95 % interval.

Aim: below 1.005.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.append(str(Path(__file__).parents[2]))

from pairs import ratio, shown
from probe_series import work

from sizer.records import Estimate, Sample
from sizer.runner.probe import Probe

WINDOW, PAUSE = 2.0, 0.5
IN_CACHE = 3 << 19
AIM = 1.005
FEWEST_PAIRS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--cpu", type=int, default=0)
    given = parser.parse_args()
    missed = 0
    for name, job in (("preprocessing", work), ("sums of 1.5 MiB", sums)):
        found, used = compared(job, given.cpu, given.seconds)
        print(f"{name:16s} {shown(found)}, the probe took {100 * used:.2f} % of the CPU", flush=True)
        missed |= found.value > AIM
    return int(missed)


def sums(cpu: int, until: float, end: Any) -> None:
    """The job that lives in the cache of its core."""
    os.sched_setaffinity(0, {cpu})
    values, noted, done = np.ones(IN_CACHE // 8), [], 0
    while time.monotonic() < until:
        for _ in range(100):
            values.sum()
        done += 100
        noted.append((time.monotonic(), time.process_time(), done))
    end.send(noted)


def compared(job: Callable[[int, float, Any], None], cpu: int, seconds: float) -> tuple[Estimate, float]:
    """The ratio, and what the probe took of the CPU."""
    context = multiprocessing.get_context("spawn")
    begin = time.monotonic() + 4.0
    here, there = context.Pipe()
    process = context.Process(target=job, args=(cpu, begin + seconds, there))
    process.start()
    probe = Probe([cpu])
    probe.before()
    probe.beside(Sample(0.0))
    windows = []
    for number in range(int(seconds / WINDOW)):
        start = begin + number * WINDOW
        # On, off, off, on: a drift of the host is in both alike.
        looks = number % 4 in (0, 3)
        windows.append((start, start + WINDOW, looks))
        while (left := start + WINDOW - time.monotonic()) > 0:
            time.sleep(min(PAUSE, left))
            if looks and left > PAUSE:
                probe.beside(Sample(0.0, core_seconds=1e9))
    noted = np.array(here.recv())
    process.join()
    costs = [(_cost(noted, first, last), looks) for first, last, looks in windows]
    pairs = zip(costs[::2], costs[1::2], strict=False)
    ratios = [(one / other) if looks else (other / one) for (one, looks), (other, _) in pairs if one and other]
    if len(ratios) < FEWEST_PAIRS:
        raise SystemExit(f"probe_cost: the job worked in {len(ratios)} pairs of windows alone; try a longer --seconds")
    return ratio(ratios), 2 * sum(probe.core_seconds) / seconds


def _cost(noted: np.ndarray[Any, np.dtype[Any]], begin: float, end: float) -> float:
    """CPU seconds an image or a sum; 0 where the job did none, as where a busy host was slow to start it."""
    if begin < noted[0, 0] or end > noted[-1, 0] + WINDOW:
        return 0.0
    used, done = (np.interp([begin, end], noted[:, 0], noted[:, column]) for column in (1, 2))
    return float((used[1] - used[0]) / (done[1] - done[0])) if done[1] > done[0] else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
