"""How far repeats of a configuration differ on this host, as they were measured and without its noise.

    python benchmarks/noise/repeats.py [--repeats 5] [--seconds 6] [--vcpus 0.5,1,2] [--neighbour]
    python benchmarks/noise/repeats.py --study DIR

Preprocessing and a language model, each at these vCPUs, in blocks of repeats, each block in an order of its own, as
`sizer run` measures them, with sizer's probe beside each run. `--neighbour`: a process of our own copies memory in
spells on the last CPU, which no run may use (so leave the vCPUs below all of this host's), as another tenant would.

Printed are, by workload, the differences between two repeats (median, 90th percentile), the share of the differences
to a repeat that is held out that the 95 % intervals cover, its own variance included, what the probe and all of sizer
took of the job's core-seconds, and by how much the mean of a configuration moved. `--save` keeps the runs as JSON
lines, `--runs` looks at kept ones, `--study` at those of a study folder that was measured with `probe: true`.

Aim: repeats differ by 1.5 % (median) and 5 % (90th percentile) at the most, and 92 to 98 % are covered.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.append(str(Path(__file__).parents[2]))

from bench import opened
from neighbour import neighbour
from noise_scores import COVERED, covered, held_out, log_rate, planned, repeat_differences

from sizer.files import from_json, to_json
from sizer.model import without_host_noise
from sizer.model.feeds import made_alike
from sizer.records import Run, SizerError, WarningKind, Workload
from sizer.store import StudyFolder

JOBS = (
    (Workload("preprocessing", "imagenet_preprocessing"), 32),
    (Workload("language model", "lstm_training", framework="pytorch"), 20),
)
SEED = 1
MEDIAN, NINETIETH = 0.015, 0.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--vcpus", default="0.5,1,2")
    parser.add_argument("--neighbour", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--study", type=Path)
    given = parser.parse_args()
    try:
        if given.study:
            runs = list(StudyFolder.open(given.study).runs())
        elif given.runs:
            runs = [from_json(Run, json.loads(line), str(given.runs)) for line in given.runs.open()]
        else:
            vcpus = [float(each) for each in given.vcpus.split(",")]
            runs = measure(given.repeats, given.seconds, vcpus, given.neighbour)
    except SizerError as error:
        print(f"repeats: {error}")
        return error.exit_code
    if given.save:
        given.save.write_text("".join(json.dumps(to_json(run)) + "\n" for run in runs))
    return show([_without_disturbance(run) for run in runs] if given.neighbour else runs)


def measure(repeats: int, seconds: float, vcpus: Sequence[float], disturbed: bool) -> list[Run]:
    """Raises HostError."""
    random, runs = np.random.default_rng(SEED), []
    places = [(workload, batch, each) for workload, batch in JOBS for each in vcpus]
    with opened() as bench, neighbour(bench.host_vcpus - 1) if disturbed else nullcontext():
        for repeat in range(repeats):
            for place in random.permutation(len(places)):
                workload, batch, each = places[place]
                runs.append(bench.run(workload, batch, each, seconds, repeat, probed=True))
                print(f"{workload.name}, {each:g} vCPUs: {np.exp(log_rate(runs[-1])):.1f}", file=sys.stderr, flush=True)
    return runs


def _without_disturbance(run: Run) -> Run:
    """Without the mark of what used the other CPUs: that is our own neighbour, and another tenant would not be seen."""
    return replace(run, warnings=tuple(each for each in run.warnings if each.kind is not WarningKind.CONTENDED))


def show(runs: Sequence[Run]) -> int:
    """The table; 1 where repeats differ by more than the aim."""
    runs = [replace(run, correction=None) for run in runs if run.throughput is not None]
    corrected = planned(without_host_noise(runs))
    runs = planned(runs)
    print(f"{'':16s} {'repeats differ, % (median, 90th)':>36s} {'covered':>17s} {'probe %':>8s} {'sizer %':>8s}")
    for before, after in zip(_by_workload(runs), _by_workload(corrected), strict=True):
        line(before[0].spec.workload.name, before, after)
    held = line("all", runs, corrected)
    everything = repeat_differences(corrected)
    moved = [100 * abs(run.correction.log) for run in corrected if run.correction is not None] or [0.0]
    groups = zip(made_alike(runs), made_alike(corrected), strict=True)
    means = [100 * abs(fmean(map(log_rate, after)) - fmean(map(log_rate, before))) for before, after in groups]
    print(f"rates corrected by {median(moved):.2f} % (median) and {max(moved):.2f} % at the most")
    print(f"the mean of a configuration moved by {max(means):.2f} % at the most")
    apart = not everything or median(everything) > MEDIAN or float(np.percentile(everything, 90)) > NINETIETH
    return int(apart or not COVERED[0] <= held <= COVERED[1])


def line(name: str, runs: Sequence[Run], corrected: Sequence[Run]) -> float:
    """What the intervals of the corrected rates cover."""
    both = [_differences(repeat_differences(each)) for each in (runs, corrected)]
    held = [covered([pair for own in _by_workload(each) for pair in held_out(own)]) for each in (runs, corrected)]
    probe = [run.probe.share for run in runs if run.probe is not None] or [0.0]
    sizer = [run.overhead for run in runs if run.overhead is not None] or [0.0]
    print(
        f"{name:16s} {both[0]} -> {both[1]} {100 * held[0]:6.1f} -> {100 * held[1]:5.1f} % {100 * fmean(probe):8.2f} "
        f"{100 * fmean(sizer):6.2f} (most {100 * max(sizer):.2f})",
        flush=True,
    )
    return held[1]


def _by_workload(runs: Sequence[Run]) -> list[list[Run]]:
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    return [[run for run in runs if run.spec.workload.name == name] for name in names]


def _differences(found: Sequence[float]) -> str:
    return f"{100 * median(found):6.2f} {100 * float(np.percentile(found, 90)):6.2f}" if found else f"{'-':>13s}"


if __name__ == "__main__":
    raise SystemExit(main())
