"""What a child prints: the pseudo-terminals, or the pipe, that its stdout and stderr are, and their lines.

A program whose stdout is a pipe or a file keeps what it prints until it has 4 or 8 KiB of it (setvbuf(3)); on a
terminal it hands over each line. So a user's own program gets two terminals, one for each, in which nothing is made of
what it prints. A program of sizer's own gets one pipe, which holds 1 MiB and need not be read at once.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import termios
from contextlib import suppress
from dataclasses import dataclass

from sizer.records.errors import HostError

READ_BYTES = 1 << 20
"""Most that is read at once, and what a pipe is asked to hold: 1 MiB is what Linux grants to anybody."""

ROWS, COLUMNS = 50, 200
"""Of a terminal: wide enough that no progress bar leaves out its figures."""

LONGEST_LINE = 1 << 16
"""Bytes that are waited for the end of their line; of a longer one they are passed on as they come."""

HELD_BACK = 1 << 12
"""Of a longer line so many bytes wait, so that nothing of a word's length is ever seen in two halves."""


@dataclass(frozen=True)
class Outlets:
    """The descriptors that sizer reads, and those that become stdout and stderr."""

    reading: tuple[int, ...]
    stdout: int
    stderr: int

    def hand_over(self) -> None:
        """Close the child's ends here, so that the last of its processes to go is seen."""
        for descriptor in {self.stdout, self.stderr}:
            os.close(descriptor)

    def close(self) -> None:
        for descriptor in self.reading:
            os.close(descriptor)


def terminals() -> Outlets:
    """A terminal for stdout and one for stderr; raises HostError where this host gives none."""
    first, stdout = _terminal()
    try:
        second, stderr = _terminal()
    except HostError:
        Outlets((first,), stdout, stdout).hand_over()
        os.close(first)
        raise
    return Outlets((first, second), stdout, stderr)


def pipe() -> Outlets:
    """One pipe for both."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    widen(reading)
    return Outlets((reading,), writing, writing)


def widen(pipe: int) -> None:
    """Let a pipe hold READ_BYTES."""
    with suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, READ_BYTES)


def _terminal() -> tuple[int, int]:
    """The end that is read and the one that is printed to; nobody types into it, and it is nobody's controlling one."""
    try:
        reading, printed = os.openpty()
    except OSError as error:
        raise HostError(
            "No pseudo-terminal can be opened for the program's output ({reason}); to see how many there may be, type: "
            "cat /proc/sys/kernel/pty/nr /proc/sys/kernel/pty/max",
            reason=error.strerror or error,
        ) from error
    settings = termios.tcgetattr(printed)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~(termios.ECHO | termios.ICANON | termios.ISIG)
    termios.tcsetattr(printed, termios.TCSANOW, settings)
    fcntl.ioctl(printed, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    os.set_blocking(reading, False)
    return reading, printed


class Lines:
    """One of the descriptors, read so that lines of two of them are never mixed. `closed` once nobody prints there."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.closed = False
        self.unfinished = b""
        """The beginning of a line whose end is still to come."""
        self._room = memoryview(bytearray(READ_BYTES))

    def read(self) -> bytes:
        """The lines that are complete now, of up to READ_BYTES."""
        return self._whole(self._read())

    def rest(self) -> bytes:
        """What can be read now with the line that has no end: it is all over."""
        return self.read() + self._taken(len(self.unfinished))

    def _read(self) -> bytes:
        # A terminal gives 4 KiB at the most at once, a pipe all that it holds.
        size = 0
        try:
            while size < READ_BYTES and not self.closed:
                count = os.readv(self.descriptor, [self._room[size:]])
                size += count
                self.closed = not count
        except BlockingIOError:
            pass
        except OSError as error:
            # The master of a terminal whose other end nobody holds any more (pty(7)).
            if error.errno != errno.EIO:
                raise
            self.closed = True
        return bytes(self._room[:size])

    def _whole(self, data: bytes) -> bytes:
        self.unfinished += data
        # A carriage return ends a line, too: progress bars use it.
        end = max(self.unfinished.rfind(b"\n"), self.unfinished.rfind(b"\r")) + 1
        if len(self.unfinished) - end > LONGEST_LINE:
            end = len(self.unfinished) - HELD_BACK
        return self._taken(end)

    def _taken(self, count: int) -> bytes:
        taken, self.unfinished = self.unfinished[:count], self.unfinished[count:]
        return taken
