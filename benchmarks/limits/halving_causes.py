"""Why half a vCPU makes fewer than half of the images: one thing changed at a time, in interleaved pairs.

    python benchmarks/limits/halving_causes.py [--pairs 7]

Each row is work for each core-second at 0.5 vCPU over that at 1 vCPU, so that a ratio of 1 says that half a vCPU
loses nothing. From row to row one thing is added: a loop of pure Python, which needs no memory; one that goes through
as much memory as an image takes, and makes no call of the system; preprocessing's parts in one process, which hands
nothing on; the program itself, whose worker hands records to a writer; and the program with two workers.

Three more rows leave the quota out: the same parts in one process on a whole vCPU that rest by themselves for as long
as they worked, after 5, 50 and 500 ms. What they lose is lost by resting (what others do on the CPU meanwhile, caches,
clock), whoever makes them rest. In the last rows the work rests too, by the quota or by itself, but the CPU does not:
a loop of the idle class, which yields to everyone, keeps it awake. What they gain over the same rows above is what a
CPU loses by going to sleep; a virtual one is given away by its host meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared"))
sys.path.append(str(Path(__file__).parents[1] / "cost"))

from bench import BenchmarkHost, data_of, on_this_machine
from pairs import ratio, shown, turns
from preprocessing_rate import images_of, link, ours, packing

from sizer.records.run import DataSet
from sizer.records.study import Limits, Workload

CPU_SECONDS = 0.7
"""Of each run of a loop, after a tenth of it to warm up."""
MEMORY_BYTES = 1 << 20
"""An image takes 0.1 MB as a file, 0.56 decoded, 0.26 small and 0.04 encoded."""
IMAGES = 64
LINKS = 3
"""How often the program packs the data set, less once."""
AWAKE = """
import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""


@dataclass(frozen=True)
class Case:
    """A loop of this file, or the program with `workers`; `rest` after so many seconds instead of a quota.

    `awake` keeps the CPU from going to sleep while the case rests.
    """

    name: str
    loop: str | None = None
    workers: int = 0
    rest: float = 0.0
    awake: bool = False


CASES = (
    Case("a loop of pure Python", "python"),
    Case("a loop over 1 MiB of memory", "memory"),
    Case("the parts in one process", "parts"),
    Case("the program, one worker", workers=1),
    Case("the program, two workers", workers=2),
    *(
        Case(f"the parts, resting by themselves each {rest * 1000:g} ms", "parts", rest=rest)
        for rest in (0.005, 0.05, 0.5)
    ),
    Case("a loop of pure Python, the CPU kept awake", "python", awake=True),
    Case("the parts in one process, the CPU kept awake", "parts", awake=True),
    Case("the parts, resting by themselves each 50 ms, the CPU kept awake", "parts", rest=0.05, awake=True),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--loop", choices=tuple(LOOPS), help=argparse.SUPPRESS)
    parser.add_argument("--rest", type=float, default=0.0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.loop:
        return loop(given.loop, given.rest)
    return on_this_machine(lambda bench: measure(bench, given.pairs))


def measure(bench: BenchmarkHost, pairs: int) -> int:
    data = data_of(Workload("preprocessing", "imagenet_preprocessing", "opencv", format="recordio"))
    assert data is not None
    link(images_of(data)[:IMAGES], bench.folder / "some", 1)
    rates: dict[tuple[str, float], list[float]] = defaultdict(list)
    for pair, vcpus in turns(1.0, 0.5, pairs):
        for case in CASES:
            rates[case.name, vcpus].append(rate(bench, data, case, vcpus))
        print(
            f"pair {pair + 1}, {vcpus:g} vCPU: " + ", ".join(f"{rates[c.name, vcpus][-1]:.1f}" for c in CASES),
            flush=True,
        )
    print("\n| work | for each core-second at 0.5 vCPU, at 1 vCPU = 1 |\n|---|---|")
    for case in CASES:
        found = ratio([half / whole for half, whole in zip(rates[case.name, 0.5], rates[case.name, 1.0], strict=True)])
        print(f"| {case.name} | {shown(found)} |")
    return 0


def rate(bench: BenchmarkHost, data: DataSet, case: Case, vcpus: float) -> float:
    """What the case makes for each core-second."""
    if case.loop is None:
        return packing(bench, data, ours("simplejpeg", "recordio", case.workers), vcpus, LINKS)
    resting = case.rest if vcpus < 1 else 0.0
    command = [sys.executable, __file__, "--loop", case.loop, "--rest", str(resting)]
    with bench.backend.open("loop", Limits(vcpus=1.0 if case.rest else vcpus)) as group:
        environment = {**os.environ, "IMAGES": str(bench.folder / "some"), "OMP_NUM_THREADS": "1"}
        with kept_awake(group.cpus if case.awake else ()):
            done = subprocess.run(
                group.command(command), env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
    return float(json.loads(done.stdout))


@contextmanager
def kept_awake(cpus: tuple[int, ...]) -> Iterator[None]:
    """A loop of the idle class on each of these CPUs: it runs when nobody else would."""
    spinning = [subprocess.Popen([sys.executable, "-c", AWAKE, str(cpu)]) for cpu in cpus]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def loop(name: str, rest: float) -> int:
    """Run a loop for CPU_SECONDS, resting as long as it worked after each `rest`; prints turns for each core-second."""
    turn = LOOPS[name]()
    begin = time.process_time()
    while time.process_time() - begin < CPU_SECONDS / 10:
        turn()
    done, begin = 0, time.process_time()
    rested = begin
    while (now := time.process_time()) - begin < CPU_SECONDS:
        if rest and now - rested >= rest:
            time.sleep(now - rested)
            rested = now
        done += turn()
    print(json.dumps(done / (time.process_time() - begin)))
    return 0


def python_loop() -> Callable[[], int]:
    def turn() -> int:
        total = 0
        for number in range(20_000):
            total += number
        return 1

    return turn


def memory_loop() -> Callable[[], int]:
    import numpy as np

    numbers = np.arange(MEMORY_BYTES // 8)

    def turn() -> int:
        for _ in range(10):
            numbers.sum()
        return 1

    return turn


def parts_loop() -> Callable[[], int]:
    import cv2
    import simplejpeg

    sys.path.insert(0, str(Path(__file__).parents[2]))
    from workloads import image_transform, recordio
    from workloads.freed_memory import keep_freed_memory

    keep_freed_memory()
    cv2.setNumThreads(1)
    files = sorted(Path(os.environ["IMAGES"]).glob("*/*"))
    descriptor = os.memfd_create("records")

    following = cycle(files)

    def turn() -> int:
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(next(following), "rb", buffering=0) as opened_file:
            encoded = opened_file.read()
        small = image_transform.resize(simplejpeg.decode_jpeg(encoded, "BGR"))
        assert small is not None
        os.write(descriptor, recordio.framed(recordio.image_record(1.0, 1, image_transform.as_jpeg(small))))
        return 1

    return turn


LOOPS = {"python": python_loop, "memory": memory_loop, "parts": parts_loop}

if __name__ == "__main__":
    raise SystemExit(main())
