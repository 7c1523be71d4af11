"""Image networks in MXNet Gluon: those of its model zoo, and those that the zoo lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..networks import CIFAR_CLASSES, CIFAR_STAGES, CLASSES, FULLY_CONNECTED, INCEPTION, OVERFEAT, OVERFEAT_UNITS
from . import mxnet_library

mx = mxnet_library.load()
nn = mx.gluon.nn

ZOO = {
    "alexnet": "alexnet",
    "inception_v3": "inceptionv3",
    "mobilenet": "mobilenet1.0",
    "resnet18": "resnet18_v1",
    "resnet50": "resnet50_v1",
    "resnet101": "resnet101_v1",
    "resnet152": "resnet152_v1",
    "squeezenet": "squeezenet1.1",
    "vgg16": "vgg16",
}

FUSED = "MKLDNN"
"""The subgraphs that MXNet's own scoring (`Module`, MXNET_SUBGRAPH_BACKEND) fuses on a CPU: a convolution, its batch
normalisation and its activation become one operator, without a gradient. Gluon does so only when asked: it is 1-17 % of
the rate, least in VGG-16 and most in MobileNet (MXNet 1.9.1, one thread of an AMD EPYC, batch 4)."""


def compiled(network: str, device: Any, inference_only: bool = False) -> Any:
    """The network of that name with random weights on a device of MXNet, its graph compiled at the first call."""
    model = build(network)
    model.initialize(mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2), ctx=device)
    fuses = inference_only and device.device_type == "cpu" and mx.runtime.Features().is_enabled(FUSED)
    model.hybridize(backend=FUSED if fuses else None, static_alloc=True, static_shape=True)
    return model


def build(network: str) -> Any:
    """The network of that name, not initialised."""
    if network in OWN:
        return OWN[network]()
    return mx.gluon.model_zoo.vision.get_model(ZOO[network], classes=CLASSES)


def googlenet() -> Any:
    """GoogLeNet (Szegedy et al. 2014, table 1) without its auxiliary heads and without batch normalisation."""
    network = nn.HybridSequential()
    network.add(
        _convolution(64, 7, strides=2, padding=3),
        _halving(),
        _local_response(),
        _convolution(64, 1),
        _convolution(192, 3, padding=1),
        _local_response(),
        _halving(),
    )
    for widths in INCEPTION:
        network.add(_halving() if widths is None else _inception(*widths))
    network.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dropout(0.4), nn.Dense(CLASSES))
    return network


def fcn5() -> Any:
    """dlbench's FCN-S, which takes vectors."""
    network = nn.HybridSequential()
    inputs, *hidden, classes = FULLY_CONNECTED
    for units in hidden:
        network.add(nn.Dense(units, activation="sigmoid", in_units=inputs))
        inputs = units
    network.add(nn.Dense(classes, in_units=inputs))
    return network


def overfeat() -> Any:
    """OverFeat's fast model, for images of 231 x 231."""
    network = nn.HybridSequential()
    for channels, kernel, strides, padding, pools in OVERFEAT:
        network.add(_convolution(channels, kernel, strides, padding))
        if pools:
            network.add(nn.MaxPool2D(2, strides=2))
    for units in OVERFEAT_UNITS[1:]:
        network.add(nn.Dense(units, activation="relu"))
    network.add(nn.Dense(CLASSES))
    return network


def resnet56() -> Any:
    """ResNet-56 for images of 32 x 32, of the zoo's basic blocks."""
    block = mx.gluon.model_zoo.vision.BasicBlockV1
    network = nn.HybridSequential()
    channels = CIFAR_STAGES[0][0]
    network.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
    for width, count in CIFAR_STAGES:
        for index in range(count):
            widens = width > channels and not index
            network.add(block(width, 2 if widens else 1, downsample=widens, in_channels=channels))
            channels = width
    network.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(CIFAR_CLASSES))
    return network


OWN: dict[str, Callable[[], Any]] = {
    "fcn5": fcn5,
    "googlenet": googlenet,
    "overfeat": overfeat,
    "resnet56": resnet56,
}


def _convolution(channels: int, kernel: int, strides: int = 1, padding: int = 0) -> Any:
    return nn.Conv2D(channels, kernel, strides=strides, padding=padding, activation="relu")


def _halving() -> Any:
    return nn.MaxPool2D(3, strides=2, ceil_mode=True)


def _local_response() -> Any:
    return nn.HybridLambda(lambda F, x: F.LRN(x, nsize=5, alpha=1e-4, beta=0.75))


def _inception(one: int, three_reduce: int, three: int, five_reduce: int, five: int, pool: int) -> Any:
    block = mx.gluon.contrib.nn.HybridConcurrent(axis=1)
    block.add(
        _convolution(one, 1),
        _chain(_convolution(three_reduce, 1), _convolution(three, 3, padding=1)),
        _chain(_convolution(five_reduce, 1), _convolution(five, 5, padding=2)),
        _chain(nn.MaxPool2D(3, strides=1, padding=1), _convolution(pool, 1)),
    )
    return block


def _chain(*layers: Any) -> Any:
    block = nn.HybridSequential()
    block.add(*layers)
    return block
