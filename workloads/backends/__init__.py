"""Frameworks behind one interface: what a program asks of a framework, and where each framework's code is."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ..accelerator_clock import AcceleratorClock
from ..data_set import DataSet
from ..faults import Unavailable

MODULES = {"mxnet": "mxnet_backend", "pytorch": "pytorch_backend"}
"""A framework is one more file here with `open_backend(settings) -> Backend`, and one more line."""

NETWORKS = ("alexnet", "googlenet", "inception_v3", "mobilenet", "resnet18", "resnet50", "squeezenet", "vgg16")


def image_side(network: str) -> int:
    """Pixels of a side of the network's input."""
    return 299 if network == "inception_v3" else 224


@dataclass(frozen=True)
class Settings:
    """What every part of a backend needs to know. `device` is `cpu` or `cuda:N`."""

    device: str
    threads: int
    seed: int
    batch_size: int


@dataclass(frozen=True)
class LanguageModelForm:
    """A language model by Zaremba et al. 2014 (arXiv:1409.2329, section 4.1)."""

    layers: int
    hidden: int
    steps: int
    dropout: float
    initial_range: float
    clip_norm: float
    vocabulary: int


class Input(Protocol):
    """Batches of an epoch, prepared ahead of the step where the framework does so."""

    def next_batch(self) -> Any:
        """The next batch, waiting for it; None at the end of an epoch."""

    def restart(self) -> None:
        """Begin the next epoch."""

    def close(self) -> None:
        """Release threads and files."""


Compute = Callable[[Any], None]
"""Computes one batch and returns when its result is there; in training, an accelerator with a clock of its own may
still be at work."""


class Backend(Protocol):
    """What a framework does for the programs."""

    version: str
    clock: AcceleratorClock | None
    """That of the accelerator, None where each step is waited for."""

    def recordio_images(self, data_set: DataSet, side: int, training: bool) -> Input:
        """The framework's own reader of RecordIO images."""

    def synthetic_images(self, side: int) -> Any:
        """A batch of random images and labels."""

    def image_training(self, network: str) -> Compute:
        """Forward, backward and update by SGD with momentum, of one batch of images."""

    def image_inference(self, network: str) -> Compute:
        """Forward of one batch of images."""

    def language_training(self, form: LanguageModelForm) -> Compute:
        """Truncated back-propagation through a pair (words, next words) of batch x steps, state carried over."""


def open_backend(framework: str, settings: Settings) -> Backend:
    """The backend of a framework. Raises Unavailable if there is none, or the framework or device is missing."""
    if framework not in MODULES:
        ready = " or ".join(MODULES)
        raise Unavailable(
            f"these programs do not run on {framework}: use --framework {ready}, or measure a program of your own with "
            "`kind: command`, which reads its log"
        )
    module = importlib.import_module(f".{MODULES[framework]}", __package__)
    return cast(Backend, module.open_backend(settings))
