"""A rate is the published one, lies between published batch sizes, or comes from other GPUs; and says which."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog import Basis, Catalog, RateQuestion, data_sheet
from sizer.catalog.batch_curve import rate_at
from sizer.catalog.gpu_transfer import published_steps, rate_model

CATALOG = Catalog.load()
GPUS = ("K80", "P100", "V100", "T4", "A10", "A100", "A100 PCIe", "L4", "H100", "B200", "A10G", "Z9000")
NETWORKS = ("resnet50", "vgg16", "alexnet", "inception_v3", "bert_large", "unheard_of")


def test_the_jobs_own_framework_and_batch_come_first() -> None:
    """MXNet trains ResNet-50 on P100 with 181.5 images/s at batch 32, where TensorFlow's table says 219 at 64."""
    found = CATALOG.estimated_rate(RateQuestion("resnet50", "train", "P100", batch_size=32, framework="mxnet"))
    assert found is not None
    assert (found.samples_per_second, found.basis, found.framework) == (181.53, Basis.PUBLISHED, "MXNet")
    other = CATALOG.estimated_rate(RateQuestion("resnet50", "train", "P100", batch_size=64, framework="tensorflow"))
    assert other is not None
    assert other.samples_per_second == 219


def test_between_two_batch_sizes_lies_between_their_rates() -> None:
    """24 lies between 16 and 32, and says that it is interpolated."""
    found = CATALOG.estimated_rate(RateQuestion("resnet50", "train", "P100", batch_size=24, framework="mxnet"))
    assert found is not None
    assert found.basis is Basis.INTERPOLATED
    assert 156.79 < found.samples_per_second < 181.53
    assert found.source.startswith("interpolated: MXNet")


def test_a_pair_that_was_not_published_is_transferred() -> None:
    """BERT on T4 follows from BERT on A10, the nearest by its data sheet; its interval is wider."""
    here, there = (
        CATALOG.estimated_rate(RateQuestion("bert_large_squad", "train", gpu, "mixed", framework="pytorch"))
        for gpu in ("A10", "T4")
    )
    assert here is not None
    assert there is not None
    assert (there.basis, there.known_on) == (Basis.TRANSFERRED, ("A10",))
    assert there.samples_per_second < here.samples_per_second
    assert there.high / there.low > here.high / here.low
    assert there.source.startswith("transferred from A10: ")


@pytest.mark.parametrize("gpu", ["A10G", "MI300X", "Z9000"])
def test_a_gpu_that_compares_with_none_has_no_rate(gpu: str) -> None:
    """A data sheet alone says nothing of what a GPU gets done."""
    assert CATALOG.estimated_rate(RateQuestion("resnet50", "train", gpu)) is None


@given(
    st.sampled_from(NETWORKS),
    st.sampled_from(GPUS),
    st.sampled_from(["train", "infer"]),
    st.sampled_from([None, "fp32", "mixed"]),
    st.sampled_from([None, 1, 24, 32, 100, 2048]),
    st.sampled_from([None, "mxnet", "pytorch"]),
)
def test_an_estimate_holds_its_value_and_names_its_source(
    network: str, gpu: str, mode: str, precision: str | None, batch: int | None, framework: str | None
) -> None:
    """Whatever is asked, there is a positive rate within its bounds and a source, or none."""
    found = CATALOG.estimated_rate(RateQuestion(network, mode, gpu, precision, batch, framework))
    if found is None:
        return
    assert 0 < found.low < found.samples_per_second < found.high
    assert found.sources
    assert found.as_of
    assert bool(found.known_on) == (found.basis is Basis.TRANSFERRED)


@given(st.dictionaries(st.integers(1, 512), st.floats(1, 1e5), min_size=1, max_size=8), st.integers(1, 1024))
def test_a_curve_goes_through_its_points_and_nowhere_below_zero(rates: dict[int, float], batch: int) -> None:
    """A published batch size is its own answer; any other has a positive rate and bounds around it."""
    found = rate_at(rates, batch)
    assert 0 < found.low <= found.value <= found.high
    assert (found.how == "published") == (batch in rates)


@given(st.floats(1e-3, 1.0), st.floats(1e-5, 1e-2), st.lists(st.integers(1, 512), min_size=2, max_size=6, unique=True))
def test_an_affine_step_is_met_exactly(launch: float, sample: float, sizes: Sequence[int]) -> None:
    """Where a step costs a launch and its samples, what lies between follows to a digit."""
    curve = {size: size / (launch + sample * size) for size in sizes}
    between = (min(sizes) + max(sizes)) // 2
    assert rate_at(curve, between).value == pytest.approx(between / (launch + sample * between), rel=1e-6)


def test_a_known_rate_is_told_again() -> None:
    """The transfer gives a GPU's own published rates back to a few percent."""
    steps = published_steps(CATALOG.rates)
    model = rate_model(steps)
    errors = sorted(abs(told.mean - step.log_rate) for told, step in zip(model.several(steps), steps, strict=True))
    assert errors[len(errors) // 2] < 0.05


def test_a_card_and_a_module_are_two_products() -> None:
    """A name without a form means the module, with the least memory that it is sold with."""
    module, card = data_sheet("A100"), data_sheet("A100 PCIe 80GB")
    assert module is not None
    assert card is not None
    assert (module.form, module.memory_gib, card.form, card.memory_gib) == ("SXM4", 40, "PCIe", 80)
