"""What measuring costs: sizer's own core-seconds and those of events in the workload, over the workload's own.

    python benchmarks/cost/overhead.py [--seconds 6] [--pairs 5]

By accounting: `sizer` is what sizer's process used during the steady state (`Run.overhead`: sampling, reading events,
deciding), `events` what the workload's process used to write them: the thread's CPU time of one `Events.step`, at the
same pace and with sizer reading at the other end of the pipe, times the events. Aim: both together under 1 % of the
workload's core-seconds, for each workload. The last one is the worst case: many steps, and little CPU time in each.

In pairs: the same steps in the same limits, with sizer's sampling and events, and with nobody watching and no pipe.
The rate is the one that the program itself prints at its end. Runs differ by more than 1 % on most machines, so the
accounting decides and the pairs must not contradict it: no interval of with over without may end below 0.99.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from bench import BenchmarkHost, opened
from pairs import ratio, shown, turns

from sizer import bundled
from sizer.records.configuration import Estimate
from sizer.records.device import Device
from sizer.records.errors import HostError, SizerError
from sizer.records.run import Step
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner import commands
from sizer.runner.child import started
from sizer.runner.launcher import RunContext, launch
from sizer.words.failures import failure_line

AIM = 0.01
VCPUS = 1.0


def emulated_gpu(name: str) -> Workload:
    """Training on 400 images/s, so that the CPU only decodes."""
    device = Device("emulated", samples_per_second=400.0)
    return Workload(name, "image_training", network="resnet50", input="cached", device=device)


ACCOUNTED = (
    (Workload("lstm small", "lstm_training", network="small", input="synthetic"), 20),
    (Workload("squeezenet inference", "image_inference", network="squeezenet", input="synthetic"), 16),
    (Workload("preprocessing", "imagenet_preprocessing", "opencv", input="cached", format="recordio"), 32),
    (emulated_gpu("emulated gpu, batch 32"), 32),
    (emulated_gpu("emulated gpu, batch 8"), 8),
)
"""Each with its batch size. The last one is the worst case: many steps, and little CPU time in each."""

PACED_SECONDS = 2.0
"""How long events are written at a workload's pace. What reading the thread's clock costs, in between, is taken off."""

WRITER = """
import statistics, sys, time
from workloads.events import Events
pause, count = float(sys.argv[1]), int(sys.argv[2])
events, costs, idle = Events.from_environment(), [], []
events.start(sample_unit="event", batch_size=1, dataset_bytes=0, dataset_samples=0)
for number in range(count):
    time.sleep(pause)
    before = time.thread_time()
    events.step(samples=32, input_wait=0.012345, epoch=0, latency=0.123456)
    costs.append(time.thread_time() - before)
    time.sleep(pause)
    before = time.thread_time()
    idle.append(time.thread_time() - before)
events.end()
print(statistics.fmean(costs[1:]) - statistics.fmean(idle[1:]))
"""

PAIRED = (
    ("lstm small", ("lstm_training", "--network", "small", "--steps", "36")),
    ("preprocessing", ("imagenet_preprocessing", "--output", ".", "--passes", "0", "--steps", "240")),
)
"""Programs of a fixed number of steps, with synthetic input: about 4 s each on a vCPU of 2026."""

PRINTED_RATE = re.compile(r": ([\d.e+]+) \w+s/s, \d+ steps")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--pairs", type=int, default=5)
    given = parser.parse_args()
    try:
        with opened() as bench:
            worst = account(bench, given.seconds)
            contradicted = pair(bench, given.pairs)
    except SizerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    holds = worst < AIM and not contradicted
    print(
        f"by accounting at most {worst:.2%} (aim under {AIM:.0%}); the pairs "
        f"{'CONTRADICT it' if contradicted else 'do not contradict it'}: {'holds' if holds else 'DOES NOT HOLD'}"
    )
    return 0 if holds else 1


def account(bench: BenchmarkHost, seconds: float) -> float:
    """Print the share of each workload; the largest sum."""
    print("workload                  steps/s  cores used  us an event   sizer  events     sum")
    worst = 0.0
    for workload, batch_size in ACCOUNTED:
        run = bench.run(workload, batch_size, VCPUS, seconds)
        assert run.throughput is not None
        assert run.demand is not None
        if run.overhead is None or run.demand.core_seconds is None:
            raise HostError("CPU time is not accounted here: run this as root on a host with cgroups")
        steps = run.throughput.value / _samples_a_step(run.steps[1:])
        cores = run.throughput.value * run.demand.core_seconds
        event = event_cost(bench, steps)
        events = event * steps / cores
        worst = max(worst, run.overhead + events)
        print(
            f"{workload.name:24s}  {steps:7.1f}  {cores:10.2f}  {event * 1e6:11.0f}  {run.overhead:6.2%}  {events:6.2%}"
            f"  {run.overhead + events:6.2%}",
            flush=True,
        )
    return worst


def event_cost(bench: BenchmarkHost, steps: float) -> float:
    """Core-seconds of one event for a program that writes as many a second, while sizer reads."""
    command = (sys.executable, "-c", WRITER, str(0.5 / steps), str(max(10, round(PACED_SECONDS * steps))))
    context = bench.context(Workload("events", "command", command=command))
    environment = {"PYTHONPATH": str(bundled.WORKLOADS_PATH)}
    with (
        bench.backend.open("event-cost", Limits(vcpus=VCPUS)) as group,
        started(group, command, environment, context.paths.scratch, context.log_path) as child,
    ):
        while child.exit_status() is None or not child.is_silent():
            child.wait(0.5)
    return float(child.log.last_lines(1))


def pair(bench: BenchmarkHost, pairs: int) -> bool:
    """Print the ratio of each program with and without measuring; whether one contradicts the accounting."""
    print(
        f"in {pairs} pairs            with: rate   without: rate   with / without (95 %)   core-seconds with / without"
    )
    contradicted = False
    for name, words in PAIRED:
        rates: dict[bool, list[float]] = {True: [], False: []}
        used: dict[bool, list[float]] = {True: [], False: []}
        for number, watched in turns(True, False, pairs):
            rate, core_seconds = (with_sizer if watched else without_sizer)(bench, _command(name, words, number))
            rates[watched].append(rate)
            used[watched].append(core_seconds)
        found = _ratio(rates)
        contradicted |= found.high < 1 - AIM
        print(
            f"{name:20s}  {fmean(rates[True]):10,.1f}   {fmean(rates[False]):13,.1f}   {shown(found):>21s}"
            f"   {shown(_ratio(used)):>21s}",
            flush=True,
        )
    return contradicted


def with_sizer(bench: BenchmarkHost, spec: RunSpec) -> tuple[float, float]:
    """The program's own rate and core-seconds while sizer samples and reads its events."""
    context = bench.context(spec.workload)
    run = launch(spec, with_packages(context), bench.backend)
    if run.outcome is not Outcome.COMPLETED:
        raise HostError(f"{spec.workload.name} ended as {run.outcome.value}: {failure_line(run)}")
    return printed_rate(context.log_path.read_text()), run.samples[-1].core_seconds


def without_sizer(bench: BenchmarkHost, spec: RunSpec) -> tuple[float, float]:
    """The same in the same limits, with nobody watching."""
    context = with_packages(bench.context(spec.workload))
    environment = commands.environment(
        spec, context.paths, context.host_vcpus, context.host_memory_bytes, context.environment
    )
    with bench.backend.open(spec.id, spec.limits) as group:
        done = subprocess.run(
            group.command(spec.workload.command),
            env=environment,
            cwd=context.paths.scratch,
            capture_output=True,
            text=True,
        )
        core_seconds = group.sample(time.monotonic()).core_seconds
    if done.returncode != 0:
        raise HostError(f"{spec.workload.name} ended with exit status {done.returncode}: {done.stderr[-500:]}")
    return printed_rate(done.stdout), core_seconds


def printed_rate(log: str) -> float:
    """Samples/s of a program's closing line. Raises HostError if there is none."""
    found = PRINTED_RATE.search(log.splitlines()[-1] if log.strip() else "")
    if found is None:
        raise HostError(f"the program printed no rate at its end: {log[-500:]}")
    return float(found.group(1))


def with_packages(context: RunContext) -> RunContext:
    """A command finds the workloads package, as a program that sizer starts by its kind does."""
    return replace(context, environment={**context.environment, "PYTHONPATH": str(bundled.WORKLOADS_PATH)})


def _command(name: str, words: Sequence[str], repeat: int) -> RunSpec:
    """A run of a program that ends by itself."""
    command = (sys.executable, "-m", f"workloads.{words[0]}", *words[1:])
    never = Measure(1, seconds=600.0, timeout=600.0)
    return RunSpec(Workload(name, "command", command=command), 1, Limits(vcpus=VCPUS), never, repeat)


def _samples_a_step(steps: Sequence[Step]) -> float:
    return fmean(step.samples for step in steps)


def _ratio(values: dict[bool, list[float]]) -> Estimate:
    return ratio([measured / alone for measured, alone in zip(values[True], values[False], strict=True)])


if __name__ == "__main__":
    raise SystemExit(main())
