"""Tables and curves that are drawn for what a part of the model says: caps crossed with vCPUs, and what lies beyond.

All from the machines of the benchmark, by a seed that chose nothing; which of them count was set before any was judged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from accuracy_draws import Case, draw_case
from accuracy_machines import Faster, SimulatedMachine
from accuracy_scores import error
from accuracy_simulated import Prepared

from sizer.model import GAIN as GAIN_WORTH
from sizer.model import INSTANT, Trend, WhatIf, fit, gain, predict, vcpus_edge
from sizer.records.configuration import Bottleneck, Configuration
from sizer.records.errors import NoAnswer
from sizer.records.run import Run

FEWEST_VCPUS = 4
"""Values of a table of vCPUs and memory caps, of which three caps at the least."""
CAPS = (1.15, 1.5, 2.0, 3.0, 4.5)
"""Memory caps over what the job cannot drop; of a job that reads, as much of its data beside that as is drawn."""
LEFT_OUT = (0.25, 0.4)
"""Part of a table that was not measured, never its corners."""
STEPS, STEP = 2, 0.1
"""Where memory is said to count: so many of the steps from one cap to the next raise the rate with the most vCPUs by so
much at least."""
NO_DISK = Faster(bandwidth=1e6, iops=1e6, latency=1e6, write=1e6)
CHANCE = 1.005
"""By so much the simulated rate of a machine is off by its luck."""
RISING = "said to rise"
GAIN = (0.05, 0.6)
"""By which the last doubling of vCPUs truly raises the rate, where it is asked what lies beyond it."""


def caps_case(number: int, seed: int) -> Case | None:
    """A table of vCPUs crossed with memory caps, from rates alone and one unknown disk; None where the machine of this
    number has too few vCPU values.

    Of four numbers two are jobs whose data stay in the page cache in part, one a job that needs more of every
    core-second the less memory is free, as collecting garbage does, or more of everything, as swapping does; and of one
    memory says nothing.
    """
    base, random = draw_case(2 * number + 1, seed), np.random.default_rng([seed, number, 8])
    vcpus, reads = base.axes.vcpus, base.machine.job.read_bytes > 0
    cached, pressed = number % 4 < 2, number % 4 == 2
    if len(vcpus) < FEWEST_VCPUS or (cached and not reads):
        return None
    memory = replace(base.machine.memory, natural=cached)
    if pressed:
        strength = math.exp(random.uniform(math.log(0.02), math.log(0.5)))
        memory = replace(memory, pressure=strength, swaps=bool(random.random() < 0.5))
    disk = str(random.choice(list(base.machine.disks)))
    machine = replace(base.machine, memory=memory, disks={disk: base.machine.disks[disk]})
    axes = replace(base.axes, disks=(disk,), batches=base.axes.batches[-1:], gpu_counts=base.axes.gpu_counts[:1])
    sizes = _caps(machine, vcpus[-1], axes.batches[0], random)
    axes = replace(axes, memory=sizes)
    places = [
        Configuration(c, m, disk, axes.batches[0], axes.gpu, axes.gpu_counts[0]) for c in axes.vcpus for m in sizes
    ]
    corners = {(c, m) for c in (vcpus[0], vcpus[-1]) for m in (sizes[0], sizes[-1])}
    inner = [place for place in places if (place.vcpus, place.memory_bytes) not in corners]
    count = round(random.uniform(*LEFT_OUT) * len(places))
    out = {inner[int(at)] for at in random.permutation(len(inner))[:count]}
    measured = tuple(place for place in places if place not in out)
    beyond = tuple(replace(place, vcpus=2 * vcpus[-1]) for place in (places[-1], places[-len(sizes)]))
    return replace(
        base,
        machine=machine,
        axes=axes,
        measured=measured,
        inside=tuple(place for place in places if place in out),
        beyond=tuple(place for place in beyond if machine.holds(place)),
        repeats=1,
    )


def memory_counts(case: Case) -> bool:
    """Whether several caps of a table truly have rates of their own."""
    top = [Configuration(case.axes.vcpus[-1], size, *_others(case.measured[0])) for size in case.axes.memory]
    rates = list(case.machine.truth([(place, Faster()) for place in top]).values())
    return sum(more / less - 1 >= STEP for less, more in pairwise(rates)) >= STEPS


def without_waiting(case: Prepared, machine: SimulatedMachine) -> tuple[list[float], list[bool]]:
    """What is said of how many times as fast each place that was asked would be if nothing waited for its disk: errors
    (|ln| of the factor), and whether its interval holds the truth."""
    model = fit(case.runs).workloads[0]
    places = [place for place in case.asked if machine.holds(place)]
    truth = machine.truth([(place, each) for place in places for each in (Faster(), NO_DISK)])
    errors, held = [], []
    for place in places:
        try:
            said = gain(model, place, place, WhatIf(disk_rates=INSTANT))
        except NoAnswer:
            continue
        if said is not None:
            times = truth[place, NO_DISK] / truth[place, Faster()]
            errors.append(error(1 + said.value, times))
            held.append((1 + said.low) / CHANCE <= times <= (1 + said.high) * CHANCE)
    return errors, held


def _others(place: Configuration) -> tuple[str | None, int | None, str | None, int | None]:
    return place.disk, place.batch_size, place.gpu, place.gpu_count


def _caps(machine: SimulatedMachine, most: float, batch: int, random: np.random.Generator) -> tuple[int, ...]:
    needed, count = machine.memory.needed(most, batch), int(random.integers(3, 6))
    if machine.memory.natural:
        shares = np.sort(random.uniform(0.05, 1.2, count))
        wanted = [needed + share * machine.memory.data_bytes for share in shares]
    else:
        chosen = sorted(map(int, random.permutation(len(CAPS))[:count]))
        wanted = [CAPS[at] * needed for at in chosen]
    return tuple(dict.fromkeys(math.ceil(size / 2**20) * 2**20 for size in wanted))


def edge_case(number: int, seed: int) -> Case | None:
    """A curve over vCPUs alone whose last doubling truly gains GAIN, asked for what 1.5 and 2 times the most vCPUs
    give; None where the machine of this number has none such."""
    base = draw_case(number, seed)
    axes = base.axes
    axes = replace(axes, memory=axes.memory[-1:], disks=axes.disks[-1:], batches=axes.batches[-1:])
    axes = replace(axes, gpu_counts=axes.gpu_counts[:1])
    disk, most = axes.disks[0], axes.vcpus[-1]

    def at(vcpus: float) -> Configuration:
        return Configuration(vcpus, axes.memory[0], disk, axes.batches[0], axes.gpu, axes.gpu_counts[0])

    machine = replace(base.machine, disks={disk: base.machine.disks[disk]})
    far = tuple(place for place in (at(1.5 * most), at(2 * most)) if machine.holds(place))
    ends = [(at(most / 2), Faster()), (at(most), Faster())]
    if len(far) < 2:
        return None
    less, now = machine.truth(ends).values()
    if not GAIN[0] <= now / less - 1 <= GAIN[1]:
        return None
    middles = [(a + b) / 2 for a, b in pairwise(axes.vcpus)]
    inside = tuple(at(c) for c in middles if c == round(c) or c < 1)
    measured = tuple(at(c) for c in axes.vcpus)
    return replace(base, machine=machine, axes=axes, measured=measured, inside=inside, beyond=far)


def said_of_more(runs: Sequence[Run]) -> tuple[bool, ...]:
    """Where a curve over vCPUs is said to rise still: whether twice the most are foretold to gain what is worth a size,
    and, if `cpu` or `serial` is named at the most, whether it is `cpu` where the rate rose by more than half of the
    doubling."""
    model = fit(runs).workloads[0]
    known = model.measured.vcpus
    most = replace(runs[-1].configuration, vcpus=known[-1])
    edge = vcpus_edge(model, most)
    if edge.trend is not Trend.RISING or edge.predicted:
        return ()
    now, more = predict(model, most), predict(model, replace(most, vcpus=2 * known[-1]))
    gains = more.throughput.value / now.throughput.value - 1 > GAIN_WORTH
    if now.bottleneck not in (Bottleneck.CPU, Bottleneck.SERIAL):
        return (gains,)
    return gains, (now.bottleneck is Bottleneck.CPU) or edge.gain < math.sqrt(2) - 1
