"""A file is written whole or not at all."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from sizer.records import HostError

ASIDE_SUFFIX = ".tmp"
"""What a file is called while it is written; one that a killed process left behind may be removed."""

_ASIDE = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]{{8}}{re.escape(ASIDE_SUFFIX)}")


def written_aside(name: str) -> str | None:
    """What the file of this name was to be called once it was whole; None for a name that no such file has."""
    match = _ASIDE.fullmatch(name)
    return match["name"] if match else None


def write_text(path: Path, text: str) -> None:
    """Replace `path` by `text` so that a reader, or a machine that loses power, sees the old file or the new one.

    Characters that UTF-8 cannot hold are written as escapes. Raises HostError when the file system refuses.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{ASIDE_SUFFIX}")
    try:
        try:
            _write_and_sync(aside, text.encode("utf-8", "backslashreplace"))
            os.replace(aside, path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise HostError(
            "{path} cannot be written ({reason}); make room there or choose another folder.",
            path=path,
            reason=error.strerror or error,
        ) from error


def _write_and_sync(path: Path, content: bytes) -> None:
    # Never for everybody to write, whatever umask says: a study file that others may change runs their command.
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o664), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the renaming itself last: without it a power cut may bring the old name back."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
