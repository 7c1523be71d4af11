"""GPUs by the names that people write, and the rates that are estimated for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.catalog.accelerator_rates import AcceleratorRate
from sizer.catalog.catalog import Catalog
from sizer.catalog.gpu_transfer import published_steps, rate_model, scaling_efficiency
from sizer.catalog.gpus import gpu_names, meant_gpu
from sizer.catalog.rate_estimate import Basis, RateQuestion, rate_at
from sizer.records.messages import InputError

# What people and drivers call accelerators, and what price lists do.


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("NVIDIA H200 141GB HBM3e", "H200"),
        ("H100 (80 GB)", "H100"),
        ("A100 (40GB)", "A100-40GB"),
        ("Tesla K40c", "K40m"),
        ("K40", "K40m"),
        ("GeForce GTX TITAN X", "Titan X (Maxwell)"),
        ("Maxwell Titan X", "Titan X (Maxwell)"),
        ("NVIDIA TITAN X (Pascal)", "Titan X (Pascal)"),
        ("GeForce GTX 1080", "GTX 1080"),
        ("A100 40 GB", "A100-40GB"),
        ("A100 40G", "A100-40GB"),
        ("A100 80", "A100-80GB"),
        ("NVIDIA A100 80GB PCIe", "A100-80GB"),
        ("V100 32GB", "V100-32GB"),
        ("Tesla V100-SXM2-32GB", "V100-32GB"),
        ("Tesla V100-SXM2", "V100"),
        ("tesla v100", "V100"),
        ("nvidia-tesla-t4", "T4"),
        ("Tesla P100-PCIE-16GB", "P100"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("RTX3090", "RTX 3090"),
        ("2080Ti", "RTX 2080 Ti"),
        ("NVIDIA A10G", "A10G"),
        ("AMD Instinct MI300X", "MI300X"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("Tesla V100-DGXS-32GB", "V100-32GB"),
        ("GRID M60", "M60"),
        ("RTX PRO 6000 96GB", "RTX-PRO-SERVER-6000"),
        ("HL-225", "Gaudi2"),
    ],
)
def test_a_gpu_has_one_name(written: str, name: str) -> None:
    """Without the maker, the form and the only size of its memory; with the size where there are two."""
    assert gpu_names([written]) == {written: name}
    assert gpu_names([name]) == {name: name}


@pytest.mark.parametrize(
    "name", ["TPUv3", "Trainium", "H100 NVL 94GB", "A100 MIG 1g.5gb", "V100S-ish", "gpu", "a:b", "", "=1+1", "显卡"]
)
def test_a_name_that_is_not_known_stays_as_it_is_written(name: str) -> None:
    """A slice of a GPU, or another product, is not that GPU."""
    assert gpu_names([name]) == {name: name}


def test_a_card_and_a_module_stay_two_where_a_table_has_both() -> None:
    """They are not as fast."""
    both = gpu_names(["NVIDIA H100 PCIe", "H100 SXM5", "NVIDIA H100 80GB HBM3", "Tesla T4"])
    assert list(both.values()) == ["H100 PCIe", "H100", "H100", "T4"]


def test_every_gpu_of_the_catalogue_is_called_as_it_is_there() -> None:
    """By any name that one has elsewhere it is that of the price lists."""
    for gpu in {type_.gpu for type_ in Catalog.load().instance_types if type_.gpu}:
        assert gpu_names([gpu]) == {gpu: gpu}


@pytest.mark.parametrize(
    ("asked", "measured", "meant"),
    [
        ("tesla v100", ["V100", "K80"], "V100"),
        ("V100", ["V100-16GB"], "V100-16GB"),
        ("V100", ["V100-16GB", "V100-32GB"], None),
        ("NVIDIA V100 32GB", ["V100-16GB", "V100-32GB"], "V100-32GB"),
        ("V100 32GB", ["V100-16GB"], None),
        ("NVIDIA H100 PCIe", ["H100 PCIe", "H100"], "H100 PCIe"),
        ("H100", ["H100 PCIe", "H100"], "H100"),
        ("A100-SXM4-40GB", ["A100"], "A100"),
        ("mychip 9", ["MyChip-9"], "MyChip-9"),
        ("T4", [], None),
    ],
)
def test_the_gpu_that_is_meant_is_one_that_was_measured(asked: str, measured: list[str], meant: str | None) -> None:
    assert meant_gpu(asked, measured) == meant


def rate(network: str, count: int, samples_per_second: float, gpu: str = "V100") -> AcceleratorRate:
    """One published number of a table."""
    return AcceleratorRate(
        mode="train",
        network=network,
        gpu=gpu,
        precision="fp32",
        batch_size=64,
        samples_per_second=samples_per_second,
        framework="MXNet",
        as_of="2021",
        source="a table",
        gpu_count=count,
    )


TABLE = [rate(name, n, one * n * lost) for name, one in (("a", 100), ("b", 50)) for n, lost in ((1, 1.0), (4, 0.9))]


def test_a_published_table_is_its_own_answer() -> None:
    """The MXNet table of ResNet-50 on V100: 0.973 of four, with its source."""
    efficiency = scaling_efficiency("resnet50", "V100", 4, precision="fp32", framework="mxnet")
    assert (efficiency.basis, round(efficiency.value, 3)) == ("published", 0.973)
    assert efficiency.low < efficiency.value < efficiency.high
    assert any("RN50v1.5" in source for source in efficiency.sources)


def test_another_network_is_less_sure() -> None:
    """What no table has is told from others on the same GPU, with a wider interval."""
    own, other = (scaling_efficiency(name, "V100", 4, rates=TABLE) for name in ("a", "c"))
    assert other.basis == "transferred"
    assert other.high - other.low > own.high - own.low


@pytest.mark.parametrize(("mode", "count"), [("infer", 8), ("forward", 4), ("train", 1)])
def test_who_exchanges_nothing_loses_nothing(mode: str, count: int) -> None:
    """Accelerators that only infer, and one alone, are as fast as so many."""
    efficiency = scaling_efficiency("resnet50", "V100", count, mode=mode)
    assert (efficiency.value, efficiency.low, efficiency.high, efficiency.basis) == (1.0, 1.0, 1.0, "independent")


@given(
    st.sampled_from(["resnet50", "vgg16", "unheard_of"]),
    st.sampled_from(["V100", "A100", "T4", "Z9000"]),
    st.integers(2, 16),
)
def test_more_accelerators_never_lose_each_other(network: str, gpu: str, count: int) -> None:
    """All of them are as fast as one at the least, and the interval holds the value."""
    efficiency = scaling_efficiency(network, gpu, count)
    assert 1 / count <= efficiency.low <= efficiency.value <= efficiency.high <= 1.1


# A rate is the published one, lies between published batch sizes, or comes from other GPUs; and says which.


CATALOG = Catalog.load()
GPUS = ("K80", "P100", "V100", "T4", "A10", "A100", "A100 PCIe", "L4", "H100", "B200", "A10G", "Z9000")
NETWORKS = ("resnet50", "vgg16", "alexnet", "inception_v3", "bert_large", "unheard_of")


def test_the_jobs_own_framework_and_batch_come_first() -> None:
    """MXNet trains ResNet-50 on P100 with 181.5 images/s at batch 32, where TensorFlow's table says 219 at 64."""
    estimate = CATALOG.estimated_rate(RateQuestion("resnet50", "train", "P100", batch_size=32, framework="mxnet"))
    assert (estimate.samples_per_second, estimate.basis, estimate.framework) == (181.53, Basis.PUBLISHED, "MXNet")
    other = CATALOG.estimated_rate(RateQuestion("resnet50", "train", "P100", batch_size=64, framework="tensorflow"))
    assert other.samples_per_second == 219


def test_a_pair_that_was_not_published_is_transferred() -> None:
    """BERT on T4 follows from BERT on A10, the nearest by its data sheet; its interval is wider."""
    here, there = (
        CATALOG.estimated_rate(RateQuestion("bert_large_squad", "train", gpu, "mixed", framework="pytorch"))
        for gpu in ("A10", "T4")
    )
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
    estimate = CATALOG.estimated_rate(RateQuestion(network, mode, gpu, precision, batch, framework))
    if estimate is None:
        return
    assert 0 < estimate.low < estimate.samples_per_second < estimate.high
    assert estimate.sources
    assert estimate.as_of
    assert bool(estimate.known_on) == (estimate.basis is Basis.TRANSFERRED)


@given(st.dictionaries(st.integers(1, 512), st.floats(1, 1e5), min_size=1, max_size=8), st.integers(1, 1024))
def test_a_curve_goes_through_its_points_and_nowhere_below_zero(rates: dict[int, float], batch: int) -> None:
    """A published batch size is its own answer; any other has a positive rate and bounds around it."""
    rate = rate_at(rates, batch)
    assert 0 < rate.low <= rate.value <= rate.high
    assert (rate.how == "published") == (batch in rates)


def test_a_known_rate_is_told_again() -> None:
    """The transfer gives a GPU's own published rates back to a few percent."""
    steps = published_steps(CATALOG.rates)
    model = rate_model(steps)
    errors = sorted(
        abs(transferred.mean - step.log_rate) for transferred, step in zip(model.several(steps), steps, strict=True)
    )
    assert errors[len(errors) // 2] < 0.05


def test_eight_bits_answer_for_no_job_that_does_not_name_them() -> None:
    """ResNet-50 is published on A10 with 13,805 images/s in int8, which a job of unsaid precision does not make."""
    unsaid, eight = (
        CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "A10", precision, 32)) for precision in (None, "int8")
    )
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


def test_a_batch_far_beyond_the_published_ones_has_no_rate() -> None:
    """An interval of more than tenfold is no answer, and what is known is named."""
    assert (
        CATALOG.estimated_rate(RateQuestion("resnet50", "infer", "P100", batch_size=16000, framework="mxnet")) is None
    )
    with pytest.raises(InputError, match=r"on P100 \(`batch_size: 16000`\) .* for both at a batch of 1, 2, "):
        CATALOG.accelerator_rate("infer", "resnet50", "P100", batch_size=16000, framework="mxnet")
