"""What a prediction supposes, worked out for each workload."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace

import pytest

from sizer.cli.commands.predict import AskedWhatIf, asked_what_if, form, is_tier, tier_rates
from sizer.model.fitting import fit
from sizer.model.model import WhatIf, WorkloadModel
from sizer.records.device import DiskRates
from sizer.records.errors import InputError
from sizer.records.prediction import ReasonCode, Refused
from sizer.records.run import Run
from sizer.records.units import GIB


@pytest.fixture
def fitted(make_run: Callable[..., Run]) -> WorkloadModel:
    """A job whose page cache keeps what it can, and whose data set's size is not known."""
    model = fit([make_run(100.0 * vcpus, vcpus, cache="natural") for vcpus in (1.0, 2.0, 4.0)]).workload("train")
    assert model.facts.natural
    assert model.facts.data_bytes is None
    return model


def with_data(model: WorkloadModel, size: int) -> WorkloadModel:
    return replace(model, facts=replace(model.facts, data_bytes=size))


def refused_code(wish: AskedWhatIf, model: WorkloadModel) -> ReasonCode:
    with pytest.raises(Refused) as refused:
        wish.of(model)
    return refused.value.refusal.reason.code


def test_a_size_is_a_factor_of_each_workloads_own_data(fitted: WorkloadModel) -> None:
    """40 GiB are four times 10 GiB."""
    assert AskedWhatIf(data_bytes=40 * GIB).of(with_data(fitted, 10 * GIB)) == WhatIf(data_bytes_factor=4.0)


def test_data_of_an_unknown_size_cannot_be_compared(fitted: WorkloadModel) -> None:
    """Neither a size nor, where the page cache counts, a factor of it says how much memory would hold."""
    assert refused_code(AskedWhatIf(data_bytes=40 * GIB), fitted) is ReasonCode.NOT_RECORDED
    assert refused_code(AskedWhatIf(WhatIf(data_bytes_factor=2.0)), fitted) is ReasonCode.NOT_RECORDED


def test_a_factor_needs_no_size_where_nothing_is_kept(fitted: WorkloadModel) -> None:
    """With a cold cache a larger data set changes nothing."""
    cold = replace(fitted, facts=replace(fitted.facts, setting=replace(fitted.facts.setting, cache="cold")))
    wish = AskedWhatIf(WhatIf(data_bytes_factor=2.0))
    assert wish.of(cold) == wish.what_if


def test_nothing_is_supposed_where_nothing_was_asked() -> None:
    """Any one option is enough for a supposition."""
    assert not AskedWhatIf().anything
    assert AskedWhatIf(data_bytes=1).anything
    assert AskedWhatIf(WhatIf(gpu_speedup=2.0)).anything


def test_a_disk_is_named_or_described() -> None:
    """Both at once would be two disks."""
    asked = Namespace(
        disk=None,
        disk_iops=5000.0,
        disk_mbps=None,
        gpu_speedup=1.0,
        data_factor=None,
        decode_factor=1.0,
        data_size=None,
    )
    assert asked_what_if(asked) == AskedWhatIf(WhatIf(disk_rates=DiskRates(read_iops=5000.0)))
    asked.disk = "nvme"
    with pytest.raises(InputError, match="use one or the other"):
        asked_what_if(asked)


def test_a_tier_needs_a_size() -> None:
    """A cloud disk of 500 GiB is faster than one of 20 GiB, so without a size there is no rate."""
    assert is_tier("gcp/pd-ssd:500GiB")
    assert not is_tier("nvme")
    with pytest.raises(InputError, match="depend on its size; write --disk gcp/pd-ssd:500GiB"):
        tier_rates("gcp/pd-ssd")
    small, large = tier_rates("gcp/pd-ssd:20GiB"), tier_rates("gcp/pd-ssd:500GiB")
    assert small.read_iops is not None
    assert large.read_iops is not None
    assert small.read_iops < large.read_iops


def test_only_what_differs_is_written_for_other_programs() -> None:
    """A JSON reader sees the supposition, in MB/s, and nothing that is as it was measured."""
    assert form(WhatIf()) == {}
    assert form(WhatIf(gpu_speedup=2.0, disk_rates=DiskRates(read_bytes_per_second=2e8))) == {
        "gpu_speedup": 2.0,
        "disk_mbps": 200.0,
    }
