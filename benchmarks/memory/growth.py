"""Memory over the steps of training: does a longer run need more? As sizer records it, without a cap.

    python benchmarks/memory/growth.py [--seconds 25]

One table: anonymous bytes and page cache a step over the steady state, with the 95 % interval of the first, and whether
the peak was still being raised at the end. It tells about the frameworks and has no aim; a thousand bytes a step are
10 GB after ten million steps.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from bench import opened

from sizer.records.messages import SizerError
from sizer.records.run import Run
from sizer.records.study import Workload

TRAININGS = (
    (Workload("LSTM, small", "lstm_training", network="small", cache="warm"), 32),
    (Workload("squeezenet", "image_training", network="squeezenet", input="synthetic"), 16),
    (Workload("mobilenet", "image_training", network="mobilenet", input="synthetic"), 16),
)
"""Each with its batch size."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=25, help="of steady state of each training")
    seconds = parser.parse_args().seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print("training      steps  peak anonymous MB  anonymous bytes a step (95 %)        page cache  still rising")
    try:
        with opened() as bench:
            for workload, batch_size in TRAININGS:
                print(line(bench.run(workload, batch_size, float(bench.host_vcpus), seconds)))
    except SizerError as error:
        print(f"growth: {error}")
        return error.exit_code
    return 0


def line(run: Run) -> str:
    """One row of the table."""
    start = f"{run.spec.workload.name:12s}"
    growth = run.memory_growth
    if growth is None:
        return f"{start}  {len(run.steps):5d}  too short to tell"
    slope = growth.anonymous_bytes_per_step
    interval = f"{slope.value:,.0f} ({slope.low:,.0f} to {slope.high:,.0f})"
    return (
        f"{start}  {growth.steps:5d}  {(run.peak_anonymous_bytes or 0) / 1e6:17.0f}  {interval:35s}"
        f"  {growth.page_cache_bytes_per_step:10,.0f}  {'yes' if growth.rising else 'no'}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
