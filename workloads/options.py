"""The options that all programs share, read once into a frozen record."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from . import threads
from .progress import Extent

FRAMEWORKS = ("mxnet", "pytorch", "tensorflow")


@dataclass(frozen=True)
class Options:
    """What a person asked for. `rate` is the emulated device's samples/s; `data` None means nothing is read.

    `batch_size` is that of one device, of which `gpu_count` work together; emulated ones exchange gradients for
    `exchange` of a step after it.
    """

    network: str
    batch_size: int
    data: Path | None
    format: str | None
    input: str
    cache: str
    device: str
    rate: float | None
    threads: int
    seed: int
    framework: str
    scratch: Path | None
    extent: Extent
    gpu_count: int = 1
    exchange: float = 0.0

    @property
    def samples_a_step(self) -> int:
        """A batch for each device."""
        return self.batch_size * self.gpu_count

    @property
    def devices(self) -> str:
        """`emulated`, or `4 x emulated`."""
        return self.device if self.gpu_count == 1 else f"{self.gpu_count} x {self.device}"

    @property
    def cache_state(self) -> str:
        """Cached input is warm, whatever `cache` says."""
        return "warm" if self.input == "cached" else self.cache


class OneSentenceParser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, without the usage before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}: type `{self.prog} --help`\n")


def positive_integer(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def positive_number(text: str) -> float:
    """A finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def not_negative(text: str) -> float:
    """A finite number of at least 0."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not at least 0")
    return value


def device(text: str) -> str:
    """`cpu`, `cuda:N` or `emulated`."""
    if not re.fullmatch(r"cpu|cuda:\d+|emulated", text):
        raise argparse.ArgumentTypeError(f"{text} is not cpu, cuda:0 or emulated")
    return text


def program_parser(module: str, description: str, sample: str, replays: bool = True) -> OneSentenceParser:
    """A parser with the options that every program has; `replays`: its reads can be made without the rest of it."""
    name = f"python -m {__package__}.{module}"
    parser = OneSentenceParser(prog=name, description=description)
    parser.add_argument("--data", type=Path, metavar="PATH", help="what to read")
    parser.add_argument(
        "--input",
        choices=("disk", "cached", "synthetic", *(("replay",) if replays else ())),
        help="disk: read the data; cached: read it from the page cache; synthetic: read nothing; "
        f"{'replay: read the data, and no more ' if replays else ''}(default: disk with --data, else synthetic)",
    )
    parser.add_argument(
        "--cache",
        choices=("cold", "natural", "warm"),
        default="cold",
        help="cold: evicted before the run and at each epoch boundary; natural: before the run only; "
        "warm: read once before (default: %(default)s)",
    )
    parser.add_argument("--device", type=device, default="cpu", help="cpu, cuda:0 or emulated (default: %(default)s)")
    parser.add_argument("--threads", type=positive_integer, metavar="N", help="default: the CPUs this process may use")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--framework", choices=FRAMEWORKS, default="mxnet", help="default: %(default)s")
    parser.add_argument(
        "--steps", type=positive_integer, metavar="N", help=f"stop after N steps (a step is a batch of {sample}s)"
    )
    parser.add_argument("--seconds", type=positive_number, metavar="S", help="stop after S seconds of stepping")
    return parser


def add_network_options(
    parser: argparse.ArgumentParser, networks: Sequence[str], default: str, batch_size: int
) -> None:
    """The options of the programs that run a network."""
    parser.add_argument("--network", choices=networks, default=default, help="default: %(default)s")
    parser.add_argument(
        "--batch-size", type=positive_integer, default=batch_size, metavar="B", help="default: %(default)s"
    )
    parser.add_argument(
        "--rate", type=positive_number, metavar="SAMPLES_PER_SECOND", help="how fast the emulated device computes"
    )
    parser.add_argument(
        "--gpu-count", type=positive_integer, default=1, metavar="N", help="devices, each with a batch (default: 1)"
    )
    parser.add_argument(
        "--exchange",
        type=not_negative,
        default=0.0,
        metavar="SHARE",
        help="of a step, for which several emulated devices exchange gradients after it (default: 0)",
    )
    parser.add_argument(
        "--scratch", type=Path, metavar="DIR", help="where derived files are kept for the next run (default: temporary)"
    )


def read_options(parser: OneSentenceParser, arguments: Sequence[str] | None = None) -> Options:
    """Parse and cross-check. Ends with exit 2 and one sentence where options do not fit together."""
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    source = given.input or ("disk" if given.data else "synthetic")
    if source != "synthetic" and given.data is None:
        parser.error(f"--input {source} reads a data set, so give its path with --data")
    if source != "synthetic" and not given.data.exists():
        parser.error(f"there is no {given.data}, so give --data an existing path")
    if given.device == "emulated" and given.rate is None:
        parser.error("an emulated device needs to know how fast it is, so give --rate SAMPLES_PER_SECOND")
    count = getattr(given, "gpu_count", 1)
    if count > 1 and source == "replay":
        parser.error("a replay reads for one device: leave out --gpu-count")
    return Options(
        network=given.network,
        batch_size=given.batch_size,
        data=None if source == "synthetic" else given.data,
        format=given.format,
        input=source,
        cache=given.cache,
        device=given.device,
        rate=given.rate,
        threads=given.threads or threads.available(),
        seed=given.seed,
        framework=given.framework,
        scratch=given.scratch,
        extent=Extent(given.steps, given.seconds),
        gpu_count=count,
        exchange=getattr(given, "exchange", 0.0),
    )
