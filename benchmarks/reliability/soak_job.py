"""A job that is hard to end: workers, a daemon that has left its session and its parent, on the run's disk, and the
user's data, the folder that is named, mounted in its scratch."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def left_by_fork(daemon: bool) -> None:
    """A process that ignores what asks it to end. A daemon has left its session and its parent, and its folder is on
    the run's emulated disk, which keeps that from being unmounted."""
    if os.fork() != 0:
        if daemon:
            os.wait()
        return
    if daemon:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        os.chdir(next((point for point in points if "/volume-" in point), "/"))
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(0.05)


def main() -> None:
    descriptor = int(os.environ["SIZER_EVENTS_FD"])

    def tell(**fields: object) -> None:
        os.write(descriptor, (json.dumps(fields) + "\n").encode())

    for daemon in (True, False, False):
        left_by_fork(daemon)
    scratch = Path(os.environ["TMPDIR"])
    (scratch / "scratch").write_bytes(b"x" * 4096)
    (scratch / "d").mkdir()
    subprocess.run(["mount", "--bind", sys.argv[1], str(scratch / "d")], check=True)
    tell(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
    while True:
        time.sleep(0.02)
        tell(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)


if __name__ == "__main__":
    main()
