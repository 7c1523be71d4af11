"""Image networks in PyTorch, by name. torchvision, which has most of them, does not load beside PyTorch's CPU build.

Layer by layer those without branches are those of MXNet's model zoo, with the same number of parameters. Inception
networks are without their auxiliary heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from ..networks import CIFAR_CLASSES, CIFAR_STAGES, CLASSES, FULLY_CONNECTED, INCEPTION, OVERFEAT, OVERFEAT_UNITS


def build(network: str) -> Any:
    """The network of that name with random weights: normal ones by He et al. 2015 (arXiv:1502.01852), biases of 0."""
    model = BUILDERS[network]()
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model


def _convolution(channels: int, width: int, kernel: int, **form: int) -> Iterator[Any]:
    yield nn.Conv2d(channels, width, kernel, **form)
    yield nn.ReLU(inplace=True)


def _normalised(channels: int, width: int, kernel: Any, eps: float = 1e-5, **form: Any) -> Iterator[Any]:
    yield nn.Conv2d(channels, width, kernel, bias=False, **form)
    yield nn.BatchNorm2d(width, eps=eps)
    yield nn.ReLU(inplace=True)


def _ending(channels: int, *before: Any) -> tuple[Any, ...]:
    return nn.AdaptiveAvgPool2d(1), nn.Flatten(), *before, nn.Linear(channels, CLASSES)


def _classifier(features: int) -> Iterator[Any]:
    """Two hidden layers of 4096 units, each with dropout, as AlexNet and VGG end."""
    yield nn.Flatten()
    for ends in ((features, 4096), (4096, 4096)):
        yield nn.Linear(*ends)
        yield nn.ReLU(inplace=True)
        yield nn.Dropout(0.5)
    yield nn.Linear(4096, CLASSES)


def alexnet() -> Any:
    """Krizhevsky 2014 (arXiv:1404.5997), "one weird trick": one column of AlexNet without local response."""
    return nn.Sequential(
        *_convolution(3, 64, 11, stride=4, padding=2),
        nn.MaxPool2d(3, 2),
        *_convolution(64, 192, 5, padding=2),
        nn.MaxPool2d(3, 2),
        *(layer for ends in pairwise((192, 384, 256, 256)) for layer in _convolution(*ends, 3, padding=1)),
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


def overfeat() -> Any:
    """OverFeat's fast model, for images of 231 x 231."""
    layers: list[Any] = []
    channels = 3
    for width, kernel, stride, padding, pools in OVERFEAT:
        layers += _convolution(channels, width, kernel, stride=stride, padding=padding)
        layers += [nn.MaxPool2d(2, 2)] if pools else []
        channels = width
    layers.append(nn.Flatten())
    for ends in pairwise(OVERFEAT_UNITS):
        layers += [nn.Linear(*ends), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers, nn.Linear(OVERFEAT_UNITS[-1], CLASSES))


def squeezenet() -> Any:
    """Iandola et al. 2016 (arXiv:1602.07360) in the authors' version 1.1, which has 2.4 times less to compute."""
    layers: list[Any] = [*_convolution(3, 64, 3, stride=2)]
    for fires in (
        ((64, 16, 64), (128, 16, 64)),
        ((128, 32, 128), (256, 32, 128)),
        ((256, 48, 192), (384, 48, 192), (384, 64, 256), (512, 64, 256)),
    ):
        layers += [nn.MaxPool2d(3, 2, ceil_mode=True), *(_fire(*widths) for widths in fires)]
    ending = nn.AdaptiveAvgPool2d(1), nn.Flatten()
    return nn.Sequential(*layers, nn.Dropout(0.5), *_convolution(512, CLASSES, 1), *ending)


def _fire(channels: int, squeezed: int, expanded: int) -> Any:
    """A squeeze by 1x1, then the same number of 1x1 and 3x3, side by side."""
    one = nn.Sequential(*_convolution(squeezed, expanded, 1))
    three = nn.Sequential(*_convolution(squeezed, expanded, 3, padding=1))
    return nn.Sequential(*_convolution(channels, squeezed, 1), Concurrent(one, three))


def mobilenet() -> Any:
    """Howard et al. 2017 (arXiv:1704.04861), table 1, width 1."""
    layers = [*_normalised(3, 32, 3, stride=2, padding=1)]
    widths = (32, 64, 128, 128, 256, 256, *[512] * 6, 1024, 1024)
    for index, (channels, width) in enumerate(pairwise(widths)):
        stride = 2 if index in (1, 3, 5, 11) else 1
        layers += _normalised(channels, channels, 3, stride=stride, padding=1, groups=channels)
        layers += _normalised(channels, width, 1)
    return nn.Sequential(*layers, *_ending(1024))


def fcn5() -> Any:
    """dlbench's FCN-S, which takes vectors."""
    layers = [layer for ends in pairwise(FULLY_CONNECTED) for layer in (nn.Linear(*ends), nn.Sigmoid())]
    return nn.Sequential(*layers[:-1])


STAGES = {18: (2, 2, 2, 2), 50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""Blocks of each of the four stages of a residual network, by layers."""
WIDENS = 4
"""What a bottleneck's last convolution has of the channels of its others."""


def resnet(layers: int) -> Any:
    """He et al. 2015 (arXiv:1512.03385, table 1) of so many layers: of basic blocks with 18, of bottlenecks otherwise.

    A bottleneck has its stride in the first convolution, as in the paper and in MXNet; torchvision and NVIDIA have it
    in the 3x3 ("version 1.5"), which is 7 % more to compute for ResNet-50.
    """
    deep = layers > 34
    blocks: list[Any] = []
    channels = 64
    for stage, count in enumerate(STAGES[layers]):
        narrow = 64 << stage
        body = ((narrow, 1), (narrow, 3), (narrow * WIDENS, 1)) if deep else ((narrow, 3), (narrow, 3))
        for index in range(count):
            blocks.append(Residual(channels, body, 2 if stage and not index else 1))
            channels = body[-1][0]
    stem = _normalised(3, 64, 7, stride=2, padding=3)
    return nn.Sequential(*stem, nn.MaxPool2d(3, 2, 1), *blocks, *_ending(channels))


def resnet56() -> Any:
    """ResNet-56 for images of 32 x 32, projected by 1x1 where a stage begins."""
    blocks: list[Any] = []
    channels = CIFAR_STAGES[0][0]
    for width, count in CIFAR_STAGES:
        for index in range(count):
            stride = 2 if width > channels and not index else 1
            blocks.append(Residual(channels, ((width, 3), (width, 3)), stride))
            channels = width
    stem = _normalised(3, CIFAR_STAGES[0][0], 3, padding=1)
    ending = nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CIFAR_CLASSES)
    return nn.Sequential(*stem, *blocks, *ending)


class Residual(nn.Module):  # type: ignore[misc]
    """relu(body(x) + x), x projected by 1x1 where its shape changes; `body` has widths and kernels."""

    def __init__(self, channels: int, body: tuple[tuple[int, int], ...], stride: int) -> None:
        super().__init__()
        layers: list[Any] = []
        width, step = channels, stride
        for after, kernel in body:
            layers += _normalised(width, after, kernel, stride=step, padding=kernel // 2)
            width, step = after, 1
        self.body = nn.Sequential(*layers[:-1])
        same = channels == width and stride == 1
        self.shortcut = (
            nn.Identity() if same else nn.Sequential(*[*_normalised(channels, width, 1, stride=stride)][:-1])
        )

    def forward(self, images: Any) -> Any:
        return torch.relu_(self.body(images) + self.shortcut(images))


class Concurrent(nn.Module):  # type: ignore[misc]
    """Branches on the same input, their channels one behind another."""

    def __init__(self, *branches: Any) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, images: Any) -> Any:
        return torch.cat([branch(images) for branch in self.branches], 1)


_inception_convolution = partial(_normalised, eps=0.001)
ACROSS, DOWN = (1, 7), (7, 1)


def _chain(channels: int, *layers: tuple[Any, ...]) -> Any:
    """Convolutions of a width, a kernel and perhaps a stride: without one, the image keeps its size."""
    parts: list[Any] = []
    for width, kernel, *stride in layers:
        height, across = kernel if isinstance(kernel, tuple) else (kernel, kernel)
        form = {"stride": stride[0]} if stride else {"padding": (height // 2, across // 2)}
        parts += _inception_convolution(channels, width, kernel, **form)
        channels = width
    return nn.Sequential(*parts)


def googlenet() -> Any:
    """GoogLeNet (Szegedy et al. 2014, arXiv:1409.4842, table 1) as PyTorch's users know it: with batch normalisation,
    which takes the place of local response, and with 3x3 where the paper has 5x5."""
    halving = partial(nn.MaxPool2d, 3, 2, ceil_mode=True)
    layers = [
        *_inception_convolution(3, 64, 7, stride=2, padding=3),
        halving(),
        _chain(64, (64, 1), (192, 3)),
        halving(),
    ]
    channels = 192
    for widths in INCEPTION:
        if widths is None:
            layers.append(halving())
            continue
        one, three_reduce, three, five_reduce, five, pool = widths
        layers.append(
            Concurrent(
                _chain(channels, (one, 1)),
                _chain(channels, (three_reduce, 1), (three, 3)),
                _chain(channels, (five_reduce, 1), (five, 3)),
                nn.Sequential(nn.MaxPool2d(3, 1, 1), _chain(channels, (pool, 1))),
            )
        )
        channels = one + three + five + pool
    return nn.Sequential(*layers, *_ending(channels, nn.Dropout(0.4)))


def inception_v3() -> Any:
    """Inception v3 (Szegedy et al. 2015, arXiv:1512.00567, table 1) for images of 299 x 299."""
    return nn.Sequential(
        *_inception_convolution(3, 32, 3, stride=2),
        *_inception_convolution(32, 32, 3),
        *_inception_convolution(32, 64, 3, padding=1),
        nn.MaxPool2d(3, 2),
        *_inception_convolution(64, 80, 1),
        *_inception_convolution(80, 192, 3),
        nn.MaxPool2d(3, 2),
        *(_figure_5(channels, pool) for channels, pool in ((192, 32), (256, 64), (288, 64))),
        Concurrent(_chain(288, (384, 3, 2)), _chain(288, (64, 1), (96, 3), (96, 3, 2)), nn.MaxPool2d(3, 2)),
        *(_figure_6(768, narrow) for narrow in (128, 160, 160, 192)),
        Concurrent(
            _chain(768, (192, 1), (320, 3, 2)),
            _chain(768, (192, 1), (192, ACROSS), (192, DOWN), (192, 3, 2)),
            nn.MaxPool2d(3, 2),
        ),
        _figure_7(1280),
        _figure_7(2048),
        *_ending(2048, nn.Dropout(0.5)),
    )


def _averaged(channels: int, width: int) -> Any:
    return nn.Sequential(nn.AvgPool2d(3, 1, 1), _chain(channels, (width, 1)))


def _figure_5(channels: int, pool: int) -> Any:
    """On 35 x 35."""
    five, threes = _chain(channels, (48, 1), (64, 5)), _chain(channels, (64, 1), (96, 3), (96, 3))
    return Concurrent(_chain(channels, (64, 1)), five, threes, _averaged(channels, pool))


def _figure_6(channels: int, narrow: int) -> Any:
    """On 17 x 17: 7x7 as 1x7 and 7x1."""
    once = _chain(channels, (narrow, 1), (narrow, ACROSS), (192, DOWN))
    twice = _chain(channels, (narrow, 1), (narrow, DOWN), (narrow, ACROSS), (narrow, DOWN), (192, ACROSS))
    return Concurrent(_chain(channels, (192, 1)), once, twice, _averaged(channels, 192))


def _figure_7(channels: int) -> Any:
    """On 8 x 8: 3x3 as 1x3 and 3x1 side by side."""
    return Concurrent(
        _chain(channels, (320, 1)),
        nn.Sequential(_chain(channels, (384, 1)), _both_ways()),
        nn.Sequential(_chain(channels, (448, 1), (384, 3)), _both_ways()),
        _averaged(channels, 192),
    )


def _both_ways() -> Any:
    return Concurrent(_chain(384, (384, (1, 3))), _chain(384, (384, (3, 1))))


BUILDERS: dict[str, Callable[[], Any]] = {
    "alexnet": alexnet,
    "fcn5": fcn5,
    "googlenet": googlenet,
    "inception_v3": inception_v3,
    "mobilenet": mobilenet,
    "overfeat": overfeat,
    **{f"resnet{layers}": partial(resnet, layers) for layers in STAGES},
    "resnet56": resnet56,
    "squeezenet": squeezenet,
    "vgg16": vgg16,
}
