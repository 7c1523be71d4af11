"""The networks: their names, which framework has them, and what their definitions share in every framework."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

CLASSES = 1000
"""ImageNet's."""
OF_CIFAR = frozenset({"resnet56"})
"""Networks for CIFAR-10, with its ten classes and its images of 32 x 32."""
CIFAR_CLASSES = 10
SIDES = {"inception_v3": 299, "overfeat": 231, **dict.fromkeys(OF_CIFAR, 32)}
"""Pixels of a side of what a network takes, where that is not 224."""

OVERFEAT = (
    (96, 11, 4, 0, True),
    (256, 5, 1, 0, True),
    (512, 3, 1, 1, False),
    (1024, 3, 1, 1, False),
    (1024, 3, 1, 1, True),
)
"""Sermanet et al. 2013 (arXiv:1312.6229), table 1, the fast model: channels, kernel, stride and padding of each
convolution, and whether a max pooling of 2x2 follows. Then layers of 3072 and 4096 units."""
OVERFEAT_UNITS = (1024 * 6 * 6, 3072, 4096)
CIFAR_STAGES = ((16, 9), (32, 9), (64, 9))
"""He et al. 2015 (arXiv:1512.03385), section 4.2, n = 9: channels and basic blocks of each stage of ResNet-56."""

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
    return SIDES.get(network, 224)


def sample_form(network: str) -> tuple[tuple[int, ...], int]:
    """The shape of one sample that the network takes, and how many classes it tells apart."""
    if network in TAKES_VECTORS:
        return FULLY_CONNECTED[:1], FULLY_CONNECTED[-1]
    side = image_side(network)
    return (3, side, side), CIFAR_CLASSES if network in OF_CIFAR else CLASSES


def folded_labels(network: str) -> Callable[[Any], Any]:
    """What makes labels of a data set such as the network tells apart: one for CIFAR knows ten classes."""
    return (lambda labels: labels % CIFAR_CLASSES) if network in OF_CIFAR else (lambda labels: labels)
