"""Quantities and rows -> rates and shares, by hand; and the table of what is believed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import beliefs
import numpy as np
import pytest

from sizer.model.equation import STAGES, Draws, Rows, Solution, solve
from sizer.records.units import GIB

ON, OFF = 1.0, -1.0
HARD = 4.6
"""An overlap with which only the slowest stage counts."""


ONE, NONE, YES, NO = np.ones(1), np.full(1, -math.inf), np.array([True]), np.array([False])
PLAIN = Rows(
    vcpus=ONE,
    batch_ratio=ONE,
    memory_bytes=8 * GIB * ONE,
    least_memory=float(GIB),
    disks=("d",),
    disk=np.zeros(1, dtype=np.intp),
    labels=("G",),
    accelerator=np.zeros(1, dtype=np.intp),
    gpus=ONE,
    speed_up=0 * ONE,
    missed=ONE,
    read=NONE,
    read_is_iops=NO,
    write=NONE,
    is_free=NO,
    reads=YES,
    decodes=YES,
    computes=YES,
    steps=NO,
    paired=False,
    cores=1e9,
    machines=(None,),
    machine=np.zeros(1, dtype=np.intp),
    faster=(0.0,),
)
"""One configuration: 1 vCPU, 8 GiB, a disk that takes no time."""


def row(**known: float) -> Rows:
    """The same with other values."""
    alone = ("paired", "cores")
    return replace(PLAIN, **{name: value if name in alone else np.array([value]) for name, value in known.items()})  # type: ignore[arg-type]


def solved(rows: Rows, quantities: Mapping[str, float]) -> Solution:
    """10 ms of work a sample and no cap, where nothing else is said."""
    named = {"work": math.log(0.010), "cap": 0.0, "on:cap": OFF, "sharpness": math.log(8.0), **quantities}
    return solve(Draws(tuple(named), np.array([list(named.values())])), rows)


@dataclass(frozen=True)
class Case:
    """Quantities and a row -> samples/s, and shares of stages."""

    what: str
    rate: float
    quantities: dict[str, float] = field(default_factory=dict)
    row: dict[str, float] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)


HIDDEN = {"contention": -50.0, "coherence": 0.0, "on:coherence": OFF, "handover": 0.0, "on:handover": OFF}
THREADS = {**HIDDEN, "yield": 0.3, "on:second threads": ON, "on:more cores": OFF}
ACCELERATOR = {"accelerator:G": math.log(219)}
CASES = [
    Case("a CPU", 200.0, row={"vcpus": 2.0}, shares={"cpu": 1.0}),
    Case("half of a vCPU", 50 / 1.05, {"quota": math.log(1.05)}, {"vcpus": 0.5}),
    Case(
        "CPU and cap, one after another",
        100.0,
        {"sharpness": 0.0, "on:cap": ON, "cap": math.log(200)},
        {"vcpus": 2.0},
        {"cpu": 0.5, "serial": 0.5},
    ),
    Case("CPU under a hard cap", 200.0, {"sharpness": HARD, "on:cap": ON, "cap": math.log(200)}, {"vcpus": 8.0}),
    Case("hyperthreads in pairs", 260.0, THREADS, {"vcpus": 4.0, "paired": True}),
    Case("half a pair more", 230.0, THREADS, {"vcpus": 3.0, "paired": True}),
    Case("4 cores and 4 second threads", 520.0, THREADS, {"vcpus": 8.0, "cores": 4.0}),
    Case("more vCPUs that are second threads, too", 760.0, THREADS, {"vcpus": 16.0, "cores": 4.0}),
    Case("a larger machine", 1040.0, {**THREADS, "on:more cores": ON}, {"vcpus": 16.0, "cores": 4.0}),
    Case("no second threads after all", 800.0, {**THREADS, "on:second threads": OFF}, {"vcpus": 8.0, "cores": 4.0}),
    Case(
        "contention: 10 ms x 1.3 / 4",
        400 / 1.3,
        {**THREADS, "contention": math.log(0.1)},
        {"vcpus": 4.0},
        {"cpu": math.log2(2 * 1.3 / 1.7), "serial": 1 - math.log2(2 * 1.3 / 1.7)},
    ),
    Case(
        "coherence: 10 ms x (1 + 0.01 x 4 x 3) / 4",
        400 / 1.12,
        {**THREADS, "coherence": math.log(0.01), "on:coherence": ON},
        {"vcpus": 4.0},
    ),
    Case("handing on data", 200 / 1.1, {**THREADS, "handover": math.log(0.1), "on:handover": ON}, {"vcpus": 2.0}),
    Case("handing on nothing", 100.0, {**THREADS, "handover": math.log(0.1), "on:handover": ON}),
    Case("the P100 of docs/model.md", 190.0, ACCELERATOR, {"vcpus": 2.0}, {"cpu": 0.67, "accelerator": 0.33}),
    Case(
        "the same on its disk",
        207.0,
        ACCELERATOR,
        {"vcpus": 4.0, "read": math.log(0.005), "missed": 0.85},
        {"accelerator": 0.64, "read": 0.36, "cpu": 0.005},
    ),
    Case(
        "two accelerators that lose a tenth",
        200 * 2**0.9,
        {"accelerator:G": math.log(200), "gpus": math.log(0.1), "sharpness": HARD},
        {"vcpus": 8.0, "gpus": 2.0},
        {"accelerator": 1.0},
    ),
    Case(
        "a step that costs as much as 8 samples, with a batch of 8 for one of 32",
        200 * 1.25 / 2,
        {
            **{"accelerator:G": math.log(200), "sharpness": HARD, "on:accelerator launches": ON},
            **{"launch": math.log(0.25), "launch:G": math.log(0.25)},
        },
        {"vcpus": 8.0, "batch_ratio": 4.0},
    ),
    Case("written bytes", 50.0, {"sharpness": HARD}, {"write": math.log(0.02)}, {"write": 1.0}),
    Case(
        "a disk that is 25 % slower than its figures",
        80.0,
        {"sharpness": HARD, "disk:d": math.log(1.25)},
        {"read": math.log(0.01), "vcpus": 8.0},
        {"read": 1.0},
    ),
    Case(
        "4 workers that compute 10 ms and wait 20",
        4 / 0.030,
        {"latency:d": math.log(0.02), "on:latency": ON},
        {"vcpus": 4.0},
        {"cpu": 1 / 3, "latency": 2 / 3},
    ),
    Case(
        "half of the data in memory, by use",
        100 / (1 - (0.5 + 0.5 * math.log(0.5))),
        {
            **{"sharpness": HARD, "held": 0.0, "data": math.log(4 * GIB), "keep": -50.0},
            **{"on:in order": OFF, "pressure": -50.0, "on:pressure": OFF},
        },
        {"read": math.log(0.01), "vcpus": 8.0, "memory_bytes": 2.49 * GIB},
    ),
    Case(
        "as much memory free as the job holds, under a pressure of a tenth",
        100 / 1.1,
        {"held": 0.0, "pressure": math.log(0.1), "on:pressure": ON},
        {"memory_bytes": 0.98 * GIB},
        {"cpu": 1 / 1.1, "memory": 0.1 / 1.1},
    ),
    Case(
        "a replay of the files",
        250.0,
        row={"read": math.log(0.004), "decodes": False, "computes": False},
        shares={"read": 1.0},
    ),
    Case("synthetic input leaves the step", 500.0, {"step": math.log(0.002)}, {"decodes": False, "steps": True}),
    Case("decoding and a step", 100 / 1.2, {"step": math.log(0.002)}, {"steps": True}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_rates_and_shares_by_hand(case: Case) -> None:
    """Within 1 %, a share within 0.02; all shares sum to one."""
    found = solved(row(**case.row), case.quantities)
    assert math.exp(found.log_rate[0, 0]) == pytest.approx(case.rate, rel=0.01)
    shares = dict(zip(STAGES, found.shares[0, 0], strict=True))
    assert sum(shares.values()) == pytest.approx(1)
    assert {name: shares[name] for name in case.shares} == pytest.approx(case.shares, abs=0.02)


@pytest.mark.parametrize(("vcpus", "relieved"), [(2.0, 1.0), (3.0, math.log2(3.9 / 2.3)), (4.0, 1.0)])
def test_of_pairs_what_twice_as_many_relieve_is_the_cpus(vcpus: float, relieved: float) -> None:
    """Twice 1 or 2 pairs are twice as fast; 3 vCPUs are two cores (2.3), and 6 are three (3.9)."""
    shares = solved(row(vcpus=vcpus, paired=True), THREADS).shares[0, 0]
    assert shares[STAGES.index("cpu")] == pytest.approx(relieved, abs=0.01)
    assert shares[STAGES.index("serial")] == pytest.approx(1 - relieved, abs=0.01)


def test_the_page_has_the_tables_that_the_code_prints() -> None:
    """A number changed in one of them alone would mislead whoever reads the other."""
    page = beliefs.PAGE.read_text("utf-8")
    assert beliefs.tables() in page, "run: python script/beliefs.py"
