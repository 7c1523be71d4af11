"""How the rate of a program is read from its log: the names of the known formats, and a user's own expression."""

from __future__ import annotations

import re

from sizer.records.errors import InputError
from sizer.records.messages import AllOf, AnyOf

KNOWN_LOGS = (
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

TOLD = ("rate", "seconds", "milliseconds", "batches")
"""Groups that tell how fast the program is: samples a second, seconds or milliseconds a batch, batches a second."""

COUNTERS = ("step", "samples", "done")
"""Groups that count: what a program did between two lines is what they grew by. `done` and `step` count batches."""

MEANINGS = frozenset({*TOLD, *COUNTERS, "total", "epoch", "elapsed"})
"""Groups that are read; a user's expression may have others, whatever they hold."""


def known_log(pattern: str) -> str | None:
    """The known format that a pattern names; None for an expression."""
    name = OTHER_NAMES.get(pattern, pattern)
    return name if name in KNOWN_LOGS else None


def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a user's own pattern. Raises InputError."""
    try:
        expression = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            "`{pattern}` is not a regular expression ({error}). Correct it, or use a known pattern: {patterns}.",
            pattern=pattern,
            error=error,
            patterns=AllOf(*KNOWN_LOGS),
        ) from error
    if not {*TOLD, *COUNTERS} & set(expression.groupindex):
        raise InputError(
            "The pattern `{pattern}` has no group named {groups}. Add one, such as {example}, or use a known pattern: "
            "{patterns}.",
            pattern=pattern,
            groups=AnyOf(*TOLD, *COUNTERS),
            example=r"(?P<rate>[\d.]+)",
            patterns=AllOf(*KNOWN_LOGS),
        )
    return expression
