"""Whether sizer counts the steps of a program of your own: beside a clock in the program's own loop.

    cd PROJECT; python SIZER/benchmarks/accuracy/accuracy_of_meters.py -- python train.py --epochs 10

The program is one that you have: a copy of it whose loop writes, after each step, one line with the time and the
samples of that step, to a file that it opens at its beginning:

    clock = open(f"{os.environ['CLOCK']}.{os.getpid()}", "w", buffering=1)
    print(time.monotonic(), len(batch), file=clock)

Of several processes one writes, with the samples of all. `sizer profile` measures it at the host's vCPUs and less, once
each; the options before `--` are passed to it. Each run's rate is compared with the clock's between the same two steps,
and the steps are counted by both. Aim: within 1 %, and as many steps: what is told of a log is known to the line, so
one more or less may lie between. Exits 1 where the aim is missed. Needs root, and a network namespace of its own is
best (`unshare -n`, with `ip link set lo up` for several processes).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path

from sizer.records.run import MeterKind, Run
from sizer.store.stored_runs import read_run

AIM = 0.01
NEAR = 0.02
"""Seconds by which the clock may be later than sizer's time of the same step: a line is looked at each 10 ms."""


@dataclass(frozen=True)
class Clock:
    """The times of the program's steps, and how many samples it had made by each."""

    times: list[float]
    samples: list[int]

    def before(self, time: float) -> int:
        """How many steps had ended by then."""
        gap = (self.times[-1] - self.times[0]) / max(1, len(self.times) - 1)
        return bisect_right(self.times, time + min(NEAR, gap / 3))


def main() -> int:
    if "--" not in sys.argv:
        print(__doc__, file=sys.stderr)
        return 2
    cut = sys.argv.index("--")
    options, command = sys.argv[1:cut], sys.argv[cut + 1 :]
    missed = 0
    with tempfile.TemporaryDirectory(prefix="meters-") as folder:
        clock, out = Path(folder) / "clock", Path(folder) / "out"
        sizer = [sys.executable, "-m", "sizer", "profile", "--out", str(out), "--env", f"CLOCK={clock}"]
        once = ["--repeats", "1", "--no-memory-floor"]
        subprocess.run([*sizer, *once, *options, "--", *command], check=False)
        clocks = [read_clock(path) for path in Path(folder).glob("clock.*")]
        runs = [read_run(path) for path in (out / "runs").glob("*.json")]
        runs.sort(key=lambda run: -(run.configuration.vcpus or 0))
        print(f"vCPUs  {'meter':34s}    sizer /s    clock /s    apart   steps  clock")
        for run in runs:
            missed += not report(run, [each for each in clocks if each is not None])
    return 1 if missed or not runs else 0


def report(run: Run, clocks: list[Clock]) -> bool:
    """Print a run beside the clock of its program; whether they agree."""
    vcpus, meter = f"{run.configuration.vcpus:5g}", f"{run.meter.kind.value} {run.meter.source}" if run.meter else "-"
    clock = max(clocks, key=lambda each: shared_seconds(run, each), default=None)
    if run.throughput is None or run.warm_up_seconds is None or run.measured_seconds is None or clock is None:
        print(f"{vcpus}  {meter:34s}  {run.outcome.value}, no rate to compare")
        return False
    start = run.steps[0].time + run.warm_up_seconds
    first, last = place(run, clock, start), place(run, clock, start + run.measured_seconds)
    made = last - first if run.sample_unit == "step" else clock.samples[last] - clock.samples[first]
    rate = made / (clock.times[last] - clock.times[first])
    if by_log(run):
        counted = sum(step.samples for step in run.steps) if run.sample_unit == "step" else 0
        ticked = clock.before(run.steps[-1].time) - clock.before(run.steps[0].time)
    else:
        counted, ticked = len(run.steps), clock.before(run.steps[-1].time)
    apart = run.throughput.value / rate - 1
    print(f"{vcpus}  {meter:34s}  {run.throughput.value:10.4g}  {rate:10.4g}  {apart:7.2%}  {counted:6d}  {ticked:5d}")
    return abs(apart) <= AIM and abs(counted - ticked) <= 1


def by_log(run: Run) -> bool:
    return run.meter is not None and run.meter.kind is MeterKind.LOG


def shared_seconds(run: Run, clock: Clock) -> float:
    """How long the clock ran in this run: each run starts the program anew."""
    if not run.steps:
        return 0.0
    return min(clock.times[-1], run.steps[-1].time) - max(clock.times[0], run.steps[0].time)


def place(run: Run, clock: Clock, time: float) -> int:
    """Which of the clock's steps ended then: the one of the same number, or by its time where a log tells it."""
    if by_log(run):
        return max(0, clock.before(time) - 1)
    number = min(range(len(run.steps)), key=lambda number: abs(run.steps[number].time - time))
    return min(number, len(clock.times) - 1)


def read_clock(path: Path) -> Clock | None:
    """What a program's clock wrote; None where it saw no two steps."""
    rows = [line.split() for line in path.read_text("utf-8").splitlines()]
    made, samples = [], 0
    for row in rows:
        samples += int(row[1]) if len(row) > 1 else 1
        made.append(samples)
    return Clock([float(row[0]) for row in rows], made) if len(rows) > 1 else None


if __name__ == "__main__":
    raise SystemExit(main())
