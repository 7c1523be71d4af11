"""The log of a run: the beginning and the end of what its child printed, whatever becomes of the disk under it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from sizer.records.run import RunWarning, WarningKind

HEAD_BYTES = 1 << 20
TAIL_BYTES = 1 << 20
LAST_BYTES = 1 << 16
"""Of the end that the last lines are looked for in."""

SHOWN_CHARACTERS = 500
"""Of a line among the last words; of a longer one, which may be all that was printed, the beginning and the end."""


class Log:
    """What a child printed: the first and the last MiB of it, however much that was.

    The end is kept in memory, too, so that a log that cannot be written costs nothing but itself; `trouble` then says
    what happened. Whatever is at `path` is replaced, and a link there is never followed.
    """

    def __init__(self, path: Path) -> None:
        self.trouble: RunWarning | None = None
        self._path = path
        self._room = HEAD_BYTES
        self._left_out = 0
        self._tail = bytearray()
        self._descriptor = self._opened()

    def feed(self, data: bytes) -> None:
        """Add what was printed. Raises nothing: where the file takes no more, its end stays in memory."""
        self._tail += data[-TAIL_BYTES:]
        # Cut only now and then: to copy a MiB for each line costs more than all else.
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]
        written = self._write(data[: self._room])
        self._room -= written
        self._left_out += len(data) - written

    def close(self) -> None:
        """Write the end of what was printed after its beginning, as far as there is room for it."""
        if self._descriptor is None:
            return
        if self._left_out:
            tail = bytes(self._tail[-TAIL_BYTES:])
            missing = max(0, self._left_out - len(tail))
            note = f"\n[sizer: {missing} bytes left out]\n".encode() if missing else b""
            self._write(note + tail[-self._left_out :])
        with suppress(OSError):
            os.close(self._descriptor)
        self._descriptor = None

    def last_lines(self, count: int = 5) -> str:
        """The end of what was printed, as a person can read it on any terminal."""
        lines = self._tail[-LAST_BYTES:].decode("utf-8", "replace").strip().splitlines()
        return "\n".join(_shown(line) for line in lines[-count:])

    @property
    def is_empty(self) -> bool:
        """Whether nothing was printed."""
        return not self._tail

    @property
    def ends_in_a_line(self) -> bool:
        """Whether the last line that was printed has no end."""
        return bool(self._tail) and self._tail[-1] not in b"\r\n"

    def _opened(self) -> int | None:
        try:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                with suppress(FileNotFoundError):
                    os.unlink(self._path.name, dir_fd=folder)
                new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                return os.open(self._path.name, new, 0o664, dir_fd=folder)
            finally:
                os.close(folder)
        except OSError as error:
            self._fail(error)
            return None

    def _write(self, data: bytes) -> int:
        """How many bytes the file took; none any more once it has failed, until it is closed."""
        if self._descriptor is None:
            return 0
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError as error:
            self._fail(error)
        return written

    def _fail(self, error: OSError) -> None:
        self._room = 0
        if self.trouble is None:
            where = f"{self._path} ({error.strerror or error})"
            self.trouble = RunWarning(WarningKind.LOG_INCOMPLETE, text=where)


def _shown(line: str) -> str:
    text = "".join(
        character if character.isprintable() or character == "\t" else repr(character)[1:-1] for character in line
    )
    half = SHOWN_CHARACTERS // 2
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:half]} ... {text[-half:]}"
