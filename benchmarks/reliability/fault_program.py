"""A workload with a fault: `fault_program.py NAME` starts as a good one, and does what the function NAME says.

It is copied to where it runs and imports nothing of the repository, as a user's own program would.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

EVENTS = int(os.environ.get("SIZER_EVENTS_FD", "1"))
STEP_SECONDS = 0.01


def write(data: bytes) -> None:
    while data:
        data = data[os.write(EVENTS, data) :]


def tell(**fields: object) -> None:
    write((json.dumps(fields) + "\n").encode())


def start() -> None:
    tell(event="start", sample_unit="image", batch_size=8, dataset_bytes=0, dataset_samples=0, bytes_per_sample=0)


def step(**other: object) -> None:
    time.sleep(STEP_SECONDS)
    tell(**{"event": "step", "time": time.monotonic(), "samples": 8, "input_wait": 0.0, "epoch": 0, **other})


def steps(count: int) -> None:
    for _ in range(count):
        step()


def go_on() -> NoReturn:
    while True:
        step()


def hang() -> NoReturn:
    while True:
        time.sleep(100)


def good() -> None:
    """Steps without end."""
    go_on()


def fills_scratch() -> None:
    steps(3)
    with open(Path(os.environ["TMPDIR"]) / "filling", "wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))
            step()


def reads_data() -> None:
    """Reads the file that is named next, again and again, after a wait in which it may go."""
    print("reading", flush=True)
    time.sleep(1.5)
    while True:
        Path(sys.argv[2]).read_bytes()
        step()


def suspends_sizer() -> None:
    """For 2.5 s, and lets it go on."""
    steps(10)
    # What started this is the supervisor of the run.
    sizer = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
    if os.fork() == 0:
        os.kill(sizer, signal.SIGSTOP)
        time.sleep(2.5)
        os.kill(sizer, signal.SIGCONT)
        os._exit(0)
    go_on()


def leaves_daemons() -> None:
    """Forked twice, in sessions of their own, with every descriptor closed; one keeps the event pipe."""
    for keeps_pipe in (False, True):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.chdir("/")
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                os.closerange(0, 3)
                if not keeps_pipe:
                    os.close(EVENTS)
                hang()
            os._exit(0)
    go_on()


def goes_on_as_a_daemon() -> None:
    """The process that was started ends at once with status 0, and its daemon does the work."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            go_on()
        os._exit(0)


def traps_sigterm() -> None:
    """To save for an hour what it has."""
    signal.signal(signal.SIGTERM, lambda *_: time.sleep(3600))
    go_on()


def stops_itself() -> None:
    steps(5)
    os.kill(os.getpid(), signal.SIGSTOP)
    hang()


def prints_without_end() -> None:
    """As fast as it is read, and a rate among it."""
    block = (b"x" * 99 + b"\n") * 1000
    while True:
        os.write(1, block + b"Speed: 500.0 samples/sec\n")


def prints_nothing() -> None:
    hang()


def prints_no_number() -> None:
    while True:
        print("speed: NaN images/s", flush=True)
        time.sleep(0.1)


def prints_what_backtracks() -> None:
    while True:
        print("a" * 60 + "!", flush=True)
        time.sleep(0.1)


def floods() -> None:
    """A million steps within 0.1 s of their own time, so that sizer has to take them all before it can judge."""
    now = time.monotonic()
    for begin in range(0, 1_000_000, 1000):
        lines = (
            f'{{"event":"step","time":{now + 1e-7 * number:.9f},"samples":8,"input_wait":0,"epoch":0}}\n'
            for number in range(begin, begin + 1000)
        )
        write("".join(lines).encode())
    tell(event="end")


def writes_text() -> None:
    write(b"hello\n")
    hang()


def hangs_later() -> None:
    steps(8)
    print("waiting for the next shard", flush=True)
    hang()


def ends_without_a_word() -> None:
    print("hello", flush=True)


def closes_its_pipes() -> None:
    steps(3)
    os.closerange(0, 3)
    os.close(EVENTS)
    hang()


def closes_stdout() -> None:
    """Its events go on."""
    steps(3)
    os.closerange(0, 3)
    go_on()


def closes_stdout_and_tells_no_more() -> None:
    for _ in range(5):
        print("Speed: 500.0 samples/sec", flush=True)
        time.sleep(0.05)
    os.closerange(0, 3)
    hang()


def goes_elsewhere() -> None:
    """Into a folder of its own, and away from one that it has removed."""
    steps(3)
    folder = Path.cwd()
    os.mkdir("inner")
    os.chdir("inner")
    steps(3)
    os.chdir("/")
    shutil.rmtree(folder)
    go_on()


def steps_once() -> None:
    step()
    print("one epoch of one step", flush=True)
    tell(event="end")


def kills_itself() -> None:
    steps(3)
    print("about to die", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


WITHOUT_START = {
    *("prints_without_end", "prints_nothing", "prints_no_number"),
    *("prints_what_backtracks", "ends_without_a_word", "closes_stdout_and_tells_no_more"),
}
"""Those that write no event, or begin otherwise."""

if __name__ == "__main__":
    if sys.argv[1] not in WITHOUT_START:
        start()
    globals()[sys.argv[1]]()
