"""What the measured machines next to a configuration show of it, and those of a kind of a count beyond them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sizer.model.coordinates import disk_of, gpus_of, no_more
from sizer.model.model import NEIGHBOURED, NORMAL_90, MeasuredRate, WorkloadModel
from sizer.records import Configuration, Estimate

REACH = 0.1
"""Of the step in ln rate between two machines: how far beyond them an interval between them may reach."""
LEAST_NOISE = 0.02
"""Standard deviation of ln throughput of a run, at the least."""
DOUBLING = 2.0
"""The last step counts from this factor of accelerators on: a smaller one shows more noise than growth."""


def held_by_machines(model: WorkloadModel, configuration: Configuration, found: Estimate) -> Estimate:
    """A prediction between a machine with no more of anything and one with no less lies between their rates.

    Its interval hardly reaches beyond them. The two have the kind of accelerator and the disk; those next to it count.
    """
    if not _needs_holding(model, configuration):
        return found
    alike = _of_kind(model, configuration)
    below = _next_to(configuration, [rate for rate in alike if _needs_no_more(rate.configuration, configuration)])
    above = _next_to(configuration, [rate for rate in alike if _needs_no_more(configuration, rate.configuration)])
    if below is None or above is None:
        return found
    low, high = sorted((below.throughput.value, above.throughput.value))
    reach = math.exp(REACH * math.log(high / low) + noise_of_two(model))
    value = min(max(found.value, low), high)
    return Estimate(value, min(max(found.low, low / reach), value), max(min(found.high, high * reach), value))


def beyond_counts(model: WorkloadModel, configuration: Configuration) -> Estimate | None:
    """More accelerators of a kind than were measured: growth goes on as in the last step, anything from none to linear.

    None where the runs show the stages apart, and where no machine of the kind that has no more of anything is the
    largest measured. Where more accelerators were slower before, they may be so again.
    """
    count, alike = gpus_of(configuration), _of_kind(model, configuration)
    most = max((_count(rate) for rate in alike), default=0)
    if most == 0 or count <= most or model.facts.core_seconds is not None:
        return None
    last = _fastest(
        rate for rate in alike if _count(rate) == most and _needs_no_more(rate.configuration, configuration)
    )
    chain = _chain(alike, last) if last is not None else []
    if last is None or len(chain) < 2:
        return None
    start = next((rate for rate in reversed(chain[:-1]) if _count(rate) * DOUBLING <= most), chain[0])
    now, more, noise = math.log(last.throughput.value), math.log(count / most), noise_of_two(model)
    steps = [_exponent(one, other) for one, other in pairwise(chain)]
    fell = min(steps) * more if min(steps) < -noise / math.log(DOUBLING) else 0.0
    expected = now + more * min(1.0, max(-1.0, _exponent(start, last)))
    low, high = min(now + fell, expected - noise), max(now + more, expected) + noise
    return Estimate(math.exp(expected), math.exp(low), math.exp(high))


def noise_of_two(model: WorkloadModel) -> float:
    """How far apart in ln rate two runs of one configuration may be: the end of the 90 % interval."""
    return NORMAL_90 * math.sqrt(2) * max(LEAST_NOISE, model.noise)


def _needs_holding(model: WorkloadModel, configuration: Configuration) -> bool:
    """Between two counts of accelerators, or where its values were not measured together."""
    counts = [_count(rate) for rate in _of_kind(model, configuration)]
    between = min(counts, default=0) < gpus_of(configuration) < max(counts, default=0)
    return (between and gpus_of(configuration) not in counts) or not model.measured_together(configuration)


def _next_to(configuration: Configuration, rates: Iterable[MeasuredRate]) -> MeasuredRate | None:
    """The one least far from it over all numbers, in e-folds; of several the fastest."""
    numbers = [name for name in NEIGHBOURED if getattr(configuration, name)]

    def distance(rate: MeasuredRate) -> tuple[float, float]:
        values = [(getattr(configuration, name), getattr(rate.configuration, name)) for name in numbers]
        return sum(abs(math.log(here / there)) for here, there in values if there), -rate.throughput.value

    return min(rates, key=distance, default=None)


def _of_kind(model: WorkloadModel, configuration: Configuration) -> list[MeasuredRate]:
    """The measured machines with the same kind of accelerator and the same disk."""
    kind = configuration.gpu, disk_of(configuration)
    return [r for r in model.measured.rates if (r.configuration.gpu, disk_of(r.configuration)) == kind]


def _chain(alike: Sequence[MeasuredRate], last: MeasuredRate) -> list[MeasuredRate]:
    """By rising count the fastest machine of each that has no more of anything than the last."""
    counts = sorted({_count(rate) for rate in alike if _count(rate) < _count(last)})
    found = [
        _fastest(r for r in alike if _count(r) == count and _needs_no_more(r.configuration, last.configuration))
        for count in counts
    ]
    return [*(rate for rate in found if rate is not None), last]


def _count(rate: MeasuredRate) -> int:
    return gpus_of(rate.configuration)


def _fastest(rates: Iterable[MeasuredRate]) -> MeasuredRate | None:
    return max(rates, key=lambda rate: rate.throughput.value, default=None)


def _needs_no_more(one: Configuration, other: Configuration) -> bool:
    """Whether one has no more accelerators, vCPUs and memory than another, and no larger a batch."""
    return (
        gpus_of(one) <= gpus_of(other)
        and no_more(one.vcpus, other.vcpus)
        and no_more(one.memory_bytes, other.memory_bytes)
        and no_more(one.batch_size, other.batch_size)
    )


def _exponent(one: MeasuredRate, other: MeasuredRate) -> float:
    """d ln rate / d ln count between two machines."""
    return math.log(other.throughput.value / one.throughput.value) / math.log(_count(other) / _count(one))
