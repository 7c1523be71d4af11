"""The kinds of workload, and the networks that they compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal

from sizer.records.messages import Message

COMMAND = "command"
IMPORTED = "imported"
"""What was measured elsewhere; only `sizer import` writes it, and nothing of it can be run."""

PREPROCESSING = "imagenet_preprocessing"
LANGUAGE = frozenset({"language_training", "lstm_training"})
"""Two names of one kind: the second is of a time when LSTMs were all that it trained."""

OPENCV = "opencv"
"""What decodes and encodes the images of preprocessing: no framework of the others takes part in it."""

PYTORCH = "pytorch"
OTHER = "other"
"""The framework of a kind that has none, or of which nobody knows it."""

IMAGES = ("recordio", "lmdb", "folder")
FORWARD, FORWARD_BACKWARD, TRAIN = "forward", "forward_backward", "train"
MODES = (FORWARD, FORWARD_BACKWARD, TRAIN)
"""What is computed of a batch: the outputs alone; the gradients, too; and the update of the parameters by them."""


@dataclass(frozen=True)
class WorkloadKind:
    """One kind.

    `label` is what a person calls it. `framework`, `network`, `format` and `batch_size` hold where the study file
    says nothing; None where the kind has no such thing. `data_formats` are the forms of data that it can be given: a
    folder of images is packed first for one that reads records. `reads` is how it reads them: a sample at a time
    (`samples`), all of it at the start of an epoch (`epoch`), or in a way that nobody knows (None); `shuffles` if in
    a new order each epoch, or perhaps. `has_step`: it can be fed with synthetic input. `rate_mode` says which
    published rates of accelerators are its own. `modes` are what its program can compute of a batch, the first of
    them where nothing else is asked for. `lacks` are options of the other programs that its own does not have
    (`runner/commands.py`). `start_up_seconds` is start-up and warm-up on one vCPU: interpreter, framework, graph and
    first steps (MXNet 1.9.1, 2 vCPU EPYC, 2026).
    """

    label: Message
    framework: str
    network: str | None
    format: str | None
    batch_size: int
    start_up_seconds: float
    data_formats: tuple[str, ...] = ()
    reads: Literal["samples", "epoch"] | None = "samples"
    shuffles: bool = False
    has_step: bool = False
    rate_mode: Literal["train", "infer"] | None = None
    modes: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def mode(self) -> str | None:
        """What it computes of a batch where nothing else is asked for; None where nobody knows, or no network is."""
        return self.modes[0] if self.modes else None


# Zaremba et al. 2014, "Recurrent Neural Network Regularization": the small model and its batch.
_LANGUAGE_TRAINING = WorkloadKind(
    Message("training of a language model"),
    "mxnet",
    "small",
    "text",
    20,
    8.0,
    ("text",),
    reads="epoch",
    has_step=True,
    rate_mode="train",
    modes=(TRAIN, FORWARD_BACKWARD, FORWARD),
)
KINDS = {
    "image_training": WorkloadKind(
        Message("image training"),
        "mxnet",
        "resnet50",
        "recordio",
        32,
        20.0,
        IMAGES,
        shuffles=True,
        has_step=True,
        rate_mode="train",
        modes=(TRAIN, FORWARD_BACKWARD),
    ),
    "image_inference": WorkloadKind(
        Message("image inference"),
        "mxnet",
        "resnet50",
        "recordio",
        32,
        10.0,
        IMAGES,
        has_step=True,
        rate_mode="infer",
        modes=(FORWARD,),
    ),
    "language_training": _LANGUAGE_TRAINING,
    "lstm_training": replace(_LANGUAGE_TRAINING, label=Message("LSTM training")),
    PREPROCESSING: WorkloadKind(
        Message("ImageNet-style preprocessing"),
        OPENCV,
        None,
        "recordio",
        32,
        4.0,
        ("folder",),
        lacks=("framework", "network", "rate", "scratch"),
    ),
    # Nothing is known of a command: a step is a sample until its file says how many samples a step has.
    COMMAND: WorkloadKind(Message("own command"), OTHER, None, None, 1, 15.0, reads=None, shuffles=True),
    # Never started.
    IMPORTED: WorkloadKind(Message("measured elsewhere"), OTHER, None, None, 1, 0.0, reads=None, shuffles=True),
}


class DifferenceKind(str, Enum):
    """How two frameworks' definitions of a network differ."""

    BATCH_NORMALISATION = "batch_normalisation"
    """MXNet's is the paper's, with local response normalisation; PyTorch's is the one that its users know, with batch
    normalisation, and with 3x3 in the place of 5x5."""
    BIASES = "biases"
    """MXNet's model zoo has biases in the 1x1 convolutions of bottlenecks, in front of a batch normalisation that takes
    them off again."""


@dataclass(frozen=True)
class NetworkDifference:
    """How the definitions of a network differ, and the parameters that each framework's has."""

    kind: DifferenceKind
    parameters: Mapping[str, int]


DIFFERENCES = {
    "googlenet": NetworkDifference(DifferenceKind.BATCH_NORMALISATION, {"mxnet": 6_998_552, "pytorch": 6_624_904}),
    "resnet50": NetworkDifference(DifferenceKind.BIASES, {"mxnet": 25_575_912, "pytorch": 25_557_032}),
    "resnet101": NetworkDifference(DifferenceKind.BIASES, {"mxnet": 44_589_800, "pytorch": 44_549_160}),
    "resnet152": NetworkDifference(DifferenceKind.BIASES, {"mxnet": 60_252_648, "pytorch": 60_192_808}),
}
"""All others are the same, layer by layer."""

TRANSFORMERS = frozenset({"vit_b16", "convnext_tiny", "bert_base", "gpt2_small"})
"""Networks that the package `transformers` makes."""

BATCH_SIZES = {"bert_base": 8, "gpt2_small": 8}
"""Where the study file says nothing, of the networks that do not take their kind's: of sequences of 128 words as few as
fit a small machine."""
