"""Tells sizer what a program does: three lines in its loop, and nothing happens where sizer does not run it.

    from sizer.meter import Meter

    with Meter(unit="image", batch_size=32) as meter:
        for batch in loader:
            ...
            meter.step()

This file needs only the standard library of Python 3.8 or later and nothing else of sizer, so it can be copied next to
a program whose interpreter has no sizer. Nothing in it raises: a program that is measured ends as one that is not.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Only read by type checkers: Python 3.8 knows no such expressions.
    ToldStep = tuple[float, int | None, float, int]
    """When it ended on the monotonic clock, its samples where they are known, seconds waited for input, its epoch."""

PATH_VARIABLE = "SIZER_EVENTS_PATH"
"""Names the FIFO of the run."""

FLUSH_SECONDS = 0.5
"""Between two writes: each one wakes whoever reads."""

FIRST_FLUSH_SECONDS = 0.03
"""Between the first two, and from there on twice as long each time: a program may be killed soon."""

LARGEST = 10**18
"""More than any count or time that a program can mean; the reader takes no more."""

LONGEST_UNIT = 40
"""Characters."""

STEPS_A_RECORD = 40
"""At most 90 bytes each, so that a record stays below PIPE_BUF (4096), up to which a write is not mixed with others."""

BACKLOG = 8192
"""Steps that are kept while nobody reads; of more, neighbours are joined."""

RANKS = (
    ("RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
)
"""How launchers tell a process its rank: torchrun, Open MPI, MPICH, Slurm."""


class EventWriter:
    """Writes the steps of this process to the run's FIFO, many to a record; does nothing where there is none."""

    def __init__(self, source: str) -> None:
        self.path = os.environ.get(PATH_VARIABLE)
        self._source = source
        self.beside = False
        """Whether the program reads other loaders than the one that its steps are of."""
        self._phase: str | None = None
        self._steps: list[ToldStep] = []
        self._due = 0.0
        self._pause = FIRST_FLUSH_SECONDS
        self._rank: tuple[int | None, int | None] = (None, None)
        self._descriptor = -1
        self._file = (0, 0)

    def hooked(self) -> None:
        """Say that the hook has been loaded."""
        self._try_to_write([self._record("hooked")])

    def start(self, unit: str, batch_size: int) -> None:
        """Say what a sample is."""
        self._try_to_write([self._record("start", sample_unit=unit, batch_size=batch_size)])

    def step(self, phase: str | None, step: ToldStep) -> None:
        """Keep one step; about twice a second those that are kept are written."""
        if phase != self._phase:
            self.flush()
            self._phase = phase
        self._steps.append(step)
        if step[0] >= self._due:
            self.flush()

    def flush(self) -> None:
        """Write what is kept; what the FIFO does not take now is kept on."""
        steps, self._steps = self._steps, []
        if not steps or not self.path:
            return
        self._due = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, FLUSH_SECONDS)
        parts = [steps[start : start + STEPS_A_RECORD] for start in range(0, len(steps), STEPS_A_RECORD)]
        written = self._try_to_write([self._record("step", steps=_shortened(part)) for part in parts])
        left = [step for part in parts[written:] for step in part]
        while len(left) > BACKLOG:
            left = _halved(left)
        self._steps = left + self._steps

    def end(self) -> None:
        """Write what is kept, and that there is no more."""
        self.flush()
        self._try_to_write([self._record("end")])

    def _record(self, event: str, **fields: Any) -> bytes:
        now = _rank()
        if now[0] is not None:
            # It stays what it was when the processes have parted.
            self._rank = now
        rank, size = self._rank
        record = {"event": event, "pid": os.getpid(), "parent": os.getppid(), "rank": rank, "ranks": size}
        record.update(source=self._source, phase=self._phase, **fields)
        if self.beside:
            record["beside"] = True
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    def _try_to_write(self, records: list[bytes]) -> int:
        """How many were written, or are not to be tried again."""
        for index, record in enumerate(records):
            try:
                os.write(self._opened(), record)
            except BlockingIOError:
                return index
            except OSError:
                self._descriptor = -1
                return len(records)
        return len(records)

    def _opened(self) -> int:
        """The FIFO's descriptor; the program may have closed it and use its number for a file of its own.

        It is opened for reading, too: so opening does not wait for a reader, and a write after the reader has gone
        raises no SIGPIPE.
        """
        try:
            now = os.fstat(self._descriptor)
            if self._descriptor >= 0 and (now.st_dev, now.st_ino) == self._file:
                return self._descriptor
        except OSError:
            pass
        if not self.path:
            raise FileNotFoundError(PATH_VARIABLE)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        status = os.fstat(self._descriptor)
        self._file = status.st_dev, status.st_ino
        return self._descriptor


def _shortened(steps: list[ToldStep]) -> list[Any]:
    return [(round(end, 6), samples, round(waited, 6), epoch) for end, samples, waited, epoch in steps]


def _halved(steps: list[ToldStep]) -> list[ToldStep]:
    """Each two neighbours as one: the rate stays what it was."""
    pairs = zip(steps[::2], steps[1::2])
    return [_joined(before, after) for before, after in pairs] + (steps[-1:] if len(steps) % 2 else [])


def _joined(before: ToldStep, after: ToldStep) -> ToldStep:
    samples = None if before[1] is None or after[1] is None else before[1] + after[1]
    return after[0], samples, before[2] + after[2], after[3]


def _rank() -> tuple[int | None, int | None]:
    """This process's rank and how many there are, as PyTorch knows it or else the launcher said."""
    try:
        distributed = sys.modules.get("torch.distributed")
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        for rank, size in RANKS:
            if rank in os.environ and size in os.environ:
                return int(os.environ[rank]), int(os.environ[size])
    except Exception:
        pass
    return None, None


def _seconds(value: Any) -> float:
    """0 for what is no time, such as NaN or less than nothing."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return seconds if 0 <= seconds <= LARGEST else 0.0


def _whole(value: Any, otherwise: int) -> int:
    """`otherwise` for what is no count, such as NaN or less than nothing."""
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return count if 0 <= count <= LARGEST else otherwise


class Meter:
    """Counts the steps of a loop. `batch_size` samples, each a `unit`, are a step that does not say how many it has."""

    def __init__(self, unit: str = "sample", batch_size: int = 1) -> None:
        self.unit = unit
        self.batch_size = batch_size
        self._size = _whole(batch_size, 1)
        self._writer = EventWriter("meter")
        self._pid = os.getpid()

    def __enter__(self) -> Meter:
        self._never_raise(self._start)
        return self

    def step(self, samples: int | None = None, input_wait: float = 0.0, epoch: int = 0) -> None:
        """One step has ended now; `input_wait` is how many of its seconds passed in waiting for input."""
        if self._writer.path:
            self._never_raise(self._step, samples, input_wait, epoch)

    def _start(self) -> None:
        unit = "".join(filter(str.isprintable, str(self.unit)))[:LONGEST_UNIT]
        self._writer.start(unit or "sample", self._size)

    def _step(self, samples: int | None, input_wait: float, epoch: int) -> None:
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._writer = EventWriter("meter")
        count = self._size if samples is None else _whole(samples, self._size)
        self._writer.step(None, (time.monotonic(), count, _seconds(input_wait), _whole(epoch, 0)))

    def __exit__(self, *_: object) -> None:
        self._never_raise(self._writer.end)

    @staticmethod
    def _never_raise(act: Any, *arguments: Any) -> None:
        try:
            act(*arguments)
        except Exception:
            pass
