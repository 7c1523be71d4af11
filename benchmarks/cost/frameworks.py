"""Our programs against loops without them: the same network, batch, options, input and limits, in interleaved pairs.

    python benchmarks/cost/frameworks.py [--pairs 3] [--seconds 3.5] [--vcpus 1] [--jobs squeezenet-inference ...]

The other side of each pair is `plain_mxnet.py`, what MXNet's published benchmarks do, or `plain_pytorch.py`, a loop as
users write it; each is measured by the line that it prints. Both are fresh processes that sizer starts with the same
thread counts in the same limits: as many threads, and with a folder as many workers, as whole vCPUs. Input is synthetic
but for `pytorch-DECODER-...`, which read the embedded photographs from a folder in the page cache; `reading` is their
loader without a network.

Aim: none of our programs is slower, as far as the pairs can tell: no 95 % interval of a ratio ends below 1.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from math import ceil
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "shared"))

from bench import BenchmarkHost, data_of, opened
from pairs import ratio, shown, turns

from sizer.records.configuration import Estimate
from sizer.records.device import Device
from sizer.records.domains import Decoder
from sizer.records.framework_options import FrameworkOptions
from sizer.records.messages import SizerError
from sizer.records.study import Workload

ENDLESS = 1e6
"""Images a second of an accelerator that any input is slower than."""
DECODERS: tuple[Decoder, ...] = ("pillow", "opencv", "simplejpeg")
PLAIN = {name: Path(__file__).with_name(f"plain_{name}.py") for name in ("mxnet", "pytorch")}
PATTERNS = {"mxnet": "mxnet_speedometer", "pytorch": r"rate (?P<rate>[\d.]+)"}


@dataclass(frozen=True)
class Comparison:
    """One comparison: a program and network of ours, and the plain loop and its network with its `frequent`.

    `decoder`: images come from a folder and are decoded by it, else the input is synthetic.
    """

    kind: str
    network: str
    loop: str
    zoo: str
    batch_size: int
    frequent: int
    unit: str = "image"
    framework: str = "mxnet"
    precision: str | None = None
    compiled: bool = False
    decoder: Decoder | None = None

    @property
    def ours(self) -> Workload:
        """`reading` is for an accelerator that is never waited for."""
        folder = self.decoder is not None
        options = FrameworkOptions(compile=True) if self.compiled else FrameworkOptions(decoder=self.decoder)
        return Workload(
            "ours",
            self.kind,
            framework=self.framework,
            network=self.network,
            format="folder" if folder else None,
            input="cached" if folder else "synthetic",
            cache="warm" if folder else "cold",
            precision=self.precision,
            options=options,
            device=Device("emulated", samples_per_second=ENDLESS) if self.loop == "reading" else Device(),
        )

    @property
    def plain(self) -> Workload:
        words = [sys.executable, str(PLAIN[self.framework]), self.loop, "--network", self.zoo]
        words += ["--batch-size", str(self.batch_size), "--frequent", str(self.frequent)]
        words += ["--precision", self.precision] if self.precision is not None else []
        words += ["--compile"] if self.compiled else []
        words += ["--threads", "{threads}"] if self.framework == "pytorch" else []
        data = data_of(self.ours)
        if data is not None:
            words += ["--data", data.path, "--decoder", self.decoder or ""]
            words += ["--shuffled"] if self.kind == "image_training" else []
        pattern, unit = PATTERNS[self.framework], self.unit
        return Workload("plain", "command", command=tuple(words), pattern=pattern, sample_unit=unit)


JOBS = {
    "squeezenet-inference": Comparison("image_inference", "squeezenet", "inference", "squeezenet1.1", 16, 2),
    "mobilenet-inference": Comparison("image_inference", "mobilenet", "inference", "mobilenet1.0", 16, 2),
    "resnet50-inference": Comparison("image_inference", "resnet50", "inference", "resnet50_v1", 8, 1),
    "squeezenet-training": Comparison("image_training", "squeezenet", "training", "squeezenet1.1", 8, 1),
    "lstm-small": Comparison("lstm_training", "small", "lstm", "-", 20, 2, "word"),
    **{
        f"pytorch-{network}-{loop}": Comparison(
            f"image_{loop}", network, loop, network, batch, frequent, framework="pytorch"
        )
        for network, loop, batch, frequent in (
            ("squeezenet", "inference", 16, 1),
            ("mobilenet", "inference", 16, 1),
            ("resnet50", "inference", 8, 1),
            ("squeezenet", "training", 8, 1),
            ("resnet18", "training", 8, 1),
            ("vit_b16", "inference", 2, 1),
        )
    },
    "pytorch-resnet50-bf16": Comparison(
        "image_inference", "resnet50", "inference", "resnet50", 8, 1, framework="pytorch", precision="bf16"
    ),
    "pytorch-squeezenet-compiled": Comparison(
        "image_inference", "squeezenet", "inference", "squeezenet", 16, 1, framework="pytorch", compiled=True
    ),
    "pytorch-lstm-small": Comparison("lstm_training", "small", "lstm", "-", 20, 1, "word", framework="pytorch"),
    "pytorch-bert-training": Comparison(
        "language_training", "bert_base", "bert", "bert_base", 1, 1, "word", framework="pytorch"
    ),
    **{
        f"pytorch-{decoder}-{name}": Comparison(
            kind, "squeezenet", loop, "squeezenet", batch, frequent, framework="pytorch", decoder=decoder
        )
        for decoder in DECODERS
        for name, kind, loop, batch, frequent in (
            ("inference", "image_inference", "inference", 16, 1),
            ("training", "image_training", "training", 8, 1),
            ("reading", "image_training", "reading", 32, 4),
        )
    },
}
"""A line of the log for each 0.2-0.4 s on a vCPU of 2026, so that a few seconds hold more than ten."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.5)
    parser.add_argument("--vcpus", type=float, default=1.0)
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), metavar="JOB", help=", ".join(JOBS))
    given = parser.parse_args()
    slower = []
    print(f"{given.vcpus:g} vCPU, threads and workers {ceil(given.vcpus)}, {given.pairs} pairs of {given.seconds:g} s")
    print("job                             batch  unit   ours/s   plain/s   ours / plain (95 %)")
    try:
        with opened() as bench:
            for name in given.jobs:
                found = compare(bench, name, given.vcpus, given.seconds, given.pairs)
                if found.high < 1:
                    slower.append(name)
    except SizerError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"slower than the plain loop beyond noise: {', '.join(slower) or 'none'} (aim: none)")
    return 1 if slower else 0


def compare(bench: BenchmarkHost, name: str, vcpus: float, seconds: float, pairs: int) -> Estimate:
    """Measure the pairs of one job and print its row; the ratio of ours to the plain loop."""
    job = JOBS[name]
    rates: dict[str, list[float]] = {"ours": [], "plain": []}
    for pair, workload in turns(job.ours, job.plain, pairs):
        run = bench.run(workload, job.batch_size, vcpus, seconds, pair)
        assert run.throughput is not None
        rates[workload.name].append(run.throughput.value)
    found = ratio([ours / plain for ours, plain in zip(rates["ours"], rates["plain"], strict=True)])
    ours, plain = (sum(values) / len(values) for values in rates.values())
    print(
        f"{name:30s}  {job.batch_size:5d}  {job.unit:5s}  {ours:7,.1f}   {plain:7,.1f}   {shown(found)}",
        flush=True,
    )
    return found


if __name__ == "__main__":
    raise SystemExit(main())
