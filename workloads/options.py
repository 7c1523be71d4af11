"""The options that all programs share, read once into a frozen record."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NoReturn, TypeVar

from .networks import TRANSFORMERS
from .process import available_cpus
from .progress import Extent


@dataclass(frozen=True)
class Computing:
    """How a network is computed.

    `channels_last`: images lie in memory pixel by pixel, which convolutions on a CPU compute up to 2.2 times as fast;
    None where there are no images. `precision`: fp32, or bf16 or fp16 with parameters in fp32 (automatic mixed
    precision). `compile`: the network is compiled before its first step.
    """

    channels_last: bool | None = True
    precision: str = "fp32"
    compile: bool = False


@dataclass(frozen=True)
class Reading:
    """How images are read; None is for the backend to choose.

    `pin_memory`: batches for a GPU lie in memory that is not paged. `workers`: processes that decode, 0 for this one.
    `prefetch`: batches that each of them holds ready. `decoder`: simplejpeg, opencv or pillow.
    """

    pin_memory: bool | None = None
    workers: int | None = None
    prefetch: int | None = None
    decoder: str | None = None


Record = TypeVar("Record", Computing, Reading)

DECODERS = ("simplejpeg", "opencv", "pillow")


@dataclass(frozen=True)
class Options:
    """What a person asked for. `rate` is the emulated device's samples/s; `data` None means nothing is read.

    `batch_size` is that of one device, of which `gpu_count` work together; emulated ones exchange gradients for
    `exchange` of a step after it. `mode` is empty where the program runs no network.
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
    computing: Computing
    reading: Reading
    gpu_count: int = 1
    exchange: float = 0.0
    mode: str = ""

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


def at_least(least: int) -> Callable[[str], int]:
    """A reader of whole numbers of at least that."""

    def integer(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is not at least {least}")
        return value

    return integer


positive_integer, count = at_least(1), at_least(0)


def positive_number(text: str) -> float:
    """A finite number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def not_negative(text: str) -> float:
    """A finite number of at least 0."""
    return float(text) if float(text) == 0 else positive_number(text)


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
    parser.add_argument("--framework", default="mxnet", help="default: %(default)s")
    parser.add_argument(
        "--steps", type=positive_integer, metavar="N", help=f"stop after N steps (a step is a batch of {sample}s)"
    )
    parser.add_argument("--seconds", type=positive_number, metavar="S", help="stop after S seconds of stepping")
    return parser


def add_network_options(
    parser: argparse.ArgumentParser, batch_sizes: Mapping[str, int], default: str, modes: Sequence[str]
) -> None:
    """The options of the programs that run a network: its networks with the batch size of each where none is given,
    the one that is run by default, and the modes, of which the first is the default."""
    parser.set_defaults(batch_sizes=batch_sizes)
    parser.add_argument("--network", choices=tuple(batch_sizes), default=default, help="default: %(default)s")
    usual = batch_sizes[default]
    others = "".join(f", of {name} {size}" for name, size in batch_sizes.items() if size != usual)
    parser.add_argument("--batch-size", type=positive_integer, metavar="B", help=f"default: {usual}{others}")
    parser.add_argument(
        "--mode",
        choices=modes,
        default=modes[0],
        help="what is computed of a batch: forward: its outputs; forward_backward: the gradients, too; "
        "train: and the update of the parameters (default: %(default)s)",
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


def add_computing_options(parser: argparse.ArgumentParser) -> None:
    """How a network is computed."""
    group = parser.add_argument_group("of PyTorch")
    group.add_argument("--precision", choices=("fp32", "bf16", "fp16"), help="bf16, fp16: mixed (default: fp32)")
    group.add_argument("--compile", type=truth, metavar="TRUTH", help="compile the network first (default: false)")


def add_image_options(parser: argparse.ArgumentParser) -> None:
    """How images lie in memory and are read."""
    group = parser.add_argument_group("of PyTorch's images")
    group.add_argument(
        "--channels-last", type=truth, metavar="TRUTH", help="images lie in memory pixel by pixel (default: true)"
    )
    group.add_argument("--pin-memory", type=truth, metavar="TRUTH", help="memory that is not paged, for a GPU")
    group.add_argument("--workers", type=count, metavar="N", help="processes that decode; 0: this one")
    group.add_argument("--prefetch", type=positive_integer, metavar="N", help="batches that each of them holds ready")
    group.add_argument("--decoder", choices=DECODERS, help="what decodes images")


def truth(text: str) -> bool:
    """`true` or `false`."""
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text} is not true or false")
    return text == "true"


def given_source(parser: OneSentenceParser, given: argparse.Namespace) -> str:
    """The `--input`, which follows from `--data` where it is not given. Ends with exit 2 where it needs a path."""
    source: str = given.input or ("disk" if given.data else "synthetic")
    if source != "synthetic" and given.data is None:
        parser.error(f"--input {source} reads a data set, so give its path with --data")
    if source != "synthetic" and not given.data.exists():
        parser.error(f"there is no {given.data}, so give --data an existing path")
    return source


def read_options(parser: OneSentenceParser, arguments: Sequence[str] | None = None) -> Options:
    """Parse and cross-check. Ends with exit 2 and one sentence where options do not fit together."""
    given = parser.parse_args(sys.argv[1:] if arguments is None else arguments)
    values = vars(given)
    source = given_source(parser, given)
    if given.device == "emulated" and given.rate is None:
        parser.error("an emulated device needs to know how fast it is, so give --rate SAMPLES_PER_SECOND")
    if given.framework != "pytorch":
        for name in (field.name for kind in (Computing, Reading) for field in fields(kind)):
            if values.get(name) not in (None, False, "fp32"):
                parser.error(f"{given.framework} has no --{name.replace('_', '-')}, so leave it out")
        if given.network in TRANSFORMERS:
            parser.error(f"{given.framework} has no {given.network}, so give --framework pytorch")
    if given.device == "cpu" and given.precision == "fp16":
        parser.error("fp16 needs a GPU, so give --precision bf16, or --device cuda:0")
    if given.gpu_count > 1 and source == "replay":
        parser.error("a replay reads for one device: leave out --gpu-count")
    own = {field.name: values[field.name] for field in fields(Options) if field.name in values}
    return Options(
        **own
        | {
            "batch_size": given.batch_size or given.batch_sizes[given.network],
            "data": None if source == "synthetic" else given.data,
            "input": source,
            "threads": given.threads or available_cpus(),
        },
        extent=Extent(given.steps, given.seconds),
        computing=_given(Computing, given),
        reading=_given(Reading, given),
    )


def _given(kind: type[Record], given: argparse.Namespace) -> Record:
    """The record of the options that were given, and that its defaults fill up."""
    values = {field.name: getattr(given, field.name, None) for field in fields(kind)}
    return kind(**{name: value for name, value in values.items() if value is not None})
