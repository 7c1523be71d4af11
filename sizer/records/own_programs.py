"""What a study file says of a program that is the user's own: placeholders, variables, and how its log is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sizer.records.domains import NOT_STORED
from sizer.records.messages import AllOf, AnyOf, InputError

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
