"""The networks: their names, which framework has them, and what their definitions share in every framework."""

from __future__ import annotations

NETWORKS = (
    "alexnet",
    "fcn5",
    "googlenet",
    "inception_v3",
    "mobilenet",
    "resnet18",
    "resnet50",
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

CLASSES = 1000
"""ImageNet's."""

INCEPTION = (
    (64, 96, 128, 16, 32, 32),
    (128, 128, 192, 32, 96, 64),
    None,
    (192, 96, 208, 16, 48, 64),
    (160, 112, 224, 24, 64, 64),
    (128, 128, 256, 24, 64, 64),
    (112, 144, 288, 32, 64, 64),
    (256, 160, 320, 32, 128, 128),
    None,
    (256, 160, 320, 32, 128, 128),
    (384, 192, 384, 48, 128, 128),
)
"""Szegedy et al. 2014 (arXiv:1409.4842), table 1, 3a to 5b: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj;
None is a max pooling of 3x3 with stride 2."""

FULLY_CONNECTED = (26_752, 2048, 2048, 2048, 26_752)
"""Units of the five layers of dlbench's FCN-S (https://github.com/hclhkbu/dlbench,
synthetic/experiments/mxnet/fc/symbol_fcn5.py): inputs, three hidden layers with sigmoids, classes."""


def image_side(network: str) -> int:
    """Pixels of a side of the network's input."""
    return 299 if network == "inception_v3" else 224


def sample_form(network: str) -> tuple[tuple[int, ...], int]:
    """The shape of one sample that the network takes, and how many classes it tells apart."""
    if network in TAKES_VECTORS:
        return FULLY_CONNECTED[:1], FULLY_CONNECTED[-1]
    side = image_side(network)
    return (3, side, side), CLASSES
