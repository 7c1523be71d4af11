"""What the measured machines next to a configuration show of it, and those of a kind of a count beyond them."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from sizer.model.columns import Flags
from sizer.model.coordinates import disk_of, gpus_of
from sizer.model.model import NEIGHBOURED, NORMAL_90, Machines, MeasuredRate, WorkloadModel
from sizer.records import Configuration, Estimate

REACH = 0.1
"""Of the step in ln rate between two machines: how far beyond them an interval between them may reach."""
LEAST_NOISE = 0.02
"""Standard deviation of ln throughput of a run, at the least."""
SAME = 1e-9
"""E-folds: two machines that are as far apart to this much are held against each other number by number."""
DOUBLING = 2.0
"""The last step counts from this factor of accelerators on: a smaller one shows more noise than growth."""


def held_by_machines(model: WorkloadModel, configuration: Configuration, found: Estimate, together: bool) -> Estimate:
    """A prediction between a machine with no more of anything and one with no less lies between their rates.

    Its interval hardly reaches beyond them. The two have the kind of accelerator and the disk; those next to it count.
    `together` is whether its values were measured together.
    """
    alike = _of_kind(model, configuration)
    if alike is None or not _needs_holding(alike, configuration, together):
        return found
    below = _next_to(configuration, alike, alike.columns.need_no_more_than(configuration))
    above = _next_to(configuration, alike, alike.columns.need_no_less_than(configuration))
    if below is None or above is None:
        return found
    low, high = sorted((below.throughput.value, above.throughput.value))
    reach = math.exp(REACH * math.log(high / low) + noise_of_two(model))
    value = min(max(found.value, low), high)
    return Estimate(value, min(max(found.low, low / reach), value), max(min(found.high, high * reach), value))


def no_slower_than_less(model: WorkloadModel, configuration: Configuration, found: Estimate) -> Estimate:
    """More of a resource is not slower than a measured machine that has no more of anything, unless rows say so.

    The two have the kind of accelerator, the disk and the batch size.
    """
    alike = _of_kind(model, configuration)
    if alike is None or (configuration.gpu, disk_of(configuration)) in model.measured.slower_with_more:
        return found
    less = alike.fastest(alike.of_batch(configuration.batch_size) & alike.columns.need_no_more_than(configuration))
    if less is None:
        return found
    rate = less.throughput.value
    return Estimate(max(found.value, rate), max(found.low, less.of_new_run.low), max(found.high, rate))


def beyond_counts(model: WorkloadModel, configuration: Configuration) -> Estimate | None:
    """More accelerators of a kind than were measured: growth goes on as in the last step, anything from none to linear.

    None where the runs show the stages apart, and where no machine of the kind that has no more of anything is the
    largest measured. Where more accelerators were slower before, they may be so again.
    """
    count, alike = gpus_of(configuration), _of_kind(model, configuration)
    most = max(alike.counts) if alike is not None else 0
    if alike is None or most == 0 or count <= most or model.facts.core_seconds is not None:
        return None
    columns = alike.columns
    last = alike.fastest((columns.gpu_count == most) & columns.need_no_more_than(configuration))
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


def _needs_holding(alike: Machines, configuration: Configuration, together: bool) -> bool:
    """Between two counts of accelerators, or where its values were not measured together."""
    count = gpus_of(configuration)
    between = min(alike.counts) < count < max(alike.counts)
    return (between and count not in alike.counts) or not together


def _next_to(configuration: Configuration, machines: Machines, among: Flags) -> MeasuredRate | None:
    """The one of those that are marked least far from it over all numbers, in e-folds; of several the fastest."""
    if not among.any():
        return None
    numbers = [name for name in NEIGHBOURED if getattr(configuration, name)]
    far = np.zeros(len(machines.rates))
    for name in numbers:
        there = getattr(machines.columns, name)
        known = there > 0
        far += np.abs(np.log(getattr(configuration, name) / np.where(known, there, 1.0)), where=known, out=0 * far)

    def distance(rate: MeasuredRate) -> tuple[float, float]:
        values = [(getattr(configuration, name), getattr(rate.configuration, name)) for name in numbers]
        return sum(abs(math.log(here / there)) for here, there in values if there), -rate.throughput.value

    least = float(np.min(far[among]))
    return min(
        (rate for rate, near in zip(machines.rates, among & (far <= least + SAME), strict=True) if near), key=distance
    )


def _of_kind(model: WorkloadModel, configuration: Configuration) -> Machines | None:
    """The measured machines with the same kind of accelerator and the same disk; None where there are none."""
    return model.measured.of_kind.get((configuration.gpu, disk_of(configuration)))


def _chain(alike: Machines, last: MeasuredRate) -> list[MeasuredRate]:
    """By rising count the fastest machine of each that has no more of anything than the last."""
    less = alike.columns.need_no_more_than(last.configuration)
    counts = sorted(count for count in alike.counts if count < _count(last))
    found = [alike.fastest((alike.columns.gpu_count == count) & less) for count in counts]
    return [*(rate for rate in found if rate is not None), last]


def _count(rate: MeasuredRate) -> int:
    return gpus_of(rate.configuration)


def _exponent(one: MeasuredRate, other: MeasuredRate) -> float:
    """d ln rate / d ln count between two machines."""
    return math.log(other.throughput.value / one.throughput.value) / math.log(_count(other) / _count(one))
