"""A program that does nothing but fill the memory bus: a thread for each CPU that it may use, each copying 64 MiB.

It writes the events of a workload, a step for each few rounds of copies; `saturation.py` runs it under limits.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np

BYTES = 64 << 20
ROUNDS = 2
"""Of copies in a step."""
TOGETHER = 0.2
"""Seconds of steps that are written at once: whoever reads each by itself is woken hundreds of times a second, which is
the time that sizer has for looks at the host."""


def main() -> int:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    threads = len(os.sched_getaffinity(0))
    events = os.fdopen(int(os.environ["SIZER_EVENTS_FD"]), "w")
    reads = {"dataset_bytes": 0, "dataset_samples": 0, "bytes_per_sample": 0}
    events.write(json.dumps({"event": "start", "sample_unit": "copy", "batch_size": threads, **reads}) + "\n")
    events.flush()
    together = threading.Barrier(threads + 1)

    def copy() -> None:
        source, target = np.ones(BYTES, np.uint8), np.ones(BYTES, np.uint8)
        while True:
            np.copyto(target, source)
            together.wait()

    for _ in range(threads):
        threading.Thread(target=copy, daemon=True).start()
    written = time.monotonic()
    while not stopped.is_set():
        for _ in range(ROUNDS):
            together.wait()
        now = time.monotonic()
        step = {"event": "step", "time": now, "samples": ROUNDS * threads, "input_wait": 0.0, "epoch": 0}
        events.write(json.dumps(step) + "\n")
        if now - written >= TOGETHER:
            events.flush()
            written = now
    events.write('{"event": "end"}\n')
    events.flush()
    os._exit(0)  # the threads go on


if __name__ == "__main__":
    raise SystemExit(main())
