"""Whole publishers and whole GPUs left out, and told from all others: what nobody had in view who chose the forms."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

from held_out_rates import LeftOut, transfer_variances

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate
from sizer.catalog.gpu_transfer import (
    EMULATORS,
    TRANSFER_90,
    PublishedStep,
    gpu_label,
    passes_of,
    precision_class,
    published_steps,
    rate_model,
    table_of,
)
from sizer.catalog.rate_estimate import RateQuestion, estimate

FIRST_YEAR = "2017"
"""Frameworks of before differ by more than any that is in use."""


def judged(rates: Sequence[AcceleratorRate]) -> list[AcceleratorRate]:
    """Rates of one accelerator that somebody measured."""
    return [
        rate
        for rate in rates
        if rate.gpu_count == 1 and not rate.gpu.startswith(PROCESSOR) and not rate.source.startswith(EMULATORS)
    ]


def without_source(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """Every rate that the catalogue answers without its publisher."""
    found = []
    for source in sorted({table_of(rate) for rate in judged(rates)}):
        others = tuple(rate for rate in rates if table_of(rate) != source)
        for rate in judged(rates):
            if table_of(rate) != source:
                continue
            asked = RateQuestion(
                rate.network, rate.mode, rate.gpu, rate.precision, rate.batch_size, rate.framework_name or None
            )
            told = estimate(others, asked)
            if told is not None:
                true = rate.samples_per_second
                error, covered = math.log(told.samples_per_second / true), told.low <= true <= told.high
                found.append(LeftOut(source, error, covered=covered, basis=told.basis))
    return found


def without_gpu(rates: Sequence[AcceleratorRate]) -> list[LeftOut]:
    """Every rate on a GPU, told from each series' rate on the GPU that is nearest by its data sheet.

    The variances, too, come from the other GPUs alone.
    """
    steps, found = published_steps(rates), []
    for gpu in sorted({step.gpu for step in steps}):
        rest = [step for step in steps if step.gpu != gpu]
        asked = [(step, near) for step in steps if step.gpu == gpu and (near := _nearest(step, rest)) is not None]
        if not asked:
            continue
        model = rate_model(rest, transfer_variances(rest))
        for (step, near), told in zip(asked, model.several([step for step, _ in asked]), strict=True):
            peak = near.log_rate + step.arithmetic - near.arithmetic - step.log_rate
            error = told.mean - step.log_rate
            covered = abs(error) <= TRANSFER_90 * told.deviation
            found.append(LeftOut(gpu, error, (peak,), told.deviation, covered))
    return found


def _nearest(step: PublishedStep, rest: Sequence[PublishedStep]) -> PublishedStep | None:
    def apart(other: PublishedStep) -> float:
        return abs(other.bandwidth - step.bandwidth) + abs(other.arithmetic - step.arithmetic)

    return min((other for other in rest if other.series == step.series), key=apart, default=None)


def ratios_apart(rates: Sequence[AcceleratorRate]) -> list[float]:
    """Ln of how far two publishers lie apart in how much faster one GPU is than another, for one network.

    No transfer from one of them can be expected to come nearer to the other.
    """
    series: dict[tuple[str, ...], list[PublishedStep]] = defaultdict(list)
    for step in published_steps(rates):
        series[step.series].append(step)
    found: dict[tuple[str, ...], list[tuple[str, float]]] = defaultdict(list)
    for same in series.values():
        for one, other in combinations(sorted(same, key=lambda step: step.gpu), 2):
            publisher, _, precision = one.table
            key = (one.network, passes_of(one.mode), precision, one.gpu, other.gpu)
            found[key].append((publisher, other.log_rate - one.log_rate))
    return [
        abs(one - other)
        for ratios in found.values()
        for (publisher, one), (another, other) in combinations(ratios, 2)
        if publisher != another
    ]


def apart(rates: Sequence[AcceleratorRate], same_framework: bool) -> tuple[float, int]:
    """Ln of how far 90 % of two tables lie apart at one GPU, network, precision and batch size, and how many pairs.

    Of one framework: tables of two publishers. Of two frameworks: also a publisher's own comparison, and every pair of
    publishers weighs the same, since one compares ten frameworks and another two.
    """
    by_publishers: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for one, other in _pairs(rates):
        publishers = tuple(sorted((table_of(one), table_of(other))))
        same = one.framework_name == other.framework_name
        if same is same_framework and (not same or len(set(publishers)) > 1):
            by_publishers[publishers].append(abs(math.log(one.samples_per_second / other.samples_per_second)))
    weight = {key: 1.0 if same_framework else 1 / len(gaps) for key, gaps in by_publishers.items()}
    sized = sorted((gap, weight[key]) for key, gaps in by_publishers.items() for gap in gaps)
    total, seen = sum(each for _, each in sized), 0.0
    for gap, each in sized:
        seen += each
        if seen >= 0.9 * total:
            return gap, len(sized)
    raise ValueError("no two tables have a rate in common")


def _pairs(rates: Sequence[AcceleratorRate]) -> Iterator[tuple[AcceleratorRate, AcceleratorRate]]:
    alike: dict[tuple[object, ...], list[AcceleratorRate]] = defaultdict(list)
    for rate in judged(rates):
        if rate.as_of >= FIRST_YEAR:
            key = (
                gpu_label(rate.gpu, rate.form),
                rate.network,
                passes_of(rate.mode),
                precision_class(rate.precision),
                rate.batch_size,
                rate.input_size,
            )
            alike[key].append(rate)
    for same in alike.values():
        yield from combinations(same, 2)
