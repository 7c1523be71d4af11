from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from workloads.backends import mxnet_library


@pytest.fixture(scope="module")
def mx() -> Any:
    """MXNet, which takes seconds to import: not where tests are collected, which every worker does."""
    return mxnet_library.load()


@pytest.fixture(scope="module")
def networks(mx: Any) -> Any:  # noqa: ARG001
    return import_module("workloads.backends.mxnet_networks")


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
