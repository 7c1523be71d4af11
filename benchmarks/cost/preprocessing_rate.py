"""Preprocessing beside MXNet's im2rec and libjpeg-turbo's bare decode: images a core-second, from RAM, on one vCPU.

    python benchmarks/cost/preprocessing_rate.py [--rounds 5]

`ours` is `workloads.imagenet_preprocessing` to RecordIO with one worker; `im2rec` is the tool inside the MXNet wheel
with the same work: --resize 256 --quality 95, one thread. Each runs twice, over a folder with one link to each image
and over one with five, and the difference counts, so that starting up is in neither. `tjbench` decodes alone, image
after image from memory: Debian's libjpeg-turbo-progs (`apt-get install libjpeg-turbo-progs`). Nothing that resizes and
encodes too can reach it.

The images are sizer's embedded ones, of ImageNet's size; core-seconds are those of the run's group. The three take
turns.

Aim: at least im2rec's images a core-second: the 95 % interval of the ratio does not end below 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from bench import BenchmarkHost, data_of, on_this_machine
from pairs import ratio, shown

from sizer import bundled
from sizer.host.interpreters import interpreter
from sizer.records.messages import HostError
from sizer.records.run import DataSet
from sizer.records.study import Limits, Workload

Program = Callable[[Path, Path], list[str]]
"""The command line of a program that packs the images of the first folder into the second."""

DECODED = 40
"""Images that tjbench decodes each round, evenly spread over all of them."""

DECODE_SECONDS, DECODE_WARM_UP = "0.1", "0.02"
FEW_LINKS, MANY_LINKS = 1, 5

# im2rec.py imports MXNet 1.9.1, which reads numpy.bool, which numpy 1.24 to 1.26 do not have.
RUN_TOOL = """
import numpy, runpy, sys
numpy.bool = numpy.bool_
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

FRAME_RATE = re.compile(r"Frame rate:\s+([\d.]+) fps")


@dataclass(frozen=True)
class Decoded:
    """One image through tjbench: its frames a second and the share of a core that it had."""

    frames_per_second: float
    share: float

    @property
    def core_seconds(self) -> float:
        """Of one decode."""
        return self.share / self.frames_per_second


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    return on_this_machine(lambda bench: measure(bench, given.rounds))


def measure(bench: BenchmarkHost, rounds: int) -> int:
    """A line a round, then the medians; the exit code."""
    tjbench = shutil.which("tjbench")
    if tjbench is None:
        raise HostError("tjbench is not installed; on Debian type: apt-get install libjpeg-turbo-progs")
    data = data_of(Workload("preprocessing", "imagenet_preprocessing", "opencv", format="recordio"))
    assert data is not None
    rates: dict[str, list[float]] = {"ours": [], "im2rec": [], "tjbench": []}
    images = images_of(data)
    size = sum(image.stat().st_size for image in images) / len(images)
    print(f"images a core-second on 1 vCPU; {len(images)} images, {size / 1000:.0f} kB each")
    print("round     ours   im2rec   tjbench (decode alone)   ours / im2rec   ours / tjbench")
    for number in range(rounds):
        rates["ours"].append(packing(bench, data, ours("simplejpeg", "recordio")))
        rates["im2rec"].append(packing(bench, data, im2rec))
        rates["tjbench"].append(decoding(bench, tjbench, data))
        latest = {name: values[-1] for name, values in rates.items()}
        print(_row(str(number + 1), latest), flush=True)
    print(_row("median", {name: median(values) for name, values in rates.items()}))
    found = ratio([mine / theirs for mine, theirs in zip(rates["ours"], rates["im2rec"], strict=True)])
    holds = found.high >= 1
    print(f"ours / im2rec {shown(found)} (aim at least 1, within noise): {'holds' if holds else 'DOES NOT HOLD'}")
    return 0 if holds else 1


def packing(
    bench: BenchmarkHost, data: DataSet, program: Program, vcpus: float = 1.0, many_links: int = MANY_LINKS
) -> float:
    """Images a core-second of a program that packs the images, without its start."""
    images, used = images_of(data), []
    for links in (FEW_LINKS, many_links):
        with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
            source, output = Path(folder) / "images", Path(folder) / "output"
            output.mkdir()
            link(images, source, links)
            used.append(core_seconds(bench, program(source, output), vcpus))
    return marginal_rate((many_links - FEW_LINKS) * len(images), *used)


def link(images: Sequence[Path], folder: Path, links: int) -> None:
    """A folder of class folders that holds each image as many times."""
    for copy in range(links):
        for image in images:
            target = folder / image.parent.name / f"{copy}_{image.name}"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(image)


def marginal_rate(images: int, few: float, many: float) -> float:
    """Images a core-second, from the core-seconds of a run and of one with `images` more. Raises HostError."""
    if many <= few:
        raise HostError(f"{images} more images took no longer ({few:.2f} and {many:.2f} core-seconds); run it again")
    return images / (many - few)


def ours(decoder: str, form: str, workers: int = 1) -> Program:
    """Our program."""

    def program(source: Path, output: Path) -> list[str]:
        words = [str(interpreter("opencv")), "-m", "workloads.imagenet_preprocessing", "--data", str(source)]
        words += ["--output", str(output), "--input", "cached", "--workers", str(workers)]
        return [*words, "--decoder", decoder, "--format", form]

    return program


def im2rec(source: Path, output: Path) -> list[str]:
    """im2rec over a list of all images."""
    found = importlib.util.find_spec("mxnet")
    if found is None or found.origin is None:
        raise HostError(f"{sys.executable} has no mxnet; type: {sys.executable} -m pip install mxnet==1.9.1 'numpy<2'")
    tool = Path(found.origin).parent / "tools" / "im2rec.py"
    (output / "images.lst").write_text(image_list(source, jpegs(source)))
    options = ["--resize", "256", "--quality", "95", "--num-thread", "1"]
    return [sys.executable, "-c", RUN_TOOL, str(tool), str(output / "images"), str(source), *options]


def image_list(root: Path, images: Sequence[Path]) -> str:
    """im2rec's list: number, label and path of each record, with a tab between them."""
    return "".join(f"{number}\t0\t{image.relative_to(root)}\n" for number, image in enumerate(images))


def decoding(bench: BenchmarkHost, tjbench: str, data: DataSet) -> float:
    """Images a core-second that are only decoded."""
    images = images_of(data)
    chosen = images[:: max(1, len(images) // DECODED)][:DECODED]
    return len(chosen) / sum(decode(bench, tjbench, image).core_seconds for image in chosen)


def decode(bench: BenchmarkHost, tjbench: str, image: Path) -> Decoded:
    """One image again and again for a tenth of a second."""
    options = ["-nowrite", "-benchtime", DECODE_SECONDS, "-warmup", DECODE_WARM_UP]
    began = time.perf_counter()
    with bench.backend.open("tjbench", Limits(vcpus=1.0)) as group:
        done = _complete(group.command([tjbench, str(image), *options]), {"PATH": os.environ["PATH"]})
        share = group.sample(0.0).core_seconds / (time.perf_counter() - began)
    found = FRAME_RATE.search(done)
    if found is None:
        raise HostError(f"tjbench printed no frame rate for {image}: {done[-300:]}")
    return Decoded(float(found.group(1)), min(1.0, share))


def core_seconds(bench: BenchmarkHost, argv: Sequence[str], vcpus: float) -> float:
    """What a program used from its start to its end, alone on so many vCPUs with one thread for each library."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(bundled.WORKLOADS_PATH), "OMP_NUM_THREADS": "1"}
    with bench.backend.open("packing", Limits(vcpus=vcpus)) as group:
        _complete(group.command(argv), environment)
        return group.sample(0.0).core_seconds


def _complete(argv: Sequence[str], environment: dict[str, str]) -> str:
    done = subprocess.run(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise HostError(f"{' '.join(argv[-8:])} ended with exit status {done.returncode}: {done.stdout[-500:]}")
    return done.stdout


def images_of(data: DataSet) -> list[Path]:
    """The photographs, in the order of their paths."""
    return jpegs(Path(data.path))


def jpegs(folder: Path) -> list[Path]:
    """The JPEGs of a folder of class folders, in the order of their paths."""
    return sorted(path for path in folder.glob("*/*") if path.suffix.lower() in (".jpg", ".jpeg"))


def _row(name: str, rate: dict[str, float]) -> str:
    return (
        f"{name:6s}  {rate['ours']:7.1f}  {rate['im2rec']:7.1f}  {rate['tjbench']:8.1f}"
        f"  {rate['ours'] / rate['im2rec']:30.3f}   {rate['ours'] / rate['tjbench']:14.3f}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
