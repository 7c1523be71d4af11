"""The names of the networks, by what they take and which framework has them."""

from __future__ import annotations

NETWORKS = (
    "alexnet",
    "fcn5",
    "googlenet",
    "inception_v3",
    "mobilenet",
    "overfeat",
    "resnet18",
    "resnet50",
    "resnet56",
    "resnet101",
    "resnet152",
    "squeezenet",
    "vgg16",
)
"""Those of both frameworks, but for texts."""
TAKES_VECTORS = frozenset({"fcn5"})
"""Networks that a data set of images cannot feed."""

IMAGE_TRANSFORMERS = ("convnext_tiny", "vit_b16")
TRANSFORMERS = frozenset({*IMAGE_TRANSFORMERS, "bert_base", "gpt2_small"})
"""Networks that the package `transformers` makes, in PyTorch alone."""
