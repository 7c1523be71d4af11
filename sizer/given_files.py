"""A file that a person names on the command line: read as a whole, if it is text and no larger than any of its kind."""

from __future__ import annotations

from pathlib import Path

from sizer.errors import InputError

LARGEST_FILE = 64 * 2**20
"""Bytes. A pipe or a device may be named, too, and some of these never end."""


def read_given(path: Path, kind: str, advice: str = "") -> str:
    """The text of a file; `kind` says what it should be (`a study file`), `advice` how to get one.

    Raises InputError, which names the file, where there is none, it cannot be read, is too large or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file{advice}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(content) > LARGEST_FILE:
        raise InputError(f"{path}: is larger than {LARGEST_FILE // 2**20} MiB, which {kind} never is")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path} line {line}: is not UTF-8; save the file as UTF-8") from None
