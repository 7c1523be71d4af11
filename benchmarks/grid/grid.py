"""The measured grid: four workloads over vCPUs, memory, disk and accelerator, by sizer itself, as a data set.

    python benchmarks/grid/grid.py [--out DIR] [--into DIR] [--collect] [--study FILE]

Makes the photographs' RecordIO file, measures `grid/study.yaml` with `sizer run` into DIR/study (about 45 minutes on a
quiet host; started again, it goes on), and writes what `grid/README.md` describes: `runs.jsonl` and
`measurements.csv`. `--collect` only writes them, from the runs that are there. Needs root, for limits and emulated
disks. Prints, by workload, how far repeats of one configuration are from each other: nobody can predict them better.

`--study` measures another study file, with the disks and data of this one, into files beside it unless `--into` says
where.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from grid_data import GRID, cells, load_grid, repeat_errors, save_runs

sys.path.append(str(Path(__file__).parents[2]))

from sizer import bundled
from sizer.exchange.measurements import write_csv
from sizer.files.own_folder import cache_folder
from sizer.host.interpreters import interpreter
from sizer.records.messages import SizerError
from sizer.records.run import Run
from sizer.records.study import Workload
from sizer.storage.data_sets import DataSets
from sizer.store.study_folder import StudyFolder
from workloads.data_sets import recordio
from workloads.data_sets.image_folder import list_images, shuffled

EMBEDDED_IMAGES = 4000
IMAGES = 800
"""82 MB as they are, 103 kB each: so much that a memory cap of a size people write can keep a part of it or all."""

SEED = 1


def main() -> int:
    given = _arguments()
    into = given.into or (GRID if given.study == GRID / "study.yaml" else given.out)
    try:
        if not given.collect:
            ended = measure(given.out, given.study)
            if ended not in (0, 4):
                return ended
        with StudyFolder.open(given.out / "study").locked() as folder:
            collect(folder, into)
    except SizerError as error:
        print(f"grid: {error}")
        return error.exit_code
    show(load_grid(into / "runs.jsonl"))
    return 0


def measure(out: Path, study: Path) -> int:
    """Run the study, or go on with it. The exit status of `sizer run`."""
    out.mkdir(parents=True, exist_ok=True)
    pack_photographs(out / "photographs.rec")
    (out / "study.yaml").write_text(study.read_text())
    command = [sys.executable, "-m", "sizer", "run", "study.yaml", "--out", str((out / "study").absolute())]
    process = subprocess.Popen(command, cwd=out)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:  # it has met the Ctrl-C, too, and ends its run
            continue


def pack_photographs(target: Path) -> None:
    """The embedded photographs as they are, not resized to 256 as packing does: large records, little readahead."""
    if target.with_suffix(".idx").is_file():
        return
    python, cache = interpreter("mxnet"), cache_folder(os.environ)
    sets = DataSets(cache, python, bundled.WORKLOADS_PATH, EMBEDDED_IMAGES, print)
    embedded = sets.prepare(Workload("photographs", "imagenet_preprocessing"))
    assert embedded is not None
    images = shuffled(list_images(Path(embedded.path)), SEED)[:IMAGES]
    with target.open("wb") as file:
        for number, image in enumerate(images):
            file.write(recordio.framed(recordio.image_record(image.label, number, image.path.read_bytes())))
    recordio.write_index(target, target.with_suffix(".idx"))


def collect(folder: StudyFolder, into: Path) -> None:
    """Write the data set from the runs of a study folder."""
    into.mkdir(parents=True, exist_ok=True)
    save_runs(folder.runs(), into / "runs.jsonl")
    runs = load_grid(into / "runs.jsonl")
    (into / "measurements.csv").write_text(write_csv(runs))


def show(runs: Sequence[Run]) -> None:
    """One line a workload: configurations, runs, and how far their repeats are from each other."""
    line = "{:14} {:>15} {:>6} {:>34}"
    print(line.format("workload", "configurations", "runs", "|ln ratio| of repeats: median, 90th"))
    names = dict.fromkeys(run.spec.workload.name for run in runs)
    for name in (*names, None):
        chosen = [run for run in runs if name in (None, run.spec.workload.name)]
        print(line.format(name or "all", len(cells(chosen)), len(chosen), _spread(repeat_errors(chosen))))


def _spread(errors: Iterable[float]) -> str:
    shares = list(errors)
    return " ".join(f"{share:.1%}" for share in np.percentile(shares, (50, 90))) if shares else "-"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("/var/tmp/sizer-grid"), help="where it is measured")
    parser.add_argument("--into", type=Path, help=f"where the data set goes (default: {GRID}, or --out with --study)")
    parser.add_argument("--collect", action="store_true", help="measure nothing more")
    parser.add_argument("--study", type=Path, default=GRID / "study.yaml", help="another study file")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
