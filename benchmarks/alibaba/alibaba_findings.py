"""What was found in 2018 against the rates that were measured here: which findings come out, and why. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from alibaba_machine import TIERS, TRAIN, VCPUS_THEN_OVER_HERE
from grid_data import Cell, cells

from sizer.model.coordinates import vcpus_of
from sizer.records.run import Run
from sizer.records.units import GIB

BEST, MIDDLE, WORST = (tier.name for tier in TIERS)
ALL_VCPUS = 2.0
TWO_THEN = 2 / VCPUS_THEN_OVER_HERE
ONE_THREAD = 0.5
"""vCPUs that are taken for a core of then, to the quarter that a study may ask for."""

FEW_PERCENT = (0.95, 1.05)
"""`Within a few percent`, `the same`, and `satisfied`."""


@dataclass(frozen=True)
class PublishedRatio:
    """One finding: its ratio then as a band, each repeat's ratio here, and what the accounting of the runs says."""

    name: str
    then: str
    band: tuple[float, float]
    ratios: tuple[float, ...]
    why: str

    @property
    def ratio(self) -> float:
        """The geometric mean of the repeats' ratios."""
        return math.exp(sum(map(math.log, self.ratios)) / len(self.ratios))

    @property
    def comes_out(self) -> bool:
        return self.band[0] <= self.ratio <= self.band[1]


class MeasuredCells:
    """The completed runs of the study by point, in the order of their repeats."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._cells = cells(sorted(runs, key=lambda run: run.spec.repeat))

    def at(self, workload: str, vcpus: float, disk: str = BEST, memory_bytes: int | None = None) -> tuple[Run, ...]:
        """The runs of one point. Raises KeyError where it was not measured."""
        found = [runs for cell, runs in self._cells.items() if _is(cell, workload, vcpus, disk, memory_bytes)]
        if not found:
            raise KeyError(f"{workload} at {vcpus:g} vCPUs on {disk}")
        return tuple(run for runs in found for run in runs)

    def best(self, workload: str) -> tuple[Run, ...]:
        """The runs of the point with the highest mean rate."""
        points = [runs for (name, _), runs in self._cells.items() if name == workload]
        return max(points, key=lambda runs: sum(map(_rate, runs)) / len(runs))


def _is(cell: Cell, workload: str, vcpus: float, disk: str, memory_bytes: int | None) -> bool:
    name, point = cell
    return (name, point.vcpus, point.disk) == (workload, vcpus, disk) and memory_bytes in (None, point.memory_bytes)


def findings(runs: Iterable[Run]) -> Iterator[PublishedRatio]:
    """Every finding of then, network by network."""
    rates = MeasuredCells(runs)
    for network in TRAIN:
        yield _blind(f"training {network}", rates, f"train-{network}")
    for network in TRAIN:
        yield from _inference(network, rates)
    yield from _preprocessing("preprocessing, one thread", rates, ONE_THREAD)
    yield from _preprocessing("preprocessing, all vCPUs", rates, ALL_VCPUS)
    least = rates.at("lstm", TWO_THEN, memory_bytes=GIB)
    ratios = _ratios(least, rates.best("lstm"))
    yield PublishedRatio("LSTM on 2 vCPU, 1 GiB / best", "satisfied", (FEW_PERCENT[0], math.inf), ratios, _bound(least))


def _blind(name: str, rates: MeasuredCells, workload: str) -> PublishedRatio:
    slow, fast = rates.at(workload, ALL_VCPUS, WORST), rates.at(workload, ALL_VCPUS, BEST)
    return PublishedRatio(f"{name}: {WORST} / {BEST}", "within a few %", FEW_PERCENT, _ratios(slow, fast), _bound(slow))


def _inference(network: str, rates: MeasuredCells) -> Iterator[PublishedRatio]:
    on = {tier.name: rates.at(f"infer-{network}", ALL_VCPUS, tier.name) for tier in TIERS}
    name, same = f"inference {network}", _ratios(on[MIDDLE], on[BEST])
    yield PublishedRatio(f"{name}: {MIDDLE} / {BEST}", "the same", FEW_PERCENT, same, _bound(on[MIDDLE]))
    slower = _ratios(on[WORST], on[MIDDLE])
    yield PublishedRatio(f"{name}: {WORST} / {MIDDLE}", "about 0.85", (0.80, 0.90), slower, _bound(on[WORST]))


def _preprocessing(name: str, rates: MeasuredCells, vcpus: float) -> Iterator[PublishedRatio]:
    on = {tier.name: rates.at("preprocess", vcpus, tier.name) for tier in TIERS}
    for fast, slow, then, band in (
        (BEST, MIDDLE, "about 1.25", (1.15, 1.35)),
        (MIDDLE, WORST, "about 1.10", (1.05, 1.15)),
    ):
        waited = f"; had it waited for each file: {_had_it_waited(on[BEST], fast, slow):.2f}" if vcpus < 1 else ""
        yield PublishedRatio(
            f"{name}: {fast} / {slow}", then, band, _ratios(on[fast], on[slow]), _bound(on[slow]) + waited
        )


def _had_it_waited(best: Sequence[Run], fast: str, slow: str) -> float:
    """The ratio for one thread that waits for every file it reads, by latencies, which nothing here emulates.

    Seconds an image are core-seconds (at the vCPUs' share), one latency, and the image's bytes at the tier's MB/s.
    """
    demands = [run.demand for run in best if run.demand is not None]
    image = sum(demand.read_bytes or 0.0 for demand in demands) / len(demands)
    cpu = sum(demand.core_seconds or 0.0 for demand in demands) / len(demands) / vcpus_of(best[0].configuration)
    took = {tier.name: cpu + tier.latency + image / (tier.mbps * 1e6) for tier in TIERS}
    return took[slow] / took[fast]


def _ratios(ones: Sequence[Run], others: Sequence[Run]) -> tuple[float, ...]:
    """Each repeat of the one over the same repeat of the other; further repeats of a reference are left out."""
    return tuple(_rate(one) / _rate(other) for one, other in zip(ones, others, strict=False))


def _bound(runs: Sequence[Run]) -> str:
    """`accelerator 2 of 2; reads 43 MB/s`: what bound the runs, and what they read and wrote."""
    named = [run.evidence.bottleneck.value.replace("_", " ") for run in runs if run.evidence is not None]
    most = max(dict.fromkeys(named), key=named.count)
    flows = [(verb, _flow(runs, figure)) for verb, figure in (("reads", "read_bytes"), ("writes", "written_bytes"))]
    moved = ", ".join(f"{verb} {flow / 1e6:.0f} MB/s" for verb, flow in flows if flow >= 1e6)
    return f"{most} in {named.count(most)} of {len(named)}" + (f"; {moved}" if moved else "")


def _flow(runs: Sequence[Run], figure: str) -> float:
    """Bytes a second of the device, on average."""
    flows = [_rate(run) * (getattr(run.demand, figure) or 0.0) for run in runs if run.demand is not None]
    return sum(flows) / len(flows) if flows else 0.0


def _rate(run: Run) -> float:
    assert run.throughput is not None
    return run.throughput.value
