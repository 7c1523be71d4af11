from __future__ import annotations

import pytest

from sizer.analysis.evidence import busy_shares, name_bottleneck, short_of_memory
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.device import Device, DiskRates
from sizer.records.run import DataSet, Demand
from sizer.words.runs import evidence_in_words

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


@pytest.mark.parametrize(
    ("missed", "own_mib", "data_mib", "cap_mib", "expected"),
    [
        (1.0, 30, 83, 48, False),  # read in order; 48 and 72 MiB gave 194 and 195 images/s
        (1.0, 30, 38, 48, True),
        (0.25, 160, 80, 225, True),  # gave 1,207 images/s, and 1,994 with half as much memory again
        (0.01, 160, 80, 340, False),
        (0.88, 200, 10_000, 4_000, True),
        (0.95, 200, 10_000, 4_000, False),
    ],
)
def test_memory_is_short_only_where_half_as_much_again_would_help(
    missed: float, own_mib: int, data_mib: int, cap_mib: int, expected: bool
) -> None:
    """A data set far beyond the cap that is missed wholly is a matter of the disk."""
    data = DataSet("d", "lmdb", data_mib * 2**20, 1000, True)
    used = Demand(read_bytes=missed * 1e5, asked_bytes=1e5)
    assert short_of_memory(used, own_mib * 2**20, data, cap_mib * 2**20) is expected


def test_memory_is_not_short_where_bytes_were_not_accounted() -> None:
    """A host that counts no disk bytes says nothing of the page cache."""
    assert not short_of_memory(Demand(asked_bytes=1e5), 2**20, DataSet("d", "lmdb", 2**20, 1, True), 2**30)


@pytest.mark.parametrize(
    ("cpu", "vcpus", "throttled", "expected"),
    [
        (0.79, 1.25, 0.0, Bottleneck.SERIAL),
        (0.65, 1.5, 0.0, Bottleneck.SERIAL),
        (0.86, 1.25, 0.02, Bottleneck.SERIAL),
        (0.5, 2, None, Bottleneck.SERIAL),
        (0.79, 1.25, 0.9, Bottleneck.CPU),
        (0.79, 1.25, None, Bottleneck.CPU),
        (0.99, 1, None, Bottleneck.CPU),
        (0.97, 1.5, 0.0, Bottleneck.CPU),
    ],
)
def test_one_busy_core_is_serial_where_no_quota_cuts_it_short(
    cpu: float, vcpus: float, throttled: float | None, expected: Bottleneck
) -> None:
    """Under a fraction of a vCPU the same share is a serial part without throttling, and the vCPUs with it."""
    assert name_bottleneck({Bottleneck.CPU: cpu}, vcpus, throttled=throttled).bottleneck is expected


def test_one_core_in_all_beside_a_disk_half_as_busy_is_not_serial() -> None:
    """Two workers that wait for a disk half of the time keep one core busy, too, and are not serial."""
    busy = {Bottleneck.CPU: 0.48, Bottleneck.DISK_BANDWIDTH: 0.48}
    assert name_bottleneck(busy, 2).bottleneck is Bottleneck.AMBIGUOUS


def test_the_reason_has_the_number() -> None:
    """A reader sees how busy the resource was."""
    assert evidence_in_words(name_bottleneck({Bottleneck.CPU: 0.97}, 2)) == "the vCPUs 97 % busy"


@pytest.mark.parametrize(
    ("cpu", "vcpus", "withheld", "serial"),
    [
        (0.55, 2, 0.0, True),
        (0.55, 2, 0.04, True),
        (0.55, 2, 0.2, True),
        (0.55, 2, 0.5, False),
        (0.14, 8, 0.5, True),
        (0.14, 8, 3.0, False),
    ],
)
def test_one_busy_core_is_not_serial_where_others_may_have_taken_the_rest(
    cpu: float, vcpus: float, withheld: float, serial: bool
) -> None:
    """What others on the host used explains idle vCPUs as well."""
    found = name_bottleneck({Bottleneck.CPU: cpu}, vcpus, withheld=withheld)
    assert found.bottleneck is (Bottleneck.SERIAL if serial else Bottleneck.AMBIGUOUS)
