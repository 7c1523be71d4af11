"""How a framework computes and reads: the `options` of a workload, and which framework has which of them."""

from __future__ import annotations

from dataclasses import dataclass

from sizer.records.domains import Count, Decoder


@dataclass(frozen=True)
class FrameworkOptions:
    """None is left to the program, which says in the run what it chose (`Run.stated`).

    `channels_last`: images lie in memory pixel by pixel, not channel by channel. `compile`: the network is compiled
    before its first step. `pin_memory`: batches are copied to the GPU from memory that is not paged. `workers`:
    processes that decode; 0 is the program's own. `prefetch`: batches that each of them holds ready.
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

OF_FRAMEWORK = {"mxnet": frozenset[str](), "pytorch": OF_IMAGES | {"precision", "compile"}}
"""The options that each framework has."""

WITHOUT = {"channels_last": False, "compile": False, "pin_memory": False, "precision": "fp32"}
"""What a framework does that lacks the option."""

_ALSO_CALLED = {
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
