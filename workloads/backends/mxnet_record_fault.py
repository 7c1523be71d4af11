"""Which record MXNet could not read: it dies of one that is no image, and does not say which it was."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ..data_sets import recordio
from ..faults import InputFault

SEARCH_SECONDS = 20
"""For the search of a record among those of a file: some 20,000 images are decoded meanwhile."""

_handlers: list[object] = []
"""What the C library calls must live as long as the process."""


FATAL = (signal.SIGFPE, signal.SIGABRT)
"""MXNet 1.9.1 divides by the height of an image that it could not decode (src/io/image_aug_default.cc), and throws in a
thread where nobody catches what is wrong with a record (dmlc-core, src/recordio.cc)."""


def tell_of_fatal_signals(tell: Callable[[], str | None]) -> None:
    """End with the sentence that `tell` gives, and exit code 2, where the process would die without one.

    The signals come in threads of MXNet's, where no handler of Python's runs: the C library has to call ours. Where
    `tell` knows nothing, the process dies as it would have.
    """
    c_library = ctypes.CDLL(None)

    def end(number: int) -> None:
        c_library.signal(number, None)  # SIG_DFL: a fault of ours is not ours to search.
        signal.alarm(SEARCH_SECONDS + 5)  # Whatever the fault has left locked, it does not keep us.
        sentence = tell()
        if sentence is None:
            os.kill(os.getpid(), number)
        print(f"{Path(sys.argv[0]).stem}: {sentence}", file=sys.stderr, flush=True)
        os._exit(InputFault.exit_code)

    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    _handlers.append(handler)
    for number in FATAL:
        c_library.signal(int(number), handler)


def unreadable_record(records: Path, index: Path | None, reason: str = "") -> str | None:
    """The sentence that names the first record which is no image; None where none is found in time."""
    try:
        record = _first_unreadable(records, recordio.read_index(index) if index else [])
    except (InputFault, OSError) as error:
        return f"{error}{recordio.IF_INDEX_IS_WRONG}"
    cause = f" ({reason})" if reason else ""
    return record and f"{record} of {records} is no image that can be read{cause}: pack the file again without it"


def _first_unreadable(records: Path, offsets: list[int]) -> str | None:
    from ..data_sets.image_codecs import OpenCV

    decode, deadline = OpenCV().decode, time.monotonic() + SEARCH_SECONDS
    size = records.stat().st_size
    with records.open("rb", buffering=0) as file:
        images = ((offset, recordio.image_at(file.fileno(), records, offset, size)) for offset in offsets)
        for number, (offset, image) in enumerate(images, start=1):
            if decode(image) is None:
                return f"record {number} of {len(offsets)} (byte {offset})"
            if time.monotonic() > deadline:
                break
    return None
