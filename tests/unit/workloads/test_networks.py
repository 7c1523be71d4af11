"""The networks of both frameworks: how many numbers each learns, and what comes out of them."""

from __future__ import annotations

import math
import re
from importlib import import_module
from typing import Any

import pytest

from sizer.records.kinds import DIFFERENCES, TRANSFORMERS
from sizer.study.json_schema import schema
from tests import ROOT
from workloads import networks
from workloads.backends import mxnet_library
from workloads.backends.interface import FORWARD, FORWARD_BACKWARD, TRAIN, LanguageModelForm, Settings, open_backend
from workloads.networks import NETWORKS, sample_form

WITHOUT_PYTORCH = "PyTorch is an extra: pip install .[pytorch]"

PARAMETERS = {
    # torchvision's documentation of its weights (num_params), which are those of the papers' networks.
    "alexnet": 61_100_840,
    "googlenet": 6_624_904,
    "resnet18": 11_689_512,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "resnet152": 60_192_808,
    "squeezenet": 1_235_496,
    "vgg16": 138_357_544,
    # torchvision's 27,161,264 without the auxiliary head of 3,326,696.
    "inception_v3": 23_834_568,
    # Howard et al. 2017, table 8: 4.2 millions. Keras's 4,253,864 without 21,888 moving means and variances.
    "mobilenet": 4_231_976,
    # Sermanet et al. 2013, table 1 and 4: 145 millions.
    "overfeat": 145_920_872,
    # He et al. 2015, table 6: 0.85 millions, and 2,752 of two projections by 1x1.
    "resnet56": 855_770,
    # dlbench, symbol_fcn5.py: 26,752 - 2,048 - 2,048 - 2,048 - 26,752; "about 118 millions".
    "fcn5": 2 * 26_752 * 2048 + 2 * 2048 * 2048 + 3 * 2048 + 26_752,
}


@pytest.fixture(scope="module")
def mx() -> Any:
    """MXNet, which takes seconds to import: not where tests are collected, which every worker does."""
    return mxnet_library.load()


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason=WITHOUT_PYTORCH)


@pytest.mark.parametrize("network", NETWORKS)
def test_pytorchs_networks_have_the_published_parameters(torch: Any, network: str) -> None:
    """Each count has its source, and each network gives a score for each class."""
    definitions = import_module("workloads.backends.pytorch_networks")
    shape, classes = sample_form(network)
    with torch.device("meta"):
        model = definitions.BUILDERS[network]().eval()
        assert sum(parameter.numel() for parameter in model.parameters()) == PARAMETERS[network]
        assert model(torch.zeros(2, *shape)).shape == (2, classes)


@pytest.mark.parametrize("network", NETWORKS)
def test_mxnets_networks_have_the_same_but_where_it_is_said(mx: Any, network: str) -> None:
    """The parameters of the differences are those that the page tells."""
    model = import_module("workloads.backends.mxnet_networks").build(network)
    shape, _ = sample_form(network)
    model.infer_shape(mx.nd.zeros((1, *shape)))
    count = sum(math.prod(param.shape) for param in model.collect_params().values() if param.grad_req != "null")
    known = {"mxnet": PARAMETERS[network], "pytorch": PARAMETERS[network]}
    known |= DIFFERENCES[network].parameters if network in DIFFERENCES else {}
    assert (count, PARAMETERS[network]) == (known["mxnet"], known["pytorch"])


def test_the_documentation_has_every_count() -> None:
    """A row for each network, with the count of MXNet's and, where it differs, of PyTorch's."""
    text = (ROOT / "docs/frameworks.md").read_text()
    for network, count in PARAMETERS.items():
        (row,) = re.findall(rf"^\| `{network}` \|.*$", text, re.MULTILINE)
        assert f" {count:,} " in row
        if network in DIFFERENCES:
            assert f" {DIFFERENCES[network].parameters['mxnet']:,} " in row


def test_sizer_and_its_workloads_agree_on_what_takes_vectors() -> None:
    """The two know nothing of each other."""
    rules = schema()["$defs"]
    assert {*rules["takes_vectors"]["enum"]} == networks.TAKES_VECTORS
    assert {*rules["in_pytorch_alone"]["enum"]} == TRANSFORMERS


@pytest.mark.parametrize("framework", ["mxnet", "pytorch"])
@pytest.mark.parametrize("network", ["squeezenet", "resnet56"])
def test_the_same_seed_gives_the_same_loss(framework: str, network: str) -> None:
    """Weights, input and dropout follow the seed; another one gives another loss."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)

    def losses(seed: int) -> list[float]:
        backend = open_backend(framework, Settings("cpu", 1, seed, 2))
        batch, compute = backend.synthetic_samples(network), backend.image_training(network)
        return [float(compute(batch).item() if framework == "pytorch" else compute(batch).asscalar()) for _ in range(2)]

    first = losses(7)
    assert losses(7) == pytest.approx(first, rel=1e-4)
    assert losses(8) != pytest.approx(first, rel=1e-4)


FRAMEWORKS = pytest.mark.parametrize("framework", ["mxnet", "pytorch"])


def _figure(loss: object) -> float:
    return float(getattr(loss, "asscalar", getattr(loss, "item", None))())  # type: ignore[misc]


@FRAMEWORKS
def test_gradients_alone_change_no_parameter(framework: str) -> None:
    """The same batch gives the same loss again, until its gradients are applied."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)
    backend = open_backend(framework, Settings("cpu", 1, 7, 2))
    batch = backend.synthetic_samples("resnet18")
    for updates in (False, True):
        compute = backend.image_training("resnet18", updates=updates)
        first, second = (_figure(compute(batch)) for _ in range(2))
        assert (second == pytest.approx(first, rel=1e-4)) is not updates


@FRAMEWORKS
def test_a_language_model_learns_only_when_it_is_trained(framework: str) -> None:
    """Its state is carried over in every mode; what it says of the same words is better after updates alone."""
    if framework == "pytorch":
        pytest.importorskip("torch", reason=WITHOUT_PYTORCH)
    numpy = import_module("numpy")
    words = numpy.random.default_rng(1).integers(0, 50, (4, 9), dtype=numpy.int32)
    form = LanguageModelForm(2, 16, 8, 0.0, 0.1, 5.0, 50)
    backend = open_backend(framework, Settings("cpu", 1, 3, 4))
    for mode in (FORWARD, FORWARD_BACKWARD, TRAIN):
        compute = backend.language_training(form, mode)
        losses = [_figure(compute((words[:, :-1], words[:, 1:]))) for _ in range(6)]
        assert (losses[-1] < 0.9 * losses[0]) is (mode == TRAIN)
        assert losses[-1] == pytest.approx(losses[0], rel=0.02) or mode == TRAIN
