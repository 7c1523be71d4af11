"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sizer.files.own_folder import Place, open_folder
from sizer.records.messages import HostError

ASIDE_SUFFIX = ".tmp"
"""What a file is called while it is written; one that a killed process left behind may be removed."""

NO_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
"""What file systems say that sync files and not folders (fsync(2)); PostgreSQL passes over the same."""

_ASIDE = re.compile(rf"\.(?P<name>.+)\.[0-9a-f]{{8}}{re.escape(ASIDE_SUFFIX)}")


def written_aside(name: str) -> str | None:
    """What the file of this name was to be called once it was whole; None for a name that no such file has."""
    match = _ASIDE.fullmatch(name)
    return match["name"] if match else None


def write_text(path: Path, text: str, place: Place | None = None) -> None:
    """Replace `path` by `text` so that a reader, or a machine that loses power, sees the old file or the new one.

    Characters that UTF-8 cannot hold are written as escapes. With `place`, only into that folder. Raises HostError when
    the file system refuses, or another folder is there.
    """
    with writing_to(path):
        folder = open_folder(path.parent, place)
        try:
            _replace(folder, path.name, text.encode("utf-8", "backslashreplace"))
        finally:
            os.close(folder)


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """What the file system refuses meanwhile is a HostError."""
    try:
        yield
    except OSError as error:
        raise HostError(
            "{path} cannot be written ({reason}); make room there or choose another folder.",
            path=path,
            reason=error.strerror or error,
        ) from error


def _replace(folder: int, name: str, content: bytes) -> None:
    """By the descriptor of the folder, so that all of it happens in one, whatever becomes of its path meanwhile."""
    aside = f".{name}.{secrets.token_hex(4)}{ASIDE_SUFFIX}"
    try:
        _write_and_sync(folder, aside, content)
        os.replace(aside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(aside, dir_fd=folder)
        raise
    _sync_folder(folder)


def _write_and_sync(folder: int, name: str, content: bytes) -> None:
    # Never for everybody to write, whatever umask says: a study file that others may change runs their command.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(name, flags, 0o664, dir_fd=folder), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: int) -> None:
    """Make the renaming itself last: without it a power cut may bring the old name back."""
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno not in NO_SYNC:
            raise
