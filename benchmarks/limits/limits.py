"""vCPU limits: the share that a busy child gets against the share asked for, and what a quota does to waiting threads.

    python benchmarks/limits/limits.py [--seconds 1.6] [--repeats 3]

Two tables. The first: cores used (the group's own accounting over the wall clock) and turns of a loop a second by
ceil(V) busy workers under sizer's limit of V vCPUs, a cpuset with a quota for the fraction alone; beside it as many
workers as CPUs under a quota alone. The second: a job whose threads wait for each other every few ms, asleep (as a
thread pool does) or spinning (as OpenMP does at first), with two threads or with ceil(V).

Ways and sizes take turns in every repeat. A window in which other programs used the CPUs is measured again, up to
four times, and the one that they disturbed least counts, whatever it shows.

Aim: median cores within 3 % of what was asked for under sizer's limits. Rates are relative to as many core-seconds of
one worker at 1 vCPU and tell about this machine, too: two CPUs that are hyperthreads of one core are not twice one.
"""

from __future__ import annotations

import argparse
import mmap
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from sizer.limits.detection import detect
from sizer.limits.interface import Group, LimitsBackend
from sizer.records.errors import HostError, SizerError
from sizer.records.study import Limits

SOURCE = Path(__file__).with_name("turns.c")

ASKED = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
WAITING_ASKED = (0.5, 1.0, 1.5, 2.0)
AIM = 0.03

PERIOD_SECONDS = 0.1
"""The quota's. A window is a whole number of them, so that where it begins in one does not matter."""

ITERATIONS = 400_000
"""Of a turn of a worker alone: about 0.5 ms."""

WAITING_ITERATIONS = 4_000_000
"""Of a turn of workers that wait for each other: 2 to 3 ms for each of two."""

ATTEMPTS = 4
DISTURBED_CORES = 0.03
"""Cores that other programs used from which a window is measured again."""


@dataclass(frozen=True)
class Way:
    """How a number of vCPUs is set: sizer's own limits, or (`quota_alone`) a quota over all CPUs."""

    name: str
    quota_alone: bool


SIZERS = Way("cpuset + quota", False)
QUOTA = Way("quota alone", True)


@dataclass(frozen=True)
class Case:
    """One line of a table. `wait` is how the workers wait for each other."""

    asked: float
    way: Way
    workers: int
    wait: str = "none"


@dataclass(frozen=True)
class Window:
    """What was seen in one window: cores used, turns a second, share of periods throttled, cores of other programs."""

    cores: float
    turns: float
    throttled: float
    others: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.6, help="of one window")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    seconds = max(1, round(arguments.seconds / PERIOD_SECONDS)) * PERIOD_SECONDS
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        backend = detect()
        backend.remove_leftovers()
        with compiled() as program:
            seen = measure(backend, program, seconds, arguments.repeats)
    except SizerError as error:
        print(f"limits: {error}")
        return error.exit_code
    worst = show_shares(seen)
    show_waiting(seen)
    print(
        f"{disturbed(seen)}worst share: {worst:.1%} off (aim {AIM:.0%}): {'holds' if worst <= AIM else 'DOES NOT HOLD'}"
    )
    return 0 if worst <= AIM else 1


def share_cases(cpus: int) -> list[Case]:
    """Busy workers under every size that this host has."""
    sizes = [asked for asked in ASKED if asked <= cpus]
    return [Case(asked, SIZERS, ceil(asked)) for asked in sizes] + [Case(asked, QUOTA, cpus) for asked in sizes]


def waiting_cases(cpus: int) -> list[Case]:
    """Two threads that wait for each other, and ceil(V) of them where that is one."""
    places = [
        (asked, way, workers)
        for asked in WAITING_ASKED
        if asked <= cpus
        for way in (QUOTA, SIZERS)
        for workers in sorted({2, ceil(asked) if way is SIZERS else 2}, reverse=True)
    ]
    return [Case(*place, wait) for wait in ("asleep", "spinning") for place in places]


def measure(backend: LimitsBackend, program: Path, seconds: float, repeats: int) -> dict[Case, list[Window]]:
    """Every case once a repeat, in an order that turns around so that drift falls on all alike."""
    cpus = len(backend.allowed)
    cases = [*share_cases(cpus), *waiting_cases(cpus)]
    seen: dict[Case, list[Window]] = {case: [] for case in cases}
    for repeat in range(repeats):
        for case in cases if repeat % 2 == 0 else reversed(cases):
            seen[case].append(least_disturbed(backend, program, case, seconds))
    return seen


def least_disturbed(backend: LimitsBackend, program: Path, case: Case, seconds: float) -> Window:
    """The first window that other programs left alone, or of several the one that they disturbed least."""
    windows: list[Window] = []
    with limited(backend, case) as group, turning(group, program, case) as counts:
        while len(windows) < ATTEMPTS and all(window.others > DISTURBED_CORES for window in windows):
            windows.append(window_of(group, counts, seconds))
    return min(windows, key=lambda window: window.others)


def window_of(group: Group, counts: mmap.mmap, seconds: float) -> Window:
    """What happens in the next seconds."""
    before, turns_before = group.sample(time.monotonic()), turns(counts)
    time.sleep(seconds)
    after, turns_after = group.sample(time.monotonic()), turns(counts)
    wall = after.time - before.time
    cores = (after.core_seconds - before.core_seconds) / wall
    periods = after.periods - before.periods
    return Window(
        cores,
        (turns_after - turns_before) / wall,
        (after.throttled_periods - before.throttled_periods) / periods if periods else 0.0,
        max(0.0, (after.host_core_seconds - before.host_core_seconds) / wall - cores),
    )


def turns(counts: mmap.mmap) -> int:
    """Turns of all workers so far: the first of the eight numbers that each has a line of."""
    return sum(memoryview(counts).cast("Q")[::8])


@contextmanager
def limited(backend: LimitsBackend, case: Case) -> Iterator[Group]:
    """A group with the case's vCPUs, set in its way."""
    limits = Limits() if case.way.quota_alone else Limits(vcpus=case.asked)
    with backend.open(f"share-{case.asked:g}", limits) as group:
        if case.way.quota_alone:
            set_quota(directories(group.command([])), case.asked)
        yield group


def directories(command: Sequence[str]) -> list[Path]:
    """The control groups that a command line joins."""
    return [Path(word).parent for word in command if word.endswith("/cgroup.procs")]


def set_quota(groups: Sequence[Path], vcpus: float) -> None:
    """CPU time a period, over whatever CPUs there are: what container runtimes set, and sizer does not."""
    period = round(PERIOD_SECONDS * 1e6)
    for group in groups:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_quota_us").write_text(f"{round(vcpus * period)}")
            return
        if (group / "cpu.max").exists():
            (group / "cpu.max").write_text(f"{round(vcpus * period)} {period}")
            return
    raise HostError("no quota can be set here, which this benchmark compares with; type sizer doctor to see why")


@contextmanager
def compiled() -> Iterator[Path]:
    """The program of the workers."""
    if shutil.which("gcc") is None:
        raise HostError("gcc is not installed, and the workers are a C program; type: apt-get install gcc libc6-dev")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "turns"
        subprocess.run(["gcc", "-O2", "-pthread", "-o", str(program), str(SOURCE)], check=True)
        yield program


@contextmanager
def turning(group: Group, program: Path, case: Case) -> Iterator[mmap.mmap]:
    """The workers of a case at work in its group, past their start; the map of their counts."""
    with tempfile.TemporaryFile() as file:
        file.truncate(64 * case.workers)
        iterations = ITERATIONS if case.wait == "none" else WAITING_ITERATIONS
        words = [str(program), f"/dev/fd/{file.fileno()}", str(case.workers), case.wait, str(iterations)]
        process = subprocess.Popen(group.command(words), pass_fds=(file.fileno(),))
        try:
            with mmap.mmap(file.fileno(), 64 * case.workers) as counts:
                while process.poll() is None and group.sample(0.0).core_seconds < 0.15:
                    time.sleep(0.02)
                if process.poll() is not None:
                    raise HostError(f"the workers ended with {process.returncode}; see what they said above")
                yield counts
        finally:
            process.kill()  # It may not have joined the group yet.
            group.kill()
            process.wait()


def show_shares(seen: dict[Case, list[Window]]) -> float:
    """The first table. The worst share of sizer's own way, relative to what was asked for."""
    whole = per_core_second(seen, "none")
    worst = 0.0
    print("Busy workers that do not wait for each other: median (least-most)")
    print("vCPUs  way             workers  cores used              of asked  turns of linear  throttled  other cores")
    for case in (case for case in seen if case.wait == "none"):
        windows = seen[case]
        share = median(windows, "cores") / case.asked
        worst = max(worst, abs(share - 1)) if case.way is SIZERS else worst
        print(
            f"{case.asked:5.2f}  {case.way.name:14s}  {case.workers:7d}  {spread(windows, 'cores'):22s}  {share:8.3f}"
            f"  {median(windows, 'turns') / (whole * case.asked):15.3f}  {median(windows, 'throttled'):9.0%}"
            f"  {median(windows, 'others'):11.2f}"
        )
    return worst


def show_waiting(seen: dict[Case, list[Window]]) -> None:
    """The second table: of what as much CPU time gives one worker, who waits for nobody."""
    print("\nThreads that wait for each other every few ms: median (least-most)")
    print(
        "wait      vCPUs  way             threads  turns/s               of linear  cores used  throttled  other cores"
    )
    for case in (case for case in seen if case.wait != "none"):
        windows = seen[case]
        linear = per_core_second(seen, case.wait) * case.asked
        print(
            f"{case.wait:8s}  {case.asked:5.2f}  {case.way.name:14s}  {case.workers:7d}  {spread(windows, 'turns'):20s}"
            f"  {median(windows, 'turns') / linear:9.3f}  {median(windows, 'cores'):10.3f}"
            f"  {median(windows, 'throttled'):9.0%}  {median(windows, 'others'):11.2f}"
        )


def per_core_second(seen: dict[Case, list[Window]], wait: str) -> float:
    """Turns of one worker on one whole CPU, for each core-second: what rates are held against."""
    windows = seen[Case(1.0, SIZERS, 1, wait)]
    return median(windows, "turns") / median(windows, "cores")


def disturbed(seen: dict[Case, list[Window]]) -> str:
    """A sentence about other programs, empty where there were none."""
    windows = [window for of_case in seen.values() for window in of_case]
    count = sum(window.others > DISTURBED_CORES for window in windows)
    if not count:
        return ""
    most = max(window.others for window in windows)
    return f"other programs used the CPUs in {count} of {len(windows)} windows, up to {most:.2f} cores; "


def median(windows: Sequence[Window], figure: str) -> float:
    """The median of one figure over the windows of a case."""
    return float(statistics.median(getattr(window, figure) for window in windows))


def spread(windows: Sequence[Window], figure: str) -> str:
    """Median, least and most, with three digits that count."""
    values = [getattr(window, figure) for window in windows]
    return f"{statistics.median(values):.4g} ({min(values):.4g}-{max(values):.4g})"


if __name__ == "__main__":
    raise SystemExit(main())
