"""Preprocessing from RAM at 1 and at 0.5 vCPU, in interleaved pairs: does half the CPU give half the rate?

    python benchmarks/halving.py [--pairs 5] [--seconds 10]

Both go over the same few images many times, so that memory touched for the first time, which costs a virtual machine
more than memory touched again, has the same small part in both.

Aim: a ratio of 0.45 to 0.55, with images per core-second within 5 %.
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

RAM = "/dev/shm"
"""Where output is written: a sync costs nothing there, so that the disk has no part in the rates."""

STUDY = """
name: halving
embedded_images: 400
measure: {{repeats: {pairs}, seconds: {seconds}, precision: 0.001}}
workloads:
  - {{name: preprocessing, kind: imagenet_preprocessing, input: cached, axes: {{vcpus: [0.5, 1]}}}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    environment = {**os.environ, "TMPDIR": RAM}
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        (Path(folder) / "study.yaml").write_text(STUDY.format(pairs=arguments.pairs, seconds=arguments.seconds))
        sizer = [sys.executable, "-m", "sizer"]
        subprocess.run([*sizer, "run", "study.yaml", "--out", "out"], cwd=folder, env=environment, check=True)
        export = subprocess.run(
            [*sizer, "export", "out", "--format", "json"], cwd=folder, check=True, capture_output=True, text=True
        )
    return show(json.loads(export.stdout))


def show(runs: list[dict]) -> int:  # type: ignore[type-arg]
    """One line a pair, then the medians."""
    pairs = sorted({run["spec"]["repeat"] for run in runs})
    by_place = {(run["spec"]["repeat"], run["configuration"]["vcpus"]): run for run in runs}
    rates, costs = [], []
    print("pair  1 vCPU images/s  0.5 vCPU images/s  ratio  images per core-second, ratio")
    for pair in pairs:
        whole, half = by_place[pair, 1.0], by_place[pair, 0.5]
        rates.append(half["throughput"]["value"] / whole["throughput"]["value"])
        costs.append(whole["demand"]["core_seconds"] / half["demand"]["core_seconds"])
        print(
            f"{pair + 1:4d}  {whole['throughput']['value']:15.1f}  {half['throughput']['value']:17.1f}"
            f"  {rates[-1]:5.3f}  {costs[-1]:5.3f}"
        )
    rate, cost = statistics.median(rates), statistics.median(costs)
    holds = 0.45 <= rate <= 0.55 and abs(cost - 1) <= 0.05
    print(f"median ratio {rate:.3f} (aim 0.45-0.55), images per core-second {cost:.3f} x (aim 0.95-1.05): "
          f"{'holds' if holds else 'DOES NOT HOLD'}")  # fmt: skip
    return 0 if holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
