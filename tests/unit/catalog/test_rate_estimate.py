"""A rate is the published one, lies between published batch sizes, or comes from other GPUs; and says which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.batch_curve import rate_at
from sizer.catalog.catalog import Catalog
from sizer.catalog.gpu_transfer import published_steps, rate_model
from sizer.catalog.rate_estimate import Basis, RateQuestion
from sizer.records.messages import InputError
from sizer.study.json_schema import networks_of

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


def test_a_known_rate_is_told_again() -> None:
    """The transfer gives a GPU's own published rates back to a few percent."""
    steps = published_steps(CATALOG.rates)
    model = rate_model(steps)
    errors = sorted(abs(told.mean - step.log_rate) for told, step in zip(model.several(steps), steps, strict=True))
    assert errors[len(errors) // 2] < 0.05


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


def test_a_network_in_another_precision_alone_says_in_which() -> None:
    """ResNet-18 on RTX 3090 is published with mixed precision, which is no rate of a job in fp32."""
    with pytest.raises(InputError, match=r"on RTX 3090 \(fp32\) .*for both in mixed"):
        CATALOG.accelerator_rate("train", "resnet18", "RTX 3090", precision="fp32")


def test_what_is_advised_may_be_written_in_a_study() -> None:
    """Of the networks that are published on a GPU those that a study may name; of two GPUs of one name both."""
    with pytest.raises(InputError, match=r"it has rates for Titan X \(Maxwell\): googlenet and for resnet50: A10,"):
        CATALOG.accelerator_rate("train", "resnet50", "Titan X (Maxwell)", networks=networks_of("image_training"))
    with pytest.raises(InputError, match=r"did you mean Titan X \(Maxwell\) or Titan X \(Pascal\)\?"):
        CATALOG.gpu("Titan X")
    assert networks_of("command") is None


def test_a_rate_of_gradients_alone_is_one_of_that_mode() -> None:
    """Torch's of ResNet-50 on a GTX 1080; of GoogLeNet on a K40m what Paddle measured."""
    rate = CATALOG.accelerator_rate("forward_backward", "resnet50", "GTX 1080", batch_size=16, framework="pytorch")
    assert rate.samples_per_second == pytest.approx(106.8, abs=0.05)
    assert CATALOG.accelerator_rate("train", "googlenet", "Tesla K40", batch_size=128).samples_per_second > 100


def test_a_batch_far_beyond_the_published_ones_has_no_rate() -> None:
    """An interval of more than tenfold is no answer, and what is known is named."""
    assert (
        CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "P100", batch_size=16000, framework="mxnet")) is None
    )
    with pytest.raises(InputError, match=r"on P100 \(`batch_size: 16000`\) .* for both at a batch of 1, 2, "):
        CATALOG.accelerator_rate("infer", "resnet50", "P100", batch_size=16000, framework="mxnet")
