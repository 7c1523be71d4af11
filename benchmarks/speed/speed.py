"""How quick sizer answers, in CPU time beside `python -c 'import numpy'` in the same run, and how long one waits.

    python benchmarks/speed/speed.py [--times 5] [--small]

Each figure is the least CPU time, user and system, of so many goes, with `import numpy` between them, so that what is
taken from a shared host is taken from both. `predict` is one point of a stored study of 1,000 runs, over vCPUs and
disks or over vCPUs and memory, and of 10,000, as a process; an import is `sizer import` of a table as a process, with
its page; a batch is 2,000 predictions of one call.
Aims: predict of 1,000 runs at most 2.5 times `import numpy`, and linear to 10,000; 3 s until each import is done, which
works on all CPUs that it may use; 0.2 ms of CPU time a point. The waiting, too, is the least of so many goes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from speed_tables import over_disks, over_memory

from sizer import api
from sizer.model.prediction import predict_several

UNIT = ("-c", "import numpy")
SIZER = ("-m", "sizer")
POINTS = 2000


@dataclass(frozen=True)
class Figure:
    """CPU seconds of something, and of `import numpy` in the same goes, and seconds until it is done; the aim in either
    seconds, or as the ratio of the first two."""

    name: str
    seconds: float
    numpy: float
    waited: float
    most_seconds: float | None = None
    most_waited: float | None = None
    most_ratio: float | None = None

    @property
    def ratio(self) -> float:
        return self.seconds / self.numpy

    @property
    def met(self) -> bool:
        limits = (self.seconds, self.most_seconds), (self.waited, self.most_waited), (self.ratio, self.most_ratio)
        return all(most is None or seen <= most for seen, most in limits)

    def __str__(self) -> str:
        aims = (self.most_seconds, "{:g} s"), (self.most_waited, "{:g} s until done"), (self.most_ratio, "{:g} x")
        aim = "".join(form.format(most) for most, form in aims if most is not None)
        missed = "" if self.met else " **missed**"
        return f"| {self.name} | {self.seconds:.3f} s | {self.ratio:.2f} x | {self.waited:.2f} s | {aim}{missed} |"


def seconds_of(words: Sequence[str], folder: Path) -> tuple[float, float]:
    """CPU seconds of a Python process with these words and of its children, and seconds until it has ended.

    Its compiled modules lie where they are kept, and nothing tells BLAS how many threads it may have.
    """
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    for name in ("PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        environment.pop(name, None)
    before, began = _children(), time.monotonic()
    subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return _children() - before, time.monotonic() - began


def _children() -> float:
    """CPU seconds of all processes that were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def beside_numpy(
    words: Sequence[str], folder: Path, times: int, fresh: str | None = None
) -> tuple[float, float, float]:
    """The least of so many goes of both, in turns: CPU seconds, those of `import numpy`, and seconds until it is done;
    before each the folder `fresh` is moved out of the way."""
    turns = []
    for _ in range(times + 1):  # the first writes the compiled modules
        if fresh is not None and (folder / fresh).exists():
            (folder / fresh).rename(folder / f"{fresh}-{time.monotonic_ns()}")
        used, waited = seconds_of(words, folder)
        turns.append((used, seconds_of(UNIT, folder)[0], waited))
    own, numpy, until = zip(*turns[1:], strict=True)
    return min(own), min(numpy), min(until)


def imports(folder: Path, times: int) -> list[Figure]:
    tables = {
        "import of 1,000 rows of ten jobs": over_disks(folder / "ten.csv", 1000, 10),
        "import of 288 rows of nine jobs over vCPUs and memory": over_memory(folder / "nine.csv", 9),
    }
    figures = []
    for name, table in tables.items():
        words = (*SIZER, "import", str(table), "--out", "imported")
        figures.append(Figure(name, *beside_numpy(words, folder, times, "imported"), most_waited=3.0))
    return figures


def predictions(folder: Path, times: int, large: bool) -> list[Figure]:
    """The last, of 10,000 runs, where that is asked for."""
    memory = over_memory(folder / "memory.csv", 10, vcpus=(1, 2, 4, 8, 16), repeats=5)
    tables: list[tuple[Path, str, Sequence[str], float | None]] = [
        (over_disks(folder / "disks.csv", 1000, 10), "1,000 runs over disks", (), 2.5),
        (memory, "1,000 runs over memory", ("--memory", "8GiB"), 2.5),
    ]
    if large:
        tables.append((over_disks(folder / "large.csv", 10_000, 10), "10,000 runs over disks", (), None))
    figures = []
    for table, stored, options, most in tables:
        study = table.with_suffix("")
        api.import_table(table, study)
        words = (*SIZER, "predict", str(study), "--workload", "job-3", "--vcpus", "7", *options)
        name = f"predict of one point, {stored} stored"
        figures.append(Figure(name, *beside_numpy(words, folder, times), most_ratio=most))
    return figures


def batch(folder: Path, times: int) -> Figure:
    """Of one workload, within and beyond what was measured."""
    model = api.fit(api.open_study(folder / "disks")).workloads[0]
    base, most = model.measured.rates[0].configuration, model.measured.vcpus[-1]
    places = [replace(base, vcpus=float(vcpus)) for vcpus in np.linspace(1, 2 * most, POINTS)]
    measured = []
    for _ in range(times):
        before, began = time.process_time(), time.monotonic()
        predict_several(model, places)
        used, waited = time.process_time() - before, time.monotonic() - began
        measured.append((used, seconds_of(UNIT, folder)[0], waited))
    own, numpy, until = zip(*measured, strict=True)
    name = f"{POINTS:,} predictions of one call, {min(own) / POINTS * 1000:.3f} ms each"
    return Figure(name, min(own), min(numpy), min(until), most_seconds=0.0002 * POINTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="without the study of 10,000 runs")
    options = parser.parse_args()
    print("| what | CPU time | beside `import numpy` | until it is done | aim |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures = predictions(folder, options.times, not options.small)
        figures += [batch(folder, options.times), *imports(folder, options.times)]
        for figure in figures:
            print(figure, flush=True)
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    raise SystemExit(main())
