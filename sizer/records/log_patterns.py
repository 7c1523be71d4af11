"""How the rates that programs print on their logs are recognised: known patterns, and a user's own."""

from __future__ import annotations

import re

from sizer.records.errors import InputError
from sizer.records.messages import AllOf

PATTERNS = {
    # "Epoch[0] Batch [20-40]	Speed: 1234.56 samples/sec" (mxnet.callback.Speedometer)
    "mxnet_speedometer": r"Speed: (?P<rate>[\d.]+) samples/sec",
    # "Iteration 40 (1.25 iter/s, 16s/20 iters), loss = 6.9" (Caffe's solver)
    "caffe": r"Iteration \d+ \((?P<batches>[\d.]+) iter/s",
    # "Epoch: [1][20/5004]	Time 0.387 (0.412)" (Torch and PyTorch ImageNet examples)
    "torch": r"Time:? +(?P<seconds>[\d.]+)",
    # "10	images/sec: 219.1 +/- 0.0 (jitter = 0.1)" (tf_cnn_benchmarks)
    "tensorflow": r"images/sec: (?P<rate>[\d.]+)",
    # "Epoch[ 1 of 10]-Minibatch[ 1- 10]: ... time = 1.234s; samplesPerSecond = 219.1" (CNTK)
    "cntk": r"samplesPerSecond = (?P<rate>[\d.]+)",
    # "Epoch 0   [Train |████| 390/390 batches, 2.30 cost, 5.82s]" (Neon's progress bar)
    "neon": r"(?P<done>\d+)/\d+ batches, [\d.]+ cost, (?P<elapsed>[\d.]+)s",
}
"""A named group says what a number is: `rate` samples/s, `batches` a second, or `seconds` a batch; or what an epoch has
`done` in `elapsed` seconds."""

MEANINGS = frozenset({"rate", "batches", "seconds", "done", "elapsed"})
"""Groups that are read; a user's expression may have others, whatever they hold."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a known name or of a user's own. Raises InputError."""
    try:
        expression = re.compile(PATTERNS.get(pattern, pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(
            "`{pattern}` is not a regular expression ({error}). Correct it, or use a known pattern: {patterns}.",
            pattern=pattern,
            error=error,
            patterns=AllOf(*PATTERNS),
        ) from error
    groups = set(expression.groupindex)
    if not {"rate", "batches", "seconds"} & groups and not {"done", "elapsed"} <= groups:
        raise InputError(
            "The pattern `{pattern}` has no group named rate, batches or seconds. Add one, such as {example}, or use a "
            "known pattern: {patterns}.",
            pattern=pattern,
            example=r"(?P<rate>[\d.]+)",
            patterns=AllOf(*PATTERNS),
        )
    return expression
