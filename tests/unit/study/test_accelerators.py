"""How many accelerators a workload has, and the rate of an emulated one at each batch size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sizer.catalog.catalog import Catalog
from sizer.records.device import Device
from sizer.records.messages import InputError
from sizer.records.study import Limits, Measure, RunSpec, Study
from sizer.study.parse import parse_study
from sizer.study.presets import HostSize
from sizer.study.resolved import to_yaml

Parse = Callable[..., Study]
EMULATED = "workloads:\n  - {kind: image_training, network: resnet50, device: {emulate: {gpu: P100}}}\n"
INFER = "workloads:\n  - {kind: image_inference, framework: mxnet, network: resnet50, device: 'cuda:0'}\n"


def test_runs_of_one_accelerator_are_those_of_before(parse: Parse) -> None:
    """An axis that is added to a finished study measures what is new alone."""
    before = parse(EMULATED)
    after = parse(f"{EMULATED}axes: {{gpu_count: [1, 2]}}\n")

    def spec(study: Study, gpu_count: int) -> RunSpec:
        return RunSpec(study.workloads[0].workload, 32, Limits(1.0), study.measure, gpu_count=gpu_count)

    assert spec(before, 0).id == spec(after, 1).id == spec(after, 0).id
    assert spec(after, 2).id != spec(after, 1).id


HOST = HostSize(4, 16 * 2**30)
SEVERAL = """workloads:
  - {kind: image_training, network: resnet50, batch_size: [128, 32, 64], device: {emulate: {gpu: V100}}}
"""


def parsed(text: str, catalog: Catalog | None = None) -> Study:
    return parse_study(text, "study.yaml", None, HOST, catalog)


def device_of(text: str, catalog: Catalog | None = None) -> Device:
    return parsed(text, catalog).workloads[0].workload.computes_on


def run_of(study: Study, batch_size: int) -> RunSpec:
    return RunSpec(study.workloads[0].workload, batch_size, Limits(1.0), Measure())


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog.load()


def test_each_batch_size_has_its_own_rate(catalog: Catalog) -> None:
    """All of one table, in the order of the batch sizes; that of the middle one stands for the device."""
    device = device_of(SEVERAL, catalog)
    assert [rate.batch_size for rate in device.batch_rates] == [32, 64, 128]
    slow, middle, fast = (rate.samples_per_second for rate in device.batch_rates)
    assert slow < middle < fast
    assert device.samples_per_second == middle
    assert len({rate.source.removeprefix("interpolated: ") for rate in device.batch_rates}) == 1


def test_a_run_waits_for_the_rate_of_its_batch(catalog: Catalog) -> None:
    """And says so: its device has one rate."""
    study = parsed(SEVERAL, catalog)
    rates = {rate.batch_size: rate.samples_per_second for rate in study.workloads[0].workload.computes_on.batch_rates}
    for batch_size, rate in rates.items():
        device = run_of(study, batch_size).device
        assert (device.samples_per_second, device.batch_rates) == (rate, ())


def test_a_resolved_study_has_all_of_them(catalog: Catalog) -> None:
    """It comes back equal without the catalogue."""
    study = parsed(SEVERAL, catalog)
    assert parsed(to_yaml(study)) == study


def test_a_given_rate_is_that_of_all_batch_sizes(catalog: Catalog) -> None:
    """Nothing is looked up."""
    device = device_of(SEVERAL.replace("gpu: V100", "gpu: V100, samples_per_second: 200"), catalog)
    assert (device.samples_per_second, device.batch_rates) == (200.0, ())


def test_rates_can_be_given_for_each_batch_size() -> None:
    """Without one for all, the middle one's is; two for one batch size contradict each other."""
    rates = "batch_rates: [{batch_size: 64, samples_per_second: 90}, {batch_size: 32, samples_per_second: 60}]"
    device = device_of(SEVERAL.replace("gpu: V100", rates))
    assert (device.samples_per_second, device.at_batch(20).samples_per_second) == (90.0, 60.0)
    with pytest.raises(InputError, match="two rates for a batch of 64"):
        device_of(SEVERAL.replace("gpu: V100", rates.replace("32", "64")))


def test_the_id_of_a_run_follows_from_its_own_rate_alone(catalog: Catalog) -> None:
    """So a study that gets another batch size keeps the runs that it has."""
    study = parsed(SEVERAL, catalog)
    device = run_of(study, 32).device
    alone = f"gpu: V100, samples_per_second: {device.samples_per_second!r}, source: {device.source!r}"
    assert run_of(parsed(SEVERAL.replace("gpu: V100", alone)), 32).id == run_of(study, 32).id
    assert run_of(parsed(SEVERAL.replace("gpu: V100", alone)), 64).id != run_of(study, 64).id


def test_a_rate_says_how_sure_it_is_and_where_it_comes_from(catalog: Catalog) -> None:
    """Also in the resolved study, which has no catalogue; no id of a run follows from it."""
    study = parsed(SEVERAL.replace("[128, 32, 64]", "[32, 64, 1024]"), catalog)
    rates = study.workloads[0].workload.computes_on.batch_rates
    assert [rate.basis for rate in rates] == ["published", "published", "extrapolated"]
    for rate in rates:
        assert rate.low is not None
        assert rate.high is not None
        assert rate.low < rate.samples_per_second < rate.high
    again = parsed(to_yaml(study)).workloads[0].workload.computes_on
    assert [(rate.low, rate.high, rate.basis) for rate in again.batch_rates] == [
        (rate.low, rate.high, rate.basis) for rate in rates
    ]
    assert (run_of(study, 32).device.rate_unsure, run_of(study, 1024).device.rate_unsure) == (False, True)


def test_a_transferred_rate_is_unsure(catalog: Catalog) -> None:
    """It was published for other GPUs."""
    device = device_of(SEVERAL.replace("[128, 32, 64]", "32").replace("V100", "L40S"), catalog)
    assert device.rate_basis in ("transferred", "extrapolated", "interpolated", "published")
    assert device.rate_unsure is (device.rate_basis in ("transferred", "extrapolated"))


def test_an_interval_can_be_given_with_its_rate() -> None:
    """It must hold the rate, and both ends are needed."""
    given = "samples_per_second: 100, low: 80, high: 130"
    device = device_of(SEVERAL.replace("gpu: V100", given))
    assert (device.rate_low, device.rate_high, device.rate_unsure) == (80.0, 130.0, True)
    for wrong in ("low: 80", "low: 110, high: 130", "low: 90, high: 95"):
        with pytest.raises(InputError, match="line 2: `low` and `high` are the ends"):
            device_of(SEVERAL.replace("gpu: V100", f"samples_per_second: 100, {wrong}"))
    with pytest.raises(InputError, match="line 2: `low` and `high` are the ends"):
        device_of(SEVERAL.replace("gpu: V100", "gpu: V100, low: 80, high: 90"))
