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


def volume() -> Path | None:
    """Where sizer has mounted an emulated disk; a job whose folder that is keeps it from being unmounted."""
    points = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return next((Path(point) for point in points if "/volume-" in point), None)


def work_for_ever() -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(0.05)


def start_worker() -> None:
    if os.fork() == 0:
        work_for_ever()


def start_daemon() -> None:
    if os.fork() != 0:
        os.wait()
        return
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    place = volume()
    if place is not None:
        os.chdir(place)
    work_for_ever()


def mount_data(data: str) -> None:
    here = Path(os.environ["TMPDIR"]) / "d"
    here.mkdir()
    subprocess.run(["mount", "--bind", data, str(here)], check=True)


def main() -> None:
    descriptor = int(os.environ["SIZER_EVENTS_FD"])

    def tell(**fields: object) -> None:
        os.write(descriptor, (json.dumps(fields) + "\n").encode())

    start_daemon()
    for _ in range(2):
        start_worker()
    (Path(os.environ["TMPDIR"]) / "scratch").write_bytes(b"x" * 4096)
    mount_data(sys.argv[1])
    tell(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)
    while True:
        time.sleep(0.02)
        tell(event="step", time=time.monotonic(), samples=8, input_wait=0.0, epoch=0)


if __name__ == "__main__":
    main()
