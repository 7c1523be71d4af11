"""Residual networks in PyTorch (He et al. 2015, arXiv:1512.03385, table 1)."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .network_forms import CLASSES

STAGES = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""Blocks of each of the four stages, by layers."""
WIDENS = 4
"""What a bottleneck's last convolution has of the channels of its others."""


def resnet(layers: int) -> Any:
    """The network of so many layers: of basic blocks with 18, of bottlenecks otherwise."""
    deep = layers > 34
    blocks: list[Any] = []
    channels = 64
    for stage, count in enumerate(STAGES[layers]):
        narrow = 64 << stage
        width = narrow * WIDENS if deep else narrow
        for index in range(count):
            stride = 2 if stage and not index else 1
            body = _bottleneck(channels, narrow, stride) if deep else _basic(channels, narrow, stride)
            blocks.append(Residual(body, channels, width, stride))
            channels = width
    stem = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True)
    ending = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)
    return nn.Sequential(*stem, nn.MaxPool2d(3, 2, 1), *blocks, *ending)


class Residual(nn.Module):  # type: ignore[misc]
    """relu(body(x) + x), x projected by 1x1 where its shape changes."""

    def __init__(self, body: Any, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.body = body
        same = channels == width and stride == 1
        self.shortcut = nn.Identity() if same else nn.Sequential(*_normalised(channels, width, 1, stride))

    def forward(self, images: Any) -> Any:
        return torch.relu_(self.body(images) + self.shortcut(images))


def _basic(channels: int, width: int, stride: int) -> Any:
    return nn.Sequential(
        *_normalised(channels, width, 3, stride), nn.ReLU(inplace=True), *_normalised(width, width, 3, 1)
    )


def _bottleneck(channels: int, narrow: int, stride: int) -> Any:
    """The stride is in the first convolution, as in the paper and in MXNet; torchvision and NVIDIA have it in the 3x3
    ("version 1.5"), which is 7 % more to compute for ResNet-50."""
    return nn.Sequential(
        *_normalised(channels, narrow, 1, stride),
        nn.ReLU(inplace=True),
        *_normalised(narrow, narrow, 3, 1),
        nn.ReLU(inplace=True),
        *_normalised(narrow, narrow * WIDENS, 1, 1),
    )


def _normalised(channels: int, width: int, kernel: int, stride: int) -> tuple[Any, Any]:
    return nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(width)
