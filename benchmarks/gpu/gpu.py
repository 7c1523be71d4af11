"""What an NVIDIA H200 did, told from the rest: each number of vCPUs left out once, and an emulated GPU in its place.

    python benchmarks/gpu/gpu.py

`runs.jsonl` are those of `script/gpu-check`, `beside_emulated.jsonl` those of `study.yaml`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

sys.path += [str(Path(__file__).parents[1] / name) for name in ("grid", "shared")] + [str(Path(__file__).parents[2])]

from goals import GoalRow, at_most, error, printed, share
from grid_data import load_grid

from sizer.model.fitting import fit
from sizer.model.prediction import predict
from sizer.records.run import Run
from sizer.records.run_kinds import Outcome

FED = {"runs.jsonl": ("train", "infer"), "beside_emulated.jsonl": ("real", "emulated")}
"""The workloads whose vCPUs were varied, by file."""
GOAL, COVERED = 0.05, (0.85, 0.95)
Runs = dict[float, list[Run]]


def by_vcpus(file: str, name: str) -> Runs:
    """The runs of a workload by their vCPUs, without those whose memory is capped."""
    runs: Runs = defaultdict(list)
    for run in load_grid(Path(__file__).parent / file):
        whole = run.spec.workload.name == name and run.spec.limits.memory_bytes is None
        if whole and run.outcome is Outcome.COMPLETED:
            runs[run.configuration.vcpus or 0.0].append(run)
    return runs


def rates(runs: list[Run]) -> list[float]:
    """In samples per second."""
    return [run.throughput.value for run in runs if run.throughput is not None]


def left_out(groups: dict[str, Runs], lines: list[str]) -> Iterator[GoalRow]:
    """How far off the rate at each number of vCPUs between the fewest and the most is, told from the others."""
    errors, covered = list[float](), list[bool]()
    for name, group in groups.items():
        for vcpus in sorted(group)[1:-1]:
            model = fit([run for count, runs in group.items() if count != vcpus for run in runs]).workloads[0]
            rate, measured = predict(model, group[vcpus][0].configuration).throughput, rates(group[vcpus])
            errors.append(error(rate.value, fmean(measured)))
            covered += [rate.low <= value <= rate.high for value in measured]
            interval = f"{rate.value:,.0f} ({rate.low:,.0f} to {rate.high:,.0f})"
            lines.append(f"{name}, {vcpus:g} vCPUs: {fmean(measured):,.0f} measured, {interval} predicted")
    yield at_most("vCPUs left out", "median error", errors, 0.5, GOAL)
    yield share("vCPUs left out", "runs within 90 % interval", covered, *COVERED)


def emulated(groups: dict[str, Runs], lines: list[str]) -> GoalRow:
    """How far an emulated GPU of the measured rate is off the real one."""
    ratios = {at: fmean(rates(groups["emulated"][at])) / fmean(rates(runs)) for at, runs in groups["real"].items()}
    lines += [f"emulated / real at {vcpus:g} vCPUs: {ratio:.2f}" for vcpus, ratio in sorted(ratios.items())]
    return at_most("emulated", "most that it is off", [error(ratio, 1.0) for ratio in ratios.values()], 1.0, GOAL)


def main() -> int:
    """The exit status: 1 where a goal is missed."""
    groups = {name: by_vcpus(file, name) for file, names in FED.items() for name in names}
    lines = list[str]()
    table = [*left_out(groups, lines), emulated(groups, lines)]
    return printed(table, lines)


if __name__ == "__main__":
    raise SystemExit(main())
