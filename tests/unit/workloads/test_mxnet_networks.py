from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from workloads.backends import NETWORKS, mxnet_library


@pytest.fixture(scope="module")
def mx() -> Any:
    """MXNet, which takes seconds to import: not where tests are collected, which every worker does."""
    return mxnet_library.load()


@pytest.fixture(scope="module")
def networks(mx: Any) -> Any:  # noqa: ARG001
    return import_module("workloads.backends.mxnet_networks")


@pytest.fixture
def parameters(mx: Any, networks: Any) -> Callable[[str], int]:
    """How many numbers a network learns."""

    def parameters(network: str) -> int:
        model = networks.build(network)
        model.initialize()
        model.infer_shape(mx.nd.zeros((1, 3, 224, 224)))
        return sum(
            math.prod(parameter.shape) for parameter in model.collect_params().values() if parameter.grad_req != "null"
        )

    return parameters


def test_googlenet_has_the_papers_parameters(parameters: Callable[[str], int]) -> None:
    """Szegedy 2014, table 1, without auxiliary heads: 6,998,552 with biases."""
    assert parameters("googlenet") == 6_998_552


def test_googlenets_stages_have_the_papers_sizes(mx: Any, networks: Any) -> None:
    """The last inception module gives 1024 channels of 7 x 7."""
    model = networks.googlenet()
    model.initialize()
    value = mx.nd.zeros((1, 3, 224, 224))
    for layer in list(model._children.values())[:-4]:
        value = layer(value)
    assert value.shape == (1, 1024, 7, 7)


@pytest.mark.parametrize(
    ("network", "count"), [("alexnet", 61_100_840), ("resnet50", 25_557_032), ("vgg16", 138_357_544)]
)
def test_the_zoos_networks_are_the_published_ones(parameters: Callable[[str], int], network: str, count: int) -> None:
    """Parameter counts agree with other libraries' to 0.1 % (MXNet's ResNet convolutions have a few biases)."""
    assert parameters(network) == pytest.approx(count, rel=1e-3)


def test_every_network_can_be_built(networks: Any) -> None:
    """Each name that the programs offer exists."""
    for network in NETWORKS:
        assert networks.build(network) is not None


def operators(model: Any) -> set[str]:
    """Those of the graph that the model ran last."""
    return {node["op"] for node in json.loads(model._cached_graph[1].tojson())["nodes"]}


@pytest.mark.parametrize("network", ["squeezenet", "mobilenet"])
def test_inference_runs_fused_operators_and_answers_as_without(mx: Any, networks: Any, network: str) -> None:
    """As MXNet's own scoring does: no convolution or activation is left by itself, and the classes score alike."""
    model = networks.compiled(network, mx.cpu(), inference_only=True)
    images = mx.nd.random.uniform(-2, 2, (1, 3, 224, 224))
    fused = model(images).asnumpy()
    assert not operators(model) & {"Convolution", "BatchNorm", "Activation"}
    model.hybridize()
    alone = model(images).asnumpy()
    assert "Convolution" in operators(model)
    assert fused == pytest.approx(alone, rel=1e-4, abs=1e-4 * float(abs(alone).max()))


def test_a_network_that_learns_keeps_operators_with_gradients(mx: Any, networks: Any) -> None:
    """What is compiled for training is not fused, and its gradients are there."""
    model = networks.compiled("squeezenet", mx.cpu())
    with mx.autograd.record():
        total = model(mx.nd.random.uniform(-2, 2, (1, 3, 224, 224))).sum()
    total.backward()
    assert "Convolution" in operators(model)
    assert any(float(each.grad().abs().max().asscalar()) > 0 for each in model.collect_params().values())
