"""How a framework computes and reads: the `options` of a workload, and which framework has which of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sizer.records.domains import Count, Decoder
from sizer.records.kinds import OPENCV


@dataclass(frozen=True)
class FrameworkOptions:
    """None is left to the program, which says in the run what it chose (`Run.declared.stated`).

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

OF_FRAMEWORK = {
    "mxnet": frozenset[str](),
    "pytorch": OF_IMAGES | {"precision", "compile"},
    OPENCV: frozenset({"decoder"}),
}
"""The options that each framework has, and those of preprocessing."""

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
