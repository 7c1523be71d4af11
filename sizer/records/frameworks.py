"""Frameworks that programs run on: what each needs and can, and the `options` of how it computes and reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sizer.records.domains import Count, Decoder
from sizer.records.kinds import OPENCV, PYTORCH


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
