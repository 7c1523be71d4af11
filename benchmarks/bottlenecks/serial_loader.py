"""A loader with a serial part: two threads that share Python's lock, so that together they keep one core busy.

    python benchmarks/bottlenecks/serial_loader.py ADDITIONS

A sample is ADDITIONS additions under the lock. Writes its steps as every workload of sizer does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from queue import Queue

THREADS = 2
SAMPLES_A_STEP = 10
AHEAD = 32


def main() -> None:
    additions = int(sys.argv[1])
    ready: Queue[int] = Queue(AHEAD)
    nothing = {"dataset_bytes": 0, "dataset_samples": 0, "bytes_per_sample": 0}
    write(event="start", sample_unit="sample", batch_size=SAMPLES_A_STEP, **nothing)
    for _ in range(THREADS):
        threading.Thread(target=load, args=(additions, ready), daemon=True).start()
    while True:
        begin = time.monotonic()
        for _ in range(SAMPLES_A_STEP):
            ready.get()
        end = time.monotonic()
        write(event="step", time=end, samples=SAMPLES_A_STEP, input_wait=end - begin, epoch=0)


def load(additions: int, ready: Queue[int]) -> None:
    while True:
        total = 0
        for number in range(additions):
            total += number
        ready.put(total)


def write(**event: str | int | float) -> None:
    os.write(int(os.environ["SIZER_EVENTS_FD"]), (json.dumps(event) + "\n").encode())


if __name__ == "__main__":
    main()
