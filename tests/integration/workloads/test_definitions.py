"""What the cross table says of networks that two backends define differently is counted in both."""

from __future__ import annotations

from math import prod

import pytest

from sizer.records import DIFFERENCES
from workloads.backends import NETWORKS

pytest.importorskip("torch")
pytest.importorskip("workloads.backends.mxnet_networks")


def _of_mxnet(network: str) -> int:
    from workloads.backends import mxnet_networks

    side = 299 if network == "inception_v3" else 224
    model = mxnet_networks.build(network)
    model.initialize()
    model(mxnet_networks.mx.nd.zeros((1, 3, side, side))).wait_to_read()
    return sum(prod(each.shape) for each in model.collect_params().values() if each.grad_req != "null")


def _of_pytorch(network: str) -> int:
    from workloads.backends import pytorch_networks

    return sum(each.numel() for each in pytorch_networks.build(network).parameters())


@pytest.mark.parametrize("network", NETWORKS)
def test_definitions_that_differ_are_known(network: str) -> None:
    """All that have other counts of parameters in the two backends, with both counts."""
    counted = {"mxnet": _of_mxnet(network), "pytorch": _of_pytorch(network)}
    known = dict(DIFFERENCES[network].parameters) if network in DIFFERENCES else {}
    assert known == (counted if len(set(counted.values())) > 1 else {})
