"""What each mode computes, in both frameworks: only training changes the parameters."""

from __future__ import annotations

from importlib import import_module

import pytest

from workloads.backends import FORWARD, FORWARD_BACKWARD, TRAIN, LanguageModelForm, Settings, open_backend

FRAMEWORKS = pytest.mark.parametrize("framework", ["mxnet", "pytorch"])
WITHOUT_PYTORCH = "PyTorch is an extra: pip install .[pytorch]"


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
