"""The table of all machines that were measured, and which of them another dominates."""

from __future__ import annotations

from collections.abc import Sequence

from sizer.recommend.candidates import Candidate
from sizer.recommend.prices import usd_per_million
from sizer.records.answer import Alternative


def alternatives(machines: Sequence[Candidate], unit: str) -> tuple[Alternative, ...]:
    """Every machine, the least cost of the work first, as it is told: without a disk, which parts equal ones."""
    found, dominated = [], _dominated(machines)
    for each in sorted(machines, key=lambda machine: (machine.usd_a_sample, machine.cost, -machine.rate)):
        found.append(
            Alternative(
                spec=each.spec,
                throughput=each.throughput,
                instance_type=each.name,
                usd_per_hour=each.usd_per_hour,
                usd_per_million_samples=usd_per_million(each.usd_per_hour, each.rate, unit),
                dominated=id(each) in dominated,
                usd_per_hour_spot=each.usd_per_hour_spot,
                latency_p99=each.latency_p99,
                disk_usd_per_hour=each.disk_usd_per_hour,
            )
        )
    return tuple(found)


def _dominated(machines: Sequence[Candidate]) -> set[int]:
    """The ids of the machines than which another one is no slower, as prompt, and does the work for no more."""
    priced = [each for each in machines if each.usd_per_hour is not None]
    front: list[Candidate] = []
    found: set[int] = set()
    for each in sorted(priced, key=_best_first):
        # What is before it costs no more, so only those that nothing dominates need be asked.
        if any(_no_worse(other, each) for other in front):
            found.add(id(each))
        else:
            front.append(each)
    return found


def _best_first(machine: Candidate) -> tuple[object, ...]:
    return machine.cost, -machine.rate, machine.size, machine.latency_p99 or 0.0


def _no_worse(one: Candidate, other: Candidate) -> bool:
    """Of two of which the first costs no more: whether it is no slower and as prompt, and better in something."""
    known = (one.latency_p99, other.latency_p99)
    prompt = known[1] is None or (known[0] is not None and known[0] <= known[1])
    better = one.rate > other.rate or one.cost < other.cost
    return one.rate >= other.rate and prompt and better
