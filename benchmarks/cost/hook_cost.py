"""What sizer's hook costs a step of PyTorch, beside py-spy's sampling and torch.profiler, for the same loop.

    PYTHON_WITH_TORCH benchmarks/cost/hook_cost.py [--pairs 7] [--steps 4000]

PYTHON_WITH_TORCH is an interpreter with torch; py-spy is looked for beside it. By accounting: what the hook's own
functions use of the thread's CPU time for a batch and an optimizer step, without the framework's part. In pairs: CPU
time a step of a loop that does next to nothing else (a linear model of 10 inputs, a loader without workers), each way
in turn with the same loop that nobody watches, in fresh processes. Aim: under 20 us a step.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).resolve().parents[2]))
sys.path.append(str(Path(__file__).resolve().parents[2] / "sizer/hook"))

import sizer_finder
import sizer_hook

from sizer.meter import PATH_VARIABLE

HOOK = Path(sizer_hook.__file__).parent

AIM_MICROSECONDS = 20.0

LOOP = """
import contextlib, sys, time
import torch
from torch.utils.data import DataLoader, TensorDataset
steps, profiled = int(sys.argv[1]), sys.argv[2] == "profiler"
torch.set_num_threads(1)
data = TensorDataset(torch.randn(steps, 10), torch.randn(steps, 1))
loader, model = DataLoader(data, 1), torch.nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
for inputs, wanted in DataLoader(data, steps // 100):
    (model(inputs) - wanted).square().mean().backward(); optimizer.step(); optimizer.zero_grad()
cpu = [torch.profiler.ProfilerActivity.CPU]
watched = torch.profiler.profile(activities=cpu) if profiled else contextlib.nullcontext()
with watched as profile:
    before, wall = time.process_time(), time.monotonic()
    for inputs, wanted in loader:
        (model(inputs) - wanted).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        if profiled:
            profile.step()
    after, over = time.process_time(), time.monotonic()
print("cost", (after - before) / steps * 1e6, (over - wall) / steps * 1e6)
"""


class Iterator:
    """Stands for a loader's."""


def accounted(steps: int) -> float:
    """Microseconds of CPU time of the hook itself for one batch and one optimizer step."""
    os.environ[PATH_VARIABLE] = os.environ.get(PATH_VARIABLE, "")
    watch = sizer_hook.Watch("torch", lambda: True, lambda: False)
    watch.has_optimizer()
    batch, iterator, optimizer = [_Array(32), _Array(32)], Iterator(), Iterator()
    before = time.thread_time()
    for _ in range(steps):
        going = watch.going_through(iterator)
        assert going is not None
        watch.got(going, iterator, batch, lambda _: 32)
        watch.optimized(optimizer)
    return (time.thread_time() - before) / steps * 1e6


class _Array:
    def __init__(self, samples: int) -> None:
        self.shape = (samples, 10)


def run(words: Sequence[str], steps: int, how: str, environment: Mapping[str, str]) -> tuple[float, float]:
    """Microseconds of CPU and of wall time a step of the loop."""
    argv = [*words, sys.executable, "-c", LOOP, str(steps), how]
    found = subprocess.run(argv, env=dict(environment), capture_output=True, text=True, check=True)
    _, cpu, wall = next(line for line in found.stdout.splitlines() if line.startswith("cost")).split()
    return float(cpu), float(wall)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--steps", type=int, default=4000)
    given = parser.parse_args()
    plain = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", PATH_VARIABLE)}
    spy = shutil.which("py-spy", path=f"{Path(sys.executable).parent}:{plain.get('PATH', '')}")
    with tempfile.TemporaryDirectory() as folder:
        fifo = Path(folder) / "events"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.environ[PATH_VARIABLE] = str(fifo)
        hooked = {**plain, PATH_VARIABLE: str(fifo), "PYTHONPATH": str(HOOK)}
        ways: dict[str, tuple[list[str], str, dict[str, str]]] = {"sizer's hook": ([], "hook", hooked)}
        if spy is not None:
            record = [spy, "record", "-r", "100", "-f", "raw", "-o", str(Path(folder) / "stacks"), "--"]
            ways["py-spy, 100 a second"] = (record, "py-spy", plain)
        ways["torch.profiler"] = ([], "profiler", plain)
        print(f"the hook's own CPU time: {accounted(20_000):.2f} us a step")
        _drained(reader)
        costs: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        bare = []
        for _ in range(given.pairs):
            for name, (words, how, environment) in ways.items():
                without = run([], given.steps, "plain", plain)
                watched = run(words, given.steps, how, environment)
                told = _drained(reader)
                if name == "sizer's hook" and told != given.steps + 100:
                    print(f"the hook told {told} steps of {given.steps + 100}")
                    return 1
                bare.append(without[0])
                costs[name].append((watched[0] - without[0], watched[1] - without[1]))
        os.close(reader)
    print(f"the loop by itself: {median(bare):.0f} us of CPU time a step; {given.pairs} pairs each, median (all)")
    for name, pairs in costs.items():
        cpu, wall = ([pair[part] for pair in pairs] for part in (0, 1))
        print(
            f"{name:22} {median(cpu):+7.1f} us of CPU ({min(cpu):+.1f} to {max(cpu):+.1f})"
            f", {median(wall):+7.1f} us of time"
        )
    holds = median(cpu for cpu, _ in costs["sizer's hook"]) < AIM_MICROSECONDS
    print(f"aim under {AIM_MICROSECONDS:.0f} us a step: {'holds' if holds else 'DOES NOT HOLD'}")
    return 0 if holds else 1


def _drained(reader: int) -> int:
    """Steps that were told since the last time."""
    data = b""
    while True:
        try:
            data += os.read(reader, 1 << 20)
        except BlockingIOError:
            break
    return sum(len(json.loads(line).get("steps", [])) for line in data.splitlines())


if __name__ == "__main__":
    assert sizer_finder.FRAMEWORKS
    raise SystemExit(main())
