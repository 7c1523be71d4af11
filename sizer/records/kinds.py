"""The kinds of workload: all that sizer knows of one beside its program in `workloads/`, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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

    `framework`, `network`, `format` and `batch_size` hold where the study file says nothing; None where the kind has no
    such thing. `data_formats` are the forms of data that it can be given: a folder of images is packed first for one
    that reads records. `reads` is how it reads them: a sample at a time (`samples`), all of it at the start of an epoch
    (`epoch`), or in a way that nobody knows (None); `shuffles` if in a new order each epoch, or perhaps. `has_step`:
    it can be fed with synthetic input. `rate_mode` says which published rates of accelerators are its own. `modes` are
    what its program can compute of a batch, the first of them where nothing else is asked for.
    `start_up_seconds` is start-up and warm-up on one vCPU: interpreter, framework, graph and first steps (MXNet 1.9.1,
    2 vCPU EPYC, 2026).
    """

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

    @property
    def mode(self) -> str | None:
        """What it computes of a batch where nothing else is asked for; None where nobody knows, or no network is."""
        return self.modes[0] if self.modes else None


# Zaremba et al. 2014, "Recurrent Neural Network Regularization": the small model and its batch.
_LANGUAGE_TRAINING = WorkloadKind(
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
        "mxnet", "resnet50", "recordio", 32, 10.0, IMAGES, has_step=True, rate_mode="infer", modes=(FORWARD,)
    ),
    **dict.fromkeys(sorted(LANGUAGE), _LANGUAGE_TRAINING),
    PREPROCESSING: WorkloadKind(OPENCV, None, "recordio", 32, 4.0, ("folder",)),
    # Nothing is known of a command: a step is a sample until its file says how many samples a step has.
    COMMAND: WorkloadKind(OTHER, None, None, 1, 15.0, reads=None, shuffles=True),
    # Never started.
    IMPORTED: WorkloadKind(OTHER, None, None, 1, 0.0, reads=None, shuffles=True),
}
