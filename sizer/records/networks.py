"""The image networks of sizer's own workloads: which of them differ between frameworks, and which take no images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

TAKES_VECTORS = frozenset({"fcn5"})
"""Networks that a data set of images cannot feed."""


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
ONLY_IN = dict.fromkeys(TRANSFORMERS, ("pytorch",))
"""The frameworks of those networks that not every framework has."""

BATCH_SIZES = {"bert_base": 8, "gpt2_small": 8}
"""Where the study file says nothing, of the networks that do not take their kind's: of sequences of 128 words as few as
fit a small machine."""
