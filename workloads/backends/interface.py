"""What a program asks of a framework, and where each framework's code is."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from ..accelerator import StepTime
from ..data_sets.data_set import DataSet
from ..faults import Unavailable
from ..options import Computing, Reading
from .data_parallel import Rank

READ_FOLDERS = frozenset({"pytorch"})
"""Frameworks that read the files of a folder one by one; for others it is packed first."""

MODULES = {"mxnet": "mxnet_backend", "pytorch": "pytorch_backend"}
"""A framework is one more file here with `open_backend(settings) -> Backend`, and one more line."""

FORWARD, FORWARD_BACKWARD, TRAIN = "forward", "forward_backward", "train"
"""What is computed of a batch: its outputs; the gradients, too; and the update of the parameters by them."""
TRAINING_MODES = (TRAIN, FORWARD_BACKWARD)


@dataclass(frozen=True)
class Settings:
    """What every part of a backend needs to know. `device` is `cpu` or `cuda:N`: of several ranks, that of this one."""

    device: str
    threads: int
    seed: int
    batch_size: int
    computing: Computing = field(default_factory=Computing)
    reading: Reading = field(default_factory=Reading)
    rank: Rank = field(default_factory=Rank)


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


@dataclass(frozen=True)
class TransformerForm:
    """A language model that `transformers` makes: words of a sequence, different words that a text is read as, and
    whether it tells masked words, not the next ones. The vocabulary that it chooses from is its own, and larger."""

    network: str
    steps: int
    vocabulary: int
    masked: bool


class Input(Protocol):
    """Batches of an epoch, prepared ahead of the step where the framework does so."""

    def next_batch(self) -> Any:
        """The next batch, waiting for it; None at the end of an epoch."""

    def restart(self) -> None:
        """Begin the next epoch."""

    def close(self) -> None:
        """Release threads and files."""


class Epochs:
    """The batches of a generator that is made anew for each epoch and ends with it: mapped pages cannot be evicted."""

    def __init__(self, epoch: Callable[[], Generator[Any, None, None]]) -> None:
        self._epoch = epoch
        self._batches = epoch()

    def next_batch(self) -> Any:
        batch = next(self._batches, None)
        if batch is None:
            self.close()
        return batch

    def restart(self) -> None:
        self.close()
        self._batches = self._epoch()

    def close(self) -> None:
        self._batches.close()


Compute = Callable[[Any], Any]
"""Computes one batch and returns when its result is there: in training the loss, as the framework holds it, while an
accelerator with a clock of its own may still be at work."""


class Backend(Protocol):
    """What a framework does for the programs."""

    version: str
    clock: Callable[[], StepTime] | None
    """Begins to time a step on the accelerator; None where each step is waited for."""
    stated: dict[str, bool | int | str]
    """The options that it computes and reads with, by their names in a study file; complete once the input is open."""

    def images(self, data_set: DataSet, side: int, training: bool) -> Input:
        """The reader of a data set's images: the framework's own, where it has one for its form."""

    def synthetic_samples(self, network: str) -> Any:
        """A batch of random samples of the form that the network takes, and labels."""

    def image_training(self, network: str, updates: bool = True) -> Compute:
        """Forward and backward of one batch of images, and the update by SGD with momentum unless told not to."""

    def image_inference(self, network: str) -> Compute:
        """Forward of one batch of images."""

    def language_training(self, form: LanguageModelForm | TransformerForm, mode: str = TRAIN) -> Compute:
        """Training on a pair (words, next words) of batch x steps; an LSTM's state is carried over, by truncated
        back-propagation.

        `forward_backward` is without clipping and update, `forward` the loss without dropout and without gradients.
        Raises Unavailable for a network that the framework lacks.
        """


def open_backend(framework: str, settings: Settings) -> Backend:
    """The backend of a framework. Raises Unavailable if there is none, or the framework or device is missing."""
    if framework not in MODULES:
        ready = " or ".join(MODULES)
        raise Unavailable(f"no program here runs on {framework}: use {ready}, or measure your own with `kind: command`")
    module = importlib.import_module(f".{MODULES[framework]}", __package__)
    return cast(Backend, module.open_backend(settings))
