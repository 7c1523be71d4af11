from __future__ import annotations

import pytest

from sizer.evidence import busy_shares, name_bottleneck
from sizer.records import Bottleneck, Configuration, Demand, Device, DiskRates

HERE = Configuration(vcpus=2, memory_bytes=2**30, disk="ssd", batch_size=32)
TIER = DiskRates(read_iops=1000, read_bytes_per_second=50e6, write_iops=1000, write_bytes_per_second=50e6)


def name(throughput: float, demand: Demand, device: Device = Device(), vcpus: float = 2) -> Bottleneck:
    here = Configuration(vcpus, HERE.memory_bytes, HERE.disk, HERE.batch_size)
    return name_bottleneck(busy_shares(throughput, demand, here, TIER, device), vcpus).bottleneck


@pytest.mark.parametrize(
    ("throughput", "demand", "expected"),
    [
        (100, Demand(core_seconds=0.0199, read_bytes=1e4, read_ios=0.1), Bottleneck.CPU),
        (490, Demand(core_seconds=0.001, read_bytes=1e5, read_ios=1), Bottleneck.DISK_BANDWIDTH),
        (240, Demand(core_seconds=0.001, read_bytes=2e4, read_ios=4), Bottleneck.DISK_IOPS),
        (490, Demand(core_seconds=0.001, read_bytes=2e4, read_ios=0.2, written_bytes=1e5), Bottleneck.DISK_WRITE),
        (100, Demand(core_seconds=0.0101), Bottleneck.SERIAL),
        (10, Demand(core_seconds=0.001), Bottleneck.AMBIGUOUS),
        (490, Demand(core_seconds=0.00405, read_bytes=1e5), Bottleneck.AMBIGUOUS),
        (10, Demand(), Bottleneck.AMBIGUOUS),
        (100, Demand(core_seconds=0.015, read_bytes=1e5), Bottleneck.CPU),
        (300, Demand(core_seconds=0.0035, read_bytes=1e5), Bottleneck.AMBIGUOUS),
    ],
)
def test_the_busy_resource_is_named(throughput: float, demand: Demand, expected: Bottleneck) -> None:
    """The one resource that is busy is the bottleneck; none, or two at once, is ambiguous."""
    assert name(throughput, demand) is expected


def test_an_emulated_accelerator_at_its_rate_is_the_bottleneck() -> None:
    """219 images/s of an accelerator that gives 219 is all of it."""
    gpu = Device("emulated", gpu="P100", samples_per_second=219)
    assert name(218, Demand(core_seconds=0.002), gpu) is Bottleneck.ACCELERATOR


def test_rereading_for_want_of_page_cache_is_memory() -> None:
    """A disk that is busy with what a larger memory would have kept is a matter of memory."""
    busy = {Bottleneck.DISK_BANDWIDTH: 0.99, Bottleneck.CPU: 0.3}
    assert name_bottleneck(busy, 2, starved=True).bottleneck is Bottleneck.MEMORY


def test_the_reason_has_the_number() -> None:
    """A reader sees how busy the resource was."""
    assert "97%" in name_bottleneck({Bottleneck.CPU: 0.97}, 2).reason
