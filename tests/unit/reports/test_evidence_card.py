"""What one run's figures rest on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sizer.bundled.reports.runs import evidence_card
from sizer.records.gpu import GpuUse
from sizer.records.run import Demand, Estimate, MemoryGrowth, Meter, MeterKind, Outcome, Run, RunWarning, WarningKind


def facts(run: Run) -> dict[str, dict[str, tuple[str, str]]]:
    """Value and remark by group and label."""
    return {
        group["title"]: {label: (value, remark) for label, value, remark in group["facts"]}
        for group in evidence_card.groups(run)
    }


@pytest.fixture(scope="module")
def run(runs: tuple[Run, ...]) -> Run:
    """220 images/s on 2 vCPUs, with all that a host may account for."""
    return replace(runs[8], throughput=Estimate(200.0, 197.0, 203.0))


def test_the_rate_stands_with_its_interval_and_how_it_was_taken(run: Run) -> None:
    """Interval, half-width, warm-up, length, why it ended, and what sizer itself used."""
    rate = facts(run)["Rate"]
    assert rate["Throughput"] == ("200 images/s (197–203)", "±1.5 %")
    assert rate["Measured"] == ("6 s", "precise enough")
    assert rate["sizer's own use"] == ("0.3 %", "")
    assert "Warm-up" in rate


@pytest.mark.parametrize(
    ("meter", "said"),
    [
        (Meter(MeterKind.LOG, "tqdm"), "by its log (tqdm)"),
        (Meter(MeterKind.LOG, "pattern"), "by its log, with the study's pattern"),
        (Meter(MeterKind.HOOK, "torch"), "by the hook in PyTorch"),
    ],
)
def test_what_counted_the_steps_is_named(run: Run, meter: Meter, said: str) -> None:
    """Where it was not the program's own events, as it is with ours."""
    assert facts(replace(run, meter=meter))["Rate"]["Steps counted"] == (said, "")
    assert "Steps counted" not in facts(replace(run, meter=Meter(MeterKind.EVENTS)))["Rate"]


def test_what_a_program_ran_with_is_told(run: Run) -> None:
    """As a study file writes it; a program that states nothing has no such group."""
    stated = facts(replace(run, stated={"compile": False, "workers": 2}))["Options"]
    assert stated == {"compile": ("false", ""), "workers": ("2", "")}
    assert "Options" not in facts(run)


def test_a_rate_that_was_told_once_has_no_interval(run: Run) -> None:
    """Not `1 run`, which has one."""
    told = replace(run, throughput=Estimate(200.0, 200.0, 200.0), warnings=(RunWarning(WarningKind.ONE_READING),))
    assert facts(told)["Rate"]["Throughput"] == ("200 images/s", "one reading")


def test_a_rate_that_fell_is_told_as_two(run: Run) -> None:
    """Both rates with their intervals, and when it fell."""
    value, remark = facts(run)["Rate"]["Two rates"]
    assert [part.count("images/s (") for part in value.split(", then ")] == [1, 1]
    assert remark == "fell after 12.3 s"


def test_the_first_epoch_stands_beside_the_rate_that_counts(run: Run) -> None:
    """With a natural cache that is the rate of the later epochs."""
    first = replace(run, first_epoch_throughput=100.0)
    assert facts(first)["Rate"]["First epoch"] == ("100 images/s", "0.5 × the throughput")
    workload = replace(run.spec.workload, cache="natural")
    natural = replace(first, spec=replace(run.spec, workload=workload))
    assert facts(natural)["Rate"]["First epoch"][1] == "0.5 × the later epochs"
    only = replace(natural, warnings=(RunWarning(WarningKind.FIRST_EPOCH),))
    assert facts(only)["Rate"]["First epoch"][1] == "0.5 × the throughput"


def test_waiting_is_a_share_of_the_time(run: Run) -> None:
    """Seconds a sample become the share of the time that was waited or stalled."""
    used = Demand(input_wait=0.0006, cpu_stall=0.001, memory_stall=0.0, io_stall=0.00155)
    waiting = facts(replace(run, demand=used))["Waiting"]
    assert waiting["For input"] == ("12 % of the time", "600 µs an image")
    assert waiting["Stalled"][0].replace("\u00a0", " ") == "CPU 20 %, memory 0 %, disk 31 %"


def test_cores_are_told_beside_the_limit(run: Run) -> None:
    """How many were used, what a sample cost, how often the quota was used up, and what others took."""
    processor = facts(replace(run, demand=Demand(core_seconds=0.009), throttled=0.125, stolen_cores=0.313))["Processor"]
    assert processor["Cores used"] == ("1.8 of 2 vCPUs", "9 core-ms an image")
    assert processor["Throttled"] == ("12 % of quota periods", "")
    assert processor["Others on this host"] == ("0.04 cores", "")
    assert processor["Stolen by the hypervisor"] == ("0.31 cores", "")
    assert "Stolen by the hypervisor" not in facts(run)["Processor"]


def test_a_gpu_has_what_its_driver_told(run: Run) -> None:
    """Medians, the most memory in use, what a sample cost, why its clocks were lowered and who else was there."""
    used = GpuUse(
        0,
        "V100",
        memory_bytes=16 * 2**30,
        busy=0.93,
        peak_memory_bytes=4 * 2**30,
        own_peak_memory_bytes=3 * 2**30,
        watts=250.0,
        joules=0.5,
        sm_hertz=1.38e9,
        memory_hertz=8.77e8,
        received_bytes=150e3,
        pcie_counted=False,
        held_back={"power_cap": 0.8},
        shared=0.1,
        others=("Xorg (pid 7)",),
    )
    gpu = facts(replace(run, gpus=(used,)))["GPU"]
    assert gpu["Name"] == ("V100", "")
    assert gpu["A kernel running"] == ("93 % of the time", "median")
    assert gpu["GPU memory"] == ("4 GiB of 16 GiB", "3 GiB of it its own")
    assert gpu["Clocks"][0].replace("\u00a0", " ") == "cores 1,380 MHz, memory 877 MHz"
    assert gpu["Clocks lowered"] == ("80 % of the time", "it reached its power limit")
    assert gpu["Power"] == ("250 W", "0.5 J an image")
    assert gpu["PCIe, to it"] == ("150 kB an image", "from 20 ms of each half second")
    assert gpu["Others on it"] == ("Xorg (pid 7)", "10 % of the time")
    assert "PCIe, from it" not in gpu


def test_several_gpus_are_told_apart(run: Run) -> None:
    """By the driver's index."""
    titles = list(facts(replace(run, gpus=(GpuUse(0, "V100"), GpuUse(3, "V100")))))
    assert [title for title in titles if title.startswith("GPU")] == ["GPU 0", "GPU 3"]
    assert not any(title.startswith("GPU") for title in facts(run))


def test_each_kind_of_memory_has_its_peak(run: Run) -> None:
    """Anonymous memory, page cache, the kernel's own and swap are listed apart, and all of it beside the cap."""
    memory = facts(run)["Memory"]
    assert memory["Highest"][0] == "630 MiB of 1 GiB"
    assert [memory[name][0] for name in ("Anonymous", "Page cache", "Kernel", "Swap")] == [
        "570 MiB",
        "300 MiB",
        "14 MiB",
        "none",
    ]


@pytest.mark.parametrize(
    ("low", "high", "rising", "found"),
    [(900.0, 1500.0, True, "+1.17 KiB a step"), (-300.0, 2700.0, False, "none to be seen")],
)
def test_growth_is_told_with_its_interval(run: Run, low: float, high: float, rising: bool, found: str) -> None:
    """Where the interval holds zero no growth is claimed; a peak that still rose at the end is said."""
    growing = replace(run, memory_growth=MemoryGrowth(Estimate(1200.0, low, high), -2048.0, 1234, rising))
    memory = facts(growing)["Memory"]
    assert memory["Anonymous growth"][0] == found
    assert memory["Anonymous growth"][1].endswith("over 1,234 steps")
    assert memory["Page cache growth"][0] == "−2 KiB a step"
    assert ("At the end" in memory) == rising


def test_the_page_cache_tells_its_hits_and_what_lay_in_it(run: Run) -> None:
    """Hit rate, and bytes of the data set resident before and after."""
    cache = facts(run)["Page cache"]
    assert cache["Hit rate"][0] == "39 %"
    assert cache["Data resident"] == ("none before, 20 MiB after", "of 43.1 MiB")


def test_the_disk_stands_beside_what_the_tier_gives(run: Run) -> None:
    """Bytes and IOs as a rate against the measured figure of the tier, and a sample."""
    used = Demand(read_bytes=113_000.0, read_ios=0.5, written_bytes=0.0, write_ios=0.0, asked_bytes=226_000.0)
    disk = facts(replace(run, demand=used))["Disk"]
    assert disk["Read"] == ("22.6 MB/s of 338 MB/s", "113 kB an image")
    assert disk["Read, IOs"] == ("100/s of 19,800/s", "0.5 an image")
    assert disk["Written"] == ("nothing", "")
    assert disk["Asked for"] == ("226 kB an image", "")


def test_what_was_not_accounted_is_left_out(run: Run) -> None:
    """A host without accounting gives a rate alone, and no figure is made up."""
    bare = Run(run.spec, Outcome.COMPLETED, run.configuration, run.started_at, 9.0, throughput=run.throughput)
    assert list(facts(bare)) == ["Rate"]
    assert list(facts(bare)["Rate"]) == ["Throughput"]
    empty = replace(bare, demand=Demand())
    assert list(facts(empty)) == ["Rate"]


def test_a_run_that_failed_still_tells_its_memory(run: Run) -> None:
    """A run that was killed has no rate, but its peaks are the finding."""
    killed = Run(
        run.spec,
        Outcome.OUT_OF_MEMORY,
        run.configuration,
        run.started_at,
        9.0,
        peak_memory_bytes=2**28,
        peak_anonymous_bytes=2**27,
    )
    assert list(facts(killed)) == ["Memory"]
