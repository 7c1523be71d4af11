"""What one accelerator does for a job, by published rates: the number, between batch sizes, or from other GPUs.

A step costs a launch and its samples, so its time is near affine in the batch, and convex where the launch hides the
first samples: the chord between two published batch sizes is then too slow, and a monotone cubic (Fritsch and Carlson,
Monotone piecewise cubic interpolation, 1980) bends below it. The curve is the geometric mean of both.

A published rate is that of one framework, container and day; another table of the same differs. The interval says so:
it holds 90 % of what another publisher would find.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Literal

from sizer.catalog.accelerator_rates import PROCESSOR, AcceleratorRate, DataSheet, data_sheet
from sizer.catalog.gpu_transfer import (
    TRANSFER_90,
    gpu_label,
    passes_of,
    precision_class,
    published_step,
    transfer_model,
)
from sizer.records.frameworks import plain_precision

# The rate of an accelerator at a batch size between published ones.

INTERPOLATION_90 = 0.078
"""Ln of how far 90 % of published rates lie from what their neighbours say: `benchmarks/accelerators`, with --fit."""
GROWTH, GROWTH_90 = 0.093, 0.302
"""Ln rate for each e-fold of batch, and its 90 %, of the shipped curves from batch 16 on: the same command."""


@dataclass(frozen=True)
class AtBatch:
    """A rate at a batch size, low and high with 90 %; `how` it follows from the published ones."""

    value: float
    low: float
    high: float
    how: Literal["published", "interpolated", "extrapolated"]


def rate_at(rates: Mapping[int, float], batch_size: int) -> AtBatch:
    """From the rates by batch size of one table (at least one), samples per second.

    Outside of them the nearest one counts, grown as the shipped curves do at large batches.
    """
    sizes = sorted(rates)
    if batch_size in rates:
        return AtBatch(rates[batch_size], rates[batch_size], rates[batch_size], "published")
    if sizes[0] < batch_size < sizes[-1]:
        value = batch_size / _between(sizes, [size / rates[size] for size in sizes], batch_size)
        return _within(value, INTERPOLATION_90, "interpolated")
    edge = sizes[0] if batch_size < sizes[0] else sizes[-1]
    away = math.log(batch_size / edge)
    return _within(rates[edge] * math.exp(GROWTH * away), INTERPOLATION_90 + GROWTH_90 * abs(away), "extrapolated")


def _within(value: float, half: float, how: Literal["interpolated", "extrapolated"]) -> AtBatch:
    return AtBatch(value, value * math.exp(-half), value * math.exp(half), how)


def _between(x: Sequence[int], y: Sequence[float], at: int) -> float:
    """The geometric mean of the chord and of the monotone cubic."""
    index = bisect_right(x, at) - 1
    width, position = x[index + 1] - x[index], (at - x[index]) / (x[index + 1] - x[index])
    chord = y[index] + position * (y[index + 1] - y[index])
    if len(x) == 2:
        return chord
    slopes = _monotone_slopes(x, y)
    squared, cubed = position**2, position**3
    cubic = (
        (2 * cubed - 3 * squared + 1) * y[index]
        + (cubed - 2 * squared + position) * width * slopes[index]
        + (3 * squared - 2 * cubed) * y[index + 1]
        + (cubed - squared) * width * slopes[index + 1]
    )
    return math.sqrt(chord * cubic)


def _monotone_slopes(x: Sequence[int], y: Sequence[float]) -> list[float]:
    """At each point: the weighted harmonic mean of the chords beside it, none where they turn."""
    widths = [after - before for before, after in pairwise(x)]
    chords = [(after - before) / width for (before, after), width in zip(pairwise(y), widths, strict=True)]
    inner = []
    for (left, right), (before, after) in zip(pairwise(widths), pairwise(chords), strict=True):
        if before * after <= 0:
            inner.append(0.0)
            continue
        one, other = 2 * right + left, right + 2 * left
        inner.append((one + other) / (one / before + other / after))
    return [_end_slope(*widths[:2], *chords[:2]), *inner, _end_slope(*widths[:-3:-1], *chords[:-3:-1])]


def _end_slope(width: float, next_width: float, chord: float, next_chord: float) -> float:
    """The three-point slope at an end, as flat as a monotone curve needs."""
    slope = ((2 * width + next_width) * chord - width * next_chord) / (width + next_width)
    if slope * chord <= 0:
        return 0.0
    return 3 * chord if chord * next_chord <= 0 and abs(slope) > 3 * abs(chord) else slope


SAME_FRAMEWORK_90, OTHER_FRAMEWORK_90 = 0.365, 0.583
"""Ln of how far 90 % of two tables of 2017 and later lie apart at one GPU, network, precision and batch size: two
publishers of one framework, and two frameworks. `benchmarks/accelerators/accelerators.py --fit` prints them."""
EIGHT_BITS = ("int8", "fp8", "fp4")
"""Precisions that a job has only where it says so: what precedes them is quantised by hand."""
MOST_90 = math.log(10) / 2
"""Ln of the widest half of an interval that is still an answer: tenfold from end to end."""
UNSIZED_90, SMALL_BATCH = 2 * GROWTH_90, 16
"""A rate that was published without a batch size is taken as of one within two e-folds of the asked one, and says
nothing of batches below 16, from which on the growth of rates was learnt."""
PIPELINE_FREE = ("synthetic", "none (step time only)", "preloaded (preprocessed)", "in memory")
"""Where samples came from nowhere: such a rate is the accelerator's own."""


class Basis(str, Enum):
    """How a rate follows from published ones."""

    PUBLISHED = "published"
    """It was published for this GPU, network and batch size."""
    INTERPOLATED = "interpolated"
    """It lies between published batch sizes of this GPU and network."""
    EXTRAPOLATED = "extrapolated"
    """It lies beyond them: no larger, or no smaller, batch was published."""
    TRANSFERRED = "transferred"
    """The network was published on other GPUs, and other networks on both."""


@dataclass(frozen=True)
class RateQuestion:
    """A job on one accelerator; what is None is not known, and taken as is usual.

    `batch_sizes` are all those that the job is asked about: one table answers for them, as two differ by more.
    """

    network: str
    mode: str
    gpu: str
    precision: str | None = None
    batch_size: int | None = None
    framework: str | None = None
    batch_sizes: tuple[int, ...] = ()


@dataclass(frozen=True)
class RateEstimate:
    """Samples per second of one accelerator that never waits, and bounds of 90 %.

    `precision`, `framework`, `batch_size` and `as_of` are those of the published rate that it follows from, which are
    said beside it; `known_on` the GPUs whose rates were transferred. `mode` and `network` are the asked ones.
    """

    network: str
    mode: str
    gpu: str
    samples_per_second: float
    low: float
    high: float
    basis: Basis
    precision: str | None
    batch_size: int | None
    framework: str | None
    sources: tuple[str, ...]
    as_of: str
    sample_unit: str | None = None
    known_on: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """In one line, with how it follows from what is published there."""
        sources = "; ".join(self.sources)
        if self.basis is Basis.TRANSFERRED:
            return f"transferred from {', '.join(self.known_on)}: {sources}"
        return sources if self.basis is Basis.PUBLISHED else f"{self.basis.value}: {sources}"


@dataclass(frozen=True)
class _Curve:
    """The rates by batch size of one table on one GPU."""

    rates: tuple[AcceleratorRate, ...]

    @property
    def first(self) -> AcceleratorRate:
        return self.rates[0]

    def at(self, batch_size: int | None) -> AtBatch:
        """What is published without a batch size, and what is asked without one, is its largest."""
        sized = {rate.batch_size: rate.samples_per_second for rate in self.rates if rate.batch_size}
        if sized and batch_size:
            return rate_at(sized, batch_size)
        largest = max(self.rates, key=lambda rate: rate.batch_size or 0).samples_per_second
        if not batch_size or sized:
            return AtBatch(largest, largest, largest, "published")
        half = UNSIZED_90 if batch_size >= SMALL_BATCH else math.inf
        return AtBatch(largest, largest * math.exp(-half), largest * math.exp(half), "extrapolated")


def estimate(rates: tuple[AcceleratorRate, ...], asked: RateQuestion) -> RateEstimate | None:
    """From these rates; None where neither the GPU nor another one that compares with it has one for the network, or
    where the interval would span more than tenfold."""
    alike = _alike(rates, asked)
    sheet = data_sheet(asked.gpu)
    if plain_precision(asked.precision or "") == "bf16" and sheet is not None and not sheet.has_bf16:
        return None
    own = _best(_on_gpu(alike, asked.gpu), asked)
    if own is None:
        result = _transferred(rates, alike, asked)
    else:
        at = own.at(asked.batch_size)
        result = _estimated(own, asked, at, 0.0, Basis(at.how))
    return result if result is None or result.high <= result.low * math.exp(2 * MOST_90) else None


def _alike(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> list[AcceleratorRate]:
    """Those of one accelerator for the network, mode and precision, on whichever GPU."""
    return [
        rate
        for rate in rates
        if rate.gpu_count == 1
        and rate.network == asked.network
        and passes_of(rate.mode) == passes_of(asked.mode)
        and _is_of(rate.precision, asked.precision)
    ]


def _on_gpu(rates: Sequence[AcceleratorRate], gpu: str) -> list[AcceleratorRate]:
    label = gpu_label(gpu)
    return [rate for rate in rates if gpu_label(rate.gpu, rate.form) == label]


def _is_of(precision: str | None, asked: str | None) -> bool:
    """Whether a rate of `precision` answers for the asked one; where none is asked, 8 bits are not what is meant."""
    kind = precision_class(precision)
    return kind not in EIGHT_BITS if asked is None else kind == precision_class(asked)


def _best(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> _Curve | None:
    """The curve that tells the asked batch sizes nearest, then the one most like what is asked: its framework,
    precision, mode, and then the day."""
    curves: dict[AcceleratorRate, list[AcceleratorRate]] = {}
    for rate in rates:
        plain = replace(rate, batch_size=None, samples_per_second=1.0, note=None, commit=None, path=None)
        curves.setdefault(plain, []).append(rate)
    return max(
        (_Curve(tuple(same)) for same in curves.values()), key=lambda curve: _likeness(curve, asked), default=None
    )


def _likeness(curve: _Curve, asked: RateQuestion) -> tuple[object, ...]:
    first, sizes = curve.first, [rate.batch_size for rate in curve.rates if rate.batch_size]
    sizes_asked = asked.batch_sizes or ((asked.batch_size,) if asked.batch_size else ())
    halves = [round(_half(curve, asked, curve.at(size)), 2) for size in sizes_asked]
    usual = ("fp32", "tf32", "mixed", "fp16", "bf16")
    precision = asked.precision or "fp32"
    rank = 0 if first.precision == precision else 1 + (usual.index(first.precision) if first.precision in usual else 9)
    return (
        -rank if asked.precision is None else 0,
        bool(sizes) or not halves,
        -max(halves, default=0.0),
        first.framework_name == (asked.framework or "").lower(),
        -rank,
        first.mode == asked.mode,
        bool(sizes),
        (first.data or "synthetic") in PIPELINE_FREE,
        first.as_of,
        len(sizes),
    )


def _half(curve: _Curve, asked: RateQuestion, at: AtBatch) -> float:
    """Ln of half of the interval of 90 %: what another publisher finds, and how far the batch size is told."""
    name = curve.first.framework_name
    among = SAME_FRAMEWORK_90 if name == (asked.framework or name).lower() else OTHER_FRAMEWORK_90
    return math.hypot(among, math.log(at.high / at.value))


def _estimated(
    curve: _Curve, asked: RateQuestion, at: AtBatch, half: float, basis: Basis, shift: float = 0.0
) -> RateEstimate:
    """At the batch size, `shift` in ln rate from the curve's GPU; the halves of all intervals add as squares."""
    first = curve.first
    wide = math.hypot(half, _half(curve, asked, at))
    value = at.value * math.exp(shift)
    sizes = [rate.batch_size for rate in curve.rates if rate.batch_size]
    return RateEstimate(
        network=asked.network,
        mode=asked.mode,
        gpu=asked.gpu,
        samples_per_second=value,
        low=value * math.exp(-wide),
        high=value * math.exp(wide),
        basis=basis,
        precision=first.precision,
        batch_size=asked.batch_size if sizes else None,
        framework=first.framework,
        sources=tuple(dict.fromkeys(rate.source for rate in curve.rates)),
        as_of=first.as_of,
        sample_unit=first.sample_unit,
        known_on=() if basis is not Basis.TRANSFERRED else (first.gpu_form,),
    )


def _transferred(
    rates: tuple[AcceleratorRate, ...], alike: Sequence[AcceleratorRate], asked: RateQuestion
) -> RateEstimate | None:
    """By the rate on the GPU whose data sheet is nearest, of those that were published in one series with this one."""
    label, sheet = gpu_label(asked.gpu), data_sheet(asked.gpu)
    if sheet is None or (precision_class(asked.precision) == "half" and not sheet.fp16_tflops):
        return None
    model = transfer_model(rates)
    # GPUs that were published in one series with this one, whichever the network.
    series = {step.series for step in model.figures if step.gpu == label}
    comparable = {step.gpu for step in model.figures if step.series in series} - {label}
    on_comparable = [rate for rate in alike if gpu_label(rate.gpu, rate.form) in comparable]
    curve = _best(_on_nearest(on_comparable, asked, sheet), asked)
    if curve is None:
        return None
    precision = _as_on(curve.first.precision, sheet)
    there = replace(curve.first, gpu=asked.gpu, form=sheet.form, gpu_memory_gib=sheet.memory_gib, precision=precision)
    step, moved = published_step(curve.first), published_step(there)
    if step is None or moved is None:
        return None
    own = next((figure for figure in model.figures if figure.series == step.series and figure.gpu == step.gpu), step)
    expected = model.expected(moved)
    at = curve.at(asked.batch_size)
    shift = expected.mean - own.log_rate
    result = _estimated(curve, asked, at, TRANSFER_90 * expected.deviation, Basis.TRANSFERRED, shift)
    return replace(result, precision=precision)


def _on_nearest(rates: Sequence[AcceleratorRate], asked: RateQuestion, there: DataSheet) -> list[AcceleratorRate]:
    """Those on one GPU: of the framework's, where it has some, the one whose data sheet is nearest."""
    ours = [rate for rate in rates if rate.framework_name == (asked.framework or "").lower()] or list(rates)
    steps = {rate: step for rate in ours if (step := published_step(rate)) is not None}
    if not steps:
        return []

    def apart(rate: AcceleratorRate) -> float:
        here = data_sheet(rate.gpu, rate.form, rate.gpu_memory_gib)
        assert here is not None, "a step has a sheet"
        arithmetic = (here.tflops(rate.precision) or 1) / (there.tflops(_as_on(rate.precision, there)) or 1)
        return abs(math.log(here.memory_gbps / there.memory_gbps)) + abs(math.log(arithmetic))

    nearest = min(steps, key=apart)
    return [rate for rate in ours if steps.get(rate) and steps[rate].gpu == steps[nearest].gpu]


def _as_on(precision: str | None, sheet: DataSheet) -> str | None:
    """The precision on another GPU: what a container calls fp32 is TF32 from Ampere on, and only there."""
    if precision_class(precision) != "single":
        return precision
    return "tf32" if sheet.tf32_tflops else "fp32"


def published_gpus(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> tuple[str, ...]:
    """The GPUs that the network is published on, going forward, or forward and backward, as is asked."""
    return tuple(published_beside(rates, asked)[1])


def published_batch_sizes(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> tuple[int, ...]:
    """Those that the network was published at on this GPU, in the asked mode and precision, ascending."""
    on_it = _on_gpu(_alike(rates, asked), asked.gpu)
    return tuple(sorted({rate.batch_size for rate in on_it if rate.batch_size}))


def smallest_memory(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> int | None:
    """Bytes of the smallest GPU that as large a batch of the network was published on; None without one."""
    held = [
        data_sheet(rate.gpu, rate.form, rate.gpu_memory_gib)
        for rate in rates
        if rate.network == asked.network
        and passes_of(rate.mode) == passes_of(asked.mode)
        and _is_of(rate.precision, asked.precision)
        and (rate.batch_size or 0) >= (asked.batch_size or math.inf)
        and not rate.gpu.startswith(PROCESSOR)
    ]
    return min((sheet.memory_bytes for sheet in held if sheet is not None), default=None)


def published_beside(rates: Sequence[AcceleratorRate], asked: RateQuestion) -> tuple[list[str], list[str], list[str]]:
    """What is published in the same mode: in the asked precision the networks on the GPU, and the other GPUs that the
    network is on; and the precisions that the network has on the GPU."""
    single = [
        rate
        for rate in rates
        if rate.gpu_count == 1 and passes_of(rate.mode) == passes_of(asked.mode) and not rate.gpu.startswith(PROCESSOR)
    ]
    own = _on_gpu(single, asked.gpu)
    others = [rate for rate in single if rate.network == asked.network and rate not in own]
    return (
        sorted({rate.network for rate in own if _is_of(rate.precision, asked.precision)}),
        sorted({rate.gpu for rate in others if _is_of(rate.precision, asked.precision)}),
        sorted({rate.precision for rate in own if rate.network == asked.network and rate.precision}),
    )
