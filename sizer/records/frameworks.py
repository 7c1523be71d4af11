"""Frameworks that programs run on, with the options of how they compute and read; and what a study file says of a
program that is the user's own: placeholders, variables, and how its log is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sizer.records.domains import NOT_STORED, Count, Decoder
from sizer.records.kinds import OPENCV, PYTORCH
from sizer.records.messages import AllOf, AnyOf, InputError


@dataclass(frozen=True)
class FrameworkOptions:
    """None is left to the program, which says in the run what it chose (`Run.stated`).

    `channels_last`: images lie in memory pixel by pixel, not channel by channel. `compile`: the network is compiled
    before its first step. `pin_memory`: batches are copied to the GPU from memory that is not paged. `workers`:
    processes that decode; 0 is the program's own. `prefetch`: batches that each of them holds ready. `decoder`: the
    library that decodes images.
    """

    channels_last: bool | None = None
    compile: bool | None = None
    pin_memory: bool | None = None
    workers: Count | None = None
    prefetch: Count | None = None
    decoder: Decoder | None = None


OF_READING = frozenset({"pin_memory", "workers", "prefetch", "decoder"})
"""How images are read: nothing of it counts where none are."""

OF_IMAGES = OF_READING | {"channels_last"}
"""What has no meaning for a text."""


@dataclass(frozen=True)
class Framework:
    """One framework, or the library that prepares images. One without `modules` is only measured as a command.

    `title` is how it is written, `options` which of `FrameworkOptions` it has. `modules` are those that each run
    imports with the packages that bring them, the framework's own first; `least` its oldest version, where one is
    known to be too old; `install` what pip is given. `versions` are the packages whose versions a study keeps: they
    decide how fast it runs. `gpus_seen` is a program that prints its version and the GPUs it sees, as JSON: what it
    imports, only it itself can say. `installed_with` is the framework in whose interpreter it is looked for, too.
    """

    title: str
    options: frozenset[str] = frozenset()
    modules: Mapping[str, str] = field(default_factory=dict)
    install: tuple[str, ...] = ()
    least: tuple[int, ...] = ()
    versions: tuple[str, ...] = ()
    gpus_seen: str = ""
    installed_with: str | None = None

    @property
    def module(self) -> str:
        """That of the framework itself."""
        return next(iter(self.modules))

    @property
    def package(self) -> str:
        """The package that brings it."""
        return self.modules[self.module]


FRAMEWORKS = {
    # 1.9.1 is its last release; numpy 2 breaks it, and it imports distutils, which left Python with 3.12. It names a
    # type that numpy 1.24 took away: its own workloads, too, put it back before their import.
    "mxnet": Framework(
        "MXNet",
        modules={"mxnet": "mxnet", "numpy": "numpy", "lmdb": "lmdb"},
        install=("mxnet==1.9.1", "numpy>=1.23,<2", "opencv-python-headless<4.12", "lmdb", "setuptools"),
        versions=("mxnet", "numpy", "opencv-python-headless", "lmdb"),
        gpus_seen="""
import json, numpy
if "bool" not in numpy.__dict__: numpy.bool = numpy.bool_
import mxnet
gpus = ["GPU %d" % index for index in range(mxnet.context.num_gpus())]
print(json.dumps([mxnet.__version__, gpus]))
""",
    ),
    # 2.0 brought torch.compile.
    PYTORCH: Framework(
        "PyTorch",
        OF_IMAGES | {"precision", "compile"},
        {"torch": "torch", "numpy": "numpy", "cv2": "opencv-python-headless"},
        ("torch==2.13.0", "numpy", "opencv-python-headless", "simplejpeg", "lmdb"),
        (2, 0),
        ("torch", "transformers", "simplejpeg", "pillow", "numpy", "opencv-python-headless", "lmdb"),
        """
import json, torch
gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
print(json.dumps([torch.__version__, gpus if torch.cuda.is_available() else []]))
""",
    ),
    OPENCV: Framework(
        "OpenCV",
        frozenset({"decoder"}),
        {"cv2": "opencv-python-headless", "numpy": "numpy"},
        ("opencv-python-headless", "simplejpeg", "numpy", "lmdb"),
        versions=("opencv-python-headless", "simplejpeg", "pillow", "numpy", "lmdb"),
        installed_with="mxnet",
    ),
    "tensorflow": Framework("TensorFlow", versions=("tensorflow",)),
}
"""By the name that a study file gives it. What only some runs import, such as another decoder, is installed with it,
and a run that lacks it says so."""

RUNNABLE = tuple(name for name, framework in FRAMEWORKS.items() if framework.modules)
"""Those that sizer has programs for."""

WITHOUT = {"channels_last": False, "compile": False, "pin_memory": False, "precision": "fp32"}
"""What a framework does that lacks the option."""

PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "mixed", "fp8", "fp4", "int8", "int4")
"""What tables compute with, by the names that are plain here."""

_ALSO_CALLED = {
    "float64": "fp64",
    "double": "fp64",
    "float32": "fp32",
    "single": "fp32",
    "float16": "fp16",
    "half": "fp16",
    "amp": "mixed",
    "mixed precision": "mixed",
    "bfloat16": "bf16",
}


def plain_precision(called: str) -> str:
    """One name for what tables call `FP32`, `float32` and `single`; one that is not known stays, in small letters."""
    plain = called.strip().lower()
    return _ALSO_CALLED.get(plain, plain)


def is_precision(called: str) -> bool:
    """Whether any of its words means a precision, as in `fp32 (auto-cast)` and `int8 or fp8`."""
    return any(plain_precision(word) in PRECISIONS for word in re.findall(r"[a-z]+\d*", called.lower()))


# What a study file says of a program that is the user's own: placeholders, variables, and how its log is read.

PLACEHOLDERS = ("vcpus", "threads", "memory_mib", "batch_size", "data", "scratch", "gpu_count", "repeat")
"""What may stand in braces in a command, in `before` and in the values of `env`, and is filled in for each run."""

_NAME = "|".join(PLACEHOLDERS)
_PLACE = re.compile(rf"\{{\{{({_NAME})\}}\}}|\{{({_NAME})\}}")
SECRET_NAMES = re.compile("token|key|secret|passw|passphrase|credential", re.IGNORECASE)
PLAIN_VALUES = frozenset({"", "0", "1", "true", "false", "yes", "no", "on", "off"})
"""Of a variable whose name sounds secret these values are none: TOKENIZERS_PARALLELISM is such a name."""

COUNTS = re.compile(r"(?:^|_)(?:tokens|keys|max|min|num|n|count|size|dim|len|length|limit|per)(?:_|$)", re.IGNORECASE)
"""Parts of a name that says how many: MAX_TOKENS, NUM_KEYS, TOKENS_PER_BATCH."""

NEVER_COUNTS = re.compile("secret|passw|passphrase|credential|api|access|auth|private|(?:^|_)pin(?:_|$)", re.IGNORECASE)
"""Names that are those of a secret even where their value is a number."""

SMALL_NUMBER = re.compile(r"\d{1,9}", re.ASCII)
"""Keys and tokens are longer, or are no numbers."""


def is_secret(name: str, value: str) -> bool:
    """Whether a variable is not to be stored or shown: by its name, unless its value cannot be what the name says."""
    if not SECRET_NAMES.search(name) or value.lower() in PLAIN_VALUES:
        return False
    return not (SMALL_NUMBER.fullmatch(value) and COUNTS.search(name) and not NEVER_COUNTS.search(name))


@dataclass(frozen=True)
class Variable:
    """A variable of a program's environment. `value` is None where it is taken from the environment of sizer.

    One whose name says that it is a secret is such a variable, too: what it is made with is `kept` while sizer lives,
    and never stored.
    """

    name: str
    value: str | None = None
    kept: str | None = field(default=None, repr=False, compare=False, metadata=NOT_STORED)

    def __post_init__(self) -> None:
        if self.value is not None and is_secret(self.name, self.value):
            object.__setattr__(self, "kept", self.value)
            object.__setattr__(self, "value", None)

    def value_in(self, ours: Mapping[str, str]) -> str | None:
        """Its value, with `ours` as the environment of sizer; None where it has none."""
        return next((value for value in (self.value, self.kept, ours.get(self.name)) if value is not None), None)


def placeholders_in(texts: Iterable[str]) -> frozenset[str]:
    """The placeholders that are used in these words."""
    return frozenset(match[2] for text in texts for match in _PLACE.finditer(text) if match[2])


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in; `{{data}}` is the word {data} itself, and other braces stay."""
    return _PLACE.sub(lambda match: f"{{{match[1]}}}" if match[1] else values[match[2]], text)


LOG_FORMATS = (
    "keras",
    "nanogpt",
    "pytorch_imagenet",
    "pytorch_word_language_model",
    "mxnet_speedometer",
    "tf_cnn_benchmarks",
    "caffe",
    "timm",
    "torchvision",
    "megatron",
    "deepspeed",
    "fairseq",
    "mmengine",
    "cntk",
    "neon",
    "torch",
    "ultralytics",
    "lightning",
    "hugging_face_trainer",
    "tqdm",
)
"""Formats that are recognised by themselves, and that a study may name as its `pattern`."""

OTHER_NAMES = {"tensorflow": "tf_cnn_benchmarks"}
"""Names that a format had before."""

SPEED_GROUPS = ("rate", "seconds", "milliseconds", "batches")
"""Groups that tell how fast the program is: samples a second, seconds or milliseconds a batch, batches a second."""

COUNTERS = ("step", "samples", "done")
"""Groups that count: what a program did between two lines is what they grew by. `done` and `step` count batches."""

MEANINGS = frozenset({*SPEED_GROUPS, *COUNTERS, "total", "epoch", "elapsed"})
"""Groups that are read; a user's expression may have others, whatever they hold."""


def format_called(pattern: str) -> str | None:
    """The known format that a pattern names; None for an expression."""
    name = OTHER_NAMES.get(pattern, pattern)
    return name if name in LOG_FORMATS else None


def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a user's own pattern. Raises InputError."""
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            "`{pattern}` is not a regular expression ({error}). Correct it, or use a known pattern: {patterns}.",
            pattern=pattern,
            error=error,
            patterns=AllOf(*LOG_FORMATS),
        ) from error
    if not {*SPEED_GROUPS, *COUNTERS} & set(expression.groupindex):
        raise InputError(
            "The pattern `{pattern}` has no group named {groups}. Add one, such as {example}, or use a known pattern: "
            "{patterns}.",
            pattern=pattern,
            groups=AnyOf(*SPEED_GROUPS, *COUNTERS),
            example=r"(?P<rate>[\d.]+)",
            patterns=AllOf(*LOG_FORMATS),
        )
    return expression
