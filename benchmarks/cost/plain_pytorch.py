"""PyTorch loops as users write them; each prints lines until it is killed.

    python benchmarks/cost/plain_pytorch.py inference --network squeezenet --batch-size 16 --frequent 4
    python benchmarks/cost/plain_pytorch.py training --data FOLDER --decoder pillow --threads 2
    python benchmarks/cost/plain_pytorch.py training --network resnet50 --device cuda:0 --precision fp16

`training` is the loop of pytorch/examples, imagenet/main.py, with SGD, momentum and weight decay, `inference` its
`validate` under `inference_mode`, `reading` its DataLoader alone; `lstm` is pytorch/examples,
word_language_model/main.py, and `bert` the loop of transformers' examples, run_mlm_no_trainer.py. With --data images
come from a folder (`plain_folder.py`), else the input is synthetic. Of ours they have the networks, which PyTorch
itself does not bring (those of transformers are made by it), and nothing else. Synthetic images may be computed on a
GPU, whose own events time them.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[2]))

import torch

from workloads.backends import pytorch_language, pytorch_networks, sample_form
from workloads.language_training import FORMS, SEQUENCE

Batches = Iterator[tuple[Any, Any]]
"""Images and labels, for ever."""


class Meter:
    """Prints a line of samples/s every so many batches; of a GPU by its events, once it has passed them."""

    def __init__(self, samples: int, frequent: int, on_gpu: bool = False) -> None:
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
    parser.add_argument("loop", choices=("inference", "training", "reading", "lstm", "bert"))
    parser.add_argument("--network", default="squeezenet")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--frequent", type=int, default=4, help="batches a printed line")
    parser.add_argument("--device", default="cpu", help="cpu, or cuda:0 for synthetic images")
    parser.add_argument("--precision", choices=("fp32", "bf16", "fp16"), default="fp32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--data", type=Path, metavar="FOLDER")
    parser.add_argument("--decoder", choices=("pillow", "opencv", "simplejpeg"), default="pillow")
    parser.add_argument("--shuffled", action="store_true", help="of `reading`: as training reads")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="and workers")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.device != "cpu":
        torch.cuda.set_device(given.device)
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(given.precision)
    mixed = torch.autocast(given.device.partition(":")[0], kind, enabled=kind is not None)
    if given.loop == "lstm":
        lstm(given.batch_size, Meter(given.batch_size * FORMS["small"].steps, given.frequent))
    elif given.loop == "bert":
        bert(given.batch_size, mixed, Meter(given.batch_size * SEQUENCE, given.frequent))
    else:
        images(given, mixed)


def images(given: argparse.Namespace, mixed: AbstractContextManager[Any]) -> None:
    """A loop over images."""
    meter = Meter(given.batch_size, given.frequent, given.device != "cpu")
    batches = synthetic(given.network, given.batch_size, given.device) if given.data is None else from_folder(given)
    if given.loop == "reading":
        for number, _batch in enumerate(batches, 1):
            meter.batch(number)
        return
    model = network(given.network)
    if sample_form(given.network)[0][1:]:
        model = model.to(memory_format=torch.channels_last)
    model = model.to(given.device)
    model = torch.compile(model) if given.compile else model
    if given.loop == "inference":
        inference(model, batches, mixed, meter)
    else:
        scaler = torch.amp.GradScaler(given.device.partition(":")[0], enabled=given.precision == "fp16")
        training(model, batches, mixed, scaler, meter)


def synthetic(name: str, batch_size: int, device: str) -> Batches:
    """The same batch for ever, on the device."""
    shape, classes = sample_form(name)
    images = torch.rand(batch_size, *shape)
    if images.dim() == 4:
        images = images.to(memory_format=torch.channels_last)
    return itertools.repeat((images.to(device), torch.randint(classes, (batch_size,)).to(device)))


def from_folder(given: argparse.Namespace) -> Batches:
    """Those of a folder, epoch after epoch, in the order of memory that the network computes in."""
    from plain_folder import batches_of

    side, training = sample_form(given.network)[0][1], given.loop == "training" or given.shuffled
    for images, labels in batches_of(given.data, given.decoder, side, given.batch_size, given.threads, training):
        yield images.to(memory_format=torch.channels_last), labels


def network(name: str) -> Any:
    """With random weights; those of transformers as its users make them."""
    if name != "vit_b16":
        return pytorch_networks.build(name)
    from transformers import ViTConfig, ViTForImageClassification

    return ViTForImageClassification(ViTConfig(num_labels=1000))


def scores(output: Any) -> Any:
    """What transformers returns has more than the scores."""
    return getattr(output, "logits", output)


def inference(model: Any, batches: Batches, mixed: AbstractContextManager[Any], meter: Meter) -> None:
    """Forward."""
    model.eval()
    with torch.inference_mode(), mixed:
        for number, (images, _labels) in enumerate(batches, 1):
            scores(model(images))
            meter.batch(number)


def training(model: Any, batches: Batches, mixed: AbstractContextManager[Any], scaler: Any, meter: Meter) -> None:
    """Forward, backward, and update by SGD; `scaler` is that of fp16, and does nothing else."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    loss_of = torch.nn.CrossEntropyLoss()
    for number, (images, labels) in enumerate(batches, 1):
        with mixed:
            loss = loss_of(scores(model(images)), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
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


def bert(batch_size: int, mixed: AbstractContextManager[Any], meter: Meter) -> None:
    """Telling masked words, as DataCollatorForLanguageModeling masks them anew for each batch; AdamW."""
    from transformers import BertConfig, BertForMaskedLM

    model = BertForMaskedLM(BertConfig())
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    words, mask = torch.randint(1000, 10_000, (batch_size, SEQUENCE)), 103
    for number in itertools.count(1):
        labels, inputs = words.clone(), words.clone()
        chosen = torch.bernoulli(torch.full(words.shape, 0.15)).bool()
        labels[~chosen] = -100
        replaced = torch.bernoulli(torch.full(words.shape, 0.8)).bool() & chosen
        inputs[replaced] = mask
        random = torch.bernoulli(torch.full(words.shape, 0.5)).bool() & chosen & ~replaced
        inputs[random] = torch.randint(model.config.vocab_size, words.shape)[random]
        with mixed:
            loss = model(input_ids=inputs, labels=labels).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        meter.batch(number)


if __name__ == "__main__":
    main()
