"""A program that does nothing but fill the memory bus: a thread for each CPU that it may use, each copying 64 MiB.

It writes the events of a workload, a step for each round of copies; `saturation.py` runs it under limits.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import numpy as np

BYTES = 64 << 20


def main() -> int:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    threads = len(os.sched_getaffinity(0))
    events = os.fdopen(int(os.environ["SIZER_EVENTS_FD"]), "w", buffering=1)
    reads = {"dataset_bytes": 0, "dataset_samples": 0, "bytes_per_sample": 0}
    events.write(json.dumps({"event": "start", "sample_unit": "copy", "batch_size": threads, **reads}) + "\n")
    together = threading.Barrier(threads + 1)

    def copy() -> None:
        source, target = np.ones(BYTES, np.uint8), np.ones(BYTES, np.uint8)
        while not stopped.is_set():
            np.copyto(target, source)
            together.wait()

    for _ in range(threads):
        threading.Thread(target=copy, daemon=True).start()
    while not stopped.is_set():
        together.wait()
        step = {"event": "step", "time": time.monotonic(), "samples": threads, "input_wait": 0.0, "epoch": 0}
        events.write(json.dumps(step) + "\n")
    events.write('{"event": "end"}\n')
    events.flush()
    os._exit(0)


if __name__ == "__main__":
    raise SystemExit(main())
