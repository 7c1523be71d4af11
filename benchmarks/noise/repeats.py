"""How far repeats of a configuration differ on this host, as they were measured and without its noise.

    python benchmarks/noise/repeats.py [--repeats 5] [--seconds 6] [--vcpus 0.5,1,2] [--neighbour]
    python benchmarks/noise/repeats.py --study DIR | --runs FILE [--only 0,1] [--by-host]

Preprocessing and a language model, each at these vCPUs, in blocks of repeats, each block in an order of its own, as
`sizer run` measures them, with sizer's probe beside each run. `--neighbour`: a process of our own copies memory in
spells on the last CPU, which no run may use (so leave the vCPUs below all of this host's), as another tenant would.

Printed are, by workload, the differences between two repeats (median, 90th percentile), the share of the differences
to a repeat that is held out that the 95 % intervals cover, its own variance included, what the probe and all of sizer
took of the job's core-seconds, and by how much the mean of a configuration moved. `--save` keeps the runs as JSON
lines, `--runs` looks at kept ones, as those that `grid/grid.py --probe` writes are, `--study` at those of a study
folder that was measured with `probe: true`; `--only` at these repeats alone, and the reference.

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

import numpy as np

sys.path += [str(Path(__file__).parents[1] / each) for each in ("shared", "grid")]
sys.path.append(str(Path(__file__).parents[2]))

from bench import opened
from grid_data import load_grid
from neighbour import neighbour
from noise_scores import log_rate
from repeat_table import by_host, show_repeats

from sizer.files import to_json
from sizer.records import Purpose, Run, SizerError, WarningKind, Workload
from sizer.store import StudyFolder

JOBS = (
    (Workload("preprocessing", "imagenet_preprocessing"), 32),
    (Workload("language model", "lstm_training", framework="pytorch"), 20),
)
SEED = 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--vcpus", default="0.5,1,2")
    parser.add_argument("--neighbour", action="store_true")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--study", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--by-host", action="store_true", help="and thirds of the pairs, by how far the host moved")
    given = parser.parse_args()
    try:
        if given.study:
            runs = list(StudyFolder.open(given.study).runs())
        elif given.runs:
            runs = list(load_grid(given.runs))
        else:
            vcpus = [float(each) for each in given.vcpus.split(",")]
            runs = measure(given.repeats, given.seconds, vcpus, given.neighbour)
    except SizerError as error:
        print(f"repeats: {error}")
        return error.exit_code
    if given.only:
        chosen = {int(each) for each in given.only.split(",")}
        runs = [run for run in runs if run.spec.repeat in chosen or run.spec.purpose is Purpose.REFERENCE]
    if given.save:
        given.save.write_text("".join(json.dumps(to_json(run)) + "\n" for run in runs))
    runs = [_without_disturbance(run) for run in runs] if given.neighbour else runs
    met = show_repeats(runs)
    if given.by_host:
        print("\n".join(by_host(runs)))
    return int(not met)


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


if __name__ == "__main__":
    raise SystemExit(main())
