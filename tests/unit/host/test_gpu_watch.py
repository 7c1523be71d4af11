"""What the driver tells of a GPU while a run goes on, and who else is there."""

from __future__ import annotations

import errno
import os
import time
from itertools import count
from pathlib import Path

import pynvml
import pytest

from sizer.host import lock
from sizer.host.gpu_watch import READ_SECONDS, GpuProcesses, GpuWatch, held_back, watched
from sizer.host.gpus import Gpu, gpus, has_driver
from sizer.records.device import ClockReason, GpuSample
from sizer.records.messages import HostError
from sizer.words.language import in_words
from tests.unit.host.fake_nvml import FakeGpu, FakeNvml

# What is made of a driver's answers, by a double of it: nothing here ran on a GPU.


def watch_of(monkeypatch: pytest.MonkeyPatch, *present: FakeGpu, step: float = 0.5) -> GpuWatch:
    """A watch whose clock goes on by `step` with each reading of a GPU."""
    FakeNvml(*present).install(monkeypatch)
    times = count(0.0, step)
    return GpuWatch(gpus(), lambda: next(times))


def test_a_reading_has_all_that_the_driver_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are seconds, bytes, watts, joules and hertz; what is counted begins at the first reading."""
    gpu = FakeGpu(reasons=0x4)
    watch = watch_of(monkeypatch, gpu)
    watch.read()
    assert (watch.latest[0].busy, watch.latest[0].joules, watch.latest[0].sent_bytes) == (0.0, 0.0, 0.0)
    gpu.sent, gpu.received = (5_000, 64), (1_002_000, 64)
    watch.read()
    assert watch.latest == (
        GpuSample(
            busy=0.375,
            memory_bytes=4 << 30,
            own_memory_bytes=None,
            watts=150.0,
            sm_hertz=1.38e9,
            memory_hertz=8.77e8,
            joules=75.0,
            sent_bytes=4_000.0,
            received_bytes=1_000_000.0,
            held_back=(ClockReason.POWER_CAP,),
        ),
    )
    assert watch.pcie_counted == (True,)


def test_what_is_not_supported_is_empty_and_spoils_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A MIG instance tells its memory and little more."""
    gpu = FakeGpu(
        busy=None,
        milliwatts=None,
        sm=None,
        memory=None,
        reasons=None,
        sent=None,
        rates=None,
        compute=None,
    )
    watch = watch_of(monkeypatch, gpu)
    watch.read()
    assert watch.latest == (GpuSample(memory_bytes=4 << 30),)


def test_without_counters_rates_are_taken_for_the_time_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """An old driver: 20 ms of PCIe for each half second, which the record says."""
    watch = watch_of(monkeypatch, FakeGpu(sent=None, reasons=None, old_reasons=0x20))
    watch.read()
    watch.read()
    latest = watch.latest[0]
    assert (latest.joules, latest.sent_bytes, latest.received_bytes) == (75.0, 5_000.0, 10_000_000.0)
    assert latest.held_back == (ClockReason.THERMAL,)
    assert watch.pcie_counted == (False,)


@pytest.mark.parametrize(
    ("bits", "reasons"),
    [
        (0x0, ()),
        (0x1, ()),
        (0x1 | 0x4, ()),
        (0x2 | 0x10 | 0x100, ()),
        (0x4, (ClockReason.POWER_CAP,)),
        (0x20, (ClockReason.THERMAL,)),
        (0x8 | 0x40, (ClockReason.THERMAL,)),
        (0x8 | 0x80, (ClockReason.POWER_BRAKE,)),
        (0x8, (ClockReason.HARDWARE,)),
        (0x200 | 0x400, (ClockReason.BOARD_LIMIT, ClockReason.RELIABILITY)),
    ],
)
def test_clocks_are_held_back_by_what_nobody_set(bits: int, reasons: tuple[ClockReason, ...]) -> None:
    """An idle GPU and settings are no reason; a slowdown of the hardware is named by its cause where it is told."""
    assert held_back(bits) == reasons


def test_gpus_are_watched_by_a_thread_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver is asked twice a second, and let go of."""
    library = FakeNvml(FakeGpu(), FakeGpu(uuid="GPU-0001", busy=0))
    library.install(monkeypatch)
    with watched(gpus()) as watch:
        assert len(watch.latest) == 2
        deadline = time.monotonic() + 600 * READ_SECONDS
        while not watch.latest[0].busy and time.monotonic() < deadline:
            time.sleep(READ_SECONDS / 10)
        assert watch.latest[0].busy
        assert watch.latest[1].busy == 0.0
    assert library.asked[-1] == "shutdown"
    last = watch.latest
    time.sleep(2 * READ_SECONDS)
    assert watch.latest is last


def test_without_a_driver_nothing_is_watched() -> None:
    """The library itself is asked: this machine may have one, and then it tells of its GPUs."""
    if has_driver():
        pytest.skip("this machine has NVIDIA's driver")
    with pytest.raises(pynvml.NVMLError):
        pynvml.nvmlInit()
    assert gpus() == ()
    with watched((Gpu(0, "V100", None),)) as watch:
        assert watch is None


def test_a_run_without_a_gpu_asks_no_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without persistence mode a driver may need seconds to be ready."""
    library = FakeNvml(FakeGpu())
    library.install(monkeypatch)
    with watched(()) as watch:
        assert watch is None
    assert library.asked == []


OURS = os.getpid()
"""A process whose name can be read."""

STRANGER = 2**22 + 7
"""No process here: above the largest pid_max."""


def own(*pids: int) -> GpuProcesses:
    """Processes of which these are the run's, on a machine where numbers are ours."""
    processes = GpuProcesses(certain=True)
    processes.tell_own(lambda pid: pid in pids)
    return processes


def test_another_process_is_named_once_it_was_there_twice() -> None:
    """One that is just starting, or has just ended, cannot be told from the run's own yet."""
    processes = own(10)
    assert processes.others({10, OURS}) == ()
    (name,) = processes.others({10, OURS})
    assert name.endswith(f"(pid {OURS})")
    assert processes.others({10}) == ()


def test_what_has_ended_stays_the_runs_own() -> None:
    """The driver lists it for a while, when nothing says any more whose it was."""
    alive = {10}
    processes = GpuProcesses(certain=True)
    processes.tell_own(lambda pid: pid in alive)
    processes.others({10})
    alive.clear()
    assert processes.others({10}) == ()
    assert processes.others({10}) == ()


def test_in_a_container_only_who_was_there_before_is_another_for_certain() -> None:
    """The numbers may be the machine's, so that the run's own process is not known by its number."""
    processes = GpuProcesses(certain=False)
    processes.others({STRANGER})
    processes.tell_own(lambda _: False)
    assert processes.others({STRANGER, 4711}) == (f"pid {STRANGER}",)
    assert processes.others({STRANGER, 4711}) == (f"pid {STRANGER}",)
    assert processes.own_bytes({STRANGER: 5, 4711: 7}) is None


def test_one_known_process_says_whose_numbers_they_are() -> None:
    """Then all others are somebody else's, and the memory of the run's own is known."""
    processes = GpuProcesses(certain=False)
    processes.tell_own(lambda pid: pid == 10)
    processes.others({10, STRANGER})
    assert processes.others({10, STRANGER}) == (f"pid {STRANGER}",)
    assert processes.own_bytes({10: 5, STRANGER: 7}) == 5
    assert processes.own_bytes({10: None, STRANGER: 7}) is None


# What is said of the lock on a host where little can be known.


@pytest.fixture
def name() -> str:
    return f"\0sizer-unknown-{os.getpid()}-"


def refusal(name: str, folder: Path) -> str:
    with pytest.raises(HostError) as refused, lock.measuring_alone(name, folder):
        pytest.fail("the host was not free")
    return in_words(refused.value)


def test_a_holder_whose_command_is_hidden_is_named_by_its_pid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With hidepid /proc does not show its command line, and the pid alone is enough to end it."""

    def hidden(_path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with lock.measuring_alone(name, tmp_path / "sizer"):
        monkeypatch.setattr(Path, "read_bytes", hidden)
        sentence = refusal(name, tmp_path / "sizer")
    assert f"(process {os.getpid()})" in sentence
    assert sentence.endswith(f"kill {os.getpid()}")


def test_a_name_that_cannot_be_had_is_no_other_sizer(tmp_path: Path) -> None:
    """The system's own reason is said, not that somebody measures."""
    sentence = refusal("/nowhere/at/all", tmp_path / "no" / "such")
    assert sentence == "This host cannot be locked for measuring (No such file or directory)."


def test_where_the_kernel_does_not_say_nobody_measures(name: str, tmp_path: Path) -> None:
    """Without /proc/net there is no list to look into."""
    assert not lock.is_host_measured(name, tmp_path / "none", tmp_path)
