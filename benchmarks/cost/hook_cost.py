"""What sizer's hook costs a step of PyTorch.

    PYTHON_WITH_TORCH benchmarks/cost/hook_cost.py [--rounds 20] [--steps 500]

By accounting: what the hook's own functions use of the thread's CPU time for a batch and an optimizer step, without the
framework's part. In pairs: CPU time a step of a loop that does next to nothing else (a linear model of 10 inputs, a
loader without workers), in one process, which trains so many steps with the hook and with it taken out again, in turn.
Aim: under 20 us a step by accounting, and a lower quartile of the pairs that does not contradict it.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

sys.path.append(str(Path(__file__).resolve().parents[2]))
sys.path.append(str(Path(__file__).resolve().parents[2] / "sizer/hook"))

import sizer_finder
import sizer_hook

from sizer.meter import PATH_VARIABLE

HOOK = Path(sizer_hook.__file__).parent

AIM_MICROSECONDS = 20.0

LOOP = """
import json, sys, time
import torch
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.dataloader import _BaseDataLoaderIter as Batches
rounds, steps = int(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
data = TensorDataset(torch.randn(steps, 10), torch.randn(steps, 1))
loader, model = DataLoader(data, 1), torch.nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
hooked, hooks = Batches.__next__, dict(optimizers._global_optimizer_post_hooks)
assert hasattr(hooked, "__wrapped__") and len(hooks) == 1

def train():
    cpu = time.process_time()
    for inputs, wanted in loader:
        (model(inputs) - wanted).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return (time.process_time() - cpu) / steps * 1e6

def bare():
    Batches.__next__ = hooked.__wrapped__
    optimizers._global_optimizer_post_hooks.clear()
    return train()

def hook():
    Batches.__next__ = hooked
    optimizers._global_optimizer_post_hooks.update(hooks)
    return train()

ways = {"bare": bare, "hook": hook}
for way in (bare, hook):
    way()
print("costs", json.dumps([{name: way() for name, way in ways.items()} for _ in range(rounds)]))
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fifo = Path(folder) / "events"
        os.mkfifo(fifo)
        reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 1 << 20)
        os.environ[PATH_VARIABLE] = str(fifo)
        own = accounted(20_000)
        _drained(reader)
        argv = [sys.executable, "-c", LOOP, str(given.rounds), str(given.steps)]
        done = subprocess.run(
            argv, env={**os.environ, "PYTHONPATH": str(HOOK)}, stdout=subprocess.PIPE, text=True, check=True
        )
        counted = _drained(reader)
        os.close(reader)
    rounds = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("costs")).partition(" ")[2])
    if counted != (given.rounds + 1) * given.steps:
        print(f"the hook told {counted} steps of {(given.rounds + 1) * given.steps}")
        return 1
    bare = median(round_["bare"] for round_ in rounds)
    print(f"the hook's own CPU time: {own:.2f} us a step; the loop by itself: {bare:.0f} us a step")
    costs = [round_["hook"] - round_["bare"] for round_ in rounds]
    low, middle, high = quantiles(costs, n=4)
    print(f"with the hook {middle:+.1f} us of CPU a step (quartiles {low:+.1f} to {high:+.1f})")
    holds = max(own, low) < AIM_MICROSECONDS
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
