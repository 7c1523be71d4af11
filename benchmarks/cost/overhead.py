"""What measuring costs: sizer's own core-seconds and those of events in the workload, over the workload's own.

    python benchmarks/cost/overhead.py [--seconds 6]

By accounting: `sizer` is what sizer's process used during the steady state (`Run.conditions.overhead`: sampling,
reading events, deciding), `events` what the workload's process used to write them: the thread's CPU time of one
`Events.step`, at the same pace and with sizer reading at the other end of the pipe, times the events. Aim: both
together under 1 % of the workload's core-seconds, for each workload. The last one is the worst case: many steps, and
little CPU time in each.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from sizer import bundled
from sizer.files.own_folder import cache_folder
from sizer.host.interpreters import interpreter
from sizer.host.machine import facts
from sizer.limits.detection import detect
from sizer.limits.interface import LimitsBackend
from sizer.records.device import Device
from sizer.records.kinds import OPENCV
from sizer.records.messages import HostError, SizerError
from sizer.records.run import Run, Step
from sizer.records.run_kinds import Outcome
from sizer.records.study import Limits, Measure, RunSpec, Workload
from sizer.runner.child import started
from sizer.runner.commands import RunPaths
from sizer.runner.launcher import RunContext, launch
from sizer.storage.data_sets import DataSets
from sizer.words.failures import failure_line

AIM = 0.01
VCPUS = 1.0
IMAGES = 400
"""Photographs in the embedded data set."""
RAM = "/dev/shm"
"""Where runs write: a sync costs nothing there, so that the disk has no part in the rates."""
START_UP_SECONDS = 120.0


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
from workloads.progress import Events, Step
pause, count = float(sys.argv[1]), int(sys.argv[2])
events, costs, idle = Events.from_environment(), [], []
events.start(sample_unit="event", batch_size=1, dataset_bytes=0, dataset_samples=0)
for number in range(count):
    time.sleep(pause)
    before = time.thread_time()
    events.step(Step(32, 0.012345, 0, 0.123456))
    costs.append(time.thread_time() - before)
    time.sleep(pause)
    before = time.thread_time()
    idle.append(time.thread_time() - before)
events.end()
print(statistics.fmean(costs[1:]) - statistics.fmean(idle[1:]))
"""


@dataclass(frozen=True)
class BenchmarkHost:
    """This machine, and a folder in RAM for what runs write."""

    backend: LimitsBackend
    host_vcpus: int
    host_memory_bytes: int
    folder: Path

    def run(self, workload: Workload, batch_size: int, vcpus: float, seconds: float, repeat: int = 0) -> Run:
        """`seconds` of steady state, or less if the workload ends before. Raises HostError if it did not complete."""
        measure = Measure(1, seconds, 1e-6, timeout=START_UP_SECONDS + 4 * seconds)
        spec = RunSpec(workload, batch_size, Limits(vcpus=vcpus), measure, repeat)
        run = launch(spec, self.context(workload), self.backend)
        if run.outcome is not Outcome.COMPLETED:
            raise HostError(f"{workload.name} ended as {run.outcome.value}: {failure_line(run)}")
        return run

    def context(self, workload: Workload) -> RunContext:
        """Fresh folders, and the data that the workload reads."""
        sets = DataSets(cache_folder(os.environ), interpreter(OPENCV), bundled.WORKLOADS_PATH, IMAGES, lambda _: None)
        data = sets.prepare(workload)
        fresh = Path(tempfile.mkdtemp(dir=self.folder))
        for name in ("scratch", "output"):
            (fresh / name).mkdir()
        place = RunPaths(
            interpreter=interpreter(workload.framework),
            packages=bundled.WORKLOADS_PATH,
            data=Path(data.path) if data else None,
            data_format=data.format if data else None,
            scratch=fresh / "scratch",
            output=fresh / "output",
        )
        log = fresh / "log"
        return RunContext(place, data, None, None, self.host_vcpus, self.host_memory_bytes, os.environ, log)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6)
    given = parser.parse_args()
    try:
        backend = detect()
        backend.remove_leftovers()
        host = facts(backend)
        with tempfile.TemporaryDirectory(dir=RAM) as folder:
            worst = account(BenchmarkHost(backend, host.cpus, host.memory_bytes, Path(folder)), given.seconds)
    except SizerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"at most {worst:.2%} (aim under {AIM:.0%}): {'holds' if worst < AIM else 'DOES NOT HOLD'}")
    return 0 if worst < AIM else 1


def account(bench: BenchmarkHost, seconds: float) -> float:
    """Print the share of each workload; the largest sum."""
    print("workload                  steps/s  cores used  us an event   sizer  events     sum")
    worst = 0.0
    for workload, batch_size in ACCOUNTED:
        run = bench.run(workload, batch_size, VCPUS, seconds)
        assert run.throughput is not None
        assert run.demand is not None
        if run.conditions.overhead is None or run.demand.core_seconds is None:
            raise HostError("CPU time is not accounted here: run this as root on a host with cgroups")
        steps = run.throughput.value / _samples_a_step(run.steps[1:])
        cores = run.throughput.value * run.demand.core_seconds
        event = event_cost(bench, steps)
        events = event * steps / cores
        worst = max(worst, run.conditions.overhead + events)
        print(
            f"{workload.name:24s}  {steps:7.1f}  {cores:10.2f}  {event * 1e6:11.0f}"
            f"  {run.conditions.overhead:6.2%}  {events:6.2%}  {run.conditions.overhead + events:6.2%}",
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


def _samples_a_step(steps: Sequence[Step]) -> float:
    return fmean(step.samples for step in steps)


if __name__ == "__main__":
    raise SystemExit(main())
