"""CPU seconds of fitting twelve configurations, a thousand and ten thousand runs, and of many predictions at once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import replace

from accuracy_draws import Case, draw_case
from accuracy_runs import measured_runs
from accuracy_scores import GoalRow, below

from sizer.model.fitting import fit
from sizer.model.prediction import predict_several
from sizer.records.configuration import Configuration
from sizer.records.run import Run

TWELVE, BATCH, THOUSAND, TEN_THOUSAND = 1.0, 0.2, 5.0, 30.0
"""CPU seconds that are allowed."""
GROWTH = 12.0
"""Of the time, where the runs grow tenfold: linear, with a fifth for what a clock on a shared machine is off by."""
POINTS = 1000
REPEATS = 3
MOST_VCPUS = 512
SEED = 7


def study(runs: int, workloads: int) -> list[Run]:
    """So many runs of that many workloads over vCPUs, memory and disks, each configuration three times."""
    numbers = (2 * number for number in itertools.count())
    cases = (case for number in numbers if len((case := draw_case(number, SEED)).axes.disks) > 1)
    found: list[Run] = []
    for index, case in enumerate(itertools.islice(cases, workloads)):
        for run in measured_runs(_larger(case, -(-runs // workloads // REPEATS))):
            workload = replace(run.spec.workload, name=f"job{index}")
            found.append(replace(run, spec=replace(run.spec, workload=workload)))
    return found


def _larger(case: Case, configurations: int) -> Case:
    """The same machine with so many configurations: as many vCPU values as the other axes leave open."""
    axes = case.axes
    others = list(itertools.product(axes.memory[-3:], axes.disks, axes.batches[:1], axes.gpu_counts[:1]))
    values = -(-configurations // len(others))
    vcpus = [float(1 + round((MOST_VCPUS - 1) * step / max(1, values - 1))) for step in range(values)]
    measured = [Configuration(c, m, d, b, axes.gpu, n) for c in vcpus for m, d, b, n in others]
    return replace(case, measured=tuple(measured[:configurations]), repeats=REPEATS)


def scores(quick: bool = False) -> list[GoalRow]:
    """The rows of the table; `quick` leaves out the ten thousand. The first fit of a process is not counted."""
    small, large = study(12 * REPEATS, 1), study(1000, 4)
    model = fit(small).workloads[0]
    place, known = model.measured.rates[0].configuration, model.measured.vcpus
    points = [replace(place, vcpus=known[0] + (known[-1] - known[0]) * step / POINTS) for step in range(POINTS)]
    thousand = _seconds(fit, large)
    table = [
        below("speed", "fit 12 configurations", _seconds(fit, small), " s", TWELVE),
        below(
            "speed", f"predict {POINTS:,} configurations at once", _seconds(predict_several, model, points), " s", BATCH
        ),
        below("speed", "fit 1,000 runs (4 workloads)", thousand, " s", THOUSAND),
    ]
    if not quick:
        many = _seconds(fit, study(10_000, 8))
        table.append(below("speed", "fit 10,000 runs (8 workloads)", many, " s", TEN_THOUSAND))
        table.append(below("speed", "10,000 runs over 1,000 (linear: 10)", many / thousand, "", GROWTH))
    return table


def _seconds(done: Callable[..., object], *given: object) -> float:
    """CPU seconds of this process."""
    started = time.process_time()
    done(*given)
    return time.process_time() - started
