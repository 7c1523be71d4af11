"""vCPU limits: the share that busy children get under sizer's limit against the share asked for.

    python benchmarks/limits/limits.py [--seconds 1.6] [--repeats 3]

Cores used (the group's own accounting over the wall clock) by ceil(V) busy processes under a limit of V vCPUs: a
cpuset, with a quota for the fraction alone. A window in which other programs used the CPUs is measured again, up to
four times, and the one that they disturbed least counts. Aim: median cores within 3 % of what was asked.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from math import ceil
from statistics import median

from sizer.limits.detection import detect
from sizer.limits.interface import Group, LimitsBackend
from sizer.records.messages import SizerError
from sizer.records.study import Limits

ASKED = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
AIM = 0.03
PERIOD_SECONDS = 0.1
"""The quota's. A window is a whole number of them, so that where it begins in one does not matter."""
ATTEMPTS = 4
DISTURBED_CORES = 0.03
"""Cores that other programs used from which a window is measured again."""


@dataclass(frozen=True)
class Window:
    """What was seen in one window: cores used, share of periods throttled, cores of other programs."""

    cores: float
    throttled: float
    others: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.6, help="of one window")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    seconds = max(1, round(given.seconds / PERIOD_SECONDS)) * PERIOD_SECONDS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    worst = 0.0
    try:
        backend = detect()
        backend.remove_leftovers()
        print("vCPUs  cores used: median (least-most)  of asked  throttled  other cores")
        for asked in (size for size in ASKED if size <= len(backend.allowed)):
            windows = [least_disturbed(backend, asked, seconds) for _ in range(given.repeats)]
            cores, throttled = [window.cores for window in windows], median(window.throttled for window in windows)
            worst = max(worst, abs(median(cores) / asked - 1))
            shown = f"{median(cores):.4g} ({min(cores):.4g}-{max(cores):.4g})"
            others = median(window.others for window in windows)
            print(
                f"{asked:5.2f}  {shown:32s}  {median(cores) / asked:8.3f}  {throttled:9.0%}  {others:11.2f}", flush=True
            )
    except SizerError as error:
        print(f"limits: {error}")
        return error.exit_code
    print(f"worst share: {worst:.1%} off (aim {AIM:.0%}): {'holds' if worst <= AIM else 'DOES NOT HOLD'}")
    return 0 if worst <= AIM else 1


def least_disturbed(backend: LimitsBackend, vcpus: float, seconds: float) -> Window:
    """The first window that other programs left alone, or of several the one that they disturbed least."""
    windows: list[Window] = []
    with backend.open(f"share-{vcpus:g}", Limits(vcpus=vcpus)) as group:
        command = group.command([sys.executable, "-S", "-c", "while True: pass"])
        children = [subprocess.Popen(command) for _ in range(ceil(vcpus))]
        try:
            while group.sample(0.0).core_seconds < 0.15:
                time.sleep(0.02)
            while len(windows) < ATTEMPTS and all(window.others > DISTURBED_CORES for window in windows):
                windows.append(window_of(group, seconds))
        finally:
            for child in children:
                child.kill()  # It may not have joined the group yet.
            group.kill()
            for child in children:
                child.wait()
    return min(windows, key=lambda window: window.others)


def window_of(group: Group, seconds: float) -> Window:
    """What happens in the next seconds."""
    before = group.sample(time.monotonic())
    time.sleep(seconds)
    after = group.sample(time.monotonic())
    wall, periods = after.time - before.time, after.periods - before.periods
    cores = (after.core_seconds - before.core_seconds) / wall
    return Window(
        cores,
        (after.throttled_periods - before.throttled_periods) / periods if periods else 0.0,
        max(0.0, (after.host_core_seconds - before.host_core_seconds) / wall - cores),
    )


if __name__ == "__main__":
    raise SystemExit(main())
