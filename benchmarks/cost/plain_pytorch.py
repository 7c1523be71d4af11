"""PyTorch loops with synthetic input as users write them; each prints lines until it is killed.

    python benchmarks/cost/plain_pytorch.py inference --network squeezenet --batch-size 16 --frequent 4

`training` is the loop of pytorch/examples, imagenet/main.py, with SGD, momentum and weight decay, `inference` its
`validate` under `inference_mode`, and `lstm` pytorch/examples, word_language_model/main.py. Of ours they have the
networks, which PyTorch itself does not bring, and nothing else.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))

import torch

from workloads.backends import pytorch_language, pytorch_networks, sample_form
from workloads.language_training import FORMS


class Meter:
    """Prints a line of samples/s every so many batches."""

    def __init__(self, samples: int, frequent: int) -> None:
        self._samples = samples
        self._frequent = frequent
        self._begin = time.perf_counter()

    def batch(self, number: int) -> None:
        """A batch has ended."""
        if number % self._frequent == 0:
            now = time.perf_counter()
            print(f"rate {self._samples * self._frequent / (now - self._begin):.4f}", flush=True)
            self._begin = now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loop", choices=("inference", "training", "lstm"))
    parser.add_argument("--network", default="squeezenet")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--frequent", type=int, default=4, help="batches a printed line")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    given = parser.parse_args()
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    mixed = torch.autocast("cpu", torch.bfloat16, enabled=given.precision == "bf16")
    if given.loop == "lstm":
        lstm(given.batch_size, Meter(given.batch_size * FORMS["small"].steps, given.frequent))
        return
    shape, classes = sample_form(given.network)
    model = pytorch_networks.build(given.network)
    images = torch.rand(given.batch_size, *shape)
    labels = torch.randint(classes, (given.batch_size,))
    if images.dim() == 4:
        model, images = model.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
    meter = Meter(given.batch_size, given.frequent)
    if given.loop == "inference":
        inference(model, images, mixed, meter)
    else:
        training(model, images, labels, mixed, meter)


def inference(model: Any, images: Any, mixed: AbstractContextManager[Any], meter: Meter) -> None:
    """Forward."""
    model.eval()
    with torch.inference_mode(), mixed:
        for number in itertools.count(1):
            model(images)
            meter.batch(number)


def training(model: Any, images: Any, labels: Any, mixed: AbstractContextManager[Any], meter: Meter) -> None:
    """Forward, backward, and update by SGD."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    loss_of = torch.nn.CrossEntropyLoss()
    for number in itertools.count(1):
        with mixed:
            loss = loss_of(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meter.batch(number)


def lstm(batch_size: int, meter: Meter) -> None:
    """Truncated back-propagation, gradients clipped, update by hand as the example does."""
    form = FORMS["small"]
    model = pytorch_language.LanguageModel(form)
    model.train()
    loss_of = torch.nn.CrossEntropyLoss()
    words = torch.randint(form.vocabulary, (form.steps + 1, batch_size))
    state = tuple(torch.zeros(form.layers, batch_size, form.hidden) for _ in range(2))
    for number in itertools.count(1):
        model.zero_grad()
        state = tuple(part.detach() for part in state)
        scores, state = model(words[:-1], state)
        loss = loss_of(scores.view(-1, form.vocabulary), words[1:].reshape(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), form.clip_norm)
        for parameter in model.parameters():
            parameter.data.add_(parameter.grad, alpha=-1.0)
        meter.batch(number)


if __name__ == "__main__":
    main()
