"""Preprocessing from RAM at 1 and at 0.5 vCPU, in interleaved pairs: does half the CPU give half the rate?

    python benchmarks/limits/halving.py [--pairs 5] [--seconds 10]

Both go over the same few images many times, so that memory touched for the first time, which costs a virtual machine
more than memory touched again, has the same small part in both.

Beside it, in the same pairs, a loop of pure Python: no memory, no disk, one process. What half a CPU costs the loop is
the machine's doing (a virtual CPU that rests loses its caches and, on some hosts, its clock); no limit gives it back.

Aim: a ratio of 0.45 to 0.55, with images per core-second within 5 % of the loop's turns per core-second.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RAM = "/dev/shm"
"""Where output is written: a sync costs nothing there, so that the disk has no part in the rates."""

STUDY = """
name: halving
embedded_images: 400
measure: {{repeats: {pairs}, seconds: {seconds}, precision: 0.001}}
workloads:
  - {{name: preprocessing, kind: imagenet_preprocessing, input: cached, axes: {{vcpus: [0.5, 1]}}}}
  - {{name: loop, kind: command, command: ["{python}", "{folder}/loop.py"], axes: {{vcpus: [0.5, 1]}}}}
"""

LOOP = """
import json, os, time
descriptor = int(os.environ["SIZER_EVENTS_FD"])
def write(**fields):
    os.write(descriptor, (json.dumps(fields) + "\\n").encode())
write(event="start", sample_unit="turn", batch_size=1, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
while True:
    for _ in range(20):
        total = 0
        for number in range(20_000):
            total += number
    write(event="step", time=time.monotonic(), samples=20, input_wait=0.0, epoch=0)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    environment = {**os.environ, "TMPDIR": RAM}
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        (Path(folder) / "loop.py").write_text(LOOP)
        study = STUDY.format(pairs=arguments.pairs, seconds=arguments.seconds, python=sys.executable, folder=folder)
        (Path(folder) / "study.yaml").write_text(study)
        sizer = [sys.executable, "-m", "sizer"]
        subprocess.run([*sizer, "run", "study.yaml", "--out", "out"], cwd=folder, env=environment, check=True)
        export = subprocess.run(
            [*sizer, "export", "out", "--format", "json"], cwd=folder, check=True, capture_output=True, text=True
        )
    return show(json.loads(export.stdout))


def show(runs: list[dict[str, Any]]) -> int:
    """One line a pair, then the medians."""
    by_place = {
        (run["spec"]["workload"]["name"], run["spec"]["repeat"], run["configuration"]["vcpus"]): run for run in runs
    }
    # The reference configuration is measured more often than the others, to show the host's drift.
    pairs = sorted({run["spec"]["repeat"] for run in runs if run["spec"]["repeat"] < run["spec"]["measure"]["repeats"]})
    rates, costs, loops = [], [], []
    print("pair  images/s at 1  at 0.5 vCPU  ratio  per core-second: images  turns of the loop")
    for pair in pairs:
        whole, half = by_place["preprocessing", pair, 1.0], by_place["preprocessing", pair, 0.5]
        rates.append(half["throughput"]["value"] / whole["throughput"]["value"])
        costs.append(_per_core_second(half) / _per_core_second(whole))
        loops.append(_per_core_second(by_place["loop", pair, 0.5]) / _per_core_second(by_place["loop", pair, 1.0]))
        print(
            f"{pair + 1:4d}  {whole['throughput']['value']:13.1f}  {half['throughput']['value']:11.1f}"
            f"  {rates[-1]:5.3f}"
            f"  {costs[-1]:23.3f}  {loops[-1]:17.3f}"
        )
    rate, cost, loop = statistics.median(rates), statistics.median(costs), statistics.median(loops)
    holds = 0.45 <= rate <= 0.55 and abs(cost / loop - 1) <= 0.05
    print(
        f"medians: ratio {rate:.3f} (aim 0.45-0.55); per core-second images {cost:.3f} x, loop {loop:.3f} x, "
        f"images over loop {cost / loop:.3f} (aim 0.95-1.05): {'holds' if holds else 'DOES NOT HOLD'}"
    )
    return 0 if holds else 1


def _per_core_second(run: dict[str, Any]) -> float:
    return 1 / float(run["demand"]["core_seconds"])


if __name__ == "__main__":
    raise SystemExit(main())
