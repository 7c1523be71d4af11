"""Networks whose layers follow one another, in PyTorch: AlexNet, VGG, SqueezeNet, MobileNet and FCN-5.

Layer by layer they are those of MXNet's model zoo, with the same number of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from .network_forms import CLASSES, FULLY_CONNECTED


def alexnet() -> Any:
    """Krizhevsky 2014 (arXiv:1404.5997), "one weird trick": one column of AlexNet without local response."""
    return nn.Sequential(
        *_convolution(3, 64, 11, stride=4, padding=2),
        nn.MaxPool2d(3, 2),
        *_convolution(64, 192, 5, padding=2),
        nn.MaxPool2d(3, 2),
        *_convolution(192, 384, 3, padding=1),
        *_convolution(384, 256, 3, padding=1),
        *_convolution(256, 256, 3, padding=1),
        nn.MaxPool2d(3, 2),
        *_classifier(256 * 6 * 6),
    )


def vgg16() -> Any:
    """Simonyan and Zisserman 2014 (arXiv:1409.1556), table 1, configuration D."""
    layers: list[Any] = []
    channels = 3
    for width, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers += _convolution(channels, width, 3, padding=1)
            channels = width
        layers.append(nn.MaxPool2d(2, 2))
    return nn.Sequential(*layers, *_classifier(512 * 7 * 7))


def squeezenet() -> Any:
    """Iandola et al. 2016 (arXiv:1602.07360) in the authors' version 1.1, which has 2.4 times less to compute."""
    return nn.Sequential(
        *_convolution(3, 64, 3, stride=2),
        nn.MaxPool2d(3, 2, ceil_mode=True),
        Fire(64, 16, 64),
        Fire(128, 16, 64),
        nn.MaxPool2d(3, 2, ceil_mode=True),
        Fire(128, 32, 128),
        Fire(256, 32, 128),
        nn.MaxPool2d(3, 2, ceil_mode=True),
        Fire(256, 48, 192),
        Fire(384, 48, 192),
        Fire(384, 64, 256),
        Fire(512, 64, 256),
        nn.Dropout(0.5),
        *_convolution(512, CLASSES, 1),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def mobilenet() -> Any:
    """Howard et al. 2017 (arXiv:1704.04861), table 1, width 1."""
    layers = [*_normalised(3, 32, 3, stride=2, padding=1)]
    channels = 32
    for width, stride in (
        (64, 1),
        (128, 2),
        (128, 1),
        (256, 2),
        (256, 1),
        (512, 2),
        *[(512, 1)] * 5,
        (1024, 2),
        (1024, 1),
    ):
        layers += _normalised(channels, channels, 3, stride=stride, padding=1, groups=channels)
        layers += _normalised(channels, width, 1)
        channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


def fcn5() -> Any:
    """dlbench's FCN-S, which takes vectors."""
    layers = [layer for ends in pairwise(FULLY_CONNECTED) for layer in (nn.Linear(*ends), nn.Sigmoid())]
    return nn.Sequential(*layers[:-1])


class Fire(nn.Module):  # type: ignore[misc]
    """A squeeze by 1x1, then the same number of 1x1 and 3x3, side by side."""

    def __init__(self, channels: int, squeezed: int, expanded: int) -> None:
        super().__init__()
        self.squeeze = nn.Sequential(*_convolution(channels, squeezed, 1))
        self.one = nn.Sequential(*_convolution(squeezed, expanded, 1))
        self.three = nn.Sequential(*_convolution(squeezed, expanded, 3, padding=1))

    def forward(self, images: Any) -> Any:
        squeezed = self.squeeze(images)
        return torch.cat((self.one(squeezed), self.three(squeezed)), 1)


def _convolution(channels: int, width: int, kernel: int, **form: int) -> Iterator[Any]:
    yield nn.Conv2d(channels, width, kernel, **form)
    yield nn.ReLU(inplace=True)


def _normalised(channels: int, width: int, kernel: int, **form: int) -> Iterator[Any]:
    yield nn.Conv2d(channels, width, kernel, bias=False, **form)
    yield nn.BatchNorm2d(width)
    yield nn.ReLU(inplace=True)


def _classifier(features: int) -> Iterator[Any]:
    """Two hidden layers of 4096 units, each with dropout, as AlexNet and VGG end."""
    yield nn.Flatten()
    for ends in ((features, 4096), (4096, 4096)):
        yield nn.Linear(*ends)
        yield nn.ReLU(inplace=True)
        yield nn.Dropout(0.5)
    yield nn.Linear(4096, CLASSES)
