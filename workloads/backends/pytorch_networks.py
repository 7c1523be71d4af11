"""Image networks in PyTorch, by name. torchvision, which has most of them, does not load beside PyTorch's CPU build."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from .pytorch_inception import googlenet, inception_v3
from .pytorch_plain import alexnet, fcn5, mobilenet, squeezenet, vgg16
from .pytorch_residual import resnet

BUILDERS: dict[str, Callable[[], Any]] = {
    "alexnet": alexnet,
    "fcn5": fcn5,
    "googlenet": googlenet,
    "inception_v3": inception_v3,
    "mobilenet": mobilenet,
    "resnet18": partial(resnet, 18),
    "resnet50": partial(resnet, 50),
    "resnet101": partial(resnet, 101),
    "resnet152": partial(resnet, 152),
    "squeezenet": squeezenet,
    "vgg16": vgg16,
}


def build(network: str) -> Any:
    """The network of that name with random weights: normal ones by He et al. 2015 (arXiv:1502.01852), biases of 0."""
    model = BUILDERS[network]()
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return model
