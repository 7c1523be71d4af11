"""Training of an image network in PyTorch as users write it; prints lines of its rate until it is killed.

    python script/plain_training.py --network resnet50 --batch-size 32 --device cuda:0 --precision fp16

The loop of pytorch/examples, imagenet/main.py, with SGD, momentum and weight decay, on synthetic images. Of sizer it
has the networks, which PyTorch itself does not bring, and nothing else. A GPU is timed by its own events.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))

import torch

from workloads.backends import pytorch_networks
from workloads.networks import sample_form


class Meter:
    """Prints a line of samples/s every so many batches; of a GPU by its events, once it has passed them."""

    def __init__(self, samples: int, frequent: int, on_gpu: bool) -> None:
        self._samples = samples
        self._frequent = frequent
        self._on_gpu = on_gpu
        self._marks = [self._mark()]

    def batch(self, number: int) -> None:
        """A batch has ended, or a GPU was asked for it."""
        if number % self._frequent == 0:
            self._marks.append(self._mark())
        while len(self._marks) > 1 and (not self._on_gpu or self._marks[1].query()):
            begin = self._marks.pop(0)
            print(f"rate {self._samples * self._frequent / self._seconds(begin, self._marks[0]):.4f}", flush=True)

    def _mark(self) -> Any:
        if not self._on_gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def _seconds(self, begin: Any, end: Any) -> float:
        return float(begin.elapsed_time(end) / 1000 if self._on_gpu else end - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--network", default="squeezenet")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--frequent", type=int, default=4, help="batches a printed line")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda:0")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.device != "cpu":
        torch.cuda.set_device(given.device)
    shape, classes = sample_form(given.network)
    images = torch.rand(given.batch_size, *shape).to(memory_format=torch.channels_last).to(given.device)
    labels = torch.randint(classes, (given.batch_size,)).to(given.device)
    model = pytorch_networks.build(given.network).to(memory_format=torch.channels_last).to(given.device)
    train(model, images, labels, given.precision, Meter(given.batch_size, given.frequent, given.device != "cpu"))


def train(model: Any, images: Any, labels: Any, precision: str, meter: Meter) -> None:
    """Forward, backward, and update by SGD; the scaler is that of fp16, and does nothing else."""
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
    mixed = torch.autocast(images.device.type, kind, enabled=kind is not None)
    scaler = torch.amp.GradScaler(images.device.type, enabled=precision == "fp16")
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    loss_of = torch.nn.CrossEntropyLoss()
    for number in itertools.count(1):
        with mixed:
            loss = loss_of(model(images), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        meter.batch(number)


if __name__ == "__main__":
    main()
