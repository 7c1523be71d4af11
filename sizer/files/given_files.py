"""A file that a person names on the command line: read as a whole, if it is text and no larger than any of its kind."""

from __future__ import annotations

import os
import select
import stat
from pathlib import Path
from typing import IO

from sizer.records.messages import InputError, Message

LARGEST_FILE = 64 * 2**20
"""Bytes. A pipe or a device may be named, too, and some of these never end."""

PART_BYTES = 2**20

PIPE_SECONDS = 5.0
"""For somebody to open a pipe that has a name, to write into it."""

SILENT_WAITS = 12
"""Times as long may a writer that has a pipe open write nothing: `<(curl ...)` begins late, and may pause."""


def read_given(path: Path, kind: Message, advice: Message | None = None, patience: float = PIPE_SECONDS) -> str:
    """The text of a file; `kind` says what it should be (`a study file`), `advice` how to get one.

    Raises InputError, which names the file, where there is none, it cannot be read, is too large or is not UTF-8, or is
    a pipe that nobody writes into for `patience` seconds.
    """
    try:
        with open(path, "rb", buffering=0, opener=_open_without_waiting) as file:
            piped = stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
            content = _from_pipe(file, path, patience) if piped else _from_file(file)
    except FileNotFoundError:
        if advice is None:
            raise InputError("{path}: there is no such file.", path=path) from None
        raise InputError("{path}: there is no such file; {advice}.", path=path, advice=advice) from None
    except (OSError, ValueError) as error:
        raise InputError(
            "{path} cannot be read ({reason}).", path=path, reason=getattr(error, "strerror", None) or error
        ) from None
    if len(content) > LARGEST_FILE:
        raise InputError(
            "{path} is larger than {largest} MiB, too large for {kind}.",
            path=path,
            largest=LARGEST_FILE // 2**20,
            kind=kind,
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("{path} line {line} is not UTF-8; save the file as UTF-8.", path=path, line=line) from None


def _open_without_waiting(path: str, flags: int) -> int:
    """A pipe with a name is otherwise opened when somebody opens its other end, which may be never."""
    return os.open(path, flags | os.O_NONBLOCK)


def _from_file(file: IO[bytes]) -> bytes:
    os.set_blocking(file.fileno(), True)
    content = bytearray()
    while len(content) <= LARGEST_FILE and (part := file.read(PART_BYTES)):
        content += part
    return bytes(content)


def _from_pipe(file: IO[bytes], path: Path, patience: float) -> bytes:
    """All that is written into a pipe until its last writer closes it."""
    poll = select.poll()
    poll.register(file, select.POLLIN)
    content, silent = bytearray(), 0
    while len(content) <= LARGEST_FILE:
        ended = poll.poll(patience * 1000)
        part: bytes | None = file.read(PART_BYTES)
        if part:
            content += part
            silent = 0
        elif part is None and silent < SILENT_WAITS:
            silent += 1  # A writer has it open, and has written nothing yet.
        elif ended and part is not None:
            break
        else:
            raise InputError(
                "{path} is a pipe that nobody writes to; give a file, or first start the program that writes it.",
                path=path,
            )
    return bytes(content)
