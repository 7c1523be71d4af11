"""What the model promises of any runs it is given."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.files.codec import from_json, to_json
from sizer.model.fitting import fit
from sizer.model.memory import memory_floor
from sizer.model.model import Model, WhatIf, WorkloadModel
from sizer.model.prediction import predict
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.prediction import Refused
from sizer.records.run import DataSet, Demand, Evidence, EvidenceKind, Run
from sizer.records.run_kinds import Outcome
from sizer.records.units import GIB
from sizer.words.model import model_summary, parameter_name
from sizer.words.names import terms_of
from sizer.words.reasons.suggestions import refusal_sentences

MakeRun = Callable[..., Run]
TIERS = {"slow": DiskRates(400, 2e7), "fast": DiskRates(20_000, 8e8)}


def refused(model: WorkloadModel) -> str:
    """Why there is no model, in words."""
    assert model.refused is not None
    return refusal_sentences(model.refused, terms_of(model))


def at(vcpus: float, memory: int = 8 * GIB, disk: str = "host", batch: int = 32) -> Configuration:
    return Configuration(vcpus, memory, disk, batch)


@pytest.fixture
def curve(make_run: MakeRun) -> Callable[..., WorkloadModel]:
    """The model of a throughput curve alone, as an imported measurement gives it."""

    def make(*points: tuple[float, float]) -> WorkloadModel:
        return fit([make_run(rate, vcpus) for vcpus, rate in points]).workload("train")

    return make


@pytest.mark.slow
@given(
    rates=st.lists(st.floats(0.1, 1e6), min_size=1, max_size=8),
    first=st.sampled_from([0.25, 1.0, 2.0]),
    asked=st.floats(0.1, 600),
)
@settings(max_examples=15, derandomize=True)
def test_any_curve_gives_a_sound_answer_or_none(
    make_run: MakeRun, rates: list[float], first: float, asked: float
) -> None:
    """Whatever was measured: positive rates inside their intervals and shares that sum to one, or no shares where the
    runs do not show what binds, or else NoAnswer."""
    model = fit([make_run(rate, first * 2**index) for index, rate in enumerate(rates)]).workload("train")
    assert bool(model.refused) == (len(rates) < 3)
    if model.refused and asked not in model.measured.vcpus:
        with pytest.raises(Refused) as refused:
            predict(model, at(asked))
        assert refused.value.refusal.suggestion is not None
        return
    found = predict(model, at(asked))
    assert 0 < found.throughput.low <= found.throughput.value <= found.throughput.high
    assert math.isfinite(found.throughput.high)
    assert sum(found.shares.values()) == pytest.approx(1) or found.bottleneck is Bottleneck.AMBIGUOUS
    assert all(share >= 0 for share in found.shares.values())
    assert found.extrapolated == (not first <= asked <= first * 2 ** (len(rates) - 1))


@pytest.fixture(scope="module")
def fed_by_a_disk(make_run: MakeRun) -> WorkloadModel:
    """A job with an accelerator that reads from a disk whose figures are known."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=2.0)
    device = Device("emulated", gpu="P100", samples_per_second=219)
    runs = [make_run(100 * min(c, 2), c, device=device, demand=demand, rates=TIERS["fast"]) for c in (1, 2, 4)]
    return fit(runs).workload("train")


@pytest.mark.slow
@given(st.floats(0.5, 4), st.floats(1e6, 1e9), st.floats(100, 1e5), st.floats(1.0, 5.0))
@settings(max_examples=15, derandomize=True)
def test_more_of_a_stage_is_never_slower(
    fed_by_a_disk: WorkloadModel, vcpus: float, bandwidth: float, iops: float, factor: float
) -> None:
    """A faster GPU, a faster disk, or a cheaper decoder can only raise the predicted throughput."""
    model, configuration = fed_by_a_disk, at(vcpus)
    disk = DiskRates(iops, bandwidth)
    base = predict(model, configuration, WhatIf(disk_rates=disk)).throughput.value
    faster = DiskRates(iops * factor, bandwidth * factor)
    for better in (
        WhatIf(disk_rates=faster),
        WhatIf(disk_rates=disk, gpu_speedup=factor),
        WhatIf(disk_rates=disk, decode_factor=1 / factor),
    ):
        assert predict(model, configuration, better).throughput.value >= base * (1 - 1e-9)


def test_a_summary_says_what_is_not_settled(make_run: MakeRun) -> None:
    """Where noise leaves open whether the rate still rises, the summary neither says that it does nor that it stops."""
    points = ((0.5, 60), (1, 118), (2, 105))
    model = fit([make_run(rate, vcpus, spread=0.15) for vcpus, rate in points]).workload("train")
    assert "It is not clear whether more than 2 vCPUs, the most measured, would make it faster." in model_summary(model)
    assert "stops scaling" not in model_summary(model)


def test_quantities_are_in_the_units_of_the_workload(make_run: MakeRun) -> None:
    """Images are counted as images; an emulated accelerator and a disk that was not limited are called so."""
    demand, p100 = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0), Device("emulated", 0, "P100", 219)
    runs = [
        make_run(min(100 * c, top), c, disk=disk, rates=rates, demand=demand, device=p100)
        for c in (1, 2, 4)
        for disk, rates, top in (("host", DiskRates(), 110), ("slow", TIERS["slow"], 150))
    ]
    model = fit(runs).workload("train")
    units = {parameter_name(parameter, model): parameter.unit for parameter in model.parameters}
    assert units["CPU time"] == "core-seconds/image"
    assert (
        units["emulated P100"] == units["most from disk slow"] == units["most from the host's own disk"] == "images/s"
    )
    assert not any("sample" in unit for unit in units.values())
    assert "4.57 ms of the emulated P100" in model_summary(model)


def test_a_fit_is_deterministic_and_survives_its_file(make_run: MakeRun) -> None:
    """The same runs give the same model, and the model read from JSON predicts the same."""
    runs = [make_run(rate, vcpus) for vcpus, rate in ((1, 100), (2, 180), (4, 290))]
    model = fit(runs)
    assert fit(runs) == model
    again = from_json(Model, to_json(model), "model.json")
    assert again == model
    assert predict(again.workload("train"), at(3)) == predict(model.workload("train"), at(3))


def test_too_few_values_name_the_run_that_helps(curve: Callable[..., WorkloadModel]) -> None:
    """With two vCPU values the model is refused, answers where it was measured, and says which run to make."""
    model = curve((1, 100), (2, 190))
    assert refused(model) == (
        "Not enough data: `train` was measured with `vcpus` 1 and 2 alone, and three values are needed. "
        "Measure `train` at 4 vCPUs."
    )
    assert predict(model, at(2)).throughput.value == pytest.approx(190)
    with pytest.raises(Refused) as error:
        predict(model, at(4))
    assert error.value.refusal == model.refused


def test_a_size_whose_runs_failed_is_to_be_mended_before_more_are_measured(make_run: MakeRun) -> None:
    """What crashed at 2 vCPUs is not measured by asking for 2 vCPUs again; running out of memory is another matter."""
    runs = [make_run(100, 0.5), make_run(190, 1.0)]
    crashed = replace(make_run(1, 2.0), outcome=Outcome.CRASHED, throughput=None)
    assert refused(fit([*runs, crashed]).workload("train")).endswith(
        "No run of `train` at 2 vCPUs completed. `sizer status` says how each run ended: fix the cause, and measure "
        "again with --retry."
    )
    for other in (replace(crashed, outcome=Outcome.OUT_OF_MEMORY), make_run(300, 2.0)):
        again = fit([*runs, other]).workload("train")
        assert again.measured.failed_vcpus == ()
        assert again.refused is None or "--retry" not in refused(again)


def test_accounting_that_disagrees_makes_it_ambiguous(make_run: MakeRun) -> None:
    """A curve that scales like CPU, while accounting of that configuration names the disk, has no single bottleneck."""
    disk = Evidence(Bottleneck.DISK_BANDWIDTH, {"disk": 0.99}, EvidenceKind.BUSIEST)
    runs = [make_run(100 * c, c, evidence=disk if c == 4 else None) for c in (1, 2, 4)]
    model = fit(runs).workload("train")
    assert predict(model, at(2)).bottleneck is Bottleneck.CPU
    assert predict(model, at(4)).bottleneck is Bottleneck.AMBIGUOUS


def test_another_disk_is_predicted_from_its_figures(make_run: MakeRun) -> None:
    """An unmeasured disk is predicted from what a sample reads, marked extrapolated; without figures it is refused."""
    demand = Demand(core_seconds=0.01, read_bytes=1e5, read_ios=1.0)
    runs = [
        make_run(min(100 * c, rates.read_bytes_per_second / 1e5), c, disk=name, rates=rates, demand=demand)  # type: ignore[operator]
        for c in (1, 2, 4)
        for name, rates in TIERS.items()
    ]
    model = fit(runs).workload("train")
    found = predict(model, at(4, disk="new"), WhatIf(disk_rates=DiskRates(10_000, 1e7)))
    assert found.throughput.value == pytest.approx(100, rel=0.1)
    assert found.extrapolated
    assert found.bottleneck is Bottleneck.DISK_BANDWIDTH
    with pytest.raises(Refused, match="not_measured") as error:
        predict(model, at(4, disk="new"))
    assert error.value.refusal.reason.texts("disks_measured") == ("slow", "fast")


def test_shuffled_reads_follow_the_page_cache(make_run: MakeRun) -> None:
    """Between and beyond memory caps the hit rate of a shuffled epoch is 1 - u + u ln u, as measured."""
    rates, data = DiskRates(1e6, 2e7), DataSet("d", "recordio", 4 * GIB, 4 * GIB // 100_000, True)

    def miss(memory: int) -> float:
        unseen = 1 - (memory - GIB) / (4 * GIB)
        return unseen - unseen * math.log(unseen) if unseen > 0 else 0.0

    def rate(memory: int, vcpus: float) -> float:
        return min(400 * vcpus, 200 / miss(memory))

    runs = [
        make_run(rate(memory, c), c, memory=memory, capped=True, cache="natural", data=data, anonymous=GIB, rates=rates,
                 disk="d", demand=Demand(core_seconds=0.0025, read_bytes=1e5 * miss(memory), read_ios=1.0))
        for memory in (2 * GIB, 3 * GIB, 4 * GIB)
        for c in (1, 2, 4)
    ]  # fmt: skip
    model = fit(runs).workload("train")
    between = at(4, memory=round(3.5 * GIB), disk="d")
    assert predict(model, between).throughput.value == pytest.approx(rate(round(3.5 * GIB), 4), rel=0.05)
    fits = predict(model, at(2, memory=16 * GIB, disk="d"))
    assert fits.extrapolated
    assert fits.throughput.value == pytest.approx(800, rel=0.15)
    assert fits.throughput.low < 800 < fits.throughput.high
    bigger = predict(model, between, WhatIf(data_bytes_factor=10))
    assert bigger.throughput.value < predict(model, between).throughput.value


def test_memory_floor_and_what_lies_around_it(make_run: MakeRun) -> None:
    """At the largest cap that was killed nothing runs; above what held, more memory changes nothing."""
    killed = make_run(None, 1, memory=GIB // 2, capped=True, outcome=Outcome.OUT_OF_MEMORY)
    runs = [make_run(100 * c, c, memory=2 * GIB, capped=True, anonymous=GIB) for c in (1, 2, 4)]
    floor = memory_floor([*runs, killed])
    assert floor is not None
    assert (floor.out_of_memory_bytes, floor.completed_bytes) == (GIB // 2, 2 * GIB)
    model = fit([*runs, killed]).workload("train")
    none = predict(model, at(1, memory=GIB // 2))
    assert none.out_of_memory
    assert none.throughput.value == 0
    assert predict(model, at(1, memory=GIB - 1)).out_of_memory
    for memory in (GIB + 1, 64 * GIB):
        enough = predict(model, at(1, memory=memory))
        assert not enough.out_of_memory
        assert enough.throughput.value == pytest.approx(100, rel=0.03)


def test_two_programs_under_one_name_are_refused(make_run: MakeRun) -> None:
    """A curve through the runs of two programs would be neither's."""
    runs = [make_run(100 * c, c, kind=kind) for kind in ("image_training", "image_inference") for c in (1, 2, 4)]
    assert "several programs: image_inference and image_training." in refused(fit(runs).workload("train"))
