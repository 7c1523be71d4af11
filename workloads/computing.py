"""How a network is computed and its images are read, where a framework leaves a choice."""

from __future__ import annotations

from dataclasses import dataclass


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
