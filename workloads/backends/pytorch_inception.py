"""Inception networks in PyTorch, without their auxiliary heads: GoogLeNet and Inception v3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from .network_forms import CLASSES, INCEPTION


class Concurrent(nn.Module):  # type: ignore[misc]
    """Branches on the same input, their channels one behind another."""

    def __init__(self, *branches: Any) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, images: Any) -> Any:
        return torch.cat([branch(images) for branch in self.branches], 1)


def googlenet() -> Any:
    """GoogLeNet (Szegedy et al. 2014, arXiv:1409.4842, table 1) as PyTorch's users know it: with batch normalisation,
    which takes the place of local response, and with 3x3 where the paper has 5x5."""
    layers = [
        *_convolution(3, 64, 7, stride=2, padding=3),
        _halving(),
        *_convolution(64, 64, 1),
        *_convolution(64, 192, 3, padding=1),
        _halving(),
    ]
    channels = 192
    for widths in INCEPTION:
        if widths is None:
            layers.append(_halving())
        else:
            layers.append(_inception(channels, *widths))
            one, _, three, _, five, pool = widths
            channels = one + three + five + pool
    return nn.Sequential(*layers, *_ending(channels, 0.4))


def _halving() -> Any:
    return nn.MaxPool2d(3, 2, ceil_mode=True)


def _inception(
    channels: int, one: int, three_reduce: int, three: int, five_reduce: int, five: int, pool: int
) -> Concurrent:
    return Concurrent(
        nn.Sequential(*_convolution(channels, one, 1)),
        nn.Sequential(*_convolution(channels, three_reduce, 1), *_convolution(three_reduce, three, 3, padding=1)),
        nn.Sequential(*_convolution(channels, five_reduce, 1), *_convolution(five_reduce, five, 3, padding=1)),
        nn.Sequential(nn.MaxPool2d(3, 1, 1), *_convolution(channels, pool, 1)),
    )


def inception_v3() -> Any:
    """Inception v3 (Szegedy et al. 2015, arXiv:1512.00567, table 1) for images of 299 x 299."""
    return nn.Sequential(
        *_convolution(3, 32, 3, stride=2),
        *_convolution(32, 32, 3),
        *_convolution(32, 64, 3, padding=1),
        nn.MaxPool2d(3, 2),
        *_convolution(64, 80, 1),
        *_convolution(80, 192, 3),
        nn.MaxPool2d(3, 2),
        *(_figure_5(channels, pool) for channels, pool in ((192, 32), (256, 64), (288, 64))),
        _to_17(288),
        *(_figure_6(768, narrow) for narrow in (128, 160, 160, 192)),
        _to_8(768),
        _figure_7(1280),
        _figure_7(2048),
        *_ending(2048, 0.5),
    )


def _figure_5(channels: int, pool: int) -> Any:
    """On 35 x 35."""
    return Concurrent(
        nn.Sequential(*_convolution(channels, 64, 1)),
        nn.Sequential(*_convolution(channels, 48, 1), *_convolution(48, 64, 5, padding=2)),
        nn.Sequential(
            *_convolution(channels, 64, 1), *_convolution(64, 96, 3, padding=1), *_convolution(96, 96, 3, padding=1)
        ),
        nn.Sequential(_averaging(), *_convolution(channels, pool, 1)),
    )


def _to_17(channels: int) -> Any:
    return Concurrent(
        nn.Sequential(*_convolution(channels, 384, 3, stride=2)),
        nn.Sequential(
            *_convolution(channels, 64, 1), *_convolution(64, 96, 3, padding=1), *_convolution(96, 96, 3, stride=2)
        ),
        nn.MaxPool2d(3, 2),
    )


def _figure_6(channels: int, narrow: int) -> Any:
    """On 17 x 17: 7x7 as 1x7 and 7x1."""
    return Concurrent(
        nn.Sequential(*_convolution(channels, 192, 1)),
        nn.Sequential(*_convolution(channels, narrow, 1), *_across(narrow, narrow), *_down(narrow, 192)),
        nn.Sequential(
            *_convolution(channels, narrow, 1),
            *_down(narrow, narrow),
            *_across(narrow, narrow),
            *_down(narrow, narrow),
            *_across(narrow, 192),
        ),
        nn.Sequential(_averaging(), *_convolution(channels, 192, 1)),
    )


def _to_8(channels: int) -> Any:
    return Concurrent(
        nn.Sequential(*_convolution(channels, 192, 1), *_convolution(192, 320, 3, stride=2)),
        nn.Sequential(
            *_convolution(channels, 192, 1),
            *_across(192, 192),
            *_down(192, 192),
            *_convolution(192, 192, 3, stride=2),
        ),
        nn.MaxPool2d(3, 2),
    )


def _figure_7(channels: int) -> Any:
    """On 8 x 8: 3x3 as 1x3 and 3x1 side by side."""
    return Concurrent(
        nn.Sequential(*_convolution(channels, 320, 1)),
        nn.Sequential(*_convolution(channels, 384, 1), _both_ways(384)),
        nn.Sequential(*_convolution(channels, 448, 1), *_convolution(448, 384, 3, padding=1), _both_ways(384)),
        nn.Sequential(_averaging(), *_convolution(channels, 192, 1)),
    )


def _both_ways(channels: int) -> Any:
    return Concurrent(
        nn.Sequential(*_convolution(channels, 384, (1, 3), padding=(0, 1))),
        nn.Sequential(*_convolution(channels, 384, (3, 1), padding=(1, 0))),
    )


def _across(channels: int, width: int) -> Iterator[Any]:
    return _convolution(channels, width, (1, 7), padding=(0, 3))


def _down(channels: int, width: int) -> Iterator[Any]:
    return _convolution(channels, width, (7, 1), padding=(3, 0))


def _averaging() -> Any:
    return nn.AvgPool2d(3, 1, 1)


def _convolution(channels: int, width: int, kernel: Any, **form: Any) -> Iterator[Any]:
    yield nn.Conv2d(channels, width, kernel, bias=False, **form)
    yield nn.BatchNorm2d(width, eps=0.001)
    yield nn.ReLU(inplace=True)


def _ending(channels: int, dropout: float) -> tuple[Any, ...]:
    return nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(dropout), nn.Linear(channels, CLASSES)
