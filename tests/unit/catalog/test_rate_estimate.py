"""A rate is the published one, lies between published batch sizes, or comes from other GPUs; and says which."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.batch_curve import rate_at
from sizer.catalog.catalog import Catalog
from sizer.catalog.data_sheets import data_sheet, data_sheets
from sizer.catalog.gpu_transfer import PublishedStep, published_step, published_steps, rate_model
from sizer.catalog.rate_estimate import Basis, RateQuestion
from sizer.records.errors import InputError

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
    assert (there.basis, there.known_on) == (Basis.TRANSFERRED, ("A10 PCIe",))
    assert there.samples_per_second < here.samples_per_second
    assert there.high / there.low > here.high / here.low
    assert there.source.startswith("transferred from A10 PCIe: ")


def test_the_form_of_the_gpu_that_it_is_transferred_from_is_said() -> None:
    """A module and a PCIe card of one name are two GPUs."""
    found = CATALOG.estimated_rate(RateQuestion("inception_v3", "train", "A100", "fp16"))
    assert found is not None
    assert found.known_on == ("A100 PCIe",)


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


def test_what_a_table_has_of_an_architecture_holds_for_its_other_gpus() -> None:
    """An A10 that is slow in a table makes an A30 (Ampere, too) slower than a T4 that is slow there does."""
    told = {}
    for slow in ("A10", "T4"):
        known = [_step("vgg16", "V100", 5.0), _step("resnet50", "V100", 6.0), _step("vgg16", slow, 3.0)]
        told[slow] = rate_model([*_others(), *known]).expected(_step("resnet50", "A30", 0.0)).mean
    assert told["A10"] < told["T4"]


def _step(network: str, gpu: str, log_rate: float, table: str = "ours") -> PublishedStep:
    rate = AcceleratorRate(
        mode="train",
        network=network,
        gpu=gpu,
        precision="fp32",
        batch_size=32,
        samples_per_second=math.exp(log_rate),
        framework="mxnet",
        as_of="2020",
        source=table,
    )
    step = published_step(rate)
    assert step is not None
    return step


def _others() -> list[PublishedStep]:
    return [_step("alexnet", gpu, 7.0, "another") for gpu in ("V100", "A10", "T4", "A30")]


def test_a_gpu_with_matrix_units_has_their_figure() -> None:
    """Without one a job in 16 bits would be told by the arithmetic of 32."""
    plain = ("Kepler", "Maxwell", "Pascal")
    assert [each.gpu for each in data_sheets() if each.arch not in plain and not each.fp16_tflops] == []


def test_a_card_and_a_module_are_two_products() -> None:
    """A name without a form means the module, with the least memory that it is sold with."""
    module, card = data_sheet("A100"), data_sheet("A100 PCIe 80GB")
    assert module is not None
    assert card is not None
    assert (module.form, module.memory_gib, card.form, card.memory_gib) == ("SXM4", 40, "PCIe", 80)


def test_eight_bits_answer_for_no_job_that_does_not_name_them() -> None:
    """ResNet-50 is published on A10 with 13,805 images/s in int8, which a job of unsaid precision does not make."""
    unsaid, eight = (
        CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "A10", precision, 32)) for precision in (None, "int8")
    )
    assert eight is not None
    assert eight.precision == "int8"
    assert unsaid is None or unsaid.precision == "tf32"


@pytest.mark.parametrize(
    ("gpu", "precision"), [("V100", "bf16"), ("T4", "bfloat16"), ("K80", "fp16"), ("P40", "mixed")]
)
def test_a_precision_that_a_gpu_lacks_has_no_rate_there(gpu: str, precision: str) -> None:
    """Volta and Turing have no bfloat16, and Kepler no 16 bits that are faster: a V100's rate is not carried over."""
    assert CATALOG.estimated_rate(RateQuestion("resnet50", "train", gpu, precision, 64, "pytorch")) is None


@pytest.mark.parametrize(("called", "precision"), [("FP32", "fp32"), ("float32", "fp32"), ("AMP", "mixed")])
def test_a_precision_has_several_names(called: str, precision: str) -> None:
    """Tables write FP32 and AMP, the catalogue fp32 and mixed."""
    asked = RateQuestion("resnet50", "train", "V100", called, 64, "pytorch")
    found, plain = CATALOG.estimated_rate(asked), CATALOG.estimated_rate(replace(asked, precision=precision))
    assert found is not None
    assert found == plain


def test_a_network_in_another_precision_alone_says_in_which() -> None:
    """ResNet-18 on RTX 3090 is published with mixed precision, which is no rate of a job in fp32."""
    with pytest.raises(InputError, match=r"on RTX 3090 \(fp32\) .*for both in mixed"):
        CATALOG.accelerator_rate("train", "resnet18", "RTX 3090", precision="fp32")


@pytest.mark.parametrize(("batch", "basis"), [(24, Basis.INTERPOLATED), (160, Basis.EXTRAPOLATED)])
def test_beyond_the_published_batch_sizes_is_said(batch: int, basis: Basis) -> None:
    """A batch of 160 was never published, so its rate does not lie between those of a table."""
    found = CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "P100", batch_size=batch, framework="mxnet"))
    assert found is not None
    assert found.basis is basis
    assert found.source.startswith(f"{basis.value}: ")


def test_a_batch_far_beyond_the_published_ones_has_no_rate() -> None:
    """An interval of more than tenfold is no answer, and what is known is named."""
    assert (
        CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "P100", batch_size=16000, framework="mxnet")) is None
    )
    with pytest.raises(InputError, match=r"on P100 \(`batch_size: 16000`\) .* for both at a batch of 1, 2, "):
        CATALOG.accelerator_rate("infer", "resnet50", "P100", batch_size=16000, framework="mxnet")


def test_another_framework_at_the_batch_size_says_more_than_this_one_far_from_it() -> None:
    """PyTorch's rates on V100 in fp32 begin at 112, and MXNet has a published one of a batch of 2."""
    question = RateQuestion("resnet50", "train", "V100", "fp32", 2, "pytorch")
    found = CATALOG.estimated_rate(question)
    assert found is not None
    assert (found.basis, found.framework, found.samples_per_second) == (Basis.PUBLISHED, "MXNet", 65.01)
    near = CATALOG.estimated_rate(replace(question, batch_size=128))
    assert near is not None
    assert near.framework == "PyTorch"
